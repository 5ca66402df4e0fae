"""The table of `talkover bench --idle`; the run itself needs a sound server and half a minute."""
import os

import numpy as np
import pytest

from robot.service.idle_figures import NOISE_DBFS, Cost, _memory, room_noise, summary


@pytest.mark.parametrize(("cpu", "pss", "verdicts"), [
    (0.10, 500e6, ("aim met", "aim met")), (0.30, 700e6, ("must met", "must met")),
    (0.36, 901e6, ("must MISSED", "must MISSED"))])
def test_all_processes_together_are_held_against_must_and_aim(cpu, pss, verdicts):
    costs = [Cost("mind", 0.75 * cpu, int(pss), int(0.6 * pss)), Cost("sound", 0.25 * cpu, int(pss), int(0.4 * pss))]
    *_, processor, memory = summary(costs, 60, 0.1)
    assert verdicts[0] in processor and verdicts[1] in memory


def test_memory_is_told_in_bytes_and_shared_pages_count_in_parts():
    rss, pss = _memory(os.getpid())
    assert 10e6 < pss <= rss < 4e9


def test_the_room_hums_on_all_microphones_as_loud_as_it_should():
    noise = room_noise(3.0)
    level = 20 * np.log10(noise.astype(float).std(axis=0) / 32768)
    assert noise.shape[0] >= 48000 and np.allclose(level, NOISE_DBFS, atol=1.0)
