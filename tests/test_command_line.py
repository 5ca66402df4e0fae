"""The command line: one line and status 2 for what is wrong, and a live robot that parks when told to stop."""
import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from robot.__main__ import COMMANDS, LATER, main, parser_for
from robot.help_pages import PAGES, PROGRAM


@pytest.mark.parametrize("words", [
    ["fly"], ["run", "--body", "ghost"], ["run", "--engine", "oracle"], ["run", "--fast"], ["replay"],
    ["hear", "nowhere"], ["see", "nowhere"], ["move", "nowhere.jsonl"], ["script", "nowhere.yaml"],
    ["replay", "nowhere"], ["run", "--config", "nowhere.toml"],
    ["run", "--engine", "realtime"], ["calibrate"], ["dashboard"], [], ["run", "extra"],
    ["run", "--for", "abc"], ["run", "--for", "-3"], ["run", "--for", "nan"], ["run", "--config", "/"],
    ["record", "/proc/x"], ["record", __file__], ["record", "out", "--config", "nowhere.toml"],
    ["demo", "--out", __file__], ["demo", "--seed", "x"], ["script", __file__], ["replay", __file__],
    ["bench", "--demo", "-1"], ["bench", "--live", "-3"], ["bench", "--minutes", "inf"], ["bench", "--soak", "0"],
    ["bench", "--jobs", "0"], ["bench", "--listening", "1.5"], ["bench", "--bus", "0"],
    ["config"], ["config", "--check", "/"], ["config", "--explain", "mind.sead"],
])
def test_a_wrong_request_gets_one_line_and_status_2(words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        status = main(words)
    except SystemExit as leaving:
        status = leaving.code
    said = capsys.readouterr()
    assert status == 2 and said.out == "" and len(said.err.strip().splitlines()) == 1
    assert "Traceback" not in said.err
    assert sorted(path.name for path in Path.cwd().iterdir()) == []


def test_a_mistyped_command_is_guessed(capsys):
    assert main(["forgt"]) == 2
    assert "did you mean 'forget'?" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "said"), [
    ("[mind]\nsead = 3\n", "unknown key 'sead', did you mean 'seed'?"),
    ("[mnd]\nseed = 3\n", "unknown section [mnd], did you mean 'mind'?"),
    ("[mind]\nseed = 'x'\n", "mind.seed: 'x', expected a whole number"),
    ("[mind\n", "expected TOML"),
    ("body = 'device'\n", "body = 'device' stands before the first section, expected it below [run]"),
    ("[servo_bus]\ndevice = ''\n", "servo_bus: device: expected a path such as /dev/ttyACM0"),
    ("[daemon]\nport = -1\n", "daemon: host, port: expected a name and 1 to 65535"),
])
def test_a_config_is_read_strictly(tmp_path, capsys, text, said):
    file = tmp_path / "robot.toml"
    file.write_text(text)
    assert main(["run", "--config", str(file)]) == 2
    error = capsys.readouterr().err
    assert said in error and "robot.toml" in error


@pytest.mark.parametrize("command", [*COMMANDS])
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as leaving:
        main([command, "--help"])
    told = " ".join(capsys.readouterr().out.split()).lower()
    assert leaving.value.code == 0 and COMMANDS[command].split(";")[0][1:25].lower() in told


EXAMPLES = [line.strip() for page in (PROGRAM, *PAGES.values()) for line in page.splitlines()
            if re.match(r"  (sudo -u talkover |sudo )?\S*talkover ", line)]


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_of_the_help_is_a_command_that_is_understood(example):
    words = shlex.split(re.split(r"   | > ", example)[0])
    command, *arguments = words[next(i for i, word in enumerate(words) if word.endswith("talkover")
                                     and words[i - 1] != "-u") + 1:]
    parser_for(command).parse_args([command, *arguments])


def test_every_command_has_examples_in_its_help():
    assert set(PAGES) == set(COMMANDS)
    assert all(f"  talkover {command}" in page for command, page in PAGES.items())


def test_commands_of_later_say_so(capsys):
    for command in LATER:
        assert main([command]) == 2
        assert "later" in capsys.readouterr().err


def test_doctor_finds_this_program_and_speaks_json(capsys):
    assert main(["doctor", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)
    assert next(f for f in findings if f["subject"] == "import robot")["verdict"] == "ok"
    assert all(f["remedy"] for f in findings if f["verdict"] != "ok")


def test_a_live_robot_parks_on_sigterm_and_exits_0():
    command = [sys.executable, "-m", "robot", "run", "--config", os.devnull]
    live = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert live.stdin is not None and live.stdout is not None
        live.stdin.write("/help\n")
        live.stdin.flush()
        assert select.select([live.stdout], [], [], 120)[0], "no sign of life"
        live.stdout.readline()
        live.send_signal(signal.SIGTERM)
        rest, _ = live.communicate(timeout=120)
        assert live.returncode == 0, rest
        assert "Traceback" not in rest
    finally:
        live.kill()


@pytest.mark.parametrize(("arguments", "words"), [
    (["--minutes", "-1"], "--minutes: -1: expected more than 0"), (["--jobs", "0"], "--jobs: 0: expected 1 to 64"),
    (["--minutes", "nan"], "--minutes: nan: expected more than 0"),
    (["--floor", "0"], "--floor: '0': expected a whole"),
])
def test_numbers_that_cannot_be_meant_are_refused(arguments, words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["bench", "--hearing", *arguments])
    assert ended.value.code == 2 and words in capsys.readouterr().err
