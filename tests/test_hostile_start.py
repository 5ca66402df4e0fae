"""Started by somebody who left the surroundings in a state: foreign folders, closed streams, no home."""
import os
import subprocess
import sys

import pytest

from robot.channel import command_of
from robot.errors import BadRequest
from robot.live_config import LiveConfig
from robot.places import state_folder
from robot.service.log import Log, LogConfig
from robot.service.notify import Notify, Supervision
from robot.service.reload import READ_S, Reload
from robot.service.serving import supervised
from tests.service_ends import Kept, inputs_of, tick_of

LIMIT_S = 60.0


def test_a_child_takes_no_module_from_the_folder_that_somebody_stands_in(tmp_path, monkeypatch):
    """Robot Framework projects have a folder of this name, too."""
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "__init__.py").write_text("raise SystemExit('foreign')")
    (tmp_path / "secrets.py").write_text("raise SystemExit('foreign')")
    monkeypatch.chdir(tmp_path)
    command = command_of("robot.worker_child", "0", "nothing:at_all")
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
                           check=False)
    assert "foreign" not in ended.stderr and "non-socket" in ended.stderr      # our own child, up to its socket


def test_a_deleted_folder_stops_no_child_from_being_started(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        assert command_of("robot.worker_child")[1:3] == ["-P", "-m"]
    finally:
        os.chdir(tmp_path)


def test_closed_streams_are_opened_so_that_nothing_else_takes_their_numbers(tmp_path):
    told = tmp_path / "told"
    program = ("import os; from robot.__main__ import open_streams; open_streams(); "
               f"open({str(told)!r}, 'w').write(' '.join(os.readlink(f'/proc/self/fd/{{n}}') for n in range(3)))")
    done = subprocess.run(["sh", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', sys.executable, program], timeout=LIMIT_S,
                          check=False)
    assert done.returncode == 0 and told.read_text().split() == [os.devnull] * 3


def test_without_a_home_the_request_is_refused_in_words(monkeypatch):
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)       # a user that the system does not list
    with pytest.raises(BadRequest, match="expected HOME or XDG_STATE_HOME"):
        state_folder({})
    assert str(state_folder({"XDG_STATE_HOME": "/s"})) == "/s/talkover"


def test_the_journal_of_a_terminal_is_not_ours():
    """A desktop's terminal is a service itself and hands its JOURNAL_STREAM down to what is typed there."""
    status = os.fstat(1)
    assert not supervised({"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino + 1}"})
    assert supervised({"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"})


def test_a_configuration_that_is_never_read_ends_the_reload(tmp_path):
    """The service manager waits for READY after RELOADING; here the file has become a pipe that nobody writes."""
    path = tmp_path / "talkover.toml"
    os.mkfifo(path)
    sink = Kept()
    reload = Reload(path, LiveConfig(), Log(sink, LogConfig()), Supervision(Notify(), lambda: 0.0, lambda: False))
    reload.ask()
    for t in (0.0, READ_S, READ_S + 0.01):
        assert not sink.lines
        reload(inputs_of(t), tick_of())
    (_, said, _), = sink.lines
    assert "nothing is changed" in said and str(path) in said and reload.reader.pid is None
