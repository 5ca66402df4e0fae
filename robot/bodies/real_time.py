"""Real-time priority for a process that must be on time."""
import gc
import os
import resource

MIND_PRIORITY = 30         # SCHED_FIFO: below servos and sound; its children, the engine among them, are ordinary work
SERVO_PRIORITY = 40        # SCHED_FIFO: above ordinary work, below the sound card's threads
SOUND_PRIORITY = 50        # a late sound block is heard, a late joint goal is interpolated
LONGEST_US = 500_000       # us of computing without a pause: a thread that runs wild is ended by SIGXCPU


def real_time(priority: int, threads: bool = True) -> str:
    """Asks for real-time priority; says in words what came of it.

    threads: also for threads and processes begun from now on; the process is then ended when one of them runs wild, so
    that it cannot take the machine along (a sound library that waits for a starved sound server does).
    """
    gc.collect()
    gc.freeze()
    if threads:
        hardest = resource.getrlimit(resource.RLIMIT_RTTIME)[1]
        limit = LONGEST_US if hardest == resource.RLIM_INFINITY else min(LONGEST_US, hardest)
        resource.setrlimit(resource.RLIMIT_RTTIME, (limit, hardest))
    policy = os.SCHED_FIFO if threads else os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
    try:
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except PermissionError:
        return "runs with ordinary priority: the system allows no SCHED_FIFO (LimitRTPRIO of the service)"
    return "runs with real-time priority"
