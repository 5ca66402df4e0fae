"""What `talkover doctor` says of the models: each is there, loads, and answers on a known input as it should."""
from collections.abc import Callable, Iterator

import numpy as np

from robot.service.findings import Finding

Check = Callable[[], str]      # what it found; raises when the model is not usable


def person() -> str:
    from perception.audio.detector import CERTAIN, Detector
    from perception.audio.evidence import COUNT
    said = Detector().step(np.zeros(COUNT, np.float32))
    if not -CERTAIN <= said <= CERTAIN:
        raise ValueError(f"log-odds {said} of no evidence at all, expected within {CERTAIN}")
    return "hears whether a person speaks"


def silero() -> str:
    from perception.audio.vad import Silero
    vad = Silero(1)
    for _ in range(8):
        vad.step(np.zeros((1, 160), np.float32))
    if not float(vad.probability[0]) < 0.2:
        raise ValueError(f"silence is speech with {float(vad.probability[0]):.2f}, expected less than 0.2")
    return "silence is silence to it"


def faces() -> str:
    from perception.vision.detector import RetinaFace
    found = RetinaFace().detect(np.full((112, 112, 3), 127, np.uint8))
    if any(face.score > 0.5 for face in found):
        raise ValueError("a face in a grey picture, expected none")
    return "no face in a grey picture"


def recogniser() -> str:
    from dialogue.engines.recogniser import Recogniser
    words = Recogniser().words(np.zeros(16000, np.float32))
    if words:
        raise ValueError(f"{words!r} in silence, expected no words")
    return "no words in silence"


def voice() -> str:
    from dialogue.engines.voice import Voice
    sound = Voice()("hello")
    if not 0.1 < len(sound) / 16000 < 5.0 or not float(np.max(np.abs(sound))) > 0.01:
        raise ValueError(f"{len(sound)} samples for one word, expected a second of sound")
    return "says hello"


CHECKS: dict[str, Check] = {"model: person": person, "model: Silero": silero, "model: faces": faces,
                            "model: recogniser": recogniser, "model: voice": voice}


def models(checks: dict[str, Check] | None = None) -> Iterator[Finding]:
    """One finding a model. A model may fail in any way that its library knows, so every exception is a finding."""
    for subject, check in (CHECKS if checks is None else checks).items():
        try:
            yield Finding(subject, "ok", check(), needed=True)
        except ModuleNotFoundError as error:
            yield Finding(subject, "missing", f"package {error.name} is not installed", "make demo", True)
        except Exception as error:
            yield Finding(subject, "missing", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}",
                          "pip install --force-reinstall -c constraints.txt talkover: a file is damaged or of another "
                          "version", True)
