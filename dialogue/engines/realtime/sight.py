"""Which picture a Realtime server gets, and when: the newest, once."""
import base64
from dataclasses import dataclass

from dialogue.engine import Picture
from dialogue.engines.realtime import events
from dialogue.engines.realtime.dialects import Dialect
from dialogue.engines.realtime.events import Event

UNIT_S = 1.0     # vLLM-Omni looks at a picture with the sound that closes a unit of its model
FRESH_S = 3.0    # a picture older than that shows what was


@dataclass
class Sight:
    """The newest picture, until it is sent. Where nothing may be sent, none is kept."""

    wanted: bool
    _picture: Picture | None = None
    _unit: float = 0.0               # s of sound in the server's unit

    def look(self, picture: Picture) -> None:
        if self.wanted:
            self._picture = picture

    def item(self, t: float, dialect: Dialect) -> list[Event]:
        """As an item of the talk, for the words that come at t (s)."""
        picture = self._taken(t) if dialect.images == "item" else None
        return [] if picture is None else [events.picture(picture.jpeg.tobytes())]

    def with_sound(self, t: float, dialect: Dialect, told: list[Event]) -> list[Event]:
        """The sound that leaves at t (s), the piece that closes a unit with the picture."""
        if dialect.images != "sound":
            return told
        for place, event in enumerate(told):
            self._unit += events.seconds(event, dialect.in_hz)
            if self._unit < UNIT_S:
                continue
            self._unit -= UNIT_S
            picture = self._taken(t)
            if picture is not None:
                told[place] = event | {"video_frames": [base64.b64encode(picture.jpeg.tobytes()).decode("ascii")]}
        return told

    def begin(self) -> None:
        """A new session has heard and seen nothing."""
        self._unit = 0.0

    def _taken(self, t: float) -> Picture | None:
        picture, self._picture = self._picture, None
        return picture if picture is not None and t - picture.t <= FRESH_S else None
