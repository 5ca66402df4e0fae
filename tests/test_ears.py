"""Decisions of the ears: by the rules alone on given log-odds, and of the whole chain on bad input."""
import numpy as np
import pytest

from perception.audio.barge_in import BargeIn, BargeInConfig
from perception.audio.block import BLOCK, BLOCK_S, AudioBlock
from perception.audio.detector import Fallen
from perception.audio.ears import Ears, EarsConfig
from perception.audio.hum import Hum
from perception.audio.microphones import Microphones
from perception.audio.spectrum import BAND_CENTRES_HZ, BANDS
from perception.audio.speech_activity import SpeechActivity
from perception.pose_history import PoseHistory
from tests.hearing_sounds import LINE, RATE, echo_of, hiss, talking

REST = np.zeros(9)


def decisions(log_odds, plays=True, slips=(), aligned=True):
    """[(block number, kind)] for log-odds of consecutive blocks."""
    barge_in, found = BargeIn(), []
    for number, value in enumerate(log_odds):
        heard = barge_in.step(number * BLOCK_S, value, plays, number in slips, aligned, 0.0)
        if heard:
            found.append((number, heard.kind))
    return found


def test_duck_comes_before_stop_and_stop_once():
    found = decisions([-6.0] * 50 + [6.0] * 200)
    assert [kind for _, kind in found] == ["duck", "barge_in"]
    assert 50 < found[0][0] < found[1][0] < 80


def test_a_refuted_duck_is_released():
    found = decisions([-6.0] * 50 + [5.0] * 7 + [-6.0] * 100)
    assert [kind for _, kind in found] == ["duck", "release"]
    assert found[1][0] - found[0][0] < 70


def test_a_duck_never_lasts_for_ever():
    config = BargeInConfig()
    found = decisions([-6.0] * 20 + [(config.duck_at + config.stop_at) / 2] * 800)
    kinds = [kind for _, kind in found]
    assert kinds[:2] == ["duck", "release"] and "barge_in" not in kinds
    assert (found[1][0] - found[0][0]) * BLOCK_S <= config.longest_duck + 2 * BLOCK_S


def test_armed_again_after_the_evidence_has_gone():
    found = decisions([-6.0] * 30 + [6.0] * 100 + [-6.0] * 100 + [6.0] * 100)
    assert [kind for _, kind in found].count("barge_in") == 2


def test_nothing_is_interrupted_while_the_robot_is_silent():
    assert not decisions([-6.0] * 20 + [6.0] * 100, plays=False)


def test_decisions_wait_after_a_slip():
    slip = 52
    found = decisions([-6.0] * 50 + [6.0] * 20 + [-6.0] * 60, slips=(slip,))
    assert not found


def test_stricter_while_nothing_is_aligned():
    values = [-6.0] * 30 + [BargeInConfig().stop_at + 0.5] * 100
    assert "barge_in" in dict(map(reversed, decisions(values)))
    assert "barge_in" not in dict(map(reversed, decisions(values, aligned=False)))


def test_onset_is_back_dated_to_the_first_evidence():
    barge_in = BargeIn()
    for number in range(100):
        heard = barge_in.step(number * BLOCK_S, 6.0 if number >= 50 else -6.0, True, False, True, 0.0)
        if heard and heard.kind == "barge_in":
            assert heard.onset == pytest.approx(0.49, abs=0.02) and heard.t > heard.onset
            return
    pytest.fail("no barge-in")


def test_speech_starts_and_ends():
    speech, kinds = SpeechActivity(), []
    for number in range(300):
        value = 5.0 if 100 <= number < 200 else -5.0
        kinds += [heard.kind for heard in speech.step(number * BLOCK_S, value, None, False, False, 0.0)]
    assert kinds == ["speech_start", "speech_end"]


def test_speech_over_playback_needs_what_stops_the_robot():
    speech = SpeechActivity()
    assert not any(speech.step(n * BLOCK_S, 5.0, None, True, False, 0.0) for n in range(100))
    assert speech.step(1.0, 5.0, 0.4, True, True, 0.0)[0].onset == 0.4


def test_a_gap_ends_speech_by_time():
    """F36: the microphone is muted in mid-word."""
    speech = SpeechActivity()
    for number in range(100):
        speech.step(number * BLOCK_S, 6.0, None, False, False, 0.0)
    assert speech.speaks
    assert speech.step(6.0, -6.0, None, False, False, 0.0)[0].kind == "speech_end"


def test_hum_tells_closed_mouth_from_open():
    """A nasal murmur has its power around 250 and 1100 Hz and a hole between (Fant 1960); a vowel fills the hole:
    a quarter of a second of it turns a hum into a word."""
    nasal = (BAND_CENTRES_HZ < 350) | ((BAND_CENTRES_HZ > 950) & (BAND_CENTRES_HZ < 1300))
    closed = np.where(nasal, 1.8, 0.3).astype(np.float32)
    opened = np.where(BAND_CENTRES_HZ < 3000, 1.6, 0.8).astype(np.float32)
    quiet = np.full(BANDS, -0.5, np.float32)
    for sounds, is_hum in (([closed] * 30, True), ([opened] * 30, False), ([closed] * 20 + [opened] * 25, False)):
        hum = Hum()
        for _ in range(20):
            assert hum.step(quiet, 0.1, False) == 0.0
        value = [hum.step(excess, 0.9, True) for excess in sounds][-1]
        assert (value > 0.7) if is_hum else (value < 0.5)


