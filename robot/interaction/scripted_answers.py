"""What `--engine scripted` hears and answers in a scenario: the true words, and a table of replies.

Costs and clauses are like those of the embedded engine, so that a scenario tests the floor, the voice and the motion
without a recogniser in between.
"""
from collections.abc import Iterable
from dataclasses import dataclass, field

from dialogue.engines.scripted import Rule, ScriptedEngine, Voice, tone_voice
from perception.audio.block import Samples

STORY = (
    "Once upon a time, in a small house at the edge of a wood, there lived an old clock. It had a friendly face, "
    "and it ticked all day long. Every morning a girl came down the stairs, looked at the clock, and ran to school. "
    "One winter night the snow fell so thick that the road was gone. The wind blew, the lamps went out, and the "
    "clock was the only voice in the house. It ticked a little louder, so that the girl could fall asleep. In the "
    "morning the sun came back, and the snow began to melt. The girl wound the clock, said thank you, and ran to "
    "school again. And the old clock ticked on, a little prouder than before. And that is the end of the story.")
MARGIN_S = 0.2    # of sound before and after a turn that the scripted engine takes, as the embedded one does
STEPS = {"ten": 100, "five": 50, "two": 20}   # of a volume knob, in percent
COLOURS = ("red", "blue", "green", "yellow", "white", "black")


def _fetch(colour: str) -> Rule:
    """The last colour that is named counts: a correction comes behind what it corrects."""
    return Rule(rf"\b{colour}\b(?!.*\b({'|'.join(COLOURS)})\b)", f"I will bring you the {colour} one.",
                (("fetch", (("colour", colour),)),))


def _volume(word: str, percent: int) -> Rule:
    return Rule(rf"\bvolume\b.*\b{word}\b(?!.*\b({'|'.join(STEPS)})\b)", f"I speak at {percent} percent now.",
                (("set_volume", (("percent", str(percent)),)),))


RULES = (
    Rule(r"^say: (.*)$", "{0}"),
    Rule(r"^\W*((no|oh|please)\W+)?(stop|quiet|be quiet|enough|silence|wait|no)(\W+please)?\W*$", ""),
    Rule(r"\bstory\b", STORY),
    Rule(r"\bgo on\b|\bcontinue\b", "Yes. The old clock ticked on, a little prouder than before."),
    *(_fetch(colour) for colour in COLOURS),
    *(_volume(word, percent) for word, percent in STEPS.items()),
    Rule(r"\bmy sister lives in (\w+)", "I will remember that your sister lives in {0}.",
         (("remember", (("fact", "my sister lives in Rome"),)),)),
    Rule(r"\bwhere does my sister live\b", "You told me that your sister lives in Rome."),
    Rule(r"\bforget everything\b", "Shall I forget everybody? Yes or no?", (("forget", (("whose", "everybody"),)),)),
    Rule(r"^\W*yes\b", "I have forgotten everybody.", (("forget", (("whose", "everybody"),)),)),
    Rule(r"\bwhat do you know about me\b", "I know nothing about you yet."),
    Rule(r"\bgo to sleep\b", "Good night.", (("sleep", ()),)),
    Rule(r"\bwake up\b", "I am awake."),
    Rule(r"\bwhat('s| is) my name\b", "Your name is Anna."),
    Rule(r"\b(?:my name is|i am called|call me) (\w+)", "Nice to meet you, {0}."),
    Rule(r"\bwhat('s| is) your name\b|\bwho are you\b", "My name is Reachy. You can call me Reachy whenever you like."),
    Rule(r"\bwhat time\b|\bthe time\b", "It is ten past nine."),
    Rule(r"\bhow are you\b", "I am well, thank you. And how are you?"),
    Rule(r"\bfine\b|\bgood\b", "I am glad to hear that."),
    Rule(r"\b(hello|hi|hey)\b", "Hello. I am here."),
    Rule("cue:shakes_head", "Oh, you shake your head. Then I will say it differently."),
    Rule("cue:looks_away", "You look away. Shall I stop here?"),
    Rule(r"^$", "I heard something, but no words."),
)


@dataclass
class TrueWords:
    """Ears that know what was said when: (onset s, end s, words), added as it is said."""

    said: list[tuple[float, float, str]] = field(default_factory=list)

    def add(self, onset: float, end: float, words: str) -> None:
        self.said.append((onset, end, words))

    def __call__(self, samples: Samples, onset: float, end: float) -> str:
        """Words of which at least half sounded between onset and end (s), with the margin that an engine hears too."""
        first, last = onset - MARGIN_S, end + MARGIN_S
        return " ".join(words for begin, over, words in self.said
                        if min(over, last) - max(begin, first) >= 0.5 * (over - begin))


def scripted_engine(ears: TrueWords, voice: Voice = tone_voice, rules: Iterable[Rule] = RULES) -> ScriptedEngine:
    return ScriptedEngine(tuple(rules), ears, voice)
