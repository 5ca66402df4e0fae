"""The installer in a folder of its own: what it makes, keeps, exchanges and removes. A true install: tests/peers."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from robot.bodies.joint_process import CLOSE_S
from robot.bodies.real_time import SERVO_PRIORITY, SOUND_PRIORITY
from robot.runtime import PARK_S
from robot.service.laid_down import PATIENCE_S, main, own_cgroup
from robot.service.notify import LATE_S, TRIED_S

PROJECT = Path(__file__).resolve().parents[1]
UNIT = PROJECT / "robot" / "service" / "unit" / "talkover.service"
STUB = """
import sys
if sys.argv[2] == "--default":
    print("# defaults of NUMBER")
elif "refused" in open(sys.argv[3]).read():
    sys.exit(2)
"""
PIP = """#!{python}
import os, pathlib, re, sys
source = pathlib.Path(sys.argv[-1].split("[")[0])
number = re.search("version = (.*)", (source / "setup.cfg").read_text()).group(1)
packages, = pathlib.Path(os.environ["VIRTUAL_ENV"]).glob("lib/python*/site-packages")
(packages / "robot").mkdir()
(packages / "robot" / "__main__.py").write_text({stub!r}.replace("NUMBER", number))
launcher = pathlib.Path(os.environ["VIRTUAL_ENV"]) / "bin" / "talkover"
launcher.write_text("#!" + str(launcher.parent / "python"))
"""


class Machine:
    """A folder that stands for a machine, and a copy of the project's outline to install from."""

    def __init__(self, folder: Path):
        self.root, self.source = folder / "root", folder / "source"
        for part in ("robot", "dialogue", "perception", "motion", "firmware_bridge", "calibration"):
            (self.source / part).mkdir(parents=True)
        for part in ("scripts", "docs"):
            shutil.copytree(PROJECT / part, self.source / part)
        shutil.copytree(UNIT.parent, self.source / "robot" / "service" / "unit")
        for name in ("setup.cfg", "pyproject.toml", "constraints.txt", "README.md", "LICENSE", "THIRD_PARTY.md"):
            shutil.copy(PROJECT / name, self.source)
        self.pip = folder / "pip"
        self.pip.write_text(PIP.format(python=sys.executable, stub=STUB))
        self.pip.chmod(0o755)
        self.etc, self.opt = self.root / "etc" / "talkover", self.root / "opt" / "talkover"
        self.state = self.root / "var" / "lib" / "talkover"

    def call(self, *words: str, script: Path | None = None, expect: int = 0) -> str:
        environment = {"DESTDIR": str(self.root), "INSTALL_PYTHON": sys.executable, "INSTALL_PIP": str(self.pip)}
        done = subprocess.run(["sh", script or self.source / "scripts" / "install.sh", *words], capture_output=True,
                              text=True, env=environment, cwd="/")
        assert done.returncode == expect, done.stderr + done.stdout
        return done.stdout + done.stderr

    def release(self, number: str) -> None:
        """A new version of the project."""
        path = self.source / "setup.cfg"
        path.write_text(re.sub(r"(?m)^version = .*", f"version = {number}", path.read_text()))

    def current(self) -> str:
        return os.readlink(self.opt / "current").split("-")[0]

    def files(self) -> dict[str, object]:
        """Everything outside the environments, with content, mode and where links point."""
        found: dict[str, object] = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if path.is_symlink():
                found[name] = os.readlink(path)
            elif not re.match(r"opt/talkover/[^/]+/.", name):
                found[name] = (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        return found


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_an_install_makes_its_own_folders_and_nothing_else(machine):
    machine.release("1.0")
    said = machine.call("install")
    assert "/etc/talkover/talkover.toml" in said
    version = os.readlink(machine.opt / "current")
    expected = {"etc", "etc/systemd", "etc/systemd/system", "etc/systemd/system/talkover.service", "etc/talkover",
                "etc/talkover/credentials", "etc/talkover/talkover.toml", "etc/talkover/talkover.toml.default",
                "etc/udev", "etc/udev/rules.d", "etc/udev/rules.d/70-talkover.rules", "opt", "opt/talkover",
                "opt/talkover/current", f"opt/talkover/{version}", "var", "var/cache", "var/cache/talkover", "var/lib",
                "var/lib/talkover"}
    assert set(machine.files()) == expected | {
        name for name in machine.files() if name.startswith(f"opt/talkover/{version}/")}
    assert (machine.etc / "talkover.toml").read_text() == "# defaults of 1.0\n"
    assert (machine.etc / "credentials").stat().st_mode & 0o777 == 0o700
    assert (machine.etc / "talkover.toml").stat().st_mode & 0o777 == 0o640
    launcher = (machine.opt / "current" / "bin" / "talkover").read_text()
    assert launcher == f"#!/opt/talkover/{version}/bin/python"


def test_a_second_install_changes_nothing(machine):
    machine.call("install")
    before = machine.files()
    machine.call("install")
    assert machine.files() == before


def test_an_upgrade_keeps_settings_and_state_and_a_rollback_goes_back_and_forth(machine):
    machine.release("1.0")
    machine.call("install")
    (machine.etc / "talkover.toml").write_text("# mine\n")
    (machine.state / "memory").write_text("Anna")
    machine.release("1.1")
    (machine.source / "robot" / "service" / "unit" / "talkover.service").write_text("[Service]\n# new\n")
    machine.call("install")
    unit = machine.root / "etc" / "systemd" / "system" / "talkover.service"
    assert machine.current() == "1.1" and "# new" in unit.read_text()
    assert (machine.etc / "talkover.toml").read_text() == "# mine\n"
    assert (machine.etc / "talkover.toml.default").read_text() == "# defaults of 1.1\n"
    said = machine.call("rollback", script=machine.opt / "current" / "install.sh")
    assert re.search(r"talkover 1\.0-\w+ is current again", said)
    assert machine.current() == "1.0" and unit.read_text() == UNIT.read_text()
    assert (machine.etc / "talkover.toml.default").read_text() == "# defaults of 1.0\n"
    machine.call("rollback", script=machine.opt / "current" / "install.sh")
    assert machine.current() == "1.1"
    assert (machine.etc / "talkover.toml").read_text() == "# mine\n"
    assert (machine.state / "memory").read_text() == "Anna"
    machine.release("1.2")
    machine.call("install")
    assert {p.name.split("-")[0] for p in machine.opt.iterdir() if not p.is_symlink()} == {"1.1", "1.2"}


def test_an_upgrade_that_refuses_the_settings_changes_nothing(machine):
    machine.release("1.0")
    machine.call("install")
    (machine.etc / "talkover.toml").write_text("refused = 1\n")
    before = machine.files()
    machine.release("1.1")
    assert "nothing was changed" in machine.call("install", expect=1)
    after = {name: content for name, content in machine.files().items() if "1.1-" not in name}
    opt = "opt/talkover"
    assert {n: c for n, c in after.items() if n != opt} == {n: c for n, c in before.items() if n != opt}


def test_a_build_that_fails_leaves_what_was_there(machine):
    machine.release("1.0")
    machine.call("install")
    before = machine.files()
    machine.release("1.1")
    machine.pip.write_text("#!/bin/sh\nexit 7\n")
    machine.call("install", expect=7)
    assert machine.files() == before
    machine.pip.write_text(PIP.format(python=sys.executable, stub=STUB))
    machine.call("install")
    assert machine.current() == "1.1"


def test_uninstall_leaves_settings_and_state_unless_purged(machine):
    machine.call("install")
    machine.call("watchdog")
    assert (machine.root / "etc/systemd/system.conf.d/50-talkover-watchdog.conf").exists()
    (machine.state / "memory").write_text("Anna")
    machine.call("uninstall", script=machine.opt / "current" / "install.sh")
    left = {name for name, content in machine.files().items() if isinstance(content, tuple) and content[1] is not None}
    assert left == {"etc/talkover/talkover.toml", "var/lib/talkover/memory"}
    assert not machine.opt.exists()
    machine.call("uninstall", "--purge")
    assert not machine.etc.exists() and not machine.state.exists()


def test_rollback_without_a_version_before_and_wrong_words_are_refused(machine):
    machine.call("install")
    assert "no version before" in machine.call("rollback", expect=1)
    assert "expected install" in machine.call("remove", expect=2)
    assert "expected install" in machine.call("uninstall", "--prune", expect=2)


def setting(name: str) -> str:
    return re.findall(rf"(?m)^{name}=(.*)$", UNIT.read_text())[-1]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_finds_nothing_wrong_with_the_unit_and_its_sandbox_scores_below_3(tmp_path):
    unit = tmp_path / "talkover.service"
    unit.write_text(re.sub(r"(?m)^(Exec\w+=)/opt/\S+", r"\1/bin/true", UNIT.read_text()))
    checked = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    unit.write_text(unit.read_text() + "\n[Service]\nWatchdogSek=3\n")     # it would exit 0 all the same
    broken = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
    assert "WatchdogSek" in broken.stderr
    scored = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=30", "--no-pager", UNIT],
                            capture_output=True, text=True)
    assert scored.returncode == 0, scored.stdout


