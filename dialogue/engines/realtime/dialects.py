"""What the servers of one protocol do differently (reference: protocol notes; read in their sources)."""
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of server."""

    name: str
    beta: bool = False            # names and session object of 2024
    in_hz: int = 24000            # of the sound that it gets
    out_hz: int = 24000           # of the sound that it sends, where it does not say so itself
    led: bool = False             # decides by itself when it answers; it hears everything, and is not asked
    commit_answers: bool = False  # a commit begins the reply
    items: bool = True            # takes items: notes, history, results of tools
    creates: bool = True          # takes response.create
    instructs: bool = True        # ... with instructions of its own
    one_note: bool = False        # keeps the last item of role `system` alone
    truncates: bool = True        # forgets what was not heard
    deletes: bool = True          # forgets whole items
    client_first: bool = False    # waits for our first word
    acks: bool = False            # wants to know what was played
    images: Literal["", "item", "sound"] = ""   # takes pictures as items of the talk, with the sound, or not at all
    foresees: bool = False        # may begin to answer before the words are over
    echoes: bool = False          # gives the metadata of a request back with its response, always
    rewrites: bool = False        # of a stopped answer it keeps all or nothing: the heard words are told anew


OPENAI = Dialect("openai", images="item")
DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in (
    OPENAI,
    Dialect("openai-beta", beta=True),
    Dialect("speech-to-speech", led=True, truncates=False, images="item", echoes=True,
            rewrites=True, one_note=True),
    Dialect("localai", commit_answers=True, truncates=False, deletes=False),
    Dialect("sglang-omni", beta=True, in_hz=16000, led=True, items=False, creates=False, instructs=False,
            truncates=False, deletes=False),
    Dialect("vllm-omni", beta=True, in_hz=16000, led=True, items=False, creates=False, instructs=False,
            deletes=False, client_first=True, acks=True, images="sound", foresees=True),
)}

# beta name -> GA name
NAMES = {
    "response.audio.delta": "response.output_audio.delta", "response.audio.done": "response.output_audio.done",
    "response.audio_transcript.delta": "response.output_audio_transcript.delta",
    "response.audio_transcript.done": "response.output_audio_transcript.done",
    "response.text.delta": "response.output_text.delta", "response.text.done": "response.output_text.done",
    "conversation.item.created": "conversation.item.added",
}


def recognised(event: Mapping[str, Any]) -> Dialect:
    """The server that says `session.created`, by marks that only it has; OpenAI's where there are none."""
    session = event.get("session")
    session = session if isinstance(session, Mapping) else {}
    if "resume_token" in event or "attachment_generation" in event or "epoch" in session:
        return DIALECTS["vllm-omni"]
    if event.get("event_id") == "event_TODO":
        return DIALECTS["localai"]
    if "modalities" in session or "input_audio_format" in session:
        plain = list(session.get("modalities") or []) == ["text"]          # sglang-omni's default, alone in that
        return DIALECTS["sglang-omni" if plain else "openai-beta"]
    audio = session.get("audio")
    listening = audio.get("input") if isinstance(audio, Mapping) else None
    if isinstance(listening, Mapping) and listening.get("format", "") is None:      # writes out what is not set yet
        return DIALECTS["speech-to-speech"]
    return OPENAI


def told_rate(session: Mapping[str, Any], way: str, default: int) -> int:
    """The sample rate (Hz) that a session object names for `input` or `output`."""
    audio = session.get("audio")
    side = audio.get(way) if isinstance(audio, Mapping) else None
    found = None
    if isinstance(side, Mapping):
        given = side.get("format")
        found = given.get("rate") if isinstance(given, Mapping) else side.get("sample_rate_hz")
    return int(found) if isinstance(found, int | float) and found > 0 else default
