"""The client events that are sent, as plain objects: each function returns one."""
import base64
from typing import Any

import numpy as np

from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.dialects import Dialect
from dialogue.engines.tools import function_schema, offered
from perception.audio.block import Samples

Event = dict[str, Any]


def session_update(config: RealtimeConfig, dialect: Dialect, instructions: str) -> Event:
    """Our floor decides when a turn is over; where the server insists on its own, it shall at least not interrupt."""
    if dialect.name == "vllm-omni":
        session = _duplex_session(config, instructions)
    elif dialect.beta:
        session = _beta_session(config, dialect, instructions)
    else:
        session = _session(config, dialect, instructions)
    return {"type": "session.update", "event_id": "talkover_session", "session": session}


def _session(config: RealtimeConfig, dialect: Dialect, instructions: str) -> Event:
    listening: Event = {"format": {"type": "audio/pcm", "rate": dialect.in_hz}, "turn_detection": _detection(dialect)}
    if config.transcription and not config.local_words:
        listening["transcription"] = {"model": config.transcription}
    speaking: Event = {"format": {"type": "audio/pcm", "rate": dialect.out_hz}}
    if config.voice:
        speaking["voice"] = config.voice
    session: Event = {"type": "realtime", "output_modalities": ["audio"], "instructions": instructions,
                      "audio": {"input": listening, "output": speaking}}
    return session | _tools(config)


def _beta_session(config: RealtimeConfig, dialect: Dialect, instructions: str) -> Event:
    session: Event = {"modalities": ["audio", "text"], "instructions": instructions, "input_audio_format": "pcm16",
                      "output_audio_format": "pcm16"}
    if dialect.name == "sglang-omni":                       # its detection is fixed, its tools are none
        return session
    if config.voice:
        session["voice"] = config.voice
    if config.transcription and not config.local_words:
        session["input_audio_transcription"] = {"model": config.transcription}
    return session | {"turn_detection": _detection(dialect)} | _tools(config)


def _duplex_session(config: RealtimeConfig, instructions: str) -> Event:
    session: Event = {"modalities": ["audio", "text"], "input_audio_format": "pcm16", "output_audio_format": "pcm16",
                      "sample_rate_hz": 16000, "instructions": instructions, "turn_detection": None,
                      "overlap_policy": "listen_only", "playback_commit_policy": "ack_only",
                      "extra_body": {"auto_response": True}}
    named = {"model": config.model, "voice": config.voice, "ref_audio": config.reference_voice}
    return session | {key: value for key, value in named.items() if value}


def _detection(dialect: Dialect) -> Event | None:
    return {"type": "server_vad", "create_response": True, "interrupt_response": False} if dialect.led else None


def _tools(config: RealtimeConfig) -> Event:
    if not config.tools:
        return {}
    return {"tools": [{"type": "function", **function_schema(tool)} for tool in offered(own_voice=False)],
            "tool_choice": "auto"}


def append(samples: Samples) -> Event:
    """Sound at the session's rate, as 16-bit little-endian PCM."""
    pcm = np.round(np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()
    return {"type": "input_audio_buffer.append", "audio": base64.b64encode(pcm).decode("ascii")}


def seconds(event: Event, rate_hz: int) -> float:
    """Of sound in an `append`; 0 for anything else."""
    return len(event.get("audio", "")) * 3 / 4 / 2 / rate_hz


def commit() -> Event:
    return {"type": "input_audio_buffer.commit"}


def clear() -> Event:
    return {"type": "input_audio_buffer.clear"}


def create(event_id: str, generation: int, instructions: str, beta: bool) -> Event:
    """metadata comes back in response.created, so that a reply is bound to what asked for it."""
    response: Event = {} if beta else {"metadata": {"generation": str(generation)}}
    if instructions:
        response["instructions"] = instructions
    return {"type": "response.create", "event_id": event_id, **({"response": response} if response else {})}


def cancel(response: str) -> Event:
    return {"type": "response.cancel", "response_id": response}


def truncate(item: str, ms: int) -> Event:
    return {"type": "conversation.item.truncate", "item_id": item, "content_index": 0, "audio_end_ms": ms}


def delete(item: str) -> Event:
    return {"type": "conversation.item.delete", "item_id": item}


def said(role: str, text: str, beta: bool) -> Event:
    """A line of the talk: `user`, `assistant`, or `system` for a note."""
    kind = "input_text" if role != "assistant" else "text" if beta else "output_text"
    return {"type": "conversation.item.create",
            "item": {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}}


def picture(jpeg: bytes) -> Event:
    data = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")
    return {"type": "conversation.item.create", "item": {
        "type": "message", "role": "user", "content": [{"type": "input_image", "image_url": data}]}}


def tool_result(call: str, result: str) -> Event:
    return {"type": "conversation.item.create",
            "item": {"type": "function_call_output", "call_id": call, "output": result}}


def played(response: str, item: str, ms: int) -> Event:
    """vLLM-Omni: so much of it was heard."""
    return {"type": "playback.ack", "response_id": response, "item_id": item, "played_ms": ms}


def resume(session: str, token: str, seen: int) -> Event:
    """vLLM-Omni: the first word on a new socket after a drop."""
    return {"type": "session.resume", "session_id": session, "resume_token": token,
            "last_received_server_event_seq": seen}


def prompted(text: str) -> str:
    """What a prompt of the mind asks of the server, as instructions."""
    if text.startswith("say: "):
        return f'Say exactly these words and nothing else: "{text.removeprefix("say: ")}"'
    if text.startswith("greet "):
        return "Somebody has just come and looks at you. Greet them in one short sentence."
    if text == "go on":
        return "Go on with what you were saying when you were interrupted."
    return f"Answer this note about the person, in one short sentence: {text}"
