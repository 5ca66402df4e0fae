"""`talkover see TAKE`: the seeing stages over a recorded take, one JSON line an event (kinds `face` and `gesture`)."""
import argparse
import json
import math
import sys
from collections.abc import Iterator

import cv2

from perception.pose_history import PoseHistory
from perception.vision.detector import Picture, RetinaFace
from perception.vision.eyes import Eyes
from perception.vision.finder import FaceFinder
from perception.vision.frame import Sight
from robot.errors import BadRequest
from robot.take import Motion, Take, read_take, read_video_times
from robot.tick import TICK_S

LATENCY_S = 0.05   # declared, from the middle of the exposure to the decision: read-out, transfer, detection
DIGITS = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("take", metavar="TAKE", help="folder with take.json, video.mp4 and video.csv")
    parser.add_argument("--out", metavar="events.jsonl", help="file for the events (default: standard output)")


def run(options: argparse.Namespace) -> int:
    cv2.setNumThreads(1)
    take = read_take(options.take)
    if options.out is None:
        _write(take, sys.stdout)
        return 0
    try:
        with open(options.out, "w", encoding="utf-8") as file:
            _write(take, file)
    except OSError as error:
        raise BadRequest(f"{options.out}: expected a file that can be written: {error.strerror}") from error
    return 0


def _write(take: Take, file) -> None:
    for sight in sights(take):
        for event in events(sight):
            file.write(json.dumps(event) + "\n")


def sights(take: Take) -> Iterator[Sight]:
    """What the eyes say of each picture, at the tick in which it would have arrived."""
    if take.camera is None:
        raise BadRequest(f"{take.folder / 'take.json'}: camera: expected the camera's description, found nothing")
    finder, eyes = FaceFinder(RetinaFace()), Eyes(take.camera)
    poses, row = PoseHistory(), 0
    for t_capture, picture in pictures(take):
        t = math.ceil(round((t_capture + LATENCY_S) / TICK_S, 6)) * TICK_S
        row = _add_poses(poses, take.motion, row, t)
        yield eyes.step(t, (finder.see(picture, t_capture),), poses)


def _add_poses(poses: PoseHistory, motion: Motion | None, row: int, t: float) -> int:
    """Add the poses up to time t (s), from `row` on; returns the next row."""
    while motion is not None and row < len(motion.t) and motion.t[row] <= t:
        poses.add(float(motion.t[row]), motion.pose(row))
        row += 1
    return row


def pictures(take: Take) -> Iterator[tuple[float, Picture]]:
    """(t_capture s, picture BGR) of every stamped frame of the video."""
    assert take.camera is not None
    stamps = read_video_times(take.folder / "video.csv")
    path = take.folder / "video.mp4"
    video = cv2.VideoCapture(str(path)) if path.exists() else None
    if video is None or not video.isOpened():
        raise BadRequest(f"{path}: expected a readable video")
    wanted = (take.camera.height_px, take.camera.width_px)
    try:
        for number, t_capture in enumerate(stamps):
            good, picture = video.read()
            if not good:
                raise BadRequest(f"{path}: frame {number}: expected {len(stamps)} frames as video.csv says")
            if picture.shape[:2] != wanted:
                raise BadRequest(f"{path}: frame {number}: expected {wanted[1]} x {wanted[0]} px as take.json says, "
                                 f"found {picture.shape[1]} x {picture.shape[0]}")
            yield float(t_capture), picture
    finally:
        video.release()


def events(sight: Sight) -> list[dict]:
    """Lines of events.jsonl (CONTRACTS.md)."""
    t = round(sight.t, DIGITS)
    lines: list[dict] = [
        {"t": t, "kind": "face", "id": face.id, "azimuth_rad": round(face.azimuth, DIGITS),
         "elevation_rad": round(face.elevation, DIGITS), "distance_m": round(face.distance, 4),
         "attention": round(face.attention, 4), "t_capture": round(face.t_capture, DIGITS)} for face in sight.faces]
    return lines + [{"t": t, "kind": "gesture", "id": gesture.id, "name": gesture.name} for gesture in sight.gestures]
