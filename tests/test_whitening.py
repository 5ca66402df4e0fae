"""The beam that is deaf to the motors, and the pattern that a voice breaks."""
from dataclasses import replace
from functools import cache

import numpy as np

from calibration.body_model import reachy_mini
from perception.audio.ego_noise import EgoNoise, EgoNoiseConfig, MotorActivity
from perception.audio.spectrum import Frames, in_bands, squared
from perception.audio.whitening import USED, Whitening
from robot.bodies.room.motor_noise import MotorNoise, MotorNoiseConfig
from tests.hearing_sounds import LINE, RATE, hiss, talking

BLOCKS, VOICE_FROM = 900, 600
ALL = np.ones(4, np.float32)


def plane_wave(signal, azimuth):
    """(4, n) at LINE from far away at an azimuth, rad."""
    lead = LINE @ np.array([np.cos(azimuth), np.sin(azimuth), 0]) / 343.0
    hertz = np.fft.rfftfreq(signal.size, 1 / RATE)
    return np.fft.irfft(np.fft.rfft(signal) * np.exp(2j * np.pi * hertz * lead[:, None]), signal.size, axis=1)


@cache
def stems():
    """(motors and hiss, voice) of four microphones, and the speeds (BLOCKS, 9); motors 8 dB over the voice."""
    t = np.arange(BLOCKS) / 100
    speeds = 0.6 * np.sin(2 * np.pi * np.outer(t, np.linspace(0.3, 0.7, 9)) + np.arange(9))
    body = replace(reachy_mini(), mic_positions=LINE)
    noise = MotorNoise(MotorNoiseConfig(), body, np.random.default_rng(4))
    motors = np.concatenate([noise.step(row) for row in speeds], axis=1)
    motors *= 0.03 / motors.std()
    voice = np.zeros(BLOCKS * 160)
    voice[VOICE_FROM * 160:] = talking(1, (BLOCKS - VOICE_FROM) / 100)
    voice = plane_wave(voice, np.deg2rad(40))
    voice *= 0.03 * 10 ** (-8 / 20) / voice[:, VOICE_FROM * 160:].std()
    return motors + hiss(1, 4, BLOCKS * 160, 1e-4), voice, speeds


def listened(use):
    """fit (BLOCKS, groups), and power of motors and voice at microphone 0 and at the beam (BLOCKS, 2, 2)."""
    motors, voice, speeds = stems()
    whitening, ego_noise, activity = Whitening(LINE), EgoNoise(), MotorActivity(EgoNoiseConfig())
    frames = [Frames(4), Frames(4)]
    fits, powers = [], []
    for index in range(BLOCKS):
        part = slice(index * 160, index * 160 + 160)
        own, other = (f.step((x[:, part] * use[:, None]).astype(np.float32))
                      for f, x in zip(frames, (motors, voice), strict=True))
        heard = in_bands(squared(own + other).mean(axis=0))
        expected = ego_noise.predict(heard, np.zeros(161, np.float32), activity.step(speeds[index]))
        fits.append(whitening.step(own + other, expected, use).fit)
        ego_noise.learn(heard, expected, False)
        powers.append([[squared(x[0, USED]).sum(), squared(whitening.listen(x)).sum()] for x in (own, other)])
    return np.array(fits), np.array(powers), whitening


def test_a_voice_below_the_motors_breaks_their_pattern():
    fits, _, _ = listened(ALL)
    seconds = np.log10(fits).mean(axis=1).reshape(-1, 100).mean(axis=1)
    before, during = seconds[2:VOICE_FROM // 100], seconds[VOICE_FROM // 100:]
    assert during.min() > before.max() + 0.01, (before, during)


def test_the_beam_lets_a_voice_through_and_not_the_motors():
    _, powers, _ = listened(ALL)
    at_mic, at_beam = powers[VOICE_FROM + 10:].sum(axis=0).T
    gain_db = 10 * np.log10((at_beam[1] / at_beam[0]) / (at_mic[1] / at_mic[0]))
    assert gain_db > 4, f"{gain_db:.1f} dB"


def test_a_dead_microphone_gets_no_weight():
    use = np.array([1, 0, 1, 1], np.float32)
    _, _, whitening = listened(use)
    weight = np.abs(whitening.beam) ** 2
    assert weight[:, 1].sum() < 0.01 * weight.sum()
