"""The canceller and the alignment of its reference, on echo paths that are known."""
import numpy as np
import pytest

from perception.audio.aec import EchoCanceller
from perception.audio.alignment import Alignment
from perception.audio.block import BLOCK
from tests.hearing_sounds import RATE, echo_of, hiss, talking

ALL = np.ones(4, bool)


def run(mics, reference, nominal_s, usable=ALL):
    """(residual (M, n), moves [(s, samples)]) with the same repairs as the front end."""
    canceller = EchoCanceller(len(mics))
    alignment = Alignment(nominal_s, canceller.history)
    residual, moves = np.zeros_like(mics), []
    for begin in range(0, reference.size - BLOCK + 1, BLOCK):
        part = slice(begin, begin + BLOCK)
        done = canceller.step(mics[:, part], alignment.far(reference[part]), usable[:len(mics)])
        move = alignment.moved(mics[0, part], done.echo[0], done.residual[0])
        if move is not None:
            moves.append((begin / RATE, move.samples))
            canceller.replace_far(move.history)
            if not move.slip:
                canceller.forget()
            elif move.rest:
                canceller.shift_paths(move.rest)
        residual[:, part] = done.residual
    return residual, moves


def loss_db(before, after, start_s, end_s):
    part = slice(int(start_s * RATE), int(end_s * RATE))
    return 10 * np.log10(np.square(before[:, part]).mean() / np.square(after[:, part]).mean())


def test_cancels_all_channels():
    reference = talking(1, 4.0)
    mics = echo_of(reference, 0.1) + hiss(1, 4, reference.size, 1e-4)
    residual, moves = run(mics, reference, 0.09)
    assert not moves
    for mic in range(4):
        assert loss_db(mics[mic:mic + 1], residual[mic:mic + 1], 2.5, 4.0) > 20


def test_keeps_the_near_voice():
    reference, near = talking(1, 5.0), 0.02 * talking(2, 5.0, 210) / 0.1
    near[:3 * RATE] = 0
    mics = echo_of(reference, 0.1) + near + hiss(1, 4, reference.size, 1e-4)
    residual, _ = run(mics, reference, 0.1)
    kept = residual[0, int(3.2 * RATE):]
    assert np.corrcoef(kept, near[int(3.2 * RATE):])[0, 1] > 0.9


@pytest.mark.parametrize("slip_s", [-0.03, -0.012, 0.02, 0.04])
def test_repairs_a_slip(slip_s):
    reference = talking(4, 6.0)
    mics = echo_of(reference, 0.12)
    jump = 3 * RATE
    mics[:, jump:] = echo_of(reference, 0.12 + slip_s)[:, jump:]
    residual, moves = run(mics + hiss(1, 4, reference.size, 1e-4), reference, 0.12)
    assert [samples for _, samples in moves] == [pytest.approx(slip_s * RATE, abs=2)]
    assert moves[0][0] < 3.8
    assert loss_db(mics, residual, 4.5, 6.0) > 14


def test_an_early_echo_is_followed_by_the_paths():
    """Nothing is earlier than playing: when the reference cannot be moved, the paths are."""
    reference = talking(5, 6.0)
    mics = echo_of(reference, 0.05)
    mics[:, 3 * RATE:] = echo_of(reference, 0.03)[:, 3 * RATE:]
    residual, moves = run(mics + hiss(1, 4, reference.size, 1e-4), reference, 0.04)
    assert sum(samples for _, samples in moves) == pytest.approx(-0.02 * RATE, abs=2)
    assert loss_db(mics, residual, 4.5, 6.0) > 14


@pytest.mark.parametrize(("nominal_s", "true_s"), [(None, 0.31), (None, 0.02), (0.05, 0.45)])
def test_finds_an_unknown_or_wrong_delay(nominal_s, true_s):
    reference = talking(6, 7.0)
    mics = echo_of(reference, true_s) + hiss(1, 4, reference.size, 1e-4)
    residual, _ = run(mics, reference, nominal_s)
    assert loss_db(mics, residual, 5.5, 7.0) > 14


def test_silence_in_silence_out():
    silent = np.zeros((4, 2 * RATE), np.float32)
    residual, moves = run(silent, silent[0], 0.1)
    assert not residual.any() and not moves


def test_a_mic_that_must_not_teach_does_not_disturb_the_others():
    reference = talking(1, 4.0)
    mics = echo_of(reference, 0.1) + hiss(1, 4, reference.size, 1e-4)
    mics[2] = hiss(9, 1, reference.size, 0.5)[0]
    residual, _ = run(mics, reference, 0.1, np.array([True, True, False, True]))
    assert loss_db(mics[:2], residual[:2], 2.5, 4.0) > 20
