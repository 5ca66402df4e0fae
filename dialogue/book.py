"""What people told, in one SQLite file: `sqlite3 memory.sqlite3 'SELECT name, about, fact FROM people JOIN facts ...'`.

A change is one transaction in a write-ahead log (https://sqlite.org/wal.html), on the disk before anybody says that it
is kept: a killed process loses nothing of it. What cannot be written (full or broken disk) is kept in memory and
written as soon as it can be. What is deleted is overwritten. A file of another version, or a broken one, is put aside
as it is.
"""
import os
import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

VERSION = 1
APPLICATION = 0x74616C6B                # "talk", in the file's header
MAGIC = b"SQLite format 3\0"            # https://sqlite.org/fileformat2.html, as are the places of the two below
AT_VERSION, AT_APPLICATION, HEADER = 60, 68, 100
WAIT_S = 0.3                            # for another program that writes to the file; an answer waits, too
MOST_WAITING = 6000                     # changes that wait for a disk: of some 2000 facts
BESIDE = ("", "-wal", "-shm")           # a database is up to three files
SCHEMA = """
CREATE TABLE people (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    met TEXT NOT NULL,                  -- when they told their name, ISO 8601
    told_to TEXT NOT NULL);             -- the engine that heard it
CREATE TABLE facts (
    id INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people ON DELETE CASCADE,
    about TEXT NOT NULL,                -- 'favorite color'; '' when `fact` is a whole sentence of that person
    fact TEXT NOT NULL,
    told TEXT NOT NULL,
    told_to TEXT NOT NULL);
CREATE TABLE here (                     -- which of the people of a run is who, for an engine that starts again in it
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    person INTEGER NOT NULL REFERENCES people ON DELETE CASCADE,
    PRIMARY KEY (run, id));
"""

Statement = tuple[str, tuple[object, ...]]


class Unfit(Exception):
    """A file that is none of ours, of another version, or broken."""


class Book:
    """path None: in memory only. trouble: why changes are not on the disk now; "" when they are."""

    def __init__(self, path: Path | None = None):
        self.path, self.trouble, self.aside = path, "", ""
        self._waiting: list[Statement] = []              # changes that the file has not taken
        self._file: sqlite3.Connection | None = None
        self._memory: sqlite3.Connection | None = None   # what is known while the file takes no changes
        if path is None:
            self._memory = _begun(":memory:")
            return
        try:
            self._file = self._opened(path)
        except (OSError, sqlite3.Error) as error:
            self._memory = _begun(":memory:")
            self.trouble = self._told(error)

    def read(self, query: str, *values: object) -> list[tuple]:
        """All rows. A file that cannot be read any more counts as empty from then on."""
        try:
            return self._now.execute(query, values).fetchall()
        except sqlite3.Error as error:
            if self._memory is not None:
                raise
            self._fall_back(error)
            return self._now.execute(query, values).fetchall()

    def write(self, *statements: Statement) -> None:
        """All of them or none; on the disk when this returns, unless there is trouble."""
        if self._memory is not None:
            _change(self._memory, statements)
            if self.path is not None:
                self._waiting = [*self._waiting, *statements][-MOST_WAITING:]
                self.mend()
            return
        try:
            _change(self._now, statements)
        except sqlite3.Error as error:
            self._fall_back(error)
            self.write(*statements)

    def erase(self, *statements: Statement) -> None:
        """Changes that delete: nothing of it stays in the log of changes either."""
        self.write(*statements)
        if self._memory is None:
            with suppress(sqlite3.OperationalError):      # somebody reads: the next one does it
                self._now.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def mend(self) -> None:
        """Write what waits, if the disk takes it by now."""
        if self.path is None or self._memory is None:
            return
        try:
            self._file = self._file or self._opened(self.path)
            _change(self._file, self._waiting)
        except (OSError, sqlite3.Error) as error:
            self.trouble = self._told(error)
            return
        self._memory.close()
        self._memory, self._waiting, self.trouble = None, [], ""

    def close(self) -> None:
        for connection in (self._file, self._memory):
            if connection is not None:
                connection.close()

    @property
    def _now(self) -> sqlite3.Connection:
        connection = self._memory or self._file
        assert connection is not None
        return connection

    def _fall_back(self, error: sqlite3.Error) -> None:
        """Go on in memory with what the file holds."""
        assert self._file is not None
        self.trouble, memory = self._told(error), sqlite3.connect(":memory:", isolation_level=None)
        try:
            self._file.backup(memory)
            memory.execute("PRAGMA foreign_keys = ON")
        except sqlite3.Error:
            memory.close()
            memory = _begun(":memory:")
        self._memory = memory

    def _told(self, error: Exception) -> str:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        return f"{self.path}: {reason}; what people tell is kept in memory until it can be written"

    def _opened(self, path: Path) -> sqlite3.Connection:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            if path.exists():
                check(path)
        except Unfit as unfit:
            kept = _put_aside(path)
            self.aside = f"{path}: {unfit}; it was kept as {kept.name}, and memory begins anew"
        if not path.exists():
            new = path.with_name(path.name + ".new")     # a file that is there is whole
            new.unlink(missing_ok=True)
            os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            _begun(str(new)).close()
            new.rename(path)
        connection = _connected(str(path))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        return connection


def check(path: Path) -> None:
    """Unfit when a file is not one of this version or does not hold together. The file is only read."""
    with path.open("rb") as file:
        header = file.read(HEADER)
    if header[:len(MAGIC)] != MAGIC or len(header) < HEADER:
        raise Unfit("expected a SQLite file")
    if int.from_bytes(header[AT_APPLICATION:AT_APPLICATION + 4], "big") != APPLICATION:
        raise Unfit("a SQLite file of another program")
    version = int.from_bytes(header[AT_VERSION:AT_VERSION + 4], "big")
    if version != VERSION:
        raise Unfit(f"version {version}, expected {VERSION}")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", WAIT_S, uri=True)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.OperationalError:                     # busy, or a disk that fails: not the file's fault
        raise
    except sqlite3.DatabaseError as error:
        raise Unfit(str(error)) from error
    if found != "ok":
        raise Unfit(f"broken: {found.splitlines()[-1]}")


def files_of(path: Path) -> list[Path]:
    """Everything on the disk that belongs to the book at `path`, also what was put aside."""
    return [file for file in sorted(path.parent.glob(f"{path.name}*"))
            if re.fullmatch(r"(\.kept-\d+|\.new)?(-wal|-shm|-journal)?", file.name[len(path.name):])]


def _put_aside(path: Path) -> Path:
    number = 1
    while path.with_name(f"{path.name}.kept-{number}").exists():
        number += 1
    kept = path.with_name(f"{path.name}.kept-{number}")
    for end in BESIDE:
        if (file := path.with_name(path.name + end)).exists():
            file.rename(kept.with_name(kept.name + end))
    return kept


def _connected(place: str) -> sqlite3.Connection:
    connection = sqlite3.connect(place, WAIT_S, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _begun(place: str) -> sqlite3.Connection:
    """A fresh book."""
    connection = _connected(place)
    connection.executescript(f"BEGIN; {SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
                             "COMMIT;")
    return connection


def _change(connection: sqlite3.Connection, statements: list[Statement] | tuple[Statement, ...]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements:
            with suppress(sqlite3.IntegrityError):        # another program deleted meanwhile whom it is about
                connection.execute(*statement)
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
