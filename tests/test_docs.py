"""The pages for people: what is marked runnable runs, settings in them are accepted, reasons in them exist."""
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from robot.__main__ import COMMANDS, LATER
from robot.live_config import read_live_config
from scripts.docs import renewed

PROJECT = Path(__file__).resolve().parents[1]
PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted((PROJECT / "docs").glob("*.md"))}
BLOCK = re.compile(r"(?ms)^```(\S+)([^\n]*)\n(.*?)^```$")
VARIABLE = (r"stewart_3|/dev/\w+|'# end'|input device; there is none|microphone_2|\d+ C|^\w+: |\.\.\."
            r"|Fatal Python error: Aborted")       # what the program fills in, and what Python says
RUNNABLE = [(name, "".join(text for language, mark, text in BLOCK.findall(page) if "runnable" in mark))
            for name, page in PAGES.items() if "```sh runnable" in page]


def test_the_generated_part_is_what_the_program_says():
    assert renewed(PAGES["configuration.md"]) == PAGES["configuration.md"], "run: make docs"


@pytest.mark.parametrize(("name", "commands"), RUNNABLE)
def test_commands_that_are_marked_run(name, commands, tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["sh", "-eu", "-c", commands], cwd=tmp_path, env={**os.environ, "PATH": path},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "good" in done.stdout


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if "```toml" in page])
def test_settings_on_a_page_are_accepted(name, tmp_path):
    path = tmp_path / "page.toml"
    for language, _, text in BLOCK.findall(PAGES[name]):
        if language == "toml":
            assert tomllib.loads(text)
            path.write_text(text)
            read_live_config(path, {})


@pytest.mark.parametrize("page", PAGES)
def test_commands_links_and_targets_exist(page):
    text = PAGES[page]
    blocks = "".join(block for _, _, block in BLOCK.findall(text))
    commands = re.findall(r"(?:bin/|`)talkover (\w+)", text) + re.findall(r"(?m:^talkover (\w+))", blocks)
    assert set(commands) <= set(COMMANDS) - set(LATER)
    makefile = (PROJECT / "Makefile").read_text()
    for target in re.findall(r"`(?:sudo )?make (\w+)`|(?m:^(?:sudo )?make (\w+))", text):
        assert f"\n{''.join(target)}:" in makefile
    for link in re.findall(r"\]\((\w[\w.-]*\.md)\)", text):
        assert link in PAGES
    for file in re.findall(r"`((?:robot|calibration|scripts)/[\w/]+\.\w+)`", text):
        assert (PROJECT / file).exists(), file


def test_keys_that_a_page_names_exist():
    known = read_live_config(None, {})
    for page in PAGES.values():
        for section, key in re.findall(r"`(sound|camera|servo_bus|box|log|array|daemon)\.(?!py)(\w+)`", page):
            assert hasattr(getattr(known, section), key), f"{section}.{key}"


def test_reasons_of_the_table_are_reasons_of_the_program():
    folders = ("robot", "perception", "firmware_bridge", "dialogue")
    files = (path for folder in folders for path in (PROJECT / folder).rglob("*.py"))
    source = " ".join(path.read_text(encoding="utf-8") for path in files)
    source = re.sub(r'"\s+f?"', "", source)
    rows = [line.split("|")[1] for line in PAGES["troubleshooting.md"].splitlines() if line.startswith("| `")]
    for reason in re.findall(r"`([^`]{15,})`", "\n".join(rows)):
        parts = re.split(VARIABLE, reason)
        longest = max(parts, key=len).strip(" :")
        assert longest in source or not longest, longest
