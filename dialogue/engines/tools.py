"""What an engine may ask the robot to do: declared once, offered to every server in JSON Schema, and checked here."""
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Arguments = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """kind: JSON Schema's type. choices: of a string; between: of a number."""

    kind: str
    about: str
    choices: tuple[str, ...] = ()
    between: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """One of `arguments` that are not `needed` may be missing."""

    name: str
    about: str
    arguments: Mapping[str, Argument]
    needed: tuple[str, ...] = ()


TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (
    Tool("gesture", "Make a small movement of the head.",
         {"name": Argument("string", "which one", ("nod", "shake", "tilt"))}, ("name",)),
    Tool("look_at", "Turn to a person who is there, or in a direction. Without arguments: to who speaks.", {
        "person": Argument("string", "id of a person who is there"),
        "azimuth_deg": Argument("number", "degrees to the robot's left, 0 is straight ahead", between=(-180.0, 180.0)),
    }),
)}


class BadCall(ValueError):
    """A call that cannot be obeyed; the text is for the engine that made it."""


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
    tool = TOOLS.get(name)
    if tool is None:
        raise BadCall(f"no tool {name!r}, expected one of: {', '.join(TOOLS)}")
    try:
        given = json.loads(text or "{}")
    except ValueError as error:
        raise BadCall(f"arguments of {name}: {error}, expected a JSON object") from error
    if not isinstance(given, dict):
        raise BadCall(f"arguments of {name}: {text}, expected a JSON object")
    unknown, missing = set(given) - set(tool.arguments), set(tool.needed) - set(given)
    if unknown or missing:
        raise BadCall(f"arguments of {name}: {', '.join(sorted(unknown | missing))}; expected "
                      f"{', '.join(tool.arguments) or 'none'}, needed {', '.join(tool.needed) or 'none'}")
    return tuple((key, _checked(f"{name}.{key}", tool.arguments[key], value)) for key, value in given.items()
                 if value is not None)


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
    return value
