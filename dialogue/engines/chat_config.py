"""Section [chat]: which server finds the words, and how long the robot waits for them."""
from dataclasses import dataclass
from typing import Literal

from dialogue.engines.address import checked_url

INSTRUCTIONS = """You are Robin, a small robot on a table. What you write is spoken aloud: plain sentences, no lists, no
markup, one or two short sentences. Notes in square brackets tell you what people do without words; never read them
out."""


@dataclass(frozen=True, slots=True)
class ChatConfig:
    """An OpenAI-compatible server. Words go to the host of `url`, sound never: ears and voice are this machine's."""

    url: str = "http://127.0.0.1:8080/v1"   # `/chat/completions` is appended (llama.cpp, vLLM, Ollama, OpenAI ...)
    model: str = ""                  # "": the server's only one
    key_from: str = ""               # environment variable, or credential of that name in lower case; "": no key
    instructions: str = " ".join(INSTRUCTIONS.split())   # who the robot is
    tools: bool = True               # offer gestures and looks
    temperature: float = 0.7         # of sampling
    max_tokens: int = 160            # of a reply: half a minute of speech
    usage: bool = False              # ask for counts of tokens; a few servers refuse that, many tell them unasked
    turns: int = 12                  # of the talk that the server is told again
    first_s: float = 2.5             # until its first clause; then the companion on this machine answers
    stall_s: float = 4.0             # without another word in mid-reply; then the reply ends where it is
    connect_s: float = 1.5           # for the connection; then the companion answers
    again_s: float = 20.0            # after a failure until it is asked again; the companion answers meanwhile
    fallback: Literal["companion", "none"] = "companion"   # none: trouble is told instead

    def __post_init__(self) -> None:
        checked_url(self.url, ("http", "https"))
