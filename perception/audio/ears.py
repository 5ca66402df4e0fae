"""Hearing: from 10 ms blocks to what a person does. The stages in order, once a block."""
import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from perception.audio.array_register import Reading, RegisterConfig
from perception.audio.barge_in import BargeIn, BargeInConfig
from perception.audio.block import BLOCK, AudioBlock, Samples, frozen_samples
from perception.audio.detector import Baseline, Detector, Fallen
from perception.audio.doa import Direction, DirectionConfig
from perception.audio.front import Fronted, FrontEnd, FrontEndConfig
from perception.audio.hum import Hum, HumConfig
from perception.audio.manner import NOTHING
from perception.audio.prosody import Prosody, ProsodyConfig
from perception.audio.register_direction import RegisterDirection
from perception.audio.scene import Bearing, Heard, SoundScene
from perception.audio.speech_activity import SpeechActivity, SpeechActivityConfig
from perception.pose_history import PoseHistory


@dataclass(frozen=True, slots=True)
class EarsConfig:
    """plays_above: RMS of a block of the reference from which the robot counts as speaking (-70 dBFS)."""

    front: FrontEndConfig = field(default_factory=FrontEndConfig)
    barge_in: BargeInConfig = field(default_factory=BargeInConfig)
    speech: SpeechActivityConfig = field(default_factory=SpeechActivityConfig)
    direction: DirectionConfig = field(default_factory=DirectionConfig)
    register: RegisterConfig = field(default_factory=RegisterConfig)
    hum: HumConfig = field(default_factory=HumConfig)
    prosody: ProsodyConfig = field(default_factory=ProsodyConfig)
    plays_above: float = 3e-4
    full_pace: float = 0.4             # rad/s of the fastest joint from which motor noise counts in full
    pace_decay: float = 0.97           # per block: gears and bearings ring on, motors lag their commands


