"""The engine `chat` against a stub of an OpenAI-compatible server, over HTTP and with streams made by hand."""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from dialogue.engine import (
    Cancel,
    Clause,
    Commit,
    Cue,
    EngineTrouble,
    EngineUsage,
    Finished,
    Hear,
    Prompt,
    ReplyDone,
    ToolCall,
    ToolResult,
)
from dialogue.engines import embedded
from dialogue.engines.chat import ChatEngine, cut_clauses
from dialogue.engines.chat_config import ChatConfig
from dialogue.engines.chat_stream import CallPiece, ChatStream, Over, Used, Words, pieces_of
from dialogue.engines.embedded import EmbeddedConfig
from perception.audio.block import frozen_samples

SECOND = frozen_samples(np.zeros(16000))


class Hand:
    """A stream that a test fills."""

    def __init__(self, body):
        self.body, self.pieces, self.stopped = body, [], False

    def read(self):
        out, self.pieces = self.pieces, []
        return out

    def stop(self):
        self.stopped = True


class Bench:
    def __init__(self, monkeypatch, **settings):
        monkeypatch.setattr(embedded, "Recogniser", lambda config: self)
        voice = lambda text, style: frozen_samples(np.zeros(800 * len(text)))      # noqa: E731
        monkeypatch.setattr(embedded, "Voice", lambda config: voice)
        self.heard, self.streams, self.replies, self.t = "what do you think", [], [], 0.0
        self.engine = ChatEngine(ChatConfig(**settings), EmbeddedConfig(), open_stream=self.open)

    def words(self, samples):
        return self.heard

    def open(self, body):
        self.streams.append(Hand(body))
        return self.streams[-1]

    def ask(self, request):
        self.replies += [timed.reply for timed in self.engine.handle(request)]

    def pass_time(self, seconds):
        for _ in range(round(seconds / 0.1)):
            self.t += 0.1
            self.ask(Hear(self.t, SECOND[:1600], False))

    def commit(self, generation):
        self.pass_time(0.2)
        self.ask(Commit(self.t, generation, self.t - 0.1, self.t, generation))

    def give(self, *pieces):
        self.streams[-1].pieces += pieces
        self.pass_time(0.1)

    def got(self, kind):
        return [reply for reply in self.replies if isinstance(reply, kind)]

    def text(self):
        return " ".join(clause.text for clause in self.got(Clause))


@pytest.fixture
def bench(monkeypatch):
    return Bench(monkeypatch)


def test_words_are_spoken_clause_by_clause_as_they_come(bench):
    bench.commit(1)
    bench.give(Words("I think it is"), Words(" fine. And"))
    assert bench.text() == "I think it is fine." and not bench.got(ReplyDone)
    bench.give(Words(" you?"), Over())
    bench.pass_time(1.0)
    assert bench.text() == "I think it is fine. And you?" and bench.got(ReplyDone) == [ReplyDone(1)]


def test_the_server_is_told_what_was_heard_and_no_more(bench):
    bench.commit(1)
    bench.give(Words("One two three. Four five six. "))
    bench.ask(Cancel(bench.t, 1, heard="One two", unheard="three."))
    assert bench.streams[0].stopped
    bench.commit(2)
    assert [m["content"] for m in bench.streams[1].body["messages"][1:]] == [
        "what do you think", "One two", "what do you think"]


def test_an_answer_that_nobody_heard_was_not_given(bench):
    bench.commit(1)
    bench.ask(Cancel(bench.t, 1))
    bench.commit(2)
    assert [m["role"] for m in bench.streams[1].body["messages"]] == ["system", "user", "user"]


def test_a_finished_reply_is_remembered(bench):
    bench.commit(1)
    bench.give(Words("Yes."), Over())
    bench.ask(Finished(bench.t, 1, "Yes."))
    bench.commit(2)
    assert {"role": "assistant", "content": "Yes."} in bench.streams[1].body["messages"]


def test_a_slow_server_is_replaced_by_the_companion_for_a_while(bench):
    bench.heard = "who are you"
    bench.commit(1)
    bench.pass_time(3.0)
    assert "small robot" in bench.text() and bench.got(EngineTrouble)[0].generation == 0
    bench.ask(Finished(bench.t, 1, bench.text()))
    bench.commit(2)
    assert len(bench.streams) == 1                        # not asked again yet
    bench.pass_time(20.0)
    bench.commit(3)
    assert len(bench.streams) == 2


@pytest.mark.parametrize(("url", "asked"), [("http://127.0.0.1:8080/v1", 0), ("http://[::1]:8080/v1", 0),
                                            ("http://localhost/v1", 0), ("https://api.example.org/v1", 1)])
def test_a_machine_short_of_everything_does_not_run_its_own_server_too(monkeypatch, url, asked):
    bench = Bench(monkeypatch, url=url)
    bench.heard = "who are you"
    bench.pass_time(0.2)
    bench.ask(Commit(bench.t, 1, bench.t - 0.1, bench.t, 1, light=True))
    bench.pass_time(1.0)
    assert len(bench.streams) == asked and ("small robot" in bench.text()) == (not asked)
    assert not bench.got(EngineTrouble)


def test_a_server_that_stalls_in_mid_reply_ends_it_where_it_is(bench):
    bench.commit(1)
    bench.give(Words("This is the beginning. And then"))
    bench.pass_time(6.0)
    assert bench.text() == "This is the beginning. And then" and bench.got(ReplyDone) == [ReplyDone(1)]


