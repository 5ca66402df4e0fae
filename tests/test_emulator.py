"""The fake servos: registers behave as the data sheet says, joints move plausibly, faults do what they are called."""
import numpy as np
import pytest

from calibration.body_model import reachy_mini
from firmware_bridge import packets
from firmware_bridge.emulator import Emulator, EmulatorPort
from firmware_bridge.packets import PacketReader
from firmware_bridge.registers import BY_NAME, OVERHEAT, OVERLOAD, VOLTAGE, to_ticks

BODY = reachy_mini()
NEUTRAL = np.radians([0.0, *[35.9, -35.9] * 3, -10.0, 10.0])
LEFT_ANTENNA = 18


class Master:
    """Sends one instruction at a time and reads the answers; time stands still meanwhile."""

    def __init__(self, **emulator):
        self.emulator = Emulator(BODY.servos, positions=NEUTRAL, **emulator)

    def send(self, request: bytes) -> list[packets.Packet]:
        reader = PacketReader()
        return [packet for _, answer in self.emulator.feed(request) for packet in reader.feed(answer)]

    def write(self, servo: int, name: str, value: int) -> int:
        register = BY_NAME[name]
        (packet,) = self.send(packets.write(servo, register.address, register.pack(value)))
        return packet.error

    def read(self, servo: int, name: str) -> int:
        register = BY_NAME[name]
        (packet,) = self.send(packets.read(servo, register.address, register.size))
        assert packet.error == 0
        return int.from_bytes(packet.data, "little", signed=register.signed)

    def arm(self, servo: int, angle: float) -> None:
        self.write(servo, "goal_position", to_ticks(angle))
        assert self.write(servo, "torque_enable", 1) == 0

    def run(self, seconds: float, talk: bool = False) -> None:
        for _ in range(round(seconds * 100)):
            self.emulator.step(0.01)
            if talk:
                self.send(packets.ping(10))


@pytest.fixture
def master():
    return Master()


def test_ping_tells_the_models(master):
    answers = master.send(packets.ping(packets.BROADCAST))
    models = {p.servo: int.from_bytes(p.data[:2], "little") for p in answers}
    assert models == {10: 1240, **dict.fromkeys(range(11, 17), 1200), 17: 1190, 18: 1190}


def test_the_eeprom_is_locked_while_torque_is_on(master):
    assert master.write(11, "homing_offset", 1000) == 0
    master.write(11, "homing_offset", 1024)
    master.arm(11, NEUTRAL[1])
    assert master.write(11, "homing_offset", 1000) == packets.NO_ACCESS
    assert master.read(11, "homing_offset") == 1024


@pytest.mark.parametrize("name, value, error", [
    ("present_position", 0, packets.NO_ACCESS),
    ("torque_enable", 2, packets.BAD_RANGE),
    ("bus_watchdog", 200, packets.BAD_RANGE),
    ("goal_position", 1501, packets.OVER_LIMIT),
    ("goal_position", 2959, packets.OVER_LIMIT),
    ("goal_position", 2958, 0),
])
def test_what_may_be_written(master, name, value, error):
    assert master.write(11, name, value) == error


def test_part_of_a_register_and_unknown_addresses_are_refused(master):
    (short,) = master.send(packets.write(11, 116, b"\0\0"))
    (nowhere,) = master.send(packets.write(11, 150, b"\0"))
    assert (short.error, nowhere.error) == (packets.BAD_LENGTH, packets.NO_ACCESS)


def test_several_registers_in_one_write_are_taken_all_or_none(master):
    gains = b"\x01\x00\x02\x00\x2c\x01"
    (done,) = master.send(packets.write(11, 80, gains))
    assert done.error == 0 and master.read(11, "position_p_gain") == 300
    (refused,) = master.send(packets.write(11, 80, b"\x05\x00\x06\x00\xff\xff"))
    assert refused.error == packets.BAD_RANGE and master.read(11, "position_d_gain") == 1


