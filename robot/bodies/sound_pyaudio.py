"""The sound card by the package PyAudio (PortAudio)."""
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyaudio

from robot.bodies.sound_backend import DeviceTrouble, Heard, SoundDevice, Stream, Wanted


@dataclass
class PyAudioStream:
    """A started stream."""

    stream: Any
    latency_s: float

    @property
    def active(self) -> bool:
        try:
            return bool(self.stream.is_active())
        except OSError:            # PortAudio's own error: the host lost the device
            return False

    def close(self) -> None:
        self.stream.close()


class PyAudioBackend:
    """Streams in callback mode. PyAudio takes no wish for latency: PortAudio's low latency of the device is used."""

    def __init__(self) -> None:
        self._audio: Any = None

    def devices(self) -> list[SoundDevice]:
        self.close()
        try:
            self._audio = audio = pyaudio.PyAudio()
            listed = [audio.get_device_info_by_index(i) for i in range(audio.get_device_count())]
            hosts = [audio.get_host_api_info_by_index(i) for i in range(audio.get_host_api_count())]
        except OSError as error:
            raise DeviceTrouble(f"the sound system does not answer: {error}") from error
        usual_in = next((h["defaultInputDevice"] for h in hosts), -1)
        usual_out = next((h["defaultOutputDevice"] for h in hosts), -1)
        return [SoundDevice(d["index"], str(d["name"]), d["maxInputChannels"], d["maxOutputChannels"],
                            round(d["defaultSampleRate"]), d["index"] == usual_in, d["index"] == usual_out)
                for d in listed]

    def accepts(self, device: SoundDevice, rate_hz: int, channels: int, records: bool) -> bool:
        side = "input" if records else "output"
        try:
            return bool(self._audio.is_format_supported(rate_hz, **{
                f"{side}_device": device.index, f"{side}_channels": channels, f"{side}_format": pyaudio.paFloat32}))
        except (ValueError, OSError):
            return False

    def record(self, device: SoundDevice, rate_hz: int, channels: int, block: int, latency_s: float,
               heard: Heard) -> Stream:
        def called(data: bytes, count: int, times: Any, status: int) -> tuple[None, int]:
            frames = np.frombuffer(data, np.float32).reshape(count, channels)
            heard(frames, bool(status & pyaudio.paInputOverflow))
            return None, pyaudio.paContinue
        return self._started(device, called, rate=rate_hz, channels=channels, frames_per_buffer=block, input=True,
                             input_device_index=device.index)

    def play(self, device: SoundDevice, rate_hz: int, channels: int, block: int, latency_s: float,
             wanted: Wanted) -> Stream:
        def called(data: None, count: int, times: Any, status: int) -> tuple[bytes, int]:
            frames = wanted(count, bool(status & pyaudio.paOutputUnderflow))
            return np.ascontiguousarray(frames, np.float32).tobytes(), pyaudio.paContinue
        return self._started(device, called, rate=rate_hz, channels=channels, frames_per_buffer=block, output=True,
                             output_device_index=device.index)

    def _started(self, device: SoundDevice, called: Any, **how: Any) -> Stream:
        try:
            stream = self._audio.open(format=pyaudio.paFloat32, stream_callback=called, start=True, **how)
        except (OSError, ValueError) as error:
            raise DeviceTrouble(f"{device.name} cannot be opened: {error}") from error
        latency = stream.get_input_latency() if "input" in how else stream.get_output_latency()
        return PyAudioStream(stream, float(latency))

    def close(self) -> None:
        if self._audio is not None:
            self._audio.terminate()
            self._audio = None
