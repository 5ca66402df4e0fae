"""The room's responses against pyroomacoustics, geometry and plain convolution."""
import numpy as np
import pyroomacoustics as pra
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import butter, sosfilt

from calibration.body_model import reachy_mini
from calibration.frames import rotation
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from robot.bodies.room.arrivals import LEAD, PARTS, Arrivals, direct_response
from robot.bodies.room.late_field import WINDOW, LateTail, diffuse_mixing, tail_response
from robot.bodies.room.shoebox import HEAD_AT, SPEED_OF_SOUND, BoxConfig, Shoebox
from robot.bodies.room.sound_path import EarPlaces, SoundPath
from robot.errors import BadRequest

MICS = reachy_mini().mic_positions


def ears(yaw: float = 0.0, lift: float = 0.0) -> EarPlaces:
    head = HEAD_AT + np.array([0.0, 0.0, lift])
    return EarPlaces(head + MICS @ rotation(0.0, 0.0, yaw).T, MICS, HEAD_AT, yaw)


def heard(path: SoundPath, dry: np.ndarray, place, ears_at) -> np.ndarray:
    """(M, n) of a dry sound; ears_at(block) gives the ears."""
    out = []
    for block, piece in enumerate(dry.astype(np.float32).reshape(-1, BLOCK)):
        sound = path.step(piece, np.asarray(place, float), ears_at(block))
        out.append(np.zeros((4, BLOCK), np.float32) if sound is None else sound)
    return np.concatenate(out, axis=1)


def impulse(blocks: int) -> np.ndarray:
    out = np.zeros(blocks * BLOCK)
    out[0] = 1.0
    return out


@pytest.mark.parametrize("rt60", [0.2, 0.4, 0.8])
def test_early_energy_is_that_of_pyroomacoustics(rt60):
    box = Shoebox(BoxConfig(rt60_s=rt60), seed=1)
    place = np.array([0.9, -0.7, 0.35])
    ours = heard(SoundPath(box), impulse(PARTS + 1), place, lambda _: ears())[:, LEAD:PARTS * BLOCK]
    origin = np.array(box.config.robot_at_m)
    room = pra.ShoeBox(box.config.size_m, fs=SAMPLE_RATE_HZ, materials=pra.Material(box.absorption), max_order=12)
    room.add_source(place + origin)
    room.add_microphone_array((ears().exact + origin).T)
    room.compute_rir()
    for mic in range(4):
        theirs = room.rir[mic][0][40:PARTS * BLOCK + 40 - LEAD]                  # without its own lead
        assert np.argmax(np.abs(ours[mic])) == pytest.approx(np.argmax(np.abs(theirs)), abs=1)
        for low, high in ((0, 200), (200, 784)):
            ratio = 10 * np.log10((ours[mic, low:high] ** 2).sum() / (theirs[low:high] ** 2).sum())
            assert abs(ratio) < 2.0, (mic, low, ratio)


@pytest.mark.parametrize("rt60", [0.1, 0.3, 0.6, 0.8])
def test_reverberation_time_is_the_chosen_one(rt60):
    box = Shoebox(BoxConfig(rt60_s=rt60), seed=2)
    blocks = int(rt60 * 100) + 20
    whole = heard(SoundPath(box), impulse(blocks), [1.2, 0.8, 0.3], lambda _: ears())
    tail = LateTail(tail_response(box, MICS, 2))
    pieces = [tail.step(piece.astype(np.float32)) for piece in impulse(blocks).reshape(-1, BLOCK)]
    late = np.concatenate([np.zeros((4, BLOCK)) if p is None else p for p in pieces], axis=1)
    middle = sosfilt(butter(3, [354, 1414], "bandpass", fs=SAMPLE_RATE_HZ, output="sos"), whole + late)
    decay = 10 * np.log10(np.cumsum((middle ** 2).mean(0)[::-1])[::-1] + 1e-15)
    decay -= decay[LEAD]
    first, last = np.argmax(decay < -8), np.argmax(decay < -28)     # after the direct sound
    assert 3 * (last - first) / SAMPLE_RATE_HZ == pytest.approx(rt60, rel=0.25)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.floats(-3.1, 3.1), st.floats(-3.1, 3.1), st.floats(0.6, 2.2))
def test_direct_sound_comes_from_its_direction(azimuth, yaw, distance):
    place = HEAD_AT + distance * np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    at = ears(yaw)
    response = direct_response(place, at.exact, 320)
    spectrum = np.fft.rfft(response, 4096)[:, 100:900]
    phase = np.unwrap(np.angle(spectrum[3] / spectrum[0]))
    slope = np.polyfit(np.arange(100, 900), phase, 1)[0] * -4096 / (2 * np.pi * SAMPLE_RATE_HZ)
    wanted = (np.linalg.norm(place - at.exact[3]) - np.linalg.norm(place - at.exact[0])) / SPEED_OF_SOUND
    assert slope == pytest.approx(wanted, abs=2e-6)
    level = 20 * np.log10(np.sqrt((response[0] ** 2).sum()) * np.linalg.norm(place - at.exact[0]))
    assert level == pytest.approx(0.0, abs=0.4)         # a fractional delay loses the last of the treble


