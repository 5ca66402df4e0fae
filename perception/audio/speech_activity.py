"""Start and end of a person's speech.

While the robot is silent it starts on a lower score; while it speaks or moves loudly only on one that would stop it:
motor noise and echo must never open a turn.
"""
from dataclasses import dataclass

from perception.audio.block import BLOCK_S
from perception.audio.detector import CERTAIN, Running
from perception.audio.scene import Heard


@dataclass(frozen=True, slots=True)
class SpeechActivityConfig:
    """Scores are mean log-odds that a person speaks."""

    start_at: float = 0.5             # mean of start_mean, robot silent and still
    start_mean: float = 0.12          # s
    moving_extra: float = 4.5         # added in proportion to the motors' share of the expected noise
    end_below: float = -1.0           # mean of end_mean
    end_mean: float = 0.15            # s
    end_after: float = 0.20           # s below; pauses between words are shorter
    longest_gap: float = 0.3          # s without audio end the speech: silence cannot be waited for
    longest_wait: float = 0.6         # s until then if no block comes at all: the sound card's latency is in it


class SpeechActivity:
    """Whether a person speaks, in starts and ends."""

    def __init__(self, config: SpeechActivityConfig = SpeechActivityConfig()):
        self.config = config
        self.speaks = False
        self.onset: float | None = None
        self.score = -CERTAIN
        self._start = Running(round(config.start_mean / BLOCK_S), -CERTAIN)
        self._end = Running(round(config.end_mean / BLOCK_S), -CERTAIN)
        self._below = 0.0
        self._last_t: float | None = None

    def step(self, t: float, log_odds: float, onset: float | None, plays: bool, confirmed: bool, motors: float,
             ) -> tuple[Heard, ...]:
        """One block that ends at t (s). onset: of the evidence; plays: the robot speaks; confirmed: a barge-in stands;
        motors: 0..1 share of motor noise in what is expected."""
        config = self.config
        ended = self._gap(t)
        self.score = self._start.step(log_odds)
        low = self._end.step(log_odds) < config.end_below
        self._below = self._below + BLOCK_S if low else 0.0
        if self.speaks:
            if self._below >= config.end_after:
                return (*ended, self._stop(t))
            return ended
        bar = config.start_at + config.moving_extra * motors
        if confirmed or (not plays and self.score > bar):
            self.speaks = True
            self.onset = onset if onset is not None else t - config.start_mean
            return (*ended, Heard(t, "speech_start", self.onset, self.score))
        return ended

    def waited(self, t: float) -> tuple[Heard, ...]:
        """No block has come by t (s): the end of speech does not wait for one."""
        if self.speaks and self._last_t is not None and t - self._last_t > self.config.longest_wait:
            return (self._stop(t),)
        return ()

    def _gap(self, t: float) -> tuple[Heard, ...]:
        last, self._last_t = self._last_t, t
        if self.speaks and last is not None and t - last > self.config.longest_gap + BLOCK_S / 2:
            return (self._stop(t),)
        return ()

    def _stop(self, t: float) -> Heard:
        self.speaks = False
        return Heard(t, "speech_end", self.onset, self.score)
