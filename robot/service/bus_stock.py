"""The stock way to drive the servos, for comparison: ROBOTIS' own SDK in a loop. `python -m robot.service.bus_stock`.

Arguments: the port, the seconds, and 1 for real-time priority. Prints a JSON line: when each cycle began after its
deadline and how long it took (s), and how many reads failed. A cycle is what the SDK's examples do: GroupSyncWrite of
the goals, GroupSyncRead of the positions, deadlines of 10 ms as in our own process.
"""
import gc
import json
import os
import sys
import time

from dynamixel_sdk import COMM_SUCCESS, GroupSyncRead, GroupSyncWrite, PacketHandler, PortHandler

from calibration.body_model import reachy_mini
from firmware_bridge.registers import BY_NAME
from robot.bodies.real_time import SERVO_PRIORITY
from robot.tick import TICK_S

GOAL, POSITION = BY_NAME["goal_position"].address, BY_NAME["present_position"].address


def main(path: str, seconds: float, real_time: bool) -> None:
    port, packets = PortHandler(path), PacketHandler(2.0)
    assert port.openPort() and port.setBaudRate(1_000_000)
    writer, reader = GroupSyncWrite(port, packets, GOAL, 4), GroupSyncRead(port, packets, POSITION, 4)
    servos = [servo.id for servo in reachy_mini().servos]
    for servo in servos:
        reader.addParam(servo)
    if real_time:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(SERVO_PRIORITY))
    gc.collect()
    gc.freeze()
    late, cycle, failed = [], [], 0
    due = time.monotonic()
    for _ in range(round(seconds / TICK_S)):
        due += TICK_S
        wait = due - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        began = time.monotonic()
        for servo in servos:
            writer.addParam(servo, list((2048).to_bytes(4, "little")))
        writer.txPacket()
        writer.clearParam()
        failed += reader.txRxPacket() != COMM_SUCCESS
        late.append(began - due)
        cycle.append(time.monotonic() - began)
        due = max(due, began - TICK_S)         # too late to catch up, as in our own process
    port.closePort()
    print(json.dumps({"late": late, "cycle": cycle, "failed": failed}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3] == "1")
