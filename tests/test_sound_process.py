"""The real sound process without its device, and the device body around it. Waits on readiness, bounded."""
import os
import select
import signal
import time
from collections.abc import Callable

import numpy as np
import pytest

from dialogue.engine import Cancel, SpeakerBlock
from motion.intent import JointGoal
from perception.audio.block import AudioBlock
from robot.bodies.camera_config import CameraDeviceConfig
from robot.bodies.device import DeviceBody, DeviceConfig, build_device
from robot.bodies.ring import Ring
from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.sound_place import SoundPlace, served
from robot.bodies.sound_process import SoundProcess
from robot.bodies.sound_slots import ORDERS, packed_block, packed_spoken, unpacked_block, unpacked_spoken
from robot.commands.run import changeable
from robot.live import Live
from robot.live_config import LiveConfig
from robot.service.log import Log
from robot.service.notify import Notify, Supervision
from robot.service.reload import ConfigReader, Reload
from robot.tick import Outputs
from robot.worker import InlineWorker
from tests.service_ends import Kept, inputs_of, tick_of

LIMIT_S = 60.0
ABSENT = SoundDeviceConfig(input="a card that nobody has", output="a card that nobody has", backoff_s=(0.1, 0.2))


@pytest.fixture
def sound(monkeypatch):
    monkeypatch.setenv("JACK_NO_START_SERVER", "1")
    process = SoundProcess(ABSENT)
    yield process
    process.close()


