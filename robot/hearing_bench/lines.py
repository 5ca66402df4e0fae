"""What is said in drawn takes, and by whom. Robot and person never share a voice."""
from functools import cache

import numpy as np

from dialogue.engines.voice import Voice
from perception.audio.block import SAMPLE_RATE_HZ, Samples
from robot.bodies.room.voices import active_level, spoken

OWN = "own"                   # the voice that the product speaks with
ROBOT_VOICES = (OWN, "kal16", "espeak-gb", OWN, "awb", "espeak")
PEOPLE_VOICES = ("slt", "rms", "awb", "espeak-f", "slt", "rms")
THROATS = (0.88, 1.13)        # a recording played slower or faster: another speaker

ROBOT = (
    "Once there was a lighthouse keeper who collected the sounds of the sea in small glass jars.",
    "The weather should stay dry until the evening, with a light wind from the west.",
    "I found three recipes that need only what is left in your kitchen.",
    "Every morning the old baker put one loaf aside for whoever came last.",
    "Your next appointment is at a quarter past four, and the bus leaves in twenty minutes.",
    "First fold the paper along the long side, then open it and turn it over.",
    "They walked for seven days, and on the eighth day the river began to speak.",
    "I am not sure about that, but I can tell you what I know so far.",
    "The museum is open until six, and on Thursdays it closes an hour later.",
    "Nobody in the village remembered who had planted the tree, and nobody wanted to cut it down.",
    "Let me go through the list once more, so that nothing is forgotten.",
    "A small blue boat came around the corner, pulled by two very patient ducks.",
)
PEOPLE = (
    "wait, that is not what I meant", "no, stop, I have heard this one before", "excuse me, can I ask you something",
    "hold on, what time did you say", "could you please say that again", "sorry, I need to take this call",
    "that is enough for now, thank you", "actually I would rather have the other one",
    "hey, how long does it take to get there", "stop talking for a moment please",
    "let me tell you what happened yesterday", "what about the meeting on Friday",
    "I think you got the name wrong", "please turn around and look at this",
)
BACKCHANNELS = ("mm-hmm", "uh-huh", "hmm")


@cache
def _own_voice() -> Voice:
    return Voice()


def another_throat(rng: np.random.Generator, said: Samples) -> Samples:
    """The same a little higher and faster, or lower and slower."""
    return np.interp(np.arange(0, said.size - 1, rng.uniform(*THROATS)), np.arange(said.size), said).astype(np.float32)


def person_says(rng: np.random.Generator, voice: str, count: int) -> list[tuple[str, Samples]]:
    """`count` different sentences of one person, with their words."""
    throat = int(rng.integers(2**31))
    texts = rng.choice(len(PEOPLE), count, replace=False)
    return [(PEOPLE[at], another_throat(np.random.default_rng(throat), spoken(PEOPLE[at], voice))) for at in texts]


def robot_says(rng: np.random.Generator, voice: str, seconds: float) -> Samples:
    """(n,) of talk, active level 1, with pauses between sentences."""
    throat, pieces, left = int(rng.integers(2**31)), [], round(seconds * SAMPLE_RATE_HZ)
    own = _own_voice() if voice == OWN else None
    order = iter(np.tile(rng.permutation(len(ROBOT)), 20))
    while left > 0:
        text = ROBOT[next(order)]
        said = own(text) if own else another_throat(np.random.default_rng(throat), spoken(text, voice))
        pause = np.zeros(round(rng.uniform(0.15, 0.6) * SAMPLE_RATE_HZ), np.float32)
        pieces += [said / np.float32(active_level(said)), pause]
        left -= said.size + pause.size
    return np.concatenate(pieces)[:round(seconds * SAMPLE_RATE_HZ)]
