"""What is not done while a room is silent must not be missed when it is not."""
from functools import cache

import numpy as np
import pytest

from perception.audio.aec import EchoCanceller
from perception.audio.block import BLOCK, AudioBlock
from perception.audio.calm import Calm, CalmConfig
from perception.audio.ears import Ears, EarsConfig
from perception.audio.evidence import EvidenceConfig
from perception.audio.front import FrontEndConfig
from perception.audio.spectrum import BANDS
from perception.pose_history import PoseHistory
from tests.hearing_sounds import LINE, hiss, talking

REST = np.zeros(9)
VOICE_FROM = 450                   # block: 4.5 s, with a word that begins in the middle of a calm room
NEVER = EarsConfig(front=FrontEndConfig(evidence=EvidenceConfig(calm=CalmConfig(starts=10**9))))


@cache
def heard(config, voice_rms):
    """[(fresh, decisions)] of each block of a hissing room with a voice from VOICE_FROM on."""
    voice = talking(7, 2.5)
    starts = int(np.argmax(np.abs(voice) > 0.01)) // BLOCK * BLOCK
    sound = hiss(5, 4, VOICE_FROM * BLOCK + voice.size - starts, 1e-3)
    sound[:, VOICE_FROM * BLOCK:] += np.float32(voice_rms / 0.1) * voice[starts:]
    ears, out, fronted = Ears(config, LINE, 0.08), [], []
    step = ears._front.step
    ears._front.step = lambda *arguments: fronted.append(step(*arguments)) or fronted[-1]
    for index in range(sound.shape[1] // BLOCK):
        block = AudioBlock((index + 1) / 100, sound[:, index * BLOCK:(index + 1) * BLOCK], np.zeros(BLOCK, np.float32))
        scene = ears.step((block,), PoseHistory(), REST)
        out.append((fronted[-1].evidence.fresh, [heard.kind for heard in scene.heard]))
    return out


def first(found, kind):
    return next(index for index, (_, kinds) in enumerate(found) if kind in kinds)


def test_every_other_block_of_a_calm_room_is_passed_over():
    fresh = [fresh for fresh, _ in heard(EarsConfig(), 0.02)[340:VOICE_FROM]]
    assert 0.4 < 1 - np.mean(fresh) <= 0.5
    assert all(fresh for fresh, _ in heard(NEVER, 0.02))


def test_the_first_block_of_a_word_is_looked_at_and_all_of_it():
    found = heard(EarsConfig(), 0.02)
    begun = VOICE_FROM + 1          # the first has but some samples of it
    assert all(fresh for fresh, _ in found[begun:first(found, "speech_start") + 20])


@pytest.mark.parametrize("voice_rms", [0.02, 0.003])
def test_a_voice_out_of_the_calm_is_noticed_as_soon_as_by_ears_that_never_rest(voice_rms):
    rested, never = (first(heard(config, voice_rms), "speech_start") for config in (EarsConfig(), NEVER))
    assert VOICE_FROM < never < VOICE_FROM + 60 and abs(rested - never) <= 2


def test_nothing_is_calm_at_the_start_or_while_something_may_be_there():
    quiet, loud = np.ones(BANDS, np.float32), np.full(BANDS, 3.0, np.float32)
    calm, config = Calm(), CalmConfig()
    assert not any(calm.step(quiet, False) for _ in range(config.starts + config.after))
    assert calm.step(quiet, False) and not calm.step(loud, False)
    assert not any(calm.step(quiet, False) for _ in range(config.after)) and calm.step(quiet, False)
    assert not calm.step(quiet, True) and not calm.passes


class NeverIdle(EchoCanceller):
    """One that adapts in each block of silence."""

    @property
    def _idle(self):
        return False


def test_a_canceller_that_rested_goes_on_where_one_that_did_not_is():
    rng, all_of_them = np.random.default_rng(5), np.ones(4, bool)
    rested, never = EchoCanceller(4), NeverIdle(4)
    far, paths = np.zeros(2 * BLOCK, np.float32), rng.standard_normal((4, 40)) * 0.1
    for index in range(500):
        plays = index < 150 or index >= 400
        far = np.append(far[BLOCK:], 0.1 * plays * rng.standard_normal(BLOCK)).astype(np.float32)
        echo = np.stack([np.convolve(far, path)[BLOCK:2 * BLOCK] for path in paths])
        mics = (echo + (0.001 + 0.001 * index / 400) * rng.standard_normal((4, BLOCK))).astype(np.float32)
        done = [canceller.step(mics, far, all_of_them) for canceller in (rested, never)]
        np.testing.assert_allclose(done[0].residual, done[1].residual, rtol=0, atol=2e-5)
    assert done[0].echo.std() > 0.01
