"""What the robot knows about people: their names, and what they told it; each of them hears only their own.

A person is kept by name. Who has told no name yet is known as long as the run sees (or hears) that they are the same;
with the name what they told is kept, too. A name alone proves nothing: who gives one that is known is asked whether
they have met the robot before.
"""
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dialogue.book import Book, Statement
from dialogue.words import words_of

SOMEBODY = "somebody"   # who speaks when nobody is known to
TALK_S = 120.0          # s without a word of somebody unknown after which the next one may be anybody
NAMELESS = 32           # people without a name that are remembered at once
MOST = 200              # facts of one person; the oldest go
EPOCH = datetime(1970, 1, 1)
LONGEST = 200           # letters of a fact or name: two breaths of speech


@dataclass(frozen=True, slots=True)
class Fact:
    """about: `favorite color`; "": `text` is a whole sentence of the person. told_to: the engine that heard it."""

    about: str
    text: str
    told_to: str


@dataclass
class Memory:
    """People by their id of this run, as `people` gives it. engine: who hears what is told from now on."""

    book: Book = field(default_factory=Book)
    start: datetime = datetime(2026, 1, 5, 15, 0)        # at t = 0 of the run
    engine: str = "embedded"
    t: float = 0.0                                       # s, now
    _nameless: dict[str, list[Fact]] = field(default_factory=dict)
    _newest: dict[str, str] = field(default_factory=dict)      # the last fact that somebody told in this run
    _somebody_at: float = 0.0                            # s, their last word

    def __post_init__(self) -> None:
        self.book.write(("DELETE FROM here WHERE run != ?", (self._run,)))

    def at(self, t: float, person: str | None = SOMEBODY) -> None:
        """It is t (s), and person speaks."""
        self.t = t
        if person is None:
            if t - self._somebody_at > TALK_S:
                self._leave(SOMEBODY)
            self._somebody_at = t

    # knowing ------------------------------------------------------------------------------------------------------

    def name(self, person: str | None, told_to: str = "%") -> str | None:
        """told_to: only if that engine was told; every one by default."""
        found = self.book.read("SELECT name FROM people JOIN here ON person = people.id WHERE run = ? AND here.id = ? "
                               "AND told_to LIKE ?", self._run, person or SOMEBODY, told_to)
        return str(found[0][0]) if found else None

    def namesakes(self, name: str) -> list[int]:
        """Everybody kept under that name."""
        return [row for row, known in self.book.read("SELECT id, name FROM people ORDER BY id")
                if known.casefold() == name.casefold()]

    def facts(self, person: str | None) -> list[Fact]:
        """What a person told, oldest first."""
        row = self._row(person)
        if row is None:
            return list(self._nameless.get(person or SOMEBODY, []))
        return [Fact(*found) for found in self.book.read(
            "SELECT about, fact, told_to FROM facts WHERE person = ? ORDER BY id", row)]

    def value(self, person: str | None, what: str) -> str | None:
        told = [fact.text for fact in self.facts(person) if fact.about == american(what)]
        return told[-1] if told else None

    def newest(self, person: str | None) -> str | None:
        """The last that a person told in this run, if it is still known."""
        text = self._newest.get(person or SOMEBODY)
        return text if any(fact.text == text for fact in self.facts(person)) else None

    # learning -----------------------------------------------------------------------------------------------------

    def introduce(self, person: str | None, name: str, again: bool | None = None) -> str:
        """A person says their name. again: they are (not) somebody whom the robot knows already; None: nobody asked.

        Returns what became of it, in words for an engine.
        """
        name = name[:LONGEST]
        row, known, same = self._row(person), self.name(person), self.namesakes(name)
        if known is not None and known.casefold() == name.casefold() and again is not False:
            return f"known already as {known}"
        if again is None and (same or row is not None):
            whom = f"somebody else is known as {name}" if same else f"this person is known as {known}"
            return f"nothing was done: {whom}; ask whether they have met before, then call again with `again`"
        if again and len(same) == 1:
            self._meet(person, same[0])
            return f"known again as {name}"
        if again and not same and row is not None:
            self.book.write(("UPDATE people SET name = ? WHERE id = ?", (name, row)))
            return f"{known} is called {name} from now on"
        new = max(1 + self.book.read("SELECT coalesce(max(id), 0) FROM people")[0][0],
                  int((self._now - EPOCH).total_seconds()))      # no number is ever another person's again
        self.book.write(("INSERT INTO people VALUES (?, ?, ?, ?)", (new, name, self._date, self.engine)))
        self._meet(person, new)
        return f"remembered as {name}" + ("; several have that name, so this one is new" if again and same else "")

    def learn(self, person: str | None, text: str, about: str = "") -> None:
        """A sentence, or the value of a property `about`, which takes the place of an older one."""
        about, text = american(about)[:LONGEST], text[:LONGEST]
        self._newest.pop(person or SOMEBODY, None)
        self._newest = {**dict([*self._newest.items()][1 - NAMELESS:]), person or SOMEBODY: text}
        row, new = self._row(person), Fact(about, text, self.engine)
        if row is not None:
            self.book.write(*self._told(row, new))
            return
        known = self._nameless.setdefault(person or SOMEBODY, [])
        known[:] = [fact for fact in known if not _replaces(new, fact)][1 - MOST:]
        known.append(new)
        while len(self._nameless) > NAMELESS:
            del self._nameless[next(iter(self._nameless))]

    # forgetting ---------------------------------------------------------------------------------------------------

    def forget(self, person: str | None, words: str = "") -> int:
        """Delete what a person told that has all these words in it; without words: everything, their name too.

        Returns how many facts are gone.
        """
        wanted = set(words_of(american(words)))
        if words and not wanted:
            return 0
        gone = [fact for fact in self.facts(person) if wanted <= set(words_of(american(f"{fact.about} {fact.text}")))]
        row = self._row(person)
        if row is None:
            self._nameless[person or SOMEBODY] = [fact for fact in self.facts(person) if fact not in gone]
        elif not wanted:
            self.book.erase(("DELETE FROM people WHERE id = ?", (row,)))
        else:
            self.book.erase(*(("DELETE FROM facts WHERE person = ? AND about = ? AND fact = ?",
                               (row, fact.about, fact.text)) for fact in gone))
        if not wanted:
            self._leave(person or SOMEBODY)
        return len(gone)

    def forget_everybody(self) -> int:
        """Delete all people; returns how many had a name."""
        count = int(self.book.read("SELECT count(*) FROM people")[0][0])
        self.book.erase(("DELETE FROM people", ()))
        self._nameless.clear()
        self._newest.clear()
        return count

    # inside -------------------------------------------------------------------------------------------------------

    @property
    def _run(self) -> str:
        return self.start.isoformat(timespec="seconds")

    @property
    def _now(self) -> datetime:
        return self.start + timedelta(seconds=self.t)

    @property
    def _date(self) -> str:
        return self._now.isoformat(timespec="seconds")

    def _row(self, person: str | None) -> int | None:
        found = self.book.read("SELECT person FROM here WHERE run = ? AND id = ?", self._run, person or SOMEBODY)
        return found[0][0] if found else None

    def _meet(self, person: str | None, row: int) -> None:
        """A person of this run is that one; what they told before they said so is theirs."""
        told = self._nameless.pop(person or SOMEBODY, [])
        self.book.write(("INSERT OR REPLACE INTO here VALUES (?, ?, ?)", (self._run, person or SOMEBODY, row)),
                        *(statement for fact in told for statement in self._told(row, fact)))

    def _told(self, row: int, fact: Fact) -> tuple[Statement, ...]:
        same = "about = ?" if fact.about else "about = '' AND fact = ?"
        return ((f"DELETE FROM facts WHERE person = ? AND {same}", (row, fact.about or fact.text)),
                ("INSERT INTO facts (person, about, fact, told, told_to) VALUES (?, ?, ?, ?, ?)",
                 (row, fact.about, fact.text, self._date, fact.told_to)),
                ("DELETE FROM facts WHERE person = ? AND id NOT IN "
                 "(SELECT id FROM facts WHERE person = ? ORDER BY id DESC LIMIT ?)", (row, row, MOST)))

    def _leave(self, person: str) -> None:
        self._nameless.pop(person, None)
        self._newest.pop(person, None)
        if self._row(person) is not None:
            self.book.write(("DELETE FROM here WHERE run = ? AND id = ?", (self._run, person)))


def _replaces(new: Fact, old: Fact) -> bool:
    return new.about == old.about if new.about else new == old


def american(words: str) -> str:
    """A recogniser may write the same word either way."""
    return words.replace("colour", "color").replace("favourite", "favorite")