# ---- the whole chain

def ears(mics=4):
    return Ears(EarsConfig(), LINE[:mics], 0.1)


def heard(mics, reference, chain=None):
    """All scenes of a sound."""
    chain, poses = chain or ears(len(mics)), PoseHistory()
    out = []
    for index in range(reference.size // BLOCK):
        part = slice(index * BLOCK, (index + 1) * BLOCK)
        block = AudioBlock((index + 1) * BLOCK_S, mics[:, part].copy(), reference[part].copy())
        out.append(chain.step((block,), poses, REST))
    return out


def finite(scenes):
    return all(np.isfinite(scene.clean).all() and np.isfinite([scene.evidence, scene.level_db, scene.hum]).all()
               for scene in scenes)


def own_voice(seconds=2.5):
    reference = talking(1, seconds)
    return echo_of(reference, 0.1) + hiss(1, 4, reference.size, 1e-4), reference


@pytest.mark.parametrize("fault", ["nan", "inf", "huge", "dead", "all_dead", "clipping", "inverted", "nan_reference"])
def test_bad_sound_neither_breaks_nor_stops_the_robot_for_ever(fault):
    mics, reference = own_voice()
    late = RATE // 2
    if fault == "nan":
        mics[1, late:] = np.nan
    elif fault == "inf":
        mics[1, late::100] = np.inf
    elif fault == "huge":
        mics[:, late::500] = 1e30
    elif fault == "dead":
        mics[0, late:] = 0
    elif fault == "all_dead":
        mics[:, late:] = 0
    elif fault == "clipping":
        mics[2] = np.sign(mics[2])
    elif fault == "inverted":
        mics[3] *= -1
    else:
        reference = reference.copy()
        reference[late:late + 8000] = np.nan
    scenes = heard(mics, reference)
    assert finite(scenes)
    assert sum(scene.barge_in for scene in scenes) <= 1
    parts = {change.part for scene in scenes for change in scene.health}
    wanted = {"nan": "microphone_1", "inf": "microphone_1", "dead": "microphone_0", "all_dead": "microphones",
              "clipping": "microphone_2", "nan_reference": "reference"}
    if fault in wanted:
        assert wanted[fault] in parts


def test_without_reference_the_own_voice_is_not_interrupted():
    """F03: playback skipped the reference; nothing is to be stopped then, whatever is heard."""
    mics, reference = own_voice()
    scenes = heard(mics, np.zeros_like(reference))
    assert finite(scenes) and not any(scene.barge_in or scene.duck for scene in scenes)


@pytest.mark.parametrize("mics", [1, 2, 3])
def test_fewer_microphones(mics):
    sound, reference = own_voice(1.0)
    scenes = heard(sound[:mics], reference)
    assert finite(scenes)
    assert mics > 1 or all(scene.bearing is None for scene in scenes)


def test_silence_is_silence():
    silent = np.zeros((4, RATE), np.float32)
    scenes = heard(silent, silent[0])
    assert not any(scene.speech or scene.duck or scene.barge_in or scene.heard for scene in scenes)
    assert not any(scene.clean.any() for scene in scenes)


def test_a_tick_without_sound_keeps_the_state():
    chain, poses = ears(), PoseHistory()
    scene = chain.step((), poses, REST)
    assert not scene.clean.size and not scene.heard
    mics, reference = own_voice(0.5)
    last = heard(mics, reference, chain)[-1]
    idle = chain.step((), poses, REST)
    assert (idle.t, idle.speech, idle.duck) == (last.t, last.speech, last.duck) and not idle.barge_in


def test_the_scene_names_what_microphones_recovered():
    microphones = Microphones(2)
    rng = np.random.default_rng(5)
    levels = []
    for number in range(600):
        mics = rng.standard_normal((2, BLOCK)).astype(np.float32) * 0.01
        if 100 <= number < 300:
            mics[1] = 0
        for change in microphones.step(AudioBlock(number * BLOCK_S, mics, np.zeros(BLOCK, np.float32))).health:
            levels.append((change.part, change.level))
    assert levels == [("microphone_1", "gone"), ("microphone_1", "ok")]


def fallen(levels, odds=3.0):
    rule = Fallen()
    return [rule.step(odds, level) for level in levels]


def test_a_voice_that_has_fallen_to_the_floor_is_over_whatever_is_remembered():
    assert fallen([2.5] * 50 + [0.2] * 30)[-1] == Fallen.odds


def test_a_weak_voice_and_a_gap_inside_a_word_are_not_cut():
    assert set(fallen([0.6] * 50 + [0.3] * 50)) == {3.0}
    assert set(fallen([2.5] * 50 + [0.2] * 3 + [2.5] * 20)) == {3.0}
