"""A body on a real machine: what the machine tells of itself comes in with everything else."""
from dataclasses import dataclass, replace

from robot.bodies.body import Body
from robot.service.vitals_process import VitalsProcess
from robot.tick import Inputs, Outputs


@dataclass
class WatchedBody:
    """Everything comes from `rest`, the machine's vitals from their process."""

    rest: Body
    vitals: VitalsProcess

    def read(self, index: int, t: float) -> Inputs:
        inputs, sample, health = self.rest.read(index, t), self.vitals.read(), self.vitals.health()
        if sample is None and not health:
            return inputs
        return replace(inputs, vitals=inputs.vitals or sample, health=inputs.health + health)

    def write(self, t: float, outputs: Outputs) -> None:
        self.rest.write(t, outputs)

    def stop(self, stopped: bool) -> None:
        self.rest.stop(stopped)

    def close(self) -> None:
        self.rest.close()
        self.vitals.close()
