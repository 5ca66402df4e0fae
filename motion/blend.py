"""What each mode mixes, and the sum of the layers.

Every layer is an offset in motion.workspace.COORDINATES with a weight; a change of mode or mood moves the weights and
the posture on straight lines, the limiter behind rounds them. So no layer knows of another, and none is switched.
"""
from dataclasses import dataclass
from math import radians

from calibration.body_model import BodyModel
from calibration.frames import rpy_of
from motion.antennas import stance
from motion.intent import Mode, Mood
from motion.limiter import DT
from motion.workspace import LEFT, PITCH, RIGHT, ROLL, X, Y, Z


@dataclass(frozen=True, slots=True)
class Mix:
    """How much of each layer a mode has, 0..1, and the lean of the head."""

    breath: float           # listening breathes flatter: the motors are near the microphones
    sway: float
    pace: float             # of breathing, 1 awake
    forward: float = 0.0    # m


MIXES: dict[Mode, Mix] = {
    "idle": Mix(breath=1.0, sway=1.0, pace=1.0),
    "listen": Mix(breath=0.6, sway=0.6, pace=0.9, forward=0.003),
    "speak": Mix(breath=0.8, sway=1.0, pace=1.1),
    "still": Mix(breath=0.0, sway=0.0, pace=1.0),
    "sleep": Mix(breath=0.4, sway=0.0, pace=0.6),
    "park": Mix(breath=0.0, sway=0.0, pace=0.6),
}
# (height m, roll rad) of a mood
CARRIAGE: dict[Mood, tuple[float, float]] = {
    "neutral": (0.0, 0.0), "glad": (0.004, radians(-4.0)), "curious": (0.0, radians(7.0)),
    "sad": (-0.010, radians(3.0)), "surprised": (0.006, 0.0), "sorry": (-0.008, radians(-8.0)),
    "sleepy": (-0.012, radians(7.0))}
FADE_S = 0.7            # s between awake modes
DROWSY_FADE_S = 1.8     # s into and out of sleep: the antennas swing half a turn, the head sinks 44 mm
WEIGHTS = 9             # index of the first weight behind the nine coordinates


class Blend:
    """The posture and weights of the present mode, on their way from the last one."""

    def __init__(self, model: BodyModel, start: list[float]):
        """start: the pose (9) to come from; its turns are the gaze's affair."""
        self._model = model
        self._now = [*start, 0.0, 0.0, 0.0]
        for coordinate in (0, PITCH, PITCH + 1):
            self._now[coordinate] = 0.0
        self._goal = self._now
        self._left = 0
        self._key: tuple[Mode, Mood] | None = None

    def step(self, mode: Mode, mood: Mood) -> tuple[list[float], float, float, float]:
        """(posture (9), weight of breath, weight of sway, pace of breath) of this tick."""
        if (mode, mood) != self._key:
            drowsy = self._key is None or {mode, self._key[0]} & {"sleep", "park"}
            self._key, self._goal = (mode, mood), self._posture(mode, mood)
            self._left = round((DROWSY_FADE_S if drowsy else FADE_S) / DT)
        if self._left:
            self._now = [n + (g - n) / self._left for n, g in zip(self._now, self._goal, strict=True)]
            self._left -= 1
        breath, sway, pace = self._now[WEIGHTS:]
        return self._now[:WEIGHTS], breath, sway, pace

    def _posture(self, mode: Mode, mood: Mood) -> list[float]:
        mix, pose = MIXES[mode], [0.0] * WEIGHTS
        if mode in ("sleep", "park"):
            pose[X], pose[Y], pose[Z] = self._model.sleep_position.tolist()
            pose[Z] -= self._model.rest_height
        else:
            pose[X] = mix.forward
            pose[Z], pose[ROLL] = CARRIAGE[mood]
        pose[RIGHT], pose[LEFT] = stance(self._model, mode, mood)
        return [*pose, mix.breath, mix.sway, mix.pace]


def sleeping_pitch(model: BodyModel) -> float:
    """Nose-down pitch (rad) of the sleeping head."""
    return float(rpy_of(model.sleep_rotation)[1])
