"""When the steps of a timeline happen."""
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from robot.interaction.scenario import scenario_from_text
from robot.interaction.timeline import Says
from robot.interaction.triggers import Now, Triggers
from robot.tick import TICK_S, Event

HEAD = "scenario: s\npeople: {anna: {azimuth_deg: 0, distance_m: 1}, bob: {azimuth_deg: 9, distance_m: 1}}\ntimeline:\n"
LINE_S = 1.5   # every utterance here lasts this long


def triggers_of(*steps):
    text = HEAD + "".join(f"  - {step}\n" for step in steps) + "expect: [{event: duck}]\n"
    return Triggers(scenario_from_text(text, Path("s.yaml")).timeline)


def play(triggers, seconds, events=(), heard=lambda t: (0, 0.0), speaking=lambda t: False, moving=lambda t: False):
    """(step number from 1, t) of all that happened. events: (t, name)."""
    happened = []
    for index in range(round(seconds / TICK_S)):
        t = index * TICK_S
        now = Now(t, tuple(Event(at, name) for at, name in events if t - TICK_S < at - 1e-9 <= t), *heard(t),
                  speaking(t), moving(t))
        for i in triggers.due(now):
            happened.append((i + 1, round(t, 2)))
            for action in triggers.steps[i].actions:
                if isinstance(action, Says):
                    triggers.talks(action.person, t + LINE_S)
    return happened


def test_at():
    triggers = triggers_of("{at: 0.5, anna: nods}", "{at: 0.2, bob: nods}", "{at: 9, bob: nods}")
    assert play(triggers, 2) == [(2, 0.2), (1, 0.5)]


def test_after_an_event():
    triggers = triggers_of("{at: 0.5, anna: {says: a}}", "{after: {event: turn_candidate, ms: 180}, bob: {says: b}}")
    assert play(triggers, 5, [(2.0, "turn_candidate")]) == [(1, 0.5), (2, 2.18)]


def test_lines_that_wait_for_the_same_kind_of_event_are_a_talk():
    line = "{after: {event: reply_end, ms: 300}, anna: {says: x}}"
    triggers = triggers_of("{at: 0, anna: {says: x}}", line, line)
    assert play(triggers, 20, [(3.0, "reply_end"), (8.0, "reply_end")]) == [(1, 0.0), (2, 3.3), (3, 8.3)]


def test_two_who_wait_for_the_same_moment_speak_at_once():
    triggers = triggers_of("{after: {event: reply_start, ms: 300}, anna: {says: x}}",
                           "{after: {event: reply_start, ms: 300}, bob: {says: x}}",
                           "{after: {event: reply_start, ms: 2000}, anna: {says: x}}")
    assert play(triggers, 9, [(1.0, "reply_start")]) == [(1, 1.3), (2, 1.3), (3, 3.0)]


def test_an_event_before_the_step_above_does_not_count():
    triggers = triggers_of("{at: 5, anna: nods}", "{after: {event: duck, ms: 10}, anna: nods}")
    assert play(triggers, 20, [(1.0, "duck"), (7.0, "duck")]) == [(1, 5.0), (2, 7.01)]


def test_heard_words_of_the_running_reply():
    def heard(t):
        return (1, t * 1000) if t < 4 else (2, (t - 4) * 1000)
    triggers = triggers_of("{after: {heard_ms: 800}, anna: {says: x}}", "{after: {heard_ms: 3000}, anna: {says: x}}",
                           "{after: {heard_ms: 800}, anna: {says: x}}")
    assert play(triggers, 9, heard=heard) == [(1, 0.8), (2, 3.0), (3, 4.8)]


def test_a_reply_that_was_heard_for_so_long_before_the_step_above_does_not_count():
    def heard(t):
        return (1, t * 1000) if t < 6 else (2, (t - 6) * 1000)
    triggers = triggers_of("{at: 5, anna: {says: x}}", "{after: {heard_ms: 2000}, bob: {says: x}}")
    assert play(triggers, 9, heard=heard) == [(1, 5.0), (2, 8.0)]


def test_states():
    triggers = triggers_of("{while: robot_speaking, at: 1, anna: nods}", "{while: robot_silent, anna: nods}",
                           "{while: robot_moving, anna: nods}")
    happened = play(triggers, 9, speaking=lambda t: 2 <= t < 3, moving=lambda t: t >= 4)
    assert happened == [(1, 2.0), (2, 3.0), (3, 4.0)]


def test_all_conditions_together():
    triggers = triggers_of("{at: 1, after: {event: duck, ms: 100, heard_ms: 500}, while: robot_silent, anna: nods}")
    assert play(triggers, 9, [(3.0, "duck")], lambda t: (1, t * 1000), lambda t: t < 5) == [(1, 5.0)]


def test_why_a_step_never_happened():
    triggers = triggers_of("{at: 99, anna: nods}", "{after: {event: duck}, anna: nods}")
    play(triggers, 3)
    assert "not 99 s yet" in triggers.reason_to_wait(0, Now(3.0))
    assert "line 4 had not happened" in triggers.reason_to_wait(1, Now(3.0))


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from(["duck", "release"])), max_size=12),
       st.integers(0, 300))
def test_a_shift_of_all_events_shifts_all_steps(events, shift):
    def run(offset):
        triggers = triggers_of("{after: {event: duck, ms: 50}, anna: {says: x}}",
                               "{after: {event: release, ms: 20}, anna: {says: x}}",
                               "{after: {event: duck, ms: 20}, bob: nods}")
        moved = [((i + offset + 1) * TICK_S, name) for i, name in sorted(events)]
        return [(step, round(t / TICK_S)) for step, t in play(triggers, 9, moved)]
    assert run(shift) == [(step, t + shift) for step, t in run(0)]
