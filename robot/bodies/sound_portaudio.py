"""The sound card by the package sounddevice (PortAudio)."""
from dataclasses import dataclass
from typing import Any

import numpy as np
import sounddevice as sd

from robot.bodies.sound_backend import DeviceTrouble, Heard, SoundDevice, Stream, Wanted


@dataclass
class SounddeviceStream:
    """A started stream."""

    stream: Any
    latency_s: float

    @property
    def active(self) -> bool:
        return bool(self.stream.active)

    def close(self) -> None:
        self.stream.close()


class SounddeviceBackend:
    """sounddevice.InputStream and OutputStream."""

    def devices(self) -> list[SoundDevice]:
        """PortAudio lists devices once; so it is ended and begun again."""
        try:
            sd._terminate()
            sd._initialize()
            listed = sd.query_devices()
        except sd.PortAudioError as error:
            raise DeviceTrouble(f"the sound system does not answer: {error}") from error
        inputs, outputs = (int(index) for index in sd.default.device)
        hosts = sd.query_hostapis()
        usual_in = inputs if inputs >= 0 else next((h["default_input_device"] for h in hosts), -1)
        usual_out = outputs if outputs >= 0 else next((h["default_output_device"] for h in hosts), -1)
        return [SoundDevice(d["index"], d["name"], d["max_input_channels"], d["max_output_channels"],
                            round(d["default_samplerate"]), d["index"] == usual_in, d["index"] == usual_out)
                for d in listed]

    def accepts(self, device: SoundDevice, rate_hz: int, channels: int, records: bool) -> bool:
        check = sd.check_input_settings if records else sd.check_output_settings
        try:
            check(device=device.index, channels=channels, dtype="float32", samplerate=rate_hz)
        except (sd.PortAudioError, ValueError):
            return False
        return True

    def record(self, device: SoundDevice, rate_hz: int, channels: int, block: int, latency_s: float,
               heard: Heard) -> Stream:
        def called(frames: np.ndarray, count: int, time: Any, status: sd.CallbackFlags) -> None:
            heard(frames, bool(status.input_overflow))
        return self._started(sd.InputStream, device, rate_hz, channels, block, latency_s, called)

    def play(self, device: SoundDevice, rate_hz: int, channels: int, block: int, latency_s: float,
             wanted: Wanted) -> Stream:
        def called(frames: np.ndarray, count: int, time: Any, status: sd.CallbackFlags) -> None:
            frames[:] = wanted(count, bool(status.output_underflow))
        return self._started(sd.OutputStream, device, rate_hz, channels, block, latency_s, called)

    @staticmethod
    def _started(kind: Any, device: SoundDevice, rate_hz: int, channels: int, block: int, latency_s: float,
                 called: Any) -> Stream:
        try:
            stream = kind(samplerate=rate_hz, blocksize=block, device=device.index, channels=channels,
                          dtype="float32", latency=latency_s, callback=called)
            stream.start()
        except sd.PortAudioError as error:
            raise DeviceTrouble(f"{device.name} cannot be opened: {error}") from error
        return SounddeviceStream(stream, float(stream.latency))

    def close(self) -> None:
        """Nothing beside the streams is held."""
