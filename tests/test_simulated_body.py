"""The whole simulated body: levels, clocks, gate, determinism, and what truly happens in it."""
import shutil

import numpy as np
import pytest

from calibration.frames import frozen
from dialogue.engine import SILENCE, Cancel, SpeakerBlock, Timed
from motion.intent import JointGoal
from motion.kinematics import Platform
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, frozen_samples
from perception.vision.frame import FaceFrame
from robot.bodies.last_gate import LastGate
from robot.bodies.room.ambience import MicrophoneConfig
from robot.bodies.room.loudspeaker import NOMINAL_DBFS, LoudspeakerConfig
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import RoomConfig
from robot.bodies.room.shoebox import BoxConfig
from robot.bodies.room.soundscape import SPEECH_DBFS, SoundConfig, speech_power
from robot.bodies.simulated import SimulatedBody
from robot.errors import BadRequest
from robot.tick import Outputs
from robot.worker import InlineWorker

ANNA = PersonScript("anna", 0.0, 1.0)


def speech_like(seconds: float, level_db: float, seed: int = 1) -> np.ndarray:
    """Noise with the long-term spectrum of speech, at an RMS level in dBFS."""
    count = int(seconds * SAMPLE_RATE_HZ)
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(count))
    noise = np.fft.irfft(spectrum * np.sqrt(speech_power(spectrum.size)), count)
    return (noise / noise.std() * 10 ** (level_db / 20)).astype(np.float32)


class NoFaces:
    """A detector that only tells when it saw."""

    def handle(self, request):
        yield Timed(0.02, FaceFrame(request[0], ()))


def room(dry: bool = False, bursts: int = 1, **loudspeaker) -> RoomConfig:
    box = BoxConfig(rt60_s=0.1 if dry else 0.4)
    microphones = MicrophoneConfig(gain_error_db=0.0) if dry else MicrophoneConfig()
    return RoomConfig(SoundConfig(box, microphones, LoudspeakerConfig(**loudspeaker)), bursts=bursts)


def live(body: SimulatedBody, seconds: float, spoken=None, generation: int = 1, yaw=lambda t: 0.0, first: int = 0,
         live_generation=None):
    """Inputs of every tick, and the stems of every block; the robot says `spoken` and turns its head by yaw(t)."""
    platform, inputs, stems, offset = Platform(body.model), [], [], 0
    for index in range(first, first + round(seconds * 100)):
        t = index * 0.01
        got = body.read(index, t)
        inputs.append(got)
        if got.audio:
            stems.append({name: sound.copy() for name, sound in body.room.stems.items()})
        blocks = []
        for _ in got.audio:
            piece = SILENCE if spoken is None else SpeakerBlock(generation, offset, frozen_samples(
                np.resize(spoken, offset + BLOCK)[offset:]))
            offset += BLOCK
            blocks.append(piece)
        arms = platform.joints(0.0, 0.0, body.model.rest_height, 0.0, 0.0, 0.5 * yaw(t))
        goal = JointGoal(t, frozen([0.5 * yaw(t), *arms, *body.model.rest_antennas]), frozen(np.zeros(9)))
        body.write(t, Outputs(goal, tuple(blocks), generation if live_generation is None else live_generation(t)))
    return inputs, stems


def level(stems, name: str, skip: int = 0) -> float:
    """dB RMS over blocks and microphones."""
    return 10 * np.log10(np.mean([np.mean(s[name] ** 2) for s in stems[skip:]]) + 1e-12)


def test_a_person_at_1_m_has_the_level_of_speech():
    body = SimulatedBody(room(dry=True), [ANNA])
    body.room.person("anna").say(0.0, speech_like(2.0, -20))
    _, stems = live(body, 1.9)
    assert level(stems, "near", 20) == pytest.approx(SPEECH_DBFS, abs=1.5)
    assert level(stems, "echo") < -100 and level(stems, "motors", 20) < -70


