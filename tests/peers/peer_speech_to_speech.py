"""Our engine `realtime` against Hugging Face's speech-to-speech server: its own program, stub models.

Run by `make peers`. The server's package is fetched without its models into .venv-s2s; what the stubs say is in
stub_speech_to_speech.py. Its memory is asked for in words, so that what it keeps of a stopped answer is seen.
"""
import os
import socket
import subprocess
import sys
import time
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HOME = PROJECT / ".venv-s2s"
ALONE = ("speech-to-speech==1.1.0",)
NEEDED = ("openai==2.28.0", "fastapi>=0.115", "uvicorn>=0.30", "websockets>=12", "numpy", "scipy", "rich", "jsonschema")
SPEED = 3.0                      # the robot's clock against the wall
PATIENCE_S = 60.0
HELLO, NOD, KNOW = 200, 400, 600    # Hz: what the stub recogniser takes for words


class Robot:
    """The engine on a socket, a person who whistles, and everything that the server said."""

    def __init__(self, url: str, **settings):
        import numpy as np

        from dialogue.engines.connection import Connection
        from dialogue.engines.link import Link, LinkConfig
        from dialogue.engines.realtime.config import RealtimeConfig
        from dialogue.engines.realtime.session import RealtimeSession
        from dialogue.engines.remote import RemoteEngine
        self.np, link = np, LinkConfig()
        config = RealtimeConfig(url=url, key_from="", local_words=False, model="", **settings)
        self.core, self.connection = RealtimeSession(config), Connection({}, link)
        self.engine = RemoteEngine(self.core, self.connection, Link(np.random.default_rng(1), link))
        self.t, self.replies, self.told = 0.0, [], []
        take = self.core.take
        self.core.take = lambda t, message: (self.told.append(message), take(t, message))[1]

    def ask(self, request):
        self.replies += [timed.reply for timed in self.engine.handle(request)]

    def hear(self, seconds: float, pitch: float = 0.0, until=lambda: False) -> bool:
        """Sound tick by tick; a pitch (Hz) is a person's voice. Ends early when something is so."""
        from dialogue.engine import Hear
        np = self.np
        for tick in range(round(seconds / 0.01)):
            if until():
                return True
            self.t += 0.01
            n = np.arange(160 * tick, 160 * (tick + 1))
            self.ask(Hear(self.t, (0.2 * np.sin(2 * np.pi * pitch * n / 16000)).astype(np.float32), pitch > 0))
            time.sleep(0.01 / SPEED)
        return until()

    def turn(self, generation: int, pitch: float, until=None) -> None:
        from dialogue.engine import Commit
        self.hear(1.0)
        onset = self.t
        self.hear(0.8, pitch)
        end = self.t
        self.hear(0.25)
        self.ask(Commit(self.t, generation, onset, end, generation))
        if not self.hear(PATIENCE_S, until=until or (lambda: self.over(generation))):
            raise SystemExit(f"peer_speech_to_speech: no answer {generation}: {self.replies[-5:]} {self.told[-5:]}")

    def of(self, kind, generation=None):
        return [r for r in self.replies if isinstance(r, kind) and generation in (None, getattr(r, "generation", 0))]

    def over(self, generation: int) -> bool:
        from dialogue.engine import ReplyDone
        return bool(self.of(ReplyDone, generation))

    def words(self, generation: int) -> str:
        from dialogue.engine import Clause
        return " ".join(clause.text for clause in self.of(Clause, generation) if clause.text)

    def finished(self, generation: int) -> str:
        from dialogue.engine import Finished
        words = self.words(generation)
        self.ask(Finished(self.t, generation, words))
        return words


