"""From the last gate to the air: delay, drift, slips, clipping, and blocks that must not pass."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.engine import SpeakerBlock
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from robot.bodies.last_gate import LastGate
from robot.bodies.room.arrivals import LEAD
from robot.bodies.room.loudspeaker import NOMINAL_DBFS, Device, Driver, LoudspeakerConfig, PlayedLog


def through(config: LoudspeakerConfig, sound: np.ndarray) -> np.ndarray:
    device = Device(config)
    return np.concatenate([device.step(piece) for piece in sound.astype(np.float32).reshape(-1, BLOCK)])


def lag(played: np.ndarray, sound: np.ndarray, at: int, span: int = 8000) -> float:
    """Samples by which `played` is late around sample `at`, between samples by a parabola."""
    piece = played[at:at + span]
    shifts = np.arange(0, min(at, 9000))
    match = np.array([piece @ sound[at - s:at - s + span] for s in shifts])
    best = int(np.argmax(match))
    low, mid, high = match[best - 1:best + 2]
    return best + (low - high) / (2 * (low - 2 * mid + high))


@pytest.fixture(scope="module")
def noise():
    """A low-passed noise, 4 s."""
    rng = np.random.default_rng(1)
    return np.convolve(rng.standard_normal(400 * BLOCK), np.hanning(9) / 4.5, "same")


@pytest.mark.parametrize("delay", [0.03, 0.12, 0.2501])
def test_delay_is_the_chosen_one(noise, delay):
    played = through(LoudspeakerConfig(playback_delay_s=delay), noise)
    assert lag(played, noise, 20000) + LEAD == pytest.approx(delay * SAMPLE_RATE_HZ, abs=0.02)


def test_drift_is_the_chosen_one(noise):
    played = through(LoudspeakerConfig(playback_delay_s=0.1, drift_ppm=200.0), noise)
    early, late = lag(played, noise, 8000, 2000), lag(played, noise, 56000, 2000)
    assert late - early == pytest.approx(48000 * 200e-6, abs=0.1)


@pytest.mark.parametrize("jump", [0.02, -0.025])
def test_a_slip_shifts_the_sound_from_its_moment_on(noise, jump):
    played = through(LoudspeakerConfig(playback_delay_s=0.1, slips=((2.0, jump),)), noise)
    assert lag(played, noise, 20000) + LEAD == pytest.approx(1600, abs=0.02)
    assert lag(played, noise, 40000) + LEAD == pytest.approx(1600 + jump * SAMPLE_RATE_HZ, abs=0.02)


def test_an_xrun_makes_it_late_from_then_on(noise):
    device = Device(LoudspeakerConfig(playback_delay_s=0.1))
    played = []
    for index, piece in enumerate(noise.astype(np.float32).reshape(-1, BLOCK)):
        device.late_s += 0.02 if index == 200 else 0.0
        played.append(device.step(piece))
    assert lag(np.concatenate(played), noise, 20000) + LEAD == pytest.approx(1600, abs=0.02)
    assert lag(np.concatenate(played), noise, 40000) + LEAD == pytest.approx(1920, abs=0.02)


def tone_through(driver: Driver, level_db: float) -> np.ndarray:
    t = np.arange(60 * BLOCK) / SAMPLE_RATE_HZ
    tone = np.sqrt(2) * 10 ** (level_db / 20) * np.sin(2 * np.pi * 1000 * t)
    return np.concatenate([driver.step(piece) for piece in tone.astype(np.float32).reshape(-1, BLOCK)])[20 * BLOCK:]


def harmonics_db(sound: np.ndarray) -> float:
    """Power of the 2nd to 5th harmonic of 1 kHz against the tone."""
    power = np.abs(np.fft.rfft(sound * np.hanning(sound.size))) ** 2
    bins = [round(k * 1000 * sound.size / SAMPLE_RATE_HZ) for k in range(1, 6)]
    parts = [power[b - 3:b + 4].sum() for b in bins]
    return 10 * np.log10(sum(parts[1:]) / parts[0])


def test_loud_sound_is_clipped_softly_and_quiet_sound_is_not():
    quiet = tone_through(Driver(LoudspeakerConfig(), np.random.default_rng(2)), NOMINAL_DBFS - 20)
    loud = tone_through(Driver(LoudspeakerConfig(), np.random.default_rng(2)), NOMINAL_DBFS + 14)
    assert harmonics_db(quiet) < -35 < -20 < harmonics_db(loud)
    assert 20 * np.log10(loud.std() / quiet.std()) < 34 - 2


def test_a_small_loudspeaker_has_no_bass():
    response = 10 * np.log10(Driver(LoudspeakerConfig(), np.random.default_rng(3)).response(161))
    assert response[1] < response[20] - 10 and response[159] < response[20] - 4


def test_robots_sound_different():
    responses = [Driver(LoudspeakerConfig(), np.random.default_rng(seed)).response(161) for seed in (4, 5)]
    assert np.abs(10 * np.log10(responses[0] / responses[1])[10:140]).max() > 1.0


def block(generation: int) -> SpeakerBlock:
    return SpeakerBlock(generation, 0, np.ones(BLOCK, np.float32))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), max_size=40))
def test_no_block_of_another_reply_passes_the_gate(steps):
    """steps: (generation put, live generation told, blocks taken)."""
    gate, log = LastGate(), PlayedLog()
    for put, live, taken in steps:
        gate.put((block(put),) if put else (), live)
        log.live_generation = live
        for _ in range(taken):
            passed = gate.next()
            assert passed.generation in (0, live)
            log.entered(passed)
    assert log.stale_blocks == 0


def test_the_log_counts_stale_blocks_that_a_broken_gate_lets_through():
    log = PlayedLog(live_generation=2)
    log.entered(block(1))
    log.entered(block(2))
    log.cancel(2)
    log.entered(block(2))
    log.entered(SpeakerBlock(1, 0, np.zeros(BLOCK, np.float32)))
    assert log.stale_blocks == 2


def test_wrong_delays_are_refused():
    with pytest.raises(ValueError, match="playback_delay_s"):
        LoudspeakerConfig(playback_delay_s=3.0)
    with pytest.raises(ValueError, match="distance_m"):
        LoudspeakerConfig(distance_m=2.0)
