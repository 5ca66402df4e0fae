"""A real sound server whose devices are unplugged, moved, dead or slow, and the real sound process on it."""
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dialogue.engine import SpeakerBlock
from perception.audio.block import frozen_samples
from robot.bodies.sound_config import SoundDeviceConfig
from robot.rig.pulse import PulseRig, missing
from tests.rig_robot import RigRobot

OURS = "application.process.binary"      # in what pactl lists of a stream
LOUD = frozen_samples([0.3] * 160)


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    remedy = missing()
    if remedy:
        pytest.skip(f"no sound server to test on: {remedy}")
    rig = PulseRig(tmp_path_factory.mktemp("rig")).start()
    yield rig
    rig.close()


@contextmanager
def speaking(rig: PulseRig, **settings) -> Iterator[RigRobot]:
    """A robot that hears its own voice by the rig."""
    robot = RigRobot(rig, SoundDeviceConfig(input="rig_array", output="rig_loudspeaker", reference=4,
                                            backoff_s=(0.2, 0.5), **settings))
    robot.generation = 1
    try:
        robot.live(robot.hears_itself, "hears itself")
        yield robot
    finally:
        robot.sound.close()


def plug_of(rig: PulseRig, device: str) -> tuple[str, list[str]]:
    """Number and words of the module that makes a device."""
    for line in rig.control("list", "short", "modules").splitlines():
        number, module, words = line.split("\t")[:3]
        if f"_name={device} " in words:
            return number, [module, *words.split()]
    raise AssertionError(f"no {device}")


@pytest.mark.parametrize("device", ["array", "loudspeaker"])
def test_an_unplugged_device_is_waited_for_and_found_elsewhere_and_none_is_used_in_its_place(rig, device):
    """F32: it comes back under another index. F33: the server has a default device, and moves our streams there."""
    with speaking(rig, dead_s=1e9) as robot:
        robot.fresh()
        number, plug = plug_of(rig, device)
        rig.control("unload-module", number)
        robot.live(lambda: robot.heard("gone", "moved") or robot.heard("gone", "stall"), "noticed")
        robot.live(lambda: robot.heard("gone", f"rig_{device}"), "waited for by its name")
        assert OURS not in rig.control("list", "sink-inputs") + rig.control("list", "source-outputs")

        alsa = rig.folder / "asound.conf"
        before = alsa.read_text()
        alsa.write_text(f'pcm.another {{ type pulse server "unix:{rig.socket}" device "voice" }}\n' + before)
        rig.control("load-module", *plug)
        robot.fresh()
        robot.live(lambda: robot.heard("ok") and robot.hears_itself(), "heard again without a restart of the run")
        alsa.write_text(before)
        assert robot.blocks[0].gap and [b.t for b in robot.blocks] == sorted(b.t for b in robot.blocks)


def test_microphones_of_zeros_are_told_reset_and_heard_again(rig):
    """F34: the card lists well and gives zeros while the robot speaks; its array is started anew."""
    revived = []
    with speaking(rig, dead_s=1.0) as robot:
        robot.sound.revive = lambda: revived.append(robot.sound.child.deaths)
        robot.fresh()
        robot.live(lambda: robot.heard("gone", "exact zeros", "reset"), "told")
        robot.live(lambda: bool(revived), "the array is told to restart")
        air = subprocess.Popen(["pacat", "--playback", "--device=room", "--rate=16000", "--channels=4", "/dev/urandom"],
                               stderr=subprocess.DEVNULL)
        try:
            robot.fresh()
            robot.live(lambda: robot.heard("ok") and any(b.mics.any() for b in robot.blocks[-5:]), "heard again")
            robot.fresh()
            robot.live(lambda: len(robot.blocks) > 150, "and stays")
        finally:
            air.kill()
            air.wait()
        assert not robot.told and len(revived) == 1


def test_a_loudspeaker_that_takes_nothing_costs_no_sound_of_the_microphones_and_says_nothing_old(rig):
    """F15: for 3.7 s the device does not acknowledge the stop; nobody waits for it."""
    with speaking(rig, dead_s=1e9, stall_s=10.0) as robot:
        rig.suspend("loudspeaker", True)
        robot.generation = 0
        robot.sound.write([SpeakerBlock(1, i * 160, LOUD) for i in range(20)], 1)
        robot.sound.write([], 2)                                          # the stop
        robot.generation = 2
        robot.fresh()
        robot.live(lambda: len(robot.blocks) >= 370, "hears on")
        assert not robot.told and not any(b.gap for b in robot.blocks)
        robot.generation = 0
        robot.sound.write([], 3)
        robot.fresh()
        rig.suspend("loudspeaker", False)
        robot.live(lambda: len(robot.blocks) > 50 and robot.silent_loudspeaker(), "and is silent")
        assert sum(bool(b.reference.any()) for b in robot.blocks) < 20
