"""Whole talks: the dialogue with a real worker and a real (scripted) engine, in virtual time."""
from math import radians

import numpy as np
import pytest

from dialogue.answering import TONES
from dialogue.engine import (
    Cancel,
    Clause,
    Commit,
    Cue,
    EngineTrouble,
    Finished,
    Hear,
    Prompt,
    Resume,
    ToolResult,
    Transcript,
)
from dialogue.engines.scripted import Faults
from dialogue.loop import Dialogue, DialogueConfig
from dialogue.speaker import SpeakerConfig
from perception.audio.scene import SoundScene
from perception.people import Person
from perception.vision.frame import Gesture, Sight
from tests.dialogue_bench import STORY, Said, Talk, fact

ASK = Said(0.5, 1.5, "tell me a story.")


def stale(talk):
    """Blocks whose reply was not live, or had been cancelled, when they were emitted."""
    cancelled, found = set(), 0
    for turn in talk.turns:
        cancelled |= {r.generation for r in turn.requests if isinstance(r, Cancel)}
        found += sum(block.generation in cancelled or block.generation not in (0, turn.live_generation)
                     for block in turn.speaker)
    return found


def test_question_and_answer():
    talk = Talk((Said(0.5, 1.5, "how are you?"),)).run(6.0)
    assert talk.names() == ["turn_candidate", "turn_committed", "transcript", "reply_start", "reply_end"]
    assert fact(talk.events("reply_start")[0], "waited_for") == pytest.approx(1.54, abs=0.011)
    assert talk.events("reply_start")[0].t - 1.5 < 0.5                   # issue 2: first audio, aim
    assert talk.robot_said == "I am well. And you?"
    assert [line.who for line in talk.turns[-1].history] == ["someone", "robot"]
    assert talk.asked(Finished)[0].heard == "I am well. And you?"
    assert {turn.intent.mode for turn in talk.turns} == {"idle", "listen", "speak"}
    assert len(talk.asked(Hear)) == 600


def test_the_speaker_gets_exactly_the_blocks_that_came_in():
    talk = Talk((ASK,), blocks=lambda index: (0, 3, 1, 0, 2)[index % 5]).run(5.0)
    for index, turn in enumerate(talk.turns):
        count = (0, 3, 1, 0, 2)[index % 5]
        assert len(turn.speaker) == count and turn.spoken.shape == (160 * count,)
        assert count == 0 or np.array_equal(turn.spoken, np.concatenate([b.samples for b in turn.speaker]))
    assert talk.sound.any()


def test_stop_silences_at_once_and_nothing_stale_follows():
    talk = Talk((ASK, Said(4.0, 4.5, "stop."))).run(9.0)
    barged = talk.events("barge_in")[0]
    assert barged.t == pytest.approx(4.25, abs=0.011)
    after = talk.sound[round((barged.t + 0.03) * 16000):]
    assert not after.any() and stale(talk) == 0
    assert fact(talk.events("reply_superseded")[0], "reason") == "stop word"
    ducked = next(e for e in talk.events("duck"))
    assert ducked.t == pytest.approx(4.1, abs=0.011)
    held = [turn.intent.hold_still for turn in talk.turns[411:424]]
    assert all(held)


def test_history_ends_at_the_last_heard_word():
    talk = Talk((ASK, Said(3.0, 3.6, "how are you?"))).run(8.0)
    heard = talk.turns[-1].history[1].text
    assert STORY.startswith(heard) and 0 < len(heard) < len(STORY) / 3
    cancel = talk.asked(Cancel)[0]
    assert cancel.heard == heard and f"{cancel.heard} {cancel.unheard}" == STORY
    assert talk.asked(Commit)[1].continues is None                        # a new question, not the rest of the old
    seconds = 3.25 - talk.events("reply_start")[0].t - DialogueConfig().speaker.playback_delay
    assert len(heard) <= seconds / 0.065 + 1                             # the voice takes 65 ms a letter


