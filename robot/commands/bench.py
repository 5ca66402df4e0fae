"""`talkover bench`: the project's own figures, from whole runs in the simulated room or from recorded takes."""
import argparse
from pathlib import Path

from robot.commands.arguments import count, hours, minutes, processes, seconds

ALONE_MINUTES, HEARING_MINUTES = 10.0, 20.0
BUS_SECONDS = 10.0
IDLE_SECONDS = 60.0
FLOOR_STORIES, CORRECTIONS = 8, 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tick", action="store_true", help="compute time of a tick by stage, speed of the simulation")
    parser.add_argument("--answers", action="store_true", help="last word to first audio with the engine's true cost")
    parser.add_argument("--demo", type=count, metavar="SEEDS", help="the demo over so many seeds")
    parser.add_argument("--alone", type=count, metavar="SEEDS", help="self-interruptions while speaking and moving")
    parser.add_argument("--listening", type=count, metavar="SEEDS", help="people over the moving robot, with and "
                        "without active listening; twelve interruptions a seed, about 2.5 minutes of one core")
    parser.add_argument("--floor", type=count, metavar="SEEDS", help="who gets the floor and how fast: interruptions, "
                        "stop words, murmurs, pauses in mid-sentence; eight stories a seed")
    parser.add_argument("--corrections", type=count, metavar="SEEDS", help="people who take back what they said: wrong "
                        "words heard, wrong things done; twenty requests a seed")
    parser.add_argument("--minutes", type=minutes,
                        help=f"of each --alone run (default {ALONE_MINUTES:g}), of all --hearing takes together "
                             f"(default {HEARING_MINUTES:g})")
    parser.add_argument("--live", type=minutes, metavar="MINUTES", help="the whole robot in real time on a private "
                        "PulseAudio, with a room played into its microphones: onset to silence, lost sound")
    _add_machine(parser)
    _add_hearing(parser)


def _add_machine(parser: argparse.ArgumentParser) -> None:
    bus = parser.add_argument_group("servo bus", "nine emulated servos and the real servo process")
    bus.add_argument("--bus", type=seconds, nargs="?", const=BUS_SECONDS, metavar="SECONDS", help="bus cycle and its "
                     "lateness on a pty, idle and on a busy machine, with and without real-time priority, beside the "
                     f"official SDK's loop; so long each (default {BUS_SECONDS:g})")
    bus.add_argument("--faults", type=hours, metavar="HOURS", help="random faults in virtual time, at a realistic and "
                     "at a hostile rate: jumps, torque lost by our hand, crashes; an hour takes about 3 minutes")
    service = parser.add_argument_group("service", "what lasts and what heals")
    service.add_argument("--kills", action="store_true", help="each child process is killed while the robot speaks, "
                         "live in the simulated room with emulated servos; about a minute")
    service.add_argument("--idle", type=seconds, nargs="?", const=IDLE_SECONDS, metavar="SECONDS", help="processor and "
                         "memory of each process while nobody speaks, in real time on a private PulseAudio with "
                         f"emulated servos; so long after the start (default {IDLE_SECONDS:g})")
    service.add_argument("--soak", type=hours, metavar="HOURS", help="hours of guests, interruptions and failing "
                         "devices in virtual time: drift of latency, memory, files; 2 to 3 x real time a job")
    service.add_argument("--pictures", action="store_true", help="the soak draws ten pictures a second, not 3")


def _add_hearing(parser: argparse.ArgumentParser) -> None:
    hearing = parser.add_argument_group("hearing", "who is heard over the robot's voice and motors")
    hearing.add_argument("--hearing", action="store_true", help="the table of hearing, with a picture and hearing.json")
    hearing.add_argument("--takes", type=Path, metavar="DIR", help="takes with truth.json (default: drawn ones)")
    hearing.add_argument("--seed", type=int, default=1,
                         help="of the drawn takes, the faults, the soak; the first of --floor (default 1)")
    hearing.add_argument("--ceiling", action="store_true", help="the same drawn takes without the robot's echo")
    hearing.add_argument("--no-telemetry", action="store_true", help="the same takes without commanded speeds")
    hearing.add_argument("--words", action="store_true",
                         help="word errors of the default recogniser, where the text is known")
    hearing.add_argument("--jobs", type=processes, default=1, help="processes (default 1; speed figures want 1)")
    hearing.add_argument("--out", type=Path, default=Path("out/hearing"), metavar="DIR",
                         help="for hearing.json and hearing.png (default out/hearing)")
    hearing.add_argument("--set", metavar="KEY=VALUE", action="append", default=[],
                         help="a setting of the hearing stages, such as barge_in.stop_at=5")


def run(options: argparse.Namespace) -> int:
    if options.hearing:
        from robot.commands.hear import config_with
        from robot.hearing_bench.run import HearingBench
        from robot.hearing_bench.run import run as run_hearing
        return run_hearing(HearingBench(
            options.out, options.takes, HEARING_MINUTES if options.minutes is None else options.minutes, options.seed,
            options.ceiling, options.no_telemetry, options.words, options.jobs, config_with(options.set)))
    if options.bus is not None or options.faults is not None:
        return _bus(options)
    if options.kills or options.soak is not None or options.idle is not None:
        return _service(options)
    if options.live:
        from robot.rig.live_bench import live_figures
        print("\n".join(live_figures(options.live, options.seed, lambda line: print(line, flush=True))), flush=True)
        return 0
    from robot.service import figures
    if options.listening:
        from robot.service.listening_figures import listening_figures
        print("\n".join(listening_figures(options.listening)), flush=True)
        return 0
    if options.floor:
        from robot.service.floor_figures import floor_figures
        print("\n".join(floor_figures(options.floor, FLOOR_STORIES, options.jobs, options.seed)), flush=True)
        return 0
    if options.corrections:
        from robot.service.correction_figures import correction_figures
        print("\n".join(correction_figures(options.corrections, CORRECTIONS, options.seed)), flush=True)
        return 0
    chosen = options.tick or options.answers or options.demo or options.alone
    if options.tick or not chosen:
        print("\n".join(figures.tick_figures()), flush=True)
    if options.answers or not chosen:
        print("\n".join(figures.answer_figures()), flush=True)
    if options.demo:
        print("\n".join(figures.demo_figures(options.demo)), flush=True)
    if options.alone:
        minutes = ALONE_MINUTES if options.minutes is None else options.minutes
        print("\n".join(figures.alone_figures(minutes, options.alone)), flush=True)
    return 0


def _service(options: argparse.Namespace) -> int:
    if options.idle is not None:
        from robot.service.idle_figures import idle_figures
        print("\n".join(idle_figures(options.idle)), flush=True)
    if options.kills:
        from robot.service.kill_figures import kill_figures
        print("\n".join(kill_figures()), flush=True)
    if options.soak is not None:
        from robot.service.soak import ALL_PICTURES, LEAN_PICTURES, SoakPlan, soak_figures
        pictures = ALL_PICTURES if options.pictures else LEAN_PICTURES
        plan = SoakPlan(options.soak, options.seed, options.jobs, pictures=pictures)
        lines, held = soak_figures(plan)
        print("\n".join(lines), flush=True)
        return 0 if held else 1
    return 0


def _bus(options: argparse.Namespace) -> int:
    from robot.service.bus_figures import bus_figures, fault_figures
    if options.bus is not None:
        for line in bus_figures(options.bus):
            print(line, flush=True)
    if options.faults is not None:
        for line in fault_figures(options.faults, options.seed):
            print(line, flush=True)
    return 0
