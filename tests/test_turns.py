"""End of turn, murmurs and interruptions, stop words, corrections, echo."""
import pytest

from dialogue.turns import Context, Overlap, TurnConfig, Turns
from dialogue.words import completeness, is_correction, is_echo, is_fragment, is_hum, is_murmur, is_stop, may_be_stop
from perception.audio.scene import Heard, SoundScene

CONFIG = TurnConfig()
NEW = Context()

INTERRUPTED = Context(interrupted=True, said="and in the night it counted its screws")


@pytest.mark.parametrize("text, expected", [
    ("Tell me a story.", "complete"), ("What time is it?", "complete"), ("Stop", "complete"), ("Yes.", "complete"),
    ("Where are you from?", "complete"), ("Go on.", "complete"),
    ("I would like to have the", "incomplete"), ("I went there and.", "incomplete"), ("No, I meant", "incomplete"),
    ("Well, um...", "incomplete"), ("Could you,", "incomplete"),
    ("Could you tell me?", "incomplete"), ("I would like to hear.", "incomplete"), ("Let us", "incomplete"),
    ("What can you tell me?", "complete"), ("What do you want?", "complete"),
    ("My sister said yes.", "unsure"), ("Well, tell me a story.", "complete"), ("I am fine.", "unsure"),
    ("tell me a story", "unsure"), ("Blue.", "unsure"), ("", "unsure"),
])
def test_completeness(text, expected):
    assert completeness(text) == expected


@pytest.mark.parametrize("judge, yes, no", [
    (is_hum, ["Mm-hmm.", "uh-huh", "Hm", "Mhm."], ["yes", "", "hm, no"]),
    (is_murmur, ["Yeah.", "Oh, really?", "I see.", "Mm-hmm."], ["stop", "yes please tell me about it", "no", ""]),
    (is_stop, ["Stop!", "No.", "Wait a moment.", "quiet please"], ["go on", "I will not stop", ""]),
    (may_be_stop, ["Top.", "Stomp!", "stopp", "Shop stop", "Star."],
     ["", "no", "what", "stop the music please", "red", "stories", "star of Rome"]),
    (is_fragment, ["But uh", "is from the", "And..."], ["", "why", "the red", "no", "what is"]),
    (is_correction, ["No, I meant the blue one.", "Wait.", "I mean the other", "sorry, I meant blue"],
     ["I know what that means", "no"]),
])
def test_kinds_of_words(judge, yes, no):
    assert all(judge(text) for text in yes)
    assert not any(judge(text) for text in no)


def test_echo_is_the_robots_own_words_even_when_heard_badly():
    said = "My name is Robin. You can call me Robin."
    assert is_echo("you can call me robbing", said) and is_echo("Robin.", said)
    assert not is_echo("what is your name", said)
    assert not is_echo("stop", "it never stops, so stop it")
    assert not is_echo("stop", "you may say stop")
    asked = "Shall I forget everybody? Yes or no?"
    assert is_echo("Yes.", asked) and not is_echo("Yes.", asked, asked=True)
    assert is_echo("forget everybody, yes or no", asked, asked=True)


def spoken(turns, begin, end, t_end=None):
    """Feed a voice from begin to end (s) and silence until t_end; returns the time reached."""
    index = round(begin * 100)
    while index <= round((t_end or end) * 100):
        t = index / 100
        turns.hear(t, SoundScene(t, speech=begin <= t <= end, onset=begin, evidence=5.0))
        index += 1



def test_words_that_say_nothing_by_themselves_do_not_cost_the_answer():
    """What a recogniser makes of a knock or of "uh-huh" over the robot's voice; said in peace it is a turn."""
    turns = Turns()
    spoken(turns, 1.0, 1.6)
    turns.guess(turns.candidate(1.85).turn, "is from the")
    assert turns.verdict(2.5, INTERRUPTED) is None                     # somebody may be about to go on
    assert turns.verdict(2.75, INTERRUPTED).kind == "murmur"
    assert turns.verdict(2.75, NEW).kind == "commit"
    assert turns.verdict(2.75, Context(interrupted=True, asked=True)).kind == "commit"


def test_a_sentence_made_of_a_murmur_is_one():
    """Whisper makes whole sentences of "uh-huh" over the robot's voice; nobody speaks that fast."""
    for words, kind in (("I would like to hear a long story.", "murmur"), ("Not now.", "commit")):
        turns = Turns()
        spoken(turns, 1.0, 1.35)
        spoken(turns, 1.36, 1.3, 1.56)
        open_turn = turns.candidate(1.6)
        turns.guess(open_turn.turn, words)
        assert turns.verdict(2.2, INTERRUPTED).kind == kind


