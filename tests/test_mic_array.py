"""The microphone array over USB: real pyusb code on emulated bytes, with every fault that a board has shown."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.body_model import line_array
from firmware_bridge.array_commands import COMMANDS, packed, unpacked
from firmware_bridge.array_products import in_head
from firmware_bridge.control_transfers import (
    NoAnswer,
    NoPermission,
    NotFound,
    Refused,
    ShortAnswer,
    UsbTrouble,
    Vanished,
    WrongDevice,
)
from firmware_bridge.emulator.array_device import FACTORY, EmulatedArray
from firmware_bridge.mic_array import MicArray, MicArraySettings
from perception.audio.array_register import ArrayRegister
from robot.bodies.usb_bus import PyUsbBus
from tests.usb_array import EmulatedUsb

RESPEAKER = (0x2886, 0x001A)


class VirtualTime:
    def __init__(self):
        self.t = 100.0

    def now(self):
        return self.t

    def wait(self, seconds):
        self.t += seconds


@pytest.fixture
def bench():
    """(array, its board, the bus it is plugged into, the clock)."""
    time, board = VirtualTime(), EmulatedArray()
    bus = EmulatedUsb(on_silence=time.wait)
    bus.plug(board)
    return MicArray(PyUsbBus(bus), time), board, bus, time


def with_board(board: EmulatedArray) -> MicArray:
    time = VirtualTime()
    bus = EmulatedUsb(on_silence=time.wait)
    bus.plug(board)
    return MicArray(PyUsbBus(bus), time)


def test_it_says_who_it_is(bench):
    array, *_ = bench
    found = array.identity()
    assert (found.name, found.address, found.version, found.mics, found.line) == \
        ("Reachy Mini Audio", "38fb:1001", (2, 1, 4), 4, True)


def test_the_positions_are_those_of_our_body_model_in_head_axes(bench):
    np.testing.assert_allclose(bench[0].identity().positions, line_array(), atol=1e-7)
    assert ArrayRegister(bench[0].identity().positions) is not None


def test_a_line_whose_file_runs_the_other_way_still_has_microphone_0_at_the_right():
    turned = [-v for v in FACTORY["AEC_MIC_ARRAY_GEO"]]
    np.testing.assert_allclose(in_head(turned, 4, True, (0.02, 0, 0)), line_array(), atol=1e-7)


def test_a_square_keeps_the_axes_from_which_its_angle_is_counted():
    square = (0.033, -0.033, 0, 0.033, 0.033, 0, -0.033, 0.033, 0, -0.033, -0.033, 0)
    left_front = in_head(square, 4, False, (0, 0, 0))[1]      # array +x is left, +y is front
    assert left_front[0] > 0 and left_front[1] > 0


def test_direction_and_flag(bench):
    array, board, *_ = bench
    board.hears(0.5410520434379578, True)
    assert array.direction() == (pytest.approx(0.541052, abs=1e-6), True)
    board.hears(float("nan"), False)
    assert np.isnan(array.direction()[0])       # ArrayRegister tells it: out of range


def test_nothing_is_connected():
    with pytest.raises(NotFound, match="38fb:1001 or 2886:001a"):
        MicArray(PyUsbBus(EmulatedUsb()), VirtualTime()).direction()


def test_only_the_camera_of_the_same_maker_is_connected():
    with pytest.raises(WrongDevice, match="only 38fb:1002"):
        with_board(EmulatedArray(product=0x1002)).direction()


@pytest.mark.parametrize(("name", "value", "told"), [
    ("VERSION", (3, 2, 1), "firmware 3.2.1"), ("VERSION", (2, 0, 6), "from 2.1.0 on"),
    ("AEC_NUM_MICS", (1,), "1 microphones"), ("AEC_MIC_ARRAY_TYPE", (0,), "array type 0"),
    ("AEC_MIC_ARRAY_GEO", (0.0,) * 12, "no usable geometry"),
    ("AEC_MIC_ARRAY_GEO", (float("nan"),) * 12, "no usable geometry"), ("AEC_NUM_MICS", (6,), "no usable geometry")])
def test_a_board_that_cannot_give_directions_is_refused_by_name(name, value, told):
    board = EmulatedArray()
    board.values[name] = value
    with pytest.raises(WrongDevice, match=told):
        with_board(board).identity()


def test_a_device_that_may_not_be_opened_comes_with_the_rule_that_allows_it():
    bus = EmulatedUsb()
    bus.plug(EmulatedArray(), permitted=False)
    with pytest.raises(NoPermission, match=r'ATTR\{idVendor\}=="38fb".*udevadm'):
        MicArray(PyUsbBus(bus), VirtualTime()).direction()


@pytest.mark.parametrize("busy", [1, 7, 40])
def test_a_busy_array_is_asked_again(bench, busy):
    array, board, _, time = bench
    board.busy = busy
    assert array.direction()[1] is False
    assert time.t - 100.0 == pytest.approx(busy * MicArraySettings().retry)


def test_an_array_that_stays_busy_costs_its_deadline_and_no_more(bench):
    array, board, _, time = bench
    board.busy = -1
    with pytest.raises(NoAnswer, match="DOA_VALUE_RADIANS"):
        array.direction()
    assert time.t - 100.0 < MicArraySettings().deadline + 0.06


def test_no_transfer_waits_longer_than_its_own_timeout(bench):
    array, board, bus, time = bench
    board.silent = 1
    with pytest.raises(NoAnswer, match="did not answer"):
        array.direction()
    assert time.t - 100.0 == pytest.approx(0.05)
    assert array.direction()[1] is False
    assert min(bus.timeouts) > 0 and max(bus.timeouts) <= 50


def test_a_short_answer_is_none(bench):
    array, board, *_ = bench
    board.short = 1
    with pytest.raises(ShortAnswer, match="8 bytes, expected 9"):
        array.direction()
    array.direction()


def test_it_is_found_again_at_another_address(bench):
    array, board, bus, _ = bench
    array.identity()
    bus.pull()
    with pytest.raises(Vanished):
        array.direction()
    with pytest.raises(NotFound):
        array.direction()
    bus.plug(board)
    assert array.direction()[1] is False and bus.opened == 1


def test_identity_is_read_anew_after_it_was_unplugged(bench):
    array, board, bus, _ = bench
    array.identity()
    board.values["VERSION"] = (2, 1, 5)
    bus.pull()
    with pytest.raises(Vanished):
        array.direction()
    bus.plug(board)
    assert array.identity().version == (2, 1, 5)


def test_gains_are_written_and_read_back(bench):
    array, board, *_ = bench
    array.set_gains(microphones=4.5, reference=2.0)
    assert (array.gains().microphones, array.gains().reference) == (4.5, 2.0)
    assert board.flash == FACTORY, "nothing is saved unless asked for"
    for bad in (-1.0, 1001.0, float("nan")):
        with pytest.raises(ValueError, match="expected 0 to 1000"):
            array.set_gains(microphones=bad)


def test_a_write_that_does_not_take_is_told(bench):
    array, board, *_ = bench
    board.deaf = -1
    with pytest.raises(Refused, match=r"wrote \[4.0\], reads \[10.0\]"):
        array.set_gains(microphones=4.0)


def test_save_writes_flash_and_a_restart_gives_it_back(bench):
    array, board, *_ = bench
    array.set_gains(microphones=3.0)
    board.restart()
    assert array.gains().microphones == 10.0
    array.set_gains(microphones=3.0)
    array.save()
    board.restart()
    assert array.gains().microphones == 3.0


def test_mute_by_gain_gives_the_gain_back(bench):
    array, board, *_ = bench
    array.set_gains(microphones=7.0)
    assert array.mute() == "gain" and board.values["AUDIO_MGR_MIC_GAIN"] == (0.0,)
    assert array.mute() == "gain"
    array.unmute()
    assert array.gains().microphones == 7.0


def test_unmute_of_what_somebody_else_muted_asks_for_a_gain(bench):
    array, board, *_ = bench
    board.values["AUDIO_MGR_MIC_GAIN"] = (0.0,)
    with pytest.raises(Refused, match="not known"):
        array.unmute()
    array.unmute(10.0)
    assert array.gains().microphones == 10.0


def test_a_mute_that_would_leave_a_channel_open_is_refused(bench):
    array, board, *_ = bench
    board.values["AUDIO_MGR_OP_R"] = (1, 2)
    with pytest.raises(Refused, match="before its gain"):
        array.mute()
    assert array.gains().microphones == 10.0


def test_a_respeaker_is_muted_by_its_pin_and_shows_the_direction():
    board = EmulatedArray(*RESPEAKER)
    array = with_board(board)
    assert array.mute() == "pin" and board.values["GPO_READ_VALUES"] == (0, 1, 0, 1, 0)
    assert array.gains().microphones == 10.0
    array.unmute()
    assert board.values["GPO_READ_VALUES"] == (0, 0, 0, 1, 0)
    assert array.show_direction() and board.values["LED_EFFECT"] == (4,)


def test_a_board_without_leds_is_left_alone(bench):
    assert bench[0].show_direction() is False and bench[1].values["LED_EFFECT"] == (0,)


def test_the_newer_firmware_is_taken_when_both_are_there():
    bus = EmulatedUsb()
    bus.plug(EmulatedArray(*RESPEAKER))
    bus.plug(EmulatedArray())
    assert MicArray(PyUsbBus(bus), VirtualTime()).identity().address == "38fb:1001"


def test_a_command_that_the_firmware_lacks_is_named():
    board = EmulatedArray()
    array = with_board(board)
    array.identity()
    with pytest.raises(ValueError, match="can only be read"):
        array.write("VERSION", (1, 2, 3))
    board.lacks = ("DOA_VALUE_RADIANS",)
    with pytest.raises(Refused, match="does not know"):
        array.direction()


def test_every_trouble_is_a_usb_trouble():
    for trouble in (NoAnswer, NoPermission, NotFound, Refused, ShortAnswer, Vanished, WrongDevice):
        assert issubclass(trouble, UsbTrouble)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_what_is_packed_comes_back(data):
    name = data.draw(st.sampled_from([n for n, c in COMMANDS.items() if "w" in c.access]))
    command = COMMANDS[name]
    value = {"uint8": st.integers(0, 255), "int32": st.integers(-2**31, 2**31 - 1), "uint32": st.integers(0, 2**32 - 1),
             "float": st.floats(width=32, allow_nan=False, allow_infinity=False)}[command.kind]
    values = tuple(data.draw(st.lists(value, min_size=command.count, max_size=command.count)))
    assert unpacked(name, b"\0" + packed(name, values)) == values


@pytest.mark.parametrize(("name", "values"), [
    ("LED_EFFECT", (256,)), ("LED_EFFECT", (1.5,)), ("LED_EFFECT", ()), ("AUDIO_MGR_MIC_GAIN", (float("inf"),)),
    ("AUDIO_MGR_SYS_DELAY", (2**31,)), ("AUDIO_MGR_MIC_GAIN", (1e300,))])
def test_values_that_a_command_cannot_carry_are_refused(name, values):
    with pytest.raises(ValueError, match=name):
        packed(name, values)