def test_without_fallback_trouble_is_told(monkeypatch):
    bench = Bench(monkeypatch, fallback="none")
    bench.commit(1)
    bench.give(Over("gone"))
    assert [t.generation for t in bench.got(EngineTrouble)] == [0, 1]


def test_tools_are_called_and_their_results_bring_the_reply(bench):
    bench.commit(1)
    bench.give(CallPiece(0, "c1", "gesture", '{"na'), CallPiece(0, "", "", 'me": "nod"}'),
               CallPiece(1, "c2", "fly", "{}"), Over())
    assert [(c.name, c.arguments) for c in bench.got(ToolCall)] == [("gesture", (("name", "nod"),))]
    bench.ask(ToolResult(bench.t, "c1", "done"))
    told = bench.streams[1].body["messages"][-2:]
    assert told[0]["content"] == "done" and "no tool" in told[1]["content"]
    bench.give(Words("There."), Over())
    bench.pass_time(0.5)
    assert bench.text() == "There." and bench.got(ReplyDone) == [ReplyDone(1)]


def test_cues_reach_the_server_with_the_next_turn_and_a_head_shake_changes_the_reply(bench):
    bench.ask(Cue(12.3, "sighs", "anna"))
    bench.commit(1)
    assert bench.streams[0].body["messages"][-1]["content"] == "[12.3 s: sighs] what do you think"
    bench.give(Words("First of all. Second of all. Third of all. "))
    bench.ask(Cue(bench.t, "shakes_head", "anna", heard=""))
    assert any(clause.instead for clause in bench.got(Clause)) and bench.streams[0].stopped


def test_prompts_are_worded_by_the_server_but_what_is_to_be_said_is_said(bench):
    bench.ask(Prompt(0.0, "say: I am sorry.", 1))
    assert bench.text() == "I am sorry." and not bench.streams
    bench.ask(Prompt(0.1, "greet anna", 2))
    assert "greet anna" in bench.streams[0].body["messages"][-1]["content"]


def test_what_the_server_says_it_cost_is_told(monkeypatch):
    bench = Bench(monkeypatch, usage=True)
    bench.commit(1)
    assert bench.streams[-1].body["stream_options"] == {"include_usage": True}
    bench.give(Words("That is so."), Used((("output_other", 4),)), Over())
    assert bench.got(EngineUsage) == [EngineUsage(1, (("output_other", 4),))] and bench.text() == "That is so."


@pytest.mark.parametrize(("text", "first", "over", "clauses", "rest"), [
    ("Hello there. How", False, False, ["Hello there."], "How"),
    ("It costs 3.50 euros", False, False, [], "It costs 3.50 euros"),
    ("Well, that is a long story, and", True, False, ["Well, that is a long story,"], "and"),
    ("Well, that is a long story, and", False, False, [], "Well, that is a long story, and"),
    ("**Bold** [nods] words", False, True, ["Bold  words"], ""),
    ("...", False, True, [], ""),
])
def test_clauses_are_cut_where_a_voice_can_begin(text, first, over, clauses, rest):
    assert cut_clauses(text, first, over) == (clauses, rest)


@pytest.mark.parametrize(("line", "pieces"), [
    ('data: {"choices":[{"delta":{"content":"hi"}}]}', [Words("hi")]), ("data: [DONE]", [Over()]),
    (": keep-alive", []), ("data: nonsense", []), ('data: {"choices":[]}', []), ("", []),
    ('data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}',
     [Used((("input_other", 7), ("output_other", 3)))]),
    ('data: {"error":{"message":"no"}}', [Over("the server says: {'message': 'no'}")]),
])
def test_lines_of_a_stream(line, pieces):
    assert pieces_of(line) == pieces


class Stub(BaseHTTPRequestHandler):
    status, lines, seen = 200, (), []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.path, self.headers.get("Authorization"), body))
        self.send_response(self.status)
        self.end_headers()
        for line in self.lines:
            self.wfile.write(line.encode() + b"\n")

    def log_message(self, *args):
        pass


@pytest.mark.parametrize(("status", "lines", "expected"), [
    (200, ['data: {"choices":[{"delta":{"content":"hi"}}]}', "", "data: [DONE]"], [Words("hi"), Over()]),
    (200, ['data: {"choices":[{"delta":{"content":"hi"}}]}'],
     [Words("hi"), Over("the stream ended before its end was told")]),
    (503, ["busy"], [Over("HTTP status 503: busy")]),
])
def test_a_stream_over_http(status, lines, expected):
    handler = type("Handler", (Stub,), {"status": status, "lines": lines, "seen": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    stream = ChatStream(f"http://127.0.0.1:{server.server_port}/v1/chat/completions", {"stream": True}, "secret",
                        5.0, 20.0)
    assert all_of(stream) == expected
    thread.join(10)
    server.server_close()
    assert handler.seen == [("/v1/chat/completions", "Bearer secret", {"stream": True})]


def test_a_server_that_is_not_there():
    found = all_of(ChatStream("http://127.0.0.1:9/v1/chat/completions", {}, "", 2.0, 2.0))
    assert len(found) == 1 and "refused" in found[0].trouble


def all_of(stream):
    pieces, limit = [], time.monotonic() + 30.0
    while not pieces or not isinstance(pieces[-1], Over):
        assert time.monotonic() < limit
        pieces += stream.read()
        time.sleep(0.001)
    return pieces
