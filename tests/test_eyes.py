"""Seeing: faces in pictures, and where they are in the frame of the table."""
import numpy as np
import pytest

from calibration.body_model import reachy_mini
from calibration.frames import HeadPose, frozen, wrapped
from perception.pose_history import PoseHistory
from perception.vision.detector import RetinaFace
from perception.vision.eyes import Eyes
from perception.vision.finder import FaceFinder
from perception.vision.frame import Detection, FaceFrame
from perception.vision.rays import Lens
from perception.vision.yunet import ModelMissing, face_detector
from tests.vision_scene import picture

DETECTOR = RetinaFace()
HEAD = np.array([0.0, 0.0, 0.177])
MEAN_FACE = np.array([[-0.0308, 0], [0.0308, 0], [0, 0.035], [-0.026, 0.065], [0.026, 0.065]])   # m, right and down


def poses(yaw=lambda t: 0.0, until=3.0):
    ring = PoseHistory()
    for i in range(int(until * 100)):
        ring.add(i / 100, HeadPose(i / 100, frozen(HEAD), frozen([0.0, 0.0, yaw(i / 100)]), 0.0))
    return ring


def detection(azimuth, elevation, distance, pose, score=0.99, camera=None):
    """The mean face, turned to the camera, at a place given from the resting head."""
    lens = Lens(camera or reachy_mini().camera)
    place = HEAD + distance * np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation),
                                        np.sin(elevation)])
    sight = place - lens.origin(pose)
    sight = sight / np.linalg.norm(sight)
    right = np.cross(sight, [0, 0, 1.0])
    right = right / np.linalg.norm(right)
    points = place + MEAN_FACE[:, :1] * right + MEAN_FACE[:, 1:] * np.cross(sight, right)
    marks = lens.pixels((points - pose.position) @ pose.rotation)
    low, high = marks.min(axis=0), marks.max(axis=0)
    return Detection(frozen([*(low - 20), *(high - low + 40)]), score, frozen(marks))


def seen_by(finder, pictures):
    return [finder.see(p, i / 15).faces for i, p in enumerate(pictures)]


@pytest.mark.parametrize("face", [(320, 200, 40, 0.0), (150, 260, 14, 0.0), (420, 180, 6.5, 0.0), (300, 240, 20, 0.75),
                                  (300, 240, 20, -0.75)])
def test_finds_a_face_near_far_and_tilted(face):
    found = seen_by(FaceFinder(DETECTOR), [picture([face], seed=i) for i in range(3)])
    for faces in found:
        assert len(faces) == 1
        assert np.linalg.norm(faces[0].landmarks[:2].mean(axis=0) - face[:2]) < 0.25 * face[2]
        assert faces[0].score > 0.85
        assert np.linalg.norm(faces[0].embedding) == pytest.approx(1.0)


def test_follows_a_face_between_looks_at_the_whole_picture():
    class Counting:
        whole = 0

        def detect(self, part):
            self.whole += part.shape[1] >= 320
            return DETECTOR.detect(part)

    counting = Counting()
    found = seen_by(FaceFinder(counting), [picture([(200 + 14 * i, 240, 20, 0.0)], seed=i) for i in range(12)])
    assert all(len(faces) == 1 for faces in found)
    assert counting.whole <= 3


def test_finds_a_face_in_the_dark_and_none_in_black_or_noise():
    dark = seen_by(FaceFinder(DETECTOR), [picture([(300, 220, 20, 0.0)], light=0.1, noise=4, seed=i) for i in range(3)])
    assert all(len(faces) == 1 for faces in dark)
    nothing = [np.zeros((480, 640, 3), np.uint8), picture(), picture(noise=60)]
    assert seen_by(FaceFinder(DETECTOR), nothing) == [(), (), ()]


