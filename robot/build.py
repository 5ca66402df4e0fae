"""Builds a mind from its config: the one place where the stages are put together."""
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from calibration.body_model import BodyModel, line_array, reachy_mini
from calibration.frames import frozen
from dialogue.loop import Dialogue, DialogueConfig
from dialogue.touch import TouchReplies
from motion.mover import Mover
from perception.audio.ears import Ears
from perception.people import People
from perception.pose_history import PoseHistory
from perception.vision.eyes import Eyes
from robot.config import MindConfig
from robot.mind import Mind
from robot.runtime import GuardedMind
from robot.safety import Safety
from robot.service.sparing import Sparing
from robot.service.vitals import Degradation


def _with_delay(config: MindConfig) -> DialogueConfig:
    """What is on its way to the loudspeaker when it is stopped does not count as heard."""
    if config.playback_delay_s is None:
        return config.dialogue
    return replace(config.dialogue, speaker=replace(config.dialogue.speaker, playback_delay=config.playback_delay_s))


def body_of(config: MindConfig) -> BodyModel:
    """The body that a config means: a Reachy Mini, with the microphones named there instead of its own."""
    body, mics = reachy_mini(), config.mic_positions_m
    return body if mics is None else replace(body, mic_positions=frozen(mics))


def build_mind(config: MindConfig, body: BodyModel | None = None,
               report: Callable[[str], None] = lambda text: None) -> GuardedMind:
    """A fresh mind for a body. report: takes the traceback of a tick that failed."""
    body = body or body_of(config)
    mind = Mind(
        poses=PoseHistory(),
        ears=Ears(config.ears, body.mic_positions, config.playback_delay_s, array_positions=line_array()),
        eyes=Eyes(body.camera, config.eyes, body),
        people=People(config.people),
        dialogue=Dialogue(_with_delay(config)),
        mover=Mover(body, np.random.default_rng([config.seed, 1]), config.motion),
        touch=TouchReplies(config.touch),
        sparing=Sparing(Degradation(config.vitals)),
    )
    return GuardedMind(mind, Safety(body, config.safety), config, report)
