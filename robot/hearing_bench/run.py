"""The whole bench: takes from a folder or drawn, through the ears in every wanted way, figures and a picture out."""
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from perception.audio.ears import EarsConfig
from robot.errors import BadRequest
from robot.hearing_bench.drawn import drawn
from robot.hearing_bench.listening import HeardTake, Recording, Way, listened
from robot.hearing_bench.plans import Plan, plans
from robot.hearing_bench.report import Figures, as_json, figures, markdown
from robot.hearing_bench.sweep import swept
from robot.hearing_bench.truth import read_truth
from robot.take import read_take

BAR = 30                     # characters
TOLD_S = 15.0                # between two lines of progress where no terminal is


@dataclass(frozen=True, slots=True)
class HearingBench:
    """What is asked for. takes: a folder of takes with truth.json; None: drawn ones."""

    out: Path
    takes: Path | None = None
    minutes: float = 20.0
    seed: int = 1
    ceiling: bool = False
    no_telemetry: bool = False
    words: bool = False
    jobs: int = 1
    config: EarsConfig = field(default_factory=EarsConfig)

    def __post_init__(self):
        if self.takes is not None and self.ceiling:
            raise BadRequest("--ceiling: expected drawn takes (no --takes), whose echo is known by itself")
        if not 0 < self.minutes <= 100_000:
            raise BadRequest(f"--minutes {self.minutes:g}: expected more than 0")
        if not 1 <= self.jobs <= 64:
            raise BadRequest(f"--jobs {self.jobs}: expected 1 to 64")

    @property
    def ways(self) -> tuple[Way, ...]:
        return ("as built", *(("perfect canceller",) if self.ceiling else ()),
                *(("no telemetry",) if self.no_telemetry else ()))   # type: ignore[return-value]

    @property
    def source(self) -> str:
        return f"takes of {self.takes}" if self.takes else f"{self.minutes:g} min of drawn takes, seed {self.seed}"


def run(bench: HearingBench) -> int:
    """Everything; figures on standard output, hearing.json and hearing.png in the folder."""
    sources = sources_of(bench)
    try:
        bench.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadRequest(f"--out {bench.out}: expected a folder that can be made: {error.strerror}") from error
    heard: dict[Way, list[HeardTake]] = {way: [] for way in bench.ways}
    for takes in _progress(_heard(bench, sources), sources):
        for way, take in zip(bench.ways, takes, strict=True):
            heard[way].append(take)
    found = {way: figures(takes, swept(takes, bench.config.barge_in)) for way, takes in heard.items()}
    print(markdown(found, bench.source))
    write(found, bench)
    return 0


def write(found: dict[Way, Figures], bench: HearingBench) -> None:
    """hearing.json and hearing.png."""
    from robot.hearing_bench.picture import draw_sweep
    with open(bench.out / "hearing.json", "w", encoding="utf-8") as file:
        json.dump(as_json(found, bench.source), file, indent=1)
        file.write("\n")
    draw_sweep({way: one.sweep for way, one in found.items()}, bench.out / "hearing.png", bench.source)
    print(f"\nmore in {bench.out / 'hearing.json'}, recall against false stops: {bench.out / 'hearing.png'}")


def sources_of(bench: HearingBench) -> list[Path] | list[Plan]:
    """Folders or plans, in order."""
    if bench.takes is None:
        return list(plans(bench.minutes))
    found = sorted(file.parent for file in bench.takes.glob("*/truth.json"))
    if not found:
        raise BadRequest(f"--takes {bench.takes}: expected folders with take.json, audio.wav and truth.json")
    return found


def recording_of(source: Path | Plan, seed: int) -> Recording:
    if isinstance(source, Plan):
        return drawn(source, seed)
    take, truth = read_take(source), read_truth(source / "truth.json")
    return Recording(source.name, truth, take.mic_positions, take.playback_delay_s, take.motion, take.sound())


def heard_in_all_ways(source: Path | Plan, seed: int, config: EarsConfig, ways: Sequence[Way],
                      words: bool) -> list[HeardTake]:
    recording = recording_of(source, seed)
    return [listened(recording, config, way, words) for way in ways]


def _heard(bench: HearingBench, sources: Sequence[Path | Plan]) -> Iterator[list[HeardTake]]:
    """In the order of the sources, however many processes there are."""
    one = partial(heard_in_all_ways, seed=bench.seed, config=bench.config, ways=bench.ways, words=bench.words)
    if bench.jobs == 1:
        yield from map(one, sources)
        return
    with ProcessPoolExecutor(bench.jobs, get_context("spawn")) as pool:
        yield from pool.map(one, sources)


def _progress(heard: Iterator[list[HeardTake]], sources: Sequence[Path | Plan]) -> Iterator[list[HeardTake]]:
    """A bar on a terminal, else a line now and then; both on standard error."""
    began = told = time.monotonic()
    terminal = sys.stderr.isatty()
    for number, takes in enumerate(heard, 1):
        yield takes
        now = time.monotonic()
        left = (now - began) / number * (len(sources) - number)
        text = f"{number}/{len(sources)} {takes[0].name}, {left / 60:.1f} min left"
        if terminal:
            bar = "#" * (BAR * number // len(sources))
            print(f"\r[{bar:{BAR}}] {text:50}", end="" if number < len(sources) else "\n", file=sys.stderr, flush=True)
        elif now - told > TOLD_S or number == len(sources):
            told = now
            print(text, file=sys.stderr, flush=True)
