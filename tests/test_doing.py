"""What the robot does at an engine's wish: once, when the turn stands, never after it was taken back."""
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.answering import AnsweringConfig
from dialogue.engine import Cancel, ToolCall, ToolResult
from dialogue.engines.scripted import Faults, Rule
from dialogue.engines.tools import GRANTED, TOOLS
from dialogue.loop import DialogueConfig
from perception.people import Person
from tests.dialogue_bench import Said, Talk, fact


def tool(name, /, **arguments):
    return ((name, tuple(arguments.items())),)


RULES = (
    Rule(r"ten(?!.*five)", "Is that loud enough for you?", tool("set_volume", percent="100")),
    Rule(r"five", "Is that loud enough for you?", tool("set_volume", percent="50")),
    Rule(r"lower", "Is that low enough for you?", tool("set_volume", change="-30")),
    Rule(r"sleep", "Good night to all of you.", tool("sleep")),
    Rule(r"wake up", "I am awake."),
    Rule(r"who", "Let me see.", tool("who_is_there")),
    Rule(r"remember", "I will remember that.", tool("remember", fact="I like tea")),
    Rule(r"fly", "I would like to.", tool("fly", high="yes")),
    Rule(r"left", "Like this?", tool("look_at", azimuth_deg="left")),
    Rule(r"nod", "", tool("gesture", name="nod")),
    Rule(r"time", "It is ten past nine."),
)


def talk(*said, until=8.0, rules=RULES, **how):
    return Talk(tuple(Said(begin, end, words) for begin, end, words in said), rules, **how).run(until)


def done(talk):
    return [(fact(event, "name"), dict(fact(event, "arguments"))) for event in talk.events("tool")]


def volumes(talk):
    return list(dict.fromkeys(turn.volume for turn in talk.turns))


def test_the_volume_is_set_from_the_third_of_a_second_after_the_commit_on():
    run = talk((0.5, 1.5, "set the volume to five."), (5.0, 6.0, "a bit lower."), until=10.0)
    assert volumes(run) == [None, 0.5, pytest.approx(0.2)]
    committed = run.events("turn_committed")[0].t
    at = next(index for index, turn in enumerate(run.turns) if turn.volume is not None) * 0.01
    assert at - committed == pytest.approx(0.3, abs=0.011)         # issue 6: at least 150 ms
    assert [r.result for r in run.asked(ToolResult)] == ["done: 50 percent", "done: 20 percent"]


@settings(deadline=None, max_examples=12, derandomize=True)
@given(st.floats(0.02, 0.55), st.floats(0.0, 0.8))
def test_of_ten_no_five_only_five_happens(gap, slow):
    """Whenever the correction comes until the wish is carried out: in the same turn, in a pause, before the answer."""
    said = (0.5, 1.5, "set the volume to ten"), (1.5 + gap, 2.4 + gap, "no, I meant five.")
    run = talk(*said, faults=Faults(slow=slow))
    committed = [event.t for event in run.events("turn_committed")]
    if 1.53 + gap > committed[0] + 0.3:                              # began too late: it was done, and is put right
        assert volumes(run)[-1] == 0.5
    else:
        assert done(run) == [("set_volume", {"percent": "50"})] and volumes(run) == [None, 0.5]


def test_a_long_correction_is_waited_for():
    run = talk((0.5, 1.5, "set the volume to ten."), (2.0, 5.0, "no, I am sorry, what I really meant is five."),
               faults=Faults(slow=1.0), until=9.0)
    assert done(run) == [("set_volume", {"percent": "50"})]


class Doubtful(Talk):
    """Between `begin` and `end` (s) somebody rather speaks than not, but the ears are not sure yet."""

    begin, end = 1.9, 3.0

    def _sound(self, t, count):
        sound = super()._sound(t, count)
        return replace(sound, evidence=1.0) if self.begin <= t < self.end else sound


@pytest.mark.parametrize(("end", "at"), [(3.0, 3.14), (9.0, None)])
def test_it_waits_while_somebody_may_be_taking_it_back_but_not_for_ever(end, at):
    run = Doubtful((Said(0.5, 1.5, "set the volume to five."),), RULES)
    run.end = end
    run.run(5.0)
    committed, tool = run.events("turn_committed")[0].t, run.events("tool")[0].t
    assert tool == pytest.approx(at or committed + 0.3 + 1.5, abs=0.011)


def test_nothing_happens_after_a_stop():
    run = talk((0.5, 1.5, "set the volume to ten."), (2.0, 2.5, "stop."), rules=(Rule("stop", ""), *RULES))
    assert not done(run) and volumes(run) == [None] and run.asked(Cancel)


