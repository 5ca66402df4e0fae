"""The sound card while it is open: two streams, what they hand over and what they are given."""
from collections.abc import Callable
from dataclasses import asdict, dataclass

from perception.audio.block import AudioBlock, Samples
from robot.bodies.reference_line import ReferenceLine
from robot.bodies.sound_backend import SoundBackend, Stream, chosen, rate_for
from robot.bodies.sound_capture import Capture
from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.sound_playback import Playback


@dataclass(slots=True)
class SoundFigures:
    """What the card did so far. Counts since the streams were opened; seconds where the name says so."""

    captured: int = 0              # device blocks
    played: int = 0
    overflows: int = 0             # xruns of the microphones
    underflows: int = 0            # and of the loudspeaker
    losses: int = 0                # places where sound of the microphones is missing ...
    lost_s: float = 0.0            # ... and how much
    starved: int = 0               # blocks of silence inside a reply, because the mind was late
    stale: int = 0                 # blocks of replies that were not live any more, taken out before the device
    dropped: int = 0               # blocks of a reply left out because far too many waited
    waiting: int = 0               # blocks between mind and device, now
    input_latency_s: float = 0.0
    output_latency_s: float = 0.0
    sound_s: float = 0.0           # of blocks handed to the mind

    def plain(self) -> dict[str, float]:
        return asdict(self)


class SoundCard:
    """Opens the configured devices; DeviceTrouble when one is missing or refuses.

    hand_over: takes captured blocks (times on `clock`); feed: called before each device block, puts into `playback`.
    """

    def __init__(self, config: SoundDeviceConfig, backend: SoundBackend, clock: Callable[[], float],
                 hand_over: Callable[[list[AudioBlock]], None], feed: Callable[[Playback], None]):
        self.config, self.figures = config, SoundFigures()
        self._clock, self._hand_over, self._feed = clock, hand_over, feed
        self._wrote_at: float | None = None
        devices = backend.devices()
        ears = chosen(devices, config.input, config.inputs, True)
        mouth = chosen(devices, config.output, config.outputs, False)
        rates = (rate_for(backend, ears, config.rate_hz, config.inputs, True),
                 rate_for(backend, mouth, config.rate_hz, config.outputs, False))
        line = ReferenceLine() if config.reference < 0 else None
        self.line, self.playback = line, Playback(config, rates[1], line)
        self.capture: Capture | None = None
        self.names = (ears.name, mouth.name)
        self.rates = rates
        blocks = [round(rate * config.block_s) for rate in rates]
        self._mouth: Stream = backend.play(mouth, rates[1], config.outputs, blocks[1], config.latency_s, self._wanted)
        self._ears: Stream = backend.record(ears, rates[0], config.inputs, blocks[0], config.latency_s, self._heard)
        self.figures.input_latency_s = self._ears.latency_s
        self.figures.output_latency_s = self._mouth.latency_s

    @property
    def active(self) -> tuple[bool, bool]:
        """Whether the microphones' and the loudspeaker's streams run."""
        return self._ears.active, self._mouth.active

    @property
    def silent_s(self) -> float:
        """For how long every microphone has given exact zeros."""
        return 0.0 if self.capture is None else self.capture.silent_s

    def close(self) -> None:
        for stream in (self._ears, self._mouth):
            stream.close()

    def _heard(self, frames: Samples, overflow: bool) -> None:
        now = self._clock()
        if self.capture is None:       # the first call may come before the stream's own latency is known
            self.capture = Capture(self.config, self.rates[0], self.config.latency_s, self.line)
        blocks = self.capture.step(frames, now, overflow)
        figures = self.figures
        figures.captured += 1
        figures.overflows += overflow
        figures.losses, figures.lost_s = self.capture.losses, self.capture.lost_s
        figures.sound_s += 0.01 * len(blocks)
        self._hand_over(blocks)

    def _wanted(self, frames: int, underflow: bool) -> Samples:
        now = self._clock()
        late = 0.0 if self._wrote_at is None else now - self._wrote_at - frames / self.rates[1]
        if underflow and self.line is not None and late > 0:
            self.line.paused(late)
        self._wrote_at = now
        self._feed(self.playback)
        out = self.playback.fill(frames)
        figures, playback = self.figures, self.playback
        figures.played += 1
        figures.underflows += underflow
        figures.starved, figures.stale, figures.dropped = playback.starved, playback.stale, playback.dropped
        figures.waiting = playback.waiting
        return out
