"""Prints what recognition and voice cost on this machine: CPU s on one core, for the embedded engine's constants."""
import time

import numpy as np

from dialogue.engines.recogniser import Recogniser
from dialogue.engines.voice import Voice

TEXTS = ("Stop.", "What time is it?", "Tell me a long story, please.", "No wait, I meant the blue one.", "Who is it?",
         "Remember that I have two brothers and a sister, and that we live by the sea.")


def main() -> None:
    voice, recogniser = Voice(), Recogniser()
    sounds = {text: voice(text) for text in TEXTS}
    for name, work in (("voice", voice), ("recognition", lambda text: recogniser.words(sounds[text]))):
        rows = []
        for text in TEXTS * 5:
            began = time.process_time()
            work(text)
            rows.append((len(sounds[text]) / 16000, time.process_time() - began))
        seconds, costs = np.array(rows).T
        rate, base = np.polyfit(seconds, costs, 1)
        print(f"{name}: {base:.3f} s + {rate:.3f} s a second of sound; largest {costs.max():.3f} s")


if __name__ == "__main__":
    main()
