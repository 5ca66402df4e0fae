"""What an engine may ask the robot to do: declared once, offered to every server in JSON Schema, and checked here.

The mind does what the body does (`dialogue/doing.py`); what needs the memory or the voice is done in the engine's
process (`remembering.py`), once the mind has said GRANTED.
"""
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Arguments = tuple[tuple[str, str], ...]
GRANTED = "granted"     # result of a call that the mind allows and that the engine's own process carries out


@dataclass(frozen=True, slots=True)
class Argument:
    """kind: JSON Schema's type. choices: of a string; between: of a number. longest: letters of a string."""

    kind: str
    about: str
    choices: tuple[str, ...] = ()
    between: tuple[float, float] | None = None
    longest: int = 200


@dataclass(frozen=True, slots=True)
class Tool:
    """One of `arguments` that are not `needed` may be missing. by: who carries it out.

    one_of: at least one of these must be there. own_voice: only for engines that speak with the voice of this machine.
    """

    name: str
    about: str
    arguments: Mapping[str, Argument]
    needed: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    by: str = "mind"
    own_voice: bool = False


TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (
    Tool("gesture", "Make a small movement of the head.",
         {"name": Argument("string", "which one", ("nod", "shake", "tilt"))}, ("name",)),
    Tool("look_at", "Turn to a person who is there, or in a direction. Without arguments: to who speaks.", {
        "person": Argument("string", "id of a person who is there"),
        "azimuth_deg": Argument("number", "degrees to the robot's left, 0 is straight ahead", between=(-180.0, 180.0)),
    }),
    Tool("who_is_there", "Who is there and where; and what the person who speaks has told you before.", {}),
    Tool("remember", "Remember for good what the person who speaks tells about themselves, in their own words, or "
                     "their name. Only when they want that.", {
        "fact": Argument("string", "a sentence, like: my sister lives in Rome"),
        "about": Argument("string", "what the fact is the value of, like: favorite color"),
        "name": Argument("string", "the person's name", longest=40),
        "again": Argument("string", "have they met you before? only after you asked them", ("yes", "no")),
    }, one_of=("fact", "name"), by="memory"),
    Tool("forget", "Forget what the person who speaks told you; without arguments all of it, and their name.", {
        "fact": Argument("string", "words of the fact"),
        "whose": Argument("string", "everybody: all that anybody told; ask before whether they are sure",
                          ("person", "everybody")),
    }, by="memory"),
    Tool("set_volume", "Speak louder or lower from now on.", {
        "percent": Argument("number", "0 is silent, 100 the loudest", between=(0.0, 100.0)),
        "change": Argument("number", "so many percent louder, below 0: lower", between=(-100.0, 100.0)),
    }, one_of=("percent", "change")),
    Tool("sleep", "Lie down and rest after this answer, until somebody says: wake up.", {}),
    Tool("speak", "Speak in another way from now on.", {
        "pace": Argument("string", "how fast", ("slower", "normal", "faster")),
        "length": Argument("string", "of answers", ("brief", "normal")),
        "persona": Argument("string", "name of a persona", longest=40),
    }, one_of=("pace", "length", "persona"), by="voice", own_voice=True),
)}


class BadCall(ValueError):
    """A call that cannot be obeyed; the text is for the engine that made it."""


def offered(own_voice: bool) -> list[Tool]:
    """The tools for a server. own_voice: its words are spoken by the voice of this machine."""
    return [tool for tool in TOOLS.values() if own_voice or not tool.own_voice]


def function_schema(tool: Tool) -> dict[str, Any]:
    """name, description, parameters, as OpenAI's function tools have them."""
    properties: dict[str, dict[str, Any]] = {}
    for name, argument in tool.arguments.items():
        properties[name] = {"type": argument.kind, "description": argument.about}
        if argument.choices:
            properties[name]["enum"] = list(argument.choices)
        if argument.between is not None:
            properties[name] |= {"minimum": argument.between[0], "maximum": argument.between[1]}
    return {"name": tool.name, "description": tool.about, "parameters": {
        "type": "object", "properties": properties, "required": list(tool.needed), "additionalProperties": False}}


def checked_call(name: str, text: str) -> Arguments:
    """The arguments of a call, from the JSON text of a model. BadCall says what is wrong."""
    try:
        given = json.loads(text or "{}")
    except ValueError as error:
        raise BadCall(f"arguments of {name}: {error}, expected a JSON object") from error
    if not isinstance(given, dict):
        raise BadCall(f"arguments of {name}: {text}, expected a JSON object")
    return checked(name, given)


def checked(name: str, given: Mapping[str, Any]) -> Arguments:
    """The arguments of a call as texts. BadCall says what is wrong."""
    tool = TOOLS.get(name)
    if tool is None:
        raise BadCall(f"no tool {name!r}, expected one of: {', '.join(TOOLS)}")
    given = {key: value for key, value in given.items() if value is not None}
    unknown, missing = set(given) - set(tool.arguments), set(tool.needed) - set(given)
    if unknown or missing or (tool.one_of and not set(tool.one_of) & set(given)):
        needed = ", ".join(tool.needed) or " or ".join(tool.one_of) or "none"
        raise BadCall(f"arguments of {name}: {', '.join(sorted(unknown | missing)) or 'none'}; expected "
                      f"{', '.join(tool.arguments) or 'none'}, needed {needed}")
    return tuple((key, _checked(f"{name}.{key}", tool.arguments[key], value)) for key, value in given.items())


def _checked(place: str, argument: Argument, value: Any) -> str:
    if argument.kind == "number":
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise BadCall(f"{place}: {value!r}, expected a number") from None
        low, high = argument.between or (-math.inf, math.inf)
        if not low <= number <= high:
            raise BadCall(f"{place}: {number}, expected {low} to {high}")
        return repr(number)
    if not isinstance(value, str) or (argument.choices and value not in argument.choices):
        raise BadCall(f"{place}: {value!r}, expected {' or '.join(argument.choices) or 'a text'}")
    if not value.strip() or len(value) > argument.longest:
        raise BadCall(f"{place}: {len(value)} letters, expected 1 to {argument.longest}")
    return value
