"""What an engine sees of the camera: a small JPEG, at most one a second, the newest alone. It is never kept."""
from dataclasses import dataclass

import numpy as np

from dialogue.engine import Picture

WIDTH_PX = 448       # MiniCPM-o looks at pieces of 448 px; more would cost the line, and tells no more of a room
QUALITY = 80         # of the JPEG: about 20 kB
PERIOD_S = 1.0       # between two pictures: the unit of the models that see


@dataclass
class Viewer:
    """Makes the pictures for an engine, where one was configured to see."""

    _shown: float = -1e9               # s, capture of the last one

    def of(self, t: float, picture: np.ndarray) -> Picture | None:
        """A camera's picture (height, width, 3) of t (s), blue first; None while the one before is new enough."""
        if t - self._shown < 0.9 * PERIOD_S:                 # a camera's own pace is never quite even
            return None
        import cv2

        self._shown = t
        height, width = picture.shape[:2]
        if width > WIDTH_PX:
            size = (WIDTH_PX, round(height * WIDTH_PX / width))
            picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
        made, jpeg = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        return Picture(t, jpeg.reshape(-1)) if made else None