def committed_after(guess, context=NEW, guess_at=0.3):
    """Pause (s) and verdict of a one-second turn whose words become known guess_at s after its end."""
    turns = Turns()
    spoken(turns, 1.0, 2.0)
    number = None
    for index in range(201, 400):
        t = index / 100
        turns.hear(t, SoundScene(t))
        paused = turns.candidate(t)
        if paused is not None:
            number = paused.turn
            assert t - 2.0 == pytest.approx(CONFIG.candidate)
        if number is not None and guess is not None and t - 2.0 >= guess_at:
            turns.guess(number, guess)
        verdict = turns.verdict(t, context)
        if verdict is not None:
            return verdict.pause, verdict.kind
    return None, None


@pytest.mark.parametrize("guess, pause, kind", [
    ("What time is it?", CONFIG.complete, "commit"),
    ("tell me a story", CONFIG.unsure, "commit"),
    ("I would like the", CONFIG.incomplete, "commit"),
    ("Stop.", 0.30, "commit"),
    (None, CONFIG.unrecognised, "commit"),
    ("", CONFIG.unsure, "commit"),
    ("Mm-hmm.", CONFIG.complete, "murmur"),
])
def test_the_pause_that_ends_a_turn_depends_on_its_words(guess, pause, kind):
    found = committed_after(guess)
    assert found[1] == kind and found[0] == pytest.approx(pause, abs=0.011)


@pytest.mark.parametrize("seconds, hum, kind", [(0.3, 0.0, "empty"), (0.6, 0.0, "commit"), (0.6, 0.9, "murmur")])
def test_a_sound_without_words_is_a_noise_a_voice_or_a_hum(seconds, hum, kind):
    turns = Turns()
    for index in range(200):
        t = index / 100
        turns.hear(t, SoundScene(t, speech=t <= seconds, onset=0.0, evidence=5.0, hum=hum if t <= seconds else 0.0))
        paused = turns.candidate(t)
        if paused is not None:
            turns.guess(paused.turn, "")
        verdict = turns.verdict(t, INTERRUPTED)
        if verdict is not None:
            break
    assert verdict.kind == kind


def test_yes_is_a_murmur_over_a_story_and_an_answer_to_a_question():
    assert committed_after("Yeah.", INTERRUPTED)[1] == "murmur"
    assert committed_after("Yeah.", Context(interrupted=True, asked=True))[1] == "commit"
    assert committed_after("Yeah.")[1] == "commit"
    assert committed_after("Mm-hmm.", Context(asked=True))[1] == "commit"


def test_the_robots_words_heard_again_are_no_turn():
    assert committed_after("in the night it counted its screws", INTERRUPTED)[1] == "echo"


def test_words_of_another_turn_are_ignored():
    turns = Turns()
    spoken(turns, 1.0, 2.0)
    for t in (2.1, 2.25):
        turns.hear(t, SoundScene(t))
        turns.candidate(t)
    turns.guess(99, "What time is it?")
    assert turns.open.guess is None


def test_a_pause_in_mid_sentence_is_not_the_end_and_its_guess_is_forgotten():
    turns = Turns()
    spoken(turns, 1.0, 2.0)
    turns.hear(2.25, SoundScene(2.25))
    first = turns.candidate(2.25).turn
    turns.guess(first, "Tell me a story.")
    spoken(turns, 2.3, 3.0)
    assert turns.verdict(3.0, Context()) is None and turns.open.guess is None
    assert turns.open.onset == 1.0
    turns.hear(3.25, SoundScene(3.25))
    assert turns.candidate(3.25).turn == first + 1


def test_words_that_were_answered_belong_to_no_later_turn():
    """Evidence that never quite went keeps its old onset; a knock over the answer must not ask the question again."""
    turns, overlap = Turns(), Overlap()
    spoken(turns, 1.0, 2.0)
    turns.close()
    knock = SoundScene(4.0, speech=True, onset=1.0, evidence=1.0, barge_in=True)
    turns.hear(4.0, knock, began=True)
    assert turns.open.onset == 2.0
    for index in range(250, 380):
        overlap.step(index / 100, SoundScene(index / 100, speech=True, onset=1.0, evidence=-1.5), 2.5)
    for index in range(380, 400):
        overlap.step(index / 100, SoundScene(index / 100, speech=True, onset=1.0, evidence=0.5), 2.5)
    assert overlap.step(4.0, knock, 2.5) == ("stop", "words") and overlap.onset == pytest.approx(3.7)


