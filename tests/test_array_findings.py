"""What `talkover doctor` says of the microphone array and of the pins."""
import importlib.util

import pytest

from firmware_bridge.emulator.array_device import EmulatedArray
from robot.bodies.usb_bus import PyUsbBus
from robot.service import array_findings
from robot.service.array_findings import array_control, capture_channels, gpio
from tests.usb_array import EmulatedUsb

STREAM = """Pollen Robotics Reachy Mini Audio at usb-0000:01:00.0-1.3, high speed : USB Audio

Playback:
  Status: Stop
  Interface 1
    Altset 1
    Channels: 2
Capture:
  Status: Stop
  Interface 2
    Altset 1
    Format: S16_LE
    Channels: {channels}
"""


class VirtualTime:
    t = 0.0

    def now(self):
        return self.t

    def wait(self, seconds):
        self.t += seconds


@pytest.fixture
def cards(tmp_path):
    (tmp_path / "card0").mkdir()
    (tmp_path / "card0" / "stream0").write_text(STREAM.replace("Reachy Mini Audio", "Webcam").format(channels=1))
    (tmp_path / "card1").mkdir()
    (tmp_path / "card1" / "stream0").write_text(STREAM.format(channels=2))
    return tmp_path


def findings(cards, board=None, permitted=True, **values):
    bus = EmulatedUsb()
    if board is not None:
        board.values.update(values)
        bus.plug(board, permitted)
    return list(array_control(PyUsbBus(bus), VirtualTime(), cards))


def test_an_array_with_standard_firmware(cards):
    who, channels = findings(cards, EmulatedArray())
    assert who.verdict == "ok" and who.fact == ("Reachy Mini Audio 38fb:1001, firmware 2.1.4, "
                                                "4 microphones in a line of 99 mm")
    assert channels.verdict == "ok" and channels.fact.startswith("2 processed")


def test_raw_microphones_are_counted(cards):
    (cards / "card1" / "stream0").write_text(STREAM.format(channels=6))
    assert findings(cards, EmulatedArray())[1].fact == "6: 4 raw microphones"
    assert capture_channels(cards / "none") is None


def test_control_without_sound_and_a_muted_array_are_told(tmp_path):
    _, channels, gain = findings(tmp_path, EmulatedArray(), AUDIO_MGR_MIC_GAIN=(0.0,))
    assert (channels.verdict, gain.verdict) == ("warning", "warning") and "microphone_gain" in gain.remedy


@pytest.mark.parametrize(("board", "permitted", "values", "fact", "remedy"), [
    (None, True, {}, "no microphone array on USB", "plug the array in"),
    (EmulatedArray(product=0x1002), True, {}, "only 38fb:1002", "expected 38fb:1001"),
    (EmulatedArray(), False, {}, "may not be opened", "udev"),
    (EmulatedArray(), True, {"VERSION": (2, 0, 1)}, "firmware 2.0.1", "update the firmware"),
    (EmulatedArray(silent=-1), True, {}, "did not answer", "unplug it")])
def test_what_is_wrong_comes_with_what_to_do(cards, board, permitted, values, fact, remedy):
    finding, = findings(cards, board, permitted, **values)
    assert finding.verdict == "warning" and fact in finding.fact and remedy in finding.remedy and not finding.needed


def test_pins(tmp_path, monkeypatch):
    assert next(gpio(tmp_path)).verdict == "ok"
    (tmp_path / "gpiochip0").touch()
    found = importlib.util.find_spec
    monkeypatch.setattr(array_findings.importlib.util, "find_spec", lambda name: found("os"))
    assert next(gpio(tmp_path)).fact == "1 chips"
    monkeypatch.setattr(array_findings.os, "access", lambda path, mode: False)
    assert "usermod" in next(gpio(tmp_path)).remedy
    monkeypatch.setattr(array_findings.importlib.util, "find_spec", lambda name: None)
    assert "talkover[pi]" in next(gpio(tmp_path)).remedy
