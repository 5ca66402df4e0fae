"""The library of scripted interactions: all can be read and played, the quick ones come true here, the rest in `make
bench` (they take minutes of virtual time)."""
from pathlib import Path

import pytest

from robot.interaction.report import lines_of
from robot.interaction.runner import run_scenario
from robot.interaction.scenario import read_scenario
from robot.interaction.stage import check_playable

FOLDER = Path(__file__).with_name("scenarios")
LIBRARY = sorted(FOLDER.rglob("*.yaml"))
QUICK = sorted((FOLDER / "quick").glob("*.yaml"))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_every_scenario_can_be_played_and_says_what_it_is_for(path):
    scenario = read_scenario(path)
    check_playable(scenario)
    assert scenario.name == path.stem
    assert path.read_text().startswith("# "), "the first line says what it is for"


def test_names_are_unique():
    assert len({path.stem for path in LIBRARY}) == len(LIBRARY)


@pytest.mark.parametrize("path", QUICK, ids=lambda path: path.stem)
def test_quick_scenario(path):
    result = run_scenario(read_scenario(path), "scripted").result
    assert result.ok, "\n".join(lines_of(result))
