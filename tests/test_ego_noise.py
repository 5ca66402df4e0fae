"""The model of what the robot itself sounds like."""
import numpy as np
import pytest

from perception.audio.ego_noise import EgoNoise, EgoNoiseConfig, MotorActivity
from perception.audio.spectrum import BANDS, BINS

SILENT = np.zeros(BINS, np.float32)


def room_noise(rng, power):
    """(BANDS,) one frame of noise."""
    return (power * rng.exponential(size=(8, BANDS)).mean(axis=0)).astype(np.float32)


def after(seconds, power, speed, start_silent=True, model=None):
    """The model after so many seconds of steady noise, every joint at `speed` rad/s."""
    model, activity, rng = model or EgoNoise(), MotorActivity(EgoNoiseConfig()), np.random.default_rng(1)
    for index in range(round(seconds * 100)):
        heard = 0 * SILENT[:BANDS] if start_silent and index == 0 else room_noise(rng, power)
        expected = model.predict(heard, SILENT, activity.step(np.full(9, speed)))
        model.learn(heard, expected, False)
    return model


def test_a_robot_that_always_breathes_knows_the_floor_of_its_room():
    floor = after(3.0, 1e-4, 0.08).terms[1]
    assert (floor > 2e-5).all() and (floor < 2e-4).all()


def test_what_stands_still_is_expected_as_loud_as_the_room():
    model = after(3.0, 1e-4, 0.08)
    expected = model.predict(np.full(BANDS, 1e-4, np.float32), SILENT, np.zeros(5))
    assert (expected.total > 2e-5).all()


def test_the_floor_does_not_learn_the_motors():
    quiet = after(4.0, 1e-4, 0.0, model=EgoNoise(EgoNoiseConfig(start_motor=(1e-5,) * 5)))
    moving = after(0.5, 1e-2, 1.0, start_silent=False, model=quiet)
    assert (moving.terms[1] < 1.2e-4).all()


def test_a_calibrated_spectrum_is_where_motors_start():
    spectrum = tuple(tuple(float(1 + a + b / 10) for b in range(BANDS)) for a in range(5))
    model = EgoNoise(EgoNoiseConfig(start_spectrum=spectrum))
    assert np.allclose(model.terms[2:], spectrum)
    with pytest.raises(ValueError, match="5 activities"):
        EgoNoise(EgoNoiseConfig(start_spectrum=((1.0, 2.0),)))
