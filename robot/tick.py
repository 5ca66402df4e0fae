"""What enters and leaves one tick of the mind. Frozen; a tape of these is the whole life of the robot."""
from dataclasses import dataclass

from calibration.health import Health
from dialogue.engine import Reply, Request, SpeakerBlock
from dialogue.events import Event
from dialogue.floor import State
from firmware_bridge.joint_reading import JointReading
from firmware_bridge.touch import Touch
from motion.intent import JointGoal, MotionIntent
from perception.audio.array_register import Reading
from perception.audio.block import AudioBlock
from perception.audio.scene import SoundScene
from perception.people import Person
from perception.vision.frame import FaceFrame, Sight
from robot.service.vitals import Vitals

__all__ = ["TICK_S", "Event", "Health", "Inputs", "Outputs", "Tick", "health_events"]

TICK_S = 0.01


def health_events(changes: tuple[Health, ...]) -> tuple[Event, ...]:
    """Changes of health as events of the run's log."""
    return tuple(Event(h.t, "health", (("of", h.part), ("level", h.level), ("reason", h.reason))) for h in changes)


def refusals(t: float, reason: str) -> tuple[Event, ...]:
    """A wish that the motion does not obey, as an event of the run's log; reason "": none."""
    return (Event(t, "refused", (("of", "motion"), ("reason", reason))),) if reason else ()


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that has arrived since the tick before."""

    index: int
    t: float                                # s, the tick's deadline on the run's monotonic clock
    audio: tuple[AudioBlock, ...] = ()      # none, one or several
    joints: JointReading | None = None      # newest, None when nothing new was read
    faces: tuple[FaceFrame, ...] = ()
    replies: tuple[Reply, ...] = ()
    health: tuple[Health, ...] = ()         # changes only
    parking: bool = False                   # the run is about to end: be silent and go to sleep
    array: tuple[Reading, ...] = ()         # of an array that gives a direction instead of its microphones
    touches: tuple[Touch, ...] = ()
    vitals: Vitals | None = None            # of the machine, once a second; None: nothing new
    late: float = 0.0                       # s after its deadline at which this tick began


@dataclass(frozen=True, slots=True)
class Outputs:
    """All that the mind wants done."""

    joints: JointGoal | None = None
    speaker: tuple[SpeakerBlock, ...] = ()  # one for each audio block that came in
    live_generation: int = 0                # blocks of any other reply must not reach the loudspeaker
    requests: tuple[Request, ...] = ()      # for the engine
    haptic: str | None = None               # a pattern to begin now, `rest` to end one; None: as it is
    camera_fps: float | None = None         # at most so many pictures a second, 0: none; None: as configured
    volume: float | None = None             # of the loudspeaker, 0..1 of the configured one; None: untouched


@dataclass(frozen=True, slots=True)
class Tick:
    """One tick: what to do, and what the mind believed while deciding it."""

    outputs: Outputs
    sound: SoundScene
    sight: Sight
    people: tuple[Person, ...]
    intent: MotionIntent
    floor: State = "idle"
    events: tuple[Event, ...] = ()
