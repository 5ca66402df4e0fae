"""What a tick leaves in a box that may keep no sound: plain values, and the JSON schemas they are written with."""
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calibration.body_model import JOINTS
from dialogue.events import Event

if TYPE_CHECKING:              # what they need is loaded in the run, not in the box's small process
    from robot.tick import Inputs, Tick

Facts = dict[str, dict[str, Any]]            # by channel
EVERY = 10                                   # ticks: 10 Hz
PLAIN = ("of", "level", "kind", "step", "state", "cue", "name", "person", "part")   # texts that hold nobody's words
REASONS = ("health", "engine")               # events whose reason is the machine's own

_NUMBER = {"type": ["number", "null"]}
_TEXT = {"type": "string"}
_NUMBERS = {"type": "array", "items": _NUMBER}


def _schema(title: str, **properties: Any) -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "type": "object",
            "properties": {"t": {"type": "number", "description": "s since the start of the run"}, **properties}}


_PERSON = {"type": "object", "properties": {"id": _TEXT, "azimuth_rad": _NUMBER, "elevation_rad": _NUMBER,
                                            "distance_m": _NUMBER, "attention": _NUMBER,
                                            "speaking": {"type": "boolean"}}}
SCHEMAS: Mapping[str, dict[str, Any]] = {
    "events": _schema("event", name=_TEXT, facts={"type": "object"}),
    "health": _schema("health", part=_TEXT, level={"enum": ["ok", "degraded", "gone"]}, reason=_TEXT),
    "scene": _schema("scene", floor=_TEXT, mode=_TEXT, speech={"type": "boolean"}, duck={"type": "boolean"},
                     evidence_log_odds=_NUMBER, motors=_NUMBER, azimuth_rad=_NUMBER, mirror_azimuth_rad=_NUMBER,
                     people={"type": "array", "items": _PERSON}),
    "joints": _schema("joints", **{f"{kind}_rad": {"type": "object", "properties": dict.fromkeys(JOINTS, _NUMBER)}
                                   for kind in ("goal", "measured")}, torque={"type": "boolean"}),
    "levels": _schema("levels", mics_dbfs=_NUMBERS, reference_dbfs=_NUMBER, clean_dbfs=_NUMBER),
}


def facts_of(inputs: "Inputs", tick: "Tick") -> Facts:
    """Scene, joints and levels of one tick."""
    sound, goal, reading = tick.sound, tick.outputs.joints, inputs.joints
    bearing = sound.bearing
    people = [{"id": p.id, "azimuth_rad": p.azimuth, "elevation_rad": p.elevation, "distance_m": p.distance,
               "attention": p.attention, "speaking": p.speaking} for p in tick.people]
    scene = {"t": inputs.t, "floor": tick.floor, "mode": tick.intent.mode, "speech": sound.speech, "duck": sound.duck,
             "evidence_log_odds": _finite(sound.evidence), "motors": _finite(sound.motors),
             "azimuth_rad": None if bearing is None else bearing.azimuth,
             "mirror_azimuth_rad": None if bearing is None else bearing.mirror, "people": people}
    joints = {"t": inputs.t, "goal_rad": _joints(None if goal is None else goal.position),
              "measured_rad": _joints(None if reading is None else reading.position),
              "torque": goal is not None and goal.torque}
    block = inputs.audio[-1] if inputs.audio else None
    levels = {"t": inputs.t, "mics_dbfs": [] if block is None else [_level(mic) for mic in block.mics],
              "reference_dbfs": None if block is None else _level(block.reference), "clean_dbfs": sound.level_db}
    return {"scene": scene, "joints": joints, "levels": levels}


def event_facts(event: Event, words: bool) -> dict[str, Any]:
    """An event as JSON; without `words` a text that somebody may have said becomes its length."""
    def shown(name: str, value: Any) -> Any:
        if isinstance(value, bool | None):
            return value
        if isinstance(value, int | float | np.generic):
            return _finite(float(value))
        if words or (isinstance(value, str) and (name in PLAIN or (name == "reason" and event.name in REASONS))):
            return str(value)
        return f"({len(str(value))} letters)"

    return {"t": event.t, "name": event.name, "facts": {name: shown(name, value) for name, value in event.facts}}


def _joints(values: Any) -> dict[str, float | None]:
    return {} if values is None else {name: _finite(float(v)) for name, v in zip(JOINTS, values, strict=False)}


def _level(samples: Any) -> float:
    power = float(np.mean(np.square(samples)))
    return 10 * math.log10(power + 1e-12) if math.isfinite(power) else 0.0


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
