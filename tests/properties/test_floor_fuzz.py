"""Any sound, any reply in any order: the dialogue never meets what the table forbids, and keeps its promises."""
import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dialogue.engine import Cancel, Clause, EngineReady, EngineTrouble, ReplyDone, ToolCall, Transcript
from dialogue.floor import PERSON_SOUNDS, ROBOT_SOUNDS
from dialogue.loop import Dialogue
from perception.audio.block import frozen_samples
from perception.audio.scene import SoundScene
from perception.people import Person
from perception.vision.frame import Gesture, Sight

WORDS = st.sampled_from(["", "mm-hmm", "stop.", "tell me a story.", "no, I meant the", "the robot said this", "yes"])
scenes = st.fixed_dictionaries({
    "speech": st.booleans(), "evidence": st.sampled_from([-3.0, 4.0]), "duck": st.booleans(),
    "barge_in": st.booleans(), "release": st.booleans(), "hum": st.sampled_from([0.0, 0.5, 0.9])})
# (kind, how many generations or turns ago, index, words)
KINDS = ("clause", "instead", "done", "silent", "guess", "words", "tool", "trouble", "ready")
replies = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3), st.integers(0, 4), WORDS), max_size=3)
# one stretch: for so many ticks the same scene; replies come in its first tick; blocks a tick; who speaks; a gesture
stretches = st.tuples(st.integers(1, 60), scenes, replies, st.integers(0, 3), st.booleans(), st.booleans())


def reply_of(kind, generation, turn, index, words):
    sound = frozen_samples(np.full(900 + 700 * index, 0.1))
    return {
        "clause": Clause(generation, index, "the robot said this", sound),
        "instead": Clause(generation, index, "or that", sound, instead=True),
        "done": ReplyDone(generation), "silent": ReplyDone(generation, silent=True),
        "guess": Transcript(turn, words, False), "words": Transcript(turn, words, True),
        "tool": ToolCall(generation, "c", "gesture", (("name", "nod"),)),
        "trouble": EngineTrouble("died", generation if index else None), "ready": EngineReady("fuzz"),
    }[kind]


@settings(max_examples=120, deadline=None, derandomize=True, phases=[Phase.generate])   # shrinking takes minutes
@given(st.lists(stretches, max_size=25))
def test_the_dialogue_survives_everything_and_emits_nothing_stale(talk):
    dialogue, index, turns, cancelled = Dialogue(), 0, 0, set()
    generation = 0
    for ticks, scene, incoming, blocks, anna, nods in talk:
        onset = index * 0.01
        for tick in range(ticks):
            t = index * 0.01
            sound = SoundScene(t, frozen_samples(np.zeros(160 * blocks)), onset=onset, **scene)
            came = tuple(reply_of(kind, generation - ago, turns - ago, at, words) for kind, ago, at, words in incoming
                         ) if tick == 0 else ()
            people = (Person("anna", 1.0, 0.0, None, t, None, 0.9, anna, anna, 2.1),) if anna else ()
            gestures = (Gesture(t, "anna", "nod"),) if nods and tick == 0 else ()
            turn = dialogue.step(t, people, Sight(t, gestures=gestures), sound, came, blocks, 0.0)
            check(turn, dialogue, blocks, cancelled)
            generation = max([generation, turn.live_generation, *(getattr(r, "generation", 0) for r in turn.requests)])
            turns = max([turns, *(getattr(r, "turn", 0) for r in turn.requests)])
            index += 1


def check(turn, dialogue, blocks, cancelled):
    cancelled |= {r.generation for r in turn.requests if isinstance(r, Cancel)}
    assert len(turn.speaker) == blocks and turn.spoken.shape == (160 * blocks,)
    for block in turn.speaker:
        assert block.generation in (0, turn.live_generation) and block.generation not in cancelled
        assert block.generation == 0 or turn.floor in ROBOT_SOUNDS or turn.floor in ("idle", "person", "robot_thinking")
    assert (dialogue.turns.open is not None) == (turn.floor in PERSON_SOUNDS)
    answer = dialogue.answering.running
    assert (answer is not None) == (turn.floor not in ("idle", "person", "interrupted"))
    assert (dialogue.answering.stopped is not None) <= (turn.floor == "interrupted")
    assert turn.intent.mode in ("idle", "listen", "speak")
