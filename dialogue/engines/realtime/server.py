"""What a Realtime server says, event by event."""
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dialogue.engine import ENGINE_RATE_HZ, EngineTrouble, EngineUsage, ReplyDone, Transcript
from dialogue.engines.realtime.answers import Answer, Asked
from dialogue.engines.realtime.dialects import DIALECTS, NAMES, Dialect, recognised, told_rate
from dialogue.engines.realtime.offers import Offers, leads
from dialogue.engines.usage import tokens_of

HARMLESS = ("response_cancel_not_active", "response_not_active", "item_not_found", "unsupported_content_type",
            "runtime_append_failed", "input_audio_buffer_commit_empty", "input_audio_buffer_empty",
            "item_truncate_invalid_item_id", "invalid_value", "conversation_item_not_found")
BUSY = ("session_limit_reached", "resource_exhausted", "rate_limit_exceeded", "queue_full")
RESUME_OVER = ("session_resume_expired", "invalid_resume_token", "unsupported_session_resume",
               "session_resume_conflict", "invalid_session_resume")
ACTIVE = "conversation_already_has_active_response"


class ServerEvents(Offers):
    """The server's half of a session. The other half (RealtimeSession) keeps the state."""

    asked: deque[Asked]
    awaiting: Asked | None
    history: deque[tuple[str, str]]
    turns: deque[int]
    token: tuple[str, str] | None
    seen: int
    busy: bool
    ready: bool
    last: str

    def take(self, t: float, message: dict[str, Any]) -> None:
        """One event of the server."""
        self.t = t
        number = message.get("server_event_seq")
        if isinstance(number, int):
            if number <= self.seen:
                return                                    # again, after a resume
            self.seen = number
        kind = NAMES.get(str(message.get("type")), str(message.get("type")))
        handler = HANDLERS.get(kind)
        if handler is not None:
            handler(self, message)

    # session --------------------------------------------------------------------------------------------------------

    def _created(self, message: Mapping[str, Any]) -> None:
        self._note_token(message)
        dialect = DIALECTS.get(self.config.server) or recognised(message)
        if not dialect.client_first:
            self.greet(dialect)
        if dialect.name == "sglang-omni":                 # answers no session.update
            self.start()

    def _updated(self, message: Mapping[str, Any]) -> None:
        given = message.get("session")
        session = given if isinstance(given, Mapping) else {}
        self._out_hz = told_rate(session, "output", self.dialect.out_hz)
        if not self.dialect.led and leads(session):       # it keeps a detection of its own, asked for none
            self.adopt(replace(self.dialect, led=True))
        if not self.ready:
            self.start()

    def _resumed(self, message: Mapping[str, Any]) -> None:
        self._note_token(message)
        self.ready = True

    def _note_token(self, message: Mapping[str, Any]) -> None:
        session = message.get("session")
        identity = message.get("session_id") or (session.get("id") if isinstance(session, Mapping) else None)
        if isinstance(message.get("resume_token"), str) and isinstance(identity, str):
            self.token = (identity, str(message["resume_token"]))

    def _anew(self, message: Mapping[str, Any]) -> None:
        """The session cannot be resumed."""
        self.drop_session()
        self.greet(self.dialect)

    def _closed(self, message: Mapping[str, Any]) -> None:
        self.last = f"{message.get('type')} {message.get('reason', '')}".strip()
        self.token = None

    def _listen(self, message: Mapping[str, Any]) -> None:
        self.listens(message.get("response_id"))

    # responses ------------------------------------------------------------------------------------------------------

    def _response_created(self, message: Mapping[str, Any]) -> None:
        response = _response(message)
        identity = str(response.get("id", ""))
        if self.responses.is_dead(identity) or identity in self.responses.owner:
            return
        asked = self._asked_for(response)
        if asked is None:
            self.offered(identity)
            return
        answer = self.answers.get(asked.generation)
        if asked.cancelled or answer is None or answer.dead:
            self.reject(identity)
            return
        self.responses.begin(identity, answer, self.t)

    def _asked_for(self, response: Mapping[str, Any]) -> Asked | None:
        """Which request brought this response; None: none did."""
        asked, metadata = self.awaiting, response.get("metadata")
        told = metadata.get("generation") if isinstance(metadata, Mapping) else None
        if asked is not None and self.dialect.echoes and told != str(asked.generation):
            return None                                   # it begins by itself too: our mark tells which are ours
        self.awaiting = None
        if asked is None and self.dialect.commit_answers and self.asked:
            asked = self.asked.popleft()                  # its commit was enough
        return asked

    def _delta(self, message: Mapping[str, Any]) -> Answer | None:
        identity = message.get("response_id", self.responses.active)
        if self.dialect.led and isinstance(identity, str) and self.responses.active is None \
                and not self.responses.is_dead(identity) and identity not in self.responses.owner:
            self.offered(identity)                        # older servers name a response by its first delta
        return self.responses.of(identity)

    def _audio(self, message: Mapping[str, Any]) -> None:
        answer = self._delta(message)
        if answer is None:
            return
        identity = str(message.get("response_id", self.responses.active))
        rate = message.get("sample_rate_hz")
        rate = rate if isinstance(rate, int) and 4000 <= rate <= 96000 else self._out_hz
        item = str(message.get("item_id") or f"item_{identity}")
        samples = self.responses.voices[identity](str(message.get("delta", "")), rate)
        answer.flow.sound(item, samples)
        answer.came(self.t, len(samples) / ENGINE_RATE_HZ)
        metadata = message.get("metadata")
        for mark in (metadata.get("audio_text_marks") or ()) if isinstance(metadata, Mapping) else ():
            if {"text_chars", "audio_end_ms"} <= set(mark):
                answer.flow.mark(int(mark["text_chars"]), 0.001 * float(mark["audio_end_ms"]))

    def _words(self, message: Mapping[str, Any]) -> None:
        answer = self._delta(message)
        if answer is not None:
            answer.flow.text(str(message.get("delta", "")))

    def _item_done(self, message: Mapping[str, Any]) -> None:
        item = message.get("item")
        if isinstance(item, Mapping) and item.get("type") == "function_call":
            self.called(message.get("response_id"), item)

    def _arguments_done(self, message: Mapping[str, Any]) -> None:
        if message.get("name"):
            self.called(message.get("response_id"), message)

    def _response_done(self, message: Mapping[str, Any]) -> None:
        response = _response(message)
        identity = str(response.get("id", self.responses.active))
        answer = self.responses.owner.get(identity)
        self._usage(answer, response.get("usage"))
        if self.responses.is_dead(identity) or answer is None:
            self.responses.over(identity)
            return
        for item in response.get("output") or ():
            if isinstance(item, Mapping) and item.get("type") == "function_call":
                self.called(identity, item)
        self.responses.over(identity)
        if answer.flow.arrived and identity in self.responses.voices and answer.flow.last_item:
            answer.flow.sound(answer.flow.last_item, self.responses.voices[identity].tail())
        self.responses.kill(identity)                     # what still comes of it is late
        status = str(response.get("status", "completed"))
        details = response.get("status_details")
        if status in ("failed", "incomplete"):
            answer.failed = f"{status}: {_reason(details)}"
        if answer.calls:
            self.tools_done(answer)
            return
        if status == "cancelled" and not answer.dead:      # the server gave way to a voice that our floor did not hear
            self.replies.append(ReplyDone(answer.generation, yielded=True))
            answer.told = True
        self.finish(answer)

    def _usage(self, answer: Answer | None, usage: object) -> None:
        """What a response has cost; a cancelled one costs too."""
        pieces = () if answer is None else tuple(answer.pieces)
        tokens = tokens_of(usage)
        if tokens or pieces:
            self.replies.append(EngineUsage(0 if answer is None else answer.generation, tokens, pieces))
        if answer is not None:
            answer.pieces, answer.came_at = [], None

    def finish(self, answer: Answer) -> None:
        answer.flow.end()

    def told(self, answer: Answer) -> None:
        """All of an answer has left."""
        answer.told = True
        if answer.failed and not answer.flow.clauses:
            self.replies.append(EngineTrouble(f"the server's answer {answer.failed}", answer.generation))
        else:
            self.replies.append(ReplyDone(answer.generation, silent=not answer.flow.clauses))

    # words, errors --------------------------------------------------------------------------------------------------

    def _transcribed(self, message: Mapping[str, Any]) -> None:
        text = str(message.get("transcript", "")).strip()
        if self.turns and self.config.local_words is False:
            self.replies.append(Transcript(self.turns.popleft(), text, True))
            if text:
                self.history.append(("user", text))

    def _error(self, message: Mapping[str, Any]) -> None:
        """Bound to what it names. Most are harmless, the session stands."""
        error = message.get("error")
        details: Mapping[str, Any] = error if isinstance(error, Mapping) else {"message": str(error or ""), **message}
        code = str(details.get("code") or details.get("type") or "")
        self.last = f"{code}: {details.get('message', '')}".strip(": ")
        if code in BUSY or details.get("type") in BUSY:
            self.busy = True
        if code in RESUME_OVER:
            self._anew(message)
            return
        event = details.get("event_id")
        asked = self.awaiting
        if asked is None or (event is not None and event != asked.event) or code in HARMLESS:
            if event == "talkover_session":
                self.replies.append(EngineTrouble(f"{self.last} (session.update)", 0))
            return
        if event is None and "response" not in code and details.get("type") != "server_error":
            return
        if code == ACTIVE:                                # asked too early: once more, when that one is over
            self.awaiting, asked.at = None, None
            self.asked.appendleft(asked)
            self.responses.active = self.responses.active or "unknown"
            self.responses.cancelled_at = self.t
            return
        self.fail(asked, self.last)

    def fail(self, asked: Asked, reason: str) -> None:
        """This request for a response brings none."""
        if self.awaiting is asked:
            self.awaiting = None
        answer = self.answers.get(asked.generation)
        if answer is not None and not answer.dead and not asked.cancelled and not answer.told:
            answer.told = True
            self.replies.append(EngineTrouble(reason, answer.generation))

    # what the other half does ---------------------------------------------------------------------------------------

    _out_hz = 24000

    def greet(self, dialect: Dialect) -> None: ...

    def adopt(self, dialect: Dialect) -> None: ...

    def start(self) -> None: ...

    def drop_session(self) -> None: ...

    def cancel_response(self, response: str) -> None: ...



def _response(message: Mapping[str, Any]) -> Mapping[str, Any]:
    response = message.get("response")
    return response if isinstance(response, Mapping) else {}


def _reason(details: object) -> str:
    if not isinstance(details, Mapping):
        return "no reason given"
    error = details.get("error")
    told = error.get("message") or error.get("code") if isinstance(error, Mapping) else None
    return str(told or details.get("reason") or "no reason given")


HANDLERS = {
    "session.created": ServerEvents._created, "session.updated": ServerEvents._updated,
    "session.resumed": ServerEvents._resumed, "session.resync_required": ServerEvents._anew,
    "session.closed": ServerEvents._closed, "session.expired": ServerEvents._closed,
    "response.listen": ServerEvents._listen,
    "response.created": ServerEvents._response_created, "response.done": ServerEvents._response_done,
    "response.output_audio.delta": ServerEvents._audio,
    "response.output_audio_transcript.delta": ServerEvents._words,
    "response.output_item.done": ServerEvents._item_done,
    "response.function_call_arguments.done": ServerEvents._arguments_done,
    "conversation.item.input_audio_transcription.completed": ServerEvents._transcribed,
    "error": ServerEvents._error,
}