def until(sound: SoundProcess, told: list, outcome: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not outcome():
        assert time.monotonic() < end, f"not within {LIMIT_S} s: {told}"
        select.select([sound.fileno()] if sound.fileno() >= 0 else [], [], [], 0.05)
        assert sound.read() == ()
        sound.write([], 1)
        told += sound.health()


def heard(told: list, part: str, level: str, words: str = "") -> int:
    return sum(h.part == part and h.level == level and words in h.reason for h in told)


def test_a_missing_card_is_told_once_and_a_killed_or_hung_process_begins_again(sound):
    told: list = []
    until(sound, told, lambda: heard(told, "sound_card", "gone", "no input device named 'a card that nobody has'") == 1)

    os.kill(sound.child.pid, signal.SIGKILL)
    until(sound, told, lambda: heard(told, "sound_process", "gone", "status -9") == 1)
    until(sound, told, lambda: heard(told, "sound_process", "ok", "started again") == 1)

    sound.child.mute_s = 1.0                       # it hangs as PortAudio may on a device that vanished
    os.kill(sound.child.pid, signal.SIGSTOP)
    until(sound, told, lambda: heard(told, "sound_process", "gone", "said nothing") == 1)
    until(sound, told, lambda: heard(told, "sound_process", "ok", "started again") == 2)
    assert heard(told, "sound_card", "gone") == 1  # nothing new to say about the card


def test_the_process_ends_with_its_parent(sound):
    until(sound, [], lambda: sound.figures == {} and sound.child.pid is not None)
    child = os.pidfd_open(sound.child.pid)
    sound.close()
    assert select.select([child], [], [], LIMIT_S)[0]
    os.close(child)
    assert sound.read() == () and sound.fileno() == -1 and sound.figures == {}


def test_blocks_cross_unchanged():
    rng = np.random.default_rng(1)
    for mics in (1, 4, 8):
        sound = rng.standard_normal((mics + 1, 160)).astype(np.float32)
        block = AudioBlock(12.34, sound[:-1], sound[-1], True)
        back = unpacked_block(packed_block(block))
        assert (back.t, back.gap) == (12.34, True)
        assert (back.mics == block.mics).all() and (back.reference == block.reference).all()
        assert not back.mics.flags.writeable
    spoken = SpeakerBlock(7, 480, rng.standard_normal(160).astype(np.float32))
    again = unpacked_spoken(packed_spoken(spoken))
    assert (again.generation, again.offset) == (7, 480) and (again.samples == spoken.samples).all()
    assert ORDERS.unpack(ORDERS.pack(3, 0.5, True)) == (3, 0.5, True)


def test_blocks_of_before_a_restart_or_behind_an_overrun_are_gaps(sound):
    """The reader's side on a ring that this test writes."""
    assert sound._shared is not None
    records = sound._shared.captured
    writer = Ring(records._memory, records._start, records._slots, records.capacity)
    silent = np.zeros((4, 160), np.float32)

    def write(*times: float) -> list[tuple[float, bool]]:
        for t in times:
            writer.write(packed_block(AudioBlock(t, silent, silent[0])))
        return [(b.t, b.gap) for b in sound.read()]
    assert write(1.0, 1.01) == [(1.0, True), (1.01, False)]
    assert write(0.5, 1.0, 1.02) == [(1.02, True)]                   # a clock that begins anew is waited out
    late = write(*(2.0 + 0.01 * i for i in range(300)))
    assert late[0][1] and not any(gap for _, gap in late[1:]) and len(late) + sound.missed == 300


def test_a_reload_changes_volume_and_mute_of_a_card_that_plays(sound, tmp_path):
    path = tmp_path / "talkover.toml"
    path.write_text("[sound]\nvolume = 0.25\nmuted = true\nlatency_s = 0.06\n")
    log = Log(Kept())
    made = Live(None, None, None, None, sound)
    reload = Reload(path, LiveConfig(), log, Supervision(Notify(), lambda: 0.0, lambda: False), changeable(made),
                    InlineWorker(ConfigReader))
    reload.ask()
    reload(inputs_of(0.0), tick_of())
    sound.write([], 1)
    assert sound._shared is not None and ORDERS.unpack(sound._shared.orders.read()[1]) == (1, 0.25, True)
    assert [text for _, text, _ in log.sink.lines] == [
        "reload key=sound.muted: in force", "reload key=sound.volume: in force",
        "reload key=sound.latency_s: needs a restart: systemctl restart talkover"]


def test_no_sound_server_is_begun_to_ask_where_streams_are(tmp_path):
    """pactl would start one: it takes the sound card."""
    place = SoundPlace({"XDG_RUNTIME_DIR": str(tmp_path), "PATH": os.environ["PATH"]})
    assert place._changes is None and place.moved() is None
    place.close()
    assert served({"PULSE_SERVER": "unix:/x"}) and not served({"XDG_RUNTIME_DIR": str(tmp_path)})
    (tmp_path / "pulse").mkdir()
    (tmp_path / "pulse" / "native").touch()
    assert served({"XDG_RUNTIME_DIR": str(tmp_path)})


class Engine:
    """Keeps what it is given."""

    def __init__(self):
        self.requests, self.closed = [], False

    def submit(self, t, request):
        self.requests.append((t, request))

    def poll(self, t):
        return ["a reply"]

    def close(self):
        self.closed = True


def test_the_device_body_hands_everything_on(sound):
    engine = Engine()
    body = DeviceBody(sound, None, engine)
    inputs = body.read(3, 0.03)
    assert (inputs.index, inputs.t, inputs.audio, inputs.joints, inputs.replies) == (3, 0.03, (), None, ("a reply",))
    body.write(0.03, Outputs(requests=(Cancel(0.03, 4),), live_generation=5))
    assert engine.requests == [(0.03, Cancel(0.03, 4))]
    assert sound._shared is not None and ORDERS.unpack(sound._shared.orders.read()[1])[0] == 5
    body.close()
    assert engine.closed and sound.child.pid is None


def test_a_robot_without_torque_looks_less_often(sound):
    class Paces:
        config = CameraDeviceConfig(fps=10.0, asleep_fps=0.5)
        paces: list = []                                              # noqa: RUF012

        def pace(self, fps):
            self.paces.append(fps)

        def close(self):
            pass
    camera = Paces()
    body = DeviceBody(sound, camera, None)
    for torque, most in ((True, None), (False, None), (True, 3.0), (True, 0.0)):
        goal = JointGoal(0.0, np.zeros(9), np.zeros(9), torque)
        body.write(0.0, Outputs(joints=goal, camera_fps=most))
    assert camera.paces == [10.0, 0.5, 3.0, 0.0]


def test_no_camera_is_a_setting(monkeypatch):
    monkeypatch.setenv("JACK_NO_START_SERVER", "1")
    body = build_device(DeviceConfig(ABSENT, CameraDeviceConfig(source="")), None, time.monotonic())
    assert body.camera is None and body.read(0, 0.0).faces == ()
    body.close()
