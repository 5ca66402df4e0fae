"""Prints what the runtime itself adds to a realtime engine's sound, in and out, through the engine's own process.

`python -m tests.measure_realtime [SECONDS]`. In: from the tick that hands a sound to the engine until the server has
it. Out: from the server's sending until the tick that gets the clause. The server is on this machine.
"""
import contextlib
import json
import sys
import threading
import time

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from dialogue.engine import Cancel, Clause, Commit, EngineReady, Hear
from dialogue.engines.realtime.config import RealtimeConfig
from robot.worker import ChildWorker
from tests.engine_bench import VOICE
from tests.fake_realtime import Server

TICK_S = 0.01


def percentiles(times: list[float]) -> str:
    p50, p95 = (1000 * float(np.percentile(times, q)) for q in (50, 95))
    return f"p50 {p50:.0f} ms, p95 {p95:.0f} ms of {len(times)}"


def texts(line):
    """Messages until the engine is gone."""
    with contextlib.suppress(ConnectionClosed):
        yield from line


class Clocked:
    """A server on a socket that notes when sound came to it and when it sent some."""

    def __init__(self):
        self.arrived: list[tuple[float, float]] = []       # clock, s of sound that it has by then
        self.sent_at: list[float] = []
        self.server = serve(self.talk, "127.0.0.1", 0)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def talk(self, line) -> None:
        server, had = Server(), 0.0
        line.send(json.dumps(server.greeting()[0]))
        for text in texts(line):
            event = json.loads(text)
            before = server.sound_s
            answers = server.hear(event)
            if event["type"] == "input_audio_buffer.append":
                had += server.sound_s - before
                self.arrived.append((time.monotonic(), had))
            for answer in (*answers, *server.finish()):
                if answer["type"] == "response.output_audio.delta":
                    self.sent_at.append(time.monotonic())
                line.send(json.dumps(answer))


def talked(worker: ChildWorker, served: Clocked, seconds: float) -> tuple[list[float], list[float]]:
    """Clock of each 10 ms of speech that was handed over, and s from a reply's first delta to its first clause."""
    handed: list[float] = []
    out: list[float] = []
    began, ready, generation, tick, first, ready_t = time.monotonic(), False, 0, 0, True, 0.0
    while time.monotonic() - began < seconds:
        tick += 1
        time.sleep(max(0.0, began + tick * TICK_S - time.monotonic()))
        t, now = tick * TICK_S, time.monotonic()
        for reply in worker.poll(t):
            ready = ready or isinstance(reply, EngineReady)
            if isinstance(reply, Clause) and first:
                out.append(time.monotonic() - served.sent_at[-5])    # five leave together, the first is heard first
                first = False
        worker.submit(t, Hear(t, VOICE, ready))
        if ready:
            ready_t = t if not handed else ready_t
            handed.append(now)
            if tick % 100 == 0:
                generation += 1
                first = True
                worker.submit(t, Cancel(t, generation - 1))
                worker.submit(t, Commit(t, generation, max(t - 0.9, ready_t + 0.05), t, generation))
    return handed, out


def main(seconds: float) -> None:
    served = Clocked()
    url = f"ws://127.0.0.1:{served.server.socket.getsockname()[1]}/"
    config = RealtimeConfig(url=url, key_from="", local_words=False, preroll_s=0.0, server="openai")
    worker = ChildWorker("robot.engines:realtime", {"config": config, "seed": 1})
    handed, out = talked(worker, served, seconds)
    worker.close()
    waits = [clock - handed[min(len(handed), max(1, round(had / TICK_S))) - 1] for clock, had in served.arrived]
    print(f"in {percentiles(waits)}; out {percentiles(out)}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0)
