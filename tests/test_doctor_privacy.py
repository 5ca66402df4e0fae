"""Findings of `talkover doctor` about servers, what leaves the machine and what is kept, by the fault each is for."""
import socket
from dataclasses import dataclass, field, replace

import pytest

from dialogue.engines.minicpm.config import MiniCpmConfig
from dialogue.engines.realtime.config import RealtimeConfig
from robot.black_box.config import BoxConfig
from robot.black_box.shelf import Shelf
from robot.bodies.camera_config import CameraDeviceConfig
from robot.live_config import DaemonConfig, LiveConfig, RunConfig
from robot.service.log import LogConfig
from robot.service.privacy_findings import Peer, network, peers, reaches, recording
from tests.test_doctor import by_subject


@dataclass(frozen=True)
class ChatConfig:
    url: str = "wss://chat.example.org/v1"


@dataclass(frozen=True)
class Configured(LiveConfig):
    chat: ChatConfig = field(default_factory=ChatConfig)


def test_the_engines_host_is_named():
    found = by_subject(network(LiveConfig()))
    assert found["engine"].fact == "embedded: on this machine, nothing leaves it" and set(found) == {"engine"}
    far = Configured(run=RunConfig(engine="chat"))
    found = by_subject(network(far, lambda host, port: "Name or service not known"))
    assert "chat: chat.example.org; the words of people go there; no sound" in found["engine"].fact
    assert found["peer: chat"].verdict == "warning" and "chat.example.org:443" in found["peer: chat"].fact
    near = replace(far, chat=ChatConfig("http://127.0.0.1:8080/v1"))
    assert "on this machine" in by_subject(network(near, lambda host, port: ""))["engine"].fact
    assert by_subject(network(replace(far, chat=ChatConfig(""))))["engine"].verdict == "warning"


@pytest.mark.parametrize(("engine", "settings", "told"), [
    ("realtime", {}, "the sound of turns, or all sound where that server itself decides when to answer, goes there"),
    ("realtime", {"server": "openai"}, "the sound of turns goes there; no pictures"),
    ("realtime", {"server": "speech-to-speech"}, "all sound, always, goes there; no pictures"),
    ("realtime", {"server": "openai", "frames": True}, "PICTURES of the camera, one with each turn, go there"),
    ("realtime", {"server": "vllm-omni", "frames": True}, "PICTURES of the camera, one a second, go there"),
    ("minicpm", {"frames": True}, "all sound, always, and PICTURES of the camera, one a second, go there"),
    ("minicpm", {}, "all sound, always, goes there; no pictures")])
def test_what_leaves_the_machine_is_told(engine, settings, told):
    section = {"realtime": RealtimeConfig, "minicpm": MiniCpmConfig}[engine](url="wss://m.example.org", **settings)
    config = replace(LiveConfig(), run=RunConfig(engine=engine), **{engine: section})
    assert told in by_subject(network(config, lambda host, port: ""))["engine"].fact


def test_an_engine_that_shall_see_without_a_camera_is_told():
    """F63: a setting without its part."""
    config = replace(LiveConfig(), run=RunConfig(body="device", engine="minicpm"),
                     minicpm=MiniCpmConfig("wss://m.example.org", frames=True), camera=CameraDeviceConfig(source=""))
    found = by_subject(network(config, lambda host, port: ""))
    assert "there is no camera" in found["engine"].fact and found["engine pictures"].verdict == "warning"
    seeing = replace(config, run=replace(config.run, body="simulated"))
    assert "engine pictures" not in by_subject(network(seeing, lambda host, port: ""))


def test_a_peer_that_is_down_and_one_that_answers():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        config = LiveConfig(run=RunConfig(body="reachy-daemon"), daemon=DaemonConfig(port=port))
        assert peers(config) == [Peer("daemon", "127.0.0.1", port)]
        assert "refused" in by_subject(network(config))["peer: daemon"].fact
        server.listen()
        assert reaches("127.0.0.1", port) == ""


@pytest.mark.parametrize(("config", "said"), [
    (LiveConfig(), "no sound, no pictures, no words"), (LiveConfig(box=BoxConfig(sound=True)), "SOUND AND WORDS"),
    (LiveConfig(box=BoxConfig(on=False)), "nothing is recorded"),
    (LiveConfig(log=LogConfig(words=True)), "the log holds WORDS")])
def test_what_is_recorded_is_said(tmp_path, config, said):
    (found,) = recording(config, tmp_path)
    assert said in found.fact and found.verdict == "ok"


def test_what_is_kept_is_said(tmp_path):
    Shelf(tmp_path / "boxes", 1e9, 0).put("x", 1, lambda folder: (folder / "tape.mcap").write_bytes(b"x" * 2_000_000))
    assert "1 black boxes, 2 MB" in by_subject(recording(LiveConfig(), tmp_path))["kept"].fact


# the environment and the command
