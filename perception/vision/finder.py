"""All faces of each picture, cheaply: close-ups of the known ones every time, the whole picture now and then.

Runs in the worker beside the mind (its own process on the robot, inline in the simulation). It knows nothing of the
robot's pose: a face is followed in pixels, and who it is gets decided by perception.vision.eyes.
"""
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from calibration.frames import Array
from perception.vision.appearance import embedding
from perception.vision.beside import Beside
from perception.vision.closeup import Place, lifted, look_closer, place_of
from perception.vision.detector import Detector, Picture, intersection_over_union
from perception.vision.frame import Detection, FaceFrame


@dataclass(frozen=True, slots=True)
class FinderConfig:
    """When to look at the whole picture, and which faces to follow."""

    scan_period: float = 0.4    # s between looks at the whole picture
    scan_frames: int = 4        # and at least so many pictures, for slow cameras
    scan_width: int = 320       # px, to which the picture is reduced: shows adults to 2 m, 4 ms of a core
    far_width: int = 640        # px, of every `far_every`th look: adults to 4 m, 17 ms
    far_every: int = 3
    search: float = 0.6         # s after a loss, while looks are far ones and
    search_period: float = 0.12  # s apart: a blurred picture or two lose a face that then is there again
    candidates: int = 3         # so many unknown faces are looked at closer in one scan (0.9 ms each)
    enter: float = 0.6          # score in the close-up from which a face is followed
    keep: float = 0.3           # and down to which it goes on being reported
    patience: int = 4           # pictures without it before it is given up
    embedding_period: int = 4   # pictures between two looks at the appearance of a face


@dataclass(slots=True)
class _Known:
    """A face that is being followed."""

    face: Detection
    t: float
    velocity: Array          # (2,) px/s of the box's middle
    height: float            # px of the box, smoothed: what is found depends a little on the cut, which must not ring
    beside: Beside = field(default_factory=Beside)
    missed: int = 0
    age: int = 0

    def place(self, t: float) -> Place:
        """Where to look at time t (s)."""
        place = place_of(self.face)
        return Place(place.centre + self.velocity * (t - self.t), self.height, place.tilt)


class FaceFinder:
    """Finds the faces of a stream of pictures. Same stream, same faces."""

    def __init__(self, detector: Detector, config: FinderConfig = FinderConfig()):
        self.config = config
        self._detector = detector
        self._known: list[_Known] = []
        self._scanned_at = self._lost_at = -np.inf
        self._unscanned = config.scan_frames
        self._scans = 0

    def see(self, picture: Picture, t_capture: float) -> FaceFrame:
        """The faces of one picture BGR (h, w, 3) whose exposure had its middle at t_capture (s)."""
        self._known = [known for known in self._known if self._follow(known, picture, t_capture)]
        self._drop_doubles()
        self._unscanned += 1
        width = self._scan_due(t_capture)
        if width:
            self._scan(picture, t_capture, width)
        seen = [known for known in self._known if not known.missed]
        return FaceFrame(t_capture, tuple(self._described(known, picture) for known in seen))

    def _scan_due(self, t: float) -> int:
        """Width in px at which the whole picture is to be looked at now; 0: not now."""
        config, since = self.config, t - self._scanned_at
        if any(known.missed == 1 for known in self._known):
            self._lost_at = t
            return config.far_width
        if t - self._lost_at < config.search:
            return config.far_width if since >= config.search_period else 0
        if since < config.scan_period or self._unscanned < config.scan_frames:
            return 0
        return config.scan_width if self._scans % config.far_every else config.far_width

    def _follow(self, known: _Known, picture: Picture, t: float) -> bool:
        """Look for a known face near its old place; False: given up."""
        place = known.place(t)
        found = [face for face in look_closer(self._detector, picture, place) if face.score >= self.config.keep]
        near = [face for face in found if self._is_same(place, face)]
        if near:
            self._moved(known, near[0], t)
            return True
        known.missed += 1
        known.velocity = known.velocity * 0.5     # a wrong guess of the speed must not lead the search away
        return known.missed <= self.config.patience

    @staticmethod
    def _is_same(place: Place, face: Detection) -> bool:
        now = place_of(face)
        apart = float(np.linalg.norm(now.centre - place.centre))
        return apart < 0.9 * place.height and 0.6 < now.height / place.height < 1.6

    @staticmethod
    def _moved(known: _Known, face: Detection, t: float) -> None:
        step = t - known.t
        before, now = place_of(known.face), place_of(face)
        known.velocity = (now.centre - before.centre) / step if 0 < step < 0.5 else np.zeros(2)
        known.face, known.t = replace(face, embedding=known.face.embedding), t
        known.missed, known.age = 0, known.age + 1
        known.height += 0.35 * (now.height - known.height)

    def _drop_doubles(self) -> None:
        """Two searches that ended on one face: the one that has been followed longer stays."""
        kept: list[_Known] = []
        for known in sorted(self._known, key=lambda k: (k.missed, -k.age)):
            if all(intersection_over_union(known.face.box, other.face.box) < 0.4 for other in kept):
                kept.append(known)
        self._known = kept

    def _scan(self, picture: Picture, t: float, width: int) -> None:
        """Look at the whole picture, reduced to `width` px, for faces that are not followed yet."""
        self._scanned_at, self._unscanned, self._scans = t, 0, self._scans + 1
        scale = min(1.0, width / picture.shape[1])
        small = picture if scale == 1.0 else cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        tried = 0
        for face in self._detector.detect(lifted(small)):
            place = place_of(face)
            place = Place((place.centre + 0.5) / scale - 0.5, place.height / scale, place.tilt)
            if tried == self.config.candidates or self._is_followed(place):
                continue
            tried += 1
            better = [f for f in look_closer(self._detector, picture, place) if self._is_same(place, f)]
            if better and better[0].score >= self.config.enter:
                self._take_up(better[0], t)

    def _is_followed(self, place: Place) -> bool:
        return any(not known.missed and self._is_same(place, known.face) for known in self._known)

    def _take_up(self, face: Detection, t: float) -> None:
        """Follow a face from now on: one just lost that has jumped, or a new one."""
        for known in self._known:
            if known.missed and self._is_near(known, face):
                self._moved(known, face, t)
                return
        self._known.append(_Known(face, t, np.zeros(2), float(face.box[3])))

    @staticmethod
    def _is_near(known: _Known, face: Detection) -> bool:
        before, now = place_of(known.face), place_of(face)
        return bool(np.linalg.norm(now.centre - before.centre) < 3 * before.height
                    and 0.7 < now.height / before.height < 1.4)

    def _described(self, known: _Known, picture: Picture) -> Detection:
        """The face with its appearance, which is looked at anew every few pictures."""
        if known.face.embedding is None or known.age % self.config.embedding_period == 0:
            known.face = replace(known.face, embedding=embedding(picture, known.face))
        return replace(known.face, beside=known.beside.step(picture, place_of(known.face)))
