"""What moves beside a face, as seen from the face: a waving hand.

The field is cut out relative to the face, so that the turning of the robot's head, which moves face and background
alike, is no motion in it.
"""
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.frames import Array, frozen
from perception.vision.closeup import Place, cut
from perception.vision.detector import Picture

FACE_PX = 10            # height of the face in the field
WIDTH_PX, HEIGHT_PX = 72, 36
FACE_ROW = 12           # row of the face's middle: hands are at the height of the face and below
GAP_PX = 9              # of the face and the hair on either side of the middle
CHANGED = 18            # grey levels: sensor noise is 3 to 6 before the reduction, which averages it
NEIGHBOURS = np.ones((3, 3), np.uint8)
REMEMBERED = 0.85       # share of the old background in the new one, a picture


@dataclass(slots=True)
class Beside:
    """The field around one face."""

    background: np.ndarray | None = None    # (HEIGHT_PX, WIDTH_PX) grey
    height: float = 0.0                     # px of the face, smoothed: a box that breathes must not zoom the field

    def step(self, picture: Picture, place: Place) -> Array:
        """(2, 2): for the left and the right of the picture, share of the area that changed and its place.

        The place is that of the change's middle, in face heights to the right of the face's middle.
        """
        self.height += (place.height - self.height) * (0.1 if self.background is not None else 1.0)
        scale = FACE_PX / self.height
        to_field = np.array([[scale, 0, WIDTH_PX / 2 - scale * place.centre[0]],
                             [0, scale, FACE_ROW - scale * place.centre[1]]])
        field = cv2.cvtColor(cut(picture, to_field, (WIDTH_PX, HEIGHT_PX)), cv2.COLOR_BGR2GRAY).astype(np.float32)
        if self.background is None:
            self.background = field
        # an edge that is a pixel off is no change: compare with the range of the neighbourhood
        low, high = cv2.erode(self.background, NEIGHBOURS), cv2.dilate(self.background, NEIGHBOURS)
        changed = (field < low - CHANGED) | (field > high + CHANGED)
        self.background = REMEMBERED * self.background + (1 - REMEMBERED) * field
        middle = WIDTH_PX // 2
        return frozen([_share_and_place(changed[:, :middle - GAP_PX], 0.0),
                       _share_and_place(changed[:, middle + GAP_PX:], middle + GAP_PX)])


def _share_and_place(changed: np.ndarray, first: float) -> tuple[float, float]:
    columns = changed.sum(axis=0)
    total = columns.sum()
    if not total:
        return 0.0, 0.0
    place = float(columns @ np.arange(len(columns)) / total) + first - WIDTH_PX / 2
    return float(total / changed.size), place / FACE_PX
