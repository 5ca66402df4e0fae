"""A recorded tape as a body: the same inputs again, outputs compared or ignored."""
from dataclasses import dataclass, field

from robot.bodies.body import EndOfRun
from robot.codec import encoded
from robot.tape import Tape
from robot.tick import Inputs, Outputs


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where a replay did something else than the recording."""

    index: int
    t: float
    part: str        # field of Outputs
    recorded: str
    replayed: str


@dataclass
class ReplayedBody:
    """Supplies a tape's inputs; keeps the first difference between recorded and replayed outputs."""

    tape: Tape
    difference: Difference | None = None
    _at: int = field(default=0, init=False)       # place on the tape; a black box begins in mid-run

    def read(self, index: int, t: float) -> Inputs:
        if index >= len(self.tape.pairs) or self.difference is not None:
            raise EndOfRun
        self._at = index
        return self.tape.pairs[index][0]

    def write(self, t: float, outputs: Outputs) -> None:
        inputs, recorded = self.tape.pairs[self._at]
        if encoded(outputs) != encoded(recorded):
            for part in ("joints", "speaker", "live_generation", "requests", "haptic", "camera_fps", "volume"):
                before, now = encoded(getattr(recorded, part)), encoded(getattr(outputs, part))
                if before != now:
                    self.difference = Difference(inputs.index, inputs.t, part, before, now)
                    return

    def stop(self, stopped: bool) -> None:
        """What happened has happened."""

    def close(self) -> None:
        pass
