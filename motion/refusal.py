"""What cannot be wanted of a body, and why: nonsense in a wish is refused and named, the rest of it is obeyed."""
from dataclasses import replace
from math import inf, tau
from numbers import Real
from typing import TypeGuard, get_args

from motion.intent import Gaze, GestureName, Mode, Mood, MotionIntent

MODES, MOODS, GESTURES = get_args(Mode), get_args(Mood), (None, *get_args(GestureName))
CALM = 0.0      # urgency in place of one that is no number


def refusal(azimuth: object, elevation: object = 0.0) -> str:
    """Why a direction cannot be a target, in words for the person who sent it; empty when it can."""
    for name, value in (("azimuth_rad", azimuth), ("elevation_rad", elevation)):
        if not _is_number(value):
            return f"{name} is {value!r}, expected a number"
        if value != value or value in (inf, -inf):
            return f"{name} is {value}, expected a finite number"
        if not -tau <= value <= tau:
            return f"{name} is {value!r:.20}, expected radians between -2 pi and 2 pi"
    return ""


def obeyable(wish: MotionIntent, mode: Mode) -> tuple[MotionIntent, str]:
    """The wish without what cannot be obeyed, and what that was (empty: nothing). mode: the one of the tick before."""
    refused = []
    if wish.gaze is not None and (why := _against(wish.gaze)):
        wish = replace(wish, gaze=None)
        refused.append(f"gaze: {why}")
    if wish.mode not in MODES:
        refused.append(f"mode is {wish.mode!r:.40}, expected one of {', '.join(MODES)}")
        wish = replace(wish, mode=mode)
    if wish.mood not in MOODS:
        refused.append(f"mood is {wish.mood!r:.40}, expected one of {', '.join(MOODS)}")
        wish = replace(wish, mood="neutral")
    if wish.gesture not in GESTURES:
        refused.append(f"gesture is {wish.gesture!r:.40}, expected one of {', '.join(GESTURES[1:])}")
        wish = replace(wish, gesture=None)
    if not _is_number(wish.urgency) or not 0.0 <= wish.urgency <= 1.0:
        refused.append(f"urgency is {wish.urgency!r:.20}, expected a number from 0 to 1")
        wish = replace(wish, urgency=CALM)
    return wish, "; ".join(refused)


def _against(gaze: Gaze) -> str:
    why = refusal(gaze.azimuth, gaze.elevation)
    distance = gaze.distance
    if why or distance is None:
        return why
    if not _is_number(distance) or not 0.0 <= distance < inf:
        return f"distance is {distance!r:.20}, expected metres from 0"
    return ""


def _is_number(value: object) -> TypeGuard[float]:
    return type(value) is float or (isinstance(value, Real) and not isinstance(value, bool))
