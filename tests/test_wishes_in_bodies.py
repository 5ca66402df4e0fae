"""A volume that was asked for reaches the sound process and the simulated loudspeaker; sleep lies the head down."""
import numpy as np
import pytest

from calibration.body_model import reachy_mini
from dialogue.engine import SILENCE, SpeakerBlock
from firmware_bridge.touch import Touch
from motion.intent import MotionIntent
from motion.mover import Mover
from perception.audio.block import BLOCK, frozen_samples
from robot.bodies.device import DeviceConfig, build_device
from robot.bodies.simulated import SimulatedBody
from robot.bodies.sound_config import SoundDeviceConfig
from robot.bodies.sound_slots import ORDERS
from robot.build import build_mind
from robot.codec import decoded, encoded
from robot.config import MindConfig
from robot.tick import Inputs, Outputs

ABSENT = SoundDeviceConfig(input="a card that nobody has", output="a card that nobody has", volume=0.8)


def test_the_sound_process_gets_the_share_of_its_configured_volume(monkeypatch):
    monkeypatch.setenv("JACK_NO_START_SERVER", "1")
    body = build_device(DeviceConfig(sound=ABSENT), None, 0.0)

    def volume(outputs):
        body.write(0.0, outputs)
        return ORDERS.unpack(body.sound._shared.orders.read()[1])[1]

    assert volume(Outputs(speaker=(SILENCE,))) == pytest.approx(0.8)
    assert volume(Outputs(speaker=(SILENCE,), volume=0.5)) == pytest.approx(0.4)
    body.sound.volume = 1.0                                             # as a reload of the configuration does
    assert volume(Outputs(speaker=(SILENCE,), volume=0.5)) == pytest.approx(0.5)
    body.close()


def test_the_simulated_loudspeaker_and_its_reference_follow():
    body = SimulatedBody()
    tone = frozen_samples(0.1 * np.sin(2 * np.pi * 500 * np.arange(BLOCK) / 16000))
    levels, references = {}, {}
    for index in range(90):
        inputs = body.read(index, index * 0.01)
        volume = None if index < 30 else 0.1 if index < 60 else 1.0
        blocks = tuple(SpeakerBlock(1, BLOCK * index, tone) for _ in inputs.audio)
        body.write(index * 0.01, Outputs(speaker=blocks, live_generation=1, volume=volume))
        references[index] = max((float(np.abs(block.reference).max()) for block in inputs.audio), default=0.0)
        levels[index] = body.room.loudspeaker_level(index * 0.01)
    assert levels[55] - levels[25] == pytest.approx(-20.0, abs=0.5) and levels[85] == pytest.approx(levels[25], abs=0.5)
    assert references[55] == pytest.approx(0.1 * references[25], rel=1e-3)
    body.close()


def test_asleep_the_head_lies_down_and_comes_up_again():
    mover = Mover(reachy_mini(), np.random.default_rng(1))
    quiet, heights = np.zeros(160), []
    for index in range(900):
        mode = "sleep" if 100 <= index < 500 else "idle"
        mover.step(index * 0.01, MotionIntent(index * 0.01, mode), quiet, None)
        heights.append(mover.head_pose(None).position[2])
    assert heights[499] < heights[99] - 0.01 and heights[899] == pytest.approx(heights[99], abs=0.004)


def test_the_mind_hands_the_wishes_on_and_a_touch_wakes_it():
    mind = build_mind(MindConfig()).mind
    mind.dialogue.doing.volume, mind.dialogue.doing.asleep = 0.5, True
    tick = mind.tick(Inputs(0, 0.0))
    assert tick.outputs.volume == 0.5 and tick.intent.mode == "sleep"
    assert mind.tick(Inputs(1, 0.01, touches=(Touch(0.01, "tap"),))).intent.mode == "idle"
    assert encoded(decoded(encoded(tick.outputs))) == encoded(tick.outputs)
