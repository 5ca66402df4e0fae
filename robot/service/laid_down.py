"""`python -m robot.service.laid_down`: ends a run in order and waits until all of its processes are gone.

ExecStop and ExecStopPost of talkover.service. The main process is told to park and end (SIGTERM); when it died, or was
ended by the watchdog, its servo process still lays the head down before it ends: systemd must not kill it meanwhile.
"""
import contextlib
import os
import signal
import sys
import time
from pathlib import Path

PATIENCE_S = 18.0      # 3 s of lying down and the servo process's own limit of 12 s, less than TimeoutStopSec
LOOK_S = 0.05


def others(cgroup: Path) -> set[int]:
    """Processes of a control group, this one left out."""
    return {int(line) for line in (cgroup / "cgroup.procs").read_text().split()} - {os.getpid()}


def own_cgroup(mounts: str, membership: str) -> Path:
    """This process's group in the unified hierarchy. mounts: /proc/self/mounts, membership: /proc/self/cgroup."""
    path = next(line.removeprefix("0::/") for line in membership.splitlines() if line.startswith("0::"))
    roots = [line.split()[1] for line in mounts.splitlines() if line.split()[2] == "cgroup2"]
    groups = [Path(root) / path for root in reversed(roots)]
    return next(group for group in groups if (group / "cgroup.procs").exists())     # a later mount may hide one


def main() -> int:
    cgroup = own_cgroup(Path("/proc/self/mounts").read_text(), Path("/proc/self/cgroup").read_text())
    main_process = os.environ.get("MAINPID", "")
    if main_process.isdigit():
        with contextlib.suppress(ProcessLookupError):      # it has just ended by itself
            os.kill(int(main_process), signal.SIGTERM)
    until = time.monotonic() + PATIENCE_S
    while left := others(cgroup):
        if time.monotonic() > until:
            print(f"<4>still alive after {PATIENCE_S:g} s: {sorted(left)}", file=sys.stderr)
            return 0                     # systemd ends them
        time.sleep(LOOK_S)
    return 0


if __name__ == "__main__":
    sys.exit(main())
