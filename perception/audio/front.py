"""The front end of hearing: one block in, the robot's own sound taken out, evidence of a person out."""
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calibration.health import Health
from perception.audio.aec import Cancelled, CancellerConfig, EchoCanceller
from perception.audio.alignment import Alignment, AlignmentConfig
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, AudioBlock, Samples
from perception.audio.ego_noise import EgoNoiseConfig, MotorActivity
from perception.audio.evidence import Evidence, EvidenceConfig, EvidenceStreams
from perception.audio.microphones import Microphones, MicrophonesConfig


@dataclass(frozen=True, slots=True)
class FrontEndConfig:
    microphones: MicrophonesConfig = field(default_factory=MicrophonesConfig)
    alignment: AlignmentConfig = field(default_factory=AlignmentConfig)
    canceller: CancellerConfig = field(default_factory=CancellerConfig)
    ego_noise: EgoNoiseConfig = field(default_factory=EgoNoiseConfig)
    evidence: EvidenceConfig = field(default_factory=EvidenceConfig)


@dataclass(frozen=True, slots=True)
class Fronted:
    """One block after the front end."""

    cancelled: Cancelled
    evidence: Evidence
    usable: NDArray[np.bool_]        # (M,)
    activity: NDArray[np.float64]    # (5,) of the motors
    reference: Samples               # (160,) finite, as handed to the loudspeaker
    aligned: bool                    # the place of the echo is known
    slipped: bool                    # the echo has just moved, or audio was lost
    health: tuple[Health, ...]


class FrontEnd:
    """Checks, aligns, cancels, predicts, weighs: the stages before any decision."""

    def __init__(self, mic_positions: NDArray[np.float64], playback_delay_s: float | None,
                 config: FrontEndConfig = FrontEndConfig()):
        mics = len(mic_positions)
        self._microphones = Microphones(mics, config.microphones)
        self._canceller = EchoCanceller(mics, config.canceller)
        self._alignment = Alignment(playback_delay_s, self._canceller.history, config.alignment)
        self._motors = MotorActivity(config.ego_noise)
        self._evidence = EvidenceStreams(mic_positions, config.evidence, config.ego_noise)
        self._newest: float | None = None          # s, of the block before

    def step(self, block: AudioBlock, commanded_velocity: NDArray[np.float64], speaks: bool | None = None,
             restless: bool = True) -> Fronted:
        """commanded_velocity (9,) rad/s in the order of JOINTS; speaks: see Microphones.step; restless: somebody may
        be speaking or motors sound, as far as is known from the blocks before."""
        self._skip_lost(block)
        checked = self._microphones.step(block, speaks)
        far = self._alignment.far(checked.reference)
        cancelled = self._canceller.step(checked.mics, far, checked.usable)
        first = int(np.argmax(checked.usable))
        blind = block.gap or not np.isfinite(block.reference).all()      # some of the echo is unexplained
        slipped = self._realign(checked.mics[first], cancelled, first) or blind or self._alignment.suspected
        activity = self._motors.step(commanded_velocity)
        evidence = self._evidence.step(checked.mics, cancelled, far[BLOCK:], activity, slipped, checked.usable,
                                       restless)
        loudspeaker = self._alignment.health(block.t)
        return Fronted(cancelled, evidence, checked.usable, activity, checked.reference, self._alignment.known,
                       slipped, (*checked.health, *((loudspeaker,) if loudspeaker else ())))

    def _skip_lost(self, block: AudioBlock) -> None:
        """What was lost before the block is missing in the past of the reference too, by the block's own time."""
        newest, self._newest = self._newest, block.t
        if block.gap and newest is not None:
            lost = round((block.t - newest) * SAMPLE_RATE_HZ) - BLOCK
            if lost > 0:
                self._canceller.replace_far(self._alignment.skipped(lost))

    def _realign(self, mic: Samples, cancelled: Cancelled, first: int) -> bool:
        move = self._alignment.moved(mic, cancelled.echo[first], cancelled.residual[first])
        if move is None:
            return False
        self._canceller.replace_far(move.history)
        if not move.slip:
            self._canceller.forget()
        elif move.rest:
            self._canceller.shift_paths(move.rest)
        return True
