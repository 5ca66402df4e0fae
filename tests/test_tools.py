"""Tools: one declaration for every engine, arguments checked; the memory around engines with and without a server."""
import json
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.book import Book
from dialogue.engine import Cancel, Commit, Resume, Surroundings, Timed, ToolCall, ToolResult
from dialogue.engines import embedded
from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.minicpm.session import MiniCpmSession
from dialogue.engines.remembering import Remembering
from dialogue.engines.tools import GRANTED, TOOLS, BadCall, checked_call, function_schema, offered
from dialogue.memory import Memory
from perception.audio.block import frozen_samples
from tests.engine_bench import Line
from tests.fake_minicpm import Demo
from tests.realtime_line import finished, line


@pytest.mark.parametrize(("name", "text", "named"), [
    ("fly", "{}", "no tool 'fly', expected one of: gesture"),
    ("gesture", "{", "expected a JSON object"), ("gesture", "[]", "expected a JSON object"),
    ("gesture", "{}", "needed name"), ("gesture", '{"name": "jump"}', "nod or shake or tilt"),
    ("gesture", '{"name": "nod", "speed": 2}', "speed; expected name"),
    ("set_volume", "{}", "needed percent or change"), ("set_volume", '{"percent": 101}', "0.0 to 100.0"),
    ("set_volume", '{"percent": null}', "needed percent or change"),
    ("set_volume", '{"percent": NaN}', "0.0 to 100.0"),
    ("set_volume", '{"percent": "loud"}', "expected a number"), ("remember", '{"about": "dog"}', "needed fact or name"),
    ("remember", '{"fact": ""}', "1 to 200"), ("remember", json.dumps({"fact": 300 * "x"}), "1 to 200"),
    ("remember", '{"fact": ["x"]}', "expected a text"), ("forget", '{"whose": "anna"}', "person or everybody"),
    ("speak", "{}", "needed pace or length or persona"), ("sleep", '{"minutes": 3}', "minutes; expected none"),
])
def test_what_is_wrong_with_a_call_is_said(name, text, named):
    with pytest.raises(BadCall) as wrong:
        checked_call(name, text)
    assert named in str(wrong.value)


@settings(deadline=None, max_examples=150, derandomize=True)
@given(st.sampled_from([*TOOLS, "x"]), st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.integers(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
        st.sampled_from(["name", "fact", "percent", "change", "whose", "azimuth_deg", "?"]), inner, max_size=3)))
def test_whatever_a_model_says_is_a_call_or_a_bad_call(name, value):
    try:
        arguments = checked_call(name, json.dumps(value))
    except BadCall:
        return
    assert all(isinstance(text, str) for _, text in arguments) and {key for key, _ in arguments} <= set(
        TOOLS[name].arguments)


def test_every_engine_is_offered_the_same_but_for_the_voice():
    assert {tool.name for tool in offered(True)} == set(TOOLS)
    assert set(TOOLS) - {tool.name for tool in offered(False)} == {"speak"}
    names = [tool["name"] for tool in line().server.of("session.update")[0]["session"]["tools"]]
    assert names == [tool.name for tool in offered(False)]
    for tool in TOOLS.values():
        schema = function_schema(tool)
        assert set(schema) == {"name", "description", "parameters"} and schema["parameters"]["type"] == "object"
        assert set(schema["parameters"]["required"]) <= set(schema["parameters"]["properties"])


# around a server ----------------------------------------------------------------------------------------------------

class OnLine:
    """The core of an engine on a line to a fake server, as an engine."""

    def __init__(self, bench, name):
        self.bench, self.name, self.handed = bench, name, 0

    def handle(self, request):
        self.bench.ask(request)
        yield from self.fresh()

    def fresh(self):
        new, self.handed = self.bench.replies[self.handed:], len(self.bench.replies)
        for reply in new:
            yield Timed(0.0, reply)

    pulse = lambda self, seconds: self.fresh()      # noqa: E731


