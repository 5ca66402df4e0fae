"""What servers say a reply has cost, and how fast its sound came."""
import pytest

from dialogue.engine import Cancel, EngineUsage, ReplyDone
from dialogue.engines.usage import KINDS, tokens_of
from tests.fake_minicpm import Demo, Gateway
from tests.fake_realtime import Server
from tests.realtime_line import line
from tests.test_minicpm_session import TALK, talked
from tests.test_minicpm_session import line as minicpm_line

OPENAI = {"total_tokens": 190, "input_tokens": 130, "output_tokens": 60,
          "input_token_details": {"text_tokens": 100, "audio_tokens": 30, "cached_tokens": 64,
                                  "cached_tokens_details": {"text_tokens": 64}},
          "output_token_details": {"text_tokens": 15, "audio_tokens": 45}}


@pytest.mark.parametrize(("usage", "tokens"), [
    (OPENAI, {"input_text": 100, "input_audio": 30, "input_cached": 64, "output_text": 15, "output_audio": 45}),
    ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None},
     {"input_other": 9, "output_other": 4}),
    ({"input_tokens": 10, "output_tokens": 5, "output_token_details": {"audio_tokens": 3}},
     {"input_other": 10, "output_audio": 3, "output_other": 2}),
    ({"input_tokens": -1, "output_tokens": True}, {}), ({"input_tokens": "7", "output_tokens": 1e12}, {}),
    (None, {}), ("none", {}), ({}, {}),
])
def test_tokens_of_a_usage_object(usage, tokens):
    assert dict(tokens_of(usage)) == tokens and set(tokens) <= set(KINDS)


def ended(server, usage, status="completed"):
    done = server.finish(status)
    done[0]["response"]["usage"] = usage
    return done


def test_a_reply_tells_its_tokens_and_the_pace_of_its_sound():
    bench = line(Server(pieces=4))
    bench.hold = True
    bench.commit(1)
    while bench.waiting:                                   # a piece of 0.2 s each 0.05 s
        if bench.waiting[0]["type"] == "response.output_audio.delta":
            bench.listen(0.05)
        bench.core.take(bench.t, bench.waiting.pop(0))
    bench.hold = False
    bench.deliver(ended(bench.server, OPENAI))
    bench.listen(3.0)
    used, = bench.got(EngineUsage)
    assert used.generation == 1 and dict(used.tokens)["output_audio"] == 45 and bench.got(ReplyDone)
    assert len(used.pieces) == 4
    assert all(took == pytest.approx(0.05) and sounds == pytest.approx(0.2, abs=0.01) for took, sounds in used.pieces)


def test_a_cancelled_reply_costs_too():
    bench = line()
    bench.commit(1)
    server_done = ended(bench.server, OPENAI, "cancelled")
    bench.server.active = None
    bench.ask(Cancel(bench.t, 1))
    bench.deliver(server_done)
    bench.listen(0.1)
    assert sum(dict(used.tokens).get("input_text", 0) for used in bench.got(EngineUsage)) == 100


@pytest.mark.parametrize("kind", [Demo, Gateway])
def test_a_model_tells_what_each_second_took(kind):
    class Telling(kind):
        def speak(self, text, last):
            return super().speak(text, last) | {"cost_all_ms": 400.0}

        def hear(self, message):
            told = super().hear(message)
            for one in told:
                if one.get("kind") == "audio":
                    one["metrics"] = one["metrics"] | {"wall_clock_ms": 400.0}
            return told

    bench = talked(minicpm_line(Telling(dict(TALK))))
    bench.listen(7.0)
    used, = bench.got(EngineUsage)
    assert used.generation == 1 and used.pieces == ((0.4, 1.0),) * 3
