"""The settings as text for people: every key explained, and the file that an installation begins with."""
import textwrap
from collections.abc import Iterator

from robot.config_keys import Key, keys_of, sections_of, toml
from robot.live_config import END, MARK, VERSION, LiveConfig

WIDTH = 110
INNER = ("mind", "room")       # last: thresholds of the stages and of the simulated room, nobody's everyday settings

HEADER = f"""\
{MARK}
# Settings of talkover. Every key stands here with its default, commented out: remove the `#` of those that you change.
# A key that is not set keeps the default of the installed version, also after an upgrade.
# Over this file go environment variables (TALKOVER_SECTION_KEY) and systemd credentials (talkover_section_key, for keys
# of services). Check it with: talkover config --check FILE. Apply it with: systemctl reload talkover (what can be
# changed while the robot runs) or systemctl restart talkover.
version = {VERSION}
"""


def ordered() -> Iterator[tuple[str, str, list[Key]]]:
    """(section, what it is about, its own keys), everyday ones first."""
    config = LiveConfig()
    keys = list(keys_of(config))
    sections = list(sections_of(config))
    for section, about in sorted(sections, key=lambda found: found[0][0] in INNER):     # keeps the order otherwise
        yield ".".join(section), about, [key for key in keys if key.section == section]


def explained(wanted: str = "") -> str:
    """Every key with what it may be, its default and its unit and reason. wanted: a section or a key, "" for all."""
    lines = []
    for section, about, keys in ordered():
        shown = [key for key in keys if not wanted or f"{key.name}.".startswith(f"{wanted}.")]
        if not shown:
            continue
        lines += [f"[{section}]", *_wrapped(about, "    "), ""]
        for key in shown:
            default = "unset" if key.default is None else toml(key.default)
            lines += [f"{key.name} = {_short(default)}", *_wrapped(f"({key.kind}) {key.reason}", "    ")]
        lines.append("")
    return "\n".join(lines)


def default_file() -> str:
    """The commented file; read back it gives the defaults."""
    lines = [HEADER]
    for section, about, keys in ordered():
        lines += [f"[{section}]", *_wrapped(about, "# ")]
        for key in keys:
            setting = f"# {key.path[-1]} =" + ("" if key.default is None else f" {toml(key.default)}")
            lines += ["", *_wrapped(f"({key.kind}) {key.reason}", "#     "), setting]
        lines.append("")
    return "\n".join([*lines, END, ""])


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[:WIDTH]} ..."


def _wrapped(text: str, indent: str) -> list[str]:
    return [line for paragraph in text.split("\n\n")
            for line in textwrap.wrap(paragraph, WIDTH, initial_indent=indent, subsequent_indent=indent)]
