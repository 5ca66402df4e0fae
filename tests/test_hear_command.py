"""`talkover hear`: files in, events and sound out, wrong requests refused in one line."""
import json
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.io import wavfile
from scipy.signal import resample_poly

from calibration.body_model import JOINTS
from robot.__main__ import main
from robot.hearing_bench.drawn import drawn
from robot.hearing_bench.plans import Plan
from robot.take import POSE_COLUMNS
from tests.hearing_sounds import LINE, RATE, echo_of, hiss, talking
from tests.hearing_takes import write_take

SECONDS = 1.0


@pytest.fixture
def take(tmp_path):
    folder = tmp_path / "take"
    folder.mkdir()
    reference = talking(1, SECONDS)
    mics = echo_of(reference, 0.1) + hiss(1, 4, reference.size, 1e-4)
    sound = (np.vstack([mics, reference]).T[:-50] * 32767).round().astype(np.int16)   # not a whole number of blocks
    wavfile.write(folder / "audio.wav", RATE, sound)
    about = {"version": 1, "sample_rate_hz": RATE, "mics": 4, "mic_positions_m": LINE.tolist(), "playback_delay_s": 0.1}
    (folder / "take.json").write_text(json.dumps(about))
    header = ",".join(["t_s", *POSE_COLUMNS, *(f"cmd_vel_{joint}_rad_s" for joint in JOINTS)])
    rows = [",".join(["%.2f" % (row / 100), *["0"] * 16]) for row in range(100)]
    (folder / "motion.csv").write_text("\n".join([header, *rows]) + "\n")
    return folder


def test_writes_events_clean_and_residual(take, tmp_path):
    out, clean, residual = (tmp_path / name for name in ("events.jsonl", "clean.wav", "residual.wav"))
    arguments = ["hear", str(take), "--out", str(out), "--clean", str(clean), "--residual", str(residual)]
    assert main(arguments) == 0
    before = out.read_text()
    events = [json.loads(line) for line in before.splitlines()]
    assert [event["t"] for event in events] == sorted(event["t"] for event in events)
    assert {event["kind"] for event in events} <= {"speech", "duck", "barge_in", "release", "direction"}
    samples = RATE - 50
    assert wavfile.read(clean)[1].shape == (samples,)
    rate, cancelled = wavfile.read(residual)
    assert rate == RATE and cancelled.shape == (samples, 4) and cancelled.any()
    assert main(arguments) == 0 and out.read_text() == before   # the same take, the same bytes


def test_settings_reach_the_stages(take, tmp_path):
    out = tmp_path / "events.jsonl"
    settings = ["--set", "barge_in.duck_at=-7", "--set", "barge_in.stop_at=-7"]
    assert main(["hear", str(take), "--out", str(out), *settings]) == 0
    assert "barge_in" in {json.loads(line)["kind"] for line in out.read_text().splitlines()}


@pytest.mark.parametrize(("arguments", "words"), [
    (["--set", "barge_in.stop=5"], "stop_at"),
    (["--set", "barge_in.stop_at"], "KEY=VALUE"),
    (["--set", "barge_in.stop_at=loud"], "a number"),
    (["--set", "plays_above=1", "--set", "plays_above.x=2"], "expected a section"),
    (["--out", "/nowhere/at/all/events.jsonl"], "can be written"),
])
def test_wrong_requests_are_refused_in_one_line(take, capsys, arguments, words):
    assert main(["hear", str(take), *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_a_take_that_is_none(tmp_path, capsys):
    assert main(["hear", str(tmp_path / "none")]) == 2
    assert "take.json" in capsys.readouterr().err


# ---- bad input, with real speech: the robot talks, a person as loud as its echo talks over it

FAULT_AT = 0.9               # s
SETTLED = 1.2                # s after a fault until which one false stop is forgiven


@dataclass(frozen=True, slots=True)
class Bad:
    """What is wrong with a take, and what is to be told of it. hears: the person must still be heard."""

    name: str
    tells: str = ""
    hears: bool = True
    rate: int = 16000


BAD = (
    Bad("nothing"), Bad("dead", "microphone_1: gone"), Bad("swapped"), Bad("inverted"),
    Bad("clipping", "microphone_2: degraded the signal clips"), Bad("gaps", "audio: degraded 80 ms lost"),
    Bad("no_reference", "reference: gone", hears=False), Bad("silent_reference", hears=False),
    Bad("no_delay"), Bad("one_microphone"),
    Bad("44.1", "audio: ok resampled from 44100 to 16000 Hz", rate=44100),
)


@pytest.fixture(scope="module")
def over_the_robot():
    """One person from 2.2 to 3.9 s of 6.6; the robot talks all the time."""
    return drawn(Plan("barge_in_0000", "barge_in", 6.6, 1, 0.0), 5)


def spoilt(recording, bad):
    """The channels (C, n) of the take with its fault, and what take.json then says differently."""
    mics, reference = recording.sound.mics.copy(), recording.sound.reference
    late, about = round(FAULT_AT * RATE), {}
    if bad.name == "dead":
        mics[1, late:] = 0
    elif bad.name == "swapped":
        mics = mics[[0, 2, 1, 3]]
    elif bad.name == "inverted":
        mics[3] *= -1
    elif bad.name == "clipping":
        mics[2, late:] = np.clip(mics[2, late:] * 3 / np.abs(mics[2]).std(), -1, 1)
    elif bad.name == "gaps":
        for at in (0.9, 1.5, 4.5):
            mics[:, round(at * RATE):round((at + 0.08) * RATE)] = 0
    elif bad.name == "no_delay":
        about = {"playback_delay_s": None}
    elif bad.name == "one_microphone":
        mics, about = mics[:1], {"mics": 1, "mic_positions_m": recording.mic_positions[:1].tolist()}
    channels = [mics] if bad.name == "no_reference" else [mics, reference[None] * (bad.name != "silent_reference")]
    sound = np.vstack(channels)
    return (sound if bad.rate == RATE else resample_poly(sound, bad.rate // 100, RATE // 100, axis=1)), about


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_bad_input_is_told_and_never_stops_the_robot_for_ever(over_the_robot, bad, tmp_path, capsys):
    channels, about = spoilt(over_the_robot, bad)
    folder, out = write_take(tmp_path / "take", over_the_robot, channels, bad.rate, **about), tmp_path / "events.jsonl"
    assert main(["hear", str(folder), "--out", str(out)]) == 0
    assert bad.tells in capsys.readouterr().err
    events = [json.loads(line) for line in out.read_text().splitlines()]
    stops = [event["t"] for event in events if event["kind"] == "barge_in"]
    (person,) = over_the_robot.truth.speech
    false = [t for t in stops if not person.onset <= t < person.end + 1.5]
    assert len(false) <= 1 and all(t < FAULT_AT + SETTLED for t in false)
    if bad.hears:
        assert any(person.onset <= event["t"] <= person.onset + 1.5 for event in events
                   if event["kind"] in ("duck", "barge_in"))
    else:
        assert not stops       # nothing is known to play, so nothing can be interrupted
    assert not (bad.name == "one_microphone" and any(event["kind"] == "direction" for event in events))
