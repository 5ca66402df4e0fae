"""Turning the line of sight: where head and body go, and how they share a turn.

The head leads and the body follows only when the turn is large, as the head follows the eyes in primates (Freedman,
"Coordination of the eyes and head during visual orienting", Exp. Brain Res. 190, 369-387, 2008). A turn takes at least
the time of its manner, so its peak speed grows with its size until the joints' speed bounds it, as that of saccades
does (the main sequence; source in motion.saccades); the limiter behind rounds this ramp into a bell. While the body
still turns, the head turns back against it and the line of sight rests on its target.
"""
from dataclasses import dataclass
from math import radians

from motion.intent import Gaze
from motion.limiter import DT
from motion.workspace import Workspace

ROUNDING = 1e-9    # rad
DROWSY = -2.0       # urgency of turns while waking up and falling asleep: 1.3 s at least


@dataclass(frozen=True, slots=True)
class GazeConfig:
    """Manner of turning. Times are those of the ramp; the limiter adds its 0.36 s."""

    quick_s: float = 0.09               # s, shortest turn (quick_urgency): 30 deg faced within 0.3 s
    calm_s: float = 0.50                # s, shortest turn (urgency 0)
    speed: float = radians(315.0)       # rad/s of the line of sight when head and body turn together, urgency 1
    neck_speed: float = radians(300.0)  # rad/s when the head turns alone: the arms' path is curved, speed costs jerk
    calm_speed: float = radians(90.0)   # rad/s, urgency 0 and below
    pitch_speed: float = radians(70.0)   # rad/s: the platform's arms turn up to 0.8 deg per deg of pitch
    steep: float = 0.35                 # share slower per rad of elevation: a nose raised far bends the arms' path more
    body_speed: float = radians(146.0)  # rad/s
    calm_body_speed: float = radians(110.0)     # rad/s, urgency 0 and below
    far_body_speed: float = radians(195.0)  # rad/s when someone calls and the body must go round most of its range
    far_s: float = 1.45                 # s that a body so called takes at most, while its speed allows
    quick_urgency: float = 0.8          # from here turns are as quick as they are smooth
    call_urgency: float = 0.9           # from here someone calls
    calm: float = 0.2                   # up to here a turn is calm: no joint faster than 120 deg/s
    glance_urgency: float = 0.7         # quick looks are quick, whatever the manner of turns
    body_s: float = 0.30                # s longer than the head's turn, so that the head leads
    new_target: float = radians(2.0)    # rad: a smaller change is the same target moving, and is followed
    follow_speed: float = radians(40.0)  # rad/s of following; a person who walks past at 1 m/s, 1.5 m away
    neck_free: float = radians(31.0)    # rad the head turns alone before the body helps
    neck_left: float = radians(12.0)    # rad of head turn that remains when the body has followed


@dataclass(slots=True)
class Ramp:
    """One number on its way to a target at a speed."""

    value: float
    target: float = 0.0
    speed: float = 0.0      # rad/s

    @property
    def there(self) -> bool:
        """At the target, up to rounding."""
        return abs(self.value - self.target) < ROUNDING

    def step(self) -> float:
        reach = self.speed * DT
        self.value += min(reach, max(-reach, self.target - self.value))
        return self.value


