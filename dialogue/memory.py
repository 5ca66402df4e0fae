"""What the robot knows about people: their names and what they told it. Lives as long as the process."""
from dataclasses import dataclass, field

SOMEBODY = "somebody"   # who speaks when nobody is known to


@dataclass
class Memory:
    """By person id as `people` gives it. properties: `favorite color` -> `blue`; facts: sentences as they were told."""

    names: dict[str, str] = field(default_factory=dict)
    properties: dict[str, dict[str, str]] = field(default_factory=dict)
    facts: dict[str, list[str]] = field(default_factory=dict)

    def name(self, person: str | None) -> str | None:
        return self.names.get(person or SOMEBODY)

    def learn_name(self, person: str | None, name: str) -> None:
        self.names[person or SOMEBODY] = name

    def learn_property(self, person: str | None, what: str, value: str) -> None:
        self.properties.setdefault(person or SOMEBODY, {})[_american(what)] = value

    def property(self, person: str | None, what: str) -> str | None:
        return self.properties.get(person or SOMEBODY, {}).get(_american(what))

    def learn_fact(self, person: str | None, fact: str) -> None:
        known = self.facts.setdefault(person or SOMEBODY, [])
        if fact not in known:
            known.append(fact)

    def known(self, person: str | None) -> list[str]:
        """Everything that was told, as sentences to the person who told it."""
        key = person or SOMEBODY
        return [f"Your {what} is {value}." for what, value in self.properties.get(key, {}).items()] + [
            f"You told me: {fact}." for fact in self.facts.get(key, [])]

    def forget(self, person: str | None) -> None:
        for kept in (self.names, self.properties, self.facts):
            kept.pop(person or SOMEBODY, None)


def _american(words: str) -> str:
    """A recogniser may write the same word either way."""
    return words.replace("colour", "color").replace("favourite", "favorite")
