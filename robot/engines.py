"""Makes the engines that talk to a server; each is called in the engine's own child process."""
import ssl
from pathlib import Path

import numpy as np

from dialogue.engine import Engine
from dialogue.engines.chat import ChatEngine
from dialogue.engines.chat_config import ChatConfig
from dialogue.engines.connection import Connection
from dialogue.engines.embedded import EmbeddedConfig
from dialogue.engines.link import Link
from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.minicpm.session import MiniCpmSession
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.session import RealtimeSession
from dialogue.engines.recogniser import Recogniser
from dialogue.engines.remembering import Remembering
from dialogue.engines.remote import RemoteEngine
from dialogue.engines.secrets import secret
from dialogue.persona import AS_IT_COMES, PersonaConfig
from robot.engine_start import memory_of

NO_ACCESS = (400, 401, 404)    # HTTP statuses of a handshake that stay; MiniCPM-o says 403 while it is not ready


def realtime(config: RealtimeConfig, seed: int, start: str, file: Path | None = None) -> Engine:
    """The engine `realtime`. seed: of the jitter of reconnecting. start, file: of the memory, see engine_start."""
    key = secret(config.key_from)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if config.server == "openai-beta":
        headers["OpenAI-Beta"] = "realtime=v1"
    core = RealtimeSession(config, Recogniser().words if config.local_words else None)
    engine = RemoteEngine(core, Connection(headers, config.link), Link(np.random.default_rng(seed), config.link))
    return Remembering(engine, memory_of("realtime", start, file), server=True)


def minicpm(config: MiniCpmConfig, seed: int) -> Engine:
    """The engine `minicpm`. seed: of names of sessions and of the jitter of reconnecting."""
    key = secret(config.key_from)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    rng = np.random.default_rng(seed)
    trust = None
    if config.trust_any_certificate and config.url.startswith("wss:"):
        trust = ssl.create_default_context()
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    core = MiniCpmSession(config, rng, Recogniser().words)
    return RemoteEngine(core, Connection(headers, config.link, trust), Link(rng, config.link, NO_ACCESS))


def chat(config: ChatConfig, start: str, file: Path | None = None, persona: PersonaConfig = AS_IT_COMES) -> Engine:
    """The engine `chat`. start: ISO time at the beginning of the run, for the companion. file: see engine_start."""
    memory = memory_of("chat", start, file)
    embedded = EmbeddedConfig(start=start, persona=persona.persona())
    return Remembering(ChatEngine(config, embedded, secret(config.key_from), memory=memory), memory, server=True)
