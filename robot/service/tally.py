"""Counts, levels and distributions in plain numbers, and their way through shared memory. No clock, no I/O."""
import json
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from robot.service.metric_table import BY_NAME, TABLE

Key = tuple[str, ...]        # name, then the values of its labels


@dataclass
class Tally:
    """What was counted so far. Nothing grows but by new values of labels, of which there are as many as parts."""

    counters: dict[Key, float] = field(default_factory=dict)
    gauges: dict[Key, float] = field(default_factory=dict)
    histograms: dict[Key, list[float]] = field(default_factory=dict)    # counts by bucket, beyond the last, and the sum

    def __post_init__(self) -> None:
        for metric in TABLE:      # what has not happened yet is 0, not absent: rates and alerts need that
            if metric.labels:
                continue
            if metric.kind == "counter":
                self.counters[(metric.name,)] = 0.0
            elif metric.kind == "histogram":
                self.histograms[(metric.name,)] = [0.0] * (len(metric.buckets) + 2)

    def count(self, name: str, *labels: str, by: float = 1.0) -> None:
        key = (name, *labels)
        self.counters[key] = self.counters.get(key, 0.0) + by

    def set(self, name: str, value: float, *labels: str) -> None:
        self.gauges[(name, *labels)] = value

    def observe(self, name: str, value: float) -> None:
        counts = self.histograms[(name,)]
        counts[bisect_left(BY_NAME[name].buckets, value)] += 1
        counts[-1] += value

    def forget(self, name: str) -> None:
        """A gauge whose labels come and go, as processes do."""
        self.gauges = {key: value for key, value in self.gauges.items() if key[0] != name}

    def packed(self) -> bytes:
        """All of it, for `families`."""
        def rows(values: dict[Key, Any]) -> list[Any]:
            return [[*key, value] for key, value in values.items()]
        return json.dumps([rows(self.counters), rows(self.gauges), rows(self.histograms)],
                          separators=(",", ":")).encode()


def families(packed: bytes) -> Iterable[Any]:
    """Prometheus' metric families of a packed tally; of an empty one, the robot is not up yet."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

    kinds = {"counter": CounterMetricFamily, "gauge": GaugeMetricFamily, "histogram": HistogramMetricFamily}
    made = {m.name: kinds[m.kind](m.name, m.meaning, labels=m.labels) for m in TABLE}
    counters, gauges, histograms = json.loads(packed) if packed else ([], [], [])
    for name, *labels, value in (*counters, *gauges):
        made[name].add_metric(labels, value)
    for name, *labels, counts in histograms:
        edges, total, buckets = (*map(str, BY_NAME[name].buckets), "+Inf"), 0.0, []
        for edge, count in zip(edges, counts[:-1], strict=True):
            total += count
            buckets.append((edge, total))
        made[name].add_metric(labels, buckets, counts[-1])
    return made.values()
