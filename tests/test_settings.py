"""Settings are strict and say what was meant."""
from dataclasses import dataclass
from typing import Literal

import pytest

from robot.errors import BadRequest
from robot.settings import filled


@dataclass(frozen=True)
class Inner:
    rt60_s: float = 0.4
    kind: Literal["line", "circle"] = "line"


@dataclass(frozen=True)
class Outer:
    seed: int = 1
    name: str | None = None
    room: Inner = Inner()
    size_m: tuple[float, float, float] = (5.0, 4.0, 2.5)


def test_values_go_over_defaults():
    out = filled(Outer, {"seed": 3, "room": {"rt60_s": 1}, "size_m": [4, 3, 2.4]}, "f.toml")
    assert out == Outer(3, None, Inner(1.0), (4.0, 3.0, 2.4))


@pytest.mark.parametrize(("values", "said"), [
    ({"sead": 1}, "f.toml: unknown key 'sead', did you mean 'seed'?"),
    ({"zzz": 1}, "expected one of: name, room, seed, size_m"),
    ({"seed": "x"}, "f.toml.seed: 'x', expected a whole number"),
    ({"seed": True}, "expected a whole number"),
    ({"room": 3}, "f.toml.room: 3, expected a section"),
    ({"room": {"rt60_s": float("nan")}}, "f.toml.room.rt60_s: nan, expected a finite number"),
    ({"room": {"kind": "ring"}}, "expected one of: line, circle"),
    ({"size_m": [1, 2]}, "f.toml.size_m: 2 values, expected 3"),
])
def test_what_is_wrong_is_named_with_its_place(values, said):
    with pytest.raises(BadRequest) as error:
        filled(Outer, values, "f.toml")
    assert said in str(error.value)
