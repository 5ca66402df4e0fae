"""The emulator as a program: what it is told, what it answers, and what it refuses in one line."""
import json
import os
import select
import signal
import subprocess
import sys

import numpy as np
import pytest

from calibration.body_model import reachy_mini
from firmware_bridge import packets
from firmware_bridge.emulator import Emulator, Faults, UnknownFault, with_fault
from firmware_bridge.emulator.__main__ import Timeline
from firmware_bridge.emulator.console import BadCommand, Console
from firmware_bridge.registers import OVERLOAD

LIMIT_S = 60.0             # a busy machine is slow; a hanging test must end


@pytest.fixture
def console():
    return Console(Emulator(reachy_mini().servos))


def test_fault_words():
    assert with_fault(Faults(), "silent").silent
    assert with_fault(Faults(), "delay_s=0.02").delay_s == 0.02
    assert not with_fault(Faults(silent=True), "silent=0").silent
    assert with_fault(Faults(), "hot").temperature_c == 66.0 and with_fault(Faults(), "hot=58").temperature_c == 58.0
    assert with_fault(Faults(temperature_c=66.0), "hot=0").temperature_c is None      # not zero degrees
    assert with_fault(Faults(silent=True, overload=True), "none") == Faults()
    for bad, told in (("tired", "expected one of silent"), ("delay_s=much", "expected a number"), ("hot=", "a number"),
                      ("wrong_crc=2", "expected 0 to 1"), ("delay_s=nan", "expected 0 to 10"), ("none=1", "one of")):
        with pytest.raises(UnknownFault, match=told):
            with_fault(Faults(), bad)


def test_every_command_does_what_it_says(console):
    emulator = console.emulator
    for line in ("fault 13 silent", "fault 254 garbage=0.5", "latch 14 0x20", "push body_yaw 10", "grip stewart_2 1",
                 "cable 0", "", "  "):
        assert console.obey(line) == ""
    state = json.loads(console.obey("state"))
    assert state["faults"]["13"] == {"silent": True, "garbage": 0.5} and len(state["faults"]) == 9
    assert state["error"][4] == OVERLOAD and emulator.dynamics.gripped[2] and not console.cable
    assert np.degrees(state["position_rad"][0]) == pytest.approx(10)
    for line in ("fault 254 none", "grip stewart_2 0", "power 0", "cable 1"):
        console.obey(line)
    assert not emulator.powered and console.cable and json.loads(console.obey("state"))["faults"] == {}
    assert "fault ID NAME" in console.obey("help")


@pytest.mark.parametrize("line, told", [
    ("dance", "unknown command 'dance': expected fault"), ("fault 13", "expected fault ID NAME"),
    ("fault 99 silent", "servo '99': expected 10 to 18, or 254"), ("fault x silent", "servo 'x'"),
    ("latch 13 many", "bits 'many': expected 0 to 255"), ("latch 13 256", "bits '256'"),
    ("push nose 3", "joint 'nose'"),
    ("push body_yaw left", "angle 'left': expected degrees"), ("push body_yaw nan", "angle 'nan'"),
    ("grip body_yaw yes", "expected 0 or 1"), ("power", "expected power 0|1"), ("cable 2", "'2': expected 0 or 1")])
def test_a_wrong_command_is_told_what_was_expected(console, line, told):
    before = console.obey("state")
    with pytest.raises(BadCommand) as error:
        console.obey(line)
    assert told in str(error.value)
    assert console.obey("state") == before and console.cable


def test_faults_of_the_command_line_begin_and_end(console):
    timeline = Timeline(["13:silent@5-8", "254:hot=60", "10:delay_s=0.01@2"], console)
    assert timeline.due(0.0) == ["fault 254 hot=60"]
    assert timeline.due(4.9) == ["fault 10 delay_s=0.01"]
    assert timeline.due(7.0) == ["fault 13 silent"] and timeline.due(8.0) == ["fault 13 silent=0"]
    for bad in ("99:silent", "13:tired", "13", "13:silent@soon", "13:silent@1-x"):
        with pytest.raises((BadCommand, UnknownFault)):
            Timeline([bad], console)


# the process --------------------------------------------------------------------------------------------------------

def program(*arguments, **pipes) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "firmware_bridge.emulator", *arguments], stdout=subprocess.PIPE,
                            **pipes)


def test_a_wrong_option_is_told_in_one_line(tmp_path):
    precious = tmp_path / "thesis.txt"
    precious.write_text("years of work")
    for arguments, told in ((("--link", str(precious)), b"there is a file already"),
                            (("--link", str(tmp_path / "no" / "servos")), b"No such file"),
                            (("--fault", "13:tired"), b"fault 'tired': expected one of")):
        with program(*arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as refused:
            _, said = refused.communicate(timeout=LIMIT_S)
        assert refused.returncode == 2 and told in said and said.count(b"\n") == 1
    assert precious.read_text() == "years of work"


def test_in_the_background_it_stays_keeps_its_link_and_tidies_up(tmp_path):
    """`... --link PATH &` in a script has /dev/null as its standard input; a link of a run before is taken over."""
    link = tmp_path / "servos"
    link.symlink_to("/dev/pts/of-a-run-before")
    with program("--link", str(link), stdin=subprocess.DEVNULL) as running:
        try:
            path = running.stdout.readline().decode().strip()
            assert os.readlink(link) == path
            line = os.open(link, os.O_RDWR | os.O_NOCTTY)
            for _ in range(3000):                 # nobody reads the answers: the pty fills, and it still lives
                os.write(line, packets.ping(packets.BROADCAST))
            os.close(line)
            line = os.open(link, os.O_RDWR | os.O_NOCTTY)
            assert select.select([line], [], [], LIMIT_S)[0]
            os.close(line)
            running.send_signal(signal.SIGTERM)
            assert running.wait(LIMIT_S) == 0
        finally:
            running.kill()
    assert not link.is_symlink()
