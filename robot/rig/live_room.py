"""The simulated room in real time, on the rig: `python -m robot.rig.live_room FD`. Started by live_bench, not by hand.

It hears the rig's loudspeaker, computes what the microphones hear of it and of a person, and plays that into them. The
person follows a plan: asks for something long, talks over the answer, listens to the next one. What happened is said
on the socket: Talked for each sentence, Fell for each time the loudspeaker fell silent under it.
"""
import os
import signal
import socket
import sys
import time
from typing import Any

import numpy as np
import sounddevice as sd

from calibration.body_model import reachy_mini
from calibration.frames import HeadPose
from dialogue.engine import SpeakerBlock
from perception.audio.block import BLOCK, BLOCK_S, SAMPLE_RATE_HZ, Samples, frozen_samples
from robot.bodies.real_time import real_time
from robot.bodies.room.loudspeaker import LoudspeakerConfig
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import Room, RoomConfig
from robot.bodies.room.servos import Joints
from robot.bodies.room.soundscape import SoundConfig
from robot.bodies.room.voices import spoken
from robot.channel import Channel
from robot.rig.live_plan import INTERRUPTIONS, QUIET_S, REQUESTS, Fell, Plan, Ready, RoomFigures, RoomSetup, Talked

NAME = "anna"
ROOM_PRIORITY = 45             # SCHED_FIFO: the room stands for the air, which is never late
PERIOD = 2                     # blocks a device period
AHEAD = 8                      # blocks written ahead: 80 ms against a late loop
SOUNDS_DBFS = -60.0            # of the rig's loudspeaker: what is below is not a voice
ECHO_PROBE_S = 3.0             # at the start: clicks go round the rig, to know how long it takes
CLICK_BLOCK, CLICK_EVERY = 800, 8     # samples, blocks: a click every 0.4 s, farther apart than the way round


class LiveRoom:
    """One room on the rig."""

    def __init__(self, setup: RoomSetup, channel: Channel):
        self.channel = channel
        body = reachy_mini()
        person = PersonScript(NAME, azimuth=0.3, distance=1.1)
        sound = SoundConfig(loudspeaker=LoudspeakerConfig(playback_delay_s=0.02, queue_blocks=0))
        self.room = Room(RoomConfig(sound=sound, recording_s=1.0), body, (person,), setup.seed)
        self.room.turn_head(Joints(body, setup.seed).pose)
        for text in REQUESTS + INTERRUPTIONS:
            spoken(text, person.voice)                     # from the cache while time runs
        self.plan = Plan(np.random.default_rng([setup.seed, 71]), setup.interrupts)
        self.velocity = np.zeros(9)
        self.blocks = self.xruns = 0
        self._sounding = self._quiet = 0.0                 # s
        self._began = 0.0                                  # s, monotonic clock at t = 0 of the room

    def run(self) -> None:
        block = PERIOD * BLOCK
        how: dict[str, Any] = {"samplerate": SAMPLE_RATE_HZ, "blocksize": block, "latency": 0.06, "dtype": "float32"}
        with sd.InputStream(device="rig_voice", channels=1, **how) as ears, \
                sd.OutputStream(device="rig_room", channels=4, **how) as mouth:
            mouth.write(np.zeros((AHEAD * BLOCK, 4), np.float32))
            self.channel.send(Ready(self._echo_delay(ears, mouth)))
            self._began = time.monotonic()
            while not self.channel.closed:
                heard, over = ears.read(block)
                under = mouth.write(self._period(heard[:, 0]))
                self.xruns += over + under
                self._listen()

    def _period(self, voice: Samples) -> Samples:
        """(n, 4) that the microphones hear while the loudspeaker plays `voice` (n,)."""
        out = np.zeros((len(voice), 4), np.float32)
        for start in range(0, len(voice), BLOCK):
            self.blocks += 1
            t = self.blocks * BLOCK_S
            piece = frozen_samples(voice[start:start + BLOCK])
            self._follow(t, piece)
            self.room.gate.put([SpeakerBlock(0, 0, piece)], 0)
            out[start:start + BLOCK] = self.room.capture(t, self.velocity).mics.T
        return out

    def _follow(self, t: float, piece: Samples) -> None:
        """The robot's voice in time, and what the person makes of it."""
        level = 10 * np.log10(float(np.mean(piece ** 2)) + 1e-12)
        if level > SOUNDS_DBFS:
            self._sounding, self._quiet = self._sounding + BLOCK_S + self._pause(), 0.0
        else:
            self._quiet += BLOCK_S
            if self._sounding and self._quiet >= QUIET_S:
                self.channel.send(Fell(self._began + t - self._quiet, self._sounding))
                self._sounding = 0.0
        text = self.plan.step(t, self._sounding, self._quiet)
        if text is not None:
            said = self.room.person(NAME).say(t, text)
            self.channel.send(Talked(self._began + said.onset, self._began + said.end, text, self._sounding > 0))

    def _pause(self) -> float:
        """A pause that has just ended in the middle of speech."""
        return self._quiet if self._sounding and self._quiet < QUIET_S else 0.0

    def _listen(self) -> None:
        """The newest pose of the head and speed of the joints; figures now and then."""
        for pose, velocity in self.channel.receive()[-1:]:
            assert isinstance(pose, HeadPose)
            self.room.turn_head(pose)
            self.velocity = velocity
        if self.blocks % 100 == 0:
            self.channel.send(RoomFigures(self.blocks, self.xruns))

    def _echo_delay(self, ears: Any, mouth: Any) -> float:
        """Seconds from the rig's loudspeaker through this loop into its microphones, on the array's clock: clicks."""
        recorded: list[Samples] = []
        clock = {"samplerate": SAMPLE_RATE_HZ, "dtype": "float32"}

        def click(out: Samples, frames: int, times: Any, status: Any) -> None:
            out[:] = 0
            out[0] = 0.5 if len(recorded) % CLICK_EVERY == CLICK_EVERY - 1 else 0.0

        def record(heard: Samples, frames: int, times: Any, status: Any) -> None:
            recorded.append(heard.copy())
        with sd.OutputStream(device="rig_loudspeaker", channels=1, callback=click, blocksize=CLICK_BLOCK, **clock), \
                sd.InputStream(device="rig_array", channels=5, callback=record, blocksize=CLICK_BLOCK, **clock):
            for _ in range(int(ECHO_PROBE_S / BLOCK_S / PERIOD)):
                mouth.write(np.repeat(ears.read(PERIOD * BLOCK)[0], 4, axis=1))
        sound = np.concatenate(recorded)
        played, came = (np.flatnonzero(np.abs(sound[:, channel]) > 0.25) for channel in (4, 0))
        delays = [came[came > at][0] - at for at in played if (came > at).any()]
        return float(np.median(delays)) / SAMPLE_RATE_HZ if delays else float("nan")


def main() -> None:
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    setup: RoomSetup | None = channel.first()
    if setup is not None:
        room = LiveRoom(setup, channel)
        real_time(ROOM_PRIORITY, threads=False)
        room.run()
    os._exit(0)


if __name__ == "__main__":
    main()
