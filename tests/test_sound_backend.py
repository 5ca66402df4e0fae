"""Which device is opened at which rate: the configured one, or none."""
import pytest

from robot.bodies.sound_backend import DeviceTrouble, SoundDevice, backend_named, chosen, rate_for
from robot.bodies.sound_config import SoundDeviceConfig
from robot.errors import BadRequest
from robot.settings import filled

LAPTOP = SoundDevice(0, "HDA Intel PCH: ALC257 Analog (hw:0,0)", 2, 2, 44100, True, True)
ARRAY = SoundDevice(3, "reSpeaker XVF3800 4-Mic Array: USB Audio (hw:1,0)", 6, 2, 16000)
SPEAKER = SoundDevice(5, "USB Speaker: Audio (hw:2,0)", 0, 2, 48000)
LISTED = (LAPTOP, ARRAY, SPEAKER)


class Rates:
    """A backend that knows rates only."""

    def __init__(self, *rates_hz: int):
        self.rates_hz = rates_hz

    def accepts(self, device, rate_hz, channels, records):
        return rate_hz in self.rates_hz and channels <= device.inputs


def test_a_name_or_a_part_of_it_finds_the_device():
    assert chosen(LISTED, "xvf3800", 5, True) is ARRAY
    assert chosen(LISTED, ARRAY.name, 6, True) is ARRAY
    assert chosen(LISTED, "USB", 1, False) is ARRAY
    assert chosen(LISTED, "usb speaker", 1, False) is SPEAKER
    assert chosen(LISTED, "", 1, True) is LAPTOP


def test_a_missing_device_is_never_replaced_by_another():
    """F33: a default device is there."""
    with pytest.raises(DeviceTrouble, match="no input device named 'xvf3800'; there is HDA Intel"):
        chosen((LAPTOP, SPEAKER), "xvf3800", 1, True)
    with pytest.raises(DeviceTrouble, match="no default output device; there is none"):
        chosen((), "", 1, False)
    with pytest.raises(DeviceTrouble, match="no input device named 'Speaker'; there is none"):
        chosen((SPEAKER,), "Speaker", 1, True)


def test_too_few_channels_are_said_with_numbers():
    with pytest.raises(DeviceTrouble, match="has 6 input channels, expected 8"):
        chosen(LISTED, "xvf3800", 8, True)


def test_the_rate_is_16_khz_where_a_device_can_and_its_own_elsewhere():
    assert rate_for(Rates(16000, 48000), ARRAY, 0, 5, True) == 16000
    assert rate_for(Rates(44100, 48000), LAPTOP, 0, 2, True) == 44100
    assert rate_for(Rates(44100, 48000), LAPTOP, 48000, 2, True) == 48000
    with pytest.raises(DeviceTrouble, match="no 2 channels at 22050 Hz; with so many channels it takes 44100, 48000"):
        rate_for(Rates(44100, 48000), LAPTOP, 22050, 2, True)


def test_settings_are_read_strictly():
    read = filled(SoundDeviceConfig, {"input": "xvf3800", "microphones": [0, 1, 2, 3], "reference": 4}, "a.toml: sound")
    assert read.inputs == 5 and read.outputs == 1
    for wrong, why in (({"refrence": 4}, "did you mean 'reference'"), ({"reference": 2}, "no microphone"),
                       ({"rate_hz": 4000}, "8000 to 192000"), ({"volume": 3.0}, "0 to 2"),
                       ({"microphones": []}, "1 to 8"), ({"backend": "jack"}, "expected one of: sounddevice, pyaudio"),
                       ({"backoff_s": [5.0, 1.0]}, "ordered"), ({"block_s": 1.0}, "0.005 to 0.1"),
                       ({"voice": []}, "at least one")):
        with pytest.raises(BadRequest, match=why):
            filled(SoundDeviceConfig, wrong, "a.toml: sound")


def test_a_package_that_is_not_there_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyaudio", None)
    monkeypatch.delitem(__import__("sys").modules, "robot.bodies.sound_pyaudio", raising=False)
    with pytest.raises(DeviceTrouble, match=r"pip install 'talkover\[pyaudio\]'"):
        backend_named("pyaudio")
