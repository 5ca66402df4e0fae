"""A body put together: sound, sight and the engine from one, joints, array and touch from processes of their own."""
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from calibration.health import Health
from firmware_bridge.touch import Touch
from perception.audio.array_register import Reading
from robot.bodies.body import Body
from robot.bodies.device_process import DeviceProcess
from robot.bodies.joint_process import JointProcess
from robot.tick import Inputs, Outputs


@dataclass
class JoinedBody:
    """rest: supplies everything else. joints, array, touch: None where the robot has none of its own.

    An array that the joints' process asks (the robot's daemon) speaks through it.
    """

    rest: Body
    joints: JointProcess | None = None
    array: DeviceProcess | None = None
    touch: DeviceProcess | None = None

    def read(self, index: int, t: float) -> Inputs:
        inputs = self.rest.read(index, t)
        array: tuple[Reading, ...] = ()
        reading, health = inputs.joints, inputs.health
        if self.joints is not None:
            reading = self.joints.read()
            array, health = self.joints.heard(), health + self.joints.health()
        touches: tuple[Touch, ...] = ()
        if self.array is not None:
            found, told = _sorted(self.array.poll())
            array, health = array + found, health + told
        if self.touch is not None:
            touches, told = _sorted(self.touch.poll())
            health += told
        return replace(inputs, joints=reading, health=health, array=inputs.array + array,
                       touches=inputs.touches + touches)

    def write(self, t: float, outputs: Outputs) -> None:
        if self.joints is not None and outputs.joints is not None:
            self.joints.write(outputs.joints)
        if self.touch is not None and outputs.haptic is not None:
            self.touch.send(outputs.haptic)
        self.rest.write(t, outputs)

    def stop(self, stopped: bool) -> None:
        self.rest.stop(stopped)
        if self.joints is not None:
            self.joints.stop(stopped)

    def close(self) -> None:
        for part in (self.joints, self.array, self.touch, self.rest):
            if part is not None:
                part.close()


def _sorted(found: Iterable[Any]) -> tuple[tuple[Any, ...], tuple[Health, ...]]:
    """What a device found, and what it says of itself."""
    both = tuple(found)
    return (tuple(value for value in both if not isinstance(value, Health)),
            tuple(value for value in both if isinstance(value, Health)))
