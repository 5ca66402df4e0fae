"""The file of what people told: nothing kept is lost, whatever happens to the process, the disk or the file."""
import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from dialogue.book import Book, files_of
from dialogue.memory import Memory
from tests.memory_bench import Words

WRITES = """
import sys
from pathlib import Path
from dialogue.book import Book
from dialogue.memory import Memory
memory = Memory(Book(Path(sys.argv[1])))
memory.introduce("person_1", "Anna")
for number in range(100000):
    memory.learn("person_1", f"fact {number} " + 150 * "x")
    print(number, flush=True)
"""


def facts(path):
    with closing(Book(path)) as book:
        assert not book.trouble and not book.aside
        return [fact for (fact,) in book.read("SELECT fact FROM facts ORDER BY id")]


def told(path, *texts):
    with closing(Book(path)) as book:
        memory = Memory(book)
        memory.introduce("person_1", "Anna")
        for text in texts:
            memory.learn("person_1", text)


def test_a_kill_in_mid_write_loses_nothing_that_was_told_to_be_kept(tmp_path):
    path = tmp_path / "memory.sqlite3"
    for enough in (1, 7, 30):
        child = subprocess.Popen([sys.executable, "-c", WRITES, str(path)], stdout=subprocess.PIPE, text=True)
        for line in child.stdout:
            if int(line) >= enough:
                break
        child.send_signal(signal.SIGKILL)
        last = int((child.stdout.read().split() or [line])[-1])
        child.wait()
        child.stdout.close()
        kept = facts(path)
        assert len(kept) <= 2 * 200 and any(fact.startswith(f"fact {last} ") for fact in kept)
        with closing(sqlite3.connect(path)) as file:
            assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_kill_before_the_first_change_leaves_a_file_or_none(tmp_path):
    path = tmp_path / "memory.sqlite3"
    path.with_name("memory.sqlite3.new").write_bytes(b"half a file")
    told(path, "I like tea")
    assert facts(path) == ["I like tea"] and not path.with_name("memory.sqlite3.new").exists()
    assert path.stat().st_mode & 0o077 == 0


def test_a_full_disk_is_told_keeps_what_was_there_and_heals(tmp_path):
    path = tmp_path / "memory.sqlite3"
    told(path, "I like tea")
    words = Words(path)
    words.say("My name is Anna."), words.say("Yes.")
    assert words.health == []
    file, memory = words.memory.book._file, words.memory
    pages = file.execute("PRAGMA page_count").fetchone()[0]
    file.execute(f"PRAGMA max_page_count = {pages}")                   # SQLite's own "database or disk is full"
    for number in range(60):
        memory.learn("person_1", f"my box {number} holds " + 100 * "x")
    words.say("I like coffee.")
    answer = words.say("What do I like?")
    assert "tea" in answer and "coffee" in answer                      # it goes on with both
    (level, reason), = words.health                                    # told once
    assert level == "degraded" and "full" in reason and str(path) in reason
    with closing(sqlite3.connect(path)) as other:
        on_disk = {fact for (fact,) in other.execute("SELECT fact FROM facts")}
    assert "I like tea" in on_disk and "I like coffee" not in on_disk
    file.execute("PRAGMA max_page_count = 100000")                     # room again
    words.say("What time is it?")
    assert [level for level, _ in words.health] == ["degraded", "ok"]
    words.close()
    kept = facts(path)
    assert kept[0] == "I like tea" and kept[-1] == "I like coffee" and len(kept) == 62


FULL = """
import resource, sys
from pathlib import Path
from dialogue.book import Book
from dialogue.memory import Memory
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
memory = Memory(Book(Path(sys.argv[1])))
memory.introduce("person_1", "Anna")
memory.learn("person_1", "I like coffee")
print(memory.book.trouble)
print([fact.text for fact in memory.facts("person_1")])
"""


@pytest.mark.parametrize("limit", [0, 5000, 20000])
def test_a_disk_that_takes_no_more_bytes_costs_only_what_is_new(tmp_path, limit):
    """The kernel's own refusal (EFBIG), at several places: creating the file, its log, a checkpoint."""
    path = tmp_path / "memory.sqlite3"
    if limit:
        told(path, "I like tea")
    done = subprocess.run([sys.executable, "-c", FULL, str(path), str(limit)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "kept in memory until it can be written" in done.stdout and "I like coffee" in done.stdout
    assert facts(path) == (["I like tea"] if limit else [])


def overwritten(path, at, data):
    whole = path.read_bytes()
    path.write_bytes(whole[:at] + data + whole[at + len(data):])


@pytest.mark.parametrize(("damage", "named"), [
    (lambda path: path.write_bytes(b"not a database, but long enough to be one" * 10), "expected a SQLite file"),
    (lambda path: overwritten(path, 60, b"\0\0\0\x09"), "version 9, expected 1"),
    (lambda path: overwritten(path, 68, b"abcd"), "another program"),
    (lambda path: path.write_bytes(path.read_bytes()[:100] + os.urandom(5000)), "broken|malformed"),
    (lambda path: path.write_bytes(path.read_bytes()[:6000]), "broken|malformed"),
    (lambda path: overwritten(path, 2 * 4096 + 3, b"\0\x07"), "broken: [Oo]n tree"),
    (lambda path: path.write_bytes(b""), "expected a SQLite file"),
])
def test_an_unfit_file_is_put_aside_as_it_is(tmp_path, damage, named):
    path = tmp_path / "memory.sqlite3"
    told(path, "I like tea")
    damage(path)
    before = path.read_bytes()
    words = Words(path)
    words.say("My name is Bo.")
    (level, reason), = words.health
    assert level == "degraded" and re.search(named, reason) and "\n" not in reason
    assert "kept as memory.sqlite3.kept-1" in reason
    words.close()
    with closing(Book(path)) as book:
        assert book.aside == "" and book.read("SELECT name FROM people") == [("Bo",)]
    assert path.with_name("memory.sqlite3.kept-1").read_bytes() == before
    path.write_bytes(b"again")
    with closing(Book(path)) as book:
        assert "it was kept as memory.sqlite3.kept-2, and memory begins anew" in book.aside and str(path) in book.aside
    assert len(files_of(path)) >= 3


def test_what_was_put_aside_is_said_once(tmp_path):
    path = tmp_path / "memory.sqlite3"
    path.write_bytes(b"?")
    words = Words(path)
    words.say("Hello."), words.say("Hello.")
    assert len(words.health) == 1
    words.close()


def test_a_place_where_nothing_can_be_written_is_told_and_taken_when_it_can(tmp_path):
    place = tmp_path / "state"
    place.write_text("a file where the folder should be")
    words = Words(place / "memory.sqlite3")
    words.say("My name is Anna."), words.say("I like tea.")
    assert "kept in memory" in words.memory.book.trouble and "like tea" in words.say("What do I like?")
    place.unlink()
    words.say("What do I like?")
    assert words.memory.book.trouble == ""
    words.close()
    assert facts(place / "memory.sqlite3") == ["I like tea"]


def test_what_another_program_deletes_is_gone_at_once(tmp_path):
    path = tmp_path / "memory.sqlite3"
    words = Words(path)
    words.say("I like cocoa."), words.say("My name is Anna."), words.say("I like tea.")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA foreign_keys = ON")
        other.execute("DELETE FROM people")
    assert "do not know" in words.say("Who am I?") and words.say("What do I like?").startswith("You have not")
    words.say("My name is Bo.")
    assert words.say("Who am I?") == "You are Bo." and not words.memory.book.trouble
    words.close()