def test_quick_direct_response_is_the_general_one():
    place = np.array([0.8, 0.4, 0.5])
    general = Arrivals.between(place[None], ears().exact, np.ones(1), np.zeros(1, np.int64)).response(320)
    np.testing.assert_allclose(direct_response(place, ears().exact, 320), general, atol=1e-6)


def test_a_still_source_is_plainly_convolved():
    box, rng = Shoebox(BoxConfig(), seed=3), np.random.default_rng(3)
    place, dry = [0.7, 1.0, 0.3], rng.standard_normal(30 * BLOCK)
    response = heard(SoundPath(box), impulse(PARTS + 2), place, lambda _: ears(0.3))
    sound = heard(SoundPath(box), dry, place, lambda _: ears(0.3))
    for mic in range(4):
        np.testing.assert_allclose(sound[mic], np.convolve(dry, response[mic])[:dry.size], atol=2e-4)


def test_the_tail_is_plainly_convolved_after_the_early_part():
    box, rng = Shoebox(BoxConfig(rt60_s=0.3), seed=3), np.random.default_rng(4)
    response = tail_response(box, MICS, 3)
    dry = rng.standard_normal(90 * BLOCK).astype(np.float32)
    tail = LateTail(response)
    pieces = [tail.step(piece) for piece in dry.reshape(-1, BLOCK)]
    out = np.concatenate([np.zeros((4, BLOCK)) if p is None else p for p in pieces], axis=1)
    delayed = np.concatenate([np.zeros(WINDOW), dry])[:dry.size]
    for mic in range(4):
        np.testing.assert_allclose(out[mic], np.convolve(delayed, response[mic])[:dry.size], atol=1e-4)


def test_silence_ends_and_begins_again_exactly():
    box, rng = Shoebox(BoxConfig(), seed=5), np.random.default_rng(5)
    burst = np.concatenate([rng.standard_normal(3 * BLOCK), np.zeros(40 * BLOCK)])
    sound = heard(SoundPath(box), np.tile(burst, 2), [1.0, 0.2, 0.3], lambda _: ears())
    np.testing.assert_allclose(sound[:, :burst.size], sound[:, burst.size:], atol=1e-5)


@pytest.mark.parametrize("moves", ["head", "source", "nod"])
def test_moving_makes_no_clicks(moves):
    box = Shoebox(BoxConfig(rt60_s=0.3), seed=6)
    blocks = 120
    dry = 0.1 * np.sin(2 * np.pi * 400 * np.arange(blocks * BLOCK) / SAMPLE_RATE_HZ)
    path, out = SoundPath(box), []
    for block, piece in enumerate(dry.astype(np.float32).reshape(-1, BLOCK)):
        t = block / 100
        at = ears(1.5 * t if moves == "head" else 0.0, 0.01 * np.sin(6 * t) if moves == "nod" else 0.0)
        angle = 0.8 * t if moves == "source" else 0.4
        out.append(path.step(piece, np.array([1.2 * np.cos(angle), 1.2 * np.sin(angle), 0.3]), at))
    sound = np.concatenate(out, axis=1)[:, 10 * BLOCK:]
    bend = np.abs(np.diff(sound, 3)).max(axis=1)                  # a click has much treble, the tone little
    smooth = np.abs(sound).max(axis=1) * (2 * np.pi * 400 / SAMPLE_RATE_HZ) ** 3
    assert (bend < 4 * smooth).all()


def test_a_turned_head_hears_the_other_side():
    """Turning the head by 180 degrees swaps the outer microphones, exactly for the direct sound."""
    place = HEAD_AT + np.array([0.0, 1.5, 0.0])
    mics = MICS - MICS.mean(axis=0)
    there, back = (HEAD_AT + mics @ rotation(0, 0, yaw).T for yaw in (0.0, np.pi))
    np.testing.assert_allclose(direct_response(place, there, 320), direct_response(place, back, 320)[::-1], atol=1e-5)


def test_diffuse_sound_is_coherent_as_theory_says():
    mixing = diffuse_mixing(MICS, 65).astype(np.float64)
    coherence = mixing @ mixing.transpose(0, 2, 1)
    frequency = np.linspace(0, SAMPLE_RATE_HZ / 2, 65)
    np.testing.assert_allclose(coherence[:, 0, 0], 1.0, atol=1e-3)
    np.testing.assert_allclose(coherence[:, 0, 2], np.sinc(2 * frequency * 0.066 / SPEED_OF_SOUND), atol=1e-3)


def test_wrong_rooms_are_refused():
    with pytest.raises(ValueError, match=r"rt60_s: expected 0\.1 to 0\.8 s, found 1\.5"):
        BoxConfig(rt60_s=1.5)
    with pytest.raises(ValueError, match="robot_at_m"):
        BoxConfig(robot_at_m=(9.0, 1.0, 1.0))
    with pytest.raises(BadRequest, match="anna: expected a place in the room"):
        Shoebox(BoxConfig(), 1).check_inside(np.array([5.0, 0.0, 0.3]), "anna")
