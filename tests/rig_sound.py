"""One backend on the rig, as a program of its own: prints what it found as JSON. `python -m tests.rig_sound BACKEND`"""
import json
import sys
import threading

import numpy as np

from robot.bodies.sound_backend import DeviceTrouble, backend_named, chosen, rate_for

HERTZ = (500.0, 700.0, 900.0, 1100.0)
SECONDS = 2.0
LIMIT_S = 60.0


def tones(rate_hz: int, start: int, frames: int) -> np.ndarray:
    """(frames, 4): another tone in each channel."""
    n = start + np.arange(frames)[:, None]
    return (0.3 * np.sin(2 * np.pi * np.array(HERTZ) * n / rate_hz)).astype(np.float32)


def pitches(sound: np.ndarray, rate_hz: int) -> list[float]:
    spectrum = np.abs(np.fft.rfft(sound * np.hanning(len(sound))[:, None], axis=0))
    return [float(np.argmax(column) * rate_hz / len(sound)) for column in spectrum.T]


def heard_tones(backend, devices, rate_hz: int) -> dict:
    """Plays four tones into the microphones and records them with the loudspeaker's channel."""
    block, recorded, sent = rate_hz // 50, [], [0]
    enough = threading.Event()

    def wanted(frames: int, underflow: bool) -> np.ndarray:
        sent[0] += frames
        return tones(rate_hz, sent[0] - frames, frames)

    def heard(frames: np.ndarray, overflow: bool) -> None:
        recorded.append(frames.copy())
        if sum(map(len, recorded)) > SECONDS * rate_hz:
            enough.set()
    play = backend.play(chosen(devices, "rig_room", 4, False), rate_hz, 4, block, 0.06, wanted)
    record = backend.record(chosen(devices, "rig_array", 5, True), rate_hz, 5, block, 0.06, heard)
    arrived = enough.wait(LIMIT_S)
    active = record.active and play.active
    latencies = [play.latency_s, record.latency_s]
    record.close()
    play.close()
    late = np.concatenate(recorded)[-rate_hz // 2:]
    return {"arrived": arrived, "active": active, "latencies": latencies, "pitches": pitches(late[:, :4], rate_hz),
            "channels": late.shape[1], "type": str(late.dtype), "loudspeaker": float(np.abs(late[:, 4]).max()),
            "peak": float(np.abs(late[:, :4]).max())}


def main() -> None:
    backend = backend_named(sys.argv[1])
    devices = backend.devices()
    array = chosen(devices, "array", 5, True)
    found = {"names": [d.name for d in devices], "rates": {r: rate_for(backend, array, r, 5, True) for r in (0, 44100)},
             "tones": {r: heard_tones(backend, devices, r) for r in (16000, 48000)}, "trouble": []}
    gone = chosen(backend.devices(), "array", 5, True)
    for wrong in (lambda: chosen(devices, "nobody", 1, True),
                  lambda: backend.record(type(gone)(999, "gone", 5, 0, 16000), 16000, 5, 320, 0.04, lambda *_: None)):
        try:
            wrong()
        except DeviceTrouble as error:
            found["trouble"].append(str(error))
    found["refused"] = backend.accepts(gone, 16000, 4096, True)
    backend.close()
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
