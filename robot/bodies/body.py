"""The protocol behind which real devices, the simulated room and a recorded tape are the same thing."""
from typing import Protocol

from robot.tick import Inputs, Outputs


class Body(Protocol):
    """Supplies inputs and takes outputs. Neither call waits for a device."""

    def read(self, index: int, t: float) -> Inputs:
        """What has arrived by time t (s). Raises EndOfRun when there will be no more (a tape's end, a scene's end)."""

    def write(self, t: float, outputs: Outputs) -> None:
        """Hand the outputs of the tick at t to the devices and the engine."""

    def stop(self, stopped: bool) -> None:
        """Emergency stop: the joints decelerate and hold, whatever goals are written, until it is called with False."""

    def close(self) -> None:
        """Park what moves and let go of the devices."""


class EndOfRun(Exception):
    """The body has no more inputs."""
