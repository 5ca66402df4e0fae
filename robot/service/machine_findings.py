"""What `talkover doctor` says of the machine: clocks, disk, and whether it is fast enough for the configuration."""
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot.live_config import LiveConfig
from robot.service.findings import Finding
from robot.service.vitals import LEVELS, Level, VitalsConfig
from robot.tick import TICK_S

BUSY = 0.8        # of all processors: above it a burst of the engine makes ticks wait (two cores, measured: 80 % PSI)
LIMITS = VitalsConfig()
ALONE = 0.9       # of one core for the mind: it has one thread, and there is nothing left to spare


def clocks(now: datetime | None = None, built: datetime | None = None, monotonic: bool | None = None,
           ) -> Iterator[Finding]:
    """built: no clock can be earlier than this program's own files. monotonic: the run's clock never steps back."""
    now = now or datetime.now(UTC)
    if built is None:
        built = datetime.fromtimestamp(max(path.stat().st_mtime for path in Path(__file__).parent.glob("*.py")), UTC)
    mend = "sudo timedatectl set-ntp true; without network: sudo timedatectl set-time 'YYYY-MM-DD HH:MM'"
    if now < built - timedelta(days=1):
        yield Finding("date", "warning", f"{now:%Y-%m-%d} is before this program was installed ({built:%Y-%m-%d}): "
                      "what the robot tells of time is wrong, encrypted connections fail", mend)
    elif now > built + timedelta(days=3653):
        yield Finding("date", "warning", f"{now:%Y-%m-%d} is ten years after this program was installed", mend)
    else:
        yield Finding("date", "ok", f"{now:%Y-%m-%d %H:%M} UTC")
    if time.get_clock_info("monotonic").monotonic if monotonic is None else monotonic:
        yield Finding("clock of the run", "ok", "monotonic: steps of the date do not reach a run")
    else:
        yield Finding("clock of the run", "missing", "the system has no monotonic clock", "run on Linux", True)


class Space(NamedTuple):
    """Of the disk that a folder is on. read_only: mounted so, or not ours to write."""

    free: float        # bytes
    read_only: bool

    @classmethod
    def of(cls, folder: Path) -> "Space":
        there = next(path for path in (folder, *folder.parents) if path.exists())
        shut = bool(os.statvfs(there).f_flag & os.ST_RDONLY) or not os.access(there, os.W_OK)
        return cls(shutil.disk_usage(there).free, shut)


def disk(config: LiveConfig, state: Path, space: Callable[[Path], Space] = Space.of) -> Iterator[Finding]:
    """Room for what outlives a run. The robot itself runs without."""
    found = space(state)
    need = 1e6 * (config.box.free_mb + (config.box.disk_mb if config.box.on else 0.0))
    if found.read_only:
        yield Finding("disk", "warning", f"{state} cannot be written: the robot works, nothing is kept",
                      f"sudo mount -o remount,rw, or: sudo chown -R $USER {state}")
    elif found.free < need:
        yield Finding("disk", "warning", f"{found.free / 1e6:.0f} MB are free for {state}, black boxes want "
                      f"{need / 1e6:.0f}", "talkover forget, or delete something else; [box] disk_mb takes less")
    else:
        yield Finding("disk", "ok", f"{found.free / 1e9:.1f} GB free for {state}")


@dataclass(frozen=True, slots=True)
class Speed:
    """What this board needs for the work. tick_s: CPU time of single ticks; look_s: of one picture."""

    tick_s: Sequence[float]
    look_s: float
    cores: int


def predicted(speed: Speed, fps: float, limits: VitalsConfig = LIMITS) -> tuple[Level, str]:
    """The level of degradation that this board will live at, and why. fps: pictures a second of the configuration."""
    mind = float(np.mean(speed.tick_s)) / TICK_S
    late = float(np.mean(np.asarray(speed.tick_s) > TICK_S))
    steps = sum(late >= limit for limit in limits.late)
    if mind > ALONE:
        steps = 3
    elif mind + speed.look_s * fps > BUSY * speed.cores:
        steps = max(steps, 1 if mind + speed.look_s * limits.lean_fps <= BUSY * speed.cores else 2)
    mean, p99 = 1000 * float(np.mean(speed.tick_s)), 1000 * float(np.percentile(speed.tick_s, 99))
    return LEVELS[steps], (f"a tick takes {mean:.1f} ms (p99 {p99:.1f}) of 10, a picture {1000 * speed.look_s:.0f} ms, "
                           f"{fps:g} a second, {speed.cores} cores")


def speed(config: LiveConfig, measured: Callable[[LiveConfig], Speed]) -> Iterator[Finding]:
    """Whether this board keeps up. The engine, which works in bursts beside the tick, is not measured."""
    level, why = predicted(measured(config), config.camera.fps if config.camera.source else 0.0)
    if level == "full":
        yield Finding("speed", "ok", why)
    else:
        yield Finding("speed", "missing" if level == "safe" else "warning", f"{why}: expect level {level}",
                      "talkover doctor again without other programs; a faster board, or fewer pictures ([camera] fps)",
                      level == "safe")
