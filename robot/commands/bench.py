"""`talkover bench`: the project's own figures, from whole runs in the simulated room."""
import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tick", action="store_true", help="compute time of a tick by stage, speed of the simulation")
    parser.add_argument("--answers", action="store_true", help="last word to first audio with the engine's true cost")
    parser.add_argument("--demo", type=int, metavar="SEEDS", help="the demo over so many seeds")
    parser.add_argument("--alone", type=int, metavar="SEEDS", help="self-interruptions while speaking and moving")
    parser.add_argument("--minutes", type=float, default=10.0, help="of each --alone run (default 10)")
    parser.epilog = "Without options: --tick and --answers."


def run(options: argparse.Namespace) -> int:
    from robot.service import figures
    chosen = options.tick or options.answers or options.demo or options.alone
    if options.tick or not chosen:
        print("\n".join(figures.tick_figures()), flush=True)
    if options.answers or not chosen:
        print("\n".join(figures.answer_figures()), flush=True)
    if options.demo:
        print("\n".join(figures.demo_figures(options.demo)), flush=True)
    if options.alone:
        print("\n".join(figures.alone_figures(options.minutes, options.alone)), flush=True)
    return 0
