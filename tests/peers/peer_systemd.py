"""A real systemd starts, watches, reloads and stops the installed service: does it hear what we say, as we mean it?

Run by `make peers`, as root. `systemd --user` in a PID and mount namespace of its own (namespace.sh): the installer
runs there for real (user, folders, unit, environment; third-party packages are borrowed from this environment), the
servos are the emulator's, what is heard and seen comes from the simulated room. Nothing of the machine is changed.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
GROUP = os.environ.get("GROUP", f"talkover-peer-{os.getpid()}")
SYSTEMD = "/lib/systemd/systemd"
UNIT, LOG, CONFIG = Path("/etc/systemd/user/talkover.service"), Path("/run/talkover.log"), Path(
    "/etc/talkover/talkover.toml")
SETTINGS = '[run]\nbody = "servo-bus"\n[servo_bus]\ndevice = "/run/servos"\n'
DROP_IN = f"""[Service]
# there is no journal here; a pseudo-terminal stands for the serial line
StandardOutput=append:{LOG}
StandardError=append:{LOG}
DeviceAllow=char-pts rw
"""
PIP = """#!/bin/sh
set -eu
echo '{packages}' > "$(echo "$VIRTUAL_ENV"/lib/python*/site-packages)/borrowed.pth"
exec '{python}' -m pip --python "$VIRTUAL_ENV/bin/python" install -q --no-deps --no-build-isolation --no-index \\
    --no-cache-dir --disable-pip-version-check "${{2%%[*}}" 2>/run/pip.log
"""


def expect(what: str, found: object, right: bool) -> None:
    if not right:
        log = LOG.read_text()[-3000:] if LOG.exists() else ""
        raise SystemExit(f"peer_systemd: {what}: found {found}\n{log}")
    print(f"  {what}: {found}", flush=True)


def until(what: str, look: Callable[[], object], longest_s: float = 90.0) -> float:
    """Waits for something to become true; s that it took."""
    began = time.monotonic()
    while not (found := look()):
        if time.monotonic() - began > longest_s:
            expect(what, found, False)
        time.sleep(0.05)
    return time.monotonic() - began


def systemctl(*words: str, check: bool = True) -> str:
    done = subprocess.run(["systemctl", "--user", *words], capture_output=True, text=True)
    if check and done.returncode:
        expect(" ".join(words), done.stderr, False)
    return done.stdout


def shown() -> dict[str, str]:
    names = "ActiveState,SubState,StatusText,MainPID,NRestarts,Result,ExecMainStatus"
    return dict(line.split("=", 1) for line in systemctl("show", "talkover", "-p", names).splitlines())


def processes() -> dict[str, int]:
    """Programs of the service, by the last part of their module's name."""
    group = next(Path("/sys/fs/cgroup").glob(f"{GROUP}/**/talkover.service/cgroup.procs"), None)
    found = {}
    for pid in group.read_text().split() if group else ():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if "-m" in words:
            found[words[words.index("-m") + 1].rsplit(".", 1)[-1]] = int(pid)
    return found


def on_time(pid: int) -> None:
    """What LimitRTPRIO lets the servo process do for itself.

    The limit itself does not work in a container whose root has no CAP_SYS_RESOURCE.
    """
    os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(40))


