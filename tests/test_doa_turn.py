"""Front or behind, in a closed loop: a line hears both, attention asks for a small turn, and the turn decides."""
import numpy as np
import pytest

from calibration.frames import HeadPose, wrapped
from dialogue.attention import Attention
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ
from perception.audio.doa import Direction
from perception.audio.scene import SoundScene
from perception.people import People
from perception.vision.frame import Sight
from tests.direction_scenes import LINE, detected, diffuse, in_room, voice

SECONDS, START, TURN_S = 2.2, 0.6, 0.45   # of the scene, of the voice, of a turn by 20 degrees


def room(azimuth: float, yaw: np.ndarray) -> np.ndarray:
    """(M, n) of a voice in a room, heard by a head of yaw (n,)."""
    rng = np.random.default_rng(round(1000 * azimuth) % 1000)
    n, begin = yaw.size, int(START * SAMPLE_RATE_HZ)
    sound = np.zeros(n)
    sound[begin:] = voice(rng, SECONDS - START)[:n - begin]
    heard = in_room(rng, sound, azimuth, 0.2, LINE, yaw, 0.7)
    return heard / heard.std() * 0.01 + 0.001 * diffuse(rng, n, LINE)


def listened(azimuth: float, yaw: np.ndarray) -> list:
    """(t, bearing, look, head yaw) of each block."""
    heard, direction, people, attention = room(azimuth, yaw), Direction(LINE), People(), Attention()
    speech, steps = detected(yaw.size, START, SECONDS), []
    for k, likelihood in enumerate(speech):
        t, head = (k + 1) * 0.01, float(yaw[(k + 1) * BLOCK - 1])
        block = heard[:, k * BLOCK:(k + 1) * BLOCK].astype(np.float32)
        bearing = direction.step(t, block, np.zeros_like(block), float(likelihood), 0.0,
                                 HeadPose(t, np.zeros(3), np.array([0.0, 0.0, head]), 0.0))
        scene = SoundScene(t, speech=likelihood > 0.5, evidence=3.0, bearing=bearing)
        look = attention.step(t, people.step(t, scene, Sight(t)), "person", head)
        steps.append((t, bearing, look, head))
    return steps


@pytest.mark.parametrize("azimuth_deg", [35, 150, -155])
def test_an_undecided_voice_asks_for_a_small_turn_which_decides_it(azimuth_deg):
    azimuth, n = np.deg2rad(azimuth_deg), int(SECONDS * SAMPLE_RATE_HZ)
    asked = next((t, look.gaze.azimuth) for t, bearing, look, _ in listened(azimuth, np.zeros(n)) if not look.settled)
    assert np.deg2rad(15) < abs(asked[1]) < np.deg2rad(25)
    assert np.sign(asked[1]) == np.sign(np.sin(azimuth)), "towards the side on which voice and mirror are"
    part = np.clip((np.arange(n) / SAMPLE_RATE_HZ - asked[0]) / TURN_S, 0, 1)
    steps = listened(azimuth, asked[1] * part**2 * (3 - 2 * part))
    _, bearing, look, _ = next(step for step in steps if step[0] > asked[0] + 0.8)   # attention waits no longer
    assert bearing is not None and not bearing.ambiguous
    assert abs(wrapped(bearing.azimuth - azimuth)) < np.deg2rad(12)
    assert look.settled and abs(wrapped(look.gaze.azimuth - azimuth)) < np.deg2rad(15)
