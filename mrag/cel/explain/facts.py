"""The statements around a few terms, read when they are needed, with what would be if some were otherwise.

A hypothesis is judged by its query; this judges one individual at a time by the same semantics, and knows
which triples decided. Changes can be laid over the statements without touching the graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

from rdflib import BNode, Literal, URIRef

from mrag.cel.semantics.sparql import VOCABULARY, batches
from mrag.cel.semantics.values import by_value, condition, equal, holds
from mrag.cel.syntax import expressions as ce
from mrag.graph.kg import KnowledgeGraph, Layer
from mrag.rdf import queries
from mrag.rdf.patterns import var
from mrag.rdf.terms import RDF, Term, Triple

TYPE = URIRef(RDF + "type")
SCHEMA = frozenset(v.value for v in VOCABULARY)
_TYPED = ce.Property(str(TYPE))
_NONE: Mapping[URIRef, Collection[Term]] = {}
_V = var("v")


class _Read:
    """What has been read from the graph; True stands for an inferred statement."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.out: dict[Term, dict[URIRef, dict[Term, bool]]] = {}
        self.into: dict[tuple[URIRef, Term], dict[Term, bool]] = {}

    def layers(self) -> Iterator[tuple[Layer, bool]]:
        yield "asserted", False
        if self.kg.record.inferred:
            yield "inferred", True

    def outgoing(self, terms: Iterable[Term]) -> None:
        missing = [str(t) for t in terms if t not in self.out and isinstance(t, URIRef)]
        for batch in batches(dict.fromkeys(missing)):
            for name in batch:
                self.out[URIRef(name)] = {}
            for layer, inferred in self.layers():
                for s, p, o in self.kg.select(queries.get("cel/statements-of").bind(entity=batch), layer):
                    if s is not None and o is not None:
                        self.out.setdefault(s, {}).setdefault(URIRef(str(p)), {}).setdefault(o, inferred)

    def incoming(self, p: URIRef, terms: Iterable[Term]) -> None:
        missing = [t for t in terms if not isinstance(t, BNode) and (p, t) not in self.into]
        for start in range(0, len(missing), 500):
            batch = missing[start : start + 500]
            for term in batch:
                self.into[p, term] = {}
            rows = [(p, term) for term in batch]
            for layer, inferred in self.layers():
                for s, _, o in self.kg.select(queries.get("cel/subjects-of").bind(p_o=rows), layer):
                    if s is not None and o is not None:
                        self.into.setdefault((p, o), {}).setdefault(s, inferred)


