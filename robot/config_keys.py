"""Every key of a config and what its source says about it.

A key is explained by the comment behind it (with the comment lines that go on below), by comment lines right above it,
or by `name: ...` in the docstring of its class.
"""
import ast
import dataclasses
import functools
import inspect
import io
import json
import re
import sys
import tokenize
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

UNITS = {"s": "s", "m": "m", "hz": "Hz", "db": "dB", "dbfs": "dBFS", "ppm": "ppm", "rad": "rad", "deg": "deg",
         "c": "deg C", "v": "V", "px": "pixels", "fps": "1/s", "ms": "ms", "mb": "MB", "bytes": "bytes",
         "ticks": "ticks", "blocks": "blocks of 10 ms"}
KINDS = {int: "whole number", float: "number", str: "text", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. path: sections from outside to inside, then the name."""

    path: tuple[str, ...]
    hint: Any                 # its type
    default: Any
    owner: type               # the dataclass that it is a field of

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def section(self) -> tuple[str, ...]:
        return self.path[:-1]

    @property
    def kind(self) -> str:
        """What it may be, in words, with the unit that its name ends with."""
        first, _, last = self.path[-1].rpartition("_")
        unit = UNITS.get(last, "") if first else ""
        return kind_of(self.hint) + (f", {unit}" if unit else "")

    @property
    def reason(self) -> str:
        """Unit and why, from the source; "" where it says nothing."""
        return explanations(self.owner)[self.path[-1]]


def keys_of(config: Any, path: tuple[str, ...] = ()) -> Iterator[Key]:
    """All keys of a config dataclass with its values as the defaults, in order; sections after a section's own keys."""
    hints = typing.get_type_hints(type(config))
    inner = []
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            inner.append((field.name, value))
        else:
            yield Key((*path, field.name), hints[field.name], value, type(config))
    for name, value in inner:
        yield from keys_of(value, (*path, name))


def sections_of(config: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """All sections with what they are about, outer ones first."""
    if path:
        yield path, inspect.cleandoc(type(config).__doc__ or "")
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            yield from sections_of(value, (*path, field.name))


@functools.cache
def _read(module: str) -> tuple[ast.Module, dict[int, tokenize.TokenInfo], list[str]]:
    """A module's source: its tree, its comments by line, its lines."""
    source = inspect.getsource(sys.modules[module])
    comments = {token.start[0]: token for token in tokenize.generate_tokens(io.StringIO(source).readline)
                if token.type == tokenize.COMMENT}
    return ast.parse(source), comments, source.splitlines()


def explanations(cls: type) -> dict[str, str]:
    """What the source says about each field of a dataclass."""
    tree, comments, lines = _read(cls.__module__)
    body = next(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == cls.__name__)
    said = {field.name: _in_docstring(field.name, cls.__doc__ or "")
            for field in dataclasses.fields(cls)}      # type: ignore[arg-type]
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            said[name] = _behind(node, comments, lines) or _above(node, comments, lines) or said.get(name, "")
    return said


def _alone(line: int, comments: dict[int, tokenize.TokenInfo], lines: list[str]) -> bool:
    return line in comments and lines[line - 1].lstrip().startswith("#")


def _behind(node: ast.AnnAssign, comments: dict[int, tokenize.TokenInfo], lines: list[str]) -> str:
    assert node.end_lineno is not None
    words = [comments[line].string for line in range(node.lineno, node.end_lineno + 1) if line in comments]
    line = node.end_lineno + 1
    while words and _alone(line, comments, lines) and comments[line].start[1] > node.col_offset:
        words.append(comments[line].string)
        line += 1
    return _joined(words)


def _above(node: ast.AnnAssign, comments: dict[int, tokenize.TokenInfo], lines: list[str]) -> str:
    words: list[str] = []
    line = node.lineno - 1
    while _alone(line, comments, lines) and comments[line].start[1] == node.col_offset:
        words.insert(0, comments[line].string)
        line -= 1
    return _joined(words)


def _joined(comments: list[str]) -> str:
    return " ".join(comment.lstrip("# ").rstrip() for comment in comments)


def _in_docstring(name: str, docstring: str) -> str:
    found = re.search(rf"\b{name}: (.*?)(?:\.(?:\s|$)|$)", " ".join(docstring.split()))
    return found.group(1) if found else ""


def kind_of(hint: Any) -> str:
    """A type in words."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return f"{kind_of(next(i for i in inner if i is not type(None)))} or unset"
    if origin is typing.Literal:
        return " | ".join(map(str, inner))
    if origin is tuple:
        return "list" if inner[-1] is Ellipsis else f"list of {len(inner)}"
    return KINDS.get(hint, getattr(hint, "__name__", str(hint)))


def toml(value: Any) -> str:
    """A default as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple | list):
        return f"[{', '.join(toml(item) for item in value)}]"
    return repr(float(value) if isinstance(value, float) else value)       # numpy's floats have a repr of their own
