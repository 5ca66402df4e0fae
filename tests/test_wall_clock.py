"""Nothing in a run depends on the date: it may jump by hours when the network comes or a battery is empty."""
import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("robot", "dialogue", "perception", "motion", "firmware_bridge", "calibration")
WALL = {("time", name) for name in ("time", "time_ns", "localtime", "gmtime", "ctime", "strftime")} | {
    ("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")}
MAY = {
    "robot/live.py": "what time it is, told to the engine once; from then on it counts seconds of the run",
    "robot/engine_choice.py": "the same",
    "robot/rig/live_bench.py": "the same, of the bench",
    "robot/black_box/child.py": "decorates the name of a box, whose order is a count",
    "robot/service/machine_findings.py": "doctor judges the date itself",
    "robot/service/calibration_findings.py": "doctor tells the age of a file",
}


def reads(path):
    """Whether a source file asks for the date."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (node.value.id, node.attr) in WALL:
            return True
        if isinstance(node, ast.ImportFrom) and any((node.module, name.name) in WALL for name in node.names):
            return True
    return False


def test_only_these_files_read_the_wall_clock():
    found = {str(path.relative_to(ROOT)) for room in ROOMS for path in (ROOT / room).rglob("*.py") if reads(path)}
    assert found and found <= set(MAY)
