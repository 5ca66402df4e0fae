"""The black box beside a run: to the bit from mid-run, after a fault, a crash, a complaint; never in the way."""
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dialogue.engines.scripted import Rule, ScriptedEngine
from perception.vision.frame import Detection, FaceFrame
from robot.__main__ import main
from robot.black_box.config import BoxConfig
from robot.black_box.door import NobodyThere, ask
from robot.black_box.forgetting import forgetting
from robot.black_box.recorder import BlackBox
from robot.black_box.shelf import Shelf, about
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.build import build_mind
from robot.clock import VirtualClock
from robot.config import MindConfig
from robot.runtime import run
from robot.simulation import build_simulation
from robot.tape import read_tape
from tests.test_black_box import record

SOUND = BoxConfig(sound=True, segment_s=1.0, minutes=0.01, tail_s=0.2, settle_s=1.0, free_mb=0.0)


def built(words="that was wrong"):
    def engine():
        return ScriptedEngine((Rule(".*", "Oh. I am sorry."),), lambda samples, onset, end: words)

    mind, body = build_simulation(RoomConfig(), (PersonScript("anna", azimuth=0.4, distance=1.2),), engine, 3)
    body.script = lambda t, room: room.person("anna").say(t, "that was wrong") if t == 1.1 else None
    return mind, body


def boxes(state):
    return Shelf(state / "boxes", 0, 0).boxes()


def test_that_was_wrong_leaves_a_box_that_replays_to_the_bit(tmp_path, capsys):
    mind, body = built()
    told = []
    with BlackBox(SOUND, mind, tmp_path, told.append) as box:
        run(mind, body, VirtualClock(), (box,), lambda t: t >= 3.4)
    assert "SOUND, WORDS" in told[0]                                  # the sign
    (path,) = boxes(tmp_path)
    said = about(path)
    assert said["cause"] == "a person said that something was wrong" and said["verifiable"] and said["from_s"] >= 1.0
    assert told[-1] == f"black box: wrote {path} ({said['cause']})" and box.boxes == 1 and box.lost == 0
    assert main(["replay", str(path), "--verify", "--events"]) == 0
    shown = capsys.readouterr().out
    assert "text=that was wrong" in shown and f"identical: outputs of all {said['ticks']} ticks" in shown
    assert main(["box", "--list", "--state", str(tmp_path)]) == 0
    assert f"{path} " in capsys.readouterr().out


class Broken:
    """A body whose detector once tells of a face without landmarks."""

    def __init__(self, body):
        self.body = body

    def __getattr__(self, name):
        return getattr(self.body, name)

    def read(self, index, t):
        inputs = self.body.read(index, t)
        if index != 130:
            return inputs
        nonsense = Detection(np.zeros(3), 0.9, np.zeros((0, 2)))
        return replace(inputs, faces=(FaceFrame(t, (nonsense,)),))


def test_a_tick_that_failed_fails_again_in_the_replay(tmp_path, capsys):
    mind, body = built(words="hello")
    reports = []
    mind.report = reports.append
    with BlackBox(SOUND, mind, tmp_path) as box:
        run(mind, Broken(body), VirtualClock(), (box,), lambda t: t >= 1.65)
    assert len(reports) == 1
    (path,) = boxes(tmp_path)
    assert about(path)["cause"].startswith("mind degraded:") and about(path)["from_s"] <= 1.3
    assert main(["replay", str(path), "--verify", "--events"]) == 0
    assert "health             of=mind level=degraded" in capsys.readouterr().out


CRASHES = """
import os, signal, sys
from pathlib import Path
from tests.test_black_box_run import SOUND, BlackBox, VirtualClock, built, run
mind, body = built("hello")
with BlackBox(SOUND, mind, Path(sys.argv[1])) as box:
    run(mind, body, VirtualClock(), (box, lambda i, t: os.kill(os.getpid(), 9) if i.index == 125 else None))
"""


def test_a_run_that_is_killed_leaves_a_box(tmp_path):
    done = subprocess.run([sys.executable, "-c", CRASHES, str(tmp_path)], capture_output=True, timeout=120, check=False,
                          cwd=Path(__file__).parents[1])              # ends when the box's process has ended, too
    assert done.returncode == -signal.SIGKILL, done.stderr
    (path,) = boxes(tmp_path)
    assert about(path)["cause"] == "the run ended without a word: killed or crashed"
    assert about(path)["to_s"] >= 1.2 and main(["replay", str(path), "--verify"]) == 0


@pytest.fixture(scope="module")
def mind():
    return build_mind(MindConfig())


def feed(box, start, stop):
    """Ticks as they would come from a run."""
    for index in range(start, stop):
        found = record(index)
        inputs, outputs = pickle.loads(found.pair)
        from motion.intent import MotionIntent
        from perception.audio.scene import SoundScene
        from perception.vision.frame import Sight
        from robot.tick import Tick
        box(inputs, Tick(outputs, SoundScene(inputs.t), Sight(inputs.t), (), MotionIntent(inputs.t)))