class GraphFacts:
    """Statements of a graph, some left out and others put in.

    Args:
        kg: The knowledge graph.

    Example:
        >>> import mrag
        >>> kg = mrag.connect()
        >>> x, cat = URIRef("urn:x"), URIRef("urn:Cat")
        >>> _ = kg.insert([Triple(x, TYPE, cat)])
        >>> facts = GraphFacts(kg)
        >>> facts.holds(ce.Named("urn:Cat"), x), facts.changed((), [Triple(x, TYPE, cat)]).types(x)
        (True, [])
        >>> kg.close()
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.added: frozenset[Triple] = frozenset()
        self._read = _Read(kg)
        self._changes: dict[tuple[Term, URIRef, bool], tuple[set[Term], set[Term]]] | None = None

    def changed(self, added: Iterable[Triple], removed: Iterable[Triple]) -> GraphFacts:
        """Return the statements of the graph with these put in and those left out."""
        found = GraphFacts.__new__(GraphFacts)
        found.added, found._read, found._changes = frozenset(added), self._read, {}
        for at, triples in enumerate((found.added, removed)):
            for s, p, o in triples:
                found._changes.setdefault((s, p, False), (set(), set()))[at].add(o)
                found._changes.setdefault((o, p, True), (set(), set()))[at].add(s)
        return found

    def fetch(self, terms: Iterable[Term]) -> None:
        """Read the statements of many terms at once."""
        self._read.outgoing(terms)

    def values(self, x: Term, p: ce.Property) -> list[Term]:
        """Return the values of a property, in order of term."""
        return sorted(self._values(x, p), key=order)

    def _values(self, x: Term, p: ce.Property) -> Collection[Term]:
        role = _iri(p.iri)
        known: Collection[Term]
        if p.inverse:
            if (role, x) not in self._read.into:
                self._read.incoming(role, [x])
            known = self._read.into.get((role, x), ())
        else:
            if x not in self._read.out:
                self._read.outgoing([x])
            known = self._read.out.get(x, _NONE).get(role, ())
        if self._changes is None:
            return known
        key = x, role, p.inverse
        if key not in self._changes:
            return known
        more, fewer = self._changes[key]
        return ({*known} - fewer) | more

    def types(self, x: Term) -> list[str]:
        """Return the classes of a term, in order of IRI."""
        return [str(c) for c in self.values(x, ce.Property(str(TYPE)))]

    def is_individual(self, x: Term) -> bool:
        """Return whether a term is a named individual."""
        return isinstance(x, URIRef) and any(c not in SCHEMA for c in self.types(x))

    def inferred(self, triple: Triple) -> bool:
        """Return whether a triple that is here was inferred."""
        self._read.outgoing([triple.s])
        return self._read.out.get(triple.s, {}).get(triple.p, {}).get(triple.o, False)

    def holds(self, e: ce.Expression, x: Term) -> bool:
        """Decide whether a normal form holds a term, named individual or not."""
        match e:
            case ce.Top():
                return True
            case ce.Bottom():
                return False
            case ce.Named(name):
                return _iri(name) in self._values(x, _TYPED)
            case ce.Not(of):
                return not self.holds(of, x)
            case ce.And(parts):
                return all(self.holds(p, x) for p in parts)
            case ce.Or(parts):
                return any(self.holds(p, x) for p in parts)
            case ce.OneOf(members):
                return isinstance(x, URIRef) and str(x) in members
            case ce.Value(p, value):
                return any(same(v, value) for v in self._values(x, p))
            case ce.Some(p, filler):
                return self.count(x, p, filler, 1) == 1
            case ce.Only(p, filler):
                return self.count(x, p, filler) == len(self._values(x, p))
            case ce.AtLeast(n, p, filler) | ce.AtMost(n, p, filler) | ce.Exactly(n, p, filler):
                found = self.count(x, p, filler, n if isinstance(e, ce.AtLeast) else n + 1)
                return bool(ce.COMPARE[type(e)](found, n))
            case ce.DataSome(p, range):
                return any(within(v, range) for v in self._values(x, p))
            case ce.DataOnly(p, range):
                return all(within(v, range) for v in self._values(x, p))

    def matching(self, x: Term, p: ce.Property, filler: ce.Expression) -> list[Term]:
        """Return the values of a property that an expression holds, in order."""
        values = self.values(x, p)
        self._prepare(filler, values)
        return [v for v in values if self.holds(filler, v)]

    def count(self, x: Term, p: ce.Property, filler: ce.Expression, limit: int | None = None) -> int:
        """Count the values of a property that an expression holds, up to so many."""
        values = self._values(x, p)
        if isinstance(filler, ce.Top):
            return len(values) if limit is None else min(len(values), limit)
        self._prepare(filler, values)
        found = (1 for v in values if self.holds(filler, v))
        return sum(found if limit is None else islice(found, limit))

    def _prepare(self, filler: ce.Expression, values: Collection[Term]) -> None:
        if not isinstance(filler, ce.Top | ce.Bottom | ce.OneOf) and len(values) > 1:
            self.fetch(values)


@lru_cache(maxsize=10_000)
def _iri(name: str) -> URIRef:
    return URIRef(name)


@lru_cache(maxsize=100_000)
def order(term: Term) -> str:
    """Return what terms are sorted by."""
    return term.n3()


def same(found: Term, wanted: str | Literal) -> bool:
    """Return whether a term is a wanted value, literals of numbers, dates and booleans by value."""
    if not isinstance(wanted, Literal):
        return isinstance(found, URIRef) and str(found) == wanted
    if not isinstance(found, Literal):
        return False
    return equal(found, wanted) if by_value(wanted) else found == wanted


def within(value: Term, range: ce.DataRange) -> bool:
    """Return whether a term is a literal in a range.

    Raises:
        ConfigError: If the datatype is one that only the store compares.
    """
    return isinstance(value, Literal) and holds(condition(range, _V), value)


def edge(x: Term, p: ce.Property, y: Term) -> Triple:
    """Return the triple by which `y` is a value of the property for `x`."""
    s, o = (y, x) if p.inverse else (x, y)
    return Triple(s, URIRef(p.iri), o)  # type: ignore[arg-type]  # no literal has values of its own
