"""The SDK's own kinematics, in Rust, on random poses against ours: do both know the same robot?

Run by `make peers`, in .venv-reachy. Twice: with the geometry of the SDK's own file, and with ours in its arithmetic.
"""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

POSES = 2000
SAME_RAD = 1e-9
SAME_M = 1e-6              # the SDK's forward iteration ends that close
STEPS = 60                 # of it: it halves its error in each
ASKEW = (0.002, -0.002, 0.002, 0.03, -0.03, 0.03)      # m, rad: where it is begun, beside the right pose


def solvers(model):
    """The SDK's solver with its own geometry, and with ours."""
    import numpy as np
    from reachy_mini_rust_kinematics import ReachyMiniRustKinematics as Solver

    assets = Path(next(iter(importlib.util.find_spec("reachy_mini").submodule_search_locations))) / "assets"
    data = json.loads((assets / "kinematics_data.json").read_text())
    theirs = Solver(data["motor_arm_length"], data["rod_length"])
    for motor in data["motors"]:
        elbow = 1 if motor["solution"] else -1
        theirs.add_branch(motor["branch_position"], np.linalg.inv(motor["T_motor_world"]), elbow)
    ours = Solver(model.arm_length, model.rod_length)
    for arm in model.arms:
        placed = np.eye(4)
        placed[:3, :3], placed[:3, 3] = arm.body_from_motor_rotation, arm.body_from_motor_position
        ours.add_branch(arm.platform_anchor.tolist(), placed, arm.elbow_sign)
    return {"the SDK's geometry": theirs, "our geometry": ours}, data["head_z_offset"]


def led(solver, pose, joints, body):
    """Where the SDK's forward iteration puts the head (3,) m, begun a little beside the pose."""
    import numpy as np

    from calibration.frames import rotation

    place, turns = np.add(pose, ASKEW)[:3], np.add(pose, ASKEW)[3:]
    begun = np.eye(4)                           # in the body's frame
    begun[:3, :3], begun[:3, 3] = rotation(*turns), place
    solver.reset_forward_kinematics(begun.tolist())
    for _ in range(STEPS):
        head = np.array(solver.forward_kinematics(joints.tolist(), body))
    return head[:3, 3]


def check() -> int:
    import numpy as np

    from calibration.body_model import reachy_mini
    from calibration.frames import rotation
    from motion.kinematics import Platform

    model, rng = reachy_mini(), np.random.default_rng(0)
    platform = Platform(model)
    solver_of, height = solvers(model)
    assert abs(height - model.rest_height) < 1e-12
    worst = {name: [0.0, 0.0] for name in solver_of}
    count = 0
    while count < POSES:
        x, y, z = rng.uniform((-0.02, -0.02, -0.03), (0.02, 0.02, 0.012))
        roll, pitch, yaw = rng.uniform((-0.25, -0.6, -1.1), (0.25, 0.5, 1.1))
        joints = np.array(platform.joints(x, y, z + height, roll, pitch, yaw))
        body = rng.uniform(-2.7, 2.7)
        turn, pose = rotation(0.0, 0.0, body), np.eye(4)
        pose[:3, :3], pose[:3, 3] = turn @ rotation(roll, pitch, yaw), turn @ (x, y, z + height)
        found = {name: np.array(solver.inverse_kinematics(pose.tolist(), body)) for name, solver in solver_of.items()}
        if any(np.isnan(angles).any() for angles in found.values()):
            continue                                    # out of reach: the SDK says so, ours points an arm at it
        count += 1
        ahead = turn @ platform.forward(joints, np.array([x, y, z + height, roll, pitch, yaw]))[:3]
        for name, angles in found.items():
            off = np.abs(np.angle(np.exp(1j * (angles - joints)))).max()
            head = led(solver_of[name], (x, y, z + height, roll, pitch, yaw), joints, body)
            worst[name] = [max(worst[name][0], off), max(worst[name][1], np.abs(head - ahead).max())]
    for name, (inverse, forward) in worst.items():
        print(f"peer_reachy_kinematics: {POSES} poses, {name}: inverse within {inverse:.1e} rad, "
              f"forward within {forward:.1e} m")
    agree = all(inverse < SAME_RAD and forward < SAME_M for inverse, forward in worst.values())
    return 0 if agree else 1


def main() -> int:
    from tests.peers import reachy_environment

    if Path(sys.prefix).resolve() == reachy_environment.HOME.resolve():
        return check()
    if not reachy_environment.prepare():
        return 1
    return subprocess.run([reachy_environment.PYTHON, __file__], env=os.environ).returncode


if __name__ == "__main__":
    sys.exit(main())