class Servos:
    """The emulator, a program beside the service."""

    def __init__(self) -> None:
        self.program = subprocess.Popen([sys.executable, "-m", "firmware_bridge.emulator", "--link", "/run/servos"],
                                        cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.path = self.program.stdout.readline().strip()
        os.chmod(self.path, 0o666)

    def torque(self) -> bool:
        """Whether any servo holds: a head that lies down has none."""
        self.program.stdin.write("state\n")
        self.program.stdin.flush()
        return any(json.loads(self.program.stdout.readline())["torque"])


def installed() -> None:
    pip = Path("/run/pip.sh")
    packages = next(path for path in map(Path, sys.path) if path.name == "site-packages")
    pip.write_text(PIP.format(packages=packages, python=sys.executable))
    pip.chmod(0o755)
    began = time.monotonic()
    subprocess.run(["sh", PROJECT / "scripts" / "install.sh", "install"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "INSTALL_PIP": str(pip)}, cwd="/")
    expect("installed in", f"{time.monotonic() - began:.0f} s", True)
    check = subprocess.run(["systemd-analyze", "verify", "--man=no", "/etc/systemd/system/talkover.service"],
                           capture_output=True, text=True)
    expect("systemd-analyze verify says", check.stderr or "nothing", check.returncode == 0 and not check.stderr)



def manager() -> subprocess.Popen:
    """The service manager; its folders for state, cache and settings are the system's."""
    runtime = Path("/run/manager")              # below /run/user ProtectHome would hide it
    runtime.mkdir(parents=True)
    os.environ.update(XDG_RUNTIME_DIR=str(runtime), HOME="/run", XDG_STATE_HOME="/var/lib", XDG_CACHE_HOME="/var/cache",
                      XDG_CONFIG_HOME="/etc")
    Path("/run/systemd/system").mkdir(parents=True)
    UNIT.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy("/etc/systemd/system/talkover.service", UNIT)
    (UNIT.parent / "talkover.service.d").mkdir()
    (UNIT.parent / "talkover.service.d" / "peer.conf").write_text(DROP_IN)
    program = subprocess.Popen([SYSTEMD, "--user", "--unit=basic.target"], stderr=subprocess.DEVNULL)
    until("the service manager's socket", (runtime / "systemd" / "private").exists)
    subprocess.run(["cp", "-a", runtime / "systemd" / "inaccessible", "/run/systemd/"], check=True)
    (runtime / "systemd" / "notify").chmod(0o666)          # as the system's manager has it
    return program


def starts() -> None:
    CONFIG.write_text(SETTINGS)
    (CONFIG.parent / "credentials" / "mind_seed").write_text("77\n")
    began = time.monotonic()
    systemctl("start", "talkover")
    took = time.monotonic() - began
    expect("from start to ready", f"{took:.1f} s", took < 60)
    status = shown()["StatusText"]
    expect("status", status, status.startswith("ears gone") and "joints" in status)
    limits(int(shown()["MainPID"]))
    expect("its user", user := subprocess.run(["ps", "-o", "user=", "-p", shown()["MainPID"]], capture_output=True,
                                              text=True).stdout.strip(), user == "talkover")


def limits(pid: int) -> None:
    """What the unit grants and forbids, as systemd understood it and, where this container lets it, in force."""
    said = systemctl("show", "talkover", "-p", "LimitRTPRIO,LimitMEMLOCK,MemoryHigh,MemoryMax,OOMPolicy,TasksMax")
    granted = dict(line.split("=", 1) for line in said.splitlines())
    expect("limits", granted, granted == {"LimitRTPRIO": "50", "LimitMEMLOCK": "infinity", "OOMPolicy": "continue",
                                          "MemoryHigh": str(1200 * 2**20), "MemoryMax": str(1500 * 2**20),
                                          "TasksMax": "256"})
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    real = next(line.split()[-2] for line in lines if line.startswith("Max realtime priority"))
    group = next(Path("/sys/fs/cgroup").glob(f"{GROUP}/**/talkover.service/memory.max"), None)
    memory = "no memory controller" if group is None else group.read_text().strip()
    expect("in force", f"real-time priority {real}, memory {memory}",
           real in ("0", "50") and memory in ("no memory controller", str(1500 * 2**20)))
    scores = {name: int(Path(f"/proc/{child}/oom_score_adj").read_text()) for name, child in processes().items()}
    expect("who goes first when memory is short", scores, scores["worker_child"] > scores["servo_child"])


def listens() -> None:
    """The simulated robot, whose ears are there at once: how long until it hears."""
    CONFIG.write_text('[run]\nbody = "simulated"\n')
    began = time.monotonic()
    systemctl("start", "--no-block", "talkover")
    until("ears", lambda: "ears ok" in shown()["StatusText"])
    expect("from cold start to listening", f"{time.monotonic() - began:.1f} s", True)
    until("ready", lambda: shown()["ActiveState"] == "active")
    expect("and to ready", f"{time.monotonic() - began:.1f} s: {shown()['StatusText']}", True)
    systemctl("stop", "talkover")


def reloads() -> None:
    main = shown()["MainPID"]
    CONFIG.write_text(SETTINGS + '[log]\nwords = true\n[mind]\nseed = 4\n[servo_bus.loop]\ncalm_s = 2\n')
    systemctl("reload", "talkover")
    until("a reload in the log", lambda: "reload key=servo_bus.loop.calm_s: needs a restart" in LOG.read_text())
    said = [line for line in LOG.read_text().splitlines() if line.startswith("reload")]
    expect("reload", said, "reload key=log: in force" in said)
    expect("a credential goes before the file", "its key is not different", "mind.seed" not in str(said))
    expect("after a reload", shown()["ActiveState"], shown()["ActiveState"] == "active" and shown()["MainPID"] == main)
    CONFIG.write_text("[mind\n")
    systemctl("reload", "talkover")
    until("a refused reload in the log", lambda: "nothing is changed" in LOG.read_text())
    expect("after a bad file", CONFIG.read_text(), CONFIG.read_text() == "[mind\n" and shown()["MainPID"] == main)
    CONFIG.write_text(SETTINGS)


def child_dies(name: str, works: str) -> None:
    """works: what the log says when the next one does."""
    main, pid, before = shown()["MainPID"], processes()[name], LOG.read_text().count(works)
    os.kill(pid, signal.SIGKILL)
    took = until(f"a new {name}", lambda: processes().get(name, pid) != pid)
    took += until(works, lambda: LOG.read_text().count(works) > before)
    expect(f"{name} killed, working again after", f"{took:.1f} s", shown()["MainPID"] == main)


def stuck(servos: Servos) -> None:
    before = shown()
    on_time(processes()["servo_child"])
    until("a head that is up", servos.torque)
    os.kill(int(before["MainPID"]), signal.SIGSTOP)
    took = until("the watchdog", lambda: shown()["ActiveState"] != "active")
    expect("stuck, noticed after", f"{took:.1f} s", took < 15)
    let_go: list[bool] = []
    took = until("a restart", lambda: let_go.append(not servos.torque()) or shown()["ActiveState"] == "active")
    expect("the head lay down before the restart", any(let_go), any(let_go))
    now = shown()
    fresh = now["NRestarts"] == "1" and now["MainPID"] != before["MainPID"]
    expect("restarted and ready after", f"{took:.1f} s", fresh)
    expect("where it was stuck", "in the log", "Fatal Python error: Aborted" in LOG.read_text())


def stops(servos: Servos) -> None:
    on_time(processes()["servo_child"])
    until("a head that is up", servos.torque)
    began = time.monotonic()
    systemctl("stop", "talkover")
    after = shown()
    expect("stopped after", f"{time.monotonic() - began:.1f} s", after["ActiveState"] == "inactive")
    expect("result", f"{after['Result']}, status {after['ExecMainStatus']}",
           (after["Result"], after["ExecMainStatus"]) == ("success", "0"))
    expect("servos", "without torque", not servos.torque())


def bad_settings_are_not_tried_again() -> None:
    CONFIG.write_text("[mind]\nsede = 1\n")
    systemctl("start", "talkover", check=False)
    time.sleep(4)                                          # longer than RestartSec
    after = shown()
    expect("with bad settings", f"{after['ActiveState']}, status {after['ExecMainStatus']}",
           (after["ActiveState"], after["ExecMainStatus"], after["NRestarts"]) == ("failed", "2", "0"))
    expect("and the reason", "in the log", "did you mean 'seed'?" in LOG.read_text())


def uninstalled() -> None:
    Path("/run/systemd/system").rmdir()                    # else the installer would look for the system's manager
    subprocess.run(["sh", PROJECT / "scripts" / "install.sh", "uninstall", "--purge"], check=True, cwd="/",
                   stdout=subprocess.DEVNULL)
    left = [str(path) for path in Path("/run/upper").rglob("*") if path.is_file() and "talkover" in str(path)
            and "systemd/user" not in str(path)]
    expect("left behind", left, not left)


def inside() -> int:
    installed()
    servos, systemd = Servos(), manager()
    starts()
    reloads()
    child_dies("servo_child", "of=servo_process level=ok: started again")
    child_dies("worker_child", "state=ready")
    stuck(servos)
    stops(servos)
    listens()
    bad_settings_are_not_tried_again()
    systemd.kill()
    uninstalled()
    print("peer_systemd: a real systemd and our service agree")
    return 0


def main() -> int:
    if sys.argv[1:] == ["inside"]:
        return inside()
    missing = [name for name in (SYSTEMD, shutil.which("unshare")) if not name or not Path(name).exists()]
    if os.geteuid() != 0 or missing:
        print("peer_systemd: skipped, needs root, systemd and unshare")
        return 0
    environment = {**os.environ, "GROUP": GROUP, "PROJECT": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = ["timeout", "-s", "KILL", "300", "unshare", "-mpf", "--kill-child", "bash",
               Path(__file__).with_name("namespace.sh"), sys.executable, __file__, "inside"]
    done = subprocess.run(command, env=environment, cwd="/").returncode
    for folder in sorted(Path("/sys/fs/cgroup").glob(f"**/{GROUP}/**/"), key=lambda path: -len(path.parts)):
        until("the namespace's processes to end", lambda folder=folder: not (folder / "cgroup.procs").read_text(), 10)
        folder.rmdir()
    return done


if __name__ == "__main__":
    sys.exit(main())
