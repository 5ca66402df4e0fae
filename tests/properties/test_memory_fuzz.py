"""Whatever people say in whatever order: each has only their own, and a disk that comes and goes changes nothing."""
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.book import Book
from dialogue.memory import Memory

PEOPLE = ("person_1", "person_2", None)
STEPS = st.lists(st.tuples(
    st.sampled_from(["learn", "about", "name", "new", "forget", "words", "breaks", "works", "later"]),
    st.sampled_from(PEOPLE), st.sampled_from(["Anna", "Bo"])), min_size=4, max_size=25)


def do(memory, number, step, person, name):
    match step:
        case "learn":
            memory.learn(person, f"I am {person} {number}")
        case "about":
            memory.learn(person, f"{person} {number}", "dog")
        case "name":
            memory.introduce(person, name)
        case "new":
            memory.introduce(person, name, again=False)
        case "forget":
            memory.forget(person)
        case "words":
            memory.forget(person, str(number - 1))
        case "later":
            memory.at(memory.t + 100.0, person)


def writable(book, yes):
    """SQLite's own "attempt to write a readonly database" for every change, as on a disk that the kernel gave up."""
    book._file.execute(f"PRAGMA query_only = {'OFF' if yes else 'ON'}")
    if yes:
        book.mend()


@settings(deadline=None, max_examples=25, derandomize=True)
@given(STEPS)
def test_nobody_has_what_another_told_and_a_broken_disk_makes_no_difference(steps):
    with TemporaryDirectory() as folder:
        start = datetime(2026, 1, 5, 15, 0)
        sound, flaky = Memory(Book(), start), Memory(Book(Path(folder) / "m.sqlite3"), start)
        for number, (step, person, name) in enumerate(steps):
            if step in ("breaks", "works"):
                writable(flaky.book, step == "works")
            else:
                do(sound, number, step, person, name), do(flaky, number, step, person, name)
            for who in PEOPLE:
                assert flaky.facts(who) == sound.facts(who) and flaky.name(who) == sound.name(who)
                assert all(f"{who} " in fact.text for fact in sound.facts(who))
        writable(flaky.book, True)
        assert flaky.book.trouble == ""
        flaky.book.close()
        again = Memory(Book(Path(folder) / "m.sqlite3"), start)
        assert all(again.name(who) == sound.name(who) for who in PEOPLE)
        assert all(again.facts(who) == sound.facts(who) for who in PEOPLE if sound.name(who))
        again.book.close()
