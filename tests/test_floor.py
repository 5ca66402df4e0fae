"""The floor: its table is closed, every state can be reached and left, what cannot happen is named."""
from typing import get_args

import pytest

from dialogue.floor import PERSON_SOUNDS, ROBOT_SOUNDS, TABLE, Floor, FloorError, Happening, State, after


def test_every_state_has_a_row_and_every_step_leads_to_one():
    assert set(TABLE) == set(get_args(State))
    assert {follower for row in TABLE.values() for follower in row.values()} <= set(TABLE)
    assert {happening for row in TABLE.values() for happening in row} == set(get_args(Happening))


def test_every_state_can_be_reached_from_idle_and_leads_back_to_it():
    def reached(start):
        found, todo = {start}, [start]
        while todo:
            for follower in TABLE[todo.pop()].values():
                if follower not in found:
                    found.add(follower)
                    todo.append(follower)
        return found

    assert all(reached(state) == set(TABLE) for state in TABLE)


@pytest.mark.parametrize("life, end", [
    ("voice commit start end", "idle"),
    ("voice commit start duck release end", "idle"),
    ("voice commit start duck stop commit start", "robot_speaking"),
    ("voice commit start stop resume start end", "idle"),
    ("voice commit voice commit start", "robot_speaking"),
    ("voice commit voice drop start", "robot_speaking"),
    ("voice drop", "idle"),
    ("prompt start end", "idle"),
])
def test_lives(life, end):
    floor = Floor()
    for happening in life.split():
        floor.happen(happening)
    assert floor.state == end


def test_the_robot_never_starts_while_a_person_has_the_floor():
    assert all("start" not in TABLE[state] for state in PERSON_SOUNDS)
    assert PERSON_SOUNDS.isdisjoint(ROBOT_SOUNDS)


def test_what_cannot_happen_is_refused_by_name():
    with pytest.raises(FloorError, match=r"'idle': 'stop' cannot happen, expected prompt, voice"):
        after("idle", "stop")