class GazeTurn:
    """Body yaw, line of sight and their way to the target. All in rad, base axes, bounded numbers."""

    def __init__(self, workspace: Workspace, body: float, azimuth: float, elevation: float,
                 config: GazeConfig | None = None):
        self.config = config or GazeConfig()
        self._workspace = workspace
        self._body = Ramp(body, body)
        self._azimuth = Ramp(azimuth, azimuth)
        self._elevation = Ramp(elevation, elevation)
        self._base = self._planned = (azimuth, elevation)   # the target without a glance: now, and when last planned
        self._glance = (0.0, 0.0)
        self.turning = False        # on the way to a new target: no time to look around

    @property
    def hurries(self) -> bool:
        """The body is on a far way to someone who called."""
        return self._body.speed > self.config.body_speed and self._body.value != self._body.target

    def step(self, gaze: Gaze, glance: tuple[float, float], urgency: float,
             straight: bool = False) -> tuple[float, float, float]:
        """One tick towards `gaze` plus a glance (azimuth, elevation); returns body yaw, head yaw against it, pitch.

        straight: the body goes all the way, as the head must not lie down turned.
        """
        azimuth = self._workspace.azimuth(gaze.azimuth, self._azimuth.value)
        elevation = self._workspace.elevation(gaze.elevation)
        self._turn_body(azimuth, urgency, straight)
        self.turning = self.turning and not (self._azimuth.there and self._elevation.there)
        jump = max(abs(azimuth - self._base[0]), abs(elevation - self._base[1]))
        looks = glance != self._glance
        self._base, self._glance = (azimuth, elevation), glance
        self._azimuth.target = max(-self._workspace.sight, min(self._workspace.sight, azimuth + glance[0]))
        self._elevation.target = self._workspace.elevation(elevation + glance[1])
        if jump > self.config.new_target:
            self.turning = True
            self._turn_sight(urgency)
        elif looks and not self.turning:
            self._turn_sight(max(urgency, self.config.glance_urgency))
        else:
            self._follow()
        body = self._body.step()
        yaw = self._neck(self._azimuth.step() - body)
        self._azimuth.value = body + yaw
        return body, yaw, -self._elevation.step()

    def _follow(self) -> None:
        """A target that moves is followed, once the turn to it has arrived or the target has run on."""
        ran = max(abs(self._base[0] - self._planned[0]), abs(self._base[1] - self._planned[1])) > self.config.new_target
        for ramp in (self._azimuth, self._elevation):
            if ran or ramp.there:
                ramp.speed = max(ramp.speed, self.config.follow_speed) if ran else self.config.follow_speed

    def calm_down(self) -> None:
        """What is left of a turn goes on in the calm manner."""
        for ramp in (self._body, self._azimuth, self._elevation):
            ramp.speed = min(ramp.speed, self.config.calm_speed)

    def _turn_sight(self, urgency: float) -> None:
        """Times azimuth and elevation to arrive together, so that the sight goes straight."""
        config = self.config
        self._planned = self._base
        across, up = (abs(r.target - r.value) for r in (self._azimuth, self._elevation))
        fastest = config.speed if self._body.value != self._body.target else config.neck_speed
        speed = config.calm_speed + (fastest - config.calm_speed) * self._haste(urgency)
        speed *= 1.0 - config.steep * max(abs(self._elevation.value), abs(self._elevation.target))
        duration = max(self._shortest(urgency), across / speed, up / config.pitch_speed)
        self._azimuth.speed, self._elevation.speed = across / duration, up / duration

    def _turn_body(self, azimuth: float, urgency: float, straight: bool) -> None:
        """Lets the body follow when the head would stay turned too far."""
        config = self.config
        if abs(azimuth - self._body.target) <= config.neck_free and not straight:
            return
        side = 0.0 if straight else 1.0 if azimuth > self._body.target else -1.0
        limit = self._workspace.body
        target = max(-limit, min(limit, azimuth - side * config.neck_left))
        change = abs(target - self._body.target)
        if change == 0.0 or (change <= config.new_target and not straight):
            return                          # on its way, or at its stop
        self._body.target = target
        turn = abs(target - self._body.value)
        fastest = config.calm_body_speed + (config.body_speed - config.calm_body_speed) * self._haste(urgency)
        if urgency >= config.call_urgency:
            fastest = min(config.far_body_speed, max(fastest, turn / config.far_s))
        self._body.speed = min(fastest, turn / (self._shortest(urgency) + config.body_s))

    def _neck(self, yaw: float) -> float:
        limit = self._workspace.config.yaw
        return max(-limit, min(limit, yaw))

    def _shortest(self, urgency: float) -> float:
        slower = self.config.calm_s - self.config.quick_s
        return self.config.calm_s - slower * (self._haste(urgency) if urgency > 0 else max(DROWSY, urgency))

    def _haste(self, urgency: float) -> float:
        return max(0.0, min(1.0, urgency / self.config.quick_urgency))