@pytest.mark.parametrize("ratio", [0.0, -10.0, -20.0])
def test_near_end_to_echo_ratio_is_the_chosen_one(ratio):
    body = SimulatedBody(room(near_to_echo_db=ratio, headroom_db=20.0), [ANNA])
    body.room.person("anna").say(0.0, speech_like(2.2, -20))
    _, stems = live(body, 2.0, speech_like(1.0, NOMINAL_DBFS, 2))
    assert level(stems, "near", 40) - level(stems, "echo", 40) == pytest.approx(ratio, abs=2.5)


def test_stems_add_up_to_the_microphones():
    body = SimulatedBody(room(), [ANNA])
    body.room.person("anna").say(0.0, speech_like(2.0, -20))
    body.room.noise(0.0, "fan", for_s=2.0)
    inputs, stems = live(body, 1.0, speech_like(1.0, NOMINAL_DBFS), yaw=lambda t: 0.4 * np.sin(3 * t))
    mics = [block.mics for i in inputs for block in i.audio]
    rest = [m - sum(s.values()) for m, s in zip(mics, stems, strict=True)]
    assert 20 * np.log10(np.std(rest)) == pytest.approx(body.config.sound.microphones.self_noise_dbfs, abs=0.5)
    assert all(level(stems, name, 20) > -75 for name in ("near", "echo", "motors", "ambient"))


def test_the_truth_about_an_utterance_is_what_the_microphone_hears():
    body = SimulatedBody(room(dry=True), [PersonScript("anna", 0.0, 2.0)])
    said = body.room.person("anna").say(0.5, speech_like(1.0, -20))
    _, stems = live(body, 2.0)
    near = np.concatenate([s["near"][0] for s in stems])
    heard = np.flatnonzero(np.abs(near) > np.abs(near).max() * 10 ** (-40 / 20))[0] / SAMPLE_RATE_HZ
    assert said.onset == pytest.approx(heard, abs=0.002) and said.end - said.onset == pytest.approx(1.0, abs=0.01)
    assert body.room.utterances == [said]


def test_one_person_speaks_after_the_other_words():
    body = SimulatedBody(room(), [ANNA])
    first, second = (body.room.person("anna").say(0.1, speech_like(0.5, -20, seed)) for seed in (1, 2))
    assert second.onset >= first.end


def run_bytes(seed: int, bursts: int = 1) -> tuple[bytes, bytes]:
    people = [ANNA, PersonScript("bo", 2.0, 1.4, face="dark")]
    pictures = []

    class Keeps(NoFaces):
        def handle(self, request):
            pictures.append(request[1])
            yield from super().handle(request)

    body = SimulatedBody(room(bursts=bursts), people, detector=InlineWorker(Keeps), seed=seed)
    body.room.person("anna").say(0.1, speech_like(1.0, -20))
    body.room.person("bo").walk_to(0.1, 1.0, 1.2, 1.0)
    body.room.person("bo").sigh(0.1)
    body.room.noise(0.2, "knock")
    inputs, _ = live(body, 1.0, speech_like(0.7, NOMINAL_DBFS), yaw=lambda t: 0.5 * np.sin(4 * t))
    audio = b"".join(b.mics.tobytes() + b.reference.tobytes() for i in inputs for b in i.audio)
    joints = b"".join(i.joints.position.tobytes() for i in inputs)
    return audio + joints, b"".join(p.tobytes() for p in pictures)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others():
    first, again, other = run_bytes(1), run_bytes(1), run_bytes(2)
    assert first == again
    assert first[0] != other[0] and first[1] != other[1] and len(first[1]) > 5 * 640 * 480 * 3


