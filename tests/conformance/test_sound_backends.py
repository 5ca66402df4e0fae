"""Every sound backend behaves alike on a real sound server: names, rates, channels, tones, typed trouble."""
import importlib.util
import json
import os
import subprocess
import sys

import pytest

from robot.rig.pulse import PulseRig, missing
from tests.rig_sound import HERTZ

LIMIT_S = 120.0


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    remedy = missing()
    if remedy:
        pytest.skip(f"no sound server to test on: {remedy}")
    rig = PulseRig(tmp_path_factory.mktemp("rig")).start()
    yield rig
    rig.close()


@pytest.mark.parametrize("backend", ["sounddevice", "pyaudio"])
def test_a_backend_hears_what_it_plays(rig, backend):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed: pip install 'talkover[pyaudio]'")
    done = subprocess.run([sys.executable, "-m", "tests.rig_sound", backend], capture_output=True, text=True,
                          timeout=LIMIT_S, env={**os.environ, **rig.environment})
    assert done.returncode == 0, done.stderr
    check(json.loads(done.stdout))


def check(found: dict) -> None:
    assert {"rig_array", "rig_loudspeaker", "rig_room", "rig_voice"} <= set(found["names"])
    assert found["rates"] == {"0": 16000, "44100": 44100}
    for tones in found["tones"].values():
        assert tones["arrived"] and tones["active"] and tones["channels"] == 5 and tones["type"] == "float32"
        assert tones["pitches"] == pytest.approx(HERTZ, abs=3.0)
        assert tones["loudspeaker"] == 0.0 and tones["peak"] == pytest.approx(0.3, abs=0.02)
        assert all(0.0 < latency < 0.5 for latency in tones["latencies"])
    assert "no input device named 'nobody'" in found["trouble"][0]
    assert "gone cannot be opened" in found["trouble"][1]
    assert found["refused"] is False
