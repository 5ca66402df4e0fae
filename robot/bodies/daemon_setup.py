"""What the program that talks to the daemon is told. Apart from it, so that nobody else needs its WebSocket package."""
from dataclasses import dataclass, field

from calibration.body_model import BodyModel
from calibration.frames import Array
from robot.bodies.daemon_link import LinkSettings
from robot.bodies.joint_slots import JointSetup
from robot.bodies.servo_loop import LoopSettings

PART = "daemon_process"


@dataclass(frozen=True, kw_only=True)
class DaemonSetup(JointSetup):
    """Where the daemon listens. It may come later."""

    host: str = "127.0.0.1"
    port: int = 8000
    body: BodyModel
    park: Array                          # (9,) rad, where the motors may go off
    link: LinkSettings = field(default_factory=LinkSettings)
    loop: LoopSettings = field(default_factory=LoopSettings)
    seed: int = 0                        # of the jitter of reconnecting
