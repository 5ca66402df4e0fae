"""Pictures with the astronaut (scikit-image, NASA, public domain) in them, for the tests of seeing."""
import cv2
import numpy as np
from skimage.data import astronaut

EYES = np.array([[203.5, 102.0], [247.5, 103.5]])   # px in the photograph, by eye
CUT = (110, 300, 0, 230)                            # x0, x1, y0, y1 of the part that is shown


def picture(faces=(), size=(640, 480), light=1.0, noise=2.0, seed=0):
    """BGR picture of a dull wall. faces: (x, y, eye distance in px, tilt in rad clockwise) of the middle of the eyes.

    size: width, height in px.
    """
    rng = np.random.default_rng(seed)
    wall = cv2.resize(rng.uniform(70, 150, (6, 8, 3)).astype(np.float32), size, interpolation=cv2.INTER_CUBIC)
    photo = np.ascontiguousarray(astronaut()[:, :, ::-1]).astype(np.float32)
    x0, x1, y0, y1 = CUT
    mask = np.zeros(photo.shape[:2], np.float32)
    mask[y0:y1, x0:x1] = 1.0
    for x, y, between, tilt in faces:
        scale = between / np.linalg.norm(EYES[1] - EYES[0])
        turn = scale * np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]])
        matrix = np.column_stack([turn, np.array([x, y]) - turn @ EYES.mean(axis=0)])
        small = cv2.GaussianBlur(photo, (0, 0), max(0.01, 0.4 / scale)) if scale < 0.7 else photo
        alpha = cv2.warpAffine(mask, matrix, size)[..., None]
        wall = wall * (1 - alpha) + cv2.warpAffine(small, matrix, size) * alpha
    lit = wall * light + rng.normal(0, noise, wall.shape)
    return np.clip(lit, 0, 255).astype(np.uint8)
