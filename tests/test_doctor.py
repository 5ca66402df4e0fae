"""Every finding of `talkover doctor`, by the fault that it is for."""
import json
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from calibration.body_model import reachy_mini
from robot.__main__ import main
from robot.bodies.camera_config import CameraDeviceConfig
from robot.config import MindConfig
from robot.live_config import LiveConfig, RunConfig, ServoBusConfig
from robot.service import model_findings
from robot.service.access_findings import User, devices
from robot.service.calibration_findings import calibration, plausible
from robot.service.doctor import ours, sound
from robot.service.machine_findings import Space, Speed, clocks, disk, predicted, speed

NOW = datetime(2026, 11, 30, tzinfo=UTC)
DEVICE = LiveConfig(run=RunConfig(body="device"))
BUS = LiveConfig(run=RunConfig(body="servo-bus", senses="simulated"))


def by_subject(findings):
    found = {finding.subject: finding for finding in findings}
    assert all(finding.remedy for finding in found.values() if finding.verdict != "ok")
    return found


# devices and permissions


@pytest.fixture
def dev(tmp_path):
    for name in ("snd/pcmC1D0c", "video0", "ttyACM0"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_all_devices_are_there_and_open(dev):
    config = replace(DEVICE, camera=CameraDeviceConfig(source=str(dev / "video0")))
    found = by_subject(devices(config, User("pollen", frozenset()), dev, lambda path: True))
    assert {name: finding.verdict for name, finding in found.items()} == dict.fromkeys(
        ("sound card", "camera", "servo bus"), "ok")
    assert found["camera"].needed and not found["servo bus"].needed


@pytest.mark.parametrize(("config", "subject", "group"), [
    (DEVICE, "sound card", "audio"), (replace(DEVICE, camera=CameraDeviceConfig(source="")), "camera", "video"),
    (BUS, "servo bus", "dialout")])
def test_a_device_that_this_user_may_not_open(dev, config, subject, group):
    config = replace(config, servo_bus=ServoBusConfig(device=str(dev / "ttyACM0")))
    found = by_subject(devices(config, User("anna", frozenset()), dev, lambda path: False))[subject]
    needed = subject != "camera"
    assert (found.verdict, found.needed) == ("missing" if needed else "warning", needed)
    assert "anna may not open it" in found.fact and f"usermod -aG {group} anna" in found.remedy
    member = by_subject(devices(config, User("anna", frozenset({group})), dev, lambda path: False))[subject]
    assert f"although in group {group}" in member.fact and "udev" in member.remedy


def test_a_device_that_is_not_there(tmp_path):
    config = replace(BUS, servo_bus=ServoBusConfig(device=str(tmp_path / "ttyACM7")))
    found = by_subject(devices(config, User("anna", frozenset()), tmp_path))
    assert found["servo bus"].verdict == "missing" and found["servo bus"].needed
    assert "ttyACM7: not there, it does not move" in found["servo bus"].fact
    assert found["camera"].verdict == "warning" and not found["camera"].needed     # nobody asked for it


def test_who_i_am_is_found_in_any_container():
    assert User.me().name


SICK = {"hangs": ("import time; time.sleep(60)", "does not answer"), "none": ("print([])", "none with two or more"),
        "broken": ("raise OSError('no PortAudio')", "libportaudio2"), "two": ("print('[[\"array\", 4]]')", "array")}


@pytest.mark.parametrize("kind", SICK)
def test_sound_cards_by_an_interpreter_that_answers_so(tmp_path, kind):
    program, said = SICK[kind]
    python = tmp_path / "python"
    python.write_text(f"#!{sys.executable}\n{program}\n")
    python.chmod(0o755)
    patience_s = 0.2 if kind == "hangs" else 60.0
    (found,) = sound(True, str(python), patience_s)
    assert said in found.fact + found.remedy and found.needed
    assert found.verdict == ("ok" if kind == "two" else "missing")
    (found,) = sound(False, str(python), patience_s)
    assert found.verdict == ("ok" if kind == "two" else "warning")


# models


def test_a_damaged_missing_or_wrong_model():
    def damaged():
        raise RuntimeError("Protobuf parsing failed")

    def absent():
        import no_such_package  # noqa: F401

    found = by_subject(model_findings.models({"a": damaged, "b": absent, "c": lambda: "well"}))
    assert [found[name].verdict for name in "abc"] == ["missing", "missing", "ok"]
    assert "Protobuf" in found["a"].fact and "no_such_package is not installed" in found["b"].fact
    assert all(finding.needed for finding in found.values())


@pytest.mark.parametrize("content", [b"", b"not an onnx file", None])
def test_a_cut_model_file_is_found_by_the_real_check(tmp_path, monkeypatch, content):
    from perception.audio import detector, vad
    path = tmp_path / "person.onnx"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(detector, "_person", lambda: vad.session(str(path)))
    (found,) = model_findings.models({"model: person": model_findings.person})
    assert found.verdict == "missing" and found.needed


def test_models_that_answer_nonsense(monkeypatch):
    from dialogue.engines import recogniser, voice
    from perception.audio import detector, vad
    monkeypatch.setattr(detector.Detector, "step", lambda self, streams: float("nan"))
    monkeypatch.setattr(vad.Silero, "step", lambda self, block: None)
    monkeypatch.setattr(vad.Silero, "probability", np.ones(1), raising=False)
    monkeypatch.setattr(vad.Silero, "__init__", lambda self, channels: None)
    monkeypatch.setattr(recogniser, "Recogniser", lambda: type("R", (), {"words": lambda self, x: "thank you"})())
    monkeypatch.setattr(voice, "Voice", lambda: lambda text: np.zeros(8000))
    checks = {name: check for name, check in model_findings.CHECKS.items() if name != "model: faces"}
    assert {finding.verdict for finding in model_findings.models(checks)} == {"missing"}


# calibration


def test_calibration_files_old_damaged_and_empty(tmp_path):
    folder = tmp_path / "calibration"
    folder.mkdir()
    for name, text, days in (("array", "{}", 10), ("delay", "{}", 400), ("noise", "", 0), ("camera", '{"k": [', 0)):
        path = folder / f"{name}.json"
        path.write_text(text)
        then = (NOW - timedelta(days=days)).timestamp()
        os.utime(path, (then, then))
    found = by_subject(calibration(LiveConfig(), tmp_path, NOW))
    assert found["calibration: array"].fact == "10 days old"
    assert found["calibration: delay"].verdict == "warning" and "400 days" in found["calibration: delay"].fact
    assert found["calibration: noise"].needed and "is empty" in found["calibration: noise"].fact
    assert found["calibration: camera"].verdict == "missing"
    assert (folder / "noise.json").read_text() == "" and (folder / "camera.json").read_text() == '{"k": ['   # untouched


@pytest.mark.parametrize(("change", "subject"), [
    ({"mic_positions_m": ((0.0, 0.0, 0.0), (0.0, 33.0, 0.0))}, "microphone positions"),
    ({"mic_positions_m": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))}, "microphone positions"),
    ({"playback_delay_s": 40.0}, "playback delay")])