class Talk:
    """Turns with a fake Realtime server that calls tools; the mind grants them."""

    def __init__(self, book=None, name="realtime"):
        self.bench, self.memory = line(), Memory(book or Book(), engine=name)
        self.engine, self.replies, self.turn = Remembering(OnLine(self.bench, name), self.memory, server=True), [], 0

    def ask(self, request):
        self.replies += [timed.reply for timed in self.engine.handle(request)]

    def called(self, *calls, person="person_1"):
        """The server calls (name, arguments) in its answer to a turn; returns what reached the mind."""
        self.turn += 1
        self.bench.server.calls = tuple((f"c{self.turn}.{n}", name, json.dumps(arguments))
                                        for n, (name, arguments) in enumerate(calls))
        onset, end = self.bench.say_something()
        before = len(self.replies)
        self.ask(Commit(self.bench.t, self.turn, onset, end, self.turn, person))
        self.bench.deliver(self.bench.server.finish())
        self.replies += [timed.reply for timed in self.engine.pulse(0.05)]
        return [reply for reply in self.replies[before:] if isinstance(reply, ToolCall)]

    def granted(self, *calls, person="person_1", result=GRANTED):
        """The same, granted; returns what the server was told of them."""
        for call in self.called(*calls, person=person):
            self.ask(ToolResult(self.bench.t, call.call, result))
        told = self.outputs()[-len(calls):]
        finished(self.bench)
        return told

    def outputs(self):
        return [event["item"]["output"] for event in self.bench.server.of("conversation.item.create")
                if event["item"]["type"] == "function_call_output"]


def test_a_server_remembers_and_is_told_what_it_was_told_before():
    talk = Talk()
    assert talk.granted(("remember", {"fact": "my sister lives in Rome"})) == [
        "remembered while they are here; with their name it would stay"]
    assert talk.granted(("remember", {"name": "Anna"}), ("remember", {"about": "dog", "fact": "Rex"})) == [
        "remembered as Anna", "remembered"]
    there = "person_1: 6 degrees to the left, seen; person_2: 60 degrees to the right, heard, not seen"
    told, = talk.granted(("who_is_there", {}), result=there)
    assert told == ("Anna (person_1): 6 degrees to the left, seen; person_2: 60 degrees to the right, heard, not seen. "
                    "The person who speaks has told you: You told me that your sister lives in Rome. Your dog is Rex.")
    other, = talk.granted(("who_is_there", {}), person="person_2", result=there)
    assert "Rome" not in other and "Anna" in other


def test_what_another_engine_was_told_stays_on_the_machine(tmp_path):
    local = Memory(Book(tmp_path / "memory.sqlite3"), datetime(2025, 12, 24, 18, 0))
    local.introduce("person_1", "Anna"), local.learn("person_1", "I like tea")
    local.book.close()
    talk = Talk(Book(tmp_path / "memory.sqlite3"))
    assert "ask whether they have met" in talk.granted(("remember", {"name": "Anna"}))[0]
    assert talk.granted(("remember", {"name": "Anna", "again": "yes"})) == ["known again as Anna"]
    talk.granted(("remember", {"fact": "I like coffee"}))
    told, = talk.granted(("who_is_there", {}), result="person_1: 6 degrees to the left, seen")
    assert "tea" not in told and "coffee" in told
    talk.ask(Surroundings(9.0, (("person_1", 0.1, True),)))
    sent = json.dumps(talk.bench.sent)
    assert "tea" not in sent and "person_1 looks at you" in sent
    talk.memory.book.close()


@pytest.mark.parametrize(("companion", "told"), [(True, "person_1"), (False, "Anna (person_1)")])
def test_a_companion_beside_its_server_knows_people_by_id(companion, told):
    class Engine:
        name, got = "chat", ()

        def handle(self, request):
            self.got = request.people
            yield from ()

    engine, memory = Engine(), Memory(engine="chat")
    memory.introduce("person_1", "Anna")
    if companion:
        engine.speak = lambda: "done"
    list(Remembering(engine, memory, server=True).handle(Surroundings(0.0, (("person_1", 0.1, True),))))
    assert engine.got == ((told, 0.1, True),)


def test_everybody_is_forgotten_only_when_the_model_asked_in_between():
    talk = Talk()
    talk.granted(("remember", {"name": "Anna"}))
    twice = talk.granted(("forget", {"whose": "everybody"}), ("forget", {"whose": "everybody"}))
    assert all("ask whether they are sure" in told for told in twice) and talk.memory.namesakes("Anna")
    assert talk.granted(("forget", {"whose": "everybody"})) == ["forgotten: 1 people"]
    talk.granted(("remember", {"name": "Bo"}))
    assert talk.granted(("forget", {})) == ["forgotten: their name and 0 facts"] and not talk.memory.namesakes("Bo")


