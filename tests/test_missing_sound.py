"""A sound card that falls silent in mid-word, and one whose reference does not hear the robot."""
import numpy as np
import pytest

from dialogue.engine import SpeakerBlock
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.bodies.simulated import SimulatedBody
from robot.build import build_mind
from robot.clock import VirtualClock
from robot.config import MindConfig
from robot.runtime import run

SENTENCE = "I wanted to ask you whether you could perhaps tell me the way to the station"


@pytest.fixture(scope="module")
def silenced():
    """Ticks of a run whose microphones deliver nothing for 5 s from the middle of a sentence on."""
    acts = {0.5: lambda room: room.person("anna").say(0.5, SENTENCE),
            2.0: lambda room: room.fault(2.0, "microphone", "stall", 5.0)}

    def script(t, room):
        for at in [at for at in acts if t >= at]:
            acts.pop(at)(room)
    body = SimulatedBody(RoomConfig(), (PersonScript("anna", azimuth=0.3, distance=1.0),), seed=3, script=script)
    ticks = []
    run(build_mind(MindConfig(seed=3, playback_delay_s=0.06), body.model), body, VirtualClock(),
        (lambda inputs, tick: ticks.append((inputs, tick)),), lambda t: t >= 4.0)
    return ticks


def test_speech_ends_and_the_turn_closes_though_no_sound_comes(silenced):
    """F36, of the whole robot: nothing comes any more, not even silence."""
    at = {event.name: event.t for _, tick in silenced for event in tick.events if event.t > 2.0}
    assert not any(inputs.audio for inputs, _ in silenced if inputs.t > 2.05)
    assert 2.0 < at["speech_end"] < 3.0
    assert at["speech_end"] <= at["turn_committed"] < 4.0
    assert not silenced[-1][1].sound.speech


def test_a_reference_that_never_hears_the_robot_is_told():
    """The loopback channel is the wrong one: the robot speaks, its reference stays silent."""
    body = SimulatedBody(RoomConfig(), seed=4)
    mind = build_mind(MindConfig(seed=4, playback_delay_s=0.06), body.model)
    voice = np.full(160, 0.1, np.float32)
    step = mind.mind.dialogue.step

    def speaking(*arguments):
        turn = step(*arguments)
        object.__setattr__(turn, "speaker", tuple(SpeakerBlock(1, 0, voice) for _ in turn.speaker))
        object.__setattr__(turn, "spoken", np.concatenate([block.samples for block in turn.speaker] or [voice[:0]]))
        return turn                                 # generation 1 is not live: the gate lets nothing through
    mind.mind.dialogue.step = speaking
    told = []
    run(mind, body, VirtualClock(), (lambda inputs, tick: told.extend(tick.sound.health),), lambda t: t >= 2.5)
    assert [(h.part, h.level) for h in told if h.part == "reference"] == [("reference", "gone")]