class Ears:
    """All hearing of one robot."""

    def __init__(self, config: EarsConfig, mic_positions: NDArray[np.float64], playback_delay_s: float | None,
                 barge_in: BargeIn | None = None, array_positions: NDArray[np.float64] | None = None):
        """mic_positions (M, 3) m in `head`, 1 to 8; playback_delay_s nominal, None: unknown.

        barge_in: one that notes its evidence, so that other thresholds can be tried on it afterwards.
        array_positions (N, 3) m in `head`: microphones behind a direction register, for a robot with one raw channel.
        """
        self.config = config
        self._front = FrontEnd(mic_positions, playback_delay_s, config.front)
        self._detector, self._baseline, self._fallen = Detector(), Baseline(), Fallen()
        self._barge_in = barge_in or BargeIn(config.barge_in)
        self._speech = SpeechActivity(config.speech)
        self._direction = Direction(mic_positions, config.direction) if len(mic_positions) > 1 else None
        self._register: RegisterDirection | None = None
        if self._direction is None and array_positions is not None:
            self._register = RegisterDirection(array_positions, config.register)
        self._hum, self._prosody = Hum(config.hum), Prosody(config.prosody)
        self._scene = SoundScene(0.0)
        self._pace = 0.0
        self._raw = 0.0                        # log-odds that somebody speaks, as detected
        self._restless = True                  # somebody may be speaking, or motors sound
        self.residual: Samples = np.zeros((len(mic_positions), BLOCK), np.float32)   # of the newest block

    def step(self, blocks: tuple[AudioBlock, ...], poses: PoseHistory,
             commanded_velocity: NDArray[np.float64], array: tuple[Reading, ...] = (), t: float | None = None,
             speaks: bool | None = None) -> SoundScene:
        """The scene after these blocks; commanded_velocity (9,) rad/s in the order of JOINTS; array: of a register.

        t: now (s), so that missing blocks end speech; speaks: the robot's voice is handed to the loudspeaker.
        """
        scene = (self._heard(blocks, poses, commanded_velocity, speaks) if blocks else
                 self._unheard(self._scene.t if t is None else t))
        if self._register is None:
            return scene
        voice = scene.speech or self._barge_in.state != "clear"
        newest = max(scene.t, array[-1].t) if array else scene.t
        bearing, health = self._register.step(newest, array, voice, poses)
        return replace(scene, bearing=bearing, health=scene.health + health)

    def _heard(self, blocks: tuple[AudioBlock, ...], poses: PoseHistory,
               commanded_velocity: NDArray[np.float64], speaks: bool | None) -> SoundScene:
        scenes = [self._block(block, poses, commanded_velocity, speaks) for block in blocks]
        self._scene = scenes[-1] if len(scenes) == 1 else _joined(scenes)
        return self._scene

    def _unheard(self, t: float) -> SoundScene:
        """No block has come: all is as it was, but nobody is believed to speak for long."""
        last, ended = self._scene, self._speech.waited(t)
        return SoundScene(last.t, speech=last.speech and self._speech.speaks, onset=last.onset, evidence=last.evidence,
                          duck=last.duck, level_db=last.level_db, hum=last.hum, motors=last.motors, heard=ended)

    def _block(self, block: AudioBlock, poses: PoseHistory, velocity: NDArray[np.float64],
               spoken: bool | None) -> SoundScene:
        front = self._front.step(block, velocity, spoken, self._restless)
        evidence, self.residual = front.evidence, front.cancelled.residual
        if evidence.fresh:
            self._raw = self._detector.step(evidence.streams)
        log_odds = self._baseline.step(self._raw)
        log_odds = self._fallen.step(log_odds, evidence.above_floor)
        plays = bool(np.abs(front.reference).max() > self.config.plays_above)
        motors = evidence.motors * self._pace_of(velocity)
        calm = self.config.front.evidence.calm
        self._restless = log_odds > calm.log_odds or motors > calm.motors
        decided = self._barge_in.step(block.t, log_odds, plays, front.slipped, front.aligned, motors)
        confirmed = decided is not None and decided.kind == "barge_in"
        changed = self._speech.step(block.t, log_odds, self._barge_in.onset, self._barge_in.listens_over_playback,
                                    confirmed, motors)
        likelihood = 1 / (1 + math.exp(-self._barge_in.duck_score))
        bearing = self._bearing(block.t, front, likelihood, poses)
        speaks = self._speech.speaks or self._barge_in.state != "clear"
        hum = self._hum.step(evidence.beam_excess, evidence.voiced, speaks)
        manner = self._prosody.step(block.t, evidence.clean, self._speech.speaks, max(motors, 0.5 if plays else 0.0))
        heard: tuple[Heard, ...] = (*((decided,) if decided else ()), *changed)
        power = float(evidence.clean @ evidence.clean) / BLOCK
        return SoundScene(
            block.t, frozen_samples(evidence.clean), self._speech.speaks,
            self._speech.onset if self._speech.speaks or changed else self._barge_in.onset,
            self._barge_in.duck_score, bearing, self._barge_in.state == "ducked", confirmed,
            decided is not None and decided.kind == "release", 10 * math.log10(power + 1e-12), hum, motors,
            heard, front.health, manner)

    def _pace_of(self, velocity: NDArray[np.float64]) -> float:
        """0..1: how fast the joints run or have just run; breathing is slow, and its noise is like the room's."""
        now = max((abs(v) for v in velocity.tolist() if not math.isnan(v)), default=0.0) / self.config.full_pace
        self._pace = min(1.0, max(now, self._pace * self.config.pace_decay))
        return self._pace

    def _bearing(self, t: float, front: Fronted, likelihood: float, poses: PoseHistory) -> Bearing | None:
        if self._direction is None:
            return None
        cancelled = front.cancelled
        return self._direction.step(t, cancelled.residual, cancelled.echo, likelihood, front.activity, poses.at(t),
                                    front.evidence.calm)


def _joined(scenes: list[SoundScene]) -> SoundScene:
    """The scene of a tick in which several blocks came: newest state, all sound and decisions."""
    last = scenes[-1]
    bearings = [scene.bearing for scene in scenes if scene.bearing is not None]
    return SoundScene(
        last.t, frozen_samples(np.concatenate([scene.clean for scene in scenes])), last.speech, last.onset,
        last.evidence, bearings[-1] if bearings else None, last.duck, any(s.barge_in for s in scenes),
        any(s.release for s in scenes), last.level_db, last.hum, last.motors,
        tuple(h for s in scenes for h in s.heard), tuple(h for s in scenes for h in s.health),
        next((s.manner for s in reversed(scenes) if s.manner != NOTHING), NOTHING))
