"""Touch pads to taps, strokes and holds; vibration patterns; both on gpiozero's mock pins."""
import pytest
from gpiozero import Device
from gpiozero.pins.mock import MockFactory, MockPWMPin
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.health import Health
from firmware_bridge.haptics import EDGE_S, PATTERNS, REST, Haptics
from firmware_bridge.touch import TouchSense
from robot.bodies.touch_worker import GpioPins, PinTrouble, TouchLoop, TouchSettings

DT = 0.01


def felt(contacts, pads=2, seconds=5.0, dt=DT):
    """(t, kind) of what a hand did; contacts: (pad, begin, end)."""
    sense, out = TouchSense(pads), []
    for k in range(round(seconds / dt)):
        t = k * dt
        touch = sense.step(t, dt, [any(p == pad and a <= t < b for p, a, b in contacts) for pad in range(pads)])
        if touch is not None:
            out.append((touch.t, touch.kind))
    return out


def kinds(*arguments, **named):
    return [kind for _, kind in felt(*arguments, **named)]


def test_a_short_contact_is_a_tap_told_when_the_hand_is_gone():
    (t, kind), = felt([(0, 1.0, 1.12)])
    assert kind == "tap" and 1.35 < t < 1.45


def test_two_taps_are_two():
    assert kinds([(0, 1.0, 1.1), (0, 1.6, 1.7)]) == ["tap", "tap"]


def test_a_hand_over_two_pads_strokes_and_is_told_at_the_second():
    (t, kind), = felt([(0, 1.0, 1.4), (1, 1.3, 1.8)])
    assert kind == "stroke" and t == pytest.approx(1.31, abs=0.02)


def test_contact_that_comes_and_goes_on_one_pad_is_a_stroke():
    (t, kind), = felt([(0, 1.0 + 0.2 * k, 1.06 + 0.2 * k) for k in range(3)], pads=1)
    assert kind == "stroke" and t == pytest.approx(1.41, abs=0.02), "at the third contact"


def test_one_pad_passed_slowly_is_a_stroke():
    assert kinds([(0, 1.0, 1.7)], pads=1) == ["stroke"]


def test_a_resting_hand_holds_once():
    (t, kind), = felt([(0, 1.0, 4.0)])
    assert kind == "hold" and 2.15 < t < 2.3


def test_who_goes_on_stroking_is_told_again():
    found = felt([(k % 2, 1.0 + 0.3 * k, 1.25 + 0.3 * k) for k in range(12)], seconds=8)
    assert {kind for _, kind in found} == {"stroke"} and 3 <= len(found) <= 4


def test_chatter_of_a_pad_is_nothing():
    assert kinds([(0, 1.0 + 0.02 * k, 1.01 + 0.02 * k) for k in range(20)]) == []


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.booleans(), min_size=2, max_size=2), max_size=300))
def test_any_levels_give_touches_and_silence_ends_every_visit(levels):
    sense = TouchSense(2)
    for k, level in enumerate(levels):
        sense.step(k * DT, DT, level)
    rest = [sense.step(9.0 + k * DT, DT, (False, False)) for k in range(60)]
    assert sum(touch is not None for touch in rest) <= 1
    assert felt_after(sense) == ["tap"]


def felt_after(sense):
    found = [sense.step(10 + k * DT, DT, (k < 10, False)) for k in range(100)]
    return [touch.kind for touch in found if touch]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_is_soft_within_bounds_and_ends(name):
    haptics, last, out = Haptics(), 0.0, []
    haptics.start(name)
    for _ in range(300):
        out.append(haptics.step(DT))
        assert abs(out[-1] - last) <= 0.8 * DT / 0.03 + 1e-9, "no edge is harder than 30 ms"
        last = out[-1]
    assert max(out) > 0.2 and min(out) >= 0.0 and max(out) <= 1.0
    assert out[-1] == 0.0 and not haptics.active
    assert sum(seconds for _, seconds in PATTERNS[name]) < 2.5, "a mind that hangs cannot buzz"


