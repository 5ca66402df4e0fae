"""The loop of the microphone array: readings, what is told of trouble, orders; and the ears behind a frozen one."""
import numpy as np
import pytest

from calibration.health import Health
from firmware_bridge.emulator.array_device import EmulatedArray
from perception.audio.array_register import Reading
from robot.bodies.array_worker import ArrayLoop, ArraySettings, MuteArray, RestartArray
from robot.bodies.touch_worker import TouchSettings
from robot.bodies.usb_bus import PyUsbBus
from robot.errors import BadRequest
from robot.settings import filled
from tests.usb_array import EmulatedUsb


class Bench:
    """A loop on an emulated bus, stepped ten times a virtual second."""

    def __init__(self, settings=None, board=None):
        self.t, self.board = 0.0, board or EmulatedArray()
        self.bus = EmulatedUsb(on_silence=self.wait)
        self.loop = ArrayLoop(settings or ArraySettings(), PyUsbBus(self.bus), self)

    def now(self):
        return self.t

    def wait(self, seconds):
        self.t += seconds

    def run(self, seconds, *orders):
        found, end = [], self.t + seconds
        while self.t < end - 1e-9:
            began = self.t
            found += self.loop.step(self.t, orders)
            orders = ()
            assert self.t - began < 0.7, "a step never hangs"
            self.t = max(self.t, began + 0.1)
        return found


def told(found):
    return [(h.level, h.reason) for h in found if isinstance(h, Health)]


def readings(found):
    return [r for r in found if isinstance(r, Reading)]


@pytest.fixture
def bench():
    bench = Bench()
    bench.bus.plug(bench.board)
    return bench


def test_ten_readings_a_second_and_who_it_is_once(bench):
    bench.board.hears(1.25, True)
    found = bench.run(2.0)
    assert len(readings(found)) == 20 and readings(found)[3] == Reading(pytest.approx(0.3), 1.25, True)
    assert told(found) == [("ok", "Reachy Mini Audio, firmware 2.1.4, 4 microphones in a line")]


def test_one_lost_reading_is_not_worth_a_word(bench):
    bench.run(1.0)
    bench.board.silent = 1
    found = bench.run(1.0)
    assert not told(found) and len(readings(found)) == 9


@pytest.mark.parametrize("fault", ["silent", "busy", "short"])
def test_an_array_that_answers_no_more_is_gone_after_a_second_and_comes_back(bench, fault):
    bench.run(1.0)
    setattr(bench.board, fault, -1)
    found = bench.run(4.0)
    assert [level for level, _ in told(found)] == ["gone"]
    assert 1.9 <= next(h.t for h in found if isinstance(h, Health)) <= 2.6
    setattr(bench.board, fault, 0)
    found = bench.run(2.0)
    assert [level for level, _ in told(found)] == ["ok"] and len(readings(found)) >= 9


def test_a_pulled_plug_and_another_address(bench):
    bench.run(1.0)
    board = bench.bus.pull()
    found = bench.run(5.0)
    assert [level for level, _ in told(found)] == ["gone"] and "plug it in" in told(found)[0][1]
    assert not readings(found)
    bench.bus.plug(board)
    found = bench.run(2.0)
    assert [level for level, _ in told(found)] == ["ok"] and readings(found) and bench.bus.opened == 1


def test_a_search_is_not_made_with_every_step():
    bench = Bench()
    searches = []
    bench.bus.enumerate_devices = lambda: searches.append(bench.t) or iter(())
    bench.run(5.0)
    assert len(searches) == 5


def test_permission_and_a_wrong_device_are_told_with_what_to_do():
    bench = Bench()
    bench.bus.plug(bench.board, permitted=False)
    assert "udevadm" in told(bench.run(3.0))[0][1]
    bench.bus.sockets[0].permitted = True
    assert [level for level, _ in told(bench.run(2.0))] == ["ok"]
    wrong = Bench(board=EmulatedArray(product=0x1002))
    wrong.bus.plug(wrong.board)
    assert told(wrong.run(3.0)) == [("gone", "no microphone array, only 38fb:1002 of the same makers; "
                                     "expected 38fb:1001 or 2886:001a")]


