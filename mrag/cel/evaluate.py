"""Class expressions evaluated over arrays of statements, with the same answers as the store's.

A `World` holds the statements of a graph, or of the neighbourhood of some individuals; the extension of an
expression is one boolean for each term. It is fetched by few queries and kept until the graph changes.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag.cel.sparql import VOCABULARY, batches, by_value, condition, equal, holds
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.language.grammar import count_words
from mrag.rdf import expressions as ce
from mrag.rdf import queries
from mrag.rdf.expressions import depth, walk
from mrag.rdf.patterns import var
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM, OxTerm, Term, from_ox
from mrag.stores.base import Row

Types: TypeAlias = list[tuple[Term, str]]
Edges: TypeAlias = list[tuple[Term, str, Term]]
_TYPE = RDF + "type"
_ROWS = 5_000
_OFTEN = 1_000  # after so many statements it is asked whether to go on
_BATCH = 500  # most statements of a batch of properties, if there is more than one, and most properties


class OutOfTime(Exception):  # no error: a smaller world is made
    """Ends the reading of statements at its time limit."""


def stopping_at(end: float, on_step: Callable[[], None] | None = None) -> Callable[[], None]:
    """Return what to call now and then, so that it ends the reading at a time."""

    def check() -> None:
        if on_step is not None:
            on_step()
        if time.monotonic() > end:
            raise OutOfTime

    return check


def statements(
    kg: KnowledgeGraph,
    subjects: Sequence[str] | None = None,
    made: dict[OxTerm, Term] | None = None,
    check: Callable[[], None] | None = None,
) -> tuple[Types, Edges]:
    """Read the types and the statements that are not of the schema.

    Where the store can be scanned in process that is done, else there are two queries for each batch, of
    entities or else of properties, which keeps answers below what servers cut.
    """
    check = check or (lambda: None)
    if kg.store.capabilities.edges:
        return _scan(kg, subjects, {} if made is None else made, check)
    types: Types = []
    edges: Edges = []

    def read(query: str) -> Iterator[Row]:
        check()
        for at, row in enumerate(kg.select(query)):
            if at % _OFTEN == _OFTEN - 1:
                check()
            yield row

    if subjects is None:
        types.extend(_type(read(queries.get("cel/types").text)))
        for properties in _properties(kg):
            edges.extend(_link(read(queries.get("cel/edges").bind(p=properties))))
        return types, edges
    for batch in batches(subjects):
        types.extend(_type(read(queries.get("cel/types-of").bind(entity=batch))))
        edges.extend(_link(read(queries.get("cel/edges-of").bind(entity=batch))))
    return types, edges


def _properties(kg: KnowledgeGraph) -> Iterator[list[str]]:
    """Yield the properties that are not of the schema, as many at once as have few statements."""
    counts = ((str(p), int(str(n))) for p, n in kg.select(queries.get("reasoning/predicates").text))
    batch: list[str] = []
    held = 0
    for p, n in sorted((p, n) for p, n in counts if not p.startswith((RDF, RDFS, OWL))):
        if batch and (held + n > _ROWS or len(batch) == _BATCH):
            yield batch
            batch, held = [], 0
        batch.append(p)
        held += n
    if batch:
        yield batch


def _scan(
    kg: KnowledgeGraph, subjects: Sequence[str] | None, made: dict[OxTerm, Term], check: Callable[[], None]
) -> tuple[Types, Edges]:
    types: Types = []
    edges: Edges = []
    schema: dict[str, bool] = {}

    def term(native: OxTerm) -> Term:
        made[native] = new = from_ox(native)
        return new

    for graph in kg.dataset().default:
        for number, subject in enumerate((None,) if subjects is None else subjects):
            if number % 100 == 0:
                check()
            for at, (s, p, o, _) in enumerate(kg.store.edges(graph, s=subject)):
                if at % _OFTEN == _OFTEN - 1:
                    check()
                name = p.value
                if name == _TYPE:
                    if isinstance(o, ox.NamedNode) and not isinstance(s, ox.Triple):
                        types.append((made.get(s) or term(s), o.value))
                    continue
                of_schema = schema.get(name)
                if of_schema is None:
                    of_schema = schema[name] = name.startswith((RDF, RDFS, OWL))
                if of_schema or isinstance(o, ox.Triple) or isinstance(s, ox.Triple):
                    continue
                value = made.get(o)
                # An empty text is false.
                edges.append((made.get(s) or term(s), name, term(o) if value is None else value))
    return types, edges


def _type(rows: Iterable[Row]) -> Types:
    return [(x, str(c)) for x, c in rows if x is not None]


def _link(rows: Iterable[Row]) -> Edges:
    return [(s, str(p), o) for s, p, o in rows if s is not None and o is not None]


_PORTION = 100  # entities of which it is read before it is asked whether to go on


def _in_portions(
    kg: KnowledgeGraph, subjects: Sequence[str], made: dict[OxTerm, Term], check: Callable[[], None] | None
) -> tuple[int, tuple[Types, Edges]]:
    """Read statements about as many entities as there is time for, and at least of some."""
    types: Types = []
    edges: Edges = []
    for start in range(0, max(len(subjects), 1), _PORTION):
        try:
            if start and check is not None:
                check()
        except OutOfTime:
            return start, (types, edges)
        kinds, portion = statements(kg, subjects[start : start + _PORTION], made)
        types += kinds
        edges += portion
    return len(subjects), (types, edges)


Mask: TypeAlias = npt.NDArray[np.bool_]  # One boolean for each term of a world

_Pairs: TypeAlias = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
_V = var("v")
_SCHEMA = frozenset(v.value for v in VOCABULARY)
_UNNAMED = _SCHEMA | {OWL + "Thing", OWL + "NamedIndividual"}
_WHOLE = 300_000  # up to so many triples a graph is fetched whole


class World:
    """The statements that decide class expressions, as arrays.

    `named` are the classes that hypotheses speak of: no vocabulary, and no class without a name. `read` are
    those of the given individuals of which there was time to read; None for all.
    """

    def __init__(
        self,
        types: Iterable[tuple[Term, str]],
        edges: Iterable[tuple[Term, str, Term]],
        *,
        steps: int | None = None,
        inverse: bool = True,
    ) -> None:
        places: dict[Term, int] = {}
        classes: dict[str, list[int]] = defaultdict(list)
        roles: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for term, kind in types:
            classes[str(kind)].append(places.setdefault(term, len(places)))
        for s, p, o in edges:
            sources, values = roles[str(p)]
            sources.append(places.setdefault(s, len(places)))
            values.append(places.setdefault(o, len(places)))
        self.steps, self.inverse = steps, inverse
        self.read: frozenset[str] | None = None
        self.terms: list[Term] = sorted(places, key=lambda t: t.n3())
        self.index = {t: at for at, t in enumerate(self.terms)}
        self.size = len(self.terms)
        # From the order in which the terms came up to the order in which they stand.
        moved = np.array([self.index[t] for t in places], dtype=np.intp)
        self.classes = {kind: self._marks(moved[classes[kind]]) for kind in sorted(classes)}
        self.roles: dict[str, _Pairs] = {
            p: self._pairs(*(moved[at] for at in roles[p])) for p in sorted(roles)
        }
        self.literals = [at for at, t in enumerate(self.terms) if isinstance(t, Literal)]
        named = np.array([isinstance(t, URIRef) for t in self.terms], dtype=bool)
        kinds = [m for kind, m in self.classes.items() if kind not in _SCHEMA]
        self.individuals: Mask = named & np.logical_or.reduce(kinds) if kinds else np.zeros_like(named)
        self.named = [c for c in self.classes if c not in _UNNAMED and not c.startswith(SKOLEM)]
        self._kept: dict[ce.Expression, Mask] = {}

    @classmethod
    def whole(cls, kg: KnowledgeGraph, check: Callable[[], None] | None = None) -> World:
        """Fetch a graph whole, by few queries or one scan; kept until its triples change."""
        return kg.cached("cel-world", lambda: cls(*statements(kg, check=check)))

    @classmethod
    def around(
        cls,
        kg: KnowledgeGraph,
        individuals: Sequence[str],
        *,
        steps: int = 2,
        max_individuals: int = 50_000,
        check: Callable[[], None] | None = None,
        begun: Callable[[], None] | None = None,
    ) -> World:
        """Fetch what lies so many properties away from some individuals, by few queries.

        Properties are followed forwards only: backwards, a category leads to all its images. `begun` is
        called while the given individuals are read, `check` later; either ends it by `OutOfTime`.
        """
        types: Types = []
        edges: Edges = []
        made: dict[OxTerm, Term] = {}
        at = list(dict.fromkeys(individuals))
        number, first = _in_portions(kg, at, made, begun)
        at = given = at[:number]
        seen = set(at)
        reached = 0
        while True:
            try:
                kinds, links = statements(kg, at, made, check) if reached else first
            except OutOfTime:
                # Without the classes of what was reached last, that step is not there.
                known = {x for x, _ in types} | {URIRef(i) for i in given}
                reached -= 1
                edges = [e for e in edges if e[0] in known] if reached else []
                break
            types.extend(kinds)
            new = {str(o) for _, _, o in links if isinstance(o, URIRef)} - seen
            if reached == steps or (reached and len(new) > max_individuals):
                break
            reached += 1
            edges.extend(links)
            at = sorted(new)
            seen.update(at)
        world = cls(types, edges, steps=reached, inverse=False)
        world.read = frozenset(given)
        return world

    @classmethod
    def of(
        cls,
        kg: KnowledgeGraph,
        individuals: Sequence[str],
        *,
        steps: int = 2,
        until: float = math.inf,
        on_step: Callable[[], None] | None = None,
    ) -> World:
        """Fetch a small graph whole, and of a large one what lies around some individuals.

        A small graph that takes longer than `until`, by `time.monotonic`, is treated as a large one, and of a
        large one fewer steps are fetched then.
        """
        now = time.monotonic()
        # To put the statements in order takes nearly as long again as to read them.
        share = 0.55 * (until - now)
        # To count a large graph takes seconds, and of a loaded one the number is known.
        known = kg.record.triples
        size = known if known > _WHOLE else kg.cached("cel-size", lambda: kg.count("all"))
        if size <= _WHOLE and share > kg.cached("cel-too-short", lambda: 0.0):
            try:
                return cls.whole(kg, stopping_at(now + share, on_step))
            except OutOfTime:
                kg.cache["cel-too-short"] = share
        # Half of it for the given individuals, of which there may be many, and the rest for what they reach.
        half = stopping_at((2 * now + until) / 3, on_step)
        end = stopping_at((now + 2 * until) / 3, on_step)
        return cls.around(kg, individuals, steps=steps, check=end, begun=half)

    def extension(self, expression: ce.Expression) -> Mask:
        """Return which terms an expression holds, individuals or not; an error if that cannot be decided."""
        self._check(expression)
        return self._extension(expression)

    def reaches(self, expression: ce.Expression) -> bool:
        """Return whether the world holds all that an expression asks for."""
        try:
            self._check(expression)
        except ConfigError:
            return False
        return True

    def instances(self, expression: ce.Expression) -> list[str]:
        """Return the named individuals that an expression holds, in order of IRI."""
        places = np.flatnonzero(self.extension(expression) & self.individuals)
        return sorted(str(self.terms[at]) for at in places)

    def positions(self, individuals: Iterable[str]) -> npt.NDArray[np.intp]:
        """Return where individuals stand among the terms."""
        return np.array([self.index[URIRef(i)] for i in individuals], dtype=np.intp)

    def is_individual(self, iri: str) -> bool:
        """Return whether an IRI is a named individual here."""
        at = self.index.get(URIRef(iri))
        return at is not None and bool(self.individuals[at])

    def exists(self, p: ce.Property, mask: Mask) -> Mask:
        """Return which terms have a value of the property among the marked ones."""
        covered = np.zeros(self.size, dtype=bool)
        sources, values = self.pairs(p)
        covered[sources[mask[values]]] = True
        return covered

    def counts(self, p: ce.Property, mask: Mask) -> npt.NDArray[np.intp]:
        """Return how many marked values of the property each term has."""
        sources, values = self.pairs(p)
        return np.bincount(sources[mask[values]], minlength=self.size)

    def pairs(self, p: ce.Property) -> _Pairs:
        """Return where the subjects and values of a property stand, the values first if it is inverse."""
        sources, values = self.roles.get(p.iri, _NONE)
        return (values, sources) if p.inverse else (sources, values)

    def properties(self) -> list[ce.Property]:
        """Return the properties, also backwards where that is possible."""
        ways = (False, True) if self.inverse else (False,)
        return [ce.Property(p, inverse) for p in self.roles for inverse in ways]

    def _extension(self, e: ce.Expression) -> Mask:
        mask = self._kept.get(e)
        if mask is None:
            mask = self._evaluate(e)
            mask.flags.writeable = False
            if len(self._kept) * max(self.size, 1) < 100_000_000:
                self._kept[e] = mask
        return mask

    def _evaluate(self, e: ce.Expression) -> Mask:
        match e:
            case ce.Top():
                return ~self._marks([])
            case ce.Bottom():
                return self._marks([])
            case ce.Named(name):
                return self.classes.get(name, self._marks([]))
            case ce.Not(of):
                return ~self._extension(of)
            case ce.Connective(parts):
                neutral = np.full(self.size, isinstance(e, ce.And))
                join = np.logical_and if isinstance(e, ce.And) else np.logical_or
                mask: Mask = join.reduce([neutral, *map(self._extension, parts)])
                return mask
            case ce.Some(p, filler):
                return self.exists(p, self._extension(filler))
            case ce.Only(p, filler):
                return ~self.exists(p, ~self._extension(filler))
            case ce.Value(p, value):
                return self.exists(p, self._mark(value))
            case ce.OneOf(names):
                return self._mask(URIRef(n) for n in names)
            case ce.Cardinality(n, p, filler):
                enough: Mask = ce.COMPARE[type(e)](self.counts(p, self._extension(filler)), n)
                return enough
            case ce.DataRestriction(p, range):
                test = condition(range, _V)
                inside = self._where(lambda v: holds(test, v))
                return self.exists(p, inside) if isinstance(e, ce.DataSome) else ~self.exists(p, ~inside)
            case _:
                raise AssertionError(e)

    def _mark(self, value: str | Literal) -> Mask:
        if not isinstance(value, Literal):
            return self._mask([URIRef(value)])
        if by_value(value):
            return self._where(lambda v: equal(v, value))
        return self._mask([value])

    def _where(self, test: Callable[[Literal], bool]) -> Mask:
        mask = np.zeros(self.size, dtype=bool)
        for at in self.literals:
            value = self.terms[at]
            mask[at] = isinstance(value, Literal) and test(value)
        return mask

    def _mask(self, terms: Iterable[Term]) -> Mask:
        return self._marks([self.index[t] for t in terms if t in self.index])

    def _marks(self, places: Sequence[int] | npt.NDArray[np.intp]) -> Mask:
        mask = np.zeros(self.size, dtype=bool)
        mask[places] = True
        return mask

    def _pairs(self, sources: npt.NDArray[np.intp], values: npt.NDArray[np.intp]) -> _Pairs:
        """Return pairs in order, each once."""
        sources, values = np.divmod(np.unique(sources * self.size + values), self.size)
        return sources, values

    def _check(self, e: ce.Expression) -> None:
        if self.steps is not None and depth(e) > self.steps:
            raise ConfigError(f"Only {self.steps} properties in a row were fetched.")
        if not self.inverse and any(
            isinstance(part, ce.Restriction) and part.property.inverse for part in walk(e)
        ):
            raise ConfigError("Properties were fetched forwards only.")


_NONE: _Pairs = (np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp))
Pairs = list[tuple[str, str]]


def hierarchy(kg: KnowledgeGraph) -> tuple[Pairs, Pairs]:
    """Return pairs of a class and a superclass, and of a property and a property above it.

    They are read once and kept until the triples change.
    """

    def read() -> tuple[Pairs, Pairs]:
        pairs: tuple[Pairs, Pairs] = ([], [])
        for sub, relation, above in kg.select(queries.get("cel/hierarchy").text):
            pairs[str(relation) != RDFS + "subClassOf"].append((str(sub), str(above)))
        return pairs

    return kg.cached("cel-hierarchy", read)


def missing_inferences(kg: KnowledgeGraph, world: World) -> list[str]:
    """Describe where the instances of a class lack the superclasses that the graph gives it.

    Hypotheses see what the dataset holds, so without inference `Parent` would miss the fathers.
    """
    missing: list[tuple[int, str, str]] = []
    nothing = np.zeros(world.size, dtype=bool)
    for sub, above in hierarchy(kg)[0]:
        if sub in world.classes and not above.startswith((OWL, SKOLEM)):
            lacking = int((world.classes[sub] & ~world.classes.get(above, nothing)).sum())
            if lacking:
                missing.append((-lacking, sub, above))
    if not missing:
        return []
    lacking, sub, above = min(missing)
    return [
        f"Inferred triples are missing: {count_words(-lacking, 'instance')} of {sub} "
        f"{'is' if lacking == -1 else 'are'} not in its superclass {above}. "
        "Reason over the graph first."
    ]


def without(world: World, names: Collection[str]) -> World:
    """Return a world in which some classes are not known; its individuals stay the same."""
    if not names:
        return world
    smaller = copy(world)
    smaller.classes = {name: held for name, held in world.classes.items() if name not in names}
    smaller.named = [name for name in world.named if name not in names]
    return smaller