def test_a_murmur_known_by_its_hum_does_not_even_stop_it():
    talk = Talk((ASK, Said(3.0, 3.45, "mm-hmm", hum=0.9))).run(12.0)
    assert talk.names()[4:] == ["duck", "release", "reply_end"]
    assert talk.robot_said == STORY


@pytest.mark.parametrize("words", ["yeah.", "", "it liked to talk"])
def test_after_a_false_interruption_it_goes_on_from_the_clause_that_was_cut(words):
    """A murmur (F22), a noise (F24), its own voice (F12)."""
    talk = Talk((ASK, Said(4.6, 4.95, words))).run(14.0)
    names = talk.names("transcript")
    assert names[3:] == ["duck", "barge_in", "turn_candidate", "turn_dropped", "reply_resumed", "reply_start",
                         "reply_end"]
    first, second = (line.text for line in talk.turns[-1].history if line.who == "robot")
    assert STORY.startswith(first) and STORY.endswith(second) and len(first) + len(second) >= len(STORY) - 1
    assert talk.asked(Resume)[0].of == talk.asked(Cancel)[0].generation
    assert stale(talk) == 0


def test_an_answer_in_the_words_of_the_question_is_no_echo():
    first = Said(0.5, 1.5, "how are you?")
    asked = Talk((first,)).run(6.0).events("reply_end")[0].t
    talk = Talk((first, Said(asked + 0.3, asked + 0.9, "I am well."))).run(8.0)
    assert len(talk.asked(Commit)) == 2 and not talk.events("turn_dropped")


def test_a_voice_whose_words_nobody_made_out_is_answered_not_talked_over():
    talk = Talk((ASK, Said(4.6, 6.3, ""))).run(10.0)
    assert not talk.events("reply_resumed") and talk.robot_said.endswith("I did not understand.")


@pytest.mark.parametrize("heard", ["", "Top.", "Stomp stop"])
def test_what_may_have_been_a_stop_word_is_answered_by_silence(heard):
    """Neither the rest of the story nor "I did not understand"; and the next question is answered."""
    talk = Talk((ASK, Said(4.6, 5.7, heard), Said(8.0, 8.8, "how are you?"))).run(12.0)
    assert not talk.events("reply_resumed")
    assert fact(talk.events("turn_dropped")[0], "kind") == "hush"
    assert [fact(e, "reason") for e in talk.events("reply_superseded")] == ["maybe a stop word"]
    assert not talk.sound[round(4.95 * 16000):round(8.8 * 16000)].any()
    assert talk.robot_said.endswith("I am well. And you?") and "understand" not in talk.robot_said


def test_a_sound_that_begins_with_the_reply_is_no_stop_word():
    """Its first words over a canceller that has not learned them yet; nobody reacts to a voice so soon."""
    begun = Talk((ASK,)).run(4.0).events("reply_start")[0].t
    talk = Talk((ASK, Said(begun + 0.05, begun + 0.9, ""))).run(16.0)
    assert talk.events("barge_in") and talk.events("reply_resumed") and talk.robot_said.endswith("counted its screws.")


def test_it_goes_on_at_most_twice():
    noises = tuple(Said(t, t + 0.3, "") for t in (3.0, 5.0, 7.0))
    talk = Talk((ASK, *noises)).run(12.0)
    assert len(talk.events("reply_resumed")) == 2 and talk.turns[-1].floor == "idle"


def test_a_correction_before_the_answer_supersedes_it_unheard():
    said = (Said(0.5, 1.5, "bring me the red cup."), Said(1.95, 2.8, "no, I meant the blue one."))
    talk = Talk(said, faults=Faults(slow=0.5)).run(8.0)
    assert talk.robot_said == "I bring the blue one."
    first, second = talk.asked(Commit)
    assert second.continues == first.turn and second.generation > first.generation
    assert fact(talk.events("reply_superseded")[0], "heard") == ""
    assert stale(talk) == 0


