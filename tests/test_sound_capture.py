"""From device frames to the blocks of hearing: channels, rate, time, gaps, reference."""
import numpy as np
import pytest

from robot.bodies.reference_line import ReferenceLine
from robot.bodies.sound_capture import Capture
from robot.bodies.sound_config import SoundDeviceConfig

LOOPED = SoundDeviceConfig(microphones=(3, 1), reference=4)


def frames(count: int, channels: int = 6, start: int = 0) -> np.ndarray:
    """(n, channels): the channel's number + a slow ramp, so that every sample has its place."""
    ramp = (start + np.arange(count))[:, None] * 1e-6
    return (np.arange(channels) / 10 + ramp).astype(np.float32)


def test_channels_are_picked_in_order_and_cut_to_10_ms():
    capture = Capture(LOOPED, 16000, 0.0)
    blocks = [b for i in range(5) for b in capture.step(frames(250, start=250 * i), 0.25 * i, False)]
    assert len(blocks) == 7
    sound = np.concatenate([b.mics for b in blocks], axis=1)
    assert np.allclose(sound[:, :3], [[0.3, 0.3, 0.3], [0.1, 0.1, 0.1]], atol=1e-4)
    assert np.allclose(np.diff(sound, axis=1), 1e-6, atol=1e-7)
    assert np.allclose(blocks[0].reference, 0.4, atol=2e-4)


@pytest.mark.parametrize(("rate_hz", "channels"), [(48000, 2), (16000, 2), (44100, 5), (8000, 1), (96000, 8)])
def test_a_tone_keeps_pitch_and_duration_at_any_format(rate_hz, channels):
    """F37, F39: rate, channels and type are converted each for itself, at equal rates too."""
    capture = Capture(SoundDeviceConfig(microphones=(channels - 1,)), rate_hz, 0.0)
    sound = np.zeros((rate_hz, channels), np.float32)
    sound[:, channels - 1] = np.sin(2 * np.pi * 440 * np.arange(rate_hz) / rate_hz)
    period = rate_hz // 50
    blocks = [b for i in range(50) for b in capture.step(sound[i * period:(i + 1) * period], 0.02 * (i + 1), False)]
    heard = np.concatenate([b.mics[0] for b in blocks])
    assert 98 <= len(blocks) <= 100
    wanted = np.sin(2 * np.pi * 440 * np.arange(heard.size) / 16000)
    assert np.abs(heard - wanted)[400:].max() < 2e-3
    assert blocks[-1].t - blocks[0].t == pytest.approx(0.01 * (len(blocks) - 1), abs=1e-4)


def test_a_loss_is_a_gap_in_time_and_marked_once():
    capture = Capture(LOOPED, 16000, 0.0)
    blocks, now = [], 0.0
    for i in range(20):
        now += 0.02 + 0.06 * (i == 10)
        blocks += capture.step(frames(320), now, i == 10)
    assert [i for i, b in enumerate(blocks) if b.gap] == [0, 20]
    assert blocks[20].t - blocks[19].t == pytest.approx(0.07, abs=1e-3)
    assert capture.losses == 1 and capture.lost_s == pytest.approx(0.06, abs=1e-3)


def test_without_loopback_the_reference_comes_from_what_was_written_and_survives_a_loss():
    line = ReferenceLine()
    capture = Capture(SoundDeviceConfig(microphones=(0,)), 16000, 0.0, line)
    written, found, now = 0, [], 0.0
    for i in range(60):
        for _ in range(2 + 4 * (i == 30)):                    # what was played while the microphones were deaf, too
            written += 1
            line.push(np.full(160, written / 1000, np.float32))
        now += 0.02 + 0.04 * (i == 30)
        found += [round(float(b.reference[0]) * 1000) - n for n, b in
                  enumerate(capture.step(frames(320, 1), now, i == 30), len(found))]
    early, lately = set(found[10:60]), set(found[62:])
    assert len(early) == 1 and lately == {early.pop() + 4}


def test_exact_zeros_of_all_microphones_are_counted():
    capture = Capture(SoundDeviceConfig(microphones=(0, 1)), 16000, 0.0)
    for i in range(100):
        capture.step(np.zeros((320, 2), np.float32), 0.02 * i, False)
    assert capture.silent_s == pytest.approx(2.0)
    capture.step(np.array([[0.0, 1e-5]] * 320, np.float32), 2.02, False)
    assert capture.silent_s == 0.0
