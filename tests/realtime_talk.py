"""Prints every message of a talk with each kind of Realtime server, one JSON object a line: for the foreign peers."""
import json

import numpy as np

from dialogue.engine import Cancel, Clause, Cue, Finished, Picture, Prompt, Resume, ToolResult
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.dialects import DIALECTS
from dialogue.engines.realtime.session import RealtimeSession
from tests.engine_bench import Line
from tests.fake_duplex import Session
from tests.fake_realtime import Faults, Server

JPEG = np.frombuffer(b"\xff\xd8jpeg", np.uint8)


def duplex_talk() -> list[dict]:
    """With vLLM-Omni, which hears and sees all and speaks by itself: a stop, a drop, a resume."""
    server = Session(plan=(3,))
    server.greeting = list
    line = Line(RealtimeSession(RealtimeConfig(local_words=False, server="vllm-omni", model="m", frames=True)), server)
    line.listen(1.0)
    line.ask(Picture(line.t, JPEG))
    line.commit(1, seconds=1.0)
    line.listen(1.2)
    line.ask(Cancel(line.t, 1, "I heard", "you", 0, 0.25))
    line.core.lost(line.t)
    line.core.opened(line.t)
    line.turn()
    return line.sent


def talk(dialect: str) -> list[dict]:
    server = Server(beta=DIALECTS[dialect].beta, faults=Faults(), commit_answers=DIALECTS[dialect].commit_answers,
                    vad="told" if dialect == "speech-to-speech" else "",
                    calls=(("call_1", "gesture", '{"name":"nod"}'), ("call_2", "fly", "{}")))
    config = RealtimeConfig(local_words=False, server=dialect, frames=True, rotate_s=30.0)
    line = Line(RealtimeSession(config), server)
    line.ask(Picture(0.0, JPEG))
    line.say_something(0.3)
    line.listen(2.0)
    line.commit(1)
    line.deliver(server.finish())
    line.ask(ToolResult(line.t, "call_1", "done"))
    line.listen(0.1)
    clauses = line.got(Clause, 1)
    line.ask(Cue(line.t, "shakes_head", "p1", heard=clauses[0].text if clauses else ""))
    line.listen(0.2)
    line.ask(Cancel(line.t, 1, "Here", "is", 0, 0.05))
    line.ask(Resume(line.t, 1, 2, 0))
    line.deliver(server.finish())
    line.listen(2.0)
    line.ask(Finished(line.t, 2, "Here is what I think about it."))
    line.commit(3)
    line.ask(Cancel(line.t, 3))
    for generation, words in ((4, "say: Hello."), (5, "greet p1"), (6, "go on"), (7, "cue:nods")):
        line.ask(Prompt(line.t, words, generation))
        line.listen(0.5)
        line.deliver(server.finish())
        line.ask(Finished(line.t, generation, "Hello."))
    line.listen(40.0)
    line.core.lost(line.t)
    line.server = Server(beta=server.beta)
    line.core.opened(line.t)
    line.deliver(line.server.greeting())
    line.turn()
    return line.sent


if __name__ == "__main__":
    for name in DIALECTS:
        for event in duplex_talk() if name == "vllm-omni" else talk(name):
            print(json.dumps({"dialect": name, "event": event}))
