"""Hugging Face's speech-to-speech server with handlers of our own for sound and words: runs in its own environment.

`stub_speech_to_speech.py PORT`. Sockets, protocol, turns, history and queues are the server's; only the models are
stubs: a voice detector by energy, a recogniser that knows words by the pitch of a tone, a model with fixed answers and
a voice that is a tone of 250 Hz, 80 ms a letter and faster than real time.
"""
import sys
from queue import Queue
from threading import Event, Thread

import numpy as np
from openai.types.realtime.conversation_item import RealtimeConversationItemAssistantMessage
from openai.types.realtime.realtime_conversation_item_assistant_message import Content
from openai.types.realtime.realtime_conversation_item_function_call import RealtimeConversationItemFunctionCall
from openai.types.responses.response_function_tool_call import ResponseFunctionToolCall
from speech_to_speech.api.openai_realtime.pipeline_unit import PipelineUnit
from speech_to_speech.api.openai_realtime.server import RealtimeServer
from speech_to_speech.api.openai_realtime.service import RealtimeService
from speech_to_speech.baseHandler import BaseHandler
from speech_to_speech.LLM.lm_output_processor import LMOutputProcessor
from speech_to_speech.pipeline.cancel_scope import CancelScope
from speech_to_speech.pipeline.events import SpeechStartedEvent, SpeechStoppedEvent
from speech_to_speech.pipeline.history import ResponseHistory
from speech_to_speech.pipeline.messages import (
    AUDIO_RESPONSE_DONE,
    EndOfResponse,
    LLMResponseChunk,
    TokenUsage,
    Transcription,
    VADAudio,
)
from speech_to_speech.pipeline.speculative_turns import SpeculativeTurnTracker
from speech_to_speech.STT.transcription_notifier import TranscriptionNotifier

LOUD = 0.01                      # of full scale 1, root mean square
SILENCE = 16000 // 512 * 3 // 10  # chunks of 32 ms: 0.3 s end a turn
SAID = {200: "hello", 400: "please nod", 600: "what do you know"}     # by the pitch (Hz) of a turn
LETTER_S = 0.08


