"""The schema of a graph as its triples show it, whether or not one is declared.

Everything is counted by queries of `sparql/planning/`: how a graph uses its properties, the classes of their
subjects and objects, and what their values are. A small graph is counted through. In a large one the figures
that decide something (how many triples, subjects and objects a property has, its least and greatest value)
are exact, and the shares of classes and datatypes come from samples: of the triples of each property, and of
the members of each class. Identifiers are spelt out: abbreviations, and what is called by plain words.
"""

from __future__ import annotations

import copy
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product, takewhile
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar
from urllib.parse import unquote
from weakref import WeakKeyDictionary

import pyoxigraph as ox
from rdflib import URIRef

from mrag._patterns import compile_late
from mrag._tables import rows
from mrag.errors import IndexError_
from mrag.graph.kg import KnowledgeGraph, home
from mrag.graph.naming import is_asked
from mrag.graph.record import ALTERNATIVE, LABELS, list_touched, mark
from mrag.language.english import TABLES
from mrag.language.names import name_parts, split_identifier
from mrag.planning.reader.quantities import unit_called
from mrag.planning.schema import (
    WORDS,
    ClassEdge,
    ClassInfo,
    Kind,
    PropertyInfo,
    Schema,
    TermTree,
    ancestors,
    measured_by,
    tells_units,
)
from mrag.planning.values import DURATION_UNIT, measured
from mrag.rdf import queries
from mrag.rdf.terms import NUMBERS, OWL, RDF, RDFS, XSD, Term
from mrag.storage.arrays import Arrays
from mrag.storage.fields import arrays_of, of_arrays
from mrag.storage.folder import Committed, Folder
from mrag.storage.folder import Kind as FolderKind
from mrag.stores.oxigraph import OxigraphStore

_SHORT_WORDS: Final = frozenset(word for (line,) in TABLES["short"] for word in line.split())
"""Words of three letters or fewer that are no abbreviations."""
_USUAL: Final = dict(TABLES["abbreviation"])
"""Abbreviations of names of columns and tables; none is a word that a kind of things may be called by."""
_WHOLE: Final = 3  # Words of the longest comment that is nothing but another name
_LONGEST: Final = 7  # Words of the longest phrase that is taken for a name
_VOWELS: Final = frozenset("aeiouy")


def spelt_out(name: str, comment: str) -> tuple[str, ...]:
    """Return further names of something whose own name is an abbreviation, by its comment and as is usual.

    Example:
        >>> spelt_out("att", "Attendance: number of spectators.")
        ('attendance',)
        >>> spelt_out("dep_ts", "Scheduled departure (local time).")
        ('departure ts', 'scheduled departure')
        >>> spelt_out("rental_amt", ""), spelt_out("cat", "genre")
        (('rental amount',), ('genre',))
        >>> spelt_out("height", "Height in cm.")
        ()
    """
    words = [part.lower() for word in re.split(r"[\W_]+", name) for part in name_parts(word)]
    usual = " ".join(_USUAL.get(word, word) for word in words)
    names = (usual,) * (usual != " ".join(words))
    return tuple(dict.fromkeys((*names, *_told(words, comment))))


def _told(words: list[str], comment: str) -> tuple[str, ...]:
    """Return the name that a comment begins with, of something whose own name is an abbreviation."""
    head = re.split(r"[.,;:(=\n]", comment, maxsplit=1)[0].strip()
    said = [w for w in head.lower().split() if w not in ("the", "a", "an")]
    said = list(takewhile(lambda w: w not in WORDS["of_what"], said))
    if (
        not 0 < len(said) <= _LONGEST
        or len("".join(said)) < 4
        or said[0] in ("whether", "true", "if", "is", "are")
    ):
        return ()
    whole = len(comment.split()) <= _WHOLE and WORDS["clause"].isdisjoint(said) and said != words
    if not whole and not any(_abbreviates(word, said) for word in words):
        return ()
    return (" ".join(said),)


def _abbreviates(word: str, said: list[str]) -> bool:
    if not word.isascii() or not word.isalpha() or word in _SHORT_WORDS or word in said:
        return False
    if not _VOWELS & {*word} or len(word) <= 3:
        return True
    return len(word) <= 5 and any(len(w) > len(word) + 1 and w.startswith(word) for w in said)


_KINDS: Final = frozenset(("p31", "instance of", "is a", "is instance of", "isa"))
"""What properties are called that say of which class things are."""
_KIND_NAMES: Final = 200  # Properties whose names are looked at for that
DATES: Final = frozenset(XSD + name for name in ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth"))
"""Datatypes of dates."""

INTEGERS: Final = frozenset(
    XSD + name for name in ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "unsignedByte")
)
"""Datatypes of whole numbers, in which flags are written."""

_TRUTHS: Final = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("1", "0"), ("on", "off"))
_SYMBOLS: Final = ("$", "€", "£", "¥", "₹")
_NEARLY_ALL: Final = 0.95
_UNIT = compile_late(r"(?:[^\W\d_][^\d]{0,20}|%|°[CF]?)?|[A-Z]{0,2}[$€£¥₹]", re.ASCII)
_DATE = compile_late(
    r"\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?)?"
)


def kind_of_texts(texts: Sequence[str]) -> tuple[Kind, bool]:
    """Return what texts are, and whether they are numbers as text.

    Numbers in several units are text: they can be neither compared nor added.

    Example:
        >>> kind_of_texts(["12 kg", "7 kg"]), kind_of_texts(["2024-01-31"]), kind_of_texts(["a", "12"])
        (('number', True), ('date', False), ('text', False))
        >>> kind_of_texts(["0171", "0172"]), kind_of_texts(["yes", "no"])
        (('text', False), ('text', False))
        >>> kind_of_texts(["2 kg", "500 g"])
        ('text', False)
    """
    filled = [text for text in texts if text.strip()]
    if not filled:
        return "text", False
    if _share(filled, lambda text: _DATE.fullmatch(text.strip()) is not None) >= _NEARLY_ALL:
        return "date", False
    if _are_numbers(filled) and not _codes(filled):
        return ("text", False) if len(units_of_texts(filled)) > 1 else ("number", True)
    return "text", False


def _are_numbers(texts: Sequence[str]) -> bool:
    return _share(texts, lambda text: number_in(text) is not None) >= _NEARLY_ALL


def truth_of_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return how texts write yes and no, as they most often do; nothing if they say anything else.

    Example:
        >>> truth_of_texts(["no", "Yes"]), truth_of_texts(["Y"]), truth_of_texts(["yes", "maybe"])
        (('Yes', 'no'), (), ())
    """
    filled = {text.strip().casefold(): text for text in reversed(texts) if text.strip()}
    for pair in _TRUTHS:
        # A letter alone may be any code.
        if filled and set(filled) <= set(pair) and (len(filled) == 2 or len(pair[0]) > 2):
            return tuple(filled.get(said, said) for said in pair)
    return ()


def number_in(text: str) -> float | None:
    """Return the number that a text is, without its unit; None where it is none.

    Example:
        >>> number_in("1,024.5 kg"), number_in("$9.99"), number_in("-3"), number_in("3rd floor, left 2")
        (1024.5, 9.99, -3.0, None)
    """
    measure = measured(text)
    return float(measure[0]) if measure and _UNIT.fullmatch(measure[1]) else None


def units_of_texts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the units and currencies that numbers in texts are told in, one for each size.

    What stands behind a number and is no unit does not count.

    Example:
        >>> units_of_texts(["12 kg", "900 g", "5"]), units_of_texts(["$3", "7 EUR"])
        (('g', 'kg'), ('$', 'EUR'))
        >>> units_of_texts(["12 rooms", "1 room"])
        ()
    """
    units: dict[object, str] = {}
    for text in sorted(texts):
        number = measured(text)
        unit = number[1] if number else ""
        if size := _size(unit):
            units.setdefault(size, unit)
    return tuple(sorted(units.values()))


