"""Who is who: births, keeping, coasting, memory, and gestures."""
import numpy as np
import pytest

from calibration.frames import frozen
from perception.vision.attention import Attention
from perception.vision.gestures import GestureWatch, Posture, swings
from perception.vision.head_pose import HeadView
from perception.vision.track_filter import FilterConfig, TrackFilter, sighting_error
from perception.vision.tracks import Sighting, Tracks, TracksConfig

ANNA, BERT = frozen(np.eye(8)[0]), frozen(np.eye(8)[1])
STEP = 1 / 15


def view(distance=1.0, yaw=0.0, pitch=0.0):
    return HeadView(frozen([1.0, 0.0, 0.0]), distance, yaw, pitch, 0.0, 1.0)


def sighting(t, place, look=ANNA, score=0.98):
    place = np.asarray(place, float)
    distance = float(np.linalg.norm(place))
    error = sighting_error(place / distance, distance, FilterConfig())
    return Sighting(t, frozen(place), error, score, view(distance), 20.0, look)


def run(*frames, tracks=None, start=0.0, covers=lambda point: True):
    """Names seen in each frame; a frame is a list of (place, look[, score])."""
    tracks = tracks or Tracks(TracksConfig(), FilterConfig())
    out = []
    for i, frame in enumerate(frames):
        t = start + i * STEP
        seen = tracks.step(t, [sighting(t, *entry) for entry in frame], covers)
        out.append([track.id for track, _ in sorted(seen, key=lambda pair: pair[1].point[1])])
    return out


def test_a_sure_face_is_a_person_at_the_second_picture_and_never_at_the_first():
    assert run([((1, 0, 0.3), ANNA)], [((1, 0, 0.3), ANNA)]) == [[], ["face_1"]]


@pytest.mark.parametrize("score", [0.3, 0.6, 0.8])
def test_a_doubtful_face_never_becomes_a_person(score):
    assert run(*[[((1, 0, 0.3), ANNA, score)]] * 60) == [[]] * 60


def test_single_flashes_in_many_places_are_nobody():
    assert run(*[[((1, np.sin(9 * i), 0.3), ANNA)] if i % 12 == 0 else [] for i in range(120)]) == [[]] * 120


def test_a_person_survives_doubt_and_a_gap():
    here = [((1, 0, 0.3), ANNA)]
    names = run(*[here] * 10, *[[]] * 10, *[[((1, 0, 0.3), ANNA, 0.7)]] * 5, *[here] * 5)
    assert names[20:] == [["face_1"]] * 10


def test_a_person_who_has_long_been_doubtful_is_dropped():
    names = run(*[[((1, 0, 0.3), ANNA)]] * 5, *[[((1, 0, 0.3), ANNA, 0.4)]] * 30)
    assert names[-1] == []


def test_two_who_cross_keep_their_names():
    frames = []
    for i in range(60):
        y = 0.8 - 1.6 * i / 59
        hidden = abs(y) < 0.12
        frames.append([((1.2, y, 0.3), ANNA)] + ([] if hidden else [((1.8, -1.4 * y, 0.35), BERT)]))
    names = run(*frames)
    assert names[5] == ["face_2", "face_1"]
    assert names[-1] == ["face_1", "face_2"]


def test_who_comes_back_elsewhere_is_known_by_the_look_and_a_stranger_is_not():
    tracks = Tracks(TracksConfig(), FilterConfig())
    run(*[[((1, -0.5, 0.3), ANNA)]] * 10, tracks=tracks)
    run(*[[]] * 60, tracks=tracks, start=1.0)
    assert run(*[[((1.2, 0.9, 0.3), ANNA)]] * 3, tracks=tracks, start=6.0)[-1] == ["face_1"]
    run(*[[]] * 60, tracks=tracks, start=7.0)
    assert run(*[[((1.2, 0.9, 0.3), BERT)]] * 3, tracks=tracks, start=30.0)[-1] == ["face_2"]


def test_nobody_is_remembered_without_end_and_names_are_not_reused():
    tracks = Tracks(TracksConfig(most=5), FilterConfig())
    names = set()
    for i in range(20):
        look = frozen(np.eye(32)[i])
        names |= {n for frame in run(*[[((1, 0.1 * (-1) ** i, 0.3), look)]] * 3, tracks=tracks, start=40.0 * i)
                  for n in frame}
    assert len(tracks._tracks) <= 5
    assert len(names) == 20


