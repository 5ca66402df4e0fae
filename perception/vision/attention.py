"""Does a person look at the robot? From how the head is turned, smoothed, and with hysteresis.

Eyes move within a head that is still: within some 15 degrees nobody can say from the head alone, so the value is a
belief (0..1) and not a verdict. A face whose eyes are only a few pixels apart gives a value near one half.
"""
from dataclasses import dataclass, field

import numpy as np

from perception.vision.head_pose import HeadView


@dataclass(frozen=True, slots=True)
class AttentionConfig:
    """Angles in rad, times in s."""

    turned: float = 0.40           # yaw (23 degrees) at which looking and not looking are equally likely
    softness: float = 0.09         # and how gradual that is: five landmarks give yaw to 5 degrees
    pitch_weight: float = 0.5      # pitch from five landmarks is half as sure, and a raised head still looks
    smoothing: float = 0.25        # s, time constant
    hysteresis: float = 0.12       # rad: the look that is held may stray so much more
    least_eyes: float = 6.0        # px between the eyes below which the value fades to one half


@dataclass(slots=True)
class Attention:
    """The attention of one person over time."""

    config: AttentionConfig = field(default_factory=AttentionConfig)
    value: float = 0.5
    t: float | None = None

    def step(self, t: float, view: HeadView, eyes_px: float) -> float:
        """Belief that the person looks at the robot's eyes, after a sighting at t (s)."""
        config = self.config
        off = float(np.hypot(view.yaw, config.pitch_weight * view.pitch))
        held = config.hysteresis * (1 if self.value > 0.5 else -1) / 2 if self.t is not None else 0.0
        now = float(1 / (1 + np.exp((off - config.turned - held) / config.softness)))
        trust = min(1.0, max(0.0, eyes_px / config.least_eyes - 0.5))
        now = 0.5 + trust * (now - 0.5)
        share = 1.0 if self.t is None else 1 - float(np.exp(-(t - self.t) / config.smoothing))
        self.value += share * (now - self.value)
        self.t = t
        return self.value
