"""What an engine's child process builds; it imports nothing else, because it loads again after each death."""
from dialogue.engine import Engine
from dialogue.engines.embedded import EmbeddedConfig, EmbeddedEngine


def embedded(start: str) -> Engine:
    """The embedded engine; start: ISO time at the beginning of the run."""
    return EmbeddedEngine(EmbeddedConfig(start=start))