def test_bad_calls_unknown_tools_and_late_results_change_nothing():
    talk = Talk()
    reached = talk.called(("fly", {}), ("remember", {"name": 3}), ("set_volume", {"percent": 900}), ("forget", {}))
    assert [call.name for call in reached] == ["forget"] and len(talk.outputs()) == 3
    talk.ask(Cancel(talk.bench.t, 1))
    assert talk.outputs()[-1] == "cancelled"
    count = len(talk.outputs())
    talk.ask(ToolResult(talk.bench.t, reached[0].call, "cancelled"))        # late, and of a call that is answered
    talk.ask(ToolResult(talk.bench.t, "c9.9", GRANTED))
    assert len(talk.outputs()) == count
    talk.bench.deliver([{"type": "response.output_item.done", "response_id": "resp_1", "item": {
        "type": "function_call", "call_id": "late", "name": "forget", "arguments": "{}"}}])
    assert not [r for r in (timed.reply for timed in talk.engine.pulse(0.1)) if isinstance(r, ToolCall)]


def test_minicpm_whose_protocol_has_no_tools_is_told_of_none():
    bench = Line(MiniCpmSession(MiniCpmConfig(), np.random.default_rng(1)), Demo())
    bench.listen(2.0)
    sent = len(bench.sent)
    bench.ask(ToolResult(bench.t, "c1", GRANTED))
    assert len(bench.sent) == sent > 0 and "tool" not in json.dumps(bench.sent)


# the engine of this machine -----------------------------------------------------------------------------------------

@pytest.fixture
def engine(monkeypatch):
    """Ears that hear `engine.words`, a voice of 50 ms a letter."""
    class Ears:
        words = ""

        def __call__(self, config):
            return self

    ears = Ears()
    monkeypatch.setattr(embedded, "Recogniser", ears)
    monkeypatch.setattr(embedded, "Voice", lambda config: lambda text, style: frozen_samples(
        np.zeros(round(800 * len(text) / style.pace))))
    made = embedded.EmbeddedEngine()
    made._recogniser = type("", (), {"words": lambda self, sound: ears.words})()
    made.ears = ears
    return made


def answered(engine, words, generation=1, t=1.0):
    engine.ears.words = words
    return [timed.reply for timed in engine.handle(Commit(t, generation, t - 1.0, t, generation, "person_1"))]


def test_a_wish_that_an_interruption_kept_is_made_again_when_it_was_false(engine):
    first, = (r for r in answered(engine, "Set the volume to ten. No, I meant five.") if isinstance(r, ToolCall))
    assert first.arguments == (("percent", "50"),)
    list(engine.handle(Cancel(1.2, 1)))
    again, = (t.reply for t in engine.handle(Resume(1.5, 1, 3, 1)) if isinstance(t.reply, ToolCall))
    assert (again.generation, again.call, again.arguments) == (3, "3.0", first.arguments)
    list(engine.handle(ToolResult(1.9, "3.0", "done: 50 percent")))
    list(engine.handle(Cancel(2.0, 3)))
    assert not [t for t in engine.handle(Resume(2.5, 3, 5, 1)) if isinstance(t.reply, ToolCall)]


def seconds(replies):
    return sum(len(reply.samples) for reply in replies if hasattr(reply, "samples")) / 16000


def test_ways_of_speaking(engine):
    remembering = Remembering(engine, Memory())
    usual = seconds(answered(engine, "What is your name?"))
    assert remembering.engine.speak(pace="slower") == "done" and engine.style.pace == pytest.approx(1 / 1.2)
    assert seconds(answered(engine, "What is your name?")) > 1.15 * usual
    for _ in range(9):
        engine.speak(pace="slower")
    assert engine.style.pace == 0.7
    engine.speak(pace="normal", length="brief")
    name, = (r.text for r in answered(engine, "What is your name?") if hasattr(r, "text") and hasattr(r, "samples"))
    assert name == "My name is Robin."
    assert "no persona 'x', expected one of: robin, otis, pip" in engine.speak(persona="x")
    engine.speak(persona="Otis")
    assert "My name is Otis." in " ".join(getattr(r, "text", "") for r in answered(engine, "What is your name?"))
    assert engine.style.pace == 0.85