def test_finds_two_and_says_the_same_again():
    pictures = [picture([(180, 240, 20, 0.0), (430, 200, 12, 0.0)], seed=i) for i in range(4)]
    once, again = seen_by(FaceFinder(DETECTOR), pictures), seen_by(FaceFinder(DETECTOR), pictures)
    assert [len(faces) for faces in once] == [2, 2, 2, 2]
    for a, b in zip(sum(once, ()), sum(again, ()), strict=True):
        assert np.array_equal(a.landmarks, b.landmarks) and np.array_equal(a.embedding, b.embedding)


def test_knows_a_person_again_by_appearance_and_size_does_not_matter():
    near, far = (seen_by(FaceFinder(DETECTOR), [picture([(300, 240, size, 0.0)])])[0][0] for size in (30, 12))
    assert near.embedding @ far.embedding > 0.6


@pytest.mark.parametrize("azimuth, elevation, distance, yaw", [
    (0.0, 0.2, 0.6, 0.0), (0.4, 0.15, 1.2, 0.0), (0.4, 0.15, 1.2, 0.7), (-2.0, 0.1, 2.0, -1.8), (3.1, 0.1, 1.0, 2.8)])
def test_places_a_face_by_the_pose_of_its_own_moment(azimuth, elevation, distance, yaw):
    pose = HeadPose(0.0, frozen(HEAD), frozen([0.0, 0.0, yaw]), 0.0)
    face = detection(azimuth, elevation, distance, pose)
    eyes, ring, last = Eyes(), poses(lambda t: yaw), ()
    for i in range(4):
        last = eyes.step(0.1 + i / 15, (FaceFrame(0.05 + i / 15, (face,)),), ring).faces
    assert abs(wrapped(last[0].azimuth - azimuth)) < 0.003
    assert last[0].elevation == pytest.approx(elevation, abs=0.004)
    assert last[0].distance == pytest.approx(distance, rel=0.05)
    assert last[0].attention > 0.8


def test_a_turning_head_does_not_move_a_person():
    ring, eyes, azimuths = poses(lambda t: 0.5 * np.sin(3.0 * t)), Eyes(), []
    for i in range(30):
        t = 0.05 + i / 15
        face = detection(0.1, 0.2, 1.2, ring_pose := HeadPose(t, frozen(HEAD), ring.at(t).rpy, 0.0))
        assert ring_pose.t == t
        azimuths += [f.azimuth for f in eyes.step(t + 0.12, (FaceFrame(t, (face,)),), ring).faces]
    assert len(azimuths) > 25
    assert np.ptp(azimuths) < 0.004
    assert not eyes.dropped


def test_frames_without_a_usable_stamp_are_dropped_and_counted():
    face = detection(0.0, 0.2, 1.0, HeadPose(0.0, frozen(HEAD), frozen(np.zeros(3)), 0.0))
    eyes, ring = Eyes(), poses()
    good = FaceFrame(1.0, (face,))
    for bad in (FaceFrame(float("nan"), (face,)), FaceFrame(2.0, (face,)), FaceFrame(0.01, (face,))):
        assert not eyes.step(1.5, (bad,), ring).faces
    assert eyes.dropped == 3
    eyes.step(1.5, (good, good), ring)
    assert eyes.dropped == 4


def test_says_where_the_camera_looked():
    sight = Eyes().step(1.0, (FaceFrame(0.9, ()),), poses(lambda t: 0.8))
    assert sight.view.azimuth == pytest.approx(0.8, abs=0.02)
    assert 0.6 < sight.view.half_width < 0.9
    assert Eyes().step(1.0, (), poses()).view is None


def test_a_face_of_impossible_size_is_nobody():
    pose = HeadPose(0.0, frozen(HEAD), frozen(np.zeros(3)), 0.0)
    eyes = Eyes()
    for i in range(10):
        frame = FaceFrame(0.1 + i / 15, (detection(0.0, 0.1, 14.0, pose),))
        assert not eyes.step(0.2 + i / 15, (frame,), poses()).faces


def test_a_missing_yunet_model_is_named():
    with pytest.raises(ModelMissing, match=r"nowhere\.onnx: expected YuNet"):
        face_detector("nowhere.onnx")
    assert isinstance(face_detector(), RetinaFace)
