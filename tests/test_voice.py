"""The voices: same words same samples, level, pauses, and the programs that stand in."""
from shutil import which

import numpy as np
import pytest

from dialogue.engines import voice as module
from dialogue.engines.voice import Voice, VoiceConfig, VoiceMissing


@pytest.fixture(scope="module")
def voice():
    return Voice()


def active_level_db(sound):
    loud = sound[np.abs(sound) > 0.03 * np.abs(sound).max()].astype(np.float64)
    return 10 * np.log10(np.mean(loud ** 2))


def test_the_same_words_give_the_same_read_only_samples(voice):
    first, second = voice("Hello there."), voice("Hello there.")
    assert np.array_equal(first, second) and first.dtype == np.float32 and not first.flags.writeable


def test_it_begins_at_once_at_the_configured_level_and_ends_in_a_pause(voice):
    sound = voice("I am a small robot on a table.")
    assert np.flatnonzero(np.abs(sound) > 0.01)[0] < 0.06 * 16000
    assert active_level_db(sound) == pytest.approx(VoiceConfig().level_db, abs=1.0)
    assert np.abs(sound).max() <= VoiceConfig().peak + 1e-3
    assert not sound[-round(0.29 * 16000):].any()
    assert 1.2 < len(sound) / 16000 < 4.0


def test_a_comma_pauses_less_than_a_full_stop(voice):
    def pause(text):
        return len(voice(text)) - np.flatnonzero(voice(text))[-1]
    assert pause("Well,") < pause("Well.")


@pytest.mark.parametrize("program", ["flite", "espeak-ng"])
def test_a_program_stands_in_when_hibari_is_not_there(monkeypatch, program):
    if which(program) is None:
        pytest.skip(f"{program} is not installed")
    monkeypatch.setattr(module, "_hibari", lambda config: None)
    if program == "espeak-ng":
        monkeypatch.setattr(module, "_flite", lambda: None)
    sound = Voice()("Hello there.")
    assert 0.4 < len(sound) / 16000 < 3.0
    assert active_level_db(sound) == pytest.approx(VoiceConfig().level_db, abs=1.0)


def test_without_any_voice_the_error_says_what_was_expected(monkeypatch):
    monkeypatch.setattr(module, "_hibari", lambda config: None)
    monkeypatch.setattr(module, "which", lambda program: None)
    with pytest.raises(VoiceMissing, match="hibari-tts, or the program flite or espeak-ng"):
        Voice()


def test_a_voice_that_was_never_fetched_is_refused_and_not_downloaded():
    with pytest.raises(VoiceMissing, match=r"voice 'emma'.*expected `heart`"):
        Voice(VoiceConfig(name="emma"))
