"""Who the robot is, and how it words what it says often."""
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Persona:
    """A name and a manner. Phrases of one kind take turns, so that the robot does not repeat itself at once."""

    name: str = "Robin"
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


def introduced(name: str | None) -> str:
    """`, Anna` for a greeting, or nothing."""
    return f", {name}" if name else ""
