"""A run in the simulated room in which the board gets hot: vision goes, the robot says so, rests, and comes back."""
import pytest

from dialogue.engine import Timed
from dialogue.engines.scripted import tone_voice
from perception.vision.frame import FaceFrame
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.bodies.simulated import SimulatedBody
from robot.build import body_of, build_mind
from robot.clock import VirtualClock
from robot.config import MindConfig, header_of
from robot.errors import BadRequest
from robot.interaction.scripted_answers import TrueWords, scripted_engine
from robot.runtime import run
from robot.service.sparing import Sparing
from robot.service.vitals import Degradation, VitalsConfig
from robot.simulation import ONE_MICROPHONE
from robot.tape import TapeWriter, read_tape
from robot.worker import InlineWorker

HASTY = VitalsConfig(temperature=(57.0, 61.0, 65.0), cools=1.0, falls_after_s=0.3, rises_after_s=0.7)


class Blank:
    """A detector that only tells when it saw."""

    def handle(self, request):
        yield Timed(0.02, FaceFrame(request[0], ()))


class Kept:
    def __init__(self):
        self.ticks = []

    def __call__(self, inputs, tick):
        self.ticks.append((inputs, tick))

    def events(self, name):
        return [dict(event.facts) for _, tick in self.ticks for event in tick.events if event.name == name]


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """Nine seconds; the board is hot from 0.5 s to 4 s; a voice is heard before, so that somebody is there."""
    config = MindConfig(playback_delay_s=0.06, vitals=HASTY, mic_positions_m=ONE_MICROPHONE)      # the cheapest ears
    words = TrueWords()
    body = SimulatedBody(RoomConfig(), (PersonScript("anna", 0.2, 1.0),),
                         InlineWorker(lambda: scripted_engine(words, tone_voice)), InlineWorker(Blank), seed=2,
                         model=body_of(config))

    def script(t, room):
        if t == 0.1:
            room.person("anna").say(t, tone_voice("hello there robot"), 6.0)
        if t == 0.5:
            body.fault(t, "board", "hot", 3.5)

    body.script = script
    folder = tmp_path_factory.mktemp("hot")
    mind, kept = build_mind(config, body.model), Kept()
    tape = TapeWriter(folder, header_of(config))
    run(mind, body, VirtualClock(), (tape, kept), lambda t: t >= 8.4)
    tape.close()
    return folder, kept


def test_the_level_falls_in_order_and_comes_back(lived):
    changes = lived[1].events("degradation")
    levels = [change["level"] for change in changes]
    assert levels == ["lean", "voice_only", "safe", "voice_only", "lean", "full"]
    assert "degrees C" in changes[0]["reason"] and changes[-1]["reason"] == "everything is calm again"
    assert [fact["of"] for fact in lived[1].events("health")].count("board") == 6


def test_pictures_stop_and_start_again(lived):
    taken = [inputs.t for inputs, _ in lived[1].ticks for _ in inputs.faces]
    bounds = {}
    for inputs, tick in lived[1].ticks:
        for event in tick.events:
            if event.name == "degradation":
                bounds.setdefault(dict(event.facts)["level"], inputs.t)
    blind = [t for t in taken if bounds["voice_only"] + 0.2 < t < bounds["safe"]]
    assert not blind and len([t for t in taken if t > bounds["safe"] + 3]) >= 3


def test_it_lies_down_and_gets_up(lived):
    modes = [tick.intent.mode for _, tick in lived[1].ticks]
    assert "park" in modes and modes[-1] != "park" and modes[40] != "park"


def test_what_people_notice_is_said_once_the_floor_is_free(lived):
    said = [request.text for _, tick in lived[1].ticks for request in tick.outputs.requests
            if type(request).__name__ == "Prompt"]
    assert any("too warm" in text for text in said), said
    assert len(said) == len(set(said)) and len(said) <= 5


def test_a_replay_decides_the_same(lived):
    stage, told = Sparing(Degradation(HASTY)), []
    for (inputs, outputs), (_, tick) in zip(read_tape(lived[0]).pairs, lived[1].ticks, strict=True):
        means = stage.step(inputs, tick.people)
        assert means.camera_fps == outputs.camera_fps
        told += [dict(event.facts) for event in means.events if event.name == "degradation"]
    assert told == lived[1].events("degradation")


def test_a_slow_board_is_late_and_a_full_one_full():
    body = SimulatedBody(RoomConfig(), (), seed=1)
    assert body.read(0, 0.0).vitals is None
    body.fault(0.01, "board", "slow", 0.2)
    slow = [body.read(index, index / 100) for index in range(1, 21)]
    assert slow[0].vitals.cpu_wait > 0.9 and sum(inputs.late > 0.01 for inputs in slow) == 12
    body.fault(1.1, "board", "full")
    assert body.read(112, 1.12).vitals.memory > 0.9
    with pytest.raises(BadRequest, match="board"):
        body.fault(1.2, "board", "gone")
