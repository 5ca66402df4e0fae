"""What a few recognised words tell about the turn: complete, a murmur, a stop, a correction, the robot's own echo."""
import re
from difflib import SequenceMatcher
from typing import Literal

Completeness = Literal["complete", "unsure", "incomplete"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A sentence that ends in one of these goes on.
OPEN_ENDS = _set("""a an and about as at because but by for from her his i if in into is are was were it's i'm like mean
    meant my nor of on or our so than that the their then to um uh er erm well what when where which while who whose
    why how with without your said says""")
# Two words that want an object or a verb behind them, whatever the recogniser's punctuation says.
OPEN_PAIRS = frozenset(f"{first} {last}" for firsts, lasts in (
    ("tell give show bring get find send ask buy read sing told said let", "me us him them you"),
    ("can could would will do did does should may might", "you we he she they"),
    ("to", "hear see have get tell say make find take give buy"),
    ("i you we they he she", "want need must said told"), ("you", "know"),
    ("would i'd you'd we'd they'd", "like love want")) for first in firsts.split() for last in lasts.split())
FRONTED = _set("what who whom which where when why how")   # the object stands in front: "what can you tell me?"
# What begins a question or a request, which want an answer at once; a statement can wait, and more often goes on.
FILLERS = _set("oh well so hey now please um uh robot and then")
WANTS_ANSWER = FRONTED | _set("""tell give show bring get find go come look play sing say ask help can could will would
    do does did is are am was were has have turn set make let open close read start continue repeat remember forget stop
    wait no yes hello hi good thanks thank bye goodbye sorry excuse hold hang never""")
NEVER_LAST = _set("a an and but because or the um uh er erm")
# Sounds of somebody who listens, and words that mean no more than that when they are all that was said.
HUMS = _set("mm mmm hm hmm mhm mmhm mmhmm mhmm uhhuh uhuh uh huh ah aha oh ooh um hum em hem m")
MURMURS = HUMS | _set("""yeah yes yep yup right okay ok sure really wow nice cool great good true exactly indeed see i
    interesting funny lovely fine alright all""")
STOPS = _set("stop wait no quiet enough silence halt shush")
WHOLE_ALONE = STOPS | _set("yes yeah hello hi hey thanks goodbye bye okay sure please continue maybe")
WHOLE_PAIRS = frozenset({"go on", "carry on", "come on", "hold on", "hang on", "come in", "i am", "you are", "it is"})
CORRECTION = re.compile(r"^(oh |uh |um )?((no|wait|sorry|actually|hang on|hold on)\b.*\b(mean|meant|rather|instead)\b|"
                        r"i mean\b|i meant\b|no no\b|wait\b|no wait\b|scratch that\b|not that\b)")
FASTEST = 25.0      # letters a second; talk has 12 to 18. A recogniser makes whole sentences of a murmur
LIKE_STOP = 0.75    # of the letters in common: one of four wrong, one too many or too few
CHOICE = 3          # words of a question that answer it: "the red one"
ECHO_SHARE = 0.75   # of the words; a recogniser gets about one in ten wrong on the clean residue, more on an echo


def words_of(text: str) -> list[str]:
    """Lower-case words without punctuation."""
    return re.findall(r"[a-z0-9']+", text.lower().replace("’", "'").replace("-", ""))


def is_empty(text: str) -> bool:
    return not words_of(text)


def is_made_up(text: str, seconds: float) -> bool:
    """More words than anybody says in a voice of that length: the recogniser's own."""
    return len("".join(words_of(text))) > FASTEST * seconds


def is_hum(text: str) -> bool:
    """Nothing but sounds of listening."""
    return all(word in HUMS for word in words_of(text)) and not is_empty(text)


def is_murmur(text: str) -> bool:
    """Says no more than that somebody listens; an answer all the same when a question was asked."""
    words = words_of(text)
    return 0 < len(words) <= 4 and all(word in MURMURS for word in words)


def is_stop(text: str) -> bool:
    """Tells the robot to be silent: a stop word alone, or one that opens a short request."""
    words = words_of(text)
    return 0 < len(words) <= 4 and words[0] in STOPS


def may_be_stop(text: str) -> bool:
    """A single word or two that a recogniser may have made of "stop" over a voice: "top", "stomp", "shop", "star"."""
    words = words_of(text)
    return 0 < len(words) <= 2 and all(_is_like_stop(word) for word in words)


def _is_like_stop(word: str) -> bool:
    """By its letters, or a short word with the hiss at its beginning, which is what a voice drowns least."""
    alike = SequenceMatcher(None, word, "stop").ratio() >= LIKE_STOP
    return alike or (word.startswith("st") and len(word) <= len("stop") + 1)


def is_fragment(text: str) -> bool:
    """Nothing but words that want others beside them, "but uh", "is from the": nothing can be answered."""
    words = words_of(text)
    return len(words) > 0 and all(word in (OPEN_ENDS | HUMS) - FRONTED for word in words)


def is_correction(text: str) -> bool:
    """The person takes back what was said before."""
    return CORRECTION.match(" ".join(words_of(text))) is not None


def completeness(text: str) -> Completeness:
    """Whether the words could be all: by their last word and the recogniser's punctuation."""
    words = words_of(text)
    if not words:
        return "unsure"
    if " ".join(words[-2:]) in WHOLE_PAIRS:
        return "complete"
    asks = text.rstrip().endswith("?")  # "where are you from?" is whole
    if words[-1] in (NEVER_LAST if asks else OPEN_ENDS) or text.rstrip().endswith(("...", "…", ",", "-")):
        return "incomplete"
    if " ".join(words[-2:]) in OPEN_PAIRS and words[0] not in FRONTED:
        return "incomplete"
    if len(words) == 1:
        return "complete" if words[0] in WHOLE_ALONE else "unsure"
    first = next((word for word in words if word not in FILLERS), words[0])
    whole = asks or (text.rstrip().endswith((".", "!")) and first in WANTS_ANSWER)
    return "complete" if whole else "unsure"


def is_echo(text: str, said: str, asked: bool = False) -> bool:
    """The words are what the robot just said, heard again. A lone stop word is never taken for an echo.

    asked: it was a question; then a few of its words may be the answer ("Yes or no?").
    """
    words, own = words_of(text), words_of(said)
    if not words or not own or (len(words) == 1 and words[0] in STOPS) or (asked and len(words) <= CHOICE):
        return False
    blocks = SequenceMatcher(None, words, own, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) >= ECHO_SHARE * len(words)
