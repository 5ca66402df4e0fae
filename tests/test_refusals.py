"""A wish that makes no sense is refused by name in a live run too."""
import math
from dataclasses import replace

from motion.intent import Gaze
from robot.build import build_mind
from robot.config import MindConfig
from robot.tick import TICK_S, Inputs


def test_a_gaze_that_is_not_finite_is_named_once_and_the_head_goes_on():
    guarded = build_mind(MindConfig())
    dialogue, step, told = guarded.mind.dialogue, guarded.mind.dialogue.step, []

    def spoiled(*arguments):
        turn = step(*arguments)
        return replace(turn, intent=replace(turn.intent, gaze=Gaze(math.nan)))

    dialogue.step = spoiled
    for index in range(50):
        tick = guarded.tick(Inputs(index, index * TICK_S))
        told += [dict(event.facts) for event in tick.events if event.name == "refused"]
        assert tick.outputs.joints is not None
    assert len(told) == 1 and told[0]["of"] == "motion" and "azimuth" in told[0]["reason"]
