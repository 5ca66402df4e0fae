"""Section [minicpm]: which server, what it is told, and how patient the robot is with it."""
from dataclasses import dataclass, field
from typing import Literal

from dialogue.engines.address import checked_url
from dialogue.engines.link import LinkConfig


def _link() -> LinkConfig:
    return LinkConfig(first_wait_s=2.5, most_sound=4)   # a worker needs 2.5 s to clean up; a message is 1 s of sound


@dataclass(frozen=True, slots=True)
class MiniCpmConfig:
    """A server of MiniCPM-o 4.5. It hears everything, always, once it is connected: the model decides when it speaks.
    """

    url: str = "wss://127.0.0.1:8006"   # of the demo server, or of a gateway
    protocol: Literal["demo", "gateway"] = "demo"   # gateway: version 2 of /v1/realtime
    key_from: str = ""               # environment variable, or credential of that name in lower case; "": no key
    trust_any_certificate: bool = False   # of a demo server that signed its own; only in a network of one's own
    system_prompt: str = "You are a helpful assistant."   # the model drifts when the prompt begins otherwise
    length_penalty: float = 1.1      # 0.1 to 5; above 1 turns are longer
    frames: bool = False             # send the camera's pictures, one a second: privacy, so off; costs context too
    in_flight: int = 2               # units that the server has not answered yet; more would only add delay
    quiet_s: float = 0.45            # without speech, then a stopped model may speak again
    forced_s: float = 12.0           # that a model is told to listen and does not: then the connection is given up
    answers_s: float = 10.0          # that a unit is not answered: then the connection is given up
    held_s: float = 4.0              # that words which the model begins by itself wait for a turn they answer
    listens: int = 6                 # units that it only listens after a turn: it chose to say nothing
    lead_s: float = 2.0              # of a reply that may be ahead of the loudspeaker
    queue_told_s: float = 15.0       # between two reports that another user has the server
    queue_s: float = 120.0           # in its queue, then try anew
    prepare_s: float = 45.0          # for its model to be ready; 9 to 16 s are usual
    rotate_audio_s: float = 550.0    # of wall time until a quiet moment ends a session: the cap is 600 s ...
    rotate_video_s: float = 280.0    # ... and 300 s with pictures
    rotate_kv: int = 7200            # of the 8192 tokens of context
    rotate_grace_s: float = 14.0     # that a quiet moment is waited for
    handover_letters: int = 800      # of its own words that the next session is told
    link: LinkConfig = field(default_factory=_link)

    def __post_init__(self) -> None:
        checked_url(self.url, ("wss", "ws"))
