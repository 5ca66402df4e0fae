"""From pixels of the raw picture to directions: pinhole with OpenCV's rational distortion, mounted in the head."""
import cv2
import numpy as np

from calibration.body_model import Camera
from calibration.frames import Array, HeadPose, rotation

HEAD_FROM_OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])   # camera looks along the head's x


class Lens:
    """The camera's geometry in the frame of the head."""

    def __init__(self, camera: Camera):
        self.camera = camera
        self._turn = rotation(*camera.rpy) @ HEAD_FROM_OPTICAL
        self._k, self._distortion = np.array(camera.k), np.array(camera.distortion)
        self.axis = self._turn[:, 2]    # (3,) where the camera looks, in `head`
        sides = self.rays(np.array([[0.0, camera.height_px / 2], [camera.width_px - 1.0, camera.height_px / 2]]))
        self.half_width = float(np.arccos(np.clip((sides @ self.axis).max(), -1.0, 1.0)))   # rad, the narrower side

    def rays(self, pixels: Array) -> Array:
        """Unit directions (n, 3) in `head` axes of pixels (n, 2), as seen from the camera."""
        points = np.ascontiguousarray(pixels, dtype=np.float64).reshape(-1, 1, 2)
        flat = cv2.undistortPoints(points, self._k, self._distortion).reshape(-1, 2)
        rays = np.column_stack([flat, np.ones(len(flat))]) @ self._turn.T
        return rays / np.linalg.norm(rays, axis=1, keepdims=True)

    def pixels(self, points: Array) -> Array:
        """Pixels (n, 2) of points (n, 3) m in `head`; nan behind the camera and beyond the lens model's reach."""
        local = (np.asarray(points, float).reshape(-1, 3) - self.camera.position) @ self._turn
        flat = cv2.projectPoints(local, np.zeros(3), np.zeros(3), self._k, self._distortion)[0].reshape(-1, 2)
        slope = np.abs(local[:, :2]).max(axis=1) / np.maximum(local[:, 2], 1e-9)
        # The rational polynomial folds back beyond 58 degrees: what is outside must not come out inside
        return np.where(((local[:, 2] < 0.05) | (slope > 1.6))[:, None], np.nan, flat)

    def origin(self, pose: HeadPose) -> Array:
        """Where the camera is in `base` (3,) m."""
        return pose.position + pose.rotation @ self.camera.position

    def covers(self, point: Array, pose: HeadPose, margin: float = 0.0) -> bool:
        """Is a point (3,) m of `base` inside the picture, by a margin in px?"""
        u, v = self.pixels((point - pose.position) @ pose.rotation)[0]
        return bool(margin <= u <= self.camera.width_px - 1 - margin
                    and margin <= v <= self.camera.height_px - 1 - margin)
