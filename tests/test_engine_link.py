"""Link, uplink and the socket of an engine with a server; the real socket against fake servers with faults."""
import base64
import hashlib
import json
import socket
import time

import numpy as np
import pytest

from dialogue.engine import Clause, Commit, EngineReady, EngineTrouble, Hear, ReplyDone
from dialogue.engines.connection import Connection
from dialogue.engines.link import Ended, Link, LinkConfig, Opened, Uplink
from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.minicpm.session import MiniCpmSession
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.session import RealtimeSession
from dialogue.engines.remote import RemoteEngine, parsed
from tests import fake_minicpm, fake_realtime
from tests.engine_bench import SILENCE, VOICE

PATIENCE_S = 30.0
SWIFT = LinkConfig(first_wait_s=0.02, longest_wait_s=0.1)


def link(**settings):
    return Link(np.random.default_rng(3), LinkConfig(**settings))


def test_waits_grow_with_jitter_and_start_again_after_a_connection_that_lasted():
    made, waits, t = link(), [], 0.0
    for _ in range(8):
        made.lost(t, Ended(1006))
        waits.append(made.retry_at - t)
        t = made.retry_at
    assert waits == sorted(waits)[:2] + waits[2:] and waits[-1] > 15.0 and max(waits) <= 30.0
    assert all(0.5 * full <= wait <= full for wait, full in zip(waits, (0.5, 1, 2, 4, 8, 16, 30, 30), strict=True))
    made.opened(t)
    made.lost(t + 60.0, Ended(1006))
    assert made.retry_at - t - 60.0 <= 0.5
    again = link()
    again.lost(0.0, Ended(1006))
    assert again.retry_at == waits[0]                       # the same seed, the same waits


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_not_tried_again(status):
    made = link()
    made.lost(0.0, Ended(status=status))
    assert made.refused and not made.due(1e9)


def test_a_server_that_closes_with_1008_at_once_is_left_alone_after_a_few_tries():
    """F29."""
    made, t, tries = link(), 0.0, 0
    while made.due(t) and tries < 100:
        tries += 1
        made.opened(t)
        made.lost(t + 0.1, Ended(1008, "policy"))
        t = made.retry_at
    assert tries == 5 and "1008" in made.refused


def test_a_full_server_is_tried_for_ever_and_other_closes_too():
    made = link()
    for n in range(50):
        made.opened(float(n))
        made.lost(n + 0.1, Ended(1008), busy=n % 2 == 0)
        made.lost(n + 0.1, Ended(1006))
    assert not made.refused


def test_old_sound_is_dropped_for_new_and_words_never():
    uplink = Uplink(2)
    for n in range(5):
        uplink.put(f"sound {n}", True)
        uplink.put(f"word {n}", False)
    out = [uplink.take() for _ in range(len(uplink))]
    assert uplink.dropped == 3 and [text for text in out if "sound" in text] == ["sound 3", "sound 4"]
    assert [text for text in out if "word" in text] == [f"word {n}" for n in range(5)] and uplink.take() is None


@pytest.mark.parametrize("text", ["", "no json", "[1]", "3", "\x00"])
def test_what_is_no_message_is_none(text):
    assert parsed(text) is None


class Robot:
    """An engine on real sockets; the mind's clock runs as fast as it is asked."""

    def __init__(self, core, config=SWIFT):
        self.connection = Connection({}, config)
        self.engine = RemoteEngine(core, self.connection, Link(np.random.default_rng(1), config))
        self.core, self.t, self.replies = core, 0.0, []

    def ask(self, request):
        self.replies += [timed.reply for timed in self.engine.handle(request)]

    def until(self, condition, speech=False):
        """Sound, tick by tick of true time, until something is so."""
        limit = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < limit, self.replies
            self.t += 0.01
            self.ask(Hear(self.t, VOICE if speech else SILENCE, speech))
            time.sleep(0.001)

    def got(self, kind):
        return [reply for reply in self.replies if isinstance(reply, kind)]

    def turn(self, generation):
        onset = self.t
        for _ in range(60):
            self.t += 0.01
            self.ask(Hear(self.t, VOICE, True))
        self.ask(Commit(self.t, generation, onset, self.t, generation))


@pytest.fixture
def realtime():
    """A robot and its server; the faults of each connection are taken in turn."""
    made = []

    def start(*faults, **settings):
        left = list(faults)
        served = fake_realtime.Served(
            lambda: fake_realtime.Server(faults=left.pop(0) if len(left) > 1 else left[0]))
        config = RealtimeConfig(url=served.url, key_from="", local_words=False, link=SWIFT, **settings)
        robot = Robot(RealtimeSession(config))
        made.append((robot, served))
        return robot, served

    yield start
    for robot, served in made:
        robot.connection.stop()
        served.close()


