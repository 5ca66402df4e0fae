"""YAML whose every value knows its line, so that what is wrong can be pointed at.

Values are asked for one by one with what they must be; whatever they are not is a BadRequest that names file, line,
place and expectation. Nothing of YAML beyond words, numbers, texts, lists and mappings gets through.
"""
import math
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from robot.errors import BadRequest
from robot.settings import nearest

LARGEST_FILE = 1 << 20  # bytes; a scenario has a few thousand, a device file or a recording has no end
_KINDS = {"null": "nothing", "bool": "a truth value", "int": "a number", "float": "a number", "str": "a text",
          "seq": "a list", "map": "a mapping", "timestamp": "a date"}


def read_yaml(path: Path) -> "Marked":
    """The whole of a YAML file as one marked value."""
    try:
        if path.is_file() and path.stat().st_size > LARGEST_FILE:
            raise BadRequest(f"{path}: expected a scenario of at most {LARGEST_FILE} bytes")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BadRequest(f"{path}: cannot be read ({error.strerror}); expected a scenario in YAML") from error
    except UnicodeDecodeError as error:
        raise BadRequest(f"{path}: byte {error.start}: expected UTF-8 text") from error
    return marked_text(text, str(path))


def marked_text(text: str, file: str) -> "Marked":
    """The value that a YAML text stands for; `file` names it in errors."""
    loader = None
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}:{mark.line + 1}" if mark else file
        what = ": ".join(filter(None, (error.context, error.problem)))
        raise BadRequest(f"{where}: malformed YAML: {what}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadRequest(f"{file}:{line}: malformed YAML: {error.reason}") from error
    except RecursionError as error:
        raise BadRequest(f"{file}: malformed YAML: nested too deep") from error
    finally:
        if loader is not None:
            loader.dispose()
    if node is None:
        raise BadRequest(f"{file}:1: expected a scenario, found an empty file")
    return Marked(file, text, node)


@dataclass(frozen=True, slots=True)
class Marked:
    """One value of a YAML file. name: its place, as `timeline[2].anna.says`."""

    file: str
    text: str
    node: yaml.Node
    name: str = ""

    @property
    def line(self) -> int:
        return self.node.start_mark.line + 1

    @property
    def source(self) -> str:
        """The value as it is written, in one line."""
        return " ".join(self.text[self.node.start_mark.index:self.node.end_mark.index].split())

    @property
    def kind(self) -> str:
        """`null`, `bool`, `int`, `float`, `str`, `seq`, `map` or another tag's last word."""
        return self.node.tag.rsplit(":", 1)[-1]

    def wrong(self, text: str) -> BadRequest:
        """The error to raise: `text` after file, line and place."""
        return BadRequest(f"{self.file}:{self.line}: {self.name + ': ' if self.name else ''}{text}")

    def expected(self, what: str) -> BadRequest:
        shown = self.source if len(self.source) <= 40 else self.source[:37] + "..."
        found = _KINDS.get(self.kind, f"a {self.kind}")
        return self.wrong(f"expected {what}, found {found}" + (f" ({shown})" if shown and self.kind != "map" else ""))

    def entries(self) -> dict[str, "Marked"]:
        """The entries of a mapping; a key that comes twice or is no word is refused."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.expected("a mapping")
        found: dict[str, Marked] = {}
        for key_node, value in self.node.value:
            key = Marked(self.file, self.text, key_node, self.name)
            if not isinstance(key_node, yaml.ScalarNode) or key.kind != "str":
                raise key.expected("a word before the colon")
            if key_node.value in found:
                raise key.wrong(f"'{key_node.value}' comes twice")
            place = f"{self.name}.{key_node.value}" if self.name else key_node.value
            found[key_node.value] = Marked(self.file, self.text, value, place)
        return found

    def words(self, known: Iterable[str], needed: Iterable[str] = ()) -> dict[str, "Marked"]:
        """The entries of a mapping whose keys must be among `known`; all of `needed` must be there."""
        known, found = set(known), self.entries()
        for word in found:
            if word not in known:
                raise self.key_of(word).wrong(f"unknown word '{word}'; {nearest(word, known)}")
        for word in needed:
            if word not in found:
                raise self.wrong(f"'{word}' is missing")
        return found

    def key_of(self, word: str) -> "Marked":
        """The key itself, for errors about it."""
        assert isinstance(self.node, yaml.MappingNode)
        key = next(key for key, _ in self.node.value if key.value == word)
        return Marked(self.file, self.text, key, self.name)

    def items(self) -> list["Marked"]:
        """The items of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.expected("a list")
        return [Marked(self.file, self.text, item, f"{self.name}[{i}]") for i, item in enumerate(self.node.value, 1)]

    def number(self, low: float = -sys.float_info.max, high: float = sys.float_info.max, unit: str = "") -> float:
        """A finite number in [low, high]."""
        what = f"a number of {low:g} to {high:g} {unit}".rstrip() if high < sys.float_info.max else "a finite number"
        value = self._plain()
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.expected(what)
        if (isinstance(value, float) and not math.isfinite(value)) or not low <= value <= high:
            raise self.expected(what)
        return float(value)

    def count(self, low: int, high: int) -> int:
        """A whole number in [low, high]."""
        value = self._plain()
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.expected(f"a whole number of {low} to {high}")
        return value

    def words_said(self) -> str:
        """A text that is not empty."""
        value = self._plain()
        if not isinstance(value, str) or not value.strip():
            raise self.expected("a text (in quotes)")
        return value

    def one_of(self, known: Iterable[str]) -> str:
        known = list(known)
        value = self._plain()
        if not isinstance(value, str):
            raise self.expected("one of " + ", ".join(sorted(known)))
        if value not in known:
            raise self.wrong(f"unknown word '{value}'; {nearest(value, known)}")
        return value

    def true(self) -> bool:
        """`true` or nothing: a word that stands for itself."""
        if self._plain() not in (True, None) or self.kind not in ("bool", "null"):
            raise self.expected("true (or nothing) after the colon")
        return True

    def pattern(self) -> re.Pattern[str]:
        """A regular expression, matched anywhere and in either case."""
        text = self.words_said()
        try:
            return re.compile(text, re.IGNORECASE)
        except (re.error, OverflowError, RecursionError) as error:
            raise self.wrong(f"expected a regular expression ({error})") from error

    def _plain(self) -> Any:
        if not isinstance(self.node, yaml.ScalarNode):
            return self.node
        construct: dict[str, Callable[[Any], Any]] = {
            "null": _LOADER.construct_yaml_null, "bool": _LOADER.construct_yaml_bool,
            "int": _LOADER.construct_yaml_int, "float": _LOADER.construct_yaml_float,
            "str": _LOADER.construct_yaml_str}
        if self.kind not in construct or not self.node.tag.startswith("tag:yaml.org,2002:"):
            return self.node
        try:
            return construct[self.kind](self.node)
        except (ValueError, OverflowError, IndexError, KeyError):  # such as `!!int abc`
            return self.node


_LOADER = yaml.SafeLoader("")
