"""Every figure that a running robot offers to Prometheus: name, kind, meaning, labels, and where its buckets lie.

Names follow https://prometheus.io/docs/practices/naming/: base units, `_total` for what only grows. A bucket's edge
stands where somebody decides something: a limit of the project, the aim, or what people notice.
"""
from dataclasses import dataclass
from typing import Literal

Kind = Literal["counter", "gauge", "histogram"]

# 0.3 s is the limit for the mean; 0.2 s is a pause between people; 8 s is the mind's own patience.
RESPONSE_S = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
# A decision alone takes 0.25 to 1.1 s of pause; over 2 s people ask "are you there?".
ANSWER_S = (0.3, 0.5, 0.7, 0.85, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0)
# From onset: 0.25 / 0.45 s are the aims for half and for most of the stops, 0.45 / 0.8 s the limits.
STOP_S = (0.1, 0.15, 0.2, 0.25, 0.35, 0.45, 0.6, 0.8, 1.0, 1.5, 2.5)
# 0.5 ms is the aim for 99 of 100 ticks, 3 ms the limit, 10 ms a lost tick, 1 s what the supervisor stands.
LATE_S = (0.0001, 0.0002, 0.0005, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
# At 1 a voice cannot be made as fast as it is heard; half leaves room for a second stream.
FACTOR = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 3.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure. A counter's name is written without `_total`, which the exposition adds."""

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


TABLE = (
    Metric("talkover_response_seconds", "histogram", "From a committed turn to the first sound of its answer.",
           buckets=RESPONSE_S),
    Metric("talkover_engine_seconds", "histogram", "The engine's own part of it: from the turn to its first clause.",
           buckets=RESPONSE_S),
    Metric("talkover_answer_seconds", "histogram", "From a person's last word to the first sound of the answer.",
           buckets=ANSWER_S),
    Metric("talkover_duck_seconds", "histogram", "From the onset of a voice to the lowering of the robot's.",
           buckets=STOP_S),
    Metric("talkover_stop_seconds", "histogram", "From the onset of an interruption to the decision to stop.",
           buckets=STOP_S),
    Metric("talkover_events", "counter", "What happened, by the names of the log: duck, release, barge_in, tool, ...",
           ("event",)),
    Metric("talkover_released_ducks", "counter", "The voice was lowered for nothing: a suspect of a false stop."),
    Metric("talkover_resumed_replies", "counter", "A stopped answer went on: the stop was false."),
    Metric("talkover_lost_answers", "counter", "No answer came, or it broke: the robot said so itself."),
    Metric("talkover_ticks", "counter", "Ticks of the mind."),
    Metric("talkover_tick_late_seconds", "histogram", "How late ticks began.", buckets=LATE_S),
    Metric("talkover_busy_seconds", "counter", "Time spent in a stage; its rate is the stage's real-time factor.",
           ("stage",)),
    Metric("talkover_engine_chunk_factor", "histogram", "Time to make a piece of speech, here or at the engine's "
           "server, over the time that it sounds.",
           buckets=FACTOR),
    Metric("talkover_engine_states", "counter", "The engine or its server was ready (again), in trouble, or lost a "
           "turn.", ("state",)),
    Metric("talkover_engine_yields", "counter", "The engine itself gave the floor away in the middle of an answer."),
    Metric("talkover_engine_tokens", "counter", "What the engine's server says that it was asked for; cached: part of "
           "the others.", ("kind",)),
    Metric("talkover_audio_seconds", "counter", "Sound that came from the microphones."),
    Metric("talkover_audio_lost_seconds", "counter", "Sound that was lost on the way."),
    Metric("talkover_pictures", "counter", "Pictures that were looked at."),
    Metric("talkover_queue_length", "gauge", "What waits: blocks, requests, bytes.", ("queue",)),
    Metric("talkover_people", "gauge", "People believed to be there."),
    Metric("talkover_degradation_level", "gauge", "0 full, 1 lean, 2 voice only, 3 safe."),
    Metric("talkover_health", "gauge", "0 ok, 1 degraded, 2 gone.", ("part",)),
    Metric("talkover_health_changes", "counter", "Changes of a part's health, by the new state.", ("part", "level")),
    Metric("talkover_child_deaths", "counter", "Child processes that died.", ("part",)),
    Metric("talkover_servo_temperature_celsius", "gauge", "As the servo says.", ("servo",)),
    Metric("talkover_servo_errors", "counter", "Times a servo was degraded or gone.", ("servo",)),
    Metric("talkover_servo_speed_scale", "gauge", "0..1 of the speed that the warmest servo allows."),
    Metric("talkover_servo_torque", "gauge", "Joints that obey their goals."),
    Metric("talkover_memory_used_ratio", "gauge", "Of the machine or of the service's limit, the fuller one."),
    Metric("talkover_cpu_wait_ratio", "gauge", "Share of the last 10 s in which a process waited for a processor."),
    Metric("talkover_memory_wait_ratio", "gauge", "Share of the last 10 s in which a process waited for memory."),
    Metric("talkover_load_per_core", "gauge", "Runnable processes for each processor, mean of a minute."),
    Metric("talkover_temperature_celsius", "gauge", "The board's hottest zone."),
    Metric("talkover_process_cpu_ratio", "gauge", "Of one core.", ("process",)),
    Metric("talkover_process_memory_bytes", "gauge", "Resident.", ("process",)),
    Metric("talkover_process_open_files", "gauge", "File descriptors.", ("process",)),
)
BY_NAME = {metric.name: metric for metric in TABLE}
