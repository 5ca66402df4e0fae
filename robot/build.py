"""Builds a mind from its config: the one place where the stages are put together."""
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from calibration.body_model import BodyModel, reachy_mini
from dialogue.loop import Dialogue, DialogueConfig
from motion.mover import Mover
from perception.audio.ears import Ears
from perception.people import People
from perception.pose_history import PoseHistory
from perception.vision.eyes import Eyes
from robot.config import MindConfig
from robot.mind import Mind
from robot.runtime import GuardedMind
from robot.safety import Safety


def _with_delay(config: MindConfig) -> DialogueConfig:
    """What is on its way to the loudspeaker when it is stopped does not count as heard."""
    if config.playback_delay_s is None:
        return config.dialogue
    return replace(config.dialogue, speaker=replace(config.dialogue.speaker, playback_delay=config.playback_delay_s))


def build_mind(config: MindConfig, body: BodyModel | None = None,
               report: Callable[[str], None] = lambda text: None) -> GuardedMind:
    """A fresh mind for a body. report: takes the traceback of a tick that failed."""
    body = body or reachy_mini()
    mind = Mind(
        poses=PoseHistory(),
        ears=Ears(config.ears, body.mic_positions, config.playback_delay_s),
        eyes=Eyes(body.camera, config.eyes, body),
        people=People(config.people),
        dialogue=Dialogue(_with_delay(config)),
        mover=Mover(body, np.random.default_rng([config.seed, 1]), config.motion),
    )
    return GuardedMind(mind, Safety(body, config.safety), config, report)
