"""Two decisions on one score while the robot speaks: duck early and cheaply, stop when it is confirmed.

A refuted duck is released. After a stop the decision is armed again once the evidence has gone.
"""
from dataclasses import dataclass
from typing import Literal

from perception.audio.block import BLOCK_S
from perception.audio.detector import CERTAIN, Running
from perception.audio.scene import Heard

HALF_BLOCK_S = BLOCK_S / 2   # times are compared with this slack: rounding must not decide


@dataclass(frozen=True, slots=True)
class BargeInConfig:
    """Scores are mean log-odds that a person speaks; figures beside the thresholds: training/README.md."""

    duck_at: float = 0.6              # mean of duck_mean
    duck_mean: float = 0.10           # s
    stop_at: float = 1.6              # mean of stop_mean
    stop_mean: float = 0.20           # s: a knock or a click does not fill it
    release_below: float = -1.0       # mean of duck_mean below which a duck is doubted ...
    release_after: float = 0.35       # ... for this many s; between two words of a quiet talker is 0.3 s
    longest_duck: float = 2.0         # s without confirmation; a voice is confirmed or gone by then
    tail: float = 0.3                 # s after the playback in which its echo may still be heard
    hold_after_slip: float = 0.4      # s: echo paths do not fit until the reference has been moved
    moving_extra: float = 0.0         # added to both thresholds, when half of the expected noise or more is motors
    motors_memory: float = 0.5        # s, of that share
    unaligned_extra: float = 1.0      # added to stop_at while the place of the echo is unknown


State = Literal["clear", "ducked", "stopped"]


class BargeIn:
    """Watches the score; `state` says what the playback should be like."""

    def __init__(self, config: BargeInConfig = BargeInConfig()):
        self.config = config
        self.state: State = "clear"
        self.duck_score = self.stop_score = -CERTAIN
        self._fast = Running(round(config.duck_mean / BLOCK_S), -CERTAIN)
        self._slow = Running(round(config.stop_mean / BLOCK_S), -CERTAIN)
        self._motors = 0.0
        self._now = 0.0
        self._since = 0.0            # when the state began
        self._doubt = 0.0            # s below release_below
        self._above: float | None = None   # when the log-odds last turned positive
        self._played = -1e9          # when playback was last heard of
        self._held = -1e9            # decisions wait until then

    @property
    def onset(self) -> float | None:
        """When the evidence that stands now began."""
        return self._above

    @property
    def listens_over_playback(self) -> bool:
        """The robot speaks, or its echo may still be heard."""
        return self._now - self._played < self.config.tail + HALF_BLOCK_S

    def step(self, t: float, log_odds: float, plays: bool, slipped: bool, aligned: bool, motors: float) -> Heard | None:
        """One block that ends at t (s). plays: the reference sounds; motors: 0..1 share of the expected noise."""
        config = self.config
        self.duck_score, self.stop_score = self._fast.step(log_odds), self._slow.step(log_odds)
        self._motors += BLOCK_S / config.motors_memory * (motors - self._motors)
        self._now = t
        self._trace(t, log_odds)
        if plays:
            self._played = t
        if slipped:
            self._held = t + config.hold_after_slip - HALF_BLOCK_S
        weak = self.duck_score < config.release_below
        self._doubt = self._doubt + BLOCK_S if weak else 0.0
        if not self.listens_over_playback:
            return self._quiet(t)
        if t < self._held:
            return None
        moving = config.moving_extra * min(1.0, 2 * self._motors)   # the noise floor takes its half of steady motors
        stop_at = config.stop_at + moving + (0.0 if aligned else config.unaligned_extra)
        if self.state != "stopped" and self.stop_score > stop_at:
            return self._become("stopped", t, "barge_in")
        if self.state == "clear" and self.duck_score > config.duck_at + moving:
            return self._become("ducked", t, "duck")
        return self._let_go(t)

    def _trace(self, t: float, log_odds: float) -> None:
        if log_odds > 0:
            self._above = t - BLOCK_S if self._above is None else self._above
        elif self.duck_score < self.config.release_below - 1:
            self._above = None

    def _let_go(self, t: float) -> Heard | None:
        config = self.config
        if self.state == "ducked":
            if self._doubt >= config.release_after or t - self._since > config.longest_duck - HALF_BLOCK_S:
                return self._become("clear", t, "release")
        elif self.state == "stopped" and self._doubt >= config.release_after:
            self.state = "clear"
        return None

    def _quiet(self, t: float) -> Heard | None:
        """The robot does not speak: nothing to interrupt."""
        if self.state == "ducked":
            return self._become("clear", t, "release")
        self.state = "clear"
        return None

    def _become(self, state: State, t: float, kind: Literal["duck", "barge_in", "release"]) -> Heard:
        self.state, self._since = state, t
        onset = None if kind == "release" else self._above
        return Heard(t, kind, onset, self.stop_score if kind == "barge_in" else self.duck_score)
