"""Loops for the test of device processes, made by name in the child."""
import os
import sys
import time


class Counting:
    """Tells its number, its process and its orders."""

    period_s = 0.01

    def __init__(self, settings):
        self.settings, self.count = settings, 0

    def step(self, t, orders):
        self.count += 1
        if "die" in orders:
            os._exit(7)
        return [(self.count, os.getpid(), t), *orders]

    def close(self):
        with open(self.settings, "a", encoding="utf-8") as file:
            file.write("closed\n")


class Hanging(Counting):
    """Comes up and never returns from its second step."""

    def step(self, t, orders):
        if self.count:
            time.sleep(1000)
        return super().step(t, orders)


class Broken:
    """Never gets as far as a step."""

    def __init__(self, path: str):
        sys.exit(9)
