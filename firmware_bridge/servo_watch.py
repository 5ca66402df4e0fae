"""What the bus knows about one servo, and what it needs next."""
import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, NamedTuple

from calibration.body_model import Servo
from firmware_bridge.registers import BY_NAME, Block

Phase = Literal["strange", "refused", "limp", "arming", "armed", "faulted", "rebooting", "silent"]


class Telemetry(NamedTuple):
    """Raw registers of one look, in the order of their addresses."""

    torque_enable: int
    hardware_error: int
    position_p_gain: int
    bus_watchdog: int
    goal_position: int
    present_current: int           # mA
    present_position: int          # ticks
    present_input_voltage: int     # 0.1 V
    present_temperature: int       # deg C


class Identity(NamedTuple):
    """EEPROM registers that must fit the body before a servo may have torque."""

    model_number: int
    operating_mode: int
    homing_offset: int
    max_position_limit: int
    min_position_limit: int
    shutdown: int


LOOK = Block.of(Telemetry._fields)
IDENTIFY = Block.of(Identity._fields)
POSITION = BY_NAME["present_position"]


class Need(IntEnum):
    """What a servo needs, the most urgent first. One servo's need is met in each exchange."""

    VERIFY = 0       # was it armed?
    LOOK_NOW = 1     # an alert, a joint that does not follow, a servo that came back
    CALL = 2         # a silent or rebooting one
    IDENTIFY = 3
    REBOOT = 4
    ARM = 5
    LOOK = 6         # the regular look at temperature, voltage, current, errors
    NOTHING = 7


@dataclass(slots=True, eq=False)
class ServoWatch:
    """One servo. Phases: strange (identity unknown), refused (does not fit the body), limp (no torque of ours),
    arming (written, not verified), armed, faulted (latched error, torque gone), rebooting, silent."""

    servo: Servo
    joint: int                       # index in JOINTS
    phase: Phase = "strange"
    misses: int = 0                  # position answers missed in a row
    heard_at: float = -math.inf      # s, last answer of any kind
    alert: bool = False              # of its last status
    look_now: bool = False
    look_at: float = -math.inf       # s, next regular look
    act_at: float = -math.inf        # s, not armed, rebooted or called before
    attempts: int = 0                # recoveries since it was last forgiven
    armed_at: float = 0.0            # s
    first_goal: int = 0              # ticks, the goal it was armed with
    outside: bool = False            # was armed beyond its limits: its own profile keeps it slow
    lost: bool = False               # seen not to follow
    yielding: bool = False           # held, blocked or dead: its goal stays close to it
    free_since: float = 0.0          # s, it follows since then
    shutdown_mask: int = 0
    telemetry: Telemetry | None = None

    @property
    def id(self) -> int:
        return self.servo.id

    @property
    def part(self) -> str:
        return f"servo_{self.servo.id}"

    def need(self, t: float, torque_wanted: bool, may_reboot: bool) -> Need:
        phase = self.phase
        if phase == "arming":
            return Need.VERIFY
        if phase in ("silent", "rebooting"):
            return Need.CALL if t >= self.act_at else Need.NOTHING
        if self.look_now:
            return Need.LOOK_NOW
        if phase == "strange":
            return Need.IDENTIFY
        if phase == "faulted" and may_reboot and t >= self.act_at:
            return Need.REBOOT
        if phase == "limp" and torque_wanted and t >= self.act_at:
            return Need.ARM
        return Need.LOOK if t >= self.look_at else Need.NOTHING
