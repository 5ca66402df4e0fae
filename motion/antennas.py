"""Where the antennas stand for each mode and mood. Right then left, rad; 0 is straight up, positive turns both one way.

Upright antennas shake in the wind of their own motors (shared fact: rest is 10 degrees off), so none rests there.
"""
from math import copysign, radians

from calibration.body_model import BodyModel
from motion.intent import Mode, Mood

UPRIGHT = radians(8.0)      # rad from vertical within which an antenna shakes

# spread to both sides, rad; listening opens them like ears, sadness lets them hang
SPREAD: dict[Mode, float] = {"idle": radians(12.0), "listen": radians(22.0), "speak": radians(15.0)}
# on top of it, (right, left) rad; with motion.blend.CARRIAGE no two moods look alike
MOODS: dict[Mood, tuple[float, float]] = {
    "neutral": (0.0, 0.0), "glad": (radians(-14.0), radians(14.0)), "curious": (radians(-4.0), radians(32.0)),
    "sad": (radians(-75.0), radians(75.0)), "surprised": (radians(-34.0), radians(34.0)),
    "sorry": (radians(-42.0), radians(42.0)), "sleepy": (radians(-85.0), radians(8.0))}


def stance(model: BodyModel, mode: Mode, mood: Mood) -> tuple[float, float]:
    """(right, left) rad of a mode in a mood."""
    if mode in ("sleep", "park"):
        right, left = model.sleep_antennas.tolist()
        return right, left
    rest, spread = model.rest_antennas.tolist(), SPREAD.get(mode)
    right, left = rest if spread is None else (copysign(spread, side) for side in rest)
    return clear(right + MOODS[mood][0], right), clear(left + MOODS[mood][1], left)


def clear(angle: float, side: float) -> float:
    """The angle kept off the vertical, on the given side."""
    return copysign(max(abs(angle), UPRIGHT), side)
