"""What kinds of things a graph has, what is said of them, and which values that takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias
from typing import Literal as OneOf

from rdflib import Literal

from mrag._tables import tables

Kind: TypeAlias = OneOf["entity", "number", "date", "text", "boolean"]
"""What the values of a property are. A property of strings that are nearly all numbers is `number`."""


SAID: Final = tables("planning/words.toml")
"""How parts of plans are put in words, and lists of words."""
WORDS: Final = {name: frozenset(listed.split()) for name, listed in SAID["lists"].items()}
"""Words of names, comments and values, by what they tell."""
_LONE, _FEWER = 1.2, 0.75
"""How many things stand above one, on average at most, and how many fewer than these they are."""


@dataclass(frozen=True)
class ClassInfo:
    """A class with members."""

    iri: str  # The class
    names: tuple[str, ...]  # Its labels, best first; its local name in words is the last
    comment: str = ""  # What is said of it; "" if nothing
    count: int = 0  # How many members it has, asserted, inferred or in a subclass
    parents: tuple[str, ...] = ()  # Its direct superclasses among the classes with members
    # Its subclasses, direct and indirect, with members of which no triple says that they are in it. Members
    # of these are counted as its own
    narrower: tuple[str, ...] = ()
    kind: str = ""  # The class of its members, where no triple says that they are in it
    # What its members have, as `PropertyInfo.way` says it, or, with "!" before it, what they have not; empty
    # where triples say who is in it
    way: tuple[str, ...] = ()


@dataclass(frozen=True)
class PropertyInfo:
    """A property as the data use it."""

    iri: str  # The property
    names: tuple[str, ...]  # Its labels, best first; its local name in words is the last
    comment: str = ""  # What is said of it; "" if nothing
    kind: Kind = "entity"  # What most of its values are
    datatype: str = ""  # The most frequent datatype of its literals; "" for entities
    triples: int = 0  # How many triples it has
    subjects: int = 0  # How many distinct subjects they have
    objects: int = 0  # How many distinct objects they have
    # Classes of its subjects, with how many distinct subjects are in each
    domains: Mapping[str, int] = field(default_factory=dict)
    # Classes of its objects, with how many distinct objects are in each; empty for literals
    ranges: Mapping[str, int] = field(default_factory=dict)
    minimum: str = ""  # The least number or date, as text; "" if there is none
    maximum: str = ""  # The greatest
    text_numbers: bool = False  # Whether numbers are (partly) written as strings, perhaps with a unit
    # Labels of a declared inverse property, that is read from object to subject
    inverse_names: tuple[str, ...] = ()
    # How it writes yes and no, where its values are nothing else but no booleans: ("Y", "N")
    truth: tuple[str, ...] = ()
    # Units and currencies that its texts have behind or before a number; with more than one of them the texts
    # are no numbers that could be compared
    units: tuple[str, ...] = ()
    # All datatypes of its values, "" for things; empty where not all of them were looked at
    datatypes: tuple[str, ...] = ()
    # Whether all values are dates, or dates with times, of four digits a year and without a time zone
    plain_dates: bool = False
    # Sets of classes; each subject is in one of each set at least. Only where all changes of the graph are
    # known is this found out
    subjects_in: tuple[tuple[str, ...], ...] = ()
    objects_in: tuple[tuple[str, ...], ...] = ()  # The same of its objects
    # How classes have it that no triple says it of: the property by which an `owl:Restriction` on it, of
    # which they are subclasses, leads to the value; "" where triples have it
    through: str = ""
    # Over which properties things have it that have something between, such as a span of time or an amount;
    # empty where one triple states it. "^" stands before a property that is followed from object to subject,
    # and "\t" with a term behind one that says what is there
    way: tuple[str, ...] = ()

    @property
    def flag(self) -> bool:
        """Return whether it says yes or no of a thing."""
        return self.kind == "boolean" or bool(self.truth)

    def truth_value(self, holds: bool) -> Literal:
        """Return the value of a flag where what it says holds, or where it does not.

        Example:
            >>> PropertyInfo("urn:vip", ("vip",), kind="text", truth=("Y", "N")).truth_value(True)
            rdflib.term.Literal('Y')
        """
        if not self.truth:
            return Literal(holds)
        said = self.truth[0 if holds else 1]
        return Literal(int(said)) if self.kind == "number" and not self.text_numbers else Literal(said)

    @property
    def functional(self) -> bool:
        """Return whether each subject has one value."""
        return self.triples == self.subjects


def tells_units(info: PropertyInfo) -> bool:
    """Return whether a property says which unit numbers are in.

    Example:
        >>> tells_units(PropertyInfo("urn:u", ("unit code",))), tells_units(PropertyInfo("urn:n", ("name",)))
        (True, False)
    """
    if info.kind not in ("entity", "text") or info.text_numbers:
        return False  # "unit price" and "units in stock" tell numbers
    words = [name.lower().split() for name in info.names]
    return any(not WORDS["units"].isdisjoint(some) and "per" not in some for some in words)


def ancestors(classes: Iterable[str], above: Mapping[str, Iterable[str]]) -> set[str]:
    """Return all that is above some classes, by what is just above each.

    Example:
        >>> sorted(ancestors(["van"], {"van": ["car"], "car": ["vehicle"], "ship": ["vehicle"]}))
        ['car', 'vehicle']
    """
    found: set[str] = set()
    ahead = list(classes)
    while ahead:
        new = {*above.get(ahead.pop(), ())} - found
        found |= new
        ahead += new
    return found


def most_of(classes: Mapping[str, int]) -> str:
    """Return that of some classes with counts which has most; of those with as many the last; "" of none."""
    return max(classes, key=lambda c: (classes[c], c), default="")


@dataclass(frozen=True)
class ClassEdge:
    """How many triples of an object property lead from one class to another."""

    source: str
    property: str
    target: str
    count: int


@dataclass(frozen=True)
class TermTree:
    """How the terms of a graph are in order whose things are classes or concepts."""

    kind: str  # The class of the terms: `owl:Class`, `rdfs:Class` or `skos:Concept`
    above: str  # The property that leads from a term to those just above it
    inverse: bool = False  # Whether it leads to those just below it instead


@dataclass(frozen=True)
class Schema:
    """Classes, properties and edges of a graph, each in order of IRI.

    Vocabulary of RDF, RDFS and OWL, of provenance, and the properties that hold labels are not among
    the properties; `label_properties` names the last. It is `exact` where every triple is in one graph only
    and it is known for certain how many triples and subjects the properties have. Where terms are the things
    of a graph, `tree` tells how they are in order, and what names and describes them are properties as well.
    """

    classes: Mapping[str, ClassInfo]
    properties: Mapping[str, PropertyInfo]
    edges: tuple[ClassEdge, ...]
    label_properties: tuple[str, ...] = ()
    triples: int = 0
    exact: bool = False
    tree: TermTree | None = None

    @cached_property
    def ladders(self) -> frozenset[str]:
        """Return the properties by which things of a kind stand above each other: parts of parts, places."""
        found = {self.tree.above} if self.tree is not None else set[str]()
        for p in self.properties.values():
            cls = next(iter(self.likeliest(p.domains)), "") if p.kind == "entity" and not p.way else ""
            one, more = sorted((p.subjects, p.objects))
            lone = p.triples <= _LONE * more and one < _FEWER * more
            named = any(not WORDS["ladders"].isdisjoint(name.lower().split()) for name in p.names)
            if cls and lone and named and p.ranges.get(cls, 0) >= _FEWER * p.objects:
                found.add(p.iri)
        return frozenset(found)

    @cached_property
    def said_by(self) -> Mapping[tuple[str, str], str]:
        """Return the classes that one triple with another property than `rdf:type` tells, by its ends."""
        ways = ((c.way[0].partition("\t"), c.iri) for c in self.classes.values() if len(c.way) == 1)
        return {(p, term): iri for (p, tab, term), iri in ways if tab and p[0] not in "^!"}

    @cached_property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """Return the direct superclasses of each class."""
        return {c: info.parents for c, info in self.classes.items()}

    def above(self, cls: str) -> set[str]:
        """Return the superclasses of a class, direct and indirect."""
        return ancestors([cls], self.parents)

    def with_superclasses(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return those of some classes that are in the schema with their superclasses, in order of IRI."""
        known = {c for c in classes if c in self.classes}
        return tuple(sorted(known | ancestors(known, self.parents)))

    def likeliest(self, classes: Mapping[str, int]) -> list[str]:
        """Return classes with counts, greatest first; of those with as many the narrower ones first."""
        return sorted(classes, key=lambda c: (-classes[c], -len(self.above(c)), c))

    def narrowest(self, classes: Iterable[str]) -> tuple[str, ...]:
        """Return those of some classes that are no superclass of another of them, in their order."""
        some = tuple(classes)
        return tuple(c for c in some if not any(c in self.above(d) and d not in self.above(c) for d in some))


def measured_by(schema: Schema, info: PropertyInfo, said: PropertyInfo) -> bool:
    """Return whether numbers are in the units that another property of the same things says."""
    cls = next(iter(schema.likeliest(info.domains)), "")
    own = bool(cls) and 2 * said.domains.get(cls, 0) >= info.domains[cls]
    return own and not WORDS["amounts"].isdisjoint(info.names[-1].lower().split())
