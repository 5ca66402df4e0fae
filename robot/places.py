"""Where a robot keeps what outlives a run."""
import os
from collections.abc import Mapping
from pathlib import Path

from robot.errors import BadRequest


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """systemd's StateDirectory of the service, else the user's own (XDG base directory specification)."""
    service = environment.get("STATE_DIRECTORY", "").split(":")[0]
    if service:
        return Path(service)
    if home := environment.get("XDG_STATE_HOME"):
        return Path(home) / "talkover"
    try:
        return Path(environment.get("HOME") or "~").expanduser() / ".local/state/talkover"
    except RuntimeError as error:          # a user without an entry in the system's list, as in some containers
        raise BadRequest("no place for what outlives a run: expected HOME or XDG_STATE_HOME in the environment, "
                         "found neither") from error
