"""`talkover forget` deletes what people told, with a robot that runs and without one."""
from contextlib import closing

import pytest

from dialogue.book import Book
from robot.__main__ import main
from robot.engine_choice import memory_file
from robot.live_config import LiveConfig, read_live_config
from tests.memory_bench import Words


@pytest.fixture
def kept(tmp_path):
    """A file with Anna and Bo."""
    words = Words(tmp_path / "memory.sqlite3")
    words.say("My name is Anna."), words.say("I like tea.")
    words.say("My name is Bo.", "person_2")
    yield words
    words.close()


def test_everything_is_deleted_also_what_was_put_aside(kept, tmp_path, capsys):
    kept.close()
    (tmp_path / "memory.sqlite3.kept-1").write_text("old")
    (tmp_path / "memory.sqlite3-of-mine.txt").touch()
    assert main(["forget", "--state", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "2 people deleted; no robot runs" in out and f"deleted {tmp_path / 'memory.sqlite3.kept-1'}" in out
    assert {path.name for path in tmp_path.iterdir()} == {"memory.sqlite3-of-mine.txt"}
    assert main(["forget", "--state", str(tmp_path)]) == 0
    assert "people told: none were kept" in capsys.readouterr().out


def test_one_person_is_deleted_while_the_robot_runs(kept, tmp_path, capsys):
    assert main(["forget", "--person", "anna", "--state", str(tmp_path)]) == 0
    assert "1 of the name 'anna' deleted" in capsys.readouterr().out
    assert "do not know" in kept.say("Who am I?") and kept.say("Who am I?", "person_2") == "You are Bo."
    assert main(["forget", "--person", "Anna", "--state", str(tmp_path)]) == 1
    assert "nobody is known as 'Anna'" in capsys.readouterr().out


def test_the_file_that_the_configuration_names_is_meant(kept, tmp_path, capsys):
    config = tmp_path / "robot.toml"
    config.write_text(f'[memory]\nfile = "{tmp_path}/memory.sqlite3"\n')
    assert main(["forget", "--person", "Bo", "--config", str(config), "--state", str(tmp_path / "other")]) == 0
    with closing(Book(tmp_path / "memory.sqlite3")) as book:
        assert book.read("SELECT name FROM people") == [("Anna",)]


def test_an_unfit_file_is_named_or_deleted_with_all(tmp_path, capsys):
    path = tmp_path / "memory.sqlite3"
    path.write_text("?")
    assert main(["forget", "--person", "Anna", "--state", str(tmp_path)]) == 2
    assert f"{path}: expected a SQLite file" in capsys.readouterr().err and path.read_text() == "?"
    assert main(["forget", "--state", str(tmp_path)]) == 0 and not path.exists()


@pytest.mark.parametrize(("text", "environment", "file"), [
    ("[memory]\n", {}, None),
    ('[run]\nbody = "device"\n', {"STATE_DIRECTORY": "/var/lib/talkover"}, "/var/lib/talkover/memory.sqlite3"),
    ('[run]\nbody = "servo-bus"\nsenses = "simulated"\n', {}, None),
    ('[memory]\nkept = "always"\nfile = "/tmp/people"\n', {}, "/tmp/people"),
    ('[run]\nbody = "device"\n[memory]\nkept = "never"\n', {}, None),
])
def test_where_it_is_kept(tmp_path, monkeypatch, text, environment, file):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "robot.toml"
    path.write_text(text)
    found = memory_file(read_live_config(path))
    assert (None if found is None else str(found)) == file
    assert memory_file(LiveConfig()) is None
