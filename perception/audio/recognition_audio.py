"""The audio that speech recognition gets: WebRTC's AEC3 with noise suppression on one microphone."""
import numpy as np
import pywebrtc_audio

from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples


class RecognitionAudio:
    """One clean channel. AEC3 removes more echo than the linear canceller, and more of the near voice with it."""

    def __init__(self) -> None:
        self._processor = pywebrtc_audio.AudioProcessor(
            SAMPLE_RATE_HZ, 1, echo_cancellation=True, noise_suppression=True, high_pass_filter=True, ns_level=1)

    def step(self, mic: Samples, far: Samples) -> Samples:
        """mic (160,), far (160,) the aligned reference -> (160,)."""
        clean = self._processor.process(np.ascontiguousarray(mic), np.ascontiguousarray(far))
        if clean is None or clean.size != BLOCK:
            return np.zeros(BLOCK, np.float32)
        return np.asarray(clean, np.float32)
