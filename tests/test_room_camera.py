"""Pictures show the world where the lens says, from the pose at capture."""
import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.body_model import reachy_mini
from calibration.frames import HeadPose, frozen, rotation
from perception.vision.detector import RetinaFace
from robot.bodies.room.camera import CameraConfig, Renderer, Seen
from robot.bodies.room.cutouts import CHEST_BEHIND
from robot.bodies.room.head_relief import surface
from robot.bodies.room.lens import CELL, CellRays, camera_pose, finer, lens_rays, projected
from robot.bodies.room.people import FacePose, Figure, PersonScript
from robot.bodies.room.portraits import Layer, Portrait, portrait
from robot.bodies.room.shoebox import HEAD_AT

CAMERA = reachy_mini().camera


def pose(yaw: float = 0.0, pitch: float = 0.0, roll: float = 0.0) -> HeadPose:
    return HeadPose(0.0, frozen(HEAD_AT), frozen([roll, pitch, yaw]), 0.0)


@pytest.fixture(scope="module")
def renderer():
    return Renderer(CAMERA, CameraConfig(noise=0.0), np.random.default_rng(1))


@pytest.fixture(scope="module")
def detector():
    return RetinaFace()


def seen(azimuth=0.0, distance=1.0, height=0.3, face="astronaut", looks="robot", t=0.0) -> Seen:
    figure = Figure(PersonScript("anna", azimuth, distance, height, face=face, looks=looks), seed=1)
    return Seen(portrait(face), figure.pose(t, {"robot": HEAD_AT}))


def pixels(points: np.ndarray, at: HeadPose) -> np.ndarray:
    place, axes = camera_pose(at, CAMERA)
    return projected((points - place) @ axes, CAMERA)


def test_rays_are_the_inverse_of_the_published_lens():
    rays = lens_rays(CAMERA, np.arange(0, 480, 37.0), np.arange(0, 640, 41.0))
    u, v = np.meshgrid(np.arange(0, 640, 41.0), np.arange(0, 480, 37.0))
    back = projected(rays.reshape(-1, 3), CAMERA)
    np.testing.assert_allclose(back, np.column_stack([u.ravel(), v.ravel()]), atol=1e-6)


def test_coarse_rays_made_finer_are_right_everywhere():
    rows_checked, columns_checked = np.arange(0, 480, 7), np.r_[np.arange(0, 640, 9), 639]
    exact = lens_rays(CAMERA, rows_checked.astype(float), columns_checked.astype(float))
    rows, columns, cells = CellRays(CAMERA).window(0, 480, 0, 640)
    assert (rows, columns) == (slice(0, 480), slice(0, 640))
    made = finer(cells, CELL, 480, 640)[np.ix_(rows_checked, columns_checked)]
    assert np.abs(made - exact).max() * CAMERA.k[0, 0] < 0.06     # px


def dot(y: float, z: float, size_m: float = 0.24) -> Layer:
    """One white dot at (y, z) m of a plane or a head."""
    px_per_m, size = 1500.0, int(1500 * size_m)
    u, v = np.meshgrid(np.arange(size), np.arange(size))
    middle = np.array([size / 2 - 0.5, size / 2 - 0.5])
    centre = middle + np.array([y, -z]) * px_per_m
    alpha = np.exp(-((u - centre[0]) ** 2 + (v - centre[1]) ** 2) / (2 * 9.0 ** 2))
    levels = [np.repeat((alpha * 255).astype(np.uint8)[..., None], 4, axis=2)]
    levels += [np.asarray(cv2.pyrDown(levels[0]), np.uint8)]
    return Layer((*levels, np.asarray(cv2.pyrDown(levels[1]), np.uint8)), px_per_m, frozen(middle))


NOTHING = Layer((np.zeros((4, 4, 4), np.uint8),), 10.0, frozen([2, 2]))
ROUND = portrait("astronaut").outline


def dotted(on: str, y: float, z: float) -> Portrait:
    """A person who is one dot, on the chest's plane or on the head."""
    head, chest = (NOTHING, dot(y, z)) if on == "chest" else (dot(y, z), NOTHING)
    return Portrait(head, 1e5, ROUND, chest, NOTHING, frozen(np.zeros((5, 3))))


@pytest.fixture(scope="module")
def dark():
    """A renderer whose backdrop is black."""
    out = Renderer(CAMERA, CameraConfig(noise=0.0), np.random.default_rng(2))
    out._backdrop._picture[:] = 0
    return out


def dot_error(renderer: Renderer, at: HeadPose, person: Seen, wanted_at: np.ndarray) -> float:
    """px between the drawn dot and where the lens puts its true place; 0 when that is out of the picture."""
    frame = renderer.picture(at, at, at, [person])[..., 0].astype(float)
    wanted = pixels(wanted_at[None], at)[0]
    if not (15 < wanted[0] < 625 and 15 < wanted[1] < 465):
        return 0.0
    weight = frame ** 2
    found = np.array([weight.sum(0) @ np.arange(640), weight.sum(1) @ np.arange(480)]) / weight.sum()
    return float(np.linalg.norm(found - wanted))


ANGLE, AWAY = st.floats(-0.45, 0.45), st.floats(0.5, 2.5)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(ANGLE, AWAY, st.floats(-0.3, 0.3), st.floats(-0.2, 0.2), st.floats(-0.15, 0.15))
def test_a_dot_on_a_plane_is_drawn_where_it_is(dark, azimuth, distance, yaw, pitch, roll):
    person = seen(azimuth, distance)
    chest_axes = rotation(0.0, 0.0, person.face.chest_yaw)
    place = person.face.chest + chest_axes @ np.array([-CHEST_BEHIND, 0.02, -0.03])
    error = dot_error(dark, pose(yaw, pitch, roll), Seen(dotted("chest", 0.02, -0.03), person.face), place)
    assert error < 0.3


