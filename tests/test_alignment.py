"""Where the echo is: slips under a voice, drift, lost sound, a loudspeaker that nobody hears."""
import numpy as np
import pytest

from perception.audio.aec import EchoCanceller
from perception.audio.alignment import Alignment, shifted, whitened_correlation
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from perception.audio.misfit import Misfit
from tests.hearing_sounds import RATE, echo_of, hiss, talking

MICS = 2
ALL = np.ones(MICS, bool)


class Chain:
    """Alignment and canceller with the repairs of the front end, block by block."""

    def __init__(self, nominal_s):
        self.canceller = EchoCanceller(MICS)
        self.alignment = Alignment(nominal_s, self.canceller.history)
        self.moves, self.suspected, self.health, self.blocks = [], [], [], 0

    def hear(self, mics, reference):
        """Residual (M, n) of whole blocks."""
        out = np.zeros_like(mics)
        for begin in range(0, reference.size - BLOCK + 1, BLOCK):
            part = slice(begin, begin + BLOCK)
            self.blocks += 1
            done = self.canceller.step(mics[:, part], self.alignment.far(reference[part]), ALL)
            move = self.alignment.moved(mics[0, part], done.echo[0], done.residual[0])
            self.suspected.append(self.alignment.suspected)
            if move is not None:
                self.moves.append((self.blocks * BLOCK / RATE, move.samples))
                self.canceller.replace_far(move.history)
                if not move.slip:
                    self.canceller.forget()
                elif move.rest:
                    self.canceller.shift_paths(move.rest)
            change = self.alignment.health(self.blocks * BLOCK / RATE)
            self.health += [change] if change else []
            out[:, part] = done.residual
        return out


def loss_db(before, after, start_s, end_s):
    part = slice(int(start_s * RATE), int(end_s * RATE))
    return 10 * np.log10(np.square(before[:, part]).mean() / np.square(after[:, part]).mean())


@pytest.mark.parametrize("slip_s", [-0.025, 0.025])
def test_a_slip_is_suspected_at_once_and_found_under_a_voice(slip_s):
    reference, near = talking(4, 5.0), 0.1 * talking(8, 5.0, 220)
    echo = echo_of(reference, 0.12, MICS)
    echo[:, 3 * RATE:] = echo_of(reference, 0.12 + slip_s, MICS)[:, 3 * RATE:]
    chain = Chain(0.11)
    left = chain.hear(echo + near + hiss(1, MICS, reference.size, 1e-4), reference)
    assert sum(samples for _, samples in chain.moves) == pytest.approx(slip_s * RATE, abs=2)
    assert chain.moves[-1][0] < 3.6
    assert any(chain.suspected[300:315]) and sum(chain.suspected[150:300]) < 15
    assert loss_db(echo, left - near, 4.0, 5.0) > 6


def test_a_voice_is_no_slip():
    reference, near = talking(1, 6.0), 0.4 * talking(2, 6.0, 210)
    near[:2 * RATE] = 0
    chain = Chain(0.1)
    chain.hear(echo_of(reference, 0.1, MICS) + near, reference)
    assert not chain.moves and sum(chain.suspected[200:]) < 10


def test_an_echo_that_drifts_off_is_followed_by_reference_and_paths():
    """45 ms from the nominal delay, as after an hour of drift: the echo keeps being cancelled while it is moved."""
    reference = talking(5, 8.0)
    mics = echo_of(reference, 0.195, MICS) + hiss(1, MICS, reference.size, 1e-4)
    chain = Chain(0.15)
    before = chain.alignment.lag
    left = chain.hear(mics, reference)
    assert [samples for _, samples in chain.moves] == [0]
    assert chain.alignment.lag - before == pytest.approx(720, abs=40)
    assert loss_db(mics, left, 6.0, 8.0) > 18


def test_lost_sound_keeps_its_place():
    """Half a second of microphones and reference is lost on the way: the echo paths still hold afterwards."""
    reference = talking(7, 6.0)
    mics = echo_of(reference, 0.15, MICS) + hiss(1, MICS, reference.size, 1e-4)
    chain = Chain(0.15)
    chain.hear(mics[:, :3 * RATE], reference[:3 * RATE])
    chain.canceller.replace_far(chain.alignment.skipped(RATE // 2))
    late = int(3.5 * RATE)
    left = chain.hear(mics[:, late:], reference[late:])
    assert not chain.moves
    assert loss_db(mics[:, late:], left, 0.5, 2.5) > 18


def test_a_loudspeaker_without_echo_is_told_and_taken_back():
    reference = talking(1, 12.0)
    mics = hiss(1, MICS, reference.size, 1e-3)
    mics[:, 8 * RATE:] += echo_of(reference, 0.1, MICS)[:, 8 * RATE:]
    chain = Chain(0.1)
    chain.hear(mics, reference)
    assert [(h.part, h.level) for h in chain.health] == [("loudspeaker", "degraded"), ("loudspeaker", "ok")]
    assert 6 < chain.health[0].t < 8 < chain.health[1].t < 11


def test_starting_later_changes_nothing():
    reference = talking(6, 3.0)
    mics = echo_of(reference, 0.1, MICS) + hiss(1, MICS, reference.size, 1e-4)
    plain = Chain(0.1).hear(mics, reference)
    quiet = 30 * BLOCK
    later = Chain(0.1)
    late = later.hear(np.pad(mics, ((0, 0), (quiet, 0))), np.pad(reference, (quiet, 0)))[:, quiet:]
    assert loss_db(mics, late, 2.0, 3.0) == pytest.approx(loss_db(mics, plain, 2.0, 3.0), abs=1.0)


def test_the_estimate_misfits_only_when_it_adds_sound_after_it_fitted():
    misfit = Misfit()
    assert not any(misfit.step(1.0, 2.0, 1.0) for _ in range(20))        # never fitted
    assert not any(misfit.step(1.0, 0.1, 1.0) for _ in range(20))
    assert not any(misfit.step(4.0, 3.1, 1.0) for _ in range(20))        # a voice over it
    assert [misfit.step(1.0, 2.0, 1.0) for _ in range(60)][9] > 0
    assert misfit.blocks == 0                                            # not for ever
    assert not any(misfit.step(1e-4, 3e-4, 1e-4) for _ in range(20))     # the fading end


def test_shifted_sound_is_the_same_sound():
    sound = np.arange(1, 9, dtype=np.float32)
    assert shifted(sound, 3).tolist() == [0, 0, 0, 1, 2, 3, 4, 5]
    assert shifted(sound, -3).tolist() == [4, 5, 6, 7, 8, 0, 0, 0]
    assert not shifted(sound, 9).any()


def test_correlation_finds_a_delay():
    sound = hiss(5, 1, 4000, 0.1)[0]
    late = np.concatenate([np.zeros(37, np.float32), sound])[:4000]
    assert int(np.argmax(whitened_correlation(late, sound, 8192, 0.6))) == 37
    assert SAMPLE_RATE_HZ == RATE
