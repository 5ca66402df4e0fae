"""Section [realtime]: which server, what it is told, and how patient the robot is with it."""
from dataclasses import dataclass, field
from typing import Literal

from dialogue.engines.address import checked_url
from dialogue.engines.link import LinkConfig

Server = Literal["auto", "openai", "openai-beta", "speech-to-speech", "localai", "sglang-omni", "vllm-omni"]
INSTRUCTIONS = """You are Robin, a small robot on a table, and you talk with the people around you. Answer in one or two
short spoken sentences. People may talk over you at any time. Notes with a time in seconds tell you what people do
without words; take them into account without mentioning them."""


@dataclass(frozen=True, slots=True)
class RealtimeConfig:
    """A server of the OpenAI Realtime protocol. Speech of people goes to the host of `url`; nothing goes anywhere else.
    """

    url: str = "wss://api.openai.com/v1/realtime"   # ws:// only on this machine or a network of one's own
    server: Server = "auto"          # auto: told by what it says first
    model: str = "gpt-realtime-2.1"  # "" where the server has but one
    voice: str = ""                  # "": the server's own; OpenAI has marin, cedar and others
    key_from: str = "OPENAI_API_KEY"  # environment variable that holds the key, or a credential (man 5 systemd.exec) of
                                      # that name in lower case; the key itself never stands in a file. "": no key
    instructions: str = " ".join(INSTRUCTIONS.split())   # who the robot is
    tools: bool = True               # offer gestures and looks
    local_words: bool = True         # words ahead of the commit by the recogniser on this machine: 0.4 s less wait, and
                                     # "stop" is understood at once; costs 0.1 s of one core a turn
    transcription: str = "gpt-transcribe"   # model for what people said, without local_words; "": none
    notes: bool = True               # tell cues (nods, sighs, looks away) to the server, as text
    frames: bool = False             # send the camera's last picture with each turn: privacy, so off
    reference_voice: str = ""        # data URL of a voice sample (vLLM-Omni with MiniCPM-o needs one)
    preroll_s: float = 0.3           # of sound before the onset that belongs to a turn: onsets are found late
    hang_s: float = 1.5              # without speech, then sound that no turn took is taken back from the server
    lead_s: float = 2.0              # of a reply that may be ahead of the loudspeaker; more would be thrown away
    waits_s: float = 4.0             # that a turn waits for a connection; then the robot says that there is none
    answers_s: float = 10.0          # until a request for a reply that was never acknowledged is given up
    listens: int = 6                 # seconds that a model only listens after a turn: it chose to say nothing
    rotate_s: float = 3300.0         # of a session until the next quiet moment ends it: OpenAI's cap is 60 min
    rotate_at_last_s: float = 3540.0  # ... until it is ended in any case
    history_lines: int = 40          # of the talk that a new session is told
    link: LinkConfig = field(default_factory=LinkConfig)

    def __post_init__(self) -> None:
        checked_url(self.url, ("wss", "ws"))
