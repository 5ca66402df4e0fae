"""Where the head can be: every target is brought inside, so none is unreachable.

A pose of the whole body is nine coordinates in the order of COORDINATES: body yaw in base; the head in the body's frame
(x, y, z in m, z counted from the height at rest; roll, pitch, yaw in rad); the antennas in rad. The line of sight is
azimuth = body + yaw, elevation = -pitch whatever the roll, the height and the shift, so the gaze is never traded away:
where a far turn leaves no room, the head sinks as a neck would.
"""
from dataclasses import dataclass
from math import radians, tau

from calibration.body_model import BodyModel
from calibration.frames import wrapped

COORDINATES = ("body", "x", "y", "z", "roll", "pitch", "yaw", "right_antenna", "left_antenna")
BODY, X, Y, Z, ROLL, PITCH, YAW, RIGHT, LEFT = range(9)


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """Bounds found by sampling the inverse kinematics of Reachy Mini; tests/test_motion_workspace.py does it again.

    Reach and joint limits hold on the convex hull, so averages of poses inside (the limiter makes them) are inside too,
    with 2 deg of joint angle left for the sway that is added afterwards.
    """

    body_margin: float = radians(2.0)       # rad inside the body's limit, which is a mechanical stop
    yaw: float = radians(63.0)              # rad against the body; the SDK's limit is 65 deg
    up: float = radians(50.0)               # rad of raised nose: a standing person's face at 0.5 m
    down: float = radians(34.0)             # rad of lowered nose: the table in front of the robot
    roll: float = radians(13.0)             # rad either way
    forward: float = 0.005                  # m
    backward: float = 0.005                 # m, with a turned head
    asleep: float = 0.017                   # m further back when straight: the sleeping head's 21 mm
    sideways: float = 0.002                 # m
    top: float = 0.008                      # m above rest: room to breathe, and not more
    ceiling: float = 0.019                  # m above rest when straight: rods almost stretched
    ceiling_yaw: float = 0.0128             # m lower per rad of yaw
    ceiling_up: float = 0.0195              # m lower per rad of raised nose
    ceiling_down: float = 0.0290            # m lower per rad of lowered nose
    ceiling_roll: float = 0.0230            # m lower per rad of roll
    floor: float = -0.018                   # m: arms at their lower stop
    floor_back: float = 1.75                # m deeper per m beyond `backward`: the sleeping head lies 44 mm down


class Workspace:
    """Projects poses and directions to what the body can do."""

    def __init__(self, model: BodyModel, config: WorkspaceConfig | None = None):
        self.config = config = config or WorkspaceConfig()
        self.body = min(-float(model.lower[0]), float(model.upper[0])) - config.body_margin
        self.sight = self.body + config.yaw     # largest azimuth number of the line of sight, rad
        self._antenna = float(min(model.upper[7:9]))

    def ceiling(self, roll: float, pitch: float, yaw: float) -> float:
        """Highest z (m from rest) at which the head can be turned so."""
        c = self.config
        tilt = c.ceiling_down * pitch if pitch > 0 else -c.ceiling_up * pitch
        return min(c.top, c.ceiling - c.ceiling_yaw * abs(yaw) - tilt - c.ceiling_roll * abs(roll))

    def project(self, pose: list[float]) -> list[float]:
        """The nearest pose inside, turns before height. Continuous: near poses stay near."""
        c = self.config
        body, x, y, z, roll, pitch, yaw, right, left = pose
        roll, pitch, yaw = _within(roll, -c.roll, c.roll), _within(pitch, -c.up, c.down), _within(yaw, -c.yaw, c.yaw)
        turned = abs(yaw) / c.yaw + abs(roll) / c.roll + max(0.0, -pitch) / c.up
        x = _within(x, -c.backward - c.asleep * max(0.0, 1.0 - turned), c.forward)
        floor = c.floor + c.floor_back * min(0.0, x + c.backward)
        z = max(floor, min(z, self.ceiling(roll, pitch, yaw)))
        return [_within(body, -self.body, self.body), x, _within(y, -c.sideways, c.sideways), z, roll, pitch, yaw,
                _within(right, -self._antenna, self._antenna), _within(left, -self._antenna, self._antenna)]

    def elevation(self, elevation: float) -> float:
        """The elevation (rad) nearest to the wanted one that the head reaches."""
        return _within(elevation, -self.config.down, self.config.up)

    def azimuth(self, azimuth: float, now: float) -> float:
        """The wanted azimuth as a number within reach.

        Body yaw is a bounded number: it never passes the back. Only directions behind the robot that head and body
        reach together on either side have two numbers; the one nearer to `now` is taken. All in rad.
        """
        straight = float(wrapped(azimuth))
        reachable = [a for a in (straight, straight - tau, straight + tau) if abs(a) <= self.sight]
        return min(reachable, key=lambda a: abs(a - now), default=_within(straight, -self.sight, self.sight))


def _within(value: float, low: float, high: float) -> float:
    return low if value < low else high if value > high else value
