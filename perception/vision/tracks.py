"""Who is who from picture to picture: births, keeping, coasting, memory and recognition on return.

A face must be sure in two pictures, or likely in several, before it is a person (a cat's face scores 0.65 in some
pictures, a person's 0.98 in nearly all). A person who is out of view is remembered where he was, and taken for the
same when he comes back looking the same.
"""
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from calibration.frames import Array
from perception.vision.appearance import likeness
from perception.vision.attention import Attention
from perception.vision.gestures import GestureWatch
from perception.vision.head_pose import HeadView
from perception.vision.track_filter import FilterConfig, TrackFilter


@dataclass(frozen=True, slots=True)
class TracksConfig:
    """Evidence is in log-odds, angles in rad, times in s."""

    doubt: float = 1.5            # log-odds that a score must exceed to speak for a person (score 0.82)
    most_gain: float = 2.4        # of one picture, so that no single one makes a person
    birth: float = 4.0            # evidence: two pictures of 0.98, or four of 0.92
    most_evidence: float = 12.0   # a person of long standing survives some eight doubtful pictures
    tentative: float = 0.7        # s without a sighting after which a face that is no person yet is dropped
    coasting: float = 1.0         # s without a sighting in which motion alone says who it is
    slack: float = 0.035          # rad added to the error when matching: late stamps, a pose that is off
    gate: float = 16.0            # squared Mahalanobis distance of three dimensions, 0.1 % of true pairs beyond
    unlike: float = 12.0          # cost of a wholly different appearance, in the same units
    near: float = 0.4             # of the distance, within which a place is the old one: its distance is coarse
    place_counts: float = 0.15    # advantage, in likeness, of who was there before others who look as much alike
    alike_there: float = 0.45     # likeness that is enough at the old place
    alike_soon: float = 0.1       # and just after the loss, when hardly anybody can have taken it,
    soon: float = 6.0             # rising to the former in so many s
    alike: float = 0.55           # and anywhere else
    walk: float = 1.5             # m/s at which someone may have moved unseen
    memory: float = 600.0         # s that people out of view are remembered
    most: int = 12                # people remembered
    appearance_rate: float = 0.1  # share of a new look in the remembered one


@dataclass(frozen=True, slots=True)
class Sighting:
    """One detection in the frame of the table."""

    t: float             # s, of the capture
    point: Array         # (3,) m in `base`, between the eyes
    error: Array         # (3, 3) m^2
    score: float
    view: HeadView
    eyes_px: float       # distance of the eyes in the picture
    embedding: Array | None
    beside: Array | None = None   # what moves beside the face, see Detection


@dataclass(slots=True)
class Track:
    """One face over time; a person from the moment it has an id."""

    filter: TrackFilter
    evidence: float
    seen_at: float
    look: Array | None
    id: str = ""
    sure: bool = False       # reported; a person who has long been doubtful (half out of the picture) is not
    attention: Attention = field(default_factory=Attention)
    gestures: GestureWatch = field(default_factory=GestureWatch)

    def gone(self, t: float) -> float:
        return t - self.seen_at


