"""What the right answers are: a part of the graph that never changes, and what the writers have been told.

Every writer has a tally, which each of its updates raises by one in two places, and entries of two
triples, of which it keeps the last few. An update that was answered 204 has happened; one whose answer
was lost may have, whole. So an answer is wrong if it shows half an update, lacks one that was answered
before it was asked for, shows one that was never sent, or an earlier state than another answer did.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

EX = "https://example.org/soak#"
PREFIXES = f"PREFIX ex: <{EX}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
TOWNS = 240
COUNTRIES = 12
KEPT = 20  # Entries that a writer leaves in the graph

_FIRST = "Al Bre Cor Dun El Fen Gar Hol Ister Jar Kel Lor Mar Nor Ost Pel Quen Ros Sel Tor".split()
_LAST = "bury dale field ford ham haven mere moor stead ton wick worth".split()
_COUNTRIES = (
    "Aldoria Brevonia Cathland Dorvania Estmark Fenwald Gravonia Helmark Istria Jorvik Kelland Lothmar"
)

Row = Mapping[str, str]


def town(number: int) -> str:
    """Return the name of a town, which no other has."""
    return _FIRST[number % len(_FIRST)] + _LAST[number // len(_FIRST) % len(_LAST)]


def country(number: int) -> str:
    """Return the name of the country that a town lies in."""
    return _COUNTRIES.split()[number * 7 % COUNTRIES]


def people(number: int) -> int:
    """Return how many people live in a town."""
    return 1000 + number * 37 % 5000


def fixed() -> str:
    """Return the part of the graph that never changes, as Turtle."""
    lines = [
        f"@prefix ex: <{EX}> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        'ex:locatedIn rdfs:label "located in"@en . ex:people rdfs:label "inhabitants"@en .',
        'ex:Town rdfs:label "Town"@en . ex:Country rdfs:label "Country"@en .',
    ]
    lines += [
        f'ex:c{n * 7 % COUNTRIES} a ex:Country ; rdfs:label "{country(n)}"@en .' for n in range(COUNTRIES)
    ]
    lines += [
        f'ex:t{n} a ex:Town ; rdfs:label "{town(n)}"@en ; ex:people {people(n)} ;'
        f" ex:locatedIn ex:c{n * 7 % COUNTRIES} ."
        for n in range(TOWNS)
    ]
    return "\n".join(lines)


@dataclass(frozen=True)
class Query:
    """A query on the fixed part with a check of its answer."""

    text: str  # The query
    right: Callable[[Any], bool]  # Tells whether rows (or a boolean) are the right ones


def query(rng: random.Random, *, fresh: bool) -> Query:
    """Make a query on the fixed part.

    Args:
        rng: Where choices come from.
        fresh: Whether its text is one that nobody has sent before.
    """
    number = rng.randrange(TOWNS) if fresh else rng.randrange(8)
    mark = f"FILTER (?x != <urn:{rng.randrange(1 << 40)}>)" if fresh else ""
    lower, upper = sorted((people(number), people(number * 5 % TOWNS)))
    within = sum(lower <= people(n) <= upper for n in range(TOWNS))
    sizes = {country(n): sum(country(m) == country(n) for m in range(TOWNS)) for n in range(COUNTRIES)}
    texts = (
        (
            f"SELECT ?l {{ ex:t{number} ex:locatedIn ?x . ?x rdfs:label ?l {mark} }}",
            lambda rows: rows == [{"l": country(number)}],
        ),
        (
            f"SELECT ?x ?l {{ ?x rdfs:label ?l . ?x ex:people {people(number)} {mark} }}",
            lambda rows: {row["x"] for row in rows} == _ids(n for n in range(TOWNS) if _same(n, number)),
        ),
        (
            f"SELECT (COUNT(?x) AS ?n) {{ ?x ex:people ?p FILTER (?p >= {lower} && ?p <= {upper}) {mark} }}",
            lambda rows: rows == [{"n": str(within)}],
        ),
        (
            f"SELECT ?l (COUNT(?x) AS ?n) {{ ?x ex:locatedIn/rdfs:label ?l {mark} }} GROUP BY ?l",
            lambda rows: {row["l"]: int(row["n"]) for row in rows} == sizes,
        ),
        (f"ASK {{ ?x rdfs:label '{town(number)}'@en {mark} }}", lambda found: found is True),
        (f"ASK {{ ?x rdfs:label '{town(number)}x'@en {mark} }}", lambda found: found is False),
        (
            f"SELECT ?x ?p {{ ?x ex:people ?p {mark} }} ORDER BY ?p ?x",
            lambda rows: len(rows) == TOWNS and rows == sorted(rows, key=lambda r: (int(r["p"]), r["x"])),
        ),
    )
    text, right = rng.choice(texts)
    return Query(PREFIXES + text, right)


def _same(one: int, other: int) -> bool:
    return people(one) == people(other)


def _ids(numbers: Iterable[int]) -> set[str]:
    return {f"{EX}t{n}" for n in numbers}


LARGE = f"{PREFIXES} SELECT ?a ?b ?p {{ ?a ex:people ?p . ?b a ex:Town }}"
"""A query with an answer of 57,600 rows, about 16 MB as JSON and 4 MB as CSV."""


def large_is_right(csv: bytes) -> bool:
    """Tell whether the answer to `LARGE` is whole and right, as CSV."""
    rows = csv.decode().split("\r\n")
    expected = {f"{EX}t{a},{EX}t{b},{people(a)}" for a in range(TOWNS) for b in range(TOWNS)}
    return (
        rows[0] == "a,b,p" and rows[-1] == "" and len(rows) == len(expected) + 2 and {*rows[1:-1]} == expected
    )


@dataclass
class Tally:
    """What one writer has sent, what it has been told, and what others have seen.

    The page reads the store itself, and may show a change a moment before it is answered and queries see it:
    so what has been seen counts by the way in which it was asked for.
    """

    name: int  # the writer's number
    sent: int = 0  # updates of the tally that have been sent
    done: int = 0  # those that were answered
    seen: dict[str, int] = field(default_factory=lambda: defaultdict(int))  # the largest value by way
    entries: dict[int, bool | None] = field(default_factory=dict)  # in the graph; None: the answer was lost
    next: int = 0  # the number of the last entry
    graphs_sent: int = 0  # how often a graph of its own has been sent, whole, with that number in it
    graphs_done: int = 0  # the last of these that was answered

    def raise_by_one(self) -> str:
        """Return the update that raises the tally, in both places."""
        who = f"ex:w{self.name}"
        return (
            f"{PREFIXES} DELETE {{ {who} ex:n ?n ; ex:m ?m }} INSERT {{ {who} ex:n ?k ; ex:m ?j }} "
            f"WHERE {{ {who} ex:n ?n ; ex:m ?m BIND (?n + 1 AS ?k) BIND (?m + 1 AS ?j) }}"
        )

    def ask(self) -> str:
        """Return the query for the tally."""
        return f"{PREFIXES} SELECT ?n ?m {{ ex:w{self.name} ex:n ?n . ex:w{self.name} ex:m ?m }}"

    def problem(self, rows: list[Row], done: int, seen: int, way: str = "query") -> str | None:
        """Return what is wrong with an answer; `done` and `seen` are those of when it was asked for."""
        if len(rows) != 1 or rows[0]["n"] != rows[0]["m"]:
            return f"half an update of the tally of writer {self.name}: {rows}"
        value = int(rows[0]["n"])
        self.seen[way] = max(self.seen[way], value)
        if value < done:
            return f"the tally of writer {self.name} is {value}; {done} updates had been answered"
        if value < seen:
            return f"the tally of writer {self.name} is {value}; it had been seen at {seen}"
        if value > self.sent:
            return f"the tally of writer {self.name} is {value}; only {self.sent} updates have been sent"
        return None

    def entry(self) -> tuple[int, str]:
        """Return the number and the triples of a new entry."""
        self.next += 1
        self.entries[self.next] = None
        return self.next, self.triples(self.next)

    def triples(self, number: int) -> str:
        """Return an entry as N-Triples."""
        name = f"<{EX}e{self.name}-{number}>"
        return f'{name} <{EX}of{self.name}> "{number}" .\n{name} <{EX}also{self.name}> "{number}" .\n'

    def old(self) -> list[int]:
        """Return the entries that are in the graph beyond those to keep, oldest first."""
        there = sorted(n for n, inside in self.entries.items() if inside)
        return there[: max(0, len(there) - KEPT)]

    def ask_entries(self) -> str:
        """Return the query for the entries."""
        one, two = f"<{EX}of{self.name}>", f"<{EX}also{self.name}>"
        first = f"?e {one} ?a OPTIONAL {{ ?e {two} ?b }}"
        return f"SELECT ?a ?b {{ {{ {first} }} UNION {{ ?e {two} ?b MINUS {{ ?e {one} ?b }} }} }}"

    def entries_problem(self, rows: list[Row], before: Mapping[int, bool | None]) -> str | None:
        """Return what is wrong with an answer; `before` is `self.entries` when it was asked for."""
        if torn := [row for row in rows if row.get("a") != row.get("b")]:
            return f"half an entry of writer {self.name}: {torn[:3]}"
        found = {int(row["a"]) for row in rows}
        if unsent := found - {*self.entries}:
            return f"entries {sorted(unsent)[:5]} of writer {self.name} were never sent"
        # What is being written or removed while the answer is made may be in it or not.
        certain = {n: inside for n, inside in before.items() if self.entries.get(n) is inside}
        if missing := {n for n, inside in certain.items() if inside} - found:
            return f"entries {sorted(missing)[:5]} of writer {self.name} are missing"
        if removed := {n for n, inside in certain.items() if inside is False} & found:
            return f"entries {sorted(removed)[:5]} of writer {self.name} were removed"
        return None
