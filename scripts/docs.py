"""`make docs`: writes the generated part of docs/configuration.md anew."""
from pathlib import Path

from robot.config_text import explained

EVERYDAY = ("run", "log", "box", "sound", "camera")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
BEGIN, END = "<!-- generated -->\n", "<!-- end -->\n"


def renewed(page: str) -> str:
    """The page with its generated part as the program would write it now."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return before + BEGIN + "\n```\n" + "\n".join(explained(section) for section in EVERYDAY) + "```\n" + END + after


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