def test_a_correction_as_the_answer_begins_stops_it_before_the_wrong_word():
    talk = Talk((Said(0.5, 1.5, "bring me the red cup."), Said(1.92, 2.8, "no, I meant the blue one."))).run(8.0)
    assert "red" not in talk.robot_said and talk.robot_said.endswith("I bring the blue one.")
    assert len(talk.events("tool")) == 1 and stale(talk) == 0


def test_going_on_after_a_pause_keeps_one_turn():
    talk = Talk((Said(0.5, 1.5, "I would like the"), Said(2.2, 3.0, "red cup."))).run(8.0)
    assert len(talk.asked(Commit)) == 1 and talk.asked(Commit)[0].onset == 0.5
    assert talk.robot_said == "I bring the red one."


@pytest.mark.parametrize("words", ["", "mm-hmm"])
def test_a_noise_while_it_thinks_only_delays_the_answer(words):
    talk = Talk((Said(0.5, 1.5, "how are you?"), Said(2.2, 2.35, words)), faults=Faults(slow=1.0)).run(9.0)
    assert "turn_dropped" in talk.names() and talk.robot_said == "I am well. And you?"
    assert not talk.asked(Cancel)
    assert talk.events("reply_start")[0].t > 2.35


def test_its_own_name_in_its_own_mouth_opens_no_turn():
    talk = Talk((Said(0.5, 1.2, "what is your name?"), Said(3.0, 3.4, "robin"), Said(4.4, 4.8, "robin"))).run(12.0)
    assert len(talk.asked(Commit)) == 1
    assert talk.turns[-1].floor == "idle"


def test_words_that_come_late_still_get_their_answer():
    """F17: the recogniser answers after the commit."""
    talk = Talk((Said(0.5, 0.9, "yes."),), faults=Faults(text_delay=0.8)).run(6.0)
    assert fact(talk.events("turn_committed")[0], "guess") == ""
    assert talk.robot_said == "Good to hear."


def test_words_that_come_late_and_are_none_give_the_floor_back():
    talk = Talk((ASK, Said(4.0, 4.4, "")), faults=Faults(text_delay=0.8)).run(16.0)
    assert len(talk.asked(Commit)) == 2 and talk.events("reply_resumed")
    assert talk.robot_said.endswith("counted its screws.")


def test_late_and_doubled_clauses_are_dropped_and_told():
    talk = Talk((ASK, Said(4.0, 4.5, "how are you?")), faults=Faults(late_deltas=4, duplicate_reply=True)).run(10.0)
    assert stale(talk) == 0
    assert len(talk.events("stale_clause")) >= 4
    assert talk.robot_said.endswith("I am well. And you?")


def test_an_engine_that_never_answers_is_not_waited_for_in_silence():
    talk = Talk((ASK,), faults=Faults(never_answers=True)).run(13.0)
    assert 8.0 < talk.events("reply_start")[0].t - talk.events("turn_committed")[0].t < 8.1
    assert talk.robot_said == TONES.lost.text and talk.turns[-1].floor == "idle"
    assert talk.asked(Cancel)[0].generation == talk.asked(Commit)[0].generation


def test_an_engine_that_crashes_in_mid_reply_is_faded_out_and_told():
    talk = Talk((ASK, Said(7.0, 7.6, "how are you?")), faults=Faults(crash_at=1)).run(10.0)
    trouble = talk.events("engine")[0]
    assert "ScriptedCrash" in fact(trouble, "reason")
    assert TONES.trouble.text in talk.robot_said
    assert len(talk.asked(Commit)) == 2                                   # a new engine got the next turn
    assert stale(talk) == 0


def test_a_dead_engine_is_apologised_for_by_the_next_one_and_only_once():
    talk = Talk((ASK,), faults=Faults(crash_at=1)).run(30.0)
    apologies = [prompt.text for prompt in talk.asked(Prompt)]
    assert apologies == ["say: I am sorry, I lost my thread."]              # dies of that, too, and is left alone
    assert talk.turns[-1].floor == "idle" and len(talk.events("engine")) == 2


