"""Takes drawn from the product's own simulated room, levels set exactly, the echo known by itself.

    recording = drawn(plan, seed)

Rooms, places, voices, loudspeakers, gears, delays and levels are drawn anew for each (seed, name of the take).
"""
from zlib import crc32

import numpy as np

from calibration.body_model import reachy_mini
from perception.audio.block import BLOCK, SAMPLE_RATE_HZ, Samples
from robot.bodies.room.loudspeaker import NOMINAL_DBFS
from robot.bodies.room.noises import NoiseKind
from robot.bodies.room.people import PersonScript
from robot.bodies.room.room import Room, Utterance
from robot.bodies.room.voices import active_level, spoken
from robot.hearing_bench.lines import BACKCHANNELS, PEOPLE_VOICES, ROBOT_VOICES, person_says, robot_says
from robot.hearing_bench.listening import Recording
from robot.hearing_bench.places import drawn_person, drawn_room
from robot.hearing_bench.plans import Plan
from robot.hearing_bench.stage import REST, Looks, Mechanics, play
from robot.hearing_bench.truth import Noise, Slip, Speech, Truth
from robot.take_sound import Sound

ECHO_DBFS = (-46.0, -30.0)   # active level at the microphones: small loudspeakers at low and at full volume
SELF_NOISE_DBFS = -84.0      # of a MEMS capsule with 64 dB SNR and its board
DELAY_ERROR_S = 0.02         # contract: the nominal delay may be so wrong
MOST_MOTORS_OVER_ECHO_DB = 8.0
PAUSE_S = 0.3                # shorter silence of the robot's voice belongs to its speech
NOISE_S: dict[NoiseKind, float] = {"knock": 0.7, "cough": 0.6, "music": 3.2, "babble": 4.0}
SENTENCES = {"talker": 2, "talker_sweep": 3}      # in a row: a sweep wants a long talker


def drawn(plan: Plan, seed: int) -> Recording:
    """One take with its truth."""
    rng = np.random.default_rng([seed, crc32(plan.name.encode())])
    body, config = reachy_mini(), drawn_room(rng, plan)
    robot_voice = str(rng.choice(ROBOT_VOICES))
    voice = str(rng.choice([name for name in PEOPLE_VOICES if name != robot_voice]))
    person = drawn_person(rng, config.sound.box, "anna")
    room = Room(config, body, [person], int(rng.integers(2**31)))
    room.turn_head(REST)
    reference = _reference(rng, plan, robot_voice)
    mechanics = Mechanics(body, Looks(plan, rng), int(rng.integers(2**31))) if plan.moves else None
    noises = _tell(rng, plan, room, voice)
    played = play(room, reference, mechanics)
    gains = _gains(rng, plan, {stem: active_level(sound[0]) for stem, sound in played.stems.items()})
    parts = {stem: sound * np.float32(gains[stem]) for stem, sound in played.stems.items()}
    noise = rng.standard_normal(parts["near"].shape, dtype=np.float32) * np.float32(10 ** (SELF_NOISE_DBFS / 20))
    sound = Sound(np.clip(sum(parts.values()) + noise, -1, 1).astype(np.float32), reference)
    levels = {stem: active_level(part[0]) for stem, part in parts.items()}
    delay = max(0.0, config.sound.loudspeaker.playback_delay_s + rng.uniform(-DELAY_ERROR_S, DELAY_ERROR_S))
    truth = _truth(plan, room, person, robot_voice, noises, _spans(reference), levels)
    return Recording(plan.name, truth, body.mic_positions, float(delay) if plan.speaks else None, played.motion, sound,
                     parts["echo"])