def test_a_held_joint_follows_with_its_lag_and_droops(master):
    master.arm(11, NEUTRAL[1])
    master.write(11, "position_p_gain", 300)
    master.run(1.0)
    assert np.degrees(master.emulator.true_positions()[1]) == pytest.approx(35.9 - 1.5, abs=0.1)
    speed, errors = 1.0, []
    for tick in range(60):
        master.write(11, "goal_position", to_ticks(NEUTRAL[1] - speed * 0.01 * (tick + 1)))
        errors.append(master.emulator.true_positions()[1] - (NEUTRAL[1] - np.radians(1.5) - speed * 0.01 * tick))
        master.run(0.01)
    assert np.mean(errors[30:]) == pytest.approx(0.030 * speed, abs=0.006)
    assert master.emulator.true_velocities()[1] == pytest.approx(-speed, abs=0.05)
    assert master.emulator.true_positions()[2] != NEUTRAL[2]      # limp: it sinks


def test_the_step_size_does_not_change_the_motion(master):
    other = Master()
    for one in (master, other):
        one.arm(10, 0.5)
    master.run(0.1)
    for _ in range(40):
        other.emulator.step(0.0025)
    np.testing.assert_allclose(master.emulator.true_positions(), other.emulator.true_positions(), atol=2e-3)


def test_the_top_speed_and_the_profile_velocity_hold(master):
    master.arm(10, 2.5)
    master.run(0.1)
    assert abs(master.emulator.true_velocities()[0]) <= 8.0
    master.write(11, "profile_velocity", 22)
    master.arm(11, -0.5)
    before = master.emulator.true_positions()[1]
    master.run(0.5)
    assert before - master.emulator.true_positions()[1] <= np.radians(31) * 0.5


def test_the_watchdog_stops_a_forgotten_servo_and_locks_its_goals(master):
    master.arm(10, 0.0)
    master.write(10, "bus_watchdog", 5)
    master.run(0.3, talk=True)
    assert master.read(10, "bus_watchdog") == 5
    master.run(0.15)
    assert master.read(10, "bus_watchdog") == 255
    assert master.write(10, "goal_position", 2048) == packets.BAD_RANGE
    assert master.write(10, "torque_enable", 1) == 0
    assert master.write(10, "bus_watchdog", 5) == packets.BAD_RANGE
    assert master.write(10, "bus_watchdog", 0) == 0
    assert master.write(10, "goal_position", 2048) == 0


def test_the_watchdog_sleeps_while_torque_is_off(master):
    master.write(10, "bus_watchdog", 5)
    master.run(1.0)
    assert master.read(10, "bus_watchdog") == 5


def test_an_error_in_the_shutdown_mask_takes_the_torque_until_a_reboot(master):
    master.arm(13, NEUTRAL[3])
    master.emulator.latch(13, OVERLOAD)
    assert master.read(13, "torque_enable") == 0
    (packet,) = master.send(packets.ping(13))
    assert packet.alert
    master.write(13, "torque_enable", 1)
    assert master.read(13, "torque_enable") == 0
    master.send(packets.reboot(13))
    assert master.send(packets.ping(13)) == []               # still starting
    master.run(0.5)
    assert master.read(13, "hardware_error") == 0
    assert master.read(13, "position_p_gain") == 400         # RAM began anew
    master.arm(13, NEUTRAL[3])
    assert master.read(13, "torque_enable") == 1


def test_an_error_outside_the_mask_only_alerts():
    master = Master(supply_v=7.4)                            # above the servo's own 7.0 V, as on the robot
    master.run(0.2)
    master.arm(11, NEUTRAL[1])
    assert master.read(11, "hardware_error") == VOLTAGE
    assert master.read(11, "torque_enable") == 1
    assert master.read(11, "present_input_voltage") == 74


def test_heat_and_stall_latch_their_errors(master):
    master.emulator.fault(12, temperature_c=71.0)
    master.arm(10, 0.0)
    master.emulator.grip("body_yaw")
    master.write(10, "goal_position", to_ticks(0.8))
    master.run(0.2)
    assert master.read(12, "hardware_error") == OVERHEAT
    assert master.read(12, "present_temperature") == 71
    assert abs(master.read(10, "present_current")) > 1000
    master.run(2.0)
    assert master.read(10, "hardware_error") == OVERLOAD
    assert master.read(10, "torque_enable") == 0


def test_a_limp_head_sinks_slowly_and_the_body_stays():
    emulator = Emulator(BODY.servos, positions=NEUTRAL)
    fastest = 0.0
    for _ in range(300):
        emulator.step(0.01)
        fastest = max(fastest, float(np.abs(emulator.true_velocities()).max()))
    assert fastest < 0.9
    assert emulator.true_positions()[0] == 0.0
    assert np.degrees(emulator.true_positions()[2]) > 40