def test_trouble_of_an_answer_that_is_over_is_only_told():
    dialogue = Dialogue()
    turn = dialogue.step(0.0, (), Sight(0.0), SoundScene(0.0), (EngineTrouble("died", 7),), 1)
    assert [e.name for e in turn.events] == ["engine"] and turn.floor == "idle"


def test_replies_that_nobody_asked_for_do_nothing():
    dialogue = Dialogue()
    replies = (Clause(3, 0, "hello", np.ones(1600, np.float32)), Transcript(9, "hello", True))
    turn = dialogue.step(0.0, (), Sight(0.0), SoundScene(0.0), replies, 5)
    assert not turn.spoken.any() and turn.live_generation == 0


def test_a_tool_acts_once_the_turn_is_sure_and_not_when_it_is_taken_back():
    talk = Talk((Said(0.5, 1.5, "the blue one."),)).run(5.0)
    committed, told = talk.events("turn_committed")[0], talk.events("tool")[0]
    assert told.t - committed.t >= 0.15                                  # issue 6
    assert sum(turn.intent.gesture == "nod" for turn in talk.turns) == 1
    assert talk.asked(ToolResult)[0].result == "done"
    said = (Said(0.5, 1.5, "the blue one."), Said(1.9, 2.6, "no, the red one."))
    assert not Talk(said, faults=Faults(slow=0.5)).run(6.0).events("tool")


def behind(yaw_from_seconds):
    """Anna speaks from behind; the head turns to her by the given function of t."""
    azimuth = radians(150)

    def people(t):
        return (Person("anna", azimuth, 0.0, None, 1.5 if t > 0.5 else None, None, speaking=0.5 < t < 1.5),)
    return people, yaw_from_seconds


@pytest.mark.parametrize("arrives", [2.6, 60.0])
def test_the_answer_waits_until_the_person_is_faced_but_not_for_ever(arrives):
    people, yaw = behind(lambda t: radians(145) if t >= arrives else 0.0)
    talk = Talk((Said(0.5, 1.5, "how are you?"),), people=people, head_yaw=yaw).run(6.0)
    started, committed = talk.events("reply_start")[0].t, talk.events("turn_committed")[0].t
    assert started == pytest.approx(min(arrives, committed + 1.5), abs=0.011)
    assert talk.asked(Commit)[0].person == "anna"
    assert talk.turns[-1].history[0].who == "anna"


def test_a_head_shake_reaches_the_engine_and_changes_the_answer():
    talk = Talk((ASK,), gestures=(Gesture(3.5, "anna", "shake"),)).run(10.0)
    cue = talk.asked(Cue)[0]
    assert (cue.name, cue.person, cue.t) == ("shakes_head", "anna", 3.5) and STORY.startswith(cue.heard) and cue.heard
    assert talk.robot_said.endswith("Oh, you do not agree?") and len(talk.robot_said) < len(STORY)


def test_the_same_talk_is_the_same_to_the_bit():
    def once():
        return Talk((ASK, Said(4.0, 4.5, "yeah."), Said(8.0, 8.4, "stop."))).run(11.0)
    first, second = once(), once()
    assert first.events() == second.events() and np.array_equal(first.sound, second.sound)


def test_a_later_start_of_the_clock_changes_nothing_but_the_times():
    """Every decision depends on differences of time only."""
    early = Talk((ASK, Said(4.0, 4.5, "stop."))).run(6.0)
    late = Talk(tuple(Said(s.begin + 5.0, s.end + 5.0, s.words) for s in (ASK, Said(4.0, 4.5, "stop.")))).run(11.0)
    assert [e.name for e in early.events()] == [e.name for e in late.events()]
    assert np.allclose([e.t + 5.0 for e in early.events()], [e.t for e in late.events()], atol=0.011)


def test_playback_delay_is_taken_into_account():
    def heard(delay):
        config = DialogueConfig(speaker=SpeakerConfig(playback_delay=delay))
        return Talk((ASK, Said(4.0, 4.5, "stop.")), config=config).run(5.0).asked(Cancel)[0].heard
    assert len(heard(0.5)) < len(heard(0.0))
