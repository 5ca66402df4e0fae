"""What a server says that a reply has cost, in the words of each protocol, as counts by kind."""
from collections.abc import Mapping
from typing import Any

KINDS = ("input_text", "input_audio", "input_image", "input_other", "input_cached", "output_text", "output_audio",
         "output_other")      # cached ones are counted with the others too: they cost less, or nothing
Tokens = tuple[tuple[str, int], ...]


def tokens_of(usage: object) -> Tokens:
    """Of a `usage` object: of OpenAI's Realtime API, or of its chat completions, which many servers send."""
    if not isinstance(usage, Mapping):
        return ()
    found: dict[str, int] = {}
    for way, sums, details in (("input", ("input_tokens", "prompt_tokens"),
                                ("input_token_details", "prompt_tokens_details")),
                               ("output", ("output_tokens", "completion_tokens"),
                                ("output_token_details", "completion_tokens_details"))):
        total = max(_count(usage.get(name)) for name in sums)
        parts: dict[str, Any] = {}
        for name in details:
            given = usage.get(name)
            parts |= dict(given) if isinstance(given, Mapping) else {}
        for kind in ("text", "audio", "image", "cached"):
            found[f"{way}_{kind}"] = _count(parts.get(f"{kind}_tokens"))
        told = sum(found[f"{way}_{kind}"] for kind in ("text", "audio", "image"))
        found[f"{way}_other"] = max(0, total - told)
    return tuple((kind, found[kind]) for kind in KINDS if found.get(kind))


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e9 else 0
