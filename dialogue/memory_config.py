"""Section [memory]: whether what people tell outlives a run, and where."""
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

FILE = "memory.sqlite3"


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """What people tell about themselves; they can see and delete it by voice, by `talkover forget`, and with sqlite3.
    """

    kept: Literal["robot", "always", "never"] = "robot"   # robot: with a body of its own, not in the simulated room;
                                                          # never: names and facts live as long as the run
    file: str = ""                   # SQLite; "": memory.sqlite3 in the state folder (a service's: /var/lib/talkover)

    def place(self, state: Path) -> Path:
        """The file. state: the run's folder of what is kept."""
        return Path(self.file).expanduser() if self.file else state / FILE
