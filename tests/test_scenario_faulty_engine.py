"""Faults of an engine, played on the scripted one inside its worker."""
import pytest

from dialogue.engine import Cancel, Clause, Commit, EngineTrouble, ReplyDone, Transcript
from dialogue.engines.scripted import Rule, ScriptedEngine
from robot.interaction.faulty_engine import EngineFaults, faulty
from robot.interaction.timeline import Fault
from robot.worker import InlineWorker

STORY = ("Once upon a time there was a small robot on a desk. Every day it watched the birds outside the window. "
         "And it talked with everybody who came by.")


def engine():
    return ScriptedEngine((Rule("story", STORY),), lambda samples, onset, end: "a story")


class Line:
    """A worker with a faulty engine, and what it answered when."""

    def __init__(self):
        self.faults = EngineFaults()
        self.worker = InlineWorker(faulty(engine, self.faults))
        self.t, self.got = 0.0, []

    def fail(self, kind, for_s=None, detail=None):
        self.faults.begin(Fault("engine", kind, for_s, detail))

    def ask(self, request):
        self.worker.submit(self.t, request)

    def run(self, seconds):
        for _ in range(round(seconds / 0.01)):
            self.t += 0.01
            self.faults.now = self.t
            self.got += [(round(self.t, 2), reply) for reply in self.worker.poll(self.t)]
        return [reply for _, reply in self.got]

    def commit(self, generation=1):
        self.ask(Commit(self.t, generation, self.t - 1, self.t, generation))


def clauses(replies):
    return [r.index for r in replies if isinstance(r, Clause)]


def test_without_faults_nothing_is_changed():
    line = Line()
    line.commit()
    replies = line.run(2)
    assert isinstance(replies[0], Transcript) and clauses(replies) == [0, 1, 2] and replies[-1] == ReplyDone(1)


@pytest.mark.parametrize(("kind", "detail"), [("gone", None), ("close", 1006)])
def test_a_lost_engine_is_told_and_comes_back(kind, detail):
    line = Line()
    line.fail(kind, 1.0, detail)
    line.commit()
    replies = line.run(2)
    assert len(replies) == 1 and isinstance(replies[0], EngineTrouble) and replies[0].generation == 1
    line.commit(2)
    assert clauses(line.run(2)[1:]) == [0, 1, 2]


def test_a_close_without_a_time_happens_once():
    line = Line()
    line.commit()
    line.run(0.18)                 # in mid-answer
    line.fail("close", detail=1006)
    assert "1006" in next(r for r in line.run(1) if isinstance(r, EngineTrouble)).reason
    line.commit(2)
    assert line.run(1)[-1] == ReplyDone(2)


def test_never_answers():
    line = Line()
    line.fail("never_answers", 1.0)
    line.commit()
    assert line.run(3) == []
    line.commit(2)
    assert line.run(1)[-1] == ReplyDone(2)


def test_slow_and_stalled_answers_come_whole_but_late():
    for kind, for_s, least in (("slow", None, 2.0), ("stall", 3.0, 3.0)):
        line = Line()
        line.fail(kind, for_s)
        line.commit()
        assert clauses(line.run(5)) == [0, 1, 2]
        assert line.got[0][0] >= least


def test_late_pieces_of_a_cancelled_answer():
    line = Line()
    line.fail("late_deltas", detail=5)
    line.commit()
    line.run(0.21)
    before = len(line.got)
    line.ask(Cancel(line.t, 1))
    late = line.run(2)[before:]
    assert len(late) == 5 and all(isinstance(r, Clause) and r.generation == 1 for r in late)


def test_doubled_answers_and_garbage():
    line = Line()
    line.fail("duplicate_reply")
    line.fail("garbage")
    line.commit()
    replies = line.run(2)
    assert clauses(replies) == [0, 1, 2, 0, 1, 2]
    assert isinstance(replies[0], Transcript) and replies[0].turn != 1
