"""Whose turn it was."""
import pytest

from dialogue.engine import Commit
from dialogue.speakers import KEPT, Speakers
from perception.people import Person
from tests.dialogue_bench import Said, Talk


def person(name, speaking=False, azimuth=0.0, t=0.0):
    return Person(name, azimuth, 0.0, 1.0, t if speaking else None, t, 1.0, speaking)


def told(*who):
    """Speakers after 10 ms each."""
    speakers = Speakers()
    for index, name in enumerate(who):
        speakers.step(0.01 * (index + 1), () if name is None else (person(name, True),))
    return speakers


def test_the_longest_voice_of_the_turn_counts():
    speakers = told(*["bo"] * 60, None, *["anna"] * 40, *["bo"] * 30)
    both = person("anna"), person("bo")
    assert speakers.between(0.0, 1.0, both) == "bo" and speakers.between(0.6, 1.1, both) == "anna"
    assert speakers.between(0.0, 1.0, both[:1]) == "anna"              # who has left, or turned out to be another
    assert speakers.between(5.0, 6.0, both) is None and speakers.between(0.0, 1.0, ()) is None


def test_it_stays_small():
    speakers = told(*["anna", "bo"] * 500)
    assert len(speakers._stretches) == KEPT


def test_a_yeah_of_somebody_else_at_the_end_does_not_take_the_turn():
    def people(t):
        mine, theirs = 0.5 < t < 1.9, 1.9 <= t < 2.4
        return person("anna", mine, 0.3, t), person("bo", theirs, -0.6, t)

    talk = Talk((Said(0.5, 2.35, "tell me a story."),), people=people).run(2.4)
    assert talk.dialogue.attention.look.person == "bo"
    assert [commit.person for commit in talk.run(5.0).asked(Commit)] == ["anna"]


def two(looks, other=True):
    """Anna speaks and looks at the robot so much (of t); bo is there and silent."""
    def people(t):
        speaks = 0.5 < t < 1.9 or 4.6 < t < 6.0
        anna = Person("anna", 0.3, 0.0, 1.0, t if speaks else None, t, looks(t), speaks)
        return (anna, person("bo", False, -0.6, t)) if other else (anna,)
    return people


@pytest.mark.parametrize("looks, other, words, commits", [
    (0.1, True, "it is late.", 0), (0.9, True, "it is late.", 1), (0.1, False, "it is late.", 1),
    (0.1, True, "robot, it is late.", 1), (0.1, True, "stop.", 1)])
def test_what_is_said_to_somebody_else_is_no_turn(looks, other, words, commits):
    talk = Talk((Said(0.5, 1.8, words),), people=two(lambda t: looks, other)).run(4.0)
    assert len(talk.asked(Commit)) == commits
    assert [dict(e.facts)["kind"] for e in talk.events("turn_dropped")] == ["aside"] * (1 - commits)


def test_a_word_to_somebody_else_over_the_story_gives_the_story_back():
    talk = Talk((Said(0.5, 1.8, "tell me a story."), Said(4.6, 5.6, "it is late.")),
                people=two(lambda t: 1.0 if t < 3.0 else 0.0)).run(16.0)
    assert len(talk.asked(Commit)) == 1 and talk.events("reply_resumed")
    assert talk.robot_said.endswith("counted its screws.")


def test_who_answers_the_robots_question_may_look_elsewhere():
    talk = Talk((Said(0.5, 1.8, "how are you?"), Said(4.6, 5.6, "it is late.")),
                people=two(lambda t: 1.0 if t < 3.0 else 0.0)).run(8.0)
    assert len(talk.asked(Commit)) == 2
