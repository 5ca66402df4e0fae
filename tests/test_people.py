"""Voices and faces become people."""
import numpy as np
import pytest

from perception.audio.scene import Bearing, SoundScene
from perception.people import People, PeopleConfig
from perception.vision.frame import Face, Sight, View

WIDE = 0.8


class Scene:
    """Feeds a People tick by tick (50 ms)."""

    def __init__(self, config=None):
        self.people = People(config or PeopleConfig())
        self.t = 0.0
        self.now = ()

    def go(self, seconds, faces=(), voice=None, mirror=None, look=0.0, speech=None, spread=0.08):
        """faces: (id, azimuth); voice: azimuth in rad of what is heard."""
        for _ in range(round(seconds / 0.05)):
            self.t = round(self.t + 0.05, 6)
            bearing = None if voice is None else Bearing(self.t, voice, spread, mirror is not None, mirror)
            sound = SoundScene(self.t, speech=voice is not None if speech is None else speech, bearing=bearing)
            seen = tuple(Face(name, self.t - 0.05, azimuth, 0.2, 1.2, 0.9) for name, azimuth in faces)
            view = None if look is None else View(self.t - 0.05, look, 0.0, WIDE)
            self.now = self.people.step(self.t, sound, Sight(self.t, seen, (), view))
        return self.now


def test_a_face_is_a_person_and_a_voice_from_there_is_his():
    scene = Scene()
    scene.go(0.5, [("face_1", 0.3)])
    person, = scene.go(0.5, [("face_1", 0.3)], voice=0.36)
    assert (person.id, person.speaking, person.azimuth, person.ambiguous) == ("person_1", True, 0.3, False)
    assert person.face == "face_1"
    person, = scene.go(1.0, [("face_1", 0.3)])
    assert not person.speaking
    assert person.heard_at == pytest.approx(1.0)


def test_a_voice_at_the_mirror_of_a_face_is_the_faces():
    scene = Scene()
    scene.go(0.5, [("face_1", 0.3)])
    person, = scene.go(0.5, [("face_1", 0.3)], voice=np.pi - 0.3, mirror=0.3)
    assert person.speaking and person.azimuth == 0.3 and not person.ambiguous


def test_where_the_camera_sees_nobody_the_other_direction_is_likelier():
    scene = Scene()
    scene.go(0.5)
    person, = scene.go(0.3, voice=0.3, mirror=np.pi - 0.3)
    assert person.azimuth == pytest.approx(np.pi - 0.3)
    assert person.ambiguous and person.mirror == 0.3 and person.seen_at is None and person.distance is None
    # without a camera the ears' own order stays
    blind = Scene()
    person, = blind.go(0.3, voice=0.3, mirror=np.pi - 0.3, look=None)
    assert person.azimuth == 0.3 and person.mirror == pytest.approx(np.pi - 0.3)


def test_a_voice_from_behind_gets_its_face_after_the_turn_and_keeps_its_id():
    scene = Scene()
    scene.go(0.5, [("face_1", 0.0)])
    scene.go(0.6, [("face_1", 0.0)], voice=2.6, mirror=0.54)
    caller = next(p for p in scene.now if p.speaking)
    assert caller.id == "person_2" and caller.azimuth == 2.6
    scene.go(0.3, voice=2.55, look=1.5)
    now = scene.go(0.3, [("face_2", 2.5)], voice=2.55, look=2.4)
    caller = next(p for p in now if p.speaking)
    assert caller.id == "person_2" and caller.azimuth == 2.5 and caller.seen_at is not None and not caller.ambiguous
    assert len(now) == 2


def test_the_speaker_changes_between_two_faces():
    scene = Scene()
    both = [("face_1", -0.4), ("face_2", 0.4)]
    scene.go(0.3, both)
    assert [p.speaking for p in scene.go(0.5, both, voice=-0.35)] == [True, False]
    assert [p.speaking for p in scene.go(0.5, both, voice=0.45)] == [False, True]
    assert [p.speaking for p in scene.go(0.5, both)] == [False, False]


def test_without_a_bearing_the_only_one_in_view_speaks_and_of_two_nobody_is_chosen():
    one, two = Scene(), Scene()
    one.go(0.3, [("face_1", 0.1)])
    assert one.go(0.3, [("face_1", 0.1)], speech=True)[0].speaking
    two.go(0.3, [("face_1", 0.1), ("face_2", -0.5)])
    assert not any(p.speaking for p in two.go(0.3, [("face_1", 0.1), ("face_2", -0.5)], speech=True))


def test_voices_are_forgotten_soon_and_unseen_faces_late():
    scene = Scene()
    scene.go(0.5, voice=2.5)
    assert len(scene.go(7.0)) == 1
    assert scene.go(2.0) == ()
    scene.go(0.5, [("face_1", 1.5)], look=1.5)
    assert len(scene.go(60.0, look=0.0)) == 1       # out of view: still believed there
    assert scene.go(5.0, look=1.4) == ()            # looked for in vain
    returned, = scene.go(0.3, [("face_1", 1.2)], look=1.4)
    assert returned.id == "person_2"                # who was gone is the same person when known again


def test_street_noise_from_everywhere_does_not_fill_the_house():
    scene = Scene()
    rng = np.random.default_rng(3)
    for _ in range(60):
        scene.go(0.1, voice=float(rng.uniform(-3.1, 3.1)))
        assert len(scene.now) <= PeopleConfig().most
    assert scene.go(10.0) == ()


def test_one_call_is_one_person_while_the_bearing_wavers():
    scene = Scene()
    for azimuth in (2.4, 2.6, 2.5, 2.7, 2.55):
        scene.go(0.2, voice=azimuth)
    assert len(scene.now) == 1
