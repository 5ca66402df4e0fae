"""What holds for any sound: blocks may come in bunches, left and right are alike, the same gives the same."""
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from perception.audio.block import BLOCK, BLOCK_S, AudioBlock
from perception.audio.ears import Ears, EarsConfig
from perception.audio.front import FrontEnd
from perception.pose_history import PoseHistory
from tests.hearing_sounds import LINE, echo_of, hiss, talking

REST = np.zeros(9)


def blocks_of(mics, reference, start=0):
    parts = [slice(i * BLOCK, (i + 1) * BLOCK) for i in range(reference.size // BLOCK)]
    return [AudioBlock((start + i + 1) * BLOCK_S, mics[:, part], reference[part]) for i, part in enumerate(parts)]


def overheard(seconds=0.8):
    """A robot that speaks, and a person over it."""
    reference = talking(1, seconds)
    near = np.stack([np.roll(0.02 * talking(2, seconds, 220), 2 * m) for m in range(4)])
    return echo_of(reference, 0.08) + near + hiss(2, 4, reference.size, 1e-3), reference


@settings(deadline=None, max_examples=5, derandomize=True)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_bunches_of_blocks_change_nothing(sizes):
    blocks = blocks_of(*overheard(0.6))
    one, many = Ears(EarsConfig(), LINE, 0.08), Ears(EarsConfig(), LINE, 0.08)
    poses = PoseHistory()
    alone = [one.step((block,), poses, REST) for block in blocks]
    bunched, at = [], 0
    for size in [*sizes, len(blocks)]:
        bunched.append(many.step(tuple(blocks[at:at + size]), poses, REST))
        at = min(at + size, len(blocks))
    assert np.array_equal(np.concatenate([s.clean for s in alone]), np.concatenate([s.clean for s in bunched]))
    assert [h for s in alone for h in s.heard] == [h for s in bunched for h in s.heard]
    assert [h for s in alone for h in s.health] == [h for s in bunched for h in s.health]
    assert (alone[-1].evidence, alone[-1].speech) == (bunched[-1].evidence, bunched[-1].speech)


def evidence(mics, reference, places=LINE, start=0):
    front = FrontEnd(places, 0.08)
    return np.array([front.step(block, REST).evidence.streams for block in blocks_of(mics, reference, start)])


def test_the_same_gives_the_same_at_any_time():
    sound = overheard()
    assert np.array_equal(evidence(*sound), evidence(*sound, start=12345))


def test_left_and_right_are_alike():
    """The room mirrored at the x axis: the same sound at mirrored microphones is the same evidence."""
    sound = overheard()
    mirrored = LINE * [1, -1, 1]
    assert np.allclose(evidence(*sound), evidence(*sound, places=mirrored), atol=2e-3)


@settings(deadline=None, max_examples=6, derandomize=True)
@given(st.integers(0, 2**31), st.sampled_from([np.nan, np.inf, -np.inf, 1e38, -1e38, 0.0]))
def test_no_number_in_can_bring_nonsense_out(seed, poison):
    rng = np.random.default_rng(seed)
    mics, reference = overheard(0.5)
    mics[:, rng.uniform(size=mics.shape[1]) < 0.01] = poison
    reference = reference.copy()
    reference[rng.uniform(size=reference.size) < 0.01] = poison
    assert np.isfinite(evidence(mics, reference)).all()
