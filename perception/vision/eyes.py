"""The eyes: from the faces of a picture to people in the frame of the table, by the pose of the picture's moment."""
from dataclasses import dataclass, field

import numpy as np

from calibration.body_model import BodyModel, Camera, reachy_mini
from calibration.frames import HeadPose, direction_of, wrapped
from perception.pose_history import PoseHistory
from perception.vision.frame import Detection, Face, FaceFrame, Gesture, Sight, View
from perception.vision.gestures import Posture
from perception.vision.head_pose import head_view
from perception.vision.rays import Lens
from perception.vision.track_filter import FilterConfig, sighting_error
from perception.vision.tracks import Sighting, Track, Tracks, TracksConfig


@dataclass(frozen=True, slots=True)
class EyesConfig:
    """Of the stages in order."""

    oldest: float = 1.0             # s, a picture that took longer is dropped: its pose is about to be forgotten
    nearest: float = 0.12           # m, and
    farthest: float = 12.0          # m, between which a face of that size can be a face
    tracks: TracksConfig = field(default_factory=TracksConfig)
    filter: FilterConfig = field(default_factory=FilterConfig)


class Eyes:
    """Sees who is there. Same frames and poses, same sights. `dropped` counts pictures that could not be placed."""

    def __init__(self, camera: Camera | None = None, config: EyesConfig = EyesConfig(), body: BodyModel | None = None):
        body = body or reachy_mini()
        self.config = config
        self.dropped = 0
        self._lens = Lens(camera or body.camera)
        self._rest = np.array([0.0, 0.0, body.rest_height])
        self._tracks = Tracks(config.tracks, config.filter)
        self._last = -np.inf

    def step(self, t: float, frames: tuple[FaceFrame, ...], poses: PoseHistory) -> Sight:
        """What the pictures that arrived by time t (s) show."""
        faces: list[Face] = []
        gestures: list[Gesture] = []
        view: View | None = None
        for frame in frames:
            if not (np.isfinite(frame.t_capture) and self._last < frame.t_capture <= t
                    and t - frame.t_capture <= self.config.oldest):
                self.dropped += 1
                continue
            self._last = frame.t_capture
            pose = poses.at(frame.t_capture)
            seen = self._seen(frame, pose)
            faces += [self._face(track, sighting) for track, sighting in seen]
            rate = _rate(poses, frame.t_capture)
            gestures += [g for track, sighting in seen if (g := self._gesture(t, track, sighting, rate))]
            view = self._view(frame.t_capture, pose)
        return Sight(t, tuple(faces), tuple(gestures), view)

    def _view(self, t: float, pose: HeadPose) -> View:
        azimuth, elevation = direction_of(pose.rotation @ self._lens.axis)
        return View(t, azimuth, elevation, self._lens.half_width)

    def _seen(self, frame: FaceFrame, pose: HeadPose) -> list[tuple[Track, Sighting]]:
        """The people in one picture."""
        turn, origin = pose.rotation, self._lens.origin(pose)
        sightings = [self._sighting(frame.t_capture, face, turn, origin) for face in frame.faces]
        likely = [s for s in sightings if self.config.nearest < s.view.distance < self.config.farthest]
        return self._tracks.step(frame.t_capture, likely, lambda point: self._lens.covers(point, pose))

    def _sighting(self, t: float, face: Detection, turn: np.ndarray, origin: np.ndarray) -> Sighting:
        view = head_view(self._lens.rays(face.landmarks) @ turn.T)
        point = origin + view.distance * view.direction
        eyes_px = float(np.linalg.norm(face.landmarks[1] - face.landmarks[0]))
        error = sighting_error(view.direction, view.distance, self.config.filter)
        return Sighting(t, point, error, face.score, view, eyes_px, face.embedding, face.beside)

    def _face(self, track: Track, sighting: Sighting) -> Face:
        from_rest = track.filter.position - self._rest
        azimuth, elevation = direction_of(from_rest)
        attention = track.attention.step(sighting.t, sighting.view, sighting.eyes_px)
        return Face(track.id, sighting.t, azimuth, elevation, float(np.linalg.norm(from_rest)), attention)

    def _gesture(self, t: float, track: Track, sighting: Sighting, rate: tuple[float, float]) -> Gesture | None:
        azimuth, elevation = direction_of(sighting.point - self._rest)
        view = sighting.view
        name = track.gestures.step(Posture(sighting.t, view.yaw, view.pitch, azimuth, elevation, view.distance,
                                           sighting.eyes_px, rate, sighting.beside))
        return Gesture(t, track.id, name) if name else None


def _rate(poses: PoseHistory, t: float) -> tuple[float, float]:
    """Yaw and pitch of the robot's head in rad/s at time t (s)."""
    step = 0.02   # s: two ticks, long enough that encoder noise is no speed
    before, after = poses.at(t - step).rpy, poses.at(t + step).rpy
    return float(wrapped(after[2] - before[2])) / (2 * step), float(after[1] - before[1]) / (2 * step)
