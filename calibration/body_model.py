"""The robot's body as numbers: joints, limits, linkage, microphones, loudspeaker, camera.

Source of the Reachy Mini values: reachy_mini.json beside this file (measured facts of pollen-robotics/reachy_mini,
Apache-2.0; the file names the source of each section).
"""
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from calibration.frames import Array, frozen

JOINTS = ("body_yaw", "stewart_1", "stewart_2", "stewart_3", "stewart_4", "stewart_5", "stewart_6",
          "right_antenna", "left_antenna")
STEWART = slice(1, 7)
ANTENNAS = slice(7, 9)


@dataclass(frozen=True, slots=True)
class Arm:
    """One rotary arm of the head platform; the arm tip is arm_length * (cos q, sin q, 0) in the motor frame."""

    joint: str
    body_from_motor_rotation: Array   # (3, 3)
    body_from_motor_position: Array   # (3,) m
    platform_anchor: Array            # (3,) m in `head`
    elbow_sign: int


@dataclass(frozen=True, slots=True)
class Servo:
    """One servo on the bus. Ticks: 4096 a turn, 2048 is the joint's zero."""

    joint: str
    id: int
    p_gain: int
    limit_ticks: tuple[int, int]
    homing_offset_ticks: int


@dataclass(frozen=True, slots=True)
class Camera:
    """Pinhole with OpenCV's rational model. Camera axes x forward, y left, z up; `k` in OpenCV's x right, y down."""

    width_px: int
    height_px: int
    fps: float
    k: Array                # (3, 3) px
    distortion: Array       # (n,) OpenCV order
    position: Array         # (3,) m in `head`
    rpy: Array              # (3,) rad in `head`


@dataclass(frozen=True, slots=True)
class BodyModel:
    """Everything a stage needs to know about the body it lives in."""

    arms: tuple[Arm, ...]
    arm_length: float            # m
    rod_length: float            # m
    rest_height: float           # m, head origin above base at rest
    lower: Array                 # (9,) rad in the order of JOINTS
    upper: Array                 # (9,) rad
    head_minus_body_yaw: float   # rad, largest allowed
    servos: tuple[Servo, ...]
    mic_positions: Array         # (M, 3) m in `head`
    loudspeaker: Array           # (3,) m in `head` at rest
    camera: Camera
    sleep_position: Array        # (3,) m in base
    sleep_rotation: Array        # (3, 3)
    sleep_antennas: Array        # (2,) rad, right then left
    rest_antennas: Array         # (2,) rad, right then left: upright antennas shake


def line_array(mics: int = 4, pitch_m: float = 0.033, offset_m=(0.02, 0.0, 0.0)) -> Array:
    """Positions (mics, 3) in `head` of a line along y, mic 0 at the right."""
    y = (np.arange(mics) - (mics - 1) / 2) * pitch_m
    return frozen(np.c_[np.zeros(mics), y, np.zeros(mics)] + offset_m)


def _camera(data: dict, width_px: int, height_px: int) -> Camera:
    full_width, full_height = data["calibration_size_px"]
    scale = min(full_width / width_px, full_height / height_px)
    k = np.array(data["k"]) / scale
    k[0, 2] -= (full_width / scale - width_px) / 2
    k[1, 2] -= (full_height / scale - height_px) / 2
    k[2, 2] = 1.0
    return Camera(width_px, height_px, 30.0, frozen(k), frozen(data["distortion_opencv_order"]),
                  frozen(data["sdk_camera_position_in_head_m"]), frozen(np.zeros(3)))


@cache
def reachy_mini(width_px: int = 640, height_px: int = 480) -> BodyModel:
    """The Reachy Mini, seen through a camera mode of the given size (centred crop of the published calibration)."""
    data = json.loads(files("calibration").joinpath("reachy_mini.json").read_text())
    stewart, joints, poses = data["stewart"], data["joints"], data["poses"]
    arms = tuple(Arm(a["joint"], frozen(a["body_from_motor_rotation"]), frozen(a["body_from_motor_position_m"]),
                     frozen(a["platform_anchor_in_head_m"]), a["elbow_sign"]) for a in stewart["arms"])
    limits = np.array([joints["limit_rad"][name] for name in JOINTS])
    servos = tuple(Servo(s["joint"], s["id"], s["p_gain"], tuple(s["limit_ticks"]), s["homing_offset_ticks"])
                   for s in data["servos"]["list"])
    height = stewart["head_z_offset_m"]
    return BodyModel(
        arms=arms, arm_length=stewart["motor_arm_length_m"], rod_length=stewart["rod_length_m"], rest_height=height,
        lower=frozen(limits[:, 0]), upper=frozen(limits[:, 1]),
        head_minus_body_yaw=joints["head_minus_body_yaw_limit_rad"], servos=servos, mic_positions=line_array(),
        loudspeaker=frozen([0.01, 0.0, -0.09]), camera=_camera(data["camera"], width_px, height_px),
        sleep_position=frozen(np.add(poses["sleep_head_position_m"], (0, 0, height))),
        sleep_rotation=frozen(poses["sleep_head_rotation"]), sleep_antennas=frozen(poses["sleep_antennas_rad"]),
        rest_antennas=frozen(poses["rest_antennas_rad"]))