class Tracks:
    """All faces that are or were there. `step` once for each picture."""

    def __init__(self, config: TracksConfig, filtering: FilterConfig):
        self.config, self.filtering = config, filtering
        self._tracks: list[Track] = []
        self._names = 0

    def step(self, t: float, sightings: list[Sighting],
             covers: Callable[[Array], bool]) -> list[tuple[Track, Sighting]]:
        """The people seen in the picture captured at t. covers: is a point of `base` inside this picture?"""
        for track in self._tracks:
            track.filter.predict(t, seen=track.gone(t) < self.config.coasting)
        pairs = self._matched(t, sightings)
        for track, sighting in pairs:
            self._update(track, sighting)
        taken = [id(sighting) for _, sighting in pairs]
        for sighting in sightings:
            if id(sighting) not in taken:
                pairs.append((self._begin(sighting), sighting))
        for track, _ in pairs:
            if track.evidence >= self.config.birth:
                if not track.id:
                    self._name(track, t, [other for other, _ in pairs])
                track.sure = True
        self._forget(t, covers)
        return [(track, sighting) for track, sighting in pairs if track.sure]

    def _matched(self, t: float, sightings: list[Sighting]) -> list[tuple[Track, Sighting]]:
        """Cheapest pairs first, of motion and appearance."""
        costs = [(self._cost(track, sighting), i, j) for i, track in enumerate(self._tracks)
                 for j, sighting in enumerate(sightings) if track.gone(t) <= self.config.coasting]
        pairs, tracks_used, sightings_used = [], set(), set()
        for cost, i, j in sorted(costs):
            if cost <= self.config.gate and i not in tracks_used and j not in sightings_used:
                tracks_used.add(i)
                sightings_used.add(j)
                pairs.append((self._tracks[i], sightings[j]))
        return pairs

    def _cost(self, track: Track, sighting: Sighting) -> float:
        slack = np.eye(3) * (self.config.slack * sighting.view.distance) ** 2
        cost = track.filter.surprise(sighting.point, sighting.error + slack)
        if track.look is None or sighting.embedding is None:
            return cost
        return cost + self.config.unlike * (1 - max(0.0, likeness(track.look, sighting.embedding)))

    def _gain(self, score: float) -> float:
        odds = float(np.log(max(score, 1e-6) / max(1 - score, 1e-6)))
        return min(self.config.most_gain, odds - self.config.doubt)

    def _begin(self, sighting: Sighting) -> Track:
        start = TrackFilter.born(sighting.t, sighting.point, sighting.error, self.filtering)
        track = Track(start, self._gain(sighting.score), sighting.t, sighting.embedding)
        self._tracks.append(track)
        return track

    def _update(self, track: Track, sighting: Sighting) -> None:
        track.filter.correct(sighting.point, sighting.error)
        track.evidence = float(np.clip(track.evidence + self._gain(sighting.score), -3.0, self.config.most_evidence))
        track.seen_at = sighting.t
        if track.look is None:
            track.look = sighting.embedding
        elif sighting.embedding is not None:
            mixed = track.look + self.config.appearance_rate * (sighting.embedding - track.look)
            track.look = mixed / np.linalg.norm(mixed)

    def _name(self, track: Track, t: float, present: list[Track]) -> None:
        """Someone known who is back, or someone new."""
        away = [old for old in self._tracks if old.id and all(old is not other for other in present)]
        back = max(away, key=lambda old: self._recognised(old, track, t), default=None)
        if back is not None and self._recognised(back, track, t) >= 0:
            track.id, track.attention = back.id, back.attention
            if back.look is not None and track.look is not None:
                mixed = back.look + 0.5 * (track.look - back.look)
                track.look = mixed / np.linalg.norm(mixed)
            self._tracks = [other for other in self._tracks if other is not back]
            return
        self._names += 1
        track.id = f"face_{self._names}"

    def _recognised(self, old: Track, new: Track, t: float) -> float:
        """How sure that `new` is `old`: from 0 on is yes."""
        config = self.config
        apart = float(np.linalg.norm(old.filter.position - new.filter.position))
        distance = float(np.linalg.norm(new.filter.position))
        if apart > 0.6 + config.walk * old.gone(t):
            return -1.0
        alike = likeness(old.look, new.look) if old.look is not None and new.look is not None else config.alike_there
        if apart > config.near * distance:
            return alike - config.alike
        lapse = min(1.0, old.gone(t) / config.soon)
        spare = alike - config.alike_soon - lapse * (config.alike_there - config.alike_soon)
        return spare + config.place_counts if spare >= 0 else spare

    def _forget(self, t: float, covers: Callable[[Array], bool]) -> None:
        config = self.config
        for track in self._tracks:
            unseen = track.seen_at < t
            if unseen and not track.id and covers(track.filter.position):
                track.evidence -= 0.5     # it should have been seen
            track.sure &= track.evidence > 0
        self._tracks = [track for track in self._tracks
                        if (track.gone(t) < config.memory if track.id else
                            track.gone(t) < config.tentative)]
        if len(self._tracks) > config.most:
            self._tracks = sorted(self._tracks, key=lambda track: track.gone(t))[:config.most]
