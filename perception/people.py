"""Voices and faces fused into people, by direction and time.

A face is exact and named (perception.vision.tracks knows it again); a voice is coarse and may be one of two directions.
So faces make people, a voice is given to the person whose face is where it comes from, and only a voice with no face
there makes somebody of its own, who waits for a face. Who is seen where a silent mirror image would be is not doubted:
what the camera looks at without finding a face is the less likely one of the two.
"""
from dataclasses import dataclass, field

from calibration.frames import wrapped
from perception.audio.scene import Bearing, SoundScene
from perception.vision.frame import Face, Sight, View


@dataclass(frozen=True, slots=True)
class Person:
    """Someone who is there. Directions in `base` axes from the centre of the resting head."""

    id: str
    azimuth: float                   # rad
    elevation: float                 # rad
    distance: float | None           # m; None: only heard
    heard_at: float | None           # s, last time the voice came from there
    seen_at: float | None            # s, capture time of the last sighting
    attention: float = 0.0           # 0..1: looks at the robot
    speaking: bool = False
    ambiguous: bool = False          # front or back is not decided yet
    mirror: float | None = None      # rad, the other azimuth when ambiguous
    face: str | None = None          # id of the face in Sight, of its gestures too


@dataclass(frozen=True, slots=True)
class PeopleConfig:
    """Angles in rad, times in s."""

    face_gate: float = 0.21        # a voice is a face's within this (12 degrees; a word's bearing errs by 5)
    voice_gate: float = 0.44       # and an unseen person's within this: people shift, a voice alone is coarse
    spreads: float = 2.0           # or within so many standard deviations of the bearing, up to
    widest: float = 0.6            # this
    in_view: float = 0.7           # s since a sighting in which a face counts as there
    settled: float = 0.25          # s that an empty view of a direction must last to count
    sure_view: float = 0.8         # share of the view's width in which a missing face means something
    voice_memory: float = 8.0      # s of silence after which somebody who was only heard is forgotten
    face_memory: float = 120.0     # s out of sight, unlooked for
    looked_for: float = 4.0        # s of looking at an empty place after which its person has left
    hangover: float = 0.3          # s without speech after which nobody is said to be speaking
    change: float = 0.35           # s that a voice must come from elsewhere before it is another person's: echoes
    most: int = 8                  # people at once
    known: int = 64                # faces whose person is remembered: sight itself knows 12 again, and for 10 minutes


@dataclass(slots=True)
class _Being:
    """A person as remembered between ticks."""

    id: str
    azimuth: float
    elevation: float = 0.0
    distance: float | None = None
    heard_at: float | None = None
    seen_at: float | None = None
    attention: float = 0.0
    mirror: float | None = None
    face: str | None = None
    missed: float = 0.0              # s that the camera has looked there in vain

    def last(self) -> float:
        return max(self.heard_at if self.heard_at is not None else -1e9,
                   self.seen_at if self.seen_at is not None else -1e9)

    def off(self, azimuth: float) -> float:
        """Angle in rad between this person and a direction."""
        return abs(float(wrapped(self.azimuth - azimuth)))


