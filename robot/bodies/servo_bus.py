"""The servo-bus body: the robot's own servos on a serial port, in place of another body's joints."""
from dataclasses import dataclass, replace

from robot.bodies.body import Body
from robot.bodies.servo_process import ServoProcess
from robot.tick import Inputs, Outputs


@dataclass
class ServoBusBody:
    """Sound, sight and the engine come from `rest` (the device body); joints come from and go to the servo process."""

    rest: Body
    joints: ServoProcess

    def read(self, index: int, t: float) -> Inputs:
        inputs = self.rest.read(index, t)
        return replace(inputs, joints=self.joints.read(), health=inputs.health + self.joints.health())

    def write(self, t: float, outputs: Outputs) -> None:
        if outputs.joints is not None:
            self.joints.write(outputs.joints)
        self.rest.write(t, replace(outputs, joints=None))

    def close(self) -> None:
        self.joints.close()
        self.rest.close()
