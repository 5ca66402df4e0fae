"""What a robot keeps of a life does not grow with its length: each store after many times its bound."""
from dataclasses import replace

import numpy as np
import pytest

from dialogue.answering import AnsweringConfig
from dialogue.cues import CueConfig, Cues
from dialogue.engine import Commit, Cue, Resume
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.session import RealtimeSession
from dialogue.engines.recogniser import Recogniser
from dialogue.engines.scripted import KEPT, Rule, ScriptedEngine
from dialogue.loop import DialogueConfig
from dialogue.memory import MOST, NAMELESS, Memory
from perception.audio.scene import SoundScene
from perception.people import People, PeopleConfig
from perception.vision.frame import Face, Gesture, Sight
from robot.bodies.room import sound_path
from robot.bodies.room.shoebox import HEAD_AT, BoxConfig, Shoebox
from robot.bodies.room.sound_path import CELLS, EarPlaces, SoundPath
from robot.service.soak_gauge import handed_out_mb
from tests.dialogue_bench import Said, Talk
from tests.test_chat_engine import Bench


def test_the_history_keeps_the_newest_lines():
    said = tuple(Said(4.0 * turn + 0.5, 4.0 * turn + 1.5, "how are you?") for turn in range(12))
    config = DialogueConfig(answering=AnsweringConfig(remembered=5))
    talk = Talk(said, config=config).run(48.0)
    assert max(len(turn.history) for turn in talk.turns) == 5
    assert len(talk.events("transcript")) == 12 and talk.turns[-1].history[-1].text == "I am well. And you?"
    assert [line.t for line in talk.turns[-1].history] == sorted(line.t for line in talk.turns[-1].history)


def test_people_knows_the_newest_faces():
    people = People(PeopleConfig(known=4))
    told = []
    for number in range(40):
        for name in (f"face_{number}", "face_at_home"):
            face = Face(name, float(number), 0.3 if name == "face_at_home" else -1.0, 0.2, 1.2, 0.9)
            told = people.step(number + 0.05, SoundScene(number + 0.05), Sight(number + 0.05, (face,), ()))
        assert len(people._names) <= 4
    assert "person_2" in {person.id for person in told if person.face == "face_at_home"}


def test_cues_forget_gestures_that_cannot_count_again():
    cues = Cues(CueConfig(again=1.0))
    for number in range(300):
        t, face = 0.5 * number, f"face_{number}"
        first = cues.step(t, Sight(t, gestures=(Gesture(t, face, "nod"),)), (), "idle")
        again = cues.step(t + 0.2, Sight(t + 0.2, gestures=(Gesture(t + 0.2, face, "nod"),)), (), "idle")
        assert "nods" in {cue.name for cue in first} and "nods" not in {cue.name for cue in again}
        assert len(cues._gestured) <= 4


def test_memory_keeps_the_newest_of_those_without_a_name():
    memory = Memory()
    for number in range(5 * NAMELESS):
        memory.learn(f"person_{number}", "I like rain")
        memory.learn("person_0", f"fact {number}")
    for number in range(3 * MOST):
        memory.learn("anna", f"fact {number}")
    assert len(memory._newest) == NAMELESS and len(memory._nameless) <= NAMELESS
    assert len(memory.facts("anna")) == MOST and memory.newest("anna") == f"fact {3 * MOST - 1}"


def test_a_recogniser_keeps_nothing_of_sounds_of_ever_new_lengths():
    recogniser, rng, used = Recogniser(), np.random.default_rng(1), []
    for count in range(32):
        recogniser.words((0.1 * rng.standard_normal(4000 + 171 * count)).astype(np.float32))
        used.append(handed_out_mb())
    if np.isnan(used[0]):
        pytest.skip("no glibc that tells")
    assert used[-1] - used[14] < 8.0       # 16 MB when all is kept


def test_the_scripted_engine_keeps_the_newest_replies():
    engine = ScriptedEngine((Rule("", "One. Two."),), lambda samples, onset, end: "hello")
    for number in range(1, 5 * KEPT):
        list(engine.handle(Commit(float(number), number, number - 1.0, float(number), number)))
    assert len(engine._texts) == len(engine._words) == KEPT
    last = 5 * KEPT - 1
    clauses = [timed.reply for timed in engine.handle(Resume(last + 1.0, last, last + 1, 1))]
    assert clauses[0].text == "Two." and len(engine._texts) == KEPT


def test_a_chat_server_is_told_the_newest_cues_of_a_long_silence(monkeypatch):
    bench = Bench(monkeypatch)
    for _ in range(200):
        bench.pass_time(0.1)
        bench.ask(Cue(bench.t, "nods"))
    bench.commit(1)
    told = bench.streams[-1].body["messages"][-1]["content"]
    assert told.count("nods") == 12 and f"[{bench.t - 0.2:.1f} s: nods] what do you think" in told


@pytest.fixture
def session():
    return RealtimeSession(RealtimeConfig(local_words=False))


def test_a_server_that_talks_to_nobody_leaves_nothing_behind(session):
    session.dialect = replace(session.dialect, led=True)
    for number in range(50):
        session.take(0.01 * number, {"type": "response.created", "response": {"id": f"resp_{number}"}})
    assert set(session.responses.owner) == set(session.responses.voices) == {"resp_48", "resp_49"}


def test_a_server_that_writes_no_words_down_leaves_no_queue(session):
    for turn in range(200):
        session.ask(float(turn), Commit(float(turn), turn, turn - 1.0, float(turn), turn))
    assert len(session.turns) == 32 and session.turns[-1] == 199
    assert len(session.answers) <= 4 and np.isfinite(session.t)


def turning(places):
    """What is heard of a source at places, one a block, while the head goes round twice; the path."""
    mics = np.array([[0.0, 0.03, 0.0], [0.0, -0.03, 0.0]])
    path, out, rng = SoundPath(Shoebox(BoxConfig(), 1)), [], np.random.default_rng(2)
    for block, place in enumerate(places):
        ears = EarPlaces(mics + HEAD_AT, mics, HEAD_AT, 4 * np.pi * block / len(places))
        out.append(path.step(rng.standard_normal(160).astype(np.float32), np.array(place), ears))
    return np.concatenate(out, axis=1), path


def test_a_simulated_room_keeps_the_reflections_of_few_directions_and_sounds_the_same(monkeypatch):
    places = [(1.0 + 0.02 * (block // 40), 0.2, 0.3) for block in range(400)]
    sound, path = turning(places)
    assert len(path._nodes) == 1 and len(path._nodes[0]._made) <= CELLS
    monkeypatch.setattr(sound_path, "CELLS", 10_000)
    unbounded, whole = turning(places)
    assert len(whole._nodes[0]._made) > CELLS and np.array_equal(sound, unbounded)
