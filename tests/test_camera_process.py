"""The camera's process with a real video of a real face; cameras that are missing, hang, or sleep."""
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from robot.bodies.camera_child import Camera, CameraTrouble
from robot.bodies.camera_config import CameraDeviceConfig
from robot.bodies.camera_process import CameraProcess
from robot.errors import BadRequest
from robot.settings import filled
from robot.worker_child import EXPENDABLE

LIMIT_S = 60.0


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    """Two seconds of a photograph of a person, 640x480."""
    from skimage import data
    face = cv2.cvtColor(data.astronaut(), cv2.COLOR_RGB2BGR)
    path = tmp_path_factory.mktemp("camera") / "face.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 20.0, (640, 480))
    for shift in range(40):
        frame = np.full((480, 640, 3), 90, np.uint8)
        frame[:, 64 + shift // 4:576 + shift // 4] = face[:480]
        writer.write(frame)
    writer.release()
    return path


class Eyes:
    """Reads until something is so."""

    def __init__(self, **settings):
        self.camera = CameraProcess(CameraDeviceConfig(**settings))
        self.frames, self.told = [], []

    def until(self, outcome: Callable[["Eyes"], bool]) -> None:
        end = time.monotonic() + LIMIT_S
        while not outcome(self):
            assert time.monotonic() < end, f"not within {LIMIT_S} s: {self.told}"
            watched = [self.camera.fileno()] if self.camera.fileno() >= 0 else []
            select.select(watched, [], [], 0.05)
            self.frames += self.camera.read()
            self.told += self.camera.health()

    def heard(self, level: str, *words: str) -> bool:
        return any(h.level == level and all(w in f"{h.part} {h.reason}" for w in words) for h in self.told)


@pytest.fixture
def eyes(request):
    made = []

    def make(**settings):
        made.append(Eyes(**settings))
        return made[-1]
    yield make
    for one in made:
        one.camera.close()


def test_a_face_is_seen_the_file_begins_again_and_a_killed_process_comes_back(eyes, video):
    looking = eyes(source=str(video), fps=20.0, backoff_s=(0.1, 0.2))
    looking.until(lambda e: len(e.frames) > 45)                   # more than the file has
    assert looking.heard("ok", "sees by")
    assert int(Path(f"/proc/{looking.camera.child.pid}/oom_score_adj").read_text()) == EXPENDABLE
    seen = [f for f in looking.frames if f.faces]
    assert len(seen) > 40
    x, y, width, height = seen[-1].faces[0].box
    assert 150 < x + width / 2 < 350 and 50 < y + height / 2 < 200      # where the photograph has its face
    times = [f.t_capture for f in looking.frames]
    assert times == sorted(times) and times[-1] <= time.monotonic() - looking.camera.start

    looking.frames.clear()
    os.kill(looking.camera.child.pid, signal.SIGKILL)
    looking.until(lambda e: e.heard("gone", "ended with status -9") and bool(e.frames))

    looking.camera.pace(0.0)                                      # nobody looks: the camera is let go
    looking.until(lambda e: e.heard("ok", "off"))
    looking.frames.clear()
    looking.camera.pace(20.0)
    looking.until(lambda e: bool(e.frames))


def test_a_camera_that_never_answers_is_ended_and_tried_again(eyes, tmp_path):
    pipe = tmp_path / "camera"
    os.mkfifo(pipe)                                               # opening it waits for a writer that never comes
    looking = eyes(source=str(pipe), stall_s=2.0, backoff_s=(0.1, 0.2))
    looking.until(lambda e: e.heard("gone", "said nothing for"))
    first = looking.camera.child.deaths
    looking.until(lambda e: e.camera.child.pid is not None)
    assert first == 1


def test_a_picture_that_never_comes_costs_the_camera_a_restart_and_nobody_a_wait(eyes, video, tmp_path):
    """F41: the source goes silent in the middle, and the read does not return."""
    pipe = tmp_path / "camera"
    os.mkfifo(pipe)
    looking = eyes(source=str(pipe), fps=20.0, stall_s=2.0, backoff_s=(0.1, 0.2))
    cable = os.open(pipe, os.O_RDWR)                              # stays open: a source that is gone tells nobody
    threading.Thread(target=os.write, args=(cable, video.read_bytes()), daemon=True).start()
    looking.until(lambda e: any(frame.faces for frame in e.frames))
    looking.until(lambda e: e.heard("gone", "camera_process", "said nothing for 2 s"))
    looking.until(lambda e: e.camera.child.pid is not None)
    assert looking.camera.child.deaths == 1
    os.close(cable)


def test_nobody_looks_while_the_robot_sleeps_and_the_first_face_after_it_comes_at_once(eyes, video):
    """F54: what costs is looking. The wake-up counts in pictures, so that no machine is too slow for it."""
    looking = eyes(source=str(video), fps=20.0, asleep_fps=0.5)
    looking.until(lambda e: len(e.frames) > 5)
    looking.camera.pace(0.5)
    looking.until(lambda e: (t := [f.t_capture for f in e.frames])[-1] - t[-2] > 1.0)    # the pace has arrived
    looking.frames.clear()
    looking.until(lambda e: len(e.frames) == 2)
    asleep = [frame.t_capture for frame in looking.frames]
    assert asleep[1] - asleep[0] > 1.7                            # one of 34 pictures was looked at
    woken = time.monotonic() - looking.camera.start
    looking.camera.pace(20.0)
    looking.until(lambda e: len(e.frames) > 2)
    first = looking.frames[2]
    assert first.faces and woken - 0.1 < first.t_capture < woken + 1.0


def test_a_missing_camera_is_told_once_and_waited_for(eyes, video, tmp_path):
    """F63: a setting whose part is missing is told with its reason."""
    late = tmp_path / "late.avi"
    looking = eyes(source=str(late), backoff_s=(0.1, 0.2))
    looking.until(lambda e: e.heard("gone", "cannot be opened"))
    os.link(video, late)
    looking.until(lambda e: bool(e.frames))
    assert sum(h.level == "gone" for h in looking.told) == 1


def test_pictures_of_another_shape_are_refused_and_of_another_size_fitted(video):
    larger = CameraDeviceConfig(source=str(video), width_px=320, height_px=240)
    _, picture = next(Camera(larger).pictures(lambda t: True))
    assert picture.shape == (240, 320, 3)
    wide = CameraDeviceConfig(source=str(video), width_px=640, height_px=360)
    with pytest.raises(CameraTrouble, match="640x480 pictures, expected the shape of 640x360"):
        next(Camera(wide).pictures(lambda t: True))
    with pytest.raises(CameraTrouble, match="no /dev/video99"):
        Camera(CameraDeviceConfig(source="/dev/video99"))


def test_settings_are_read_strictly():
    for wrong, why in (({"fps": 0.0}, "0.1 to 60"), ({"asleep_fps": 20.0}, "no more asleep"),
                       ({"fourcc": "MJ"}, "four"),
                       ({"stall_s": 0.5}, "at least 2"), ({"sorce": "x"}, "did you mean 'source'")):
        with pytest.raises(BadRequest, match=why):
            filled(CameraDeviceConfig, wrong, "a.toml: camera")