def test_gain_and_leds_are_set_anew_after_a_restart():
    bench = Bench(ArraySettings(microphone_gain=5.0), EmulatedArray(0x2886, 0x001A))
    bench.bus.plug(bench.board)
    bench.run(0.5)
    assert bench.board.values["AUDIO_MGR_MIC_GAIN"] == (5.0,) and bench.board.values["LED_EFFECT"] == (4,)
    bench.bus.pull().restart()
    bench.run(0.5)
    bench.bus.plug(bench.board)
    bench.run(2.0)
    assert bench.board.values["AUDIO_MGR_MIC_GAIN"] == (5.0,) and bench.board.values["LED_EFFECT"] == (4,)


def test_muted_stays_muted_over_a_restart_until_the_order_to_open(bench):
    gain = lambda: bench.board.values["AUDIO_MGR_MIC_GAIN"]    # noqa: E731
    bench.run(0.5, MuteArray(True))
    assert gain() == (0.0,)
    bench.bus.pull().restart()
    assert gain() == (10.0,)
    bench.run(0.5)
    bench.bus.plug(bench.board)
    bench.run(2.0)
    assert gain() == (0.0,)
    assert readings(bench.run(0.5, MuteArray(False))) and gain() == (10.0,)


def test_a_mute_that_cannot_be_done_is_told_and_the_direction_goes_on(bench):
    bench.board.values["AUDIO_MGR_OP_L"] = (1, 0)
    found = bench.run(1.0, MuteArray(True))
    assert told(found)[-1][0] == "degraded" and len(readings(found)) == 10
    assert bench.board.values["AUDIO_MGR_MIC_GAIN"] == (10.0,)


def test_a_persons_mute_button_is_not_undone():
    bench = Bench(board=EmulatedArray(0x2886, 0x001A))
    bench.board.values["GPO_READ_VALUES"] = (0, 1, 0, 1, 0)
    bench.bus.plug(bench.board)
    bench.run(1.0)
    assert bench.board.values["GPO_READ_VALUES"][1] == 1


def test_an_angle_that_is_no_number_goes_on_to_the_register_that_tells_it(bench):
    bench.board.hears(float("nan"), True)
    assert np.isnan(readings(bench.run(0.1))[0].angle)


def test_sections_of_the_configuration_are_read_and_refused_by_name():
    array = filled(ArraySettings, {"microphone_gain": 5, "usb": {"deadline": 0.2}}, "x.toml: array")
    assert (array.microphone_gain, array.usb.deadline) == (5.0, 0.2)
    touch = filled(TouchSettings, {"pads": [17, 27], "motor": 18, "pull_up": True}, "x.toml: touch")
    assert touch.pads == (17, 27) and touch.motor == 18 and touch.pull_up is True
    with pytest.raises(BadRequest, match=r"x.toml: touch: pads and motor: expected different BCM pins"):
        filled(TouchSettings, {"pads": [17, 17]}, "x.toml: touch")
    with pytest.raises(BadRequest, match="microphone_gian"):
        filled(ArraySettings, {"microphone_gian": 5}, "x.toml: array")


def test_a_board_that_records_zeros_can_be_started_anew(bench):
    """F34."""
    bench.board.values["AUDIO_MGR_MIC_GAIN"] = (3.0,)
    bench.run(1.0)
    found = bench.run(2.0, RestartArray())
    assert bench.board.restarts == 1 and bench.board.values["AUDIO_MGR_MIC_GAIN"] == (10.0,)
    assert [level for level, _ in told(found)] == ["degraded", "ok"] and len(readings(found)) >= 19
    bench.board.silent = 1                      # lost on the way: tried again
    assert [level for level, _ in told(bench.run(1.0, RestartArray()))] == ["degraded", "ok"]


@pytest.mark.parametrize("kind", ["button", "gain"])
def test_a_muted_board_is_not_started_anew(kind):
    """F34: zeros may be what a person wants."""
    bench = Bench(board=EmulatedArray(0x2886, 0x001A) if kind == "button" else None)
    if kind == "button":
        bench.board.values["GPO_READ_VALUES"] = (0, 1, 0, 1, 0)
    else:
        bench.board.values["AUDIO_MGR_MIC_GAIN"] = (0.0,)
    bench.bus.plug(bench.board)
    bench.run(1.0)
    found = bench.run(1.0, RestartArray())
    assert bench.board.restarts == 0 and len(readings(found)) == 10
    assert told(found) == [("degraded", "it is muted, and gives zeros on purpose")]
