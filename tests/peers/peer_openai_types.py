"""Everything that the engine `realtime` sends, read by the types of OpenAI's own SDK: do both mean the same protocol?

Run by `make peers`. Where the SDK is missing, an environment of its own is made in .venv-openai; the messages are
made by this project's own Python in a talk with the fake server: turns, cancels, tools, cues, a renewal, all dialects.
"""
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HOME = PROJECT / ".venv-openai"
PYTHON = os.environ.get("TALKOVER_PYTHON", sys.executable)      # runs the engine
SDK = "openai==3.57.0"
GA = ("openai", "localai", "speech-to-speech")                  # dialects that the SDK's types describe whole
SENT = {"session.update", "session.update tools", "input_audio_buffer.append", "input_audio_buffer.commit",
        "input_audio_buffer.clear", "response.create", "response.create instructions", "response.cancel",
        "conversation.item.create", "conversation.item.create function_call_output", "conversation.item.create system",
        "conversation.item.create user", "conversation.item.create assistant", "conversation.item.create input_image",
        "conversation.item.truncate", "conversation.item.delete"}      # all that the engine can send
OWN = {"session.update", "playback.ack", "session.resume", "video_frames"}   # of vLLM-Omni alone, no type of the SDK


def details(event: dict) -> list[str]:
    """What is special about an event, with its kind."""
    kind, item = event["type"], event.get("item", {})
    found = [item.get("role"), item.get("type") if item.get("type") != "message" else None]
    found += [part["type"] for part in item.get("content", ()) if part["type"] == "input_image"]
    optional = (("session", "tools"), ("response", "instructions"))
    found += [key for holder, key in optional if key in event.get(holder, {})]
    return [f"{kind} {detail}" for detail in found if detail]


def check() -> int:
    from openai.types.beta.realtime.realtime_client_event import RealtimeClientEvent as BetaEvent
    from openai.types.realtime import realtime_client_event
    from pydantic import TypeAdapter

    made = subprocess.run([PYTHON, "-m", "tests.realtime_talk"], cwd=PROJECT, stdout=subprocess.PIPE, text=True,
                          check=True)
    current, beta = TypeAdapter(realtime_client_event.RealtimeClientEvent), TypeAdapter(BetaEvent)
    kinds: dict[str, int] = {}
    own: set[str] = set()
    for line in made.stdout.splitlines():
        told = json.loads(line)
        dialect, event = told["dialect"], told["event"]
        if dialect == "vllm-omni" and event["type"] in ("session.update", "playback.ack", "session.resume"):
            own.add(event["type"])
            continue                                            # its own
        pictures = event.pop("video_frames", None) if dialect == "vllm-omni" else None
        own |= {"video_frames"} if pictures else set()
        adapter = current if dialect in GA else beta
        value = adapter.validate_python(event)
        back = adapter.dump_python(value, mode="json", exclude_unset=True)
        if back != event:
            raise SystemExit(f"peer_openai_types: {dialect}: sent {event}\nread {back}")
        extra = getattr(value, "model_extra", None)
        if extra:
            raise SystemExit(f"peer_openai_types: {dialect}: {event['type']} has unknown keys {sorted(extra)}")
        for kind in (event["type"], *details(event)):
            kinds[kind] = kinds.get(kind, 0) + 1
    if missing := (SENT - set(kinds)) | (OWN - own):
        raise SystemExit(f"peer_openai_types: the talk sends no {', '.join(sorted(missing))}")
    total = sum(count for kind, count in kinds.items() if " " not in kind)
    print(f"peer_openai_types: the SDK reads all {total} messages of {len(kinds)} kinds as they were meant; "
          f"{len(OWN)} are vLLM-Omni's own")
    return 0


def main() -> int:
    try:
        import openai  # noqa: F401
    except ImportError:
        python = HOME / "bin" / "python"
        if not (HOME / ".ready").exists():
            venv.create(HOME, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", SDK], check=True)
            (HOME / ".ready").touch()
        return subprocess.run([python, __file__], env={**os.environ, "TALKOVER_PYTHON": PYTHON}).returncode
    return check()


if __name__ == "__main__":
    sys.exit(main())
