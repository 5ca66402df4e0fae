"""Questions that a recogniser has bent: the nearest of those that the companion can answer, if one is near enough.

Only questions and stories are looked for: what would be done or forgotten is never guessed at.
"""
from difflib import SequenceMatcher

ASKED = ("what time is it", "what day is it today", "what is your name", "who is there", "how are you",
         "what can you do", "tell me about yourself", "tell me a story", "please tell me a long story")
# of the letters in common: "what china is it" has .72, "what kind is it" .75, "tell me along sorry" .79 (heard so over
# the robot's voice); of 28 sentences about other things none reaches .70 (tests/test_misheard.py)
NEAR = 0.70
CLEAR = 0.05        # nearer than any other question by this


def meant(words: str) -> str | None:
    """The question that `words` (lower case, no punctuation) are nearest to, or None."""
    letters = words.replace(" ", "")
    likeness = sorted(((SequenceMatcher(None, letters, asked.replace(" ", ""), autojunk=False).ratio(), asked)
                       for asked in ASKED), reverse=True)
    (best, asked), (second, other) = likeness[:2]
    related = "story" in asked and "story" in other
    return asked if best >= NEAR and (best - second >= CLEAR or related) else None
