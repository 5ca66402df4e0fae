"""The pages for people: what is marked runnable runs, settings in them are accepted, reasons in them exist."""
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from robot.__main__ import COMMANDS, LATER, main, parser_for
from robot.interaction.expectations import METRICS
from robot.interaction.scenario import scenario_from_text
from robot.interaction.stage import check_playable
from robot.interaction.timeline import ENGINE_FAULTS, EVENTS, FAULTS, NOISES, PARTS, SIGNS, STATES, TOUCHES
from robot.live_config import read_live_config
from scripts.docs import renewed

PROJECT = Path(__file__).resolve().parents[1]
PAGES = {page.name: page.read_text(encoding="utf-8")
         for page in (PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md")))}
BLOCK = re.compile(r"(?ms)^```(\S*)([^\n]*)\n(.*?)^```$")
VARIABLE = (r"stewart_3|/dev/\w+|'# end'|input device; there is none|microphone_2|\d+ C|^\w+: |\.\.\."
            r"|Fatal Python error: Aborted|Permission denied")   # what the program fills in, and what others say
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


def commands_in(text: str) -> list[list[str]]:
    """The words after `talkover` of each command in the blocks of a page."""
    blocks = [block for language, _, block in BLOCK.findall(text) if language in ("sh", "")]
    before = r"(?:[A-Z_]+=\S+ )*(?:sudo )?(?:-u talkover )?(?:\S*bin/)?"
    found = (re.match(before + r"talkover (\w.*)", line) for block in blocks for line in block.splitlines())
    return [shlex.split(re.split(r" > |  +#", match.group(1))[0]) for match in found if match]


@pytest.mark.parametrize("words", [words for text in PAGES.values() for words in commands_in(text)], ids=" ".join)
def test_commands_that_cannot_run_here_are_understood(words):
    parser_for(words[0]).parse_args(words)


def test_the_file_that_the_readme_prints_is_a_good_one(tmp_path):
    line = next(line for line in PAGES["README.md"].splitlines() if line.startswith("printf") and "bus.toml" in line)
    subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True)
    config = read_live_config(tmp_path / "bus.toml", {})
    assert (config.run.senses, config.servo_bus.device) == ("simulated", "/tmp/servos")


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if "```yaml" in page])
def test_scenarios_on_a_page_can_be_played(name, tmp_path):
    for text in (text for language, _, text in BLOCK.findall(PAGES[name]) if language == "yaml"):
        check_playable(scenario_from_text(text, tmp_path / "page.yaml"))


def test_the_motion_script_on_the_page_of_formats_is_obeyed(tmp_path, capsys):
    script, = (text for language, _, text in BLOCK.findall(PAGES["formats.md"]) if language == "jsonl")
    (tmp_path / "script.jsonl").write_text(script)
    assert main(["move", str(tmp_path / "script.jsonl"), "--out", str(tmp_path / "motion.csv")]) == 0
    assert capsys.readouterr().err == ""
    rows = (tmp_path / "motion.csv").read_text().splitlines()
    named = set(re.findall(r"`([^`]*t_s, head_x_m[^`]*)`", PAGES["formats.md"])[0].split(", "))
    assert len(rows) == 602 and named <= set(rows[0].split(","))


def test_the_words_of_a_scenario_are_all_on_the_page_of_formats():
    page = PAGES["formats.md"]
    known = (*EVENTS, *STATES, *SIGNS, *TOUCHES, *NOISES, *PARTS, *FAULTS, *ENGINE_FAULTS, *METRICS)
    assert [word for word in known if not re.search(rf"\b{word}\b", page)] == []


@pytest.mark.parametrize("page", PAGES)
def test_commands_links_and_targets_exist(page):
    text = PAGES[page]
    commands = re.findall(r"`talkover ([a-z]+)", text) + [words[0] for words in commands_in(text)]
    assert set(commands) <= set(COMMANDS) - set(LATER)
    makefile = (PROJECT / "Makefile").read_text()
    for target in re.findall(r"`(?:sudo )?make (\w+)`|(?m:^(?:sudo )?make (\w+))", text):
        assert f"\n{''.join(target)}:" in makefile
    for link in re.findall(r"\]\((\w[\w./-]*\.md)\)", text):
        assert ((PROJECT if page == "README.md" else PROJECT / "docs") / link).exists(), link
    for file in re.findall(r"`((?:robot|calibration|scripts)/[\w/]+\.\w+)`", text):
        assert (PROJECT / file).exists(), file


def test_keys_that_a_page_names_exist():
    known = read_live_config(None, {})
    for page in PAGES.values():
        for section, key in re.findall(r"`(sound|camera|servo_bus|box|log|array|daemon|memory)\.(?!py)(\w+)`", page):
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
