"""Speech to words with the bundled whisper tiny.en, spoken by the robot's own voice."""
import numpy as np
import pytest

from dialogue.engines.recogniser import (
    FILTERS,
    ModelMissing,
    Recogniser,
    RecogniserConfig,
    log_mel,
    loudness_db,
    without_repetition,
)
from dialogue.engines.voice import Voice
from dialogue.words import words_of

SENTENCES = ("What time is it?", "Tell me a long story, please.", "No wait, I meant the blue one.", "Who is there?",
             "Remember that I have two brothers.")


@pytest.fixture(scope="module")
def recogniser():
    return Recogniser()


@pytest.fixture(scope="module")
def voice():
    return Voice()


def test_words_are_found(recogniser, voice):
    wrong = [s for s in SENTENCES if words_of(recogniser.words(voice(s))) != words_of(s)]
    assert len(wrong) <= 1, wrong


def test_the_same_sound_gives_the_same_words_at_any_level(recogniser, voice):
    sound = voice(SENTENCES[0])
    assert recogniser.words(sound) == recogniser.words(sound)
    assert words_of(recogniser.words(0.1 * sound)) == words_of(SENTENCES[0])


def test_silence_and_noise_hold_no_words(recogniser):
    noise = np.random.default_rng(1).standard_normal(16000).astype(np.float32)
    knock = np.zeros(8000, np.float32)
    knock[4000:4400] = 0.2 * noise[:400] * np.exp(-np.arange(400) / 80)
    nothing, silence = np.zeros(0, np.float32), np.zeros(16000, np.float32)
    assert [recogniser.words(x) for x in (nothing, silence, 0.05 * noise, knock)] == ["", "", "", ""]


def test_more_sound_than_the_model_takes_keeps_the_end(recogniser, voice):
    words = voice("What time is it?")
    sound = np.concatenate([np.zeros(31 * 16000, np.float32), words])
    assert "time" in recogniser.words(sound)


def test_mel_filters_cover_the_spectrum_and_a_tone_lights_its_own():
    centres = FILTERS.argmax(1)
    assert np.all(np.diff(centres) >= 0) and FILTERS.shape == (80, 201)
    t = np.arange(16000) / 16000
    loud = log_mel(np.sin(2 * np.pi * 1000.0 * t).astype(np.float32)).mean(1).argmax()
    assert abs(centres[loud] * 40.0 - 1000.0) < 60.0     # a bin is 40 Hz


def test_log_mel_has_a_frame_each_10_ms_and_spans_at_most_8_decades():
    features = log_mel(np.random.default_rng(0).standard_normal(16000).astype(np.float32))
    assert features.shape == (80, 100) and np.ptp(features) <= 2.0


def test_repetition_is_cut_but_not_what_goes_on():
    assert without_repetition("Do you like music? Do you like") == "Do you like music?"
    assert without_repetition("Yes. Yes, yes.") == "Yes. Yes, yes."
    assert without_repetition("No. I meant blue.") == "No. I meant blue."


def test_loudness_is_that_of_the_loudest_moment():
    sound = np.zeros(16000, np.float32)
    sound[8000:9000] = 0.1
    assert loudness_db(sound) == pytest.approx(-20.0, abs=0.1)


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(ModelMissing, match=r"no model.bin, expected a CTranslate2 Whisper model folder"):
        Recogniser(RecogniserConfig(model=str(tmp_path)))
