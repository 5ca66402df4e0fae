"""WebRTC's AEC3 with noise suppression on one microphone: one more witness for the voice detectors.

It removes more echo than the linear canceller, and most of a voice spoken over it: recognition understood 6 % of the
words at 10 dB under the echo, where the linear path gave about 40 % (nine utterances; training/README.md). So
recognition does not get it.
"""
import numpy as np
import pywebrtc_audio

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples


class Aec3:
    """One suppressed channel."""

    def __init__(self) -> None:
        self._processor = pywebrtc_audio.AudioProcessor(
            SAMPLE_RATE_HZ, 1, echo_cancellation=True, noise_suppression=True, high_pass_filter=True, ns_level=1)

    def step(self, mic: Samples, far: Samples) -> Samples:
        """mic (160,), far (160,) the aligned reference -> (160,)."""
        clean = self._processor.process(np.ascontiguousarray(mic), np.ascontiguousarray(far))
        if clean is None or clean.size != BLOCK:
            return np.zeros(BLOCK, np.float32)
        return np.asarray(clean, np.float32)