def test_the_times_of_the_unit_fit_those_of_the_program():
    assert int(setting("RestartSec")) * int(setting("StartLimitBurst")) > int(setting("StartLimitIntervalSec"))
    assert PARK_S + CLOSE_S < PATIENCE_S < int(setting("TimeoutStopSec"))
    assert int(setting("TimeoutStartSec")) > TRIED_S and int(setting("WatchdogSec")) > 4 * LATE_S
    assert int(setting("LimitRTPRIO")) >= max(SERVO_PRIORITY, SOUND_PRIORITY)


def test_laid_down_finds_its_own_group_and_returns_when_it_is_alone(tmp_path, monkeypatch):
    group = tmp_path / "cgroup" / "a" / "talkover.service"
    group.mkdir(parents=True)
    (group / "cgroup.procs").touch()
    mounts = "".join(f"{kind} {tmp_path}/{at} {kind} rw 0 0\n" for kind, at in (
        ("cgroup2", "hidden"), ("proc", "proc"), ("cgroup2", "cgroup")))
    assert own_cgroup(mounts, "4:memory:/x\n0::/a/talkover.service\n") == group
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    monkeypatch.setattr("robot.service.laid_down.own_cgroup", lambda *_: tmp_path)
    child = subprocess.Popen(["sleep", "600"])
    monkeypatch.setenv("MAINPID", str(child.pid))
    assert main() == 0
    assert child.wait() == -15