@settings(max_examples=30, deadline=None, derandomize=True)
@given(ANGLE, AWAY, st.floats(-0.6, 0.6), st.floats(-0.03, 0.03), st.floats(-0.05, 0.04))
def test_a_dot_on_a_turned_head_is_drawn_where_its_surface_is(dark, azimuth, distance, turn, y, z):
    face = seen(azimuth, distance).face
    turned = FacePose(face.eyes, rotation(0.0, 0.0, turn) @ face.rotation, face.chest, face.chest_yaw)
    on_face = np.array([surface(np.array(y), np.array(z), ROUND), y, z], float)
    error = dot_error(dark, pose(azimuth), Seen(dotted("head", y, z), turned), turned.point(on_face))
    assert error < 0.012 * CAMERA.k[0, 0] / distance      # the nose is found within 1.2 cm in two steps


@pytest.mark.parametrize("azimuth, distance, yaw, pitch, face", [
    (0.0, 0.7, 0.0, 0.0, "astronaut"), (0.35, 1.0, 0.0, 0.05, "mirrored"), (-0.9, 1.5, -0.6, 0.0, "dark"),
    (2.6, 1.0, 2.4, 0.1, "pale"), (0.1, 2.0, 0.4, -0.1, "red")])
def test_a_real_detector_finds_the_true_eyes_within_a_degree(renderer, detector, azimuth, distance, yaw, pitch, face):
    at, person = pose(yaw, pitch), seen(azimuth, distance, face=face)
    found = detector.detect(renderer.picture(at, at, at, [person]))
    assert found and found[0].score > 0.8
    eyes = person.face.point(person.portrait.landmarks[:2])
    error = np.linalg.norm(found[0].landmarks[:2].mean(0) - pixels(eyes, at).mean(0)) / CAMERA.k[0, 0]
    assert np.rad2deg(error) < 1.0


@pytest.mark.parametrize("turn", [100, 140, 180])
def test_a_head_from_behind_has_no_face(renderer, detector, turn):
    at, person = pose(), seen()
    turned = person.face.rotation @ rotation(0.0, 0.0, np.radians(turn))
    back = Seen(person.portrait, FacePose(person.face.eyes, turned, person.face.chest, person.face.chest_yaw))
    assert not [d for d in detector.detect(renderer.picture(at, at, at, [back])) if d.score > 0.5]


def test_a_turned_head_moves_the_nose_against_the_eyes(renderer, detector):
    """What a flat photograph does not do, and what shows where somebody looks."""
    at, aside = pose(), []
    for turn in (-0.6, 0.0, 0.6):
        person = seen(distance=0.7)
        turned = person.face.rotation @ rotation(0.0, 0.0, turn)
        face = FacePose(person.face.eyes, turned, person.face.chest, person.face.chest_yaw)
        found = detector.detect(renderer.picture(at, at, at, [Seen(person.portrait, face)]))[0]
        right, left, nose = found.landmarks[:3]
        aside.append((nose[0] - (right[0] + left[0]) / 2) / (left[0] - right[0]))
    assert aside[0] < aside[1] - 0.2 and aside[2] > aside[1] + 0.2


def test_the_nearer_person_hides_the_farther(renderer):
    at, near, far = pose(), seen(distance=0.7), seen(distance=1.5, face="dark")
    both = [renderer.picture(at, at, at, order) for order in ([near, far], [far, near])]
    assert np.array_equal(*both)
    u, v = pixels(near.face.point(near.portrait.landmarks), at)[2].round().astype(int)
    alone = renderer.picture(at, at, at, [near])
    assert np.abs(both[0][v, u].astype(int) - alone[v, u]).max() <= 1


def test_a_moving_head_blurs_along_its_way_and_not_across(renderer):
    at, person = pose(), seen()
    sharp = renderer.picture(at, at, at, [person]).astype(float)
    blurred = renderer.picture(pose(-0.02), at, pose(0.02), [person]).astype(float)
    across, along = (np.abs(np.diff(x, axis=1)).mean() for x in (sharp, blurred))
    assert along < 0.6 * across
    vertical = [np.abs(np.diff(x[:, 200:440].mean(1), axis=0)).mean() for x in (sharp, blurred)]
    assert vertical[1] == pytest.approx(vertical[0], rel=0.15)
    assert np.abs(sharp.mean() - blurred.mean()) < 1.0


def test_noise_has_its_size_and_the_seed_repeats():
    at, pictures = pose(), []
    for seed in (1, 1, 2):
        renderer = Renderer(CAMERA, CameraConfig(noise=4.0), np.random.default_rng(seed))
        pictures.append([renderer.picture(at, at, at, []) for _ in range(2)])
    assert np.array_equal(pictures[0][1], pictures[1][1]) and not np.array_equal(pictures[0][1], pictures[2][1])
    difference = pictures[0][0].astype(float) - pictures[0][1]
    assert difference.std() == pytest.approx(4.0 * np.sqrt(2), rel=0.15)


def test_the_backdrop_turns_with_the_head_and_closes(renderer):
    backdrop = renderer._backdrop
    around = [backdrop.seen(camera_pose(pose(yaw), CAMERA)[1]).astype(float)
              for yaw in (0.0, 2 * np.pi - 1e-9, 20 / CAMERA.k[0, 0])]
    assert np.abs(around[0] - around[1]).max() <= 1
    moved = np.roll(around[0], 20, axis=1)[200:280, 280:360]
    assert np.abs(moved - around[2][200:280, 280:360]).mean() < 3.0