def test_the_filter_follows_a_walk_without_lag_and_coasts_through_a_gap():
    config = FilterConfig()
    error = sighting_error(np.array([1.0, 0, 0]), 1.5, config)
    place = lambda t: np.array([1.5, 0.8 * t - 0.8, 0.3])   # noqa: E731
    track = TrackFilter.born(0.0, place(0.0), error, config)
    for i in range(1, 30):
        track.predict(i * STEP, seen=True)
        track.correct(place(i * STEP), error)
    assert np.linalg.norm(track.position - place(track.t)) < 0.01
    until = track.t + 0.4
    track.predict(until, seen=True)
    assert np.linalg.norm(track.position - place(until)) < 0.06


def test_attention_is_slow_to_change_sides_and_says_one_half_when_it_cannot_know():
    attention = Attention()
    looking = [attention.step(i * STEP, view(), 25.0) for i in range(8)]
    assert looking[-1] > 0.9
    assert attention.step(8 * STEP, view(yaw=0.9), 25.0) > 0.5
    away = [attention.step((9 + i) * STEP, view(yaw=0.9), 25.0) for i in range(8)]
    assert away[-1] < 0.1
    held, fresh = Attention(), Attention()
    for i in range(20):
        held.step(i * STEP, view(yaw=0.0 if i < 10 else 0.42), 25.0)
        fresh.step(i * STEP, view(yaw=0.9 if i < 10 else 0.42), 25.0)
    assert held.value > 0.55 and fresh.value < 0.5
    assert Attention().step(0.0, view(), 3.0) == 0.5


def gestures(postures):
    watch = GestureWatch()
    return [name for p in postures if (name := watch.step(p))]


def posture(t, yaw=0.0, pitch=0.0, azimuth=0.3, elevation=0.2, rate=(0.0, 0.0), beside=None):
    return Posture(t, yaw, pitch, azimuth, elevation, 1.2, 20.0, rate, beside)


def test_nod_and_shake_from_landmarks_while_the_robot_itself_moves():
    wave = lambda t: 0.3 * np.sin(2 * np.pi * 2.0 * t)   # noqa: E731
    times = np.arange(0, 1.5, STEP)
    own = (1.5, -1.5)
    assert gestures(posture(t, pitch=wave(t), rate=(0.0, own[i % 2])) for i, t in enumerate(times)) == ["nod"]
    assert gestures(posture(t, yaw=wave(t), rate=(own[i % 2], 0.0)) for i, t in enumerate(times)) == ["shake"]


def test_the_robots_own_nod_is_no_gesture_of_a_person():
    times = np.arange(0, 6.0, STEP)
    rate = 0.18 * 2 * np.pi * 1.5 * np.cos(2 * np.pi * 1.5 * times)   # of a nod of 10 degrees
    late = 0.015                                                       # s of error between pose and picture
    assert not gestures(posture(t, elevation=0.2 + late * r, rate=(0.0, r)) for t, r in zip(times, rate, strict=True))
    # without that motion the same swing in space is a nod
    assert "nod" in gestures(posture(t, elevation=0.2 + late * r) for t, r in zip(times, rate, strict=True))


def test_looking_about_walking_and_noise_are_no_gestures():
    times = np.arange(0, 8.0, STEP)
    rng = np.random.default_rng(4)
    assert not gestures(posture(t, yaw=0.5 * np.sin(2 * np.pi * 0.4 * t)) for t in times)
    assert not gestures(posture(t, azimuth=0.3 * t, elevation=0.2 + 0.02 * np.sin(12 * t)) for t in times)
    noise = rng.normal(0, 0.05, (2, 120))
    assert not gestures(posture(t, yaw=y, pitch=p) for t, y, p in zip(times, *noise, strict=True))


def test_a_wave_is_something_beside_a_still_face():
    times = np.arange(0, 1.7, STEP)
    hand = lambda t: frozen([[0.0, 0.0], [0.05, 1.5 + 0.4 * np.sin(2 * np.pi * 2.2 * t)]])   # noqa: E731
    assert gestures(posture(t, beside=hand(t)) for t in times) == ["wave"]
    assert not gestures(posture(t, azimuth=0.3 + 0.2 * t, beside=hand(t)) for t in times)
    both = lambda t: frozen([[0.05, -1.5], hand(t)[1]])   # noqa: E731
    assert not gestures(posture(t, beside=both(t)) for t in times)


def test_swings_are_counted_from_turning_point_to_turning_point():
    found = swings(np.arange(7.0), np.array([0.0, 1.0, 0.9, 1.2, 0.1, 0.2, 1.0]), 0.5)
    assert found == [(3.0, pytest.approx(1.2)), (1.0, pytest.approx(1.1)), (2.0, pytest.approx(0.9))]
    assert swings(np.arange(3.0), np.zeros(3), 0.5) == []
