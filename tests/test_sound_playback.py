"""The way to the loudspeaker: nothing of a dead reply, volume, clipping, late minds, any device rate."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.engine import SILENCE, SpeakerBlock
from robot.bodies.reference_line import MARGIN, ReferenceLine
from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.sound_playback import Playback, softly_clipped

QUICK = settings(deadline=None, max_examples=40, derandomize=True)
CONFIG = SoundDeviceConfig()


def reply(generation: int, count: int, level: float | None = None, start: int = 0) -> list[SpeakerBlock]:
    """Blocks whose samples name their generation (generation / 100), or a constant level."""
    value = generation / 100 if level is None else level
    return [SpeakerBlock(generation, (start + i) * 160, np.full(160, value, np.float32)) for i in range(count)]


def played(playback: Playback, blocks: int) -> np.ndarray:
    """(n,) of the next so many blocks."""
    return np.concatenate([playback.fill(160)[:, 0] for _ in range(blocks)])


def test_a_stop_empties_what_waits_and_the_next_reply_is_whole():
    playback = Playback(CONFIG, 16000)
    playback.put(reply(1, 20), 1)
    assert np.isclose(played(playback, 4)[-1], 0.01)
    playback.put(reply(2, 3), 2)
    after = played(playback, 8)
    assert playback.stale == 18
    assert (np.abs(after[48:480] - 0.02) < 1e-6).all() and not after[560:].any()


@QUICK
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 4), st.integers(0, 3)), max_size=40))
def test_no_sound_of_a_dead_reply_ever_leaves(steps):
    """Each step: blocks that come, for the live reply or an older one; the live reply changes; the device takes."""
    playback, live, offset = Playback(CONFIG, 16000), 1, 0
    for count, back, change, takes in steps:
        live += change == 4
        playback.put(reply(max(1, live - back), count, start=offset), live)
        offset += count
        sound = played(playback, takes) if takes else np.zeros(0)
        settled = sound.reshape(-1, 160)[:, 48:]                 # after the smoothing of a cut
        assert np.isin(np.round(settled * 100), (0, live)).all()


def test_a_tail_sounds_at_once_when_what_was_before_it_dies():
    playback = Playback(CONFIG, 16000)
    playback.put(reply(1, 10), 1)
    played(playback, 3)
    tail = SpeakerBlock(0, 0, np.full(160, 0.3, np.float32))
    playback.put([tail], 2)
    assert np.isclose(played(playback, 1)[100], 0.3)


@pytest.mark.parametrize("rate_hz", [8000, 16000, 22050, 44100, 48000])
def test_pitch_and_length_hold_at_any_rate(rate_hz):
    playback = Playback(CONFIG, rate_hz)
    seconds, hertz = 0.24, 500.0
    sound = np.sin(2 * np.pi * hertz * np.arange(round(seconds * 16000)) / 16000).astype(np.float32)
    playback.put([SpeakerBlock(1, at, sound[at:at + 160]) for at in range(0, sound.size, 160)], 1)
    out = np.concatenate([playback.fill(rate_hz // 50)[:, 0] for _ in range(20)])
    heard = np.flatnonzero(np.abs(out) > 0.05)
    assert (heard[-1] - heard[0]) / rate_hz == pytest.approx(seconds, abs=0.003)
    crossings = np.flatnonzero(np.diff(np.signbit(out[heard[0]:heard[-1]].astype(float))))
    assert rate_hz / np.diff(crossings).mean() / 2 == pytest.approx(hertz, rel=0.01)


def test_only_the_voice_channels_sound():
    playback = Playback(SoundDeviceConfig(voice=(1, 3), output_channels=6), 16000)
    playback.put(reply(1, 4), 1)
    out = np.concatenate([playback.fill(320) for _ in range(2)])
    assert out.shape == (640, 6)
    assert out[:, [1, 3]].any(axis=0).all() and not out[:, [0, 2, 4, 5]].any()


def test_volume_mute_and_soft_clipping():
    playback = Playback(SoundDeviceConfig(volume=2.0), 16000)
    playback.put(reply(1, 8, level=0.9), 1)
    loud = played(playback, 6)[500:]
    assert 0.9 < loud.max() < 1.0
    playback.volume = 0.0
    assert not played(playback, 4)[160:].any()
    quiet = np.linspace(-0.79, 0.79, 100, dtype=np.float32)
    assert (softly_clipped(quiet) == quiet).all()
    assert np.abs(softly_clipped(np.array([5.0, -5.0], np.float32))).max() <= 1.0


def test_a_late_mind_costs_silence_not_words_and_the_distance_shrinks_again():
    playback = Playback(CONFIG, 16000)
    playback.put(reply(1, 4), 1)
    played(playback, 10)                           # the mind is late by 40 ms in the middle of a reply
    assert playback.starved == 1
    playback.put(reply(1, 8, start=4), 1)          # and then gives all at once
    assert (played(playback, 8)[48:] > 0.009).all()
    playback.put([SILENCE] * 8, 1)
    for _ in range(1000):
        playback.put([SILENCE], 1)
        playback.fill(160)
    assert playback.waiting <= 4 and playback.dropped == 0


def test_far_too_many_blocks_lose_silence_first():
    playback = Playback(CONFIG, 16000)
    playback.put([SILENCE] * 30 + reply(1, 20), 1)
    assert playback.waiting == 25 and playback.dropped == 0
    playback.put(reply(1, 60, start=20), 1)
    assert playback.waiting == 25 and playback.dropped == 55


def test_cuts_do_not_click():
    playback = Playback(CONFIG, 16000)
    playback.put(reply(1, 4, level=0.5), 1)
    out = played(playback, 8)
    assert np.abs(np.diff(out)).max() < 0.02


def test_the_reference_is_what_was_handed_over():
    line = ReferenceLine()
    playback = Playback(SoundDeviceConfig(volume=0.5), 48000, line)
    playback.put(reply(1, 20, level=0.4), 1)
    for _ in range(10):
        playback.fill(960)
    taken = np.concatenate([line.take() for _ in range(15)])
    assert np.isclose(taken[-1], 0.2) and not taken[:300].any()


@pytest.mark.parametrize("drift_ppm", [-200, 200])
def test_thirty_minutes_on_another_clock_keep_the_reference_near(drift_ppm):
    """The loudspeaker's clock is off against the microphones': the line neither runs dry for long nor grows."""
    line, written, dry = ReferenceLine(), 0.0, 0
    voice = np.full(160, 0.1, np.float32)
    silent = np.zeros(160, np.float32)
    for block in range(180_000):
        written += 1 + drift_ppm * 1e-6
        speaks = block % 1500 < 900                # nine seconds of voice, six of silence
        while written >= 1:
            written -= 1
            line.push(voice if speaks else silent)
        if speaks and block % 1500 > 20 and not line.take().any():
            dry += 1
        elif not speaks or block % 1500 <= 20:
            line.take()
    assert dry <= 40                               # 180,000 blocks drift by 36
    assert len(line._blocks) <= 2 * MARGIN + 6
