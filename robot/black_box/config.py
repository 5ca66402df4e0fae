"""What the black box may keep, and how much."""
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BoxConfig:
    """Section [box]. Without sound the box keeps events, scene, joints, health and levels, and cannot be replayed.

    sound is the permission for the exact tape: what microphones and loudspeaker carried, all words, and faces as
    numbers (there are no pictures in a tape). Whoever is in the room must have agreed.
    """

    on: bool = True              # keeps the last minutes in memory; written only when asked, on a fault, at a complaint
    sound: bool = False          # see above; off: nothing that was said or seen can be heard or seen again
    words: bool = False          # texts of events, without their sound; off: how many letters
    minutes: float = 2.0         # at least so much before the cause (up to a segment more)
    segment_s: float = 60.0      # a mind is kept so often: 3 to 9 ms of work here, after one tick in 6,000
    memory_mb: float = 96.0      # for the ring, in the box's own process: a minute with sound took 22 MB here
    disk_mb: float = 400.0       # of all boxes together; the oldest go
    free_mb: float = 200.0       # stays free on the disk, whatever disk_mb allows
    tail_s: float = 2.0          # recorded after the cause, so that its consequence is in the box
    settle_s: float = 10.0       # after the start no fault writes a box: a device that never came is no incident
    quiet_s: float = 120.0       # after a box that a fault wrote, the next fault writes none: a loose plug must not

    def __post_init__(self) -> None:
        for name in ("minutes", "segment_s", "memory_mb", "disk_mb"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} = {getattr(self, name)}, expected more than 0")