def test_what_cannot_be_obeyed_is_told_to_the_engine_and_harms_nobody():
    run = talk((0.5, 1.0, "fly"), (4.0, 4.5, "look left"))
    results = [result.result for result in run.asked(ToolResult)]
    assert "no tool 'fly'" in results[0] and "look_at.azimuth_deg: 'left', expected a number" in results[1]


def test_what_the_memory_does_is_granted_by_the_mind():
    run = talk((0.5, 1.5, "remember that I like tea."))
    assert [result.result for result in run.asked(ToolResult)] == [GRANTED]


def test_a_wish_said_twice_is_done_once_and_one_that_outlives_its_reply_is_cancelled():
    doubled = (Rule("lower", "Is that low enough for you?", 2 * tool("set_volume", change="-30")),)
    run = Talk((Said(0.5, 1.5, "lower."),), doubled)
    run.run(2.3)
    call = ToolCall(1, "x", "set_volume", (("change", "-10"),))
    answering = run.dialogue.answering
    answering.calls += [call, call]
    run.run(3.0)
    assert [r.result for r in run.asked(ToolResult)] == ["done: 70 percent", "done: 40 percent", "done: 30 percent"]
    run.run(8.0)
    answering.calls.append(ToolCall(1, "late", "gesture", (("name", "nod"),)))
    run.run(8.1)
    assert run.asked(ToolResult)[-1] == ToolResult(run.asked(ToolResult)[-1].t, "late", "cancelled")
    assert not any(turn.intent.gesture for turn in run.turns)


def test_a_wish_that_could_not_be_done_in_time_is_given_up():
    config = DialogueConfig(answering=AnsweringConfig(silence=60.0))
    run = talk((0.5, 1.5, "what time is it?"), faults=Faults(slow=20.0), config=config, until=9.0)
    run.dialogue.answering.calls.append(ToolCall(1, "slow", "set_volume", (("percent", "0"),)))
    run.run(9.1)
    assert [result.result for result in run.asked(ToolResult)] == ["done: 0 percent"]
    run.run(12.0)
    run.dialogue.answering.calls.append(ToolCall(1, "late", "set_volume", (("percent", "10"),)))
    run.run(12.1)
    assert run.asked(ToolResult)[-1].result == "too late" and volumes(run)[-1] == 0.0


def test_who_is_there():
    people = (Person("person_1", 0.5, 0.0, 1.25, None, 0.0), Person("person_2", -1.0, 0.0, None, 0.0, None))
    seen = Talk((Said(0.5, 1.5, "who is there?"),), RULES, people=lambda t: (
        Person("person_1", 0.5, 0.0, 1.25, None, t), people[1])).run(3.0)
    result, = seen.asked(ToolResult)
    assert result.result == ("person_1: 29 degrees to the left, seen, 1.2 m away; "
                             "person_2: 57 degrees to the right, heard, not seen")
    assert talk((0.5, 1.5, "who is there?")).asked(ToolResult)[0].result == "nobody"


def modes(run, begin, end):
    return {turn.intent.mode for turn in run.turns[round(begin * 100):round(end * 100)]}


def test_it_sleeps_after_the_answer_until_it_is_woken_by_its_words():
    run = talk((0.5, 1.5, "go to sleep."), (7.0, 8.0, "what time is it?"), (11.0, 12.0, "wake up."),
               (16.0, 17.0, "what time is it?"), until=21.0)
    asleep, = (event.t for event in run.events("sleeps"))
    assert asleep > run.events("reply_end")[0].t - 0.01
    assert modes(run, asleep + 0.02, 12.2) == {"sleep"} and "sleep" not in modes(run, 12.8, 21.0)
    assert run.robot_said == "Good night to all of you. I am awake. It is ten past nine."
    dropped, = run.events("turn_dropped")
    assert fact(dropped, "kind") == "asleep"


def test_a_touch_wakes_it_and_a_voice_whose_words_are_not_read_ahead_too():
    run = talk((0.5, 1.5, "go to sleep."), until=6.0)
    assert run.dialogue.doing.asleep
    run.dialogue.doing.wake()
    run.run(7.0)
    assert modes(run, 6.1, 7.0) == {"idle"}
    late = talk((0.5, 1.5, "go to sleep."), (7.0, 8.0, "what time is it?"), until=12.0, faults=Faults(text_delay=2.0))
    assert late.robot_said.endswith("ten past nine.")


def test_asleep_it_greets_nobody():
    def comes(t):
        return (Person("anna", 0.1, 0.0, 1.0, None, t, attention=1.0),) if t > 6.0 else ()

    assert not any("greet" in getattr(r, "text", "") for r in talk(
        (0.5, 1.5, "go to sleep."), until=8.0, people=comes, config=DialogueConfig(greets=True)).requests)


def test_every_tool_is_carried_out_by_somebody():
    assert {tool.by for tool in TOOLS.values()} == {"mind", "memory", "voice"}
