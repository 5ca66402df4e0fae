"""YuNet behind the detector's port, for who has its model (Wu et al., "YuNet: A tiny millisecond-level face detector",
2023; face_detection_yunet_2023mar.onnx of the OpenCV model zoo, MIT). No package carries the model, so its path is set.
"""
from pathlib import Path

import cv2
import numpy as np

from calibration.frames import frozen
from perception.vision.detector import Detector, DetectorConfig, Picture, RetinaFace
from perception.vision.frame import Detection

MOST = 50   # faces of one picture


class ModelMissing(ValueError):
    """The configured model cannot be used: the text names the file and what was expected."""


class YuNet:
    """The detector of OpenCV's FaceDetectorYN."""

    def __init__(self, model: str | Path, config: DetectorConfig | None = None):
        config = config or DetectorConfig()
        path = Path(model)
        if not path.is_file():
            raise ModelMissing(f"{path}: expected YuNet's ONNX model (face_detection_yunet_2023mar.onnx)")
        try:
            self._network = cv2.FaceDetectorYN.create(str(path), "", (320, 320), config.score, config.overlap, MOST)
        except cv2.error as error:
            raise ModelMissing(f"{path}: expected YuNet's ONNX model: {error}") from error

    def detect(self, picture: Picture) -> tuple[Detection, ...]:
        height, width = picture.shape[:2]
        self._network.setInputSize((width, height))
        rows = self._network.detect(picture)[1]
        if rows is None:
            return ()
        best_first = rows[np.argsort(-rows[:, 14], kind="stable")].astype(np.float64)
        return tuple(Detection(frozen(row[:4]), float(row[14]), frozen(row[4:14].reshape(5, 2))) for row in best_first)


def face_detector(yunet: str | Path | None = None) -> Detector:
    """The configured YuNet, else the RetinaFace that comes with the packages."""
    return YuNet(yunet) if yunet else RetinaFace()
