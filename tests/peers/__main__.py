"""`make peers`: runs every peer_*.py of this folder, each a program of its own, and names those that did not agree."""
import subprocess
import sys
from pathlib import Path


def main() -> int:
    scripts = sorted(Path(__file__).parent.glob("peer_*.py"))
    failed = [script.name for script in scripts if subprocess.run([sys.executable, script]).returncode]
    print(f"{len(scripts) - len(failed)} of {len(scripts)} peers agree", *failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
