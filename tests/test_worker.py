"""Workers: inline with virtual latency, and a real child process."""
import os
import select
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from dialogue.engine import Cancel, Clause, Commit, EngineTrouble, Prompt, ReplyDone, Timed
from perception.audio.block import frozen_samples
from robot.worker import ChildWorker, InlineWorker
from robot.worker_child import EXPENDABLE

SOUND = frozen_samples([0.0] * 160)


@dataclass
class Counter:
    """Says `clauses` clauses, each at a declared cost; dies at clause `dies_at`."""

    clauses: int = 3
    cost: float = 0.1
    dies_at: int = 99
    kills: bool = False

    def handle(self, request):
        if not isinstance(request, Prompt):
            return
        for index in range(self.clauses):
            if index == self.dies_at:
                if self.kills:
                    os._exit(9)
                raise RuntimeError("engine fell over")
            yield Timed(self.cost, Clause(request.generation, index, "word", SOUND))
        yield Timed(0.0, ReplyDone(request.generation))


def kinds(replies):
    return [type(reply).__name__ for reply in replies]


def test_replies_exist_only_after_their_declared_cost():
    worker = InlineWorker(Counter)
    worker.submit(1.0, Prompt(1.0, "hello", 1))
    assert worker.poll(1.09) == []
    assert kinds(worker.poll(1.1)) == ["Clause"]
    assert kinds(worker.poll(1.31)) == ["Clause", "Clause", "ReplyDone"]


def test_requests_wait_for_the_one_before():
    worker = InlineWorker(Counter)
    worker.submit(0.0, Prompt(0.0, "a", 1))
    worker.submit(0.0, Prompt(0.0, "b", 2))
    assert [r.generation for r in worker.poll(0.35)] == [1, 1, 1, 1]
    assert [r.generation for r in worker.poll(0.4)] == [2]


def test_cancel_stops_the_running_reply_and_waiting_ones():
    worker = InlineWorker(Counter)
    worker.submit(0.0, Prompt(0.0, "a", 1))
    assert len(worker.poll(0.1)) == 1
    worker.submit(0.15, Cancel(0.15, 1))
    worker.submit(0.15, Commit(0.15, 1, 0.0, 0.1, 2))
    worker.submit(0.15, Cancel(0.15, 2))
    assert worker.poll(9.0) == []


def test_a_crash_is_told_and_a_fresh_engine_answers_the_next_request():
    made = []

    def make():
        made.append(1)
        return Counter(dies_at=1 if len(made) == 1 else 99)

    worker = InlineWorker(make)
    worker.submit(0.0, Prompt(0.0, "a", 7))
    replies = worker.poll(5.0)
    assert kinds(replies) == ["Clause", "EngineTrouble"]
    assert replies[1] == EngineTrouble("RuntimeError: engine fell over", 7, died=True)
    worker.submit(6.0, Prompt(6.0, "b", 8))
    assert kinds(worker.poll(9.0)) == ["Clause"] * 3 + ["ReplyDone"]


def replies_of(worker, count, t=0.0):
    """Poll until `count` replies came; waits on the child's socket, never on a clock."""
    out = []
    for _ in range(1000):
        out += worker.poll(t)
        if len(out) >= count:
            return out
        if worker._channel is not None:
            select.select([worker._channel.connection], [], [], 10)
    pytest.fail(f"only {len(out)} replies")


def test_a_child_process_answers_like_an_inline_worker():
    worker = ChildWorker("tests.test_worker:Counter", {})
    worker.submit(0.0, Prompt(0.0, "a", 1))
    try:
        assert kinds(replies_of(worker, 4)) == ["Clause"] * 3 + ["ReplyDone"]
    finally:
        worker.close()


def test_a_killed_child_is_told_and_restarted_after_a_pause():
    worker = ChildWorker("tests.test_worker:Counter", {"dies_at": 1, "kills": True})
    worker.submit(0.0, Prompt(0.0, "a", 5))
    try:
        replies = replies_of(worker, 2)
        assert kinds(replies) == ["Clause", "EngineTrouble"] and replies[1].generation == 5
        assert worker.poll(0.1) == [] and worker._child is None
        worker.submit(1.0, Prompt(1.0, "b", 6))
        assert kinds(replies_of(worker, 1, 1.0))[0] == "Clause"
    finally:
        worker.close()


def test_what_is_asked_while_there_is_no_child_waits_for_the_next_one():
    worker = ChildWorker("tests.test_worker:Counter", {}, ready=lambda t: f"ready at {t:g}")
    try:
        assert replies_of(worker, 1) == ["ready at 0"]
        os.kill(worker.pid, signal.SIGKILL)
        assert kinds(replies_of(worker, 1)) == ["EngineTrouble"]
        worker.submit(0.05, Prompt(0.05, "a", 6))
        assert worker.pid is None and worker.poll(0.1) == []
        assert kinds(replies_of(worker, 5, 0.5)) == ["str"] + ["Clause"] * 3 + ["ReplyDone"]
    finally:
        worker.close()


def test_deaths_in_a_row_are_followed_by_longer_pauses_until_a_child_lasts():
    worker = ChildWorker("tests.test_worker:Counter", {}, backoff=(1.0, 3.0))
    pauses, t = [], 0.0
    for lived in (0.0, 0.0, 0.0, 40.0):
        worker.poll(t)
        os.kill(worker.pid, signal.SIGKILL)
        t += lived
        replies_of(worker, 1, t)
        pauses.append(worker._restart_at - t)
        t = worker._restart_at
    assert pauses == [1.0, 2.0, 3.0, 1.0]
    worker.close()


def test_a_child_that_takes_nothing_any_more_is_ended():
    worker = ChildWorker("tests.test_worker:Counter", {}, hangs_s=5.0, ready=lambda t: "ready")
    try:
        replies_of(worker, 1, 1.0)
        os.kill(worker.pid, signal.SIGSTOP)
        for _ in range(60):
            worker.submit(1.0, Prompt(1.0, "x" * 20000, 1))          # more than a socket holds
        assert worker.waiting > 0 and worker.poll(1.0) == [] and worker.poll(5.9) == []
        told = worker.poll(6.1)
        assert kinds(told) == ["EngineTrouble"] and "took nothing for 5 s" in told[0].reason
        worker.submit(7.0, Prompt(7.0, "b", 2))
        assert kinds(replies_of(worker, 2, 7.0))[:2] == ["str", "Clause"]
    finally:
        worker.close()


def test_a_child_tells_what_its_work_cost_and_goes_first_when_memory_is_short():
    worker = ChildWorker("tests.test_worker:Counter", {"clauses": 1})
    worker.submit(0.0, Prompt(0.0, "a", 1))
    try:
        replies_of(worker, 2)
        spent = worker.spent()
        assert [type(reply).__name__ for _, reply in spent] == ["Clause", "ReplyDone"] and worker.spent() == []
        assert all(0 <= cost < 1 for cost, _ in spent)
        assert int(Path(f"/proc/{worker.pid}/oom_score_adj").read_text()) == EXPENDABLE
    finally:
        worker.close()
