#!/bin/sh
# Sets talkover up in .venv beside this repository: Debian packages where they are missing, then the Python packages.
# Usage: sh scripts/setup.sh [EXTRAS]     (default: dev,sim)
set -eu
cd "$(dirname "$0")/.."
extras=${1:-dev,sim}
venv=${VENV:-.venv}

. scripts/debian.sh

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
echo "installing Python packages into $venv (about 400 MB the first time)"
"$venv/bin/python" -m pip install -q --disable-pip-version-check -c constraints.txt -e ".[$extras]"
touch "$venv/.ready"