def _size(unit: str) -> object:
    """Return what makes two units one, None for what is no unit."""
    if unit.casefold() in WORDS["currencies"] or unit.endswith(_SYMBOLS):
        return unit.casefold()
    if unit.startswith("°") or unit in ("%", DURATION_UNIT):
        return unit
    size = unit_called(unit.casefold().strip("().,"))
    return None if size is None or size.counts else size


def _share(texts: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(1 for text in texts if holds(text)) / len(texts)


def _codes(texts: Sequence[str]) -> bool:
    """Return whether digits are codes: with zeros in front, or with many different words behind them."""
    if any(re.match(r"\s*0\d", text) for text in texts):
        return True
    units = {measure[1].casefold() for text in texts if (measure := measured(text)) and measure[1]}
    return len(units) > max(3, len(texts) // 10)


_T = TypeVar("_T")
Edges = dict[tuple[str, str, str], int]
"""How many triples lead from a class by a property to a class; "" is no class."""

_NUMBERS: Final = frozenset(map(str, NUMBERS))  # a term is never equal to a text
TYPED_KINDS: Final = _NUMBERS | DATES  # Datatypes of numbers and dates
_EXACT: Final = 100_000
_BATCH: Final = 250_000
_TRIPLES: Final = 1_000
_MEMBERS: Final = 500
_CLASSES: Final = 300
_TEXTS: Final = 5_000
_WORDS: Final = 200


@dataclass
class PropertyUsage:
    """What is counted of one property; see `PropertyInfo`."""

    iri: str
    triples: int
    datatypes: dict[str, int] = field(default_factory=dict)
    subjects: int = 0
    objects: int = 0
    domains: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, int] = field(default_factory=dict)
    kind: Kind = "entity"
    text_numbers: bool = False
    minimum: str = ""
    maximum: str = ""
    every_datatype: bool = False
    plain_dates: bool = False
    subjects_in: tuple[tuple[str, ...], ...] = ()
    objects_in: tuple[tuple[str, ...], ...] = ()
    truth: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    counted: int = 0  # How many triples it had when it was last counted as a whole; 0 where that is not known

    @property
    def datatype(self) -> str:
        """Return the most frequent datatype of the values, "" for things."""
        return min(self.datatypes, key=lambda d: (-self.datatypes[d], d), default="")


_SHARED: Final = (
    "kind", "datatype", "triples", "subjects", "objects", "minimum", "maximum", "text_numbers", "plain_dates",
    "subjects_in", "objects_in", "truth", "units",
)  # fmt: skip
"""What is told of a property as it is counted."""


def exactly_counted(counts: Mapping[str, int]) -> set[str]:
    """Return the properties that are counted through: those with few triples, if all are few together."""
    classes, total = set[str](), 0
    for p in sorted(counts, key=lambda p: (counts[p], p)):
        total += counts[p]
        if total > _EXACT:
            break
        classes.add(p)
    return classes


def usage_of(
    kg: KnowledgeGraph,
    counts: Mapping[str, int],
    classes: Mapping[str, int],
    only: Collection[str] | None = None,
) -> tuple[dict[str, PropertyUsage], Edges]:
    """Return how a graph uses some or all properties, and which classes they link."""
    return _Counting(kg, counts, classes, counts if only is None else only).result()


def quads(kg: KnowledgeGraph, **place: str) -> Iterator[ox.Quad]:
    """Yield the triples with some subject `s`, predicate `p` and object `o`, once for each graph of them."""
    return (quad for graph in kg.dataset().default for quad in kg.store.edges(graph, **place))


def types_of(kg: KnowledgeGraph, thing: str) -> set[str]:
    """Return the classes that a thing is said to be in."""
    types = (quad.object for quad in quads(kg, s=thing, p=_TYPE))
    return {c.value for c in types if isinstance(c, ox.NamedNode)}


class _Counting:
    def __init__(
        self, kg: KnowledgeGraph, counts: Mapping[str, int], classes: Mapping[str, int], only: Collection[str]
    ) -> None:
        self.kg = kg
        self.classes = classes
        self.uses = {p: PropertyUsage(p, n, counted=n) for p, n in sorted(counts.items()) if p in only}
        self.edges: defaultdict[tuple[str, str, str], int] = defaultdict(int)
        few = exactly_counted(counts)
        self.small = sorted(few & self.uses.keys(), key=lambda p: (self.uses[p].triples, p))
        self.large = [p for p in self.uses if p not in few]

    def result(self) -> tuple[dict[str, PropertyUsage], Edges]:
        for p, n in self._rows("subjects", self.uses):
            self.uses[str(p)].subjects = _count(n)
        self._count_small()
        for name in self.large:
            self._sample_triples(self.uses[name])
        if self.large:
            self._sample_members()
        if self.kg.store.capabilities.edges:
            self._count_datatypes(self.large)
        for use in self.uses.values():
            self._find_kind(use)
        for p, n in self._rows("objects", self.uses):
            self.uses[str(p)].objects = _count(n)
        self._scale_ranges()
        self._find_extremes()
        self._find_flags()
        return self.uses, {e: n for e, n in self.edges.items() if self._counts(e[0]) and self._counts(e[2])}

    def _counts(self, cls: str) -> bool:
        """Return whether people ask for members of a class: also for classes, where these are the things."""
        return is_asked(cls) or cls in self.classes

    def _add(self, counts: dict[str, int], cls: str, n: int) -> None:
        if self._counts(cls):
            counts[cls] = counts.get(cls, 0) + n

    def _rows(self, query: str, properties: Iterable[str]) -> Iterator[tuple[Term | None, ...]]:
        for batch in _in_batches(properties, lambda p: self.uses[p].triples):
            yield from self.kg.select(queries.get(f"planning/{query}").bind(property=batch))

    def _count_datatypes(self, properties: Sequence[str]) -> None:
        for name in properties:
            self.uses[name].datatypes, self.uses[name].every_datatype = {}, True
        for p, datatype, n in self._rows("datatypes", properties):
            self.uses[str(p)].datatypes[_text(datatype)] = _count(n)

    def _count_small(self) -> None:
        self._count_datatypes(self.small)
        for p, c, n in self._rows("subject-classes", self.small):
            self._add(self.uses[str(p)].domains, _text(c), _count(n))
        things = [p for p in self.small if "" in self.uses[p].datatypes]
        for p, c, n in self._rows("object-classes", things):
            self._add(self.uses[str(p)].ranges, _text(c), _count(n))
        for source, p, target, n in self._rows("edges", things):
            self.edges[_text(source), str(p), _text(target)] += _count(n)

    def _sample_triples(self, use: PropertyUsage) -> None:
        text = queries.get("planning/property-sample").bind(property=[use.iri], sample=_TRIPLES)
        rows = list(self.kg.select(text))
        looked_at = min(use.triples, _TRIPLES)
        for source, datatype, target, n in rows:
            # A thing of several classes is in several rows, so a share is of the triples, not of the rows.
            share = min(1.0, _count(n) / looked_at)
            self._add(use.domains, _text(source), max(1, round(share * use.subjects)))
            use.datatypes[_text(datatype)] = use.datatypes.get(_text(datatype), 0) + _count(n)
            if not _text(datatype):
                self._add(use.ranges, _text(target), max(1, round(share * use.triples)))
                self.edges[_text(source), use.iri, _text(target)] += max(1, round(share * use.triples))
        use.domains = {c: min(n, use.subjects) for c, n in use.domains.items()}

    def _sample_members(self) -> None:
        """Look at members of classes: of a property alone a store may show the least values first."""
        large = set(self.large)
        seen: dict[str, defaultdict[tuple[str, str], float]] = {p: defaultdict(float) for p in self.large}
        most = sorted(self.classes, key=lambda c: (-self.classes[c], c))[:_CLASSES]
        for c in (c for c in most if c):
            some = queries.get("planning/member-sample").bind(**{"class": [c]}, sample=_MEMBERS)
            things = [str(thing) for (thing,) in self.kg.select(some) if isinstance(thing, URIRef)]
            grown = max(1.0, self.classes[c] / _MEMBERS)
            if not things:
                continue
            text = queries.get("planning/class-sample").bind(thing=things)
            for p_, datatype, target, n, subjects in self.kg.select(text):
                if (p := str(p_)) not in large:
                    continue
                use = self.uses[p]
                having = min(use.subjects, max(1, round(_count(subjects) * grown)))
                use.domains[c] = max(use.domains.get(c, 0), having)
                triples = max(1, round(_count(n) * grown))
                if not _text(datatype):
                    use.ranges.setdefault(_text(target), triples)
                    edge = c, p, _text(target)
                    self.edges[edge] = max(self.edges[edge], min(use.triples, triples))
                seen[p][_text(datatype), _text(target)] += triples
        for p, values in seen.items():
            for (kind, _), about in values.items():
                self.uses[p].datatypes.setdefault(kind, round(about))

    def _find_kind(self, use: PropertyUsage) -> None:
        datatype = use.datatype
        if datatype == "":
            use.kind = "entity"
        elif datatype in _NUMBERS:
            use.kind = "number"
        elif datatype in DATES:
            use.kind = "date"
        elif datatype == XSD + "boolean":
            use.kind = "boolean"
        else:
            self._look_at_texts(use)

    def _find_flags(self) -> None:
        """Find the numbers that are nothing but 0 and 1; numbers of things may happen to be no more."""
        for use in self.uses.values():
            whole = use.kind == "number" and use.datatype in INTEGERS and use.objects == 2
            if whole and (use.minimum, use.maximum) == ("0", "1"):
                use.truth = ("1", "0")

    def _look_at_texts(self, use: PropertyUsage) -> None:
        large = use.iri in self.large
        texts = self._sample("text", use, _TEXTS if large else use.triples)
        # A store that sorts values shows those that begin with a digit first.
        worded = self._sample("words", use, _WORDS) if large else []
        if len(worded) * 20 > min(len(texts), _WORDS):
            use.kind = "text"
            return
        use.kind, use.text_numbers = kind_of_texts(texts)
        use.truth = truth_of_texts(texts)
        # The letters behind a few numbers are no units.
        use.units = units_of_texts(texts) if texts and _are_numbers([t for t in texts if t.strip()]) else ()
        if use.kind in ("number", "date"):
            for text in texts:
                widen(use, text)

    def _sample(self, name: str, use: PropertyUsage, size: int) -> list[str]:
        text = queries.get(f"planning/{name}-sample").bind(property=[use.iri], sample=size)
        return list(dict.fromkeys(str(value) for (value,) in self.kg.select(text)))

    def _scale_ranges(self) -> None:
        for p in self.large:
            use = self.uses[p]
            for c, n in use.ranges.items():
                use.ranges[c] = min(use.objects, max(1, round(n * use.objects / use.triples)))

    def _find_extremes(self) -> None:
        plain = [p for p, use in self.uses.items() if use.datatype in TYPED_KINDS]
        for p, least, greatest in self._rows("extremes", plain):
            widen(self.uses[str(p)], _text(least))
            widen(self.uses[str(p)], _text(greatest))


def _text(term: Term | None) -> str:
    return "" if term is None else str(term)


def _count(term: Term | None) -> int:
    return int(str(term))


def widen(use: PropertyUsage, text: str) -> None:
    """Let a value be the least or the greatest of a property if it is."""

    def key(value: str) -> tuple[float, str]:
        return (number_in(value) or 0.0, "") if use.kind == "number" else (0.0, value)

    if not text or (use.kind == "number" and number_in(text) is None):
        return
    if not use.minimum or key(text) < key(use.minimum):
        use.minimum = text
    if not use.maximum or key(text) > key(use.maximum):
        use.maximum = text


_GROWN: Final = 0.05  # How much a property or a class may have grown, as a share, since it was counted
_FEW: Final = 100  # Members by which a class may differ in any case
_PLAIN: Final = {
    XSD + "date": compile_late(r"(?!0000)\d{4}-\d\d-\d\d"),
    XSD + "dateTime": compile_late(r"(?!0000)\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d"),
}
_TYPE: Final = RDF + "type"
_Node: TypeAlias = ox.NamedNode | ox.BlankNode | ox.Triple
_Value: TypeAlias = _Node | ox.Literal


def _like(use: PropertyUsage, value: _Value) -> bool:
    """Return whether a value is of a kind that the property has."""
    if not isinstance(value, ox.Literal):
        return "" in use.datatypes
    datatype, text = value.datatype.value, value.value
    if datatype not in use.datatypes or (use.truth and text not in use.truth):
        return False
    if use.kind == "number" or datatype in TYPED_KINDS:
        if use.kind == "number":
            return number_in(text) is not None and {*units_of_texts([text])} <= {*use.units}
        return use.kind == "date"
    return use.kind != "date"


@dataclass(frozen=True)
class _Touched:
    kg: KnowledgeGraph
    changed: ChangedParts
    kinds: frozenset[str]

    def quads(self) -> dict[str, list[ox.Quad]]:
        """Return the triples that came, by their predicates."""
        quads_of: dict[str, dict[str, ox.Quad]] = defaultdict(dict)
        for quad in (quad for entity in sorted(self.changed.entities) for quad in quads(self.kg, s=entity)):
            key = mark(quad.subject, quad.predicate, quad.object)
            if key in self.changed.came:
                quads_of[quad.predicate.value][f"{key} {quad.object}"] = quad
        return {p: list(some.values()) for p, some in quads_of.items()}

    def retyped(self, came: Collection[ox.Quad], more: int) -> frozenset[str]:
        """Return the entities that may be in other classes than before."""
        if len(came) != more:
            return self.changed.entities
        return frozenset(str(getattr(quad.subject, "value", "")) for quad in came)

    def have(self, predicate: str, entities: Iterable[str]) -> bool:
        """Return whether one of some entities has a property, in either direction."""
        ends = ((entity, place) for entity in entities for place in ("s", "o"))
        return any(any(quads(self.kg, p=predicate, **{place: entity})) for entity, place in ends)

    def added(self, use: PropertyUsage, came: Collection[ox.Quad]) -> PropertyUsage:
        """Return how a property is used with some triples more."""
        new = copy.deepcopy(use)
        for subject, n in Counter(quad.subject for quad in came).items():
            if self._are(n, use.iri, subject, None):
                new.subjects += 1
                for c in self._asked_types(subject):
                    new.domains[c] = new.domains.get(c, 0) + 1
        for value, n in Counter(quad.object for quad in came).items():
            if self._are(n, use.iri, None, value):
                new.objects += 1
                for c in () if isinstance(value, ox.Literal) else self._asked_types(value):
                    new.ranges[c] = new.ranges.get(c, 0) + 1
            datatype = value.datatype.value if isinstance(value, ox.Literal) else ""
            new.datatypes[datatype] = new.datatypes.get(datatype, 0) + n
            if isinstance(value, ox.Literal) and use.kind in ("number", "date"):
                widen(new, value.value)
                plain = _PLAIN.get(datatype)
                new.plain_dates &= plain is not None and plain.fullmatch(value.value) is not None
        new.triples += len(came)
        new.subjects_in = tuple(some for some in use.subjects_in if self._all_in(use.iri, "s", some))
        new.objects_in = tuple(some for some in use.objects_in if self._all_in(use.iri, "o", some))
        return new

    def links(self, came: Iterable[ox.Quad]) -> Iterator[tuple[str, str, str]]:
        """Yield the classes that triples link."""
        for quad in came:
            for source in () if isinstance(quad.object, ox.Literal) else self._asked_types(quad.subject):
                for target in self._asked_types(quad.object):
                    yield source, quad.predicate.value, target

    def _are(self, n: int, predicate: str, subject: _Node | None, value: _Value | None) -> bool:
        """Return whether there are no more than so many triples of a subject or a value."""
        seen = set[str]()
        assert isinstance(self.kg.store, OxigraphStore)
        for graph in self.kg.dataset().default:
            for quad in self.kg.store.engine.quads_for_pattern(
                subject, ox.NamedNode(predicate), value, ox.NamedNode(graph)
            ):
                seen.add(f"{quad.subject} {quad.object}")
                if len(seen) > n:
                    return False
        return True

    def _asked_types(self, thing: object) -> list[str]:
        types = types_of(self.kg, getattr(thing, "value", ""))
        return sorted(c for c in types if is_asked(c) or c in self.kinds) or [""]

    def _all_in(self, predicate: str, place: str, classes: Collection[str]) -> bool:
        """Return whether the touched entities that have a property are in one of some classes."""
        having = (e for e in self.changed.entities if any(quads(self.kg, p=predicate, **{place: e})))
        return not any(types_of(self.kg, entity).isdisjoint(classes) for entity in having)


_FOLDER: Final = compile_late(r"[/#:]([A-Za-z][A-Za-z_-]+[A-Za-z])(?:[/:]|[-_.]?\d+|[-_.])$")
"""How IRIs begin that have the kind of what they name in them."""
_FOLDERS: Final = frozenset(
    "resource resources data id ids item items entity entities instance instances ontology page wiki object "
    "node thing things record records term terms example graph vocab individual uri concept kg rdf".split()
)
_MOST_TYPED: Final = 300_000  # Triples of types that are gone through for what IRIs call things
_KIND: Final = FolderKind(
    "lexicon", 16, "It is built anew when a question is next asked; or delete its folder."
)
KNOWN: Final = "known-"  # How arrays of what is known of a schema begin


class KeptNames(NamedTuple):
    """What is kept of a graph beside its store."""

    revision: int  # The revision of the graph, the present one or an earlier one
    base: int  # The revision at which its names were read as a whole; 0 where only its schema is kept
    arrays: Arrays  # All of it


def kept(kg: KnowledgeGraph) -> KeptNames | None:
    """Return what is kept of the present state of a graph, else of an earlier one; None if nothing is."""
    return kg.cached("planning kept", lambda: _read(kg))


def _read(kg: KnowledgeGraph) -> KeptNames | None:
    if (folder := _folder(kg)) is None:
        return None
    with suppress(IndexError_):

        def read(entry: Committed) -> KeptNames | None:
            revision, base = entry.about.get("revision"), entry.about.get("base")
            if not isinstance(revision, int) or revision > kg.revision or not isinstance(base, int):
                return None
            if entry.about != {**_state(kg), "revision": revision, "base": base}:
                return None
            # All of it is read now, so that what is damaged is found before it is used.
            arrays = {n: a for file in entry.files for n, a in folder.opened(file, entry).items()}
            return KeptNames(revision, base, arrays)

        return folder.load(read)
    return None


def keep(
    kg: KnowledgeGraph, revision: int, state: Arrays, base: int = 0, names: Arrays | None = None
) -> None:
    """Keep what is known of a graph, unless it has changed meanwhile or nothing can be written beside it.

    The base is the revision at which its names were read as a whole, 0 where they have not been. Names that
    are kept already are not written again.
    """
    folder = _folder(kg)
    if folder is None or not kg.keeps_counts or kg.revision != revision:
        return
    about = {**_state(kg), "base": base}
    # It is kept for the next time only: a question can be answered where nothing can be written.
    with suppress(IndexError_), folder.lock(), folder.refusals():
        generation, files = folder.next_generation(), {}
        with suppress(IndexError_):
            before = folder.committed()
            if names and {**before.about, "revision": revision} == about:
                name = next(iter(before.files))
                files[name] = before.files[name]
        if names and not files:
            name = f"segment-{generation:08d}.seg"
            files[name] = folder.write(name, names)
        name = f"segment-{generation + 1:08d}.seg"
        files[name] = folder.write(name, state)
        folder.commit(Committed(generation + 1, files, about))
        folder.sweep(files)


def _folder(kg: KnowledgeGraph) -> Folder | None:
    place = home(kg)
    # Of a graph without a record or a mark of its state nobody can tell whether it is what it was.
    return Folder(place.parent / "lexicon", _KIND) if place and (kg.record.kept or kg.state) else None


def _state(kg: KnowledgeGraph) -> dict[str, Any]:
    # Another store in the place of one that was deleted counts its revisions from the first on as well.
    born, path = kg.state + kg.record.born, kg.store.path if isinstance(kg.store, OxigraphStore) else None
    with suppress(OSError):
        born += (path / "IDENTITY").read_text() if path else ""
    return {"kg": kg.iri, "born": born, "revision": kg.revision, "languages": list(kg.languages)}


_MOST_TOUCHED = 2_000  # Touched entities from which on all is read, which is then hardly slower


@dataclass(frozen=True)
class KnownSchema:
    """What was read of a state of a graph."""

    revision: int  # The revision of the graph
    predicates: Mapping[str, int]  # How many triples each of its predicates has
    classes: Mapping[str, int]  # How many members each class has
    uses: Mapping[str, PropertyUsage]  # How its properties are used
    edges: tuple[ClassEdge, ...]  # Which classes they link
    schema: Schema  # What was made of that


@dataclass(frozen=True)
class ChangedParts:
    """What has changed since a state of a graph."""

    properties: frozenset[str]  # The predicates whose triples may be others
    entities: frozenset[str]  # The entities that changes touched
    texts: frozenset[str] = frozenset()  # Those of them whose texts may be others
    came: frozenset[str] = frozenset()  # Marks of triples that came, see `mrag.graph.record.mark`


_latest: WeakKeyDictionary[KnowledgeGraph, KnownSchema] = WeakKeyDictionary()


def remembered(kg: KnowledgeGraph) -> KnownSchema | None:
    """Return what was last read of a graph, in this process or before; None if nothing is known of it."""
    if kg not in _latest and (before := kept(kg)) is not None:
        return of_arrays(KnownSchema, before.arrays, KNOWN)
    return _latest.get(kg)


def follows_changes(kg: KnowledgeGraph) -> bool:
    """Return whether all changes of a graph are known; on a server others may change it."""
    return isinstance(kg.store, OxigraphStore) and kg.record.kept


def changed_since(kg: KnowledgeGraph, revision: int, predicates: Mapping[str, int]) -> ChangedParts | None:
    """Return what may be other than it was at a revision; None where that is not known."""
    if not follows_changes(kg) or revision > kg.revision:
        return None
    touched = list_touched(kg.store, kg.iri, revision, kg.revision)
    if touched is None or len(touched.entities) > _MOST_TOUCHED:
        return None
    now = kg.profile().predicates
    changed = {p for p in {*now, *predicates} if now.get(p, 0) != predicates.get(p, 0)}
    changed.update(quad.predicate.value for entity in touched.entities for quad in quads(kg, s=entity))
    for text in queries.get("context/in-degree").batches("entity", sorted(touched.entities)):
        changed.update(str(p) for _, p, _ in kg.select(text))
    return ChangedParts(frozenset(changed), touched.entities, touched.texts, touched.came)


def unchanged(
    kg: KnowledgeGraph,
    known: KnownSchema,
    changed: ChangedParts,
    counts: Mapping[str, int],
    classes: Mapping[str, int],
) -> tuple[dict[str, PropertyUsage], Edges]:
    """Return how properties are used that need not be counted again, and the edges that these make.

    What no change has touched is as it was; large properties are adjusted to the triples that came.
    """
    # Of a property with very many triples members of classes are looked at, so these must be as they were.
    same = known.classes.keys() == classes.keys() and all(
        abs(classes[c] - n) <= max(_FEW, _GROWN * n) for c, n in known.classes.items()
    )
    before, now = exactly_counted({p: use.triples for p, use in known.uses.items()}), exactly_counted(counts)
    touched = _Touched(kg, changed, kinds_of(classes))
    came = touched.quads()
    typed = kg.profile().predicates.get(_TYPE, 0) - known.predicates.get(_TYPE, 0)
    retyped = touched.retyped(came.get(_TYPE, []), typed)
    uses: dict[str, PropertyUsage] = {}
    links: list[tuple[str, str, str]] = []
    for p, use in known.uses.items():
        if p not in counts or (p in before) != (p in now) or not (p in now or same):
            continue
        if p not in changed.properties:
            uses[p] = copy.deepcopy(use)
            continue
        mine = came.get(p, [])
        if len(mine) != counts[p] - use.triples:
            continue
        if p in now:
            if mine or touched.have(p, retyped):
                continue
        elif abs(counts[p] - use.counted) > _GROWN * use.counted or not all(
            _like(use, q.object) for q in mine
        ):
            continue
        uses[p] = touched.added(use, mine)
        links += touched.links(mine)
    edges = {(e.source, e.property, e.target): e.count for e in known.edges if e.property in uses}
    for edge in links:
        edges[edge] = edges.get(edge, 0) + 1
    return uses, edges


Ancestors = Mapping[str, frozenset[str]]  # Superclasses of classes, direct and indirect

_SAMPLE: Final = 20_000
"""Members of a large class that are looked at; where something inferred their classes, it did so for all."""


def still_stated(kg: KnowledgeGraph, before: Schema, touched: Iterable[str]) -> dict[str, set[str]]:
    """Return for each class the superclasses that all its members are still said to be in.

    They were before, and so are the entities that changes touched.
    """
    parents = {c: info.parents for c, info in before.classes.items()}
    over = {
        c: {a for a in ancestors([c], parents) if a in parents and c not in before.classes[a].narrower}
        for c in parents
    }
    for entity in touched:
        types = types_of(kg, entity)
        for c in types & over.keys():
            over[c] &= types
    return over


def unstated(
    kg: KnowledgeGraph, counts: Mapping[str, int], above: Ancestors, holds: Mapping[str, set[str]]
) -> dict[str, frozenset[str]]:
    """Return for each class the superclasses that some of its members are not said to be in.

    Where the inferences of subclasses are in the store, these are none. What is known to hold is not asked.
    """
    known = {c: {a for a in above.get(c, ()) if a != c and is_asked(a)} for c in counts}
    stated = {c: {a for a in known[c] if 0 < counts[c] <= counts.get(a, 0)} for c in known}
    looked_at = _direct(stated)
    lacking = set[tuple[str, str]]()
    asked = [(c, parent) for c, parent in looked_at if parent not in holds.get(c, ())]
    for batch in _in_batches(asked, lambda pair: counts[pair[0]]):
        if counts[batch[0][0]] > _BATCH:
            ((c, parent),) = batch
            one = queries.get("planning/unstated-sample")
            text = one.bind(**{"class": [c]}, parent=[parent], sample=_SAMPLE)
        else:
            text = queries.get("planning/unstated").bind(class_parent=batch)
        lacking |= {(str(c), str(parent)) for c, parent in kg.select(text)}
    said: dict[str, set[str]] = {}
    for c, parent in looked_at:
        if (c, parent) not in lacking:
            said.setdefault(c, set()).add(parent)
    return {c: frozenset(known[c] - ancestors([c], said)) for c in sorted(known) if known[c]}


def members(kg: KnowledgeGraph, above: Ancestors) -> dict[str, int]:
    """Return how many things are in classes or in those that count as narrower."""
    below: defaultdict[str, list[str]] = defaultdict(list)
    for c, a in sorted((c, a) for c, over in above.items() for a in over):
        below[a].append(c)
    counts: dict[str, int] = {}
    # What is in a class is counted at once.
    for batch in _in_batches(sorted(below), lambda a: len(below[a]) + 1, 500):
        pairs = [(a, c) for a in batch for c in (*below[a], a)]
        text = queries.get("planning/members").bind(parent_class=pairs)
        counts.update((str(parent), int(str(n))) for parent, n in kg.select(text))
    return counts


def raised(uses: Mapping[str, PropertyUsage], edges: Edges, above: Ancestors) -> Edges:
    """Let superclasses have the properties of their subclasses, in place, and return the edges with theirs.

    Superclasses are those that members of a class are not said to be in.
    """
    for use in uses.values():
        for shares, most in ((use.domains, use.subjects), (use.ranges, use.objects)):
            for c, n in sorted(shares.items()):
                for a in above.get(c, ()):
                    shares[a] = min(most, shares.get(a, 0) + n)
    counts = dict(edges)
    for (source, p, target), n in edges.items():
        for s in (source, *above.get(source, ())):
            for t in (target, *above.get(target, ())):
                if (s, t) != (source, target):
                    counts[s, p, t] = min(uses[p].triples, counts.get((s, p, t), 0) + n)
    return counts


def _direct(stated: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """Return the pairs of a class and a superclass that no third class is between."""
    return [
        (c, a)
        for c in sorted(stated)
        for a in sorted(stated[c])
        if not any(a in stated.get(b, ()) and b not in stated.get(a, ()) for b in stated[c] if b != a)
    ]


def _in_batches(
    things: Iterable[_T], size: Callable[[_T], int], most: int = _BATCH, many: int = 500
) -> Iterator[list[_T]]:
    """Yield things in batches, of some size together; what is larger has a batch of its own."""
    batch: list[_T] = []
    total = 0
    for one in things:
        if batch and (total + size(one) > most or len(batch) == many):
            yield batch
            batch, total = [], 0
        batch.append(one)
        total += size(one)
    if batch:
        yield batch


_WORTH: Final = 500  # Triples from which on it is worth knowing
_MOST_EDGES: Final = 10_000_000  # Triples that are looked through in all
_NEARLY: Final = 0.98
_MOST_CLASSES: Final = 50
_SETS: Final = 4


def find_what_holds(kg: KnowledgeGraph, uses: Iterable[PropertyUsage]) -> None:
    """Find classes that all subjects or objects of properties are in, and whether all dates are plain."""
    left = _MOST_EDGES
    for use in sorted(uses, key=lambda use: (use.triples, use.iri)):
        if use.triples < _WORTH:
            continue
        if left < use.triples:
            return
        left -= use.triples
        use.plain_dates = use.every_datatype and _has_plain_dates(kg, use)
        use.subjects_in = _holding(kg, use, "subjects", _sets(use.domains, use.subjects))
        if use.datatypes.keys() == {""}:
            use.objects_in = _holding(kg, use, "objects", _sets(use.ranges, use.objects))


def _has_plain_dates(kg: KnowledgeGraph, use: PropertyUsage) -> bool:
    if len(use.datatypes) != 1 or use.datatype not in (XSD + "date", XSD + "dateTime"):
        return False
    name = "dates" if use.datatype == XSD + "date" else "times"
    rows = kg.select(queries.get(f"planning/plain-{name}").bind(property=[use.iri]))
    return [int(str(n)) for (n,) in rows] == [use.triples]


def _sets(shares: Mapping[str, int], size: int) -> list[tuple[str, ...]]:
    """Return sets of classes that may hold all of so many things."""
    full = sorted(c for c, n in shares.items() if c and n >= _NEARLY * size)
    if full:
        return [(c,) for c in full[:_SETS]]
    return [tuple(sorted(shares))] if shares and "" not in shares and len(shares) <= _MOST_CLASSES else []


def _holding(
    kg: KnowledgeGraph, use: PropertyUsage, end: str, guessed: Iterable[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """Return those of some sets of classes that all subjects or objects of a property are in."""
    query = queries.get(f"planning/{end}-outside")
    rows = ((some, kg.select(query.bind(property=[use.iri], **{"class": list(some)}))) for some in guessed)
    return tuple(some for some, outside in rows if [str(n) for (n,) in outside] == ["0"])


VOCABULARIES: Final[tuple[str, ...]] = (
    RDF,
    RDFS,
    OWL,
    "http://www.w3.org/ns/prov#",
    "http://www.w3.org/ns/shacl#",
    "http://purl.org/vocab/vann/",
    "http://rdfs.org/ns/void#",
    "https://w3id.org/mrag#",
)
"""Vocabularies whose properties nobody asks for."""

_DESCRIBED: Final = 2000
_ONLY_NAMES: Final = frozenset((*LABELS, *ALTERNATIVE))
"""Properties that nobody asks for but by the things they name; others that name things say something, too."""


_SAID_OF_TERMS: Final = frozenset(
    (RDFS + "subClassOf", RDFS + "comment", RDFS + "seeAlso", RDFS + "label", OWL + "deprecated")
)
"""Properties of these vocabularies that people ask for where terms are the things."""
_SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
_TREES: Final[Mapping[str, tuple[tuple[str, bool], ...]]] = {
    _SKOS + "Concept": ((_SKOS + "broader", False), (_SKOS + "narrower", True)),
    OWL + "Class": ((RDFS + "subClassOf", False),),
    RDFS + "Class": ((RDFS + "subClassOf", False),),
}
"""The classes of terms, with the properties that may put them in order."""
_FEWEST_TERMS: Final = 5


@cache
def usual_ways() -> Mapping[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return what ways over properties of common vocabularies are called, and what from their end.

    A step is the IRI of a property, with "^" before it where it is followed from object to subject. Ways of
    one step are properties; the names of classes are among them.

    Example:
        >>> usual_ways()["http://www.w3.org/2004/02/skos/core#notation",][0]
        ('notation', 'code')
    """
    found: dict[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {}
    prefixes: dict[str, tuple[str, ...]] = {}
    for ways, names, inverse in rows("planning/vocabularies.tsv"):
        if ways.endswith(":"):
            prefixes[ways[:-1]] = tuple(names.split(" "))
            continue
        called = tuple(filter(None, names.split("|"))), tuple(filter(None, inverse.split("|")))
        used = next((p for p in prefixes if f"{p}:" in ways), "")
        for space in prefixes.get(used, ("",)):
            for way in product(*(step.split("|") for step in ways.split(" "))):
                found[tuple(step.replace(f"{used}:", space) if used else step for step in way)] = called
    return found


@cache
def usual_subclasses() -> tuple[tuple[str, str], ...]:
    """Return classes of common vocabularies, each with one that its vocabulary says is above it.

    Graphs that use a vocabulary seldom repeat what it says of its classes.
    """
    homes = {"schema": ("http://schema.org/", "https://schema.org/")}
    return tuple(
        (home + lower, home + upper)
        for space, upper, below in rows("planning/subclasses.tsv")
        for home in homes.get(space, (space,))
        for lower in below.split()
    )


def kinds_of(classes: Iterable[str]) -> frozenset[str]:
    """Return the classes of terms among some classes whose members are asked for."""
    return frozenset(c for c in classes if not is_asked(c))


def tree_of(kg: KnowledgeGraph, counts: Mapping[str, int]) -> TermTree | None:
    """Return how the terms of a graph are in order if they are its things; None where others are.

    They are its things where at least as many of them have a name as there are members of other classes.
    """
    predicates, labels = kg.profile().predicates, kg.profile().labels
    least = max(_FEWEST_TERMS, sum(n for c, n in counts.items() if is_asked(c) and c not in _TREES))
    kinds = [k for k in _TREES if counts.get(k, 0) >= least and any(p in predicates for p, _ in _TREES[k])]
    if not kinds or not labels:
        return None
    text = queries.get("planning/named-terms").bind(kind=kinds, property=labels)
    named = {str(kind): int(str(n)) for kind, n in kg.select(text)}
    kind = max(kinds, key=lambda k: named.get(k, 0))
    if named.get(kind, 0) < least:
        return None
    above, inverse = max(_TREES[kind], key=lambda way: predicates.get(way[0], 0))
    return TermTree(kind, above, inverse)


def schema_of(kg: KnowledgeGraph) -> Schema:
    """Return the classes, properties and edges of a graph, read once for each state of it.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> len(schema_of(kg).classes) > 5
        True
        >>> kg.close()
    """

    def make() -> Schema:
        entry = kept(kg)
        if entry is not None and entry.revision == kg.revision:
            return of_arrays(Schema, entry.arrays, f"{KNOWN}schema-")
        schema = _Reader(kg).schema()
        if entry is None and (known := remembered(kg)) is not None:
            # Who stops while the names are read need not begin again.
            keep(kg, known.revision, arrays_of(known, KNOWN))
        return schema

    return kg.cached("planning schema", make)


_KEPT_THINGS, _FEW_CLASSES = 100_000, 5_000
"""Things whose classes are kept, and how many triples say a thing's class where all are read at once."""


def classes_of(kg: KnowledgeGraph, things: Iterable[Term | str]) -> dict[str, tuple[str, ...]]:
    """Return the classes that things are said to be in, in order; what has been read of them is kept."""
    known: dict[str, tuple[str, ...]] = kg.cached("classes of things", dict)
    wanted = dict.fromkeys(map(str, things))
    told = {thing: known[thing] for thing in wanted if thing in known}
    read: defaultdict[str, list[str]] = defaultdict(list, {t: [] for t in wanted if t not in told})
    typed = [RDF + "type", *([kind] if (kind := kind_property(kg)) else [])]
    texts = queries.get("planning/classes-of").batches("thing", list(read), typed=typed)
    few = len(typed) == 1 and 0 < kg.profile().predicates.get(RDF + "type", 0) <= _FEW_CLASSES
    if read and not known and few and not kg.store.capabilities.edges:
        # A server is asked once, not for each question, nor by each process.
        every = queries.get("explore/types").text
        for thing, cls in kg.kept("classes", lambda: [[*map(str, row)] for row in kg.select(every)]):
            read[thing].append(cls)
        texts = iter(())
    for text in texts:
        for thing, cls in kg.select(text):
            read[str(thing)].append(str(cls))
    if len(known) > _KEPT_THINGS:
        known.clear()
    known |= (fresh := {thing: tuple(classes) for thing, classes in read.items()})
    return told | {thing: fresh[thing] for thing in wanted if thing not in told}


def kind_property(kg: KnowledgeGraph) -> str:
    """Return the property by which most things say of which class they are, "" where that is `rdf:type`.

    So does Wikidata, whose classes are things like others.
    """

    def find() -> str:
        counts = kg.profile().predicates
        typed = counts.get(RDF + "type", 0)
        if (
            typed and kg.claims()
        ):  # the entities of properties and statements are typed, but asked for by nobody
            rows = kg.select(queries.get("explore/classes").text)
            typed = sum(int(str(n)) for c, n in rows if is_asked(str(c)))
        many = sorted(p for p, n in counts.items() if n > typed)[:_KIND_NAMES]
        called = kg.labels(many)
        some = [p for p in many if _KINDS & {local_name(p).lower(), (called[p] or "").lower()}]
        return max(some, key=lambda p: counts[p], default="")

    return kg.cached("kind property", lambda: str(kg.kept("kind", find)))


class _Reader:
    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.revision = kg.revision
        self.profile = kg.profile()
        self.labels = tuple(p for p in (*self.profile.labels, *ALTERNATIVE) if p in self.profile.predicates)
        self.before = before = remembered(kg)
        self.changed = before and changed_since(kg, before.revision, before.predicates)

    def schema(self) -> Schema:
        # Of very many the IRIs are not gone through.
        many = self.profile.predicates.get(RDF + "type", 0) > _MOST_TYPED
        name = "explore/classes" if many else "planning/folders"
        rows = self.kg.select(queries.get(name).text).rows if self.profile.predicates else ()
        every = {str(row[0]): int(str(row[1])) for row in rows if isinstance(row[0], URIRef)}
        self.ends = {str(row[0]): (str(row[2]), str(row[3])) for row in rows if len(row) > 2}
        classes = {c: n for c, n in every.items() if is_asked(c)}
        self.tree = tree_of(self.kg, every)
        if self.tree is not None:
            classes[self.tree.kind] = every[self.tree.kind]
        counts = [(p, n) for p, n in self.profile.predicates.items() if n and self._is_said(p)]
        # A graph with more properties than that has a long tail that no schema can show.
        most = dict(sorted(counts, key=lambda pair: (-pair[1], pair[0]))[:_DESCRIBED])
        uses, edges = self._usage(most, classes)
        counted = dict(classes), copy.deepcopy(uses), _links(edges)
        above = self._superclasses(classes)
        holds = (
            self.before and self.changed and still_stated(self.kg, self.before.schema, self.changed.entities)
        )
        unsaid = unstated(self.kg, classes, above, holds or {})
        edges = raised(uses, edges, unsaid)
        through = self._restricted(uses, edges)
        classes |= members(self.kg, unsaid)
        if any("" in use.domains or "" in use.ranges for use in uses.values()):
            # So many things have no class, at least.
            classes[""] = max(max(use.domains.get("", 0), use.ranges.get("", 0)) for use in uses.values())
        schema = self._assembled(uses, edges, dict(sorted(classes.items())), above, unsaid, through)
        if self.kg.record.kept or self.kg.state:
            _latest[self.kg] = KnownSchema(self.revision, self.profile.predicates, *counted, schema)
        return schema

    def _usage(
        self, counts: Mapping[str, int], classes: Mapping[str, int]
    ) -> tuple[dict[str, PropertyUsage], Edges]:
        """Return how properties are used; those that no change has touched are not counted again."""
        uses: dict[str, PropertyUsage] = {}
        edges: Edges = {}
        before, changed = self.before, self.changed
        if before and changed and kinds_of(before.classes) == kinds_of(classes):
            uses, edges = unchanged(self.kg, before, changed, counts, classes)
        more, links = usage_of(self.kg, counts, classes, [p for p in counts if p not in uses])
        if follows_changes(self.kg):
            find_what_holds(self.kg, more.values())
        return dict(sorted({**uses, **more}.items())), {**edges, **links}

    def _is_said(self, p: str) -> bool:
        """Return whether people ask for what a property says."""
        if self.tree is None:
            return p not in _ONLY_NAMES and not p.startswith(VOCABULARIES)
        if p in (way for way, _ in _TREES[self.tree.kind]) and p != self.tree.above:
            return False  # it says the same from the other side
        return p in _SAID_OF_TERMS or not p.startswith(VOCABULARIES)

    def _restricted(
        self, uses: dict[str, PropertyUsage], edges: dict[tuple[str, str, str], int]
    ) -> dict[str, str]:
        """Add the properties that only restrictions of classes speak of; return how they lead to values."""
        restrictions: dict[str, str] = {}
        if self.tree is None or OWL + "onProperty" not in self.profile.predicates:
            return restrictions
        kind = self.tree.kind
        for p_, way, c, said, terms, values in self.kg.select(queries.get("planning/restrictions").text):
            p, target = str(p_), _text(c)
            if (p in uses and p not in restrictions) or restrictions.get(p, str(way)) != str(way):
                continue
            restrictions[p] = str(way)
            use = uses.setdefault(p, PropertyUsage(p, 0, {"": 0}, kind="entity"))
            # A value of several classes is in several rows.
            use.triples = use.datatypes[""] = max(use.triples, _count(said))
            use.subjects = use.domains[kind] = max(use.subjects, _count(terms))
            use.objects = max(use.objects, _count(values))
            if not target or is_asked(target) or target == kind:
                use.ranges[target] = _count(values)
                edges[kind, p, target] = _count(said)
        return restrictions

    def _assembled(
        self,
        uses: Mapping[str, PropertyUsage],
        edges: Edges,
        counts: Mapping[str, int],
        above: Ancestors,
        unsaid: Ancestors,
        through: Mapping[str, str],
    ) -> Schema:
        terms = sorted({*uses, *(c for c in counts if c)})
        names, comments = self._texts(terms)
        for c, folder in self._folders(counts).items():
            names[c] = tuple(dict.fromkeys((*names.get(c, ()), folder)))
        names[""] = ("thing",)
        inverses = self._inverses(uses)
        self._declared(uses)
        parents = _parents(counts, above)
        classes = {
            c: ClassInfo(
                c, names.get(c, ()), comments.get(c, ""), n, parents.get(c, ()),
                tuple(sub for sub, over in unsaid.items() if c in over),
            )
            for c, n in counts.items()
        }  # fmt: skip
        properties = {
            p: PropertyInfo(
                iri=p,
                names=names.get(p, ()),
                comment=comments.get(p, ""),
                domains=_ordered(use.domains),
                ranges=_ordered(use.ranges) if use.kind == "entity" else {},
                inverse_names=tuple(dict.fromkeys(self._inverse_names(p, names, inverses))),
                datatypes=tuple(sorted(use.datatypes)) if use.every_datatype else (),
                through=through.get(p, ""),
                **{name: getattr(use, name) for name in _SHARED},
            )
            for p, use in uses.items()
        }
        exact = follows_changes(self.kg) and len(self.kg.dataset().default) == 1
        made = Schema(classes, properties, _links(edges), self.labels, self.profile.triples, exact, self.tree)
        return replace(made, properties={**properties, **dict(self._with_units(made))})

    def _folders(self, counts: Mapping[str, int]) -> dict[str, str]:
        """Return what the IRIs of a class's members, and of no others, call these: `/vase/1`, `trip-1`."""
        ends = {c: pair for c, pair in self.ends.items() if counts.get(c, 0) > 2}
        found = dict[str, tuple[str, str]]()
        for c, (first, last) in ends.items():
            shared = first[
                : next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
            ]
            numbered = all(iri[len(shared) :][:1].isdigit() for iri in (first, last))
            folder = shared[: max(map(shared.rfind, "/:")) + 1]
            called = _FOLDER.search(folder) or _FOLDER.search(shared + "0" * numbered)
            # What is deeper belongs to what is there.
            if called is not None and not {"/", "#"} & {*first[len(shared) :], *last[len(shared) :]}:
                found[c] = shared[: called.end(1)], split_identifier(called[1])
        return {
            c: name
            for c, (folder, name) in found.items()
            if name.lower() not in _FOLDERS and not any(
                any(re.match(re.escape(folder) + "[/:._-]?[^/#]*$", iri) for iri in pair)
                for d, pair in ends.items() if d != c
            )
        }  # fmt: skip

    def _with_units(self, schema: Schema) -> Iterator[tuple[str, PropertyInfo]]:
        """Yield properties of numbers which something else says the one unit of that all of them are in."""
        for said in schema.properties.values():
            if said.objects != 1 or said.kind not in ("entity", "text") or not tells_units(said):
                continue
            units = [
                row[0] for row in self.kg.select(queries.get("planning/units").bind(property=[said.iri]))
            ]
            labels = self.kg.labels(str(u) for u in units if isinstance(u, URIRef))
            names = tuple(labels.get(str(u)) or local_name(str(u)) for u in units)
            for p in schema.properties.values():
                if p.kind == "number" and not p.units and measured_by(schema, p, said):
                    yield p.iri, replace(p, units=names)

    def _inverse_names(
        self, p: str, names: Mapping[str, tuple[str, ...]], inverses: Mapping[str, Sequence[str]]
    ) -> Iterator[str]:
        yield from self._usual(p)[1]
        for q in inverses.get(p, ()):
            yield from names.get(q, ()) or self._texts([q])[0].get(q, ())

    def _usual(self, term: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what a class or a property of a common vocabulary is called, from either side."""
        return usual_ways().get((term,), ((), ()))

    def _texts(self, terms: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
        order = {p: at for at, p in enumerate((*self.profile.labels, *ALTERNATIVE))}
        named: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
        said: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        claims = self.kg.claims()
        owners = {term: claims.get(term, term) for term in terms}
        asked = list(dict.fromkeys([*terms, *owners.values()]))
        for text in queries.get("planning/texts").batches("term", asked):
            for term_, p, value in self.kg.select(text):
                language = getattr(value, "language", None) or ""
                rank = self.kg.language_rank(language)
                words = " ".join(str(value).split())
                if str(p) in order:
                    named[str(term_)].append((order[str(p)], rank, words))
                else:
                    said[str(term_)].append((rank, words))
        for term, by in owners.items():
            if term != by:
                named[term], said[term] = named[by], said[by]
        names: dict[str, tuple[str, ...]] = {}
        comments = {term: min(texts)[1] for term, texts in said.items() if texts}
        for term in terms:
            # The best language of each property of names; others are names in another tongue, kept behind.
            labels = [
                _in_words(text)
                for _, _, text in sorted(named[term], key=lambda n: (n[0], n[1], n[2]))
                if text
            ]
            more = spelt_out(labels[0] if labels else local_name(term), comments.get(term, ""))
            usual, own = self._usual(term)[0], local_name(term)
            names[term] = tuple(dict.fromkeys((*labels, *more, *usual, *_without_code(own), own)))
        return names, comments

    def _inverses(self, uses: Mapping[str, PropertyUsage]) -> dict[str, list[str]]:
        inverses: defaultdict[str, list[str]] = defaultdict(list)
        if OWL + "inverseOf" in self.profile.predicates:
            for p, inverse in self.kg.select(queries.get("context/inverses").text):
                if str(p) in uses and p != inverse:
                    inverses[str(p)].append(str(inverse))
        return inverses

    def _declared(self, uses: Mapping[str, PropertyUsage]) -> None:
        """Take the declared classes of properties whose data show none."""
        bare = [p for p, use in uses.items() if not set(use.domains) - {""} or not set(use.ranges) - {""}]
        for text in queries.get("planning/declared").batches("property", bare):
            for p, place, c in self.kg.select(text):
                use = uses[str(p)]
                at, size = (
                    (use.domains, use.subjects)
                    if str(place) == RDFS + "domain"
                    else (use.ranges, use.objects)
                )
                if not at and is_asked(str(c)):
                    at[str(c)] = size

    def _superclasses(self, counts: Mapping[str, int]) -> dict[str, frozenset[str]]:
        """Return the superclasses of the classes with members, and of these."""
        direct: defaultdict[str, set[str]] = defaultdict(set)
        if RDFS + "subClassOf" in self.profile.predicates:
            for lower, parent in self.kg.select(queries.get("planning/hierarchy").text):
                direct[str(lower)].add(str(parent))
        for below, upper in usual_subclasses():
            if below in counts:
                direct[below].add(upper)
        above = {c: frozenset(ancestors([c], direct)) for c in counts}
        further = set().union(*above.values()) - above.keys()
        return above | {c: frozenset(ancestors([c], direct)) for c in sorted(further)}


def _links(edges: Edges) -> tuple[ClassEdge, ...]:
    return tuple(ClassEdge(*edge, n) for edge, n in sorted(edges.items()))


def _parents(counts: Mapping[str, int], above: Ancestors) -> dict[str, tuple[str, ...]]:
    """Return the direct superclasses of classes, among those with members."""
    direct = {}
    for c in counts:
        mine = {a for a in above.get(c, ()) if a in counts and c not in above[a]}
        direct[c] = tuple(sorted(a for a in mine if not any(a in above[b] for b in mine if b != a)))
    return direct


def local_name(iri: str) -> str:
    """Return the last part of an IRI in words.

    Example:
        >>> local_name("http://example.org/o#hasEyeColor"), local_name("http://example.org/part_of/")
        ('has eye color', 'part of')
    """
    last = unquote(iri.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1])
    return split_identifier(last) or iri


def _without_code(name: str) -> Iterator[str]:
    """Yield what stands behind a code with which a name begins: a "P108 has produced" has produced."""
    code, _, rest = name.partition(" ")
    if re.fullmatch(r"[A-Za-z]{1,3}\d+[a-z]?", code) and any(c.isalpha() for c in rest):
        yield rest


def _in_words(label: str) -> str:
    words = split_identifier(label)
    return label if words.casefold() == label.casefold() else words


def _ordered(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
