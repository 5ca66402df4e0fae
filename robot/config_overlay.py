"""Settings from the environment and from systemd's credentials, over those of the file.

TALKOVER_SECTION_KEY (all sections, then the key, in capitals: TALKOVER_SERVO_BUS_DEVICE) and a file
talkover_SECTION_KEY in $CREDENTIALS_DIRECTORY (in lower case; man 5 systemd.exec, LoadCredential) each set one key.
A credential goes before the environment, the environment before the file. A credential that some `key_from` names is a
key of a service, no setting.
"""
import copy
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from robot.config_keys import Key
from robot.errors import BadRequest
from robot.settings import checked, nearest

PREFIX = "TALKOVER_"


def overlaid(values: Mapping[str, Any], keys: Iterable[Key], environment: Mapping[str, str]) -> dict[str, Any]:
    """`values` of a file, with what environment and credentials set. BadRequest names the variable or the file."""
    known = {"_".join(key.path).upper(): key for key in keys}
    result: dict[str, Any] = copy.deepcopy(dict(values))
    for name, text, place in (*_variables(environment), *_credentials(environment)):
        if name not in known:
            if name in _names_of_secrets(result, known.values()):
                continue
            raise BadRequest(f"{place}: sets no known key, {_near(name, known)}")
        key = known[name]
        section = result
        for part in key.section:
            section = section.setdefault(part, {})
            if not isinstance(section, dict):
                raise BadRequest(f"{place}: {part} in the file is no section")
        section[key.path[-1]] = checked(key.hint, _value(key.hint, text), place)
    return result


def _names_of_secrets(values: Mapping[str, Any], keys: Iterable[Key]) -> set[str]:
    """What the `key_from` of each section is set to, or is by default."""
    sections = ((key, values.get(key.path[0], {})) for key in keys if key.path[-1] == "key_from" and len(key.path) == 2)
    return {str(section.get("key_from", key.default)).upper() for key, section in sections if isinstance(section, dict)}


def _variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name in sorted(environment):
        if name.startswith(PREFIX):
            yield name[len(PREFIX):], environment[name], f"environment variable {name}"


def _credentials(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    folder = environment.get("CREDENTIALS_DIRECTORY")
    if not folder:
        return
    path = Path(folder)
    try:
        for path in sorted(found for found in Path(folder).iterdir() if found.name.startswith(PREFIX.lower())):
            yield path.name[len(PREFIX):].upper(), path.read_text(encoding="utf-8").rstrip("\r\n"), str(path)
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"{path}: {error}, expected credentials as readable texts") from error


def _near(name: str, known: Iterable[str]) -> str:
    """The nearest key alone: there are hundreds."""
    word = nearest(name, known)
    return word if word.startswith("did you") else "expected a key of: talkover config --explain"


def _value(hint: Any, text: str) -> Any:
    """Text stays text where a text is expected; else it is read as TOML."""
    if hint is str:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
