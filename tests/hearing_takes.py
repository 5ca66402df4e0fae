"""Drawn recordings as folders, for tests of the commands."""
import json
from pathlib import Path

import numpy as np
from scipy.io import wavfile

from calibration.body_model import JOINTS
from robot.hearing_bench.listening import Recording
from robot.take import POSE_COLUMNS


def write_take(folder: Path, recording: Recording, channels: np.ndarray, rate_hz: int = 16000, **about) -> Path:
    """take.json with what `about` changes, channels (C, n) as float audio.wav, motion.csv if it moved."""
    folder.mkdir(parents=True)
    description = {"version": 1, "sample_rate_hz": rate_hz, "mics": len(recording.mic_positions),
                   "mic_positions_m": recording.mic_positions.tolist(),
                   "playback_delay_s": recording.playback_delay_s} | about
    (folder / "take.json").write_text(json.dumps({k: v for k, v in description.items() if v is not None}))
    wavfile.write(folder / "audio.wav", rate_hz, channels.T.astype(np.float32))
    motion = recording.motion
    if motion is not None:
        header = ",".join(["t_s", *POSE_COLUMNS, *(f"cmd_vel_{joint}_rad_s" for joint in JOINTS)])
        table = np.column_stack([motion.t, motion.position, motion.rpy, motion.body_yaw, motion.commanded_velocity])
        np.savetxt(folder / "motion.csv", table, fmt="%.8f", delimiter=",", header=header, comments="")
    return folder


def write_recording(folder: Path, recording: Recording) -> Path:
    """The whole take with its truth in the words of the hearing bench."""
    write_take(folder, recording, np.vstack([recording.sound.mics, recording.sound.reference]))
    truth = recording.truth
    (folder / "truth.json").write_text(json.dumps({
        "kind": truth.kind, "duration_s": truth.duration, "moving": truth.moving, "array": "linear",
        "robot_speech": truth.robot_speech, "robot_voice": truth.robot_voice, "mnr_db": truth.motors_over_near_db,
        "speech": [{"onset_s": one.onset, "end_s": one.end, "role": "addressed", "azimuth_rad": one.azimuth,
                    "ner_db": one.over_echo_db} for one in truth.speech], "distractors": [], "slips": []}))
    return folder