class Ears(BaseHandler):
    def setup(self, turns, events):
        self.turns, self.events = turns, events
        self.on_session_end()

    def on_session_end(self):
        self.turns.reset()
        self.spoken, self.quiet, self.heard = [], 0, 0

    def process(self, chunk):
        data, config = chunk
        samples = np.frombuffer(data, np.int16).astype(np.float32) / 32768
        self.heard += len(samples)
        loud = float(np.sqrt(np.mean(samples ** 2))) > LOUD
        if loud and not self.spoken:
            turn, revision, reopened = self.turns.speech_started(self.heard // 16)
            self.events.put(SpeechStartedEvent(audio_start_ms=self.heard // 16, turn_id=turn, turn_revision=revision,
                                               reopened=reopened))
        if loud or self.spoken:
            self.spoken.append(samples)
            self.quiet = 0 if loud else self.quiet + 1
        if self.spoken and self.quiet > SILENCE:
            audio, self.spoken, self.quiet = np.concatenate(self.spoken), [], 0
            turn, revision = self.turns.current_turn()
            self.events.put(SpeechStoppedEvent(duration_s=len(audio) / 16000, audio_end_ms=self.heard // 16,
                                               turn_id=turn, turn_revision=revision))
            self.turns.segment_finalized(self.heard // 16, output_hold_ms=10)
            yield VADAudio(audio=audio, runtime_config=config, mode="final", turn_id=turn, turn_revision=revision)


class Recogniser(BaseHandler):
    def process(self, spoken):
        power = np.abs(np.fft.rfft(spoken.audio))
        pitch = float(np.argmax(power)) * 16000 / len(spoken.audio)
        words = SAID[min(SAID, key=lambda known: abs(known - pitch))]
        yield Transcription(text=words, turn_id=spoken.turn_id, turn_revision=spoken.turn_revision)


def told(item) -> str:
    """An item of the server's memory in words."""
    if item.type != "message":
        return f"{item.type} {getattr(item, 'output', '')}".strip()
    parts = [part.type if part.type == "input_image" else str(getattr(part, "text", None) or
             getattr(part, "transcript", None) or part.type) for part in item.content]
    return f"{item.role}: {' '.join(parts)}"


class Model(BaseHandler):
    def setup(self, scope):
        self.scope, self.calls = scope, 0

    def process(self, request):
        chat, generation = request.runtime_config.chat, self.scope.generation
        memory = list(chat.copy().buffer)
        common = {"turn_id": request.turn_id, "turn_revision": request.turn_revision,
                  "cancel_generation": generation, "response_key": request.response_key}
        text, tools = self.answer(memory, request)
        made = [RealtimeConversationItemAssistantMessage(
            type="message", role="assistant", content=[Content(type="output_text", text=text)])] if text else [
            RealtimeConversationItemFunctionCall(type="function_call", call_id=tools[0].call_id, name=tools[0].name,
                                                 arguments=tools[0].arguments)]
        after = memory[-1].id if memory else None
        yield LLMResponseChunk(text=text, tools=tools, runtime_config=request.runtime_config,
                               response=request.response, prefetch_transaction=request.prefetch_transaction,
                               history=ResponseHistory.capture(chat, made, after_item_id=after), **common)
        yield TokenUsage(input_tokens=10, output_tokens=len(text), **common)
        yield EndOfResponse(history=ResponseHistory.capture(chat, made, after_item_id=after, complete=True),
                            input_tool_call_ids=[i.call_id for i in memory if i.type == "function_call_output"],
                            **common)

    def answer(self, memory, request):
        if request.response is not None and request.response.instructions:
            return f"Told: {request.response.instructions}", []
        last = memory[-1] if memory else None
        if last is not None and last.type == "function_call_output":
            return f"I nodded, it is {last.output}.", []
        words = told(last) if last is not None else ""
        if "nod" in words:
            self.calls += 1
            offered = {tool.name for tool in request.runtime_config.session.tools or ()}
            assert "gesture" in offered, offered
            return "", [ResponseFunctionToolCall(type="function_call", call_id=f"call_{self.calls}", name="gesture",
                                                 arguments='{"name": "nod"}')]
        if "what do you know" in words:
            note = request.runtime_config.chat.init_chat_message
            return " | ".join(told(item) for item in (*([note] if note else []), *memory)), []
        return "Hello to you, and here is a long story that somebody may well stop.", []


class Voice(BaseHandler):
    def setup(self, scope):
        self.scope = scope

    def process(self, said):
        if isinstance(said, EndOfResponse):
            yield AUDIO_RESPONSE_DONE
            return
        count = round(len(said.text) * LETTER_S * 16000) // 512 * 512
        sound = (8000 * np.sin(2 * np.pi * 250 * np.arange(count) / 16000)).astype(np.int16)
        for begin in range(0, count, 512):
            if self.scope.is_stale(said.cancel_generation):
                return
            yield sound[begin:begin + 512]


def pipeline(index, stop):
    sound_in, sound_out, spoken, written, prompts, made, processed, events = (Queue() for _ in range(8))
    scope, turns, listens = CancelScope(), SpeculativeTurnTracker(), Event()
    listens.set()
    service = RealtimeService(text_prompt_queue=prompts, should_listen=listens, speculative_turns=turns)
    handlers = [
        Ears(stop, sound_in, spoken, setup_kwargs={"turns": turns, "events": events}),
        Recogniser(stop, spoken, written),
        TranscriptionNotifier(stop, written, prompts, setup_kwargs={
            "text_output_queue": events, "should_listen": listens}),
        Model(stop, prompts, made, setup_kwargs={"scope": scope}),
        LMOutputProcessor(stop, made, processed, setup_kwargs={
            "speculative_turns": turns, "text_output_queue": events}),
        Voice(stop, processed, sound_out, setup_kwargs={"scope": scope}),
    ]
    for handler in handlers:
        Thread(target=handler.run, daemon=True).start()
    return PipelineUnit(index=index, service=service, cancel_scope=scope, should_listen=listens,
                        response_playing=Event(), input_queue=sound_in, output_queue=sound_out,
                        text_output_queue=events, text_prompt_queue=prompts, handlers=handlers)


if __name__ == "__main__":
    stopping = Event()
    RealtimeServer(stopping, [pipeline(0, stopping)], "127.0.0.1", int(sys.argv[1])).run()