def test_asked_from_outside_and_made_to_forget(tmp_path, mind, capsys):
    state, told = tmp_path / ("deep" * 30) / "state", []              # longer than the name of a socket may be
    forgot = []
    with BlackBox(BoxConfig(tail_s=0.0, free_mb=0.0), mind, state, told.append, lambda: forgot.append(1)) as box:
        assert "no sound, no words, no pictures" in told[0]
        wait_for_door(box)
        feed(box, 0, 100)
        assert main(["box", "noisy fan", "--state", str(state)]) == 0
        (path,) = boxes(state)
        out = capsys.readouterr().out
        assert str(path) in out and "cannot be replayed to the bit: recorded without sound" in out
        assert about(path)["cause"] == "asked for: noisy fan" and not (path / "audio.wav").exists()
        assert main(["replay", str(path)]) == 0 and main(["replay", str(path), "--verify"]) == 1
        assert ask(state, {"do": "status"})["sound"] is False
        assert main(["forget", "--state", str(state)]) == 0
        assert ask(state, {"do": "status"})["ticks"] == 0             # the last minutes in memory, too
        feed(box, 100, 120)
        assert forgot == [1]
    out = capsys.readouterr().out
    assert f"deleted {path}" in out and "black boxes: 1 deleted" in out and "the running robot forgets them now" in out
    assert not boxes(state)
    with pytest.raises(NobodyThere):
        ask(state, {"do": "status"})
    assert main(["box", "--state", str(state)]) == 1 and "no robot is listening" in capsys.readouterr().out
    assert main(["forget", "--state", str(state)]) == 0 and "none were kept" in capsys.readouterr().out


def test_nonsense_at_the_door_harms_nobody(tmp_path, mind):
    with BlackBox(BoxConfig(tail_s=0.0), mind, tmp_path) as box:
        wait_for_door(box)
        for line in (b"", b"\n", b"{\n", b"[]\n", b'{"do": "dance"}\n', b'{"do": ["box"]}\n'):
            with socket.socket(socket.AF_UNIX) as who:
                who.connect(str(tmp_path / "box.sock"))
                who.sendall(line)
                who.shutdown(socket.SHUT_WR)
                assert line == b"" or b"bad" in who.recv(1000)
        assert ask(tmp_path, {"do": "status"})["ticks"] == 0


def wait_for_door(box):
    """Until the box's process can be reached; it says so."""
    while not box.open:
        assert select.select([box._channel.connection], [], [], 60.0)[0]
        box._listen(box._channel, 0.0)


def test_a_process_that_does_not_take_the_ticks_costs_ticks_and_nothing_else(tmp_path, mind):
    with BlackBox(replace(SOUND, minutes=1.0, segment_s=30.0), mind, tmp_path) as box:
        wait_for_door(box)
        os.kill(box._child.pid, signal.SIGSTOP)
        feed(box, 0, 2600)
        assert box.lost > 100 and box._channel.waiting < 12e6
        os.kill(box._child.pid, signal.SIGCONT)
        while box._channel.waiting:
            assert select.select([], [box._channel.connection], [], 60.0)[1]
            box._channel.flush()
        feed(box, 2600, 2700)
        box.ask("test")
        feed(box, 2700, 2730)
        box_lost = box.lost
    (path,) = boxes(tmp_path)
    tape = read_tape(path)
    assert about(path)["lost_ticks"] == box_lost and not tape.box["unverifiable"] and tape.mind
    numbers = [inputs.index for inputs, _ in tape.pairs]
    assert numbers == list(range(2601, numbers[-1] + 1))              # what came after the loss, from a mind of its own


def test_a_box_process_that_dies_is_started_again(tmp_path, mind):
    told = []
    with BlackBox(SOUND, mind, tmp_path, told.append) as box:
        feed(box, 0, 20)
        box._child.kill()
        box._child.wait()
        feed(box, 20, 200)
        box.ask("test")
        feed(box, 200, 230)
    assert [text for text in told if "died" in text] == [told[1]]
    (path,) = boxes(tmp_path)
    assert read_tape(path).pairs[0][0].index > 100 and not read_tape(path).box["unverifiable"]


def test_a_state_folder_that_cannot_be_written_is_told_and_the_run_goes_on(tmp_path, mind):
    (tmp_path / "file").write_text("not a folder")
    told = []
    with BlackBox(SOUND, mind, tmp_path / "file" / "state", told.append) as box:
        feed(box, 0, 20)
        box.ask("test")
        feed(box, 20, 60)
    assert sum("Not a directory" in text for text in told) == 2 and box.boxes == 0


def test_a_fresh_robot_that_nothing_happens_to_leaves_nothing_behind(tmp_path, mind):
    """F69: with the default settings, while it runs and after; people talk, devices come late."""
    with BlackBox(BoxConfig(), mind, tmp_path) as box:
        wait_for_door(box)
        feed(box, 0, 300)
        assert ask(tmp_path, {"do": "status"})["ticks"] >= 0
        assert [path.name for path in tmp_path.iterdir()] == ["box.sock"]
    assert not list(tmp_path.iterdir())


def test_a_box_that_is_off_writes_nothing_and_starts_nothing(tmp_path, mind):
    with BlackBox(BoxConfig(on=False), mind, tmp_path) as box:
        feed(box, 0, 20)
        box.ask("test")
        assert box._child is None and "off, nothing is recorded" in box.sign()
    assert not list(tmp_path.iterdir())


def test_a_mind_that_cannot_be_kept_is_told_once(tmp_path, mind):
    broken, told = build_mind(MindConfig()), []
    broken.mind.people = lambda: None
    with BlackBox(replace(SOUND, segment_s=0.5), broken, tmp_path, told.append) as box:
        feed(box, 0, 120)
        box.ask("test")
        feed(box, 120, 150)
    assert sum("could not be kept" in text for text in told) == 1
    assert "could not be kept" in about(boxes(tmp_path)[0])["unverifiable_because"]


def test_forgetting_ends_the_engine_and_clears_what_was_said(mind):
    closed = []
    engine = type("Engine", (), {"close": lambda self: closed.append(1)})()
    mind.mind.dialogue.answering.history = ("something",)
    forgetting(mind, engine)()
    assert closed == [1] and mind.mind.dialogue.answering.history == ()