def test_bursts_change_when_blocks_arrive_and_nothing_else():
    bodies = [SimulatedBody(room(bursts=n), [ANNA], seed=3) for n in (1, 5)]
    for body in bodies:
        body.room.person("anna").say(0.1, speech_like(1.0, -20))
    smooth, hasty = (live(body, 2.0)[0] for body in bodies)
    counts = [len(i.audio) for i in hasty]
    assert all(len(i.audio) == 1 for i in smooth[1:])
    assert min(counts) == 0 and max(counts) > 2 and sum(counts) > 194
    blocks = [[b for i in run for b in i.audio] for run in (smooth, hasty)]
    for a, b in zip(*blocks, strict=False):
        assert a.t == b.t and not b.gap
        np.testing.assert_array_equal(a.mics, b.mics)
    for tick in hasty:
        assert all(tick.t - 0.05 <= b.t <= tick.t + 1e-9 for b in tick.audio)


@pytest.mark.parametrize("bursts", [1, 5])
def test_the_reference_never_runs_dry(bursts):
    body = SimulatedBody(room(bursts=bursts), [], seed=4)
    inputs, _ = live(body, 1.5, np.ones(BLOCK, np.float32) * 0.1)
    references = [b.reference for i in inputs for b in i.audio]
    first = next(i for i, r in enumerate(references) if r.any())
    assert first <= body.config.sound.loudspeaker.queue_blocks + 2 * bursts
    assert all(r.any() for r in references[first:])


def test_reference_goes_before_the_sound_by_the_playback_delay():
    body = SimulatedBody(room(dry=True, playback_delay_s=0.2), [])
    inputs, stems = live(body, 1.5, speech_like(0.4, NOMINAL_DBFS))
    reference = np.concatenate([b.reference for i in inputs for b in i.audio])
    echo = np.concatenate([s["echo"][1] for s in stems])
    lag = np.argmax(np.abs(np.correlate(echo[8000:16000], reference[:16000], "full"))) - 15999 + 8000
    assert lag / SAMPLE_RATE_HZ == pytest.approx(0.2, abs=0.002)
    assert body.room.loudspeaker_level(0.15) < -100 < -40 < body.room.loudspeaker_level(0.6)


def cancelled(body: SimulatedBody) -> list:
    """A reply that is cancelled at 0.5 s while the mind, at fault, goes on handing out its blocks."""
    loud = np.full(BLOCK, 0.1, np.float32)
    inputs, _ = live(body, 0.5, loud)
    body.write(0.495, Outputs(requests=(Cancel(0.495, 1),), live_generation=2))
    more, _ = live(body, 0.5, loud, generation=1, first=50, live_generation=lambda t: 2)
    return [b for i in inputs + more for b in i.audio]


def test_no_block_of_a_cancelled_reply_passes():
    body = SimulatedBody(room(), [])
    blocks = cancelled(body)
    assert any(b.reference.any() for b in blocks if b.t < 0.5)
    assert not any(b.reference.any() for b in blocks if b.t > 0.505)
    assert body.stale_blocks_played == 0


def test_a_broken_gate_is_noticed():
    class Open(LastGate):
        def next(self):
            return self.queue.popleft() if self.queue else SILENCE

    body = SimulatedBody(room(), [])
    body.room.gate = Open(body.room.gate.queue)
    cancelled(body)
    assert body.stale_blocks_played > 40


def test_microphones_turn_with_the_true_head():
    """A voice from straight ahead reaches the left microphone first once the head has turned right."""
    body = SimulatedBody(room(dry=True), [ANNA])
    body.room.person("anna").say(0.0, speech_like(3.0, -20))
    _, stems = live(body, 2.5, yaw=lambda t: -0.6 * min(1.0, t))
    near = np.concatenate([s["near"] for s in stems[170:]], axis=1)
    spectrum = np.fft.rfft(near)
    lags = np.fft.irfft(spectrum[0] * np.conj(spectrum[3]), near.shape[1] * 16)
    best = (np.argmax(np.r_[lags[-128:], lags[:129]]) - 128) / 16          # samples by which microphone 0 is late
    yaw = body.room.head_pose_true.yaw
    assert yaw == pytest.approx(-0.6, abs=0.06)
    assert best == pytest.approx(0.099 * np.sin(-yaw) / 343 * SAMPLE_RATE_HZ, abs=0.25)