def test_somebody_who_pauses_long_is_given_more_time():
    turns = Turns()
    for begin in (0.0, 20.0, 40.0):
        spoken(turns, begin + 1.0, begin + 3.0)
        turns.hear(begin + 3.3, SoundScene(begin + 3.3))
        turns.candidate(begin + 3.3)
        spoken(turns, begin + 3.55, begin + 5.0)      # went on after 0.55 s
        turns.close()
    spoken(turns, 61.0, 62.0)
    turns.hear(62.25, SoundScene(62.25))
    turns.guess(turns.candidate(62.25).turn, "Tell me more.")
    assert turns.verdict(62.0 + CONFIG.complete + 0.02, Context()) is None
    assert turns.verdict(62.0 + CONFIG.unsure + 0.01, Context()).kind == "commit"


def test_a_voice_that_begins_in_a_gap_between_two_clauses_takes_the_floor():
    """The ears do not call it a barge-in: nothing plays."""
    began = {"speech": True, "onset": 1.9, "hum": 0.1, "heard": (Heard(2.0, "speech_start", 1.9),)}
    assert over((1.9, {}), (2.0, began)) == [None, "stop"]


def over(*steps):
    """Verdicts of an overlap fed with (t, fields of the scene)."""
    overlap = Overlap()
    return [overlap.step(t, SoundScene(t, **scene), 0.0)[0] for t, scene in steps]


def test_words_stop_the_robot_when_they_are_confirmed():
    assert over((1.0, {}), (1.1, {"duck": True, "onset": 1.0}),
                (1.25, {"barge_in": True, "speech": True, "onset": 1.0, "hum": 0.1})) == [None, "duck", "stop"]


def test_a_young_hum_is_waited_for_and_let_go_when_it_ends():
    hum = {"speech": True, "onset": 1.0, "hum": 0.9}
    assert over((1.25, {"barge_in": True, **hum}), (1.4, hum), (1.55, hum), (1.6, {}), (1.61, {})) == [
        "duck", "duck", "duck", "ask", None]


def test_words_before_the_reply_do_not_stop_it_unless_they_go_on():
    overlap = Overlap()
    old = {"speech": True, "onset": 0.5, "evidence": 4.0}
    verdicts = [overlap.step(t, SoundScene(t, barge_in=t == 1.1, **old), 1.0)[0] for t in (1.01, 1.1, 1.5)]
    assert verdicts == [None, None, None]
    assert overlap.step(1.71, SoundScene(1.71, **old), 1.0) == ("stop", "goes on")
    assert Overlap().step(1.71, SoundScene(1.71, **{**old, "evidence": 0.0}), 1.0)[0] is None


def test_evidence_that_rose_with_the_reply_lowers_it_before_it_stops_it():
    """Its own voice before the canceller has learned it looks like the person who has just spoken (F02)."""
    def verdicts(until):
        overlap, told = Overlap(), []
        for index in range(1, 40):
            t = 1.0 + 0.05 * index
            evidence = -3.0 if t < 1.08 else 4.0 if t < until else 1.0
            scene = SoundScene(t, speech=True, onset=0.5, evidence=evidence, barge_in=index == 6)
            told.append(overlap.step(t, scene, 1.0)[0])
        return told
    assert "stop" not in verdicts(2.0) and "duck" in verdicts(2.0)
    assert verdicts(9.0).index("stop") == 23                           # who goes on is let in 1.2 s after its start


def test_a_hum_that_turns_into_words_or_goes_on_stops():
    hum = {"speech": True, "onset": 1.0, "hum": 0.9}
    assert over((1.25, {"barge_in": True, **hum}), (1.5, {**hum, "hum": 0.1})) == ["duck", "stop"]
    assert over((1.25, {"barge_in": True, **hum}), (3.25, hum)) == ["duck", "stop"]
    assert over((1.25, {"barge_in": True, **hum}), (3.25, {**hum, "evidence": -2.0})) == ["duck", "duck"]


def test_a_refuted_duck_is_released():
    assert over((1.0, {"duck": True}), (1.3, {"release": True})) == ["duck", None]