def _reference(rng: np.random.Generator, plan: Plan, voice: str) -> Samples:
    """(n,) that goes to the loudspeaker, whole blocks."""
    out = np.zeros(round(plan.seconds * SAMPLE_RATE_HZ) // BLOCK * BLOCK, np.float32)
    if plan.speaks:
        begin = round(rng.uniform(0.3, 1.0) * SAMPLE_RATE_HZ)
        said = robot_says(rng, voice, plan.seconds) * np.float32(10 ** ((NOMINAL_DBFS + rng.uniform(-6, 4)) / 20))
        out[begin:] = np.clip(said[:out.size - begin], -1, 1)
    return out


def _spans(reference: Samples) -> tuple[tuple[float, float], ...]:
    """(start, end) in s of the robot's speech."""
    loud = np.flatnonzero(np.abs(reference) > 1e-3)
    if not loud.size:
        return ()
    cuts = np.flatnonzero(np.diff(loud) > PAUSE_S * SAMPLE_RATE_HZ)
    starts, ends = loud[np.r_[0, cuts + 1]], loud[np.r_[cuts, loud.size - 1]]
    seconds = np.round(np.stack([starts, ends], axis=1) / SAMPLE_RATE_HZ, 2)
    return tuple((float(start), float(end)) for start, end in seconds)


def _tell(rng: np.random.Generator, plan: Plan, room: Room, voice: str) -> tuple[Noise, ...]:
    """Tell the room what people say and what else sounds; the noises with their times."""
    anna = room.person("anna")
    for number in range(plan.people):
        at = plan.seconds * (number + rng.uniform(0.3, 0.6)) / plan.people if plan.speaks else rng.uniform(0.8, 1.5)
        texts, sounds = zip(*person_says(rng, voice, SENTENCES.get(plan.kind, 1)), strict=True)
        room_left = round((plan.seconds - at - 0.3) * SAMPLE_RATE_HZ)
        anna.say(float(at), np.concatenate(sounds)[:room_left], text=", ".join(texts))
    if plan.kind != "distractor":
        return ()
    told = []
    for slot, name in enumerate(rng.permutation([*NOISE_S, "backchannel"])):
        at = float(plan.seconds * (0.1 + 0.18 * slot) + rng.uniform(-0.3, 0.3))
        if name == "backchannel":
            anna.say(at, spoken(str(rng.choice(BACKCHANNELS)), voice), text="<backchannel>")
        else:
            room.noise(at, name, for_s=NOISE_S[name])
            told.append(Noise(str(name), at, at + NOISE_S[name], name != "babble"))
    return tuple(told)


def _gains(rng: np.random.Generator, plan: Plan, level: dict[str, float]) -> dict[str, float]:
    """Factors of the stems, so that their active levels at microphone 0 stand as the plan wants."""
    def to(stem: str, dbfs: float) -> float:
        return 10 ** (dbfs / 20) / level[stem] if level[stem] > 0 else 0.0

    if plan.kind == "distractor":
        return dict.fromkeys(level, to("echo", rng.uniform(*ECHO_DBFS)))
    echo = rng.uniform(*ECHO_DBFS)
    near = echo + plan.level_db if plan.speaks else rng.uniform(-40, -28)
    ambient = echo - rng.uniform(30, 45) if plan.speaks else near - plan.level_db
    if plan.kind in ("talker_sweep", "moving_silent"):
        motors = near - rng.uniform(5, 15)
    elif plan.people:
        motors = min(near + rng.uniform(-5, 15), echo + MOST_MOTORS_OVER_ECHO_DB)
    else:
        motors = echo + rng.uniform(-12, MOST_MOTORS_OVER_ECHO_DB)
    return {"echo": to("echo", echo), "near": to("near", near), "ambient": to("ambient", ambient),
            "motors": to("motors", motors)}


def _truth(plan: Plan, room: Room, person: PersonScript, robot_voice: str, noises: tuple[Noise, ...],
           spans: tuple[tuple[float, float], ...], levels: dict[str, float]) -> Truth:
    def speech(said: Utterance) -> Speech:
        return Speech(said.onset, said.end, person.azimuth, said.text != "<backchannel>",
                      plan.level_db if plan.speaks else None, None if plan.speaks else plan.level_db, said.text)

    device = room.config.sound.loudspeaker
    slips = tuple(Slip(t) for t, _ in device.slips) + ((Slip(0.0, True),) if device.drift_ppm else ())
    over = 20 * np.log10(levels["motors"] / levels["near"]) if plan.moves and plan.people else None
    return Truth(plan.kind, plan.seconds, plan.moves, spans, tuple(speech(said) for said in room.utterances), noises,
                 slips, robot_voice if plan.speaks else "none", over)
