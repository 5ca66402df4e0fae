"""Active listening: what the robot does with itself so that it hears better, before it is sure that somebody speaks.

One step after the other, the cheapest first, each only as long as the evidence stands:

| step   | motors | voice  | begins when                                                     | how people take it    |
|--------|--------|--------|-----------------------------------------------------------------|-----------------------|
| speaks | move   | full   |                                                                 |                       |
| still  | rest   | full   | weak evidence, and motors are a good part of the expected noise | not noticed below 1 s |
| low    | rest   | -6 dB  | the evidence stands although the motors have run out            | a dip before a word   |
| deep   | rest   | -12 dB | the ears duck (perception.audio.barge_in), and it lasts         | "it has noticed me"   |

From `still` on the voice also waits a moment at the end of a clause, where people leave a gap for others anyway. What
proves vain is taken back at once and makes the next time a little harder for a while, as with people; so a robot in a
noise that it does not know cannot go on twitching. What holding still early is worth: hearing-notes.md, "Active
listening".
"""
from dataclasses import dataclass
from typing import Literal

Step = Literal["speaks", "still", "low", "deep"]


@dataclass(frozen=True, slots=True)
class ListeningConfig:
    """Evidence is SoundScene.evidence, mean log-odds of 100 ms.

    How to set thresholds for a new detector: `talkover bench --listening` ends with how often weak evidence is met
    when nobody speaks, in motion and at rest, and how often it stands early in an interruption. still_at: the lowest
    met at most 240 times an hour of motion (a rest in 15 s, at which the prototype missed nobody any more), or the next
    lower one that most interruptions at -20 dB reach early. low_at: the lowest met 12 times an hour at rest.
    refuted_below: half a unit under still_at.
    """

    active: bool = True            # false: motors rest for nothing, and a duck goes as deep as it can at once
    motors_from: float = 0.2       # 0..1 of the expected noise: below it (1 dB) resting takes nothing away ...
    pause: float = 1.0             # ... unless they were above so many s ago: a head that paused is about to go on
    # evidence from which the motors rest; far below the rule above, because the detector of this evening reaches no
    # more early in an interruption at -20 dB: 7 of 8 heard against 5 of 8, for a rest in 18 s of motion
    still_at: float = -1.5
    low_at: float = 0.5            # evidence from which the voice goes down: above the ears' own duck_at at rest
    run_out: float = 0.25          # s until motors are 12 dB quieter (motion.limiter: all rests after 0.36 s)
    refuted_below: float = -2.0    # evidence below which a step is doubted ...
    refuted_after: float = 0.15    # ... for so many s: a gap between syllables is shorter
    longest: float = 0.9           # s of rest without a duck: longer is seen as hesitation, and the voice is over
    low_db: float = -6.0           # dB: clearly audible only to who listens for it
    deep_db: float = -12.0         # dB (DESIGN.md)
    deepen_after: float = 0.2      # s of the ears' duck at low_db; most stops are confirmed by then, and so are clicks
    weary: float = 1.0             # added to still_at and low_at after each time in vain ...
    rested: float = 30.0           # ... s in which that fades to a third: evidence 2 too high rests it 5 times a minute

    def __post_init__(self):
        if not self.refuted_below < self.still_at <= self.low_at:
            raise ValueError("expected refuted_below < still_at <= low_at, found "
                             f"{self.refuted_below}, {self.still_at}, {self.low_at}")


@dataclass(frozen=True, slots=True)
class Manner:
    """How to speak and move in this tick."""

    step: Step = "speaks"
    hold: bool = False             # the motors rest
    gain_db: float = 0.0           # of the voice
    linger: bool = False           # wait at the end of a clause


AT_EASE = Manner()


class ActiveListening:
    """Steps up on evidence, down when it is refuted."""

    def __init__(self, config: ListeningConfig = ListeningConfig()):
        self.config = config
        self.step_now: Step = "speaks"
        self._since = 0.0              # s, when the motors began to rest
        self._moved_at = -1e9          # s, when they were last a good part of the noise
        self._ducked_at: float | None = None
        self._doubted_at: float | None = None
        self._wearied = 0.0            # log-odds on top of the thresholds ...
        self._wearied_at = 0.0         # ... at this time (s)

    def rest(self) -> Manner:
        """The robot does not speak, or was stopped: nothing was in vain, the next reply begins at ease."""
        self.step_now, self._ducked_at, self._doubted_at = "speaks", None, None
        return AT_EASE

    def step(self, t: float, evidence: float, motors: float, duck: bool) -> Manner:
        """The tick at t (s) while the robot speaks. evidence: log-odds; motors 0..1; duck: the ears want it low."""
        config = self.config
        if motors >= config.motors_from:
            self._moved_at = t
        if duck:
            self._duck(t)
        elif self.step_now == "deep":
            self._in_vain(t)
        elif config.active:
            self._lean(t, evidence)
        if self.step_now == "speaks":
            return AT_EASE
        deep = self._ducked_at is not None and t - self._ducked_at >= config.deepen_after
        gain_db = 0.0 if self.step_now == "still" else config.deep_db if deep or not config.active else config.low_db
        return Manner(self.step_now, True, gain_db, config.active)

    def _duck(self, t: float) -> None:
        if self.step_now == "speaks":
            self._since = t
        if self._ducked_at is None:
            self._ducked_at = t
        self.step_now, self._doubted_at = "deep", None

    def _lean(self, t: float, evidence: float) -> None:
        """The steps before the ears are sure enough to duck."""
        config, harder = self.config, self._weariness(t)
        if self.step_now == "speaks":
            if t - self._moved_at <= config.pause and evidence > config.still_at + harder:
                self.step_now, self._since = "still", t
            return
        rested = t - self._since
        if evidence >= config.refuted_below:
            self._doubted_at = None
        elif self._doubted_at is None:
            self._doubted_at = t
        doubted = self._doubted_at is not None and t - self._doubted_at >= config.refuted_after
        if rested >= config.longest or (doubted and rested >= config.run_out):
            self._in_vain(t)
        elif rested >= config.run_out and evidence > config.low_at + harder:
            self.step_now = "low"

    def _weariness(self, t: float) -> float:
        return self._wearied * 3.0 ** (-(t - self._wearied_at) / self.config.rested)

    def _in_vain(self, t: float) -> None:
        self._wearied, self._wearied_at = self._weariness(t) + self.config.weary, t
        self.rest()
