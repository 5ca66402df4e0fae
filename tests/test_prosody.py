"""How something was said, told from synthesised speech and the simulated room's breaths, coughs and knocks."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.cues import Cues
from perception.audio.block import BLOCK
from perception.audio.manner import Manner, Measure, Sigh, Utterance
from perception.audio.prosody import Prosody
from perception.audio.sighs import Sighs
from perception.audio.voice_frames import FRAME, Batch
from perception.people import Person
from perception.vision.frame import Sight
from robot.bodies.room import noises
from robot.bodies.room.voices import active_level, spoken

RATE = 16000
LEVEL = 0.03
SENTENCE = "Could you bring me the red cup from the kitchen table"   # 13 syllables


def heard(dry, over_noise_db=30.0, noise=0.0, speech=True, prosody=None):
    """What is learned of a sound with a second of room noise before and after it."""
    rng = np.random.default_rng(4)
    sound = np.concatenate([np.zeros(RATE), LEVEL * dry / active_level(dry), np.zeros(RATE)])
    sound = (sound + LEVEL * 10 ** (-over_noise_db / 20) * rng.standard_normal(sound.size)).astype(np.float32)
    prosody, told = prosody or Prosody(), []
    for at in range(0, sound.size - 159, 160):
        speaks = speech and RATE + 3200 < at < RATE + dry.size + 1600
        told.append(prosody.step((at + 160) / RATE, sound[at:at + 160], speaks, noise))
    return told


def utterance(dry, **how):
    found = [m.utterance for m in heard(dry, **how) if m.utterance is not None]
    assert len(found) == 1
    return found[0]


def sighs(dry, **how):
    return [m.sigh for m in heard(dry, **how) if m.sigh is not None]


def squeezed(dry, factor):
    """Faster by `factor`, and higher."""
    return np.interp(np.arange(0, dry.size - 1, factor), np.arange(dry.size), dry).astype(np.float32)


def test_rate_pitch_and_times_of_a_sentence():
    dry = spoken(SENTENCE, "slt")
    said = utterance(dry)
    assert said.onset == pytest.approx(1.0, abs=0.06) and said.end == pytest.approx(1 + dry.size / RATE, abs=0.12)
    assert said.rate.value * (said.end - said.onset) == pytest.approx(13, abs=3.5)
    assert 150 < said.pitch.value < 200 and said.pitch.confidence > 0.7     # the voice is a woman's
    assert said.longest_pause.value < 0.2


def test_faster_speech_is_faster_and_higher():
    dry = spoken(SENTENCE, "slt")
    slow, fast = utterance(dry), utterance(squeezed(dry, 1.3))
    assert fast.articulation.value > 1.1 * slow.articulation.value
    assert fast.pitch.value == pytest.approx(1.3 * slow.pitch.value, rel=0.06)


def test_a_pause_inside_is_a_pause():
    said = utterance(spoken("I am not sure <0.7> maybe we should wait", "awb"))
    assert said.longest_pause.value == pytest.approx(0.75, abs=0.12)
    assert said.articulation.value > 1.2 * said.rate.value


def test_noise_lowers_confidence_until_nothing_is_said():
    dry = spoken(SENTENCE, "slt")
    clear, dim = utterance(dry), utterance(dry, over_noise_db=4.0)
    assert dim.pitch.confidence < 0.9 * clear.pitch.confidence
    robot = utterance(dry, noise=0.9)
    measures = [getattr(robot, name) for name in ("rate", "pitch", "pauses", "pitch_end", "level_end", "breathiness")]
    assert all(measure == Measure() for measure in measures)


def test_breath_in_the_voice_is_breathiness():
    dry = spoken(SENTENCE, "slt")
    breath = np.random.default_rng(1).standard_normal(dry.size) * 0.5
    breathy = dry + breath * np.sqrt(np.convolve(dry**2, np.ones(320) / 320, "same"))
    assert utterance(breathy).breathiness.value > utterance(dry).breathiness.value + 0.15


def test_the_end_of_what_is_being_said_can_be_asked_for():
    prosody = Prosody()
    assert prosody.ending() == (Measure(), Measure())
    dry = spoken(SENTENCE, "slt") * 0.1
    for at in range(0, dry.size - 159, 160):
        prosody.step((at + 160) / RATE, dry[at:at + 160], at > 3200, 0.0)
    _, level = prosody.ending()
    assert level.value < 0


def test_sighs_are_found_and_placed():
    found = [sighs(noises.sigh(np.random.default_rng([9, seed])), speech=False) for seed in range(4)]
    assert [len(each) for each in found] == [1, 1, 1, 1]
    assert all(0.9 < sigh.onset < 1.4 and 1.6 < sigh.end < 2.8 and sigh.confidence > 0.6 for (sigh,) in found)
    assert not sighs(noises.sigh(np.random.default_rng([9, 0])), noise=0.7)


def test_other_sounds_are_no_sighs():
    rng = np.random.default_rng(2)
    others = [noises.made(kind, seconds, rng) for kind, seconds in
              (("cough", 0.6), ("knock", 0.7), ("fan", 4.0), ("music", 2.0), ("cough", 0.6))]
    others += [spoken(SENTENCE, voice) for voice in ("slt", "rms")] + [spoken("mhm", "slt")]
    assert [sighs(other) for other in others] == [[]] * len(others)


def test_a_breath_with_syllables_a_pitch_or_a_sudden_start_is_no_sigh():
    breath = noises.sigh(np.random.default_rng([9, 0]))
    t = np.arange(breath.size) / RATE
    swell = np.abs(np.sin(np.pi * (t / t[-1]) ** 0.55)) ** 2 * (1 - 0.5 * t / t[-1])
    hum = swell * sum(np.sin(2 * np.pi * 150 * k * t) / k for k in range(1, 8))
    burst = np.random.default_rng(3).standard_normal(t.size) * np.exp(-4 * t)
    burst = np.convolve(burst, np.full(8, 1 / 8), "same")            # below 2 kHz, as an open throat
    assert sighs(breath) and not sighs(breath * (0.1 + np.sin(2 * np.pi * 2 * t) ** 2))
    assert not sighs(hum) and not sighs(burst)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.lists(st.floats(width=32, allow_nan=False, min_value=-1, max_value=1), min_size=1, max_size=4),
       st.integers(0, 3))
def test_any_sound_is_borne(values, kind):
    prosody, rng = Prosody(), np.random.default_rng(kind)
    for index in range(60):
        block = np.resize(np.array(values, np.float32), 160) * rng.choice([0, 1e-30, 1], 160 if kind else 1)
        told = prosody.step(index * 0.01, block.astype(np.float32), index % 20 < 12, 0.1 * kind)
        if told.utterance is not None:
            assert np.isfinite(told.utterance.level.value or 0.0)


def test_the_engine_is_told_what_is_sure_and_out_of_the_ordinary():
    anna = Person("anna", 0.0, 0.0, 1.0, 2.0, None)
    ben = Person("ben", 1.0, 0.0, 1.0, 1.0, None)
    said = Utterance(1.0, 3.0, articulation=Measure(6.5, 0.9), pauses=Measure(0.4, 0.9),
                     longest_pause=Measure(0.8, 0.9), breathiness=Measure(0.9, 0.4))
    told = Cues().step(3.2, Sight(3.2), (ben, anna), "person", Manner(said, Sigh(0.1, 1.0, 0.9)))
    assert [(cue.t, cue.name, cue.person) for cue in told] == [
        (1.0, "sighs", "anna"), (3.0, "speaks_fast", "anna"), (3.0, "hesitates", "anna")]
    assert Cues().step(3.2, Sight(3.2), (), "person", Manner(Utterance(1, 2), Sigh(0.1, 1.0, 0.55))) == []


def test_a_fan_that_stops_when_the_floor_has_risen_to_it_is_no_sigh_and_forgotten():
    """Nothing of the little that was kept of it stands out of the floor."""
    rng, sighs = np.random.default_rng(3), Sighs()
    loud, faint = (Batch((gain * rng.standard_normal(FRAME - BLOCK + 5 * BLOCK)).astype(np.float32))
                   for gain in (0.01, 0.0003))
    for number, (batch, floor) in enumerate([(loud, -60.0)] * 100 + [(faint, -41.0)] * 4 + [(loud, -41.0)] * 2):
        assert sighs.step(0.05 * number, batch, floor, 0.0) is None
    assert sighs._parts == []
