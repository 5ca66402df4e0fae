"""What the servo bus may do, with the reason of each number."""
import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BusSettings:
    """Times in s, angles in rad, temperatures in deg C, voltages in V."""

    baud: int = 1_000_000            # bit/s: what a Reachy Mini's servos are set to (register 8 = 3)
    answer_s: float = 0.002          # beyond the wire time: USB latency 1 ms and a slow servo's own delay
    retry_s: float = 0.0015          # the same for a second try and for one servo: a bad tick still ends in 10 ms
    watchdog_units: int = 10         # 20 ms each: 200 ms outlast a stalled process restart's worst tick, not a dead one
    look_period_s: float = 0.9       # each servo's temperature, voltage, current and errors: at least once a second
    recall_s: float = 0.1            # the first call to a servo that has just gone silent: noise is over by then
    probe_period_s: float = 0.5      # how often a silent servo is called
    silent_ticks: int = 5            # misses in a row before a servo leaves the common read (each costs a timeout)
    silence_s: float = 0.3           # without an answer: told as trouble, and its goals stop
    leash_rad: float = math.radians(4)  # no goal is further than this from a joint: 12 % of its force; droop is 1.5 deg
    lag_ticks: int = 10              # and from those goals it may still be on its way to: 100 ms, three times its lag
    lost_rad: float = math.radians(3.8)  # on the leash: no torque, or held by something
    lost_s: float = 0.3              # told after so long; a knock is shorter
    free_rad: float = math.radians(3.5)  # it follows again
    rearm_rad: float = math.radians(0.5)   # the first goal after torque on is this close to the measured angle
    catch_up_rad_s: float = math.radians(90)    # peak speed on the way from there to the mind's goal, added to its own
    catch_up_min_s: float = 1.0      # and no quicker than this
    stall_s: float = 0.03            # a longer pause between two exchanges: the joints have stopped, begin again softly
    top_speed_rad_s: float = math.radians(240)  # a goal that moves faster is a jump; motion keeps to 200
    top_rad_s2: float = math.radians(1500)      # acceleration of goals and of an emergency stop; motion keeps to 930
    outside_speed: int = 22          # profile velocity, 30 deg/s, while a joint comes back inside its limits
    slow_rad_s: float = math.radians(25)        # peak speed of its goal meanwhile: the servo keeps up with it
    warm_c: float = 55.0             # motors lose torque and life: slower from here
    hot_c: float = 65.0              # park; the servo itself drops the head at 70
    cool_c: float = 60.0             # parking is no longer asked for
    slowest: float = 0.25            # speed scale at hot_c
    low_v: float = 6.0               # an empty battery (supply 6.8-7.6)
    high_v: float = 7.8              # the SDK tolerates the servo's own alarm (7.0) up to here
    parked_rad: float = math.radians(6)         # platform joints this close to the park pose: torque may go off
    reboot_s: float = 0.5            # a rebooting servo is left alone
    reboot_gives_up_s: float = 2.0   # until the next servo may be rebooted although this one is silent
    retry_after_s: tuple[float, ...] = (0.5, 10.0, 60.0, 600.0)   # n-th recovery of a servo waits so long
    forgiven_s: float = 600.0        # healthy for so long: its count starts anew
    proven_s: float = 10.0           # armed for so long: the fault is over (an overload comes back within seconds)
    calm_s: float = 2.0              # other trouble is over when it did not come back for so long