def test_joints_speak_bytes_and_follow_their_goals():
    body = SimulatedBody(room(), [])
    inputs, _ = live(body, 1.5, yaw=lambda t: 0.6 * min(1.0, t))
    assert inputs[-1].joints is not None and inputs[-1].joints.t == inputs[-1].t
    assert inputs[-1].joints.position[0] == pytest.approx(0.3, abs=0.01)
    assert body.room.head_pose_true.yaw == pytest.approx(0.6, abs=0.06)
    assert body.joints.bus.statistics.exchanges > 100


def test_the_head_is_up_when_a_run_begins_unless_found_limp():
    assert SimulatedBody(room(), []).room.head_pose_true.position[2] == pytest.approx(0.177, abs=0.006)
    limp = SimulatedBody(RoomConfig(starts_limp=True), [])
    assert limp.room.head_pose_true.position[2] < 0.15


def test_pictures_arrive_late_in_order_and_at_their_rate():
    body = SimulatedBody(room(), [ANNA], detector=InlineWorker(NoFaces))
    inputs, _ = live(body, 2.0)
    frames = [(i.t, frame.t_capture) for i in inputs for frame in i.faces]
    late = np.array([t - taken for t, taken in frames])
    assert len(frames) == pytest.approx(20, abs=2) and late.min() >= 0.05 and late.max() <= 0.16
    assert np.allclose(np.diff([taken for _, taken in frames]), 0.1)


def test_a_dead_microphone_leaves_a_gap_and_a_dead_camera_nothing():
    body = SimulatedBody(room(), [ANNA], detector=InlineWorker(NoFaces))
    body.fault(0.3, "microphone", "stall", 0.2)
    body.fault(0.3, "camera", "gone")
    inputs, _ = live(body, 1.0)
    assert not any(i.audio for i in inputs if 0.31 < i.t < 0.49)
    gaps = [b.t for i in inputs for b in i.audio if b.gap]
    assert gaps == [pytest.approx(0.5, abs=0.011)]
    assert not [f for i in inputs for f in i.faces if f.t_capture > 0.32]


def test_a_silent_servo_is_told_and_comes_back():
    body = SimulatedBody(room(), [])
    live(body, 0.3)
    body.fault(0.3, "servo_13", "stall", 1.0)
    inputs, _ = live(body, 4.0, first=30)
    told = [h for i in inputs for h in i.health if h.part == "servo_13"]
    assert [h.level for h in told] == ["gone", "ok"]
    with pytest.raises(BadRequest, match="fault servo_99 stall"):
        body.fault(0.0, "servo_99", "stall")


def test_the_recording_has_people_left_and_the_robot_right():
    body = SimulatedBody(room(), [ANNA])
    body.room.person("anna").say(0.0, speech_like(0.5, -20))
    live(body, 1.0, speech_like(0.3, NOMINAL_DBFS))
    people, robot = body.room.recording().T
    assert people.size == 99 * BLOCK
    assert 20 * np.log10(people[:7000].std()) == pytest.approx(NOMINAL_DBFS, abs=2.0) and not people[9000:].any()
    assert not robot[:1000].any() and 20 * np.log10(robot[6000:].std()) == pytest.approx(NOMINAL_DBFS, abs=5.0)


@pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
def test_people_act_from_a_script():
    def script(t, stage):
        if t == 0.2:
            stage.person("anna").say(t, "hello")

    body = SimulatedBody(room(), [ANNA], script=script)
    live(body, 0.5)
    assert [u.text for u in body.room.utterances] == ["hello"]


def test_somebody_who_leaves_is_neither_heard_nor_seen():
    body = SimulatedBody(room(dry=True), [ANNA])
    body.room.person("anna").say(0.0, speech_like(2.0, -20))
    live(body, 0.5)
    body.room.person("anna").leave(0.5)
    _, stems = live(body, 0.5, first=50)
    assert level(stems, "near", 30) < -90 and body.room.seen_at(1.0) == []
