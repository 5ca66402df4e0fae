"""The engine's view of the camera: small, newest alone, one a second, and only where an engine shall see."""
import dataclasses
import select
import time
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from calibration.body_model import reachy_mini
from dialogue.engine import Hear, Picture
from motion.intent import JointGoal
from robot.bodies.camera_config import CameraDeviceConfig
from robot.bodies.camera_process import CameraProcess
from robot.bodies.device import DeviceBody
from robot.bodies.pose_track import parked
from robot.bodies.room.camera import CameraConfig
from robot.bodies.room.room import RoomConfig
from robot.bodies.simulated import SimulatedBody
from robot.bodies.view import Viewer
from robot.engine_choice import sees
from robot.live_config import LiveConfig, RunConfig
from robot.tick import Outputs
from robot.worker import ChildWorker, InlineWorker
from tests.engine_bench import SILENCE

LIMIT_S = 60.0


def picture(blue, width=640, height=480):
    made = np.zeros((height, width, 3), np.uint8)
    made[:, :, 0] = blue
    return made


def seen(view):
    return cv2.imdecode(view.jpeg, cv2.IMREAD_COLOR)


def test_a_view_is_small_and_at_most_one_a_second():
    viewer = Viewer()
    views = [view for n in range(31) if (view := viewer.of(0.1 * n, picture(8 * n))) is not None]
    assert [view.t for view in views] == pytest.approx([0.0, 0.9, 1.8, 2.7])
    assert seen(views[-1]).shape == (336, 448, 3) and abs(int(seen(views[-1])[100, 100, 0]) - 8 * 27) < 4
    assert seen(Viewer().of(0.0, picture(9, 320, 240))).shape == (240, 320, 3)
    assert max(len(view.jpeg) for view in views) < 40_000


class Engine:
    """Notes what it is offered."""

    def __init__(self):
        self.offered = []

    def offer(self, t, request):
        self.offered.append(request)

    def submit(self, t, request): ...

    def poll(self, t):
        return []

    def close(self): ...


def goal(torque):
    return JointGoal(0.0, parked(reachy_mini()), np.zeros(9), torque)


def test_a_device_hands_the_newest_view_to_the_engine_and_none_while_it_sleeps():
    camera = SimpleNamespace(view=None, read=lambda: (), health=lambda: (), pace=lambda fps: None, close=lambda: None,
                             config=CameraDeviceConfig())
    sound = SimpleNamespace(read=lambda: (), health=lambda: (), write=lambda blocks, generation: None)
    engine = Engine()
    body = DeviceBody(sound, camera, engine)
    views = [Picture(float(n), np.zeros(3, np.uint8)) for n in range(3)]
    for awake, view in zip((True, False, True), views, strict=True):
        body.write(view.t, Outputs(goal(awake)))
        camera.view = view
        body.read(0, view.t)
        body.read(1, view.t)
    assert engine.offered == [views[0], views[2]] and camera.view is None


class Slow:
    """Takes nothing until it is told."""

    def handle(self, request):
        yield from ()


def test_a_view_for_an_engine_that_is_away_or_behind_is_dropped():
    child = ChildWorker("tests.test_view:Slow", {})
    view = Picture(0.0, np.zeros(300_000, np.uint8))
    child.offer(0.0, view)
    assert child.pid is None and not child._held             # nobody is there to see it, and none waits
    child.poll(0.0)
    for _ in range(5):
        child.offer(0.0, view)                               # it still loads, and reads nothing
    assert child.waiting <= 400_000
    child.close()
    inline = InlineWorker(Slow)
    inline.submit(0.0, Hear(0.0, SILENCE, False))
    inline.offer(0.0, view)
    assert [request for _, request in inline._inbox] == [Hear(0.0, SILENCE, False)]


class Blind:
    """A detector that finds nobody."""

    def handle(self, request):
        yield from ()


@pytest.mark.parametrize("shown", [True, False])
def test_the_simulated_camera_shows_the_same_only_where_the_engine_shall_see(shown):
    engine = Engine()
    body = SimulatedBody(RoomConfig(camera=CameraConfig(fps=4.0)), (), engine, InlineWorker(Blind), shown=shown)
    for tick in range(420):
        t = 0.01 * tick
        body.read(tick, t)
        body.write(t, Outputs(goal(torque=t < 2.5)))
    times = [view.t for view in engine.offered]
    assert len(times) == (3 if shown else 0) and all(view.t < 2.6 for view in engine.offered)
    assert not shown or (np.diff(times).min() >= 0.9 and seen(engine.offered[0]).shape[1] == 448)
    body.close()


@pytest.mark.parametrize("shown", [True, False])
def test_the_cameras_process_makes_views_only_when_they_are_wanted(shown, tmp_path):
    path = tmp_path / "wall.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 20.0, (640, 480))
    for _ in range(40):
        writer.write(picture(200))
    writer.release()
    camera = CameraProcess(CameraDeviceConfig(source=str(path), fps=20.0), shown=shown)
    views, end = [], time.monotonic() + LIMIT_S
    while camera.frames < 30 or (shown and len(views) < 2):
        assert time.monotonic() < end
        select.select([camera.fileno()] if camera.fileno() >= 0 else [], [], [], 0.05)
        camera.read()
        views += [] if camera.view is None else [camera.view]
        camera.view = None
    camera.close()
    assert bool(views) == shown and all(abs(int(seen(view)[9, 9, 0]) - 200) < 4 for view in views)
    assert np.diff([view.t for view in views]).min(initial=9.0) >= 0.9


def test_no_engine_sees_by_default():
    for engine in ("embedded", "realtime", "minicpm", "chat"):
        assert not sees(dataclasses.replace(LiveConfig(), run=RunConfig(engine=engine)))
