"""Forced listening after a local stop: a model that cannot be cancelled is told, unit by unit, to listen.

Its answers to units from before the stop may still be speech; nothing passes until it has listened to a unit that told
it to, and the person is quiet.
"""


class Latch:
    """quiet: s without speech before it opens."""

    def __init__(self, quiet: float):
        self.quiet = quiet
        self._closed_at: float | None = None     # s; None: open
        self._forced: int | None = None          # the first unit that told it to listen
        self._on_its_way = True                  # ... and that unit has not left this machine yet
        self._listened = False                   # it did
        self._passes_after = 0                   # answers to units up to this one are of before

    def close(self, t: float, sent: int) -> None:
        """A reply was stopped at t (s), after unit `sent`."""
        if self._closed_at is None:
            self._closed_at = t
        self._forced, self._listened, self._on_its_way = None, False, True
        self._passes_after = sent

    def skip(self, sent: int) -> None:
        """Answers to units up to `sent` are nobody's."""
        self._passes_after = max(self._passes_after, sent)

    def open(self) -> None:
        """A new session knows nothing of the old one's replies."""
        self._closed_at, self._passes_after = None, 0

    def force(self, number: int) -> bool:
        """Whether unit `number`, about to be sent, tells the model to listen."""
        if self._closed_at is None:
            return False
        if self._forced is None:
            self._forced = number
        self._passes_after = number
        return True

    def crossed(self, sent: int) -> None:
        """All units up to `sent` have left this machine."""
        if self._forced is not None and sent >= self._forced:
            self._on_its_way = False

    def lets(self, listens: bool, number: int | None) -> bool:
        """Whether an answer (to unit `number`, where that is known) may be heard."""
        if self._closed_at is None:
            return number is None or number > self._passes_after
        told = self._forced is not None and not self._on_its_way if number is None else (
            self._forced is not None and number >= self._forced)
        if told:
            self._listened = listens             # speech after it: not what was asked for, it must listen once more
        return False

    def step(self, t: float, speech_at: float) -> None:
        """Opens when the model has listened and the person, who spoke last at speech_at (s), is quiet."""
        if self._closed_at is not None and self._listened and t - max(speech_at, self._closed_at) >= self.quiet:
            self._closed_at = None

    def closed_for(self, t: float) -> float:
        """s that the model has not listened though it was told to."""
        return 0.0 if self._closed_at is None or self._listened else t - self._closed_at
