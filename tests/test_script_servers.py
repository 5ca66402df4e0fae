"""`talkover script --engine realtime|minicpm|chat`: a scenario with a server of one's own, or a refusal that helps."""
import socket

import pytest

from dialogue.engine import EngineReady, Hear
from dialogue.engines.chat_config import ChatConfig
from dialogue.engines.minicpm.config import MiniCpmConfig
from robot.__main__ import main
from robot.clock import PacedClock
from robot.interaction.server_engines import ServerEngines
from robot.live_config import LiveConfig, RunConfig
from tests import fake_minicpm, fake_realtime
from tests.engine_bench import SILENCE

ASKS = """\
scenario: asks_a_server
room: {rt60_s: 0.2, seed: 4}
people:
  anna: {azimuth_deg: 5, distance_m: 1}
timeline:
  - {at: 0.6, anna: {says: "what do you think"}}
expect:
  - {robot_says: {matching: 'think about it'}, within: 4, of: {says: 1}}
  - {metric: stale_blocks, equals: 0}
"""


@pytest.fixture
def script(tmp_path, capsys):
    path, config = tmp_path / "asks.yaml", tmp_path / "server.toml"

    def run(engine, section, text=ASKS, *more):
        path.write_text(text)
        config.write_text(section)
        status = main(["script", "--engine", engine, "--config", str(config), str(path), *more])
        return status, capsys.readouterr()
    return run


def test_a_scenario_with_a_realtime_server_on_its_own_machine(script):
    served = fake_realtime.Served()
    status, told = script("realtime", f'[realtime]\nurl = "{served.url}"\nkey_from = ""\nlocal_words = false\n')
    assert status == 0 and "2 of 2 as expected" in told.out, told
    assert len(served.sessions) == 1 and served.sessions[0].committed_s > 0.5
    served.close()


def test_an_engine_is_ready_before_the_first_tick_and_its_server_hears_the_good_bye():
    served = fake_minicpm.Served()
    config = LiveConfig(run=RunConfig(engine="minicpm"), minicpm=MiniCpmConfig(served.url, frames=True))
    servers = ServerEngines(config)
    engine = servers()
    assert servers.shown and served.sessions[0].log[0]["type"] == "prepare"
    replies = [timed.reply for timed in engine.handle(Hear(0.01, SILENCE, False))]
    assert EngineReady("minicpm") in replies
    assert EngineReady("minicpm") not in [timed.reply for timed in engine.handle(Hear(0.02, SILENCE, False))]
    servers.close()
    served.close()


def test_no_companion_answers_for_a_chat_server_that_is_tried():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        servers = ServerEngines(LiveConfig(run=RunConfig(engine="chat"), chat=ChatConfig(url)))
        servers()
        assert servers.config.chat.fallback == "none" and not servers.shown
        servers.close()


def free() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.mark.parametrize(("engine", "section"), [
    ("realtime", '[realtime]\nkey_from = ""\nlocal_words = false\nurl = "ws://127.0.0.1:{port}/v1/realtime"\n'),
    ("minicpm", '[minicpm]\nurl = "ws://127.0.0.1:{port}"\n'),
    ("chat", '[chat]\nurl = "http://127.0.0.1:{port}/v1"\n')])
def test_a_server_that_is_not_there_is_refused_with_what_to_do_instead(script, engine, section):
    port = free()
    status, told = script(engine, section.format(port=port))
    assert status == 2 and told.err.count("\n") == 1
    assert f"127.0.0.1:{port}" in told.err and f"[{engine}] url" in told.err and "--engine embedded" in told.err


def test_a_full_server_a_missing_key_and_a_config_for_nothing_are_told(script, monkeypatch):
    served = fake_realtime.Served(lambda: fake_realtime.Server(faults=fake_realtime.Faults(full=True)))
    status, told = script("realtime", f'[realtime]\nurl = "{served.url}"\nkey_from = ""\nlocal_words = false\n')
    assert status == 2 and "session_limit_reached" in told.err
    served.close()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    status, told = script("realtime", "[realtime]\n")
    assert status == 2 and "key_from" in told.err and "OPENAI_API_KEY" in told.err
    status, told = script("scripted", "[realtime]\n")
    assert status == 2 and "--engine realtime, minicpm or chat" in told.err


def test_a_paced_clock_is_never_ahead_and_never_in_a_rush():
    now, slept = [10.0], []

    def sleep(seconds):
        assert seconds >= 0.0
        slept.append(round(seconds, 6))
        now[0] += seconds

    clock = PacedClock(lambda: now[0], sleep)
    times = []
    for index in range(6):
        times.append(clock.wait(index))
        now[0] += 0.5 if index == 2 else 0.004
    assert times == pytest.approx([0.0, 0.01, 0.02, 0.03, 0.04, 0.05])
    assert slept == pytest.approx([0.0, 0.006, 0.006, 0.0, 0.006, 0.006])
