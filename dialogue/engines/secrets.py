"""Keys of services: from a credential of systemd or from the environment, never from a file of settings."""
import os
from collections.abc import Mapping
from pathlib import Path

PREFIX = "talkover_"     # what the service's LoadCredential puts before the names of the files in its folder


class KeyMissing(ValueError):
    """No key where one was named; the text says where it was looked for, never what it is."""


def secret(name: str, environment: Mapping[str, str] = os.environ) -> str:
    """The key called `name`: a file of that name in lower case in $CREDENTIALS_DIRECTORY (man 5 systemd.exec,
    LoadCredential), with or without PREFIX, or an environment variable. "" for no name."""
    if not name:
        return ""
    folder = environment.get("CREDENTIALS_DIRECTORY")
    if folder:
        for file in (name.lower(), PREFIX + name.lower()):
            if (path := Path(folder) / file).is_file():
                return path.read_text(encoding="utf-8").strip()
    if environment.get(name):
        return environment[name].strip()
    raise KeyMissing(f"no key: expected the environment variable {name}, or a credential {name.lower()}; "
                     "a server that wants none: key_from = \"\"")
