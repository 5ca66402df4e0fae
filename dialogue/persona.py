"""Who the robot is, how it speaks, and how it words what it says often."""
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

STORY = """
Once upon a time, a small robot lived on a wooden table by a window. It had two antennas, one round eye, and a head
that it could turn almost all the way round. Every morning it looked out, counted the birds on the wire, and told the
number to anybody who came by. Mostly there were seven. One morning there were only six, and the robot could not
think of anything else. It asked the baker, who came with the bread, but the baker had seen no bird. It asked the
girl from upstairs, who always ran, and she stopped running for once and looked out too. Perhaps it has gone to see
the sea, she said. The robot had never heard of the sea, so she told it everything that she knew: that it is wide and
grey, that it never stops talking, and that it lets everybody interrupt. The robot liked that very much. It wanted to
hear such a voice. So the girl put it into the basket of her bicycle, tied it with a scarf, and rode down the long
hill, past the mill, past the sleeping dogs, and along the river until the road ended in sand. There it was, wide and
grey, and it did not stop talking for a moment. And on a post, right beside the water, sat a bird. Seven, said the
robot. The bird looked at it, shook its wings, and flew all the way home above the bicycle. From that day on, the
robot told a longer story every morning, and whoever came by could talk over it, because it had learned from the sea
that one can stop in the middle of a word and still come back.
"""   # about two minutes of speech


Length = Literal["brief", "normal"]
Pace = Literal["slower", "normal", "faster"]
SLOWEST, FASTEST, STEP = 0.7, 1.4, 1.2    # words run together beyond; a step is heard as another pace


@dataclass(frozen=True, slots=True)
class Style:
    """pace: 1 is the voice's own. pitch: 1 is its own; 1.06 a semitone higher. length: brief: the first sentence."""

    pace: float = 1.0
    pitch: float = 1.0
    length: Length = "normal"

    def paced(self, how: Pace, usual: float = 1.0) -> "Style":
        """A step slower or faster, or as usual again."""
        pace = {"slower": self.pace / STEP, "faster": self.pace * STEP, "normal": usual}[how]
        return replace(self, pace=min(max(pace, SLOWEST), FASTEST))


PLAIN = Style()


@dataclass(frozen=True, slots=True)
class Persona:
    """A name and a manner. Phrases of one kind take turns, so that the robot does not repeat itself at once."""

    name: str = "Robin"
    style: Style = field(default_factory=Style)
    about: str = "I am a small robot on a table. I listen, I look at who speaks, and you can talk over me at any time."
    greetings: tuple[str, ...] = ("Hello{name}! Nice to see you.", "Hi{name}. Good to hear you.", "Hello{name}.")
    not_understood: tuple[str, ...] = (
        "I did not understand that. Could you say it in other words?",
        "Sorry, I did not get that.",
        "I heard you, but I do not know what to say to that.",
        "That is beyond me. You could ask me for the time, or for a story.",
    )
    no_words: tuple[str, ...] = ("I heard something, but no words.", "Sorry, I could not make out a word.")
    well: tuple[str, ...] = ("I am well, thank you. And you?", "Very well, all my motors are cool. How are you?")
    likes: tuple[str, ...] = (
        "I like being talked to. Everything else I only know from hearing.",
        "I think I would, if I had tried it.",
    )
    jokes: tuple[str, ...] = (
        "Why did the robot go to bed early? It had a hard drive.",
        "What do you call a robot that takes the long way round? R two detour.",
    )
    story: str = " ".join(STORY.split())


PERSONAS: Mapping[str, Persona] = {
    "robin": Persona(),
    "otis": Persona(
        "Otis", Style(0.85, 0.92), "I am a calm old robot on a table. I have time, and you can talk over me.",
        ("Good to see you{name}.", "Ah, there you are{name}.", "Hello{name}. Sit down, if you like.")),
    "pip": Persona(
        "Pip", Style(1.12, 1.06, "brief"), "I am a quick robot. Few words, and you can talk over me.",
        ("Hi{name}!", "Hey{name}!")),
}


@dataclass(frozen=True, slots=True)
class PersonaConfig:
    """Who the robot is when it starts; people can ask for another persona or another way of speaking."""

    who: Literal["robin", "otis", "pip"] = "robin"   # friendly; calm, slow and low; quick, high and brief
    name: str = ""                   # another name than the persona's; "": its own
    greeting: str = ""               # another greeting, `{name}` becomes ", Anna"; "": its own ones
    pace: float | None = None        # factor, 0.7 to 1.4; None: the persona's. Beyond, words run together
    pitch: float | None = None       # factor, 0.8 to 1.25; None: the persona's. Beyond, it sounds like a toy
    length: Length | None = None     # of answers: brief, the first sentence only; None: the persona's

    def __post_init__(self) -> None:
        for name, low, high in (("pace", SLOWEST, FASTEST), ("pitch", 0.8, 1.25)):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ValueError(f"{name}: expected {low} to {high}, found {value}")
        try:
            self.greeting.format(name="")
        except (KeyError, IndexError, ValueError):
            raise ValueError(f"greeting: {self.greeting!r}, expected a text with {{name}} at most") from None

    def persona(self) -> Persona:
        made = PERSONAS[self.who]
        changes = {key: value for key in ("pace", "pitch", "length") if (value := getattr(self, key)) is not None}
        return replace(made, name=self.name or made.name, style=replace(made.style, **changes),
                       greetings=(self.greeting,) if self.greeting else made.greetings)


def introduced(name: str | None) -> str:
    """`, Anna` for a greeting, or nothing."""
    return f", {name}" if name else ""


AS_IT_COMES = PersonaConfig()
