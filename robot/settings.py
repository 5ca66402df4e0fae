"""Fills frozen config dataclasses from plain mappings (TOML, YAML, `--set key=value`), strictly."""
import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from robot.errors import BadRequest

T = TypeVar("T")


def filled(cls: type[T], values: Mapping[str, Any], place: str, base: T | None = None) -> T:
    """An instance of dataclass `cls` with `values` over its defaults. place: names the file and section in errors.

    base: takes the place of the defaults of `cls`; a section inside another starts from the outer one's default.
    """
    hints = typing.get_type_hints(cls)
    known = {f.name: hints[f.name] for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    inner = _inner_defaults(cls) if base is None else base
    given = {}
    for key, value in values.items():
        if key not in known:
            raise BadRequest(f"{place}: unknown key {key!r}, {nearest(key, known)}")
        given[key] = checked(known[key], value, f"{place}.{key}", getattr(inner, key, None))
    try:
        return cls(**given) if base is None else dataclasses.replace(base, **given)  # type: ignore[type-var]
    except ValueError as error:
        raise BadRequest(f"{place}: {error}") from error


def nearest(word: str, known: typing.Iterable[str]) -> str:
    """What was probably meant, for an error message."""
    known = sorted(known)
    close = difflib.get_close_matches(word, known, 1, 0.5)
    return f"did you mean {close[0]!r}?" if close else f"expected one of: {', '.join(known)}"


def _inner_defaults(cls: type) -> types.SimpleNamespace:
    """The default sections inside a section."""
    return types.SimpleNamespace(**{
        f.name: made for f in dataclasses.fields(cls)
        if f.default_factory is not dataclasses.MISSING and dataclasses.is_dataclass(made := f.default_factory())})


def checked(hint: Any, value: Any, place: str, base: Any = None) -> Any:
    """`value` if it is what the type `hint` allows; BadRequest names `place`. base: default of a section."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in inner:
            return None
        return checked(next(i for i in inner if i is not type(None)), value, place, base)
    if origin is typing.Literal:
        if value not in inner:
            raise BadRequest(f"{place}: {value!r}, expected one of: {', '.join(map(str, inner))}")
        return value
    if origin is tuple:
        return _checked_tuple(inner, value, place)
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, Mapping):
            raise BadRequest(f"{place}: {value!r}, expected a section")
        return filled(hint, value, place, base if dataclasses.is_dataclass(base) else None)  # type: ignore[arg-type]
    return _checked_scalar(hint, value, place)


def _checked_tuple(inner: tuple, value: Any, place: str) -> tuple:
    if not isinstance(value, list | tuple):
        raise BadRequest(f"{place}: {value!r}, expected a list")
    kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else list(inner)
    if len(kinds) != len(value):
        raise BadRequest(f"{place}: {len(value)} values, expected {len(kinds)}")
    return tuple(checked(kind, item, f"{place}[{i}]") for i, (kind, item) in enumerate(zip(kinds, value, strict=True)))


def _checked_scalar(hint: Any, value: Any, place: str) -> Any:
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if hint in (int, float, str, bool) and type(value) is not hint:
        raise BadRequest(f"{place}: {value!r}, expected {_WORDS[hint]}")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadRequest(f"{place}: {value!r}, expected a finite number")
    return value


_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