def test_settings_that_cannot_be_true(tmp_path, change, subject):
    """Millimetres for metres, two microphones in one place, milliseconds for seconds."""
    found = by_subject(calibration(LiveConfig(mind=MindConfig(**change)), tmp_path, NOW))
    assert found[subject].verdict == "missing" and found[subject].needed


def test_a_lens_that_cannot_be_true():
    body = reachy_mini()
    assert by_subject(plausible(body, 0.1))["camera lens"].verdict == "ok"
    wrong = replace(body, camera=replace(body.camera, k=body.camera.k * 20))
    assert by_subject(plausible(wrong, None))["camera lens"].verdict == "missing"


# clocks, disk, speed


@pytest.mark.parametrize(("now", "verdict"), [(NOW, "ok"), (NOW - timedelta(days=20000), "warning"),
                                              (NOW + timedelta(days=20000), "warning")])
def test_a_date_that_cannot_be_true(now, verdict):
    found = by_subject(clocks(now, NOW, True))
    assert found["date"].verdict == verdict and ("timedatectl" in found["date"].remedy) == (verdict != "ok")
    assert found["clock of the run"].verdict == "ok"
    assert by_subject(clocks(now, NOW, False))["clock of the run"].needed


def test_a_disk_that_is_full_or_read_only(tmp_path):
    state = tmp_path / "not" / "yet"
    assert by_subject(disk(LiveConfig(), state, lambda path: Space(1e12, False)))["disk"].verdict == "ok"
    full = by_subject(disk(LiveConfig(), state, lambda path: Space(1e6, False)))["disk"]
    assert full.verdict == "warning" and "talkover forget" in full.remedy and "1 MB are free" in full.fact
    shut = by_subject(disk(LiveConfig(), state, lambda path: Space(1e12, True)))["disk"]
    assert "cannot be written" in shut.fact and "remount" in shut.remedy
    assert by_subject(disk(LiveConfig(), state))["disk"].fact        # the real one, of a folder that is not there yet
    assert Space.of(Path("/proc/sys")).read_only or os.geteuid() == 0


@pytest.mark.parametrize(("tick_ms", "look_ms", "cores", "level"), [
    (2.1, 5, 2, "full"), (6.0, 60, 4, "full"), (6.0, 40, 1, "lean"), (7.0, 90, 1, "voice_only"), (9.5, 5, 4, "safe")])
def test_the_level_that_a_board_will_live_at(tick_ms, look_ms, cores, level):
    measured = Speed([tick_ms / 1000] * 100, look_ms / 1000, cores)
    assert predicted(measured, 10.0)[0] == level
    (found,) = speed(LiveConfig(), lambda config: measured)
    assert found.verdict == {"full": "ok", "safe": "missing"}.get(level, "warning")
    assert found.needed == (level == "safe") and (level == "full" or f"expect level {level}" in found.fact)


def test_ticks_that_are_late_now_and_then_count():
    spent = [0.004] * 80 + [0.015] * 20
    assert predicted(Speed(spent, 0.0, 4), 10.0)[0] == "lean"


# where words go, and what is kept


def test_another_program_called_robot(tmp_path, monkeypatch):
    assert by_subject(ours())["import robot"].verdict == "ok"
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = by_subject(ours())["import robot"]
    assert found.verdict == "missing" and found.needed and str(tmp_path) in found.fact
    info = tmp_path / "robotframework-7.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: robotframework\nVersion: 7.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert by_subject(ours())["robotframework"].needed


def test_a_bad_configuration_is_a_finding_and_the_rest_is_examined(tmp_path, capsys):
    path = tmp_path / "robot.toml"
    path.write_text("[box]\nsond = true\n")
    assert main(["doctor", "--quick", "--json", "--config", str(path), "--state", str(tmp_path)]) == 1
    found = {finding["subject"]: finding for finding in json.loads(capsys.readouterr().out)}
    assert "did you mean 'sound'" in found["configuration"]["fact"] and found["configuration"]["needed"]
    assert found["numpy"]["verdict"] == "ok" and "recording" in found and "engine" in found
    path.write_text('[run]\nbody = "servo-bus"\nsenses = "simulated"\n[servo_bus]\ndevice = "/dev/no_such"\n')
    assert main(["doctor", "--quick", "--config", str(path), "--state", str(tmp_path)]) == 1
    assert "MISS  servo bus              /dev/no_such: not there" in capsys.readouterr().out
