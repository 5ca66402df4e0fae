"""Runs an engine's pure core against a fake server object, in virtual time, and a speaker that counts what is stale."""
import numpy as np

from dialogue.engine import Cancel, Clause, Commit, Hear, ReplyDone
from perception.audio.block import frozen_samples

TICK = 0.01
SILENCE = frozen_samples(np.zeros(160))
VOICE = frozen_samples(0.1 * np.sin(2 * np.pi * 200 * np.arange(160) / 16000))


class Line:
    """A core, a fake server, and the messages between them. hold: the server's messages wait until `release`."""

    def __init__(self, core, server, greeting=True):
        self.core, self.server, self.t = core, server, 0.0
        self.sent, self.replies, self.waiting, self.hold = [], [], [], False
        core.opened(0.0)
        if greeting:
            self.deliver(server.greeting())
        self.turn()

    def deliver(self, messages):
        self.waiting += messages
        while self.waiting and not self.hold:
            self.core.take(self.t, self.waiting.pop(0))

    def release(self):
        self.hold = False
        self.deliver([])

    def turn(self):
        """Everything that is due, until nobody says anything more."""
        for _ in range(20):
            messages, replies = self.core.step(self.t, 0)
            self.replies += replies
            self.sent += [message.body for message in messages]
            if not messages:
                return
            for message in messages:
                self.deliver(self.server.hear(message.body))

    def ask(self, request):
        self.core.ask(self.t, request)
        self.turn()

    def listen(self, seconds, speech=False):
        for _ in range(round(seconds / TICK)):
            self.t += TICK
            self.ask(Hear(self.t, VOICE if speech else SILENCE, speech))

    def say_something(self, seconds=0.6):
        """A turn; returns its onset and end."""
        onset = self.t
        self.listen(seconds, speech=True)
        return onset, self.t

    def commit(self, generation, seconds=0.6, turn=None):
        onset, end = self.say_something(seconds)
        self.ask(Commit(self.t, turn or generation, onset, end, generation))

    def got(self, kind, generation=None):
        return [r for r in self.replies if isinstance(r, kind) and generation in (None, getattr(r, "generation", None))]

    def words(self, generation):
        return " ".join(c.text for c in self.got(Clause, generation) if c.text)

    def seconds(self, generation):
        return sum(len(c.samples) for c in self.got(Clause, generation)) / 16000

    def kinds(self):
        return [body["type"] for body in self.sent]


__all__ = ["Cancel", "Clause", "Commit", "Hear", "Line", "ReplyDone"]