@dataclass(slots=True)
class People:
    """Who is there. Same sounds and sights, same people."""

    config: PeopleConfig = field(default_factory=PeopleConfig)
    _beings: list[_Being] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)      # face id -> person id, also of who left
    _count: int = 0
    _speaker: _Being | None = None
    _voiced_at: float = -1e9
    _elsewhere_since: float | None = None
    _view: View | None = None
    _view_since: float = 0.0

    def step(self, t: float, sound: SoundScene, sight: Sight) -> tuple[Person, ...]:
        """Everybody who is believed to be there at t (s), in order of id."""
        self._look(sight)
        for face in sight.faces:
            self._see(face)
        if sound.speech:
            self._hear(t, sound.bearing if sound.evidence >= 0.0 else None)   # what fades is the room, not the voice
        elif t - self._voiced_at > self.config.hangover:
            self._speaker = None
        self._forget(t)
        return tuple(self._told(being) for being in self._beings)

    # --- faces -------------------------------------------------------------------------------------------------------

    def _look(self, sight: Sight) -> None:
        """Note where the camera looks, and whose place it finds empty."""
        if sight.view is None:
            return
        seen = {face.id for face in sight.faces}
        if self._view is None or abs(wrapped(self._view.azimuth - sight.view.azimuth)) > 0.1:
            self._view_since = sight.view.t_capture
        since = sight.view.t_capture - (self._view.t_capture if self._view else sight.view.t_capture)
        self._view = sight.view
        for being in self._beings:
            if being.face is not None and being.face not in seen and self._is_covered(being.azimuth):
                being.missed += min(since, 0.5)

    def _is_covered(self, azimuth: float) -> bool:
        view = self._view
        return view is not None and abs(wrapped(azimuth - view.azimuth)) < self.config.sure_view * view.half_width

    def _see(self, face: Face) -> None:
        being = next((b for b in self._beings if b.face == face.id), None)
        waiting = self._voice_at(face)
        if being is None and waiting is not None:
            being = waiting
            being.id = self._names.get(face.id, being.id)     # somebody known who spoke before being seen again
        elif being is None:
            being = self._new(face.azimuth, self._names.get(face.id))
        elif waiting is not None:
            self._merge(waiting, being)
        self._names.pop(face.id, None)
        self._names[face.id] = being.id                       # the newest last
        if len(self._names) > self.config.known:
            del self._names[next(iter(self._names))]
        being.face, being.seen_at, being.missed, being.mirror = face.id, face.t_capture, 0.0, None
        being.azimuth, being.elevation, being.distance = face.azimuth, face.elevation, face.distance
        being.attention = face.attention

    def _voice_at(self, face: Face) -> _Being | None:
        """Somebody only heard whose direction, or its mirror, is where this face is."""
        best, least = None, self.config.voice_gate
        for being in self._beings:
            if being.face is None and being.heard_at is not None:
                off = min(being.off(face.azimuth), _apart(being.mirror, face.azimuth))
                if off < least:
                    best, least = being, off
        return best

    def _merge(self, voice: _Being, being: _Being) -> None:
        """A voice turns out to be that of somebody with a face."""
        being.heard_at = max(voice.heard_at or 0.0, being.heard_at or 0.0)
        if self._speaker is voice:
            self._speaker = being
        self._beings = [b for b in self._beings if b is not voice]

    # --- voices ------------------------------------------------------------------------------------------------------

    def _hear(self, t: float, bearing: Bearing | None) -> None:
        self._voiced_at = t
        if bearing is None:
            self._speaker = self._speaker or self._only_one_in_view(t)
        elif self._comes_from_elsewhere(t, bearing):
            self._speaker = self._whose(t, bearing)
        if self._speaker is not None:
            self._speaker.heard_at = t

    def _comes_from_elsewhere(self, t: float, bearing: Bearing) -> bool:
        """Not from a face that speaks already, and that for long enough; always true of a voice without a face."""
        speaker = self._speaker
        if speaker is None or speaker.face is None or self._nearest([speaker], bearing, self.config.voice_gate):
            self._elsewhere_since = None
            return True
        if self._elsewhere_since is None:
            self._elsewhere_since = t
        return t - self._elsewhere_since >= self.config.change

    def _only_one_in_view(self, t: float) -> _Being | None:
        seen = [b for b in self._beings if b.seen_at is not None and t - b.seen_at < self.config.in_view]
        return seen[0] if len(seen) == 1 else None

    def _whose(self, t: float, bearing: Bearing) -> _Being:
        config = self.config
        wide = min(config.widest, config.spreads * bearing.spread)
        seen = [b for b in self._beings if b.seen_at is not None and t - b.seen_at < config.in_view]
        being = self._nearest(seen, bearing, max(config.face_gate, wide))
        if being is not None:
            return being
        likely, other = self._in_order(t, bearing)
        rest = [b for b in self._beings if b.face is None or not self._is_covered(b.azimuth)]
        ahead = Bearing(bearing.t, likely, bearing.spread, other is not None, other)
        being = self._nearest(rest, ahead, max(config.voice_gate, wide))
        if being is None:
            being = self._new(likely)
        if being.face is None:
            being.azimuth, being.mirror = likely, other
        return being

    @staticmethod
    def _nearest(beings: list[_Being], bearing: Bearing, gate: float) -> _Being | None:
        """Who is nearest to a bearing; its mirror counts as well while it is ambiguous, but less."""
        best, least = None, gate
        for being in beings:
            off = being.off(bearing.azimuth)
            if bearing.ambiguous and bearing.mirror is not None:
                off = min(off, being.off(bearing.mirror) + 0.02)
            if off < least:
                best, least = being, off
        return best

    def _in_order(self, t: float, bearing: Bearing) -> tuple[float, float | None]:
        """The azimuths of a voice without a face: the likelier one first. Called when no face is at either."""
        if not bearing.ambiguous or bearing.mirror is None:
            return bearing.azimuth, None
        looked = self._view is not None and self._view.t_capture - self._view_since >= self.config.settled
        fresh = self._view is not None and t - self._view.t_capture < self.config.in_view
        if looked and fresh and self._is_covered(bearing.azimuth) and not self._is_covered(bearing.mirror):
            return bearing.mirror, bearing.azimuth
        return bearing.azimuth, bearing.mirror

    # --- memory ------------------------------------------------------------------------------------------------------

    def _new(self, azimuth: float, name: str | None = None) -> _Being:
        if name is None:
            self._count += 1
            name = f"person_{self._count}"
        being = _Being(name, azimuth)
        self._beings.append(being)
        self._beings.sort(key=lambda b: int(b.id.rsplit("_", 1)[1]))
        return being

    def _forget(self, t: float) -> None:
        config = self.config

        def stays(being: _Being) -> bool:
            if being.face is None:
                return t - being.last() < config.voice_memory
            heard = being.heard_at is not None and t - being.heard_at < config.voice_memory
            return heard or (being.missed < config.looked_for and t - being.last() < config.face_memory)

        self._beings = [being for being in self._beings if stays(being)]
        while len(self._beings) > config.most:
            self._beings.remove(min(self._beings, key=_Being.last))
        if self._speaker is not None and all(b is not self._speaker for b in self._beings):
            self._speaker = None

    def _told(self, being: _Being) -> Person:
        return Person(being.id, being.azimuth, being.elevation, being.distance, being.heard_at, being.seen_at,
                      being.attention, being is self._speaker, being.mirror is not None, being.mirror, being.face)


def _apart(a: float | None, b: float) -> float:
    return 9.0 if a is None else abs(float(wrapped(a - b)))
