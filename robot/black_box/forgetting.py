"""What a running robot can forget at once: its engine's memory of people, and what was said."""
from collections.abc import Callable

from robot.runtime import GuardedMind
from robot.worker import Worker


def forgetting(mind: GuardedMind, engine: Worker) -> Callable[[], None]:
    """For BlackBox.forget. The engine's process ends and begins anew; a reply it was making is lost.

    Who is in front of the camera stays a nameless person with a place and a face in numbers, until that person leaves.
    """
    def forget() -> None:
        engine.close()
        mind.mind.dialogue.answering.history = ()

    return forget
