"""A body whose joints are moved by a process of their own: real servos on a bus, or the robot's daemon."""
from dataclasses import dataclass, replace

from robot.bodies.body import Body
from robot.bodies.joint_process import JointProcess
from robot.tick import Inputs, Outputs


@dataclass
class JoinedBody:
    """Sound, sight and the engine come from `rest`; joints come from and go to the process."""

    rest: Body
    joints: JointProcess

    def read(self, index: int, t: float) -> Inputs:
        inputs = self.rest.read(index, t)
        return replace(inputs, joints=self.joints.read(), health=inputs.health + self.joints.health())

    def write(self, t: float, outputs: Outputs) -> None:
        if outputs.joints is not None:
            self.joints.write(outputs.joints)
        self.rest.write(t, replace(outputs, joints=None))

    def stop(self, stopped: bool) -> None:
        self.joints.stop(stopped)

    def close(self) -> None:
        self.joints.close()
        self.rest.close()
