"""Which engine answers a live run; an engine with a server in its own process."""
import time
from dataclasses import replace

import pytest

from dialogue.engine import Clause, Commit, EngineReady, Hear, ReplyDone, Timed
from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.secrets import KeyMissing, secret
from robot.engine_choice import engine_of
from robot.errors import BadRequest
from robot.live_config import LiveConfig, RunConfig, read_live_config
from robot.worker import ChildWorker
from tests.engine_bench import VOICE
from tests.fake_realtime import Served

PATIENCE_S = 60.0


def config(engine, **sections):
    return replace(LiveConfig(), run=RunConfig(engine=engine), **sections)


def test_a_key_comes_from_a_credential_or_the_environment(tmp_path):
    (tmp_path / "openai_api_key").write_text("from a file\n")
    assert secret("OPENAI_API_KEY", {"CREDENTIALS_DIRECTORY": str(tmp_path), "OPENAI_API_KEY": "x"}) == "from a file"
    assert secret("OPENAI_API_KEY", {"OPENAI_API_KEY": "x "}) == "x"
    assert secret("", {}) == ""
    with pytest.raises(KeyMissing, match="OPENAI_API_KEY"):
        secret("OPENAI_API_KEY", {})


def test_an_engine_without_its_key_is_refused_by_name(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(BadRequest, match=r"\[realtime\] key_from.*OPENAI_API_KEY"):
        engine_of(config("realtime"))


def test_the_scripted_engine_is_for_scripts():
    with pytest.raises(BadRequest, match="talkover script"):
        engine_of(config("scripted"))


@pytest.mark.parametrize(("text", "named"), [('[realtime]\nkey = "sk-1"\n', "key"), ("[minicpm]\nframes = 1\n", "true"),
                                             ('[realtime]\nserver = "azure"\n', "vllm-omni")])
def test_what_is_wrong_in_its_section_is_named(tmp_path, text, named):
    path = tmp_path / "robot.toml"
    path.write_text(text)
    with pytest.raises(BadRequest, match=named):
        read_live_config(path)


def test_a_turn_through_the_engines_own_process():
    served = Served()
    worker = engine_of(config("realtime", realtime=RealtimeConfig(url=served.url, key_from="", local_words=False)))
    replies, t = [], 0.0

    def until(kind, speech=False):
        nonlocal t
        limit = time.monotonic() + PATIENCE_S
        while not any(isinstance(reply, kind) for reply in replies):
            assert time.monotonic() < limit, replies
            t += 0.01
            worker.submit(t, Hear(t, VOICE, speech))
            replies.extend(worker.poll(t))
            time.sleep(0.005)

    until(EngineReady)
    for _ in range(60):
        t += 0.01
        worker.submit(t, Hear(t, VOICE, True))
    worker.submit(t, Commit(t, 1, t - 0.6, t, 1))
    until(ReplyDone)
    assert " ".join(c.text for c in replies if isinstance(c, Clause) and c.text) == "Here is what I think about it."
    worker.close()
    served.close()


class Pulsing:
    """Has something to say without being asked."""

    def handle(self, request):
        yield from ()

    def pulse(self, seconds):
        yield Timed(0.0, EngineReady("by itself"))


def test_an_engine_with_a_line_of_its_own_speaks_up_without_a_request():
    worker = ChildWorker("tests.test_engine_choice:Pulsing", {})
    replies, limit = [], time.monotonic() + PATIENCE_S
    while not replies:
        assert time.monotonic() < limit
        replies += worker.poll(0.0)
        time.sleep(0.005)
    assert replies[0] == EngineReady("by itself")
    worker.close()