def test_rest_fades_a_pattern_out():
    haptics = Haptics()
    haptics.start("purr")
    for _ in range(20):
        strong = haptics.step(DT)
    haptics.start(REST)
    fading = [haptics.step(DT) for _ in range(round(EDGE_S / DT))]
    assert strong > 0.2 and fading == sorted(fading, reverse=True) and fading[0] > 0.1 and fading[-1] == 0.0


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(PATTERNS)), st.lists(st.floats(0.0, 0.7), min_size=1, max_size=20))
def test_strength_does_not_depend_on_the_steps(name, pieces):
    coarse, fine = Haptics(), Haptics()
    coarse.start(name)
    fine.start(name)
    for dt in pieces:
        coarse.step(dt)
        for _ in range(7):
            fine.step(dt / 7)
        assert coarse.strength == pytest.approx(fine.strength, abs=1e-6)


@pytest.fixture
def board():
    before, Device.pin_factory = Device.pin_factory, MockFactory(pin_class=MockPWMPin)
    yield Device.pin_factory
    Device.pin_factory.reset()
    Device.pin_factory = before


def test_the_loop_feels_a_tap_and_drives_the_motor(board):
    loop = TouchLoop(TouchSettings(pads=(17, 27), motor=18, strongest=0.5))
    assert [(h.part, h.level) for h in loop.step(0.0, ())] == [("touch", "ok")]
    pad, motor = board.pin(17), board.pin(18)
    found, strength = [], []
    for k in range(1, 120):
        if k in (10, 22):
            pad.drive_high() if k == 10 else pad.drive_low()
        found += loop.step(k * DT, ("tap", "unknown") if k == 60 else ())
        strength.append(motor.state)
    assert [touch.kind for touch in found] == ["tap"]
    assert max(strength[:58]) == 0.0 and max(strength) == pytest.approx(0.35) and strength[-1] == 0.0
    loop.close()


def test_the_motor_stands_when_the_robot_lets_go_in_mid_pattern(board):
    loop = TouchLoop(TouchSettings(motor=18))
    loop.step(0.0, ())
    loop.step(DT, ("purr",))
    for k in range(2, 30):
        loop.step(k * DT, ())
    assert board.pin(18).state > 0.2
    loop.close()
    assert board.pin(18).state == 0.0


def test_pads_with_a_pull_up_are_touched_when_low(board):
    pins = GpioPins(TouchSettings(pads=(17,), pull_up=True))
    assert pins.touched() == [False]
    board.pin(17).drive_low()
    assert pins.touched() == [True]
    pins.close()


def test_pins_that_are_taken_are_told_once_and_tried_again(board):
    first = GpioPins(TouchSettings(pads=(17,)))
    loop = TouchLoop(TouchSettings(pads=(17,)))
    found = [v for k in range(1500) for v in loop.step(k * DT, ())]
    assert [(h.level, "GPIOPinInUse" in h.reason) for h in found] == [("gone", True)]
    first.close()
    found = [v for k in range(1500, 2100) for v in loop.step(k * DT, ())]
    assert [h.level for h in found if isinstance(h, Health)] == ["ok"]
    loop.close()


def test_a_board_without_its_driver_is_told_once_and_not_tried_with_every_step():
    tries = []

    def absent(settings):
        tries.append(settings)
        raise PinTrouble("BadPinFactory: none of the pin libraries works here")

    loop = TouchLoop(TouchSettings(motor=18), absent)
    told = [v for k in range(2500) for v in loop.step(k * DT, ("purr",))]
    assert [h.level for h in told] == ["gone"] and told[0].reason.startswith("BadPinFactory") and len(tries) == 3


@pytest.mark.parametrize("wrong", [{"pads": (17, 17)}, {"pads": (40,)}, {"motor": 17, "pads": (17,)},
                                   {"strongest": 0.0}, {"strongest": float("nan")}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValueError, match="expected"):
        TouchSettings(**wrong)


def test_nothing_is_wanted_without_pins():
    assert not TouchSettings().wanted and TouchSettings(motor=4).wanted
