"""`talkover demo`: the main job in the simulated room, in one continuous scene, as fast as the machine allows."""
import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from robot.commands.arguments import writable_folder
from robot.config import header_of
from robot.interaction.demo import behaviours, demo_scenario, figures
from robot.interaction.recording import write_stereo
from robot.interaction.runner import Run, run_scenario
from robot.interaction.timeline_picture import draw_timeline
from robot.runtime import GuardedMind, Observer
from robot.tape import TapeWriter
from robot.tick import Inputs, Tick

SHOWN = {"speech_start", "duck", "release", "barge_in", "reply_start", "reply_end", "turn_committed", "cue",
         "transcript", "reply_resumed", "health", "engine"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("out/demo"), metavar="DIR",
                        help="where demo.wav, timeline.png and the tape go (default out/demo)")
    parser.add_argument("--seed", type=int, default=1, help="of the room, the robot's motors and its idle looks")
    parser.add_argument("--quiet", action="store_true", help="only the verdicts and figures")


def run(options: argparse.Namespace) -> int:
    writable_folder(options.out)
    began = time.monotonic()
    played = played_demo(options.seed, options.out, options.quiet)
    trace = played.result.trace
    write_stereo(played.sound[:, 0], played.sound[:, 1], options.out / "demo.wav")
    draw_timeline(trace, options.out / "timeline.png", f"talkover demo, seed {options.seed}")
    found = behaviours(trace)
    print()
    for behaviour in found:
        print(f"{'ok  ' if behaviour.ok else 'FAIL'}  {behaviour.name}\n      {behaviour.happened}")
    for outcome in played.result.outcomes:
        if not outcome.ok:
            print(f"FAIL  {outcome.text}")
    print("\n" + "\n".join(figures(trace)))
    took = time.monotonic() - began
    print(f"{'speed':38} {trace.end:.0f} s of life in {took:.0f} s\n"
          f"listen to {options.out / 'demo.wav'}, look at {options.out / 'timeline.png'}, "
          f"replay with: talkover replay {options.out} --verify")
    return 0 if all(b.ok for b in found) and played.result.ok else 1


def played_demo(seed: int, folder: Path, quiet: bool) -> Run:
    """The scene, with a tape of it in the folder."""
    tapes: list[TapeWriter] = []

    def watch(mind: GuardedMind) -> Iterable[Observer]:
        tapes.append(TapeWriter(folder, header_of(mind.config)))
        return (tapes[0],) if quiet else (tapes[0], told)

    try:
        return run_scenario(demo_scenario(), "embedded", seed, watch)
    finally:
        for tape in tapes:
            tape.close()


def told(inputs: Inputs, tick: Tick) -> None:
    """An observer that prints what happens, or how far the scene is when nobody reads along."""
    for event in tick.events:
        if event.name in SHOWN:
            facts = " ".join(f"{k}={v:.2f}" if isinstance(v, float) else f"{k}={v}" for k, v in event.facts)
            print(f"{event.t:7.2f} s  {event.name:15} {facts}", flush=True)
    if inputs.index % 500 == 0 and sys.stdout.isatty():
        print(f"{inputs.t:7.0f} s  {tick.floor}", end="\r", flush=True)
