"""The core of the engine `realtime` on a line to a fake server, for tests."""

from dialogue.engines.realtime.config import RealtimeConfig
from dialogue.engines.realtime.session import RealtimeSession
from tests.engine_bench import Line
from tests.fake_realtime import Faults, Server

LOCAL = RealtimeConfig(local_words=False)


def line(server=None, config=LOCAL, recogniser=None, **faults):
    server = server or Server(faults=Faults(**faults))
    return Line(RealtimeSession(config, recogniser), server)


def finished(bench):
    bench.deliver(bench.server.finish())
    bench.listen(3.0)
    return bench
