"""Reads the machine: /proc and /sys of Linux. Only the vitals process does this; files may stall under load.

Sources: proc_pid_stat(5), https://docs.kernel.org/accounting/psi.html, .../admin-guide/cgroup-v2.html (memory.*),
.../driver-api/thermal/sysfs-api.html.
"""
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from robot.service.vitals import ProcessVitals, Vitals

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
PLAUSIBLE_C = (-40.0, 150.0)       # broken sensors tell -274 or 0xffff
NAME = 40                          # characters kept of a process' name


@dataclass
class Machine:
    """The machine and the tree of processes under `root`."""

    root: int                                    # pid of the mind
    proc: Path = Path("/proc")
    sys: Path = Path("/sys")
    cores: int = os.cpu_count() or 1
    _spent: dict[int, tuple[float, float]] = field(default_factory=dict)    # pid: (t, CPU s)

    def sample(self, t: float) -> Vitals:
        """Everything at t (s). What the system does not tell is None."""
        load = _words(self.proc / "loadavg")
        return Vitals(t, self._stalled("cpu"), float(load[0]) / self.cores if load else None, self._memory(),
                      self._stalled("memory"), self._temperature(), tuple(self._processes(t)))

    def _stalled(self, resource: str) -> float | None:
        """Of the service's own processes where its group tells: a neighbour that waits is not this robot's strain."""
        group = self._group()
        words = _words(group / f"{resource}.pressure") if group is not None else []
        words = words or _words(self.proc / "pressure" / resource)        # some avg10=1.23 avg60=...
        return float(words[1].removeprefix("avg10=")) / 100 if len(words) > 1 else None

    def _memory(self) -> float | None:
        words = _words(self.proc / "meminfo")
        known = {name: float(kilo) for name, kilo in pairwise(words) if name.endswith(":")}
        shares = [self._limited()]
        if known.get("MemTotal:"):
            shares.append(1.0 - known.get("MemAvailable:", 0.0) / known["MemTotal:"])
        return max((share for share in shares if share is not None), default=None)

    def _group(self) -> Path | None:
        """The service's own group of processes (cgroup v2); none where it runs in the root group."""
        lines = _text(self.proc / str(self.root) / "cgroup").splitlines()
        path = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
        return self.sys / "fs/cgroup" / path if path else None

    def _limited(self) -> float | None:
        """Of the service's own limit (cgroup v2), without what can be dropped at once."""
        group = self._group()
        if group is None:
            return None
        most, used, stat = (_words(group / f"memory.{name}") for name in ("max", "current", "stat"))
        if not most or not used or most[0] == "max":
            return None
        spare = float(stat[stat.index("inactive_file") + 1]) if "inactive_file" in stat else 0.0
        return (float(used[0]) - spare) / float(most[0])

    def _temperature(self) -> float | None:
        told = [_words(zone / "temp") for zone in sorted((self.sys / "class/thermal").glob("thermal_zone*"))]
        degrees = [float(words[0]) / 1000 for words in told if words]
        low, high = PLAUSIBLE_C
        return max((c for c in degrees if low < c < high), default=None)

    def _processes(self, t: float) -> Iterator[ProcessVitals]:
        spent: dict[int, tuple[float, float]] = {}
        for pid, seconds in self.tree():
            before = self._spent.get(pid, (t, seconds))
            spent[pid] = (t, seconds)
            passed = t - before[0]
            resident = _words(self.proc / str(pid) / "statm")
            yield ProcessVitals(self.name(pid), (seconds - before[1]) / passed if passed > 0 else 0.0,
                                int(resident[1]) * PAGE if resident else 0, self._descriptors(pid))
        self._spent = spent

    def tree(self) -> list[tuple[int, float]]:
        """(pid, CPU s so far) of the root and all that stem from it."""
        parents: dict[int, int] = {}
        seconds: dict[int, float] = {}
        for folder in self.proc.glob("[0-9]*"):
            behind = _text(folder / "stat").rpartition(")")[2].split()      # a name may hold spaces and brackets
            if len(behind) > 12:
                parents[int(folder.name)] = int(behind[1])
                seconds[int(folder.name)] = (int(behind[11]) + int(behind[12])) / TICKS_PER_S
        ours = {self.root}
        while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
            ours |= more
        return [(pid, seconds[pid]) for pid in sorted(ours) if pid in seconds]

    def name(self, pid: int) -> str:
        """`mind`, or what its command says: `-m robot.bodies.servo_child 5` is `servo`, a worker is named last."""
        if pid == self.root:
            return "mind"
        words = [word for word in _text(self.proc / str(pid) / "cmdline").split("\0") if word]
        if "-m" not in words[:-1]:
            return Path(words[0]).name[:NAME] if words else "?"
        at = words.index("-m") + 1
        labels = [word for word in words[at + 1:] if not word.isdigit()]
        return (labels[-1].split(":")[-1] if labels else words[at].split(".")[-1].removesuffix("_child"))[:NAME]

    def _descriptors(self, pid: int) -> int:
        try:
            return len(os.listdir(self.proc / str(pid) / "fd"))
        except OSError:       # ended meanwhile, or another user's
            return 0


def _text(path: Path) -> str:
    """A small file, empty when the system has none or the process has ended meanwhile."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _words(path: Path) -> list[str]:
    return _text(path).split()
