"""Real-time priority for a child process that must be on time."""
import gc
import os
import resource

SERVO_PRIORITY = 40        # SCHED_FIFO: above ordinary work, below the sound card's threads
SOUND_PRIORITY = 50        # a late sound block is heard, a late joint goal is interpolated
LONGEST_US = 500_000       # us of computing without a pause: a thread that runs wild is ended by SIGXCPU


def real_time(priority: int) -> str:
    """Asks for real-time priority, also of threads begun from now on; says in words what came of it."""
    gc.collect()
    gc.freeze()
    hardest = resource.getrlimit(resource.RLIMIT_RTTIME)[1]
    limit = LONGEST_US if hardest == resource.RLIM_INFINITY else min(LONGEST_US, hardest)
    resource.setrlimit(resource.RLIMIT_RTTIME, (limit, hardest))
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except PermissionError:
        return "runs with ordinary priority: the system allows no SCHED_FIFO (LimitRTPRIO of the service)"
    return "runs with real-time priority"
