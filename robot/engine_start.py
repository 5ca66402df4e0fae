"""What an engine's child process builds; it imports nothing else, because it loads again after each death."""
from datetime import datetime
from pathlib import Path

from dialogue.book import Book
from dialogue.engine import Engine
from dialogue.engines.embedded import EmbeddedConfig, EmbeddedEngine
from dialogue.engines.remembering import Remembering
from dialogue.memory import Memory
from dialogue.persona import AS_IT_COMES, PersonaConfig


def embedded(start: str = EmbeddedConfig().start, file: Path | None = None,
             persona: PersonaConfig = AS_IT_COMES) -> Engine:
    """The embedded engine. start: ISO time at the beginning of the run; file: of the memory, None: it is not kept."""
    memory = memory_of("embedded", start, file)
    return Remembering(EmbeddedEngine(EmbeddedConfig(start=start, persona=persona.persona()), memory), memory)


def memory_of(engine: str, start: str, file: Path | None) -> Memory:
    """The memory that an engine has; file None: as long as the process lives."""
    return Memory(Book(file), datetime.fromisoformat(start), engine)
