"""Sound that a sound card lost is missing in the past of the reference too."""
import numpy as np

from perception.audio.block import BLOCK, BLOCK_S, AudioBlock
from perception.audio.front import FrontEnd
from tests.hearing_sounds import RATE, echo_of, hiss, talking

LOST = 2 * BLOCK                     # one period of a sound card, as in an xrun
POSITIONS = np.array([[0.0, 0.0, 0.0], [0.0, 0.03, 0.0]])


def residual(timed: bool) -> float:
    """Energy left of the echo in the 200 ms after a loss; timed: the blocks' times tell of it."""
    reference = talking(3, 6.0)
    mics = echo_of(reference, 0.1, 2) + hiss(2, 2, reference.size, 1e-4)
    front = FrontEnd(POSITIONS, 0.1)
    at = next(i for i in range(4 * RATE, reference.size, BLOCK) if np.square(reference[i:i + 20 * BLOCK]).mean() > 1e-4)
    left = 0.0
    for begin in range(0, at + LOST + 20 * BLOCK, BLOCK):
        if at <= begin < at + LOST:
            continue
        late = begin > at
        t = begin / RATE + BLOCK_S - (0.0 if timed or not late else LOST / RATE)
        part = slice(begin, begin + BLOCK)
        block = AudioBlock(t, mics[:, part], reference[part], gap=begin == at + LOST)
        done = front.step(block, np.zeros(9))
        left += float(np.square(done.cancelled.residual).sum()) if late else 0.0
    return left


def test_the_echo_of_what_was_played_before_a_loss_is_still_cancelled():
    assert residual(timed=True) < 0.2 * residual(timed=False)