def test_registered_and_bulk_instructions(master):
    goal = BY_NAME["goal_position"]
    (ok,) = master.send(packets.encode(17, packets.REG_WRITE, b"\x74\x00" + goal.pack(2100)))
    assert ok.error == 0 and master.read(17, "registered_instruction") == 1
    assert master.read(17, "goal_position") != 2100
    (done,) = master.send(packets.encode(17, packets.ACTION))
    assert done.error == 0 and master.read(17, "goal_position") == 2100
    (again,) = master.send(packets.encode(17, packets.ACTION))
    assert again.error == packets.BAD_INSTRUCTION
    both = packets.encode(packets.BROADCAST, packets.BULK_READ, bytes((17, 116, 0, 4, 0, 10, 0, 0, 2, 0)))
    assert [len(packet.data) for packet in master.send(both)] == [4, 2]
    assert master.send(packets.encode(
        packets.BROADCAST, packets.BULK_WRITE, bytes((17, 65, 0, 1, 0, 1)) + bytes((18, 116, 0, 4, 0)) + goal.pack(2000)
    )) == []
    assert (master.read(17, "led"), master.read(18, "goal_position")) == (1, 2000)
    (unknown,) = master.send(packets.encode(17, 0x06, b"\xff"))
    assert unknown.error == packets.BAD_INSTRUCTION


def test_statuses_can_be_switched_off(master):
    master.send(packets.write(18, 68, b"\1"))
    assert master.send(packets.write(18, 65, b"\1")) == []
    assert master.read(18, "led") == 1
    master.send(packets.write(18, 68, b"\0"))
    assert master.send(packets.read(18, 65, 1)) == []
    assert len(master.send(packets.ping(18))) == 1


@pytest.mark.parametrize("faults, heard", [
    ({"silent": True}, 8), ({"unplugged": True}, 8), ({"wrong_crc": 1.0}, 8), ({"dropped_byte": 1.0}, 8),
    ({"garbage": 1.0}, 9), ({"delay_s": 0.02}, 9)])
def test_faults_of_one_answer(master, faults, heard):
    master.emulator.fault(LEFT_ANTENNA, **faults)
    reader = PacketReader()
    answers = master.emulator.feed(packets.sync_read(range(10, 19), 132, 4))
    found = [packet for _, answer in answers for packet in reader.feed(answer)]
    assert len(found) == heard
    assert answers[-1][0] > 0.02 or "delay_s" not in faults


def test_a_chain_that_breaks_leaves_the_rest_unheard():
    master = Master(chain_breaks=True)
    master.emulator.fault(12, silent=True)
    assert [p.servo for p in master.send(packets.sync_read(range(10, 19), 132, 4))] == [10, 11]


def test_torque_that_stays_off_and_a_dead_motor(master):
    master.emulator.fault(11, torque_stays_off=True)
    assert master.write(11, "torque_enable", 1) == 0
    assert master.read(11, "torque_enable") == 0
    master.emulator.fault(12, dead_motor=True)
    master.arm(12, -0.8)
    master.run(1.0)
    assert master.read(12, "torque_enable") == 1
    assert np.degrees(master.emulator.true_positions()[2]) > 0      # sank, away from its goal


def test_the_port_takes_wire_time_and_no_other():
    port = EmulatorPort(Emulator(BODY.servos))
    request = packets.sync_read(range(10, 19), 132, 4)
    port.write(request)
    assert port.read(15, 0.0) == b""
    assert len(port.read(9 * 15, 0.01)) == 9 * 15
    assert port.cycle_s == pytest.approx((len(request) + 9 * 15) * 1e-5 + 9 * 3e-5, abs=1e-6)
    port.connected = False
    port.write(request)
    assert port.read(15, 0.003) == b""


def test_the_same_seed_gives_the_same_bytes():
    def stream(seed: int) -> bytes:
        emulator = Emulator(BODY.servos, seed)
        emulator.fault(packets.BROADCAST, garbage=0.5, dropped_byte=0.3)
        return b"".join(answer for _ in range(20) for _, answer in emulator.feed(packets.ping(packets.BROADCAST)))

    assert stream(3) == stream(3) != stream(4)
