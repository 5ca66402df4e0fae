"""The sound process's own program: `python -m robot.bodies.sound_child FD`. Started by sound_process, not by hand.

It looks for the configured devices until they are there, opens them, and watches the streams. Whatever goes wrong
afterwards, it ends: PortAudio may hang on a device that vanished, and a fresh process has a fresh list of devices.
"""
import json
import mmap
import os
import select
import signal
import socket
import sys
import time

from calibration.health import Health
from dialogue.engine import SpeakerBlock
from perception.audio.block import AudioBlock
from robot.bodies.health_table import HealthTable
from robot.bodies.real_time import SOUND_PRIORITY, real_time
from robot.bodies.sound_backend import DeviceTrouble, SoundBackend, backend_named
from robot.bodies.sound_card import SoundCard
from robot.bodies.sound_place import SoundPlace
from robot.bodies.sound_playback import Playback
from robot.bodies.sound_slots import (
    ORDERS,
    SIZE,
    SoundSetup,
    packed_block,
    shared,
    unpacked_spoken,
)
from robot.bodies.sound_watch import SoundWatch
from robot.channel import Channel

PROCESS, CARD = "sound_process", "sound_card"     # parts in Health
LOOK_S = 0.1                                      # between two looks at the streams
STALLED, DEAD = 3, 4                              # exit status: the stream died, the microphones gave zeros


class SoundChild:
    """One life of the sound process."""

    def __init__(self, setup: SoundSetup, parent: socket.socket):
        self.setup, self.parent = setup, parent
        self.memory = shared(mmap.mmap(setup.memory, SIZE))
        self.health = HealthTable(self.memory.health)
        self.trouble = next((h.reason for h in setup.standing if h.part == CARD), None)
        self.hung_up = False
        self.volume = setup.config.volume
        self.muted = setup.config.muted

    def run(self) -> int:
        """The exit status."""
        self._tell(PROCESS, "ok", real_time(SOUND_PRIORITY))
        card = self._opened()
        if card is None:
            return 0
        real_time(SOUND_PRIORITY, threads=False)      # the streams have their threads; a process is ordinary work
        place = SoundPlace()
        try:
            return self._watched(card, place)
        finally:
            place.close()

    def _watched(self, card: SoundCard, place: SoundPlace) -> int:
        """Until the parent hangs up or something is wrong; the exit status."""
        watch = SoundWatch(self.setup.config, self.setup.patience_s)
        watch.begin(time.monotonic())
        while not self.hung_up:
            self._rest(LOOK_S)
            figures = card.figures
            self.memory.figures.write(json.dumps(figures.plain()).encode())
            reason = place.moved() or watch.verdict(time.monotonic(), figures.captured, figures.played,
                                                    card.active, card.silent_s, card.playback.sounds)
            if reason is not None:
                self._tell(CARD, "gone", reason)
                return DEAD if card.silent_s > self.setup.patience_s else STALLED
            if self.trouble != "" and figures.captured and figures.played:
                self.trouble = ""
                ears, mouth = card.names
                self._tell(CARD, "ok", f"hears by {ears} at {card.rates[0]} Hz, speaks by {mouth} at "
                                       f"{card.rates[1]} Hz")
        card.close()
        return 0

    def _opened(self) -> SoundCard | None:
        """The card, waited for with a growing pause; None when the parent hung up meanwhile."""
        pause, longest = self.setup.config.backoff_s
        backend: SoundBackend | None = None
        while not self.hung_up:
            try:
                backend = backend or backend_named(self.setup.config.backend)
                return SoundCard(self.setup.config, backend, self._now, self._hand_over, self._feed)
            except DeviceTrouble as error:
                if str(error) != self.trouble:
                    self.trouble = str(error)
                    self._tell(CARD, "gone", self.trouble)
            self._rest(pause)
            pause = min(2 * pause, longest)
        return None

    def _now(self) -> float:
        return time.monotonic() - self.setup.start

    def _tell(self, part: str, level, reason: str) -> None:
        self.health.add((Health(self._now(), part, level, reason),))

    def _hand_over(self, blocks: list[AudioBlock]) -> None:
        for block in blocks:
            self.memory.captured.write(packed_block(block))
        if blocks:
            self._ring()

    def _feed(self, playback: Playback) -> None:
        """The mind's newest orders and blocks, to the gate. Orders first: blocks are never older than they are."""
        blocks: list[SpeakerBlock] = [unpacked_spoken(data) for data in self.memory.spoken.read()]
        count, data = self.memory.orders.read()
        live = playback.gate.live_generation
        if count:
            live, self.volume, self.muted = ORDERS.unpack(data)
        playback.volume = 0.0 if self.muted else self.volume
        playback.put(blocks, live)

    def _ring(self) -> None:
        """Tells the parent that there is something new and that this process lives."""
        try:
            self.parent.send(b"\0")
        except BlockingIOError:
            pass                        # it does not look; the rings wait for it
        except OSError:
            self.hung_up = True

    def _rest(self, seconds: float) -> None:
        self._ring()
        readable, _, _ = select.select([self.parent], [], [], seconds)
        if readable:                    # the parent says nothing after the setup: it hung up
            self.hung_up = True


def main() -> None:
    parent = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)        # a Ctrl-C is the parent's to answer
    setup: SoundSetup | None = Channel(parent).first()
    if setup is None:
        return
    child = SoundChild(setup, parent)
    status = child.run()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)                    # without PortAudio's own farewell, which waits for a device that is gone


if __name__ == "__main__":
    main()