def test_a_turn_over_a_real_socket(realtime):
    robot, served = realtime(fake_realtime.Faults())
    robot.until(lambda: robot.got(EngineReady))
    robot.turn(1)
    robot.until(lambda: robot.got(ReplyDone))
    assert " ".join(c.text for c in robot.got(Clause) if c.text) == "Here is what I think about it."
    assert served.sessions[0].committed_s > 0.5


@pytest.mark.parametrize("code", [1006, 1001, 1011])
def test_a_drop_is_told_and_the_next_turn_is_answered(realtime, code):
    robot, served = realtime(fake_realtime.Faults(close_after=1, close_code=code), fake_realtime.Faults())
    robot.until(lambda: len(robot.got(EngineReady)) == 2)
    assert robot.got(EngineTrouble)[0].generation == 0
    robot.turn(1)
    robot.until(lambda: robot.got(ReplyDone))
    assert len(served.sessions) == 2


def test_refused_credentials_end_the_retries_with_one_message(realtime):
    """F58, over a real socket."""
    robot, served = realtime(fake_realtime.Faults(status=401))
    robot.until(lambda: robot.got(EngineTrouble))
    start = robot.t
    robot.until(lambda: robot.t > start + 5.0)
    assert served.attempts == 1 and len(robot.got(EngineTrouble)) == 1 and "401" in robot.got(EngineTrouble)[0].reason
    robot.turn(1)
    assert robot.got(EngineTrouble)[-1].generation == 1    # a turn is never met with silence


def test_a_1008_loop_ends_with_one_message(realtime):
    """F29, over a real socket: attempts are bounded, and the turn is answered with the reason."""
    robot, served = realtime(fake_realtime.Faults(close_after=-1, close_code=1008))
    robot.until(lambda: any("not tried again" in trouble.reason for trouble in robot.got(EngineTrouble)))
    start = robot.t
    robot.until(lambda: robot.t > start + 3.0)
    assert len(served.sessions) == 5 and len(robot.got(EngineTrouble)) == 2


def test_a_full_pool_is_waited_for(realtime):
    robot, _ = realtime(*[fake_realtime.Faults(full=True)] * 7, fake_realtime.Faults())
    robot.until(lambda: robot.got(EngineReady))
    assert "session_limit_reached" in robot.got(EngineTrouble)[0].reason


def test_a_server_that_is_not_there_is_told_and_tried(realtime):
    robot, served = realtime(fake_realtime.Faults())
    served.close()
    robot.core.config = RealtimeConfig(url="ws://127.0.0.1:9/none", local_words=False)
    robot.until(lambda: len(robot.got(EngineTrouble)) >= 2)
    assert robot.got(EngineTrouble)[1].reason.endswith("tried again")


def test_messages_of_a_connection_come_in_order_and_it_ends_once():
    served = fake_minicpm.Served()
    connection = Connection({}, SWIFT)
    seen = []

    def until(count):
        limit = time.monotonic() + PATIENCE_S
        while len(seen) < count:
            assert time.monotonic() < limit
            seen.extend(connection.receive())
            time.sleep(0.001)

    connection.open(served.url + "/ws/duplex/adx_1")
    until(2)
    assert isinstance(seen[0], Opened) and json.loads(seen[1])["type"] == "queue_done"
    connection.send('{"type":"stop"}')
    until(4)
    assert json.loads(seen[2])["type"] == "stopped" and isinstance(seen[3], Ended)
    connection.stop()
    served.close()


def test_minicpm_over_a_real_socket_with_a_full_queue_first():
    faults = [fake_minicpm.Faults(full=True), fake_minicpm.Faults()]
    served = fake_minicpm.Served(lambda: fake_minicpm.Demo(faults=faults.pop(0)))
    robot = Robot(MiniCpmSession(MiniCpmConfig(url=served.url), np.random.default_rng(1)))
    robot.until(lambda: robot.got(EngineReady))
    robot.until(lambda: served.sessions[-1].units >= 2)
    assert "Queue full" in robot.got(EngineTrouble)[0].reason
    assert all(path.startswith("/ws/duplex/adx_") for path in served.paths) and len(set(served.paths)) == 2
    robot.connection.stop()
    served.close()


def test_a_half_open_line_is_noticed():
    """F31: the other side keeps the connection and answers nothing, no ping either."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = LinkConfig(silent_s=0.2)
    connection = Connection({}, config)
    connection.open(f"ws://127.0.0.1:{listener.getsockname()[1]}/")
    line, _ = listener.accept()
    asked = line.recv(4096).decode()
    key = next(row.split(": ")[1] for row in asked.split("\r\n") if row.lower().startswith("sec-websocket-key"))
    told = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
    line.sendall(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 f"Sec-WebSocket-Accept: {told}\r\n\r\n".encode())
    seen, limit = [], time.monotonic() + PATIENCE_S
    while not (seen and isinstance(seen[-1], Ended)):
        assert time.monotonic() < limit
        seen += connection.receive()
        time.sleep(0.005)
    assert isinstance(seen[0], Opened) and len(seen) == 2
    connection.stop()
    line.close()
    listener.close()
