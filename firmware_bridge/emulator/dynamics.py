"""How emulated joints move: a position servo with lag, a top speed and gravity droop, or a limp arm that sinks.

A held joint is a critically damped second-order system; its lag behind a ramp is 2 / omega. The step is the exact
solution for a goal that stands still meanwhile, so its size does not change the motion. Reachy Mini's servos run with
P gain only (shared facts), so a load leaves a standing error, the droop.
"""
from dataclasses import dataclass

import numpy as np

from calibration.frames import Array

LAG_S = 0.030              # s behind a ramp, typical of these servos at P gain 300
DROOP_GAIN = 300.0         # the P gain at which `droop` holds; half the gain, twice the droop
BLOCKED_RAD_S = 0.1        # rad/s: slower than this, a joint off its goal is blocked
SINK_RAD_S = 0.8           # rad/s: a 288:1 gear lets a limp head sink, not fall
SINK_TAU_S = 0.25          # s, how a sinking joint comes to rest


@dataclass(slots=True)
class Dynamics:
    """State of n joints, advanced by `step`. All arrays (n,), rad, rad/s, own copies."""

    position: Array
    goal: Array                # rad, in force while held
    droop: Array               # rad at P gain 300, signed the way gravity pulls
    limp: Array                # rad, where a joint without torque sinks to; nan: stays
    top_speed: Array           # rad/s
    gain: Array                # the P gain in the table
    held: Array                # bool: the motor pulls
    gripped: Array             # bool: someone holds the joint where it is
    velocity: Array

    @classmethod
    def at_rest(cls, position: Array, droop: Array, limp: Array, top_speed: Array) -> "Dynamics":
        n = len(position)
        return cls(position.copy(), position.copy(), droop.copy(), limp.copy(), top_speed.copy(),
                   np.full(n, DROOP_GAIN), np.zeros(n, bool), np.zeros(n, bool), np.zeros(n))

    def pull(self) -> Array:
        """rad: how hard the motors pull. A moving one no more than its drag, a blocked one all it can."""
        drag = self.top_speed * LAG_S
        off = self.goal - self.position
        off = np.where(np.abs(self.velocity) > BLOCKED_RAD_S, np.minimum(np.maximum(off, -drag), drag), off)
        return np.where(self.held, off, 0.0)

    def step(self, dt: float) -> None:
        omega = 2.0 / LAG_S
        decay = np.exp(-omega * dt)
        target = self.goal + self.droop * (DROOP_GAIN / np.maximum(self.gain, 1.0))
        error = self.position - target
        slope = self.velocity + omega * error
        moved = target + (error + slope * dt) * decay - self.position
        velocity = (self.velocity - omega * slope * dt) * decay
        if not self.held.all():
            to_limp = np.where(np.isfinite(self.limp), self.limp - self.position, 0.0)
            sink = np.clip(to_limp / SINK_TAU_S, -SINK_RAD_S, SINK_RAD_S)
            moved = np.where(self.held, moved, sink * dt)
            velocity = np.where(self.held, velocity, sink)
        if self.gripped.any():
            moved, velocity = np.where(self.gripped, 0.0, moved), np.where(self.gripped, 0.0, velocity)
        reach = self.top_speed * dt
        self.position = self.position + np.minimum(np.maximum(moved, -reach), reach)
        self.velocity = np.minimum(np.maximum(velocity, -self.top_speed), self.top_speed)