def stopped_and_nodding(robot: Robot) -> None:
    """A cancelled answer, what is remembered of it, and a tool."""
    from dialogue.engine import Cancel, Clause, Cue, ToolCall, ToolResult
    robot.ask(Cue(robot.t, "nods", "p1"))
    robot.turn(2, HELLO, until=lambda: len(robot.of(Clause, 2)) > 3)
    robot.ask(Cancel(robot.t, 2, "Hello to", "you, and here is", 0, 0.5))
    stopped = len(robot.of(Clause, 2))
    robot.turn(3, KNOW)
    known = robot.finished(3)
    assert len(robot.of(Clause, 2)) == stopped
    assert known.count("long story") == 1 and "assistant: Hello to |" in known, known
    assert "nods" in known and "input_image" in known, known

    robot.turn(4, NOD, until=lambda: bool(robot.of(ToolCall)))
    call = robot.of(ToolCall)[0]
    assert (call.name, call.arguments) == ("gesture", (("name", "nod"),)), call
    robot.ask(ToolResult(robot.t, call.call, "done"))
    assert robot.hear(PATIENCE_S, until=lambda: robot.over(4)), robot.told[-5:]
    assert robot.finished(4) == "I nodded, it is done.", robot.words(4)


def talk(url: str) -> int:
    """All that the robot does with a server; returns how many things were checked."""
    import numpy as np

    from dialogue.engine import Clause, EngineReady, EngineTrouble, Picture, Prompt
    robot = Robot(url, frames=True)
    assert robot.hear(20.0, until=lambda: bool(robot.of(EngineReady))), robot.told
    assert robot.core.dialect.name == "speech-to-speech", robot.core.dialect
    robot.ask(Picture(robot.t, np.frombuffer(b"\xff\xd8jpeg", np.uint8)))
    robot.turn(1, HELLO)
    story = robot.finished(1)
    assert story == "Hello to you, and here is a long story that somebody may well stop.", story
    sound = np.concatenate([clause.samples for clause in robot.of(Clause, 1)])
    assert abs(len(sound) / 16000 - 0.08 * len(story)) < 0.1, len(sound) / 16000
    crossings = np.count_nonzero(np.diff(np.signbit(sound))) / 2 / (len(sound) / 16000)
    assert abs(crossings - 250) < 5, crossings

    stopped_and_nodding(robot)

    robot.ask(Prompt(robot.t, "say: Good evening.", 5))
    assert robot.hear(PATIENCE_S, until=lambda: robot.over(5)), robot.told[-5:]
    assert "Good evening." in robot.finished(5)

    second = Robot(url)
    assert second.hear(10.0, until=lambda: second.core.busy), second.told      # full: waits, gives nothing up
    robot.connection.leave()
    assert second.hear(40.0, until=lambda: bool(second.of(EngineReady))), second.told
    assert not second.engine.link.refused
    errors = [message["error"] for message in robot.told if message.get("type") == "error"]
    assert not errors, errors
    assert not robot.of(EngineTrouble), robot.of(EngineTrouble)
    for each in (robot, second):
        each.connection.stop()
    return 16


def serve() -> tuple[subprocess.Popen, str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([HOME / "bin" / "python", Path(__file__).with_name("stub_speech_to_speech.py"),
                               str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and server.poll() is None:
        with socket.socket() as line:
            if line.connect_ex(("127.0.0.1", port)) == 0:
                return server, f"ws://127.0.0.1:{port}/v1/realtime"
        time.sleep(0.1)
    server.kill()
    raise SystemExit(f"peer_speech_to_speech: the server did not start: {server.communicate()[1][-2000:]}")


def main() -> int:
    if not (HOME / ".ready").exists():
        venv.create(HOME, with_pip=True)
        pip = [HOME / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        for packages in (NEEDED, ("--no-deps", *ALONE)):
            if subprocess.run([*pip, *packages]).returncode:
                print(f"peer_speech_to_speech: skipped, pip has no {' '.join(packages)}")
                return 0
        (HOME / ".ready").touch()
    sys.path.insert(0, str(PROJECT))
    server, url = serve()
    try:
        checks = talk(url)
    finally:
        server.kill()
        if os.environ.get("TALKOVER_PEER_LOG"):
            print(server.communicate()[1])
    print(f"peer_speech_to_speech: {ALONE[0]} talked, was stopped, called a tool, forgot the unheard: {checks} checks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
