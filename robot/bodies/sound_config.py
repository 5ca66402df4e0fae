"""The settings of the sound card: the section [sound] of a robot with devices."""
from dataclasses import dataclass
from typing import Literal

Backend = Literal["sounddevice", "pyaudio"]


@dataclass(frozen=True, slots=True)
class SoundDeviceConfig:
    """Which devices are the robot's ears and mouth. A device that is not there is waited for, never replaced."""

    backend: Backend = "sounddevice"      # package that talks to PortAudio; pyaudio: pip install 'talkover[pyaudio]'
    input: str = ""                       # name of the microphones' device or a part of it; "": the system's default
    output: str = ""                      # the same of the loudspeaker's
    rate_hz: int = 0                      # of both, 8000 to 192000; 0: 16000 where a device can, else its own
    microphones: tuple[int, ...] = (0, 1, 2, 3)   # input channels in the order of the body's microphones, from 0
    reference: int = -1                   # input channel that records what the loudspeaker plays; -1: none, what was
                                          # written is taken in its place
    voice: tuple[int, ...] = (0,)         # output channels that play the voice; the others stay silent
    input_channels: int = 0               # to open; 0: up to the highest in use. For cards that know one format only
    output_channels: int = 0              # the same of the output
    block_s: float = 0.02                 # of a device block: 10 ms gave xruns on a busy machine, 20 ms none
    latency_s: float = 0.04               # asked of each device: two blocks; more where xruns are told
    volume: float = 1.0                   # 0..2, factor; loud sounds are clipped softly
    muted: bool = False                   # true: it speaks silently; what it says is still in the log
    stall_s: float = 1.0                  # without a block: the stream has died silently. Gaps of 60 ms are usual
    first_s: float = 4.0                  # the same for the first block after opening
    dead_s: float = 3.0                   # of exactly zero microphones while the robot plays: the card is reset
    backoff_s: tuple[float, float] = (0.5, 5.0)   # first and longest pause between two looks for a missing device

    def __post_init__(self) -> None:
        if self.rate_hz and not 8000 <= self.rate_hz <= 192000:
            raise ValueError(f"rate_hz: expected 8000 to 192000 or 0, found {self.rate_hz}")
        if not 1 <= len(self.microphones) <= 8 or min(self.microphones) < 0:
            raise ValueError(f"microphones: expected 1 to 8 channels from 0, found {self.microphones}")
        if len(set(self.microphones)) < len(self.microphones):
            raise ValueError(f"microphones: expected each channel once, found {self.microphones}")
        if not self.voice or min(self.voice) < 0:
            raise ValueError(f"voice: expected at least one channel from 0, found {self.voice}")
        if self.reference < -1 or self.reference in self.microphones:
            raise ValueError(f"reference: expected -1 or a channel that is no microphone, found {self.reference}")
        if not 0.005 <= self.block_s <= 0.1:
            raise ValueError(f"block_s: expected 0.005 to 0.1, found {self.block_s}")
        if not 0.0 <= self.volume <= 2.0:
            raise ValueError(f"volume: expected 0 to 2, found {self.volume}")
        if not 0 < self.backoff_s[0] <= self.backoff_s[1]:
            raise ValueError(f"backoff_s: expected two ordered times, found {self.backoff_s}")

    @property
    def inputs(self) -> int:
        """Input channels to open."""
        return max(self.input_channels, *(m + 1 for m in self.microphones), self.reference + 1)

    @property
    def outputs(self) -> int:
        """Output channels to open."""
        return max(self.output_channels, *(v + 1 for v in self.voice))
