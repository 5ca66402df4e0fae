"""Measures what a tick and a picture cost on this board, in CPU time, so that other programs do not count."""
import os
import time

import numpy as np

from perception.audio.block import BLOCK, AudioBlock, frozen_samples
from perception.vision.detector import RetinaFace
from perception.vision.finder import FaceFinder
from robot.build import body_of, build_mind
from robot.live_config import LiveConfig
from robot.service.machine_findings import Speed
from robot.tick import TICK_S, Inputs

WARM, TICKS = 50, 250
LOOKS = 12            # 1.2 s: three looks at the whole picture, one of them at its full width
FACES, CLOSE_PX = 2, 112


def measured(config: LiveConfig) -> Speed:
    """A mind that hears noise in bursts over its own voice; a face finder that looks at noise."""
    mind = build_mind(config.mind)
    rng = np.random.default_rng(1)
    mics = len(body_of(config.mind).mic_positions)
    spent = []
    for index in range(WARM + TICKS):
        loud = 0.1 if index // 40 % 2 else 0.001
        t = index * TICK_S
        block = AudioBlock(t, frozen_samples(loud * rng.normal(size=(mics, BLOCK))),
                           frozen_samples(0.05 * rng.normal(size=BLOCK)))
        began = time.process_time()
        mind.tick(Inputs(index, t, (block,)))
        spent.append(time.process_time() - began)
    return Speed(spent[WARM:], _look(config), os.cpu_count() or 1)


def _look(config: LiveConfig) -> float:
    """Mean of a picture, with its share of the looks at the whole picture and two faces that are followed."""
    detector, rng = RetinaFace(), np.random.default_rng(2)
    finder = FaceFinder(detector)
    picture = rng.integers(0, 255, (config.camera.height_px, config.camera.width_px, 3), dtype=np.uint8)
    close = picture[:CLOSE_PX, :CLOSE_PX]
    for shown in (picture, close):                     # the first time each size takes its memory
        detector.detect(shown)
    began = time.process_time()
    for number in range(LOOKS):
        finder.see(picture, number / config.camera.fps)
        for _ in range(FACES):
            detector.detect(close)
    return (time.process_time() - began) / LOOKS
