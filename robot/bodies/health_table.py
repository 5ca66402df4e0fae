"""What a child process says about its parts, in one slot of shared memory."""
import json

from calibration.health import Health
from robot.bodies.latest import LatestValue

REASON = 160               # characters kept of a reason, so that all parts fit the slot


class HealthTable:
    """The state of each part that ever changed, with a count, in one slot."""

    def __init__(self, slot: LatestValue):
        self._slot = slot
        self._parts: dict[str, tuple[int, float, str, str]] = {}

    def add(self, changes: tuple[Health, ...]) -> None:
        for change in changes:
            count = self._parts.get(change.part, (0,))[0] + 1
            self._parts[change.part] = (count, change.t, change.level, change.reason[:REASON])
        if changes:
            self._slot.write(json.dumps(self._parts).encode())
