"""The semantics of class expressions, written down plainly, and random graphs and expressions to try."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, XSD, Literal, URIRef

from mrag.rdf import expressions as ce
from mrag.rdf.expressions import Expression, Property
from mrag.rdf.terms import Term, Triple

UNWATCHED = settings(suppress_health_check=list(HealthCheck))
"""For what draws whole graphs: each example is large, and takes its time."""
E = "http://example.org/"
INDIVIDUALS = [E + x for x in "abcdef"]
CLASSES = [E + x for x in "ABC"]
ROLES = [E + "r", E + "s"]
DATA = [E + "data"]
NUMBERS = ("1", "2", "3", "7")
VALUES = [
    *(Literal(n, datatype=XSD.integer) for n in NUMBERS), Literal("2.0", datatype=XSD.decimal),
    Literal("2.5", datatype=XSD.double), Literal("true", datatype=XSD.boolean),
    Literal("false", datatype=XSD.boolean), Literal("red"), Literal("rot", lang="de"),
    Literal("2024-02-01", datatype=XSD.date), Literal("2024-03-01", datatype=XSD.date),
    Literal("2024-03-01T10:00:00Z", datatype=XSD.dateTime),
    Literal("2024-03-01T12:00:01+02:00", datatype=XSD.dateTime),
]  # fmt: skip
MOMENT = Literal("2024-03-01T10:00:00+00:00", datatype=XSD.dateTime)


@dataclass(frozen=True)
class Plain:
    """Evaluates expressions by going through all terms."""

    triples: frozenset[Triple]

    @property
    def terms(self) -> set[Term]:
        found: set[Term] = set()
        for s, p, o in self.triples:
            found |= {s} if p == RDF.type else {s, o}
        return found

    @property
    def individuals(self) -> set[Term]:
        vocabulary = (OWL.Class, OWL.ObjectProperty, OWL.DatatypeProperty, OWL.Ontology)
        return {s for s, p, o in self.triples if p == RDF.type and o not in vocabulary}

    def instances(self, e: Expression) -> set[str]:
        return {str(x) for x in self.individuals if self.holds(e, x)}

    def values(self, p: Property, x: Term) -> set[Term]:
        role = URIRef(p.iri)
        if p.inverse:
            return {s for s, r, o in self.triples if r == role and o == x}
        return {o for s, r, o in self.triples if r == role and s == x}

    def holds(self, e: Expression, x: Term) -> bool:
        match e:
            case ce.Top():
                return True
            case ce.Bottom():
                return False
            case ce.Named(name):
                return (x, RDF.type, URIRef(name)) in self.triples
            case ce.Not(of):
                return not self.holds(of, x)
            case ce.And(parts):
                return all(self.holds(p, x) for p in parts)
            case ce.Or(parts):
                return any(self.holds(p, x) for p in parts)
            case ce.Some(p, filler):
                return any(self.holds(filler, y) for y in self.values(p, x))
            case ce.Only(p, filler):
                return all(self.holds(filler, y) for y in self.values(p, x))
            case ce.Value(p, value):
                return any(_same(y, value) for y in self.values(p, x))
            case ce.OneOf(members):
                return str(x) in members and isinstance(x, URIRef)
            case ce.AtLeast(n, p, filler):
                return self.count(p, filler, x) >= n
            case ce.AtMost(n, p, filler):
                return self.count(p, filler, x) <= n
            case ce.Exactly(n, p, filler):
                return self.count(p, filler, x) == n
            case ce.DataSome(p, range):
                return any(_within(y, range) for y in self.values(p, x))
            case ce.DataOnly(p, range):
                return all(_within(y, range) for y in self.values(p, x))

    def count(self, p: Property, filler: Expression, x: Term) -> int:
        return sum(self.holds(filler, y) for y in self.values(p, x))


def _same(found: Term, wanted: str | Literal) -> bool:
    if not isinstance(wanted, Literal):
        return found == URIRef(wanted)
    if not isinstance(found, Literal):
        return False
    numbers = (XSD.integer, XSD.decimal, XSD.double)
    if found.datatype in numbers and wanted.datatype in numbers:
        return float(found) == float(wanted)
    if found.datatype == wanted.datatype == XSD.dateTime:
        return bool(found.toPython() == wanted.toPython())
    return found == wanted


def _within(value: Term, range: ce.DataRange) -> bool:
    if not isinstance(value, Literal):
        return False
    whole = (XSD.integer, XSD.decimal) if range.datatype == str(XSD.decimal) else (URIRef(range.datatype),)
    own = value.datatype or (RDF.langString if value.language else XSD.string)
    if own not in whole:
        return False
    for facet, limit in range.facets:
        times = own in (XSD.date, XSD.dateTime)
        a, b = (value.toPython(), limit.toPython()) if times else (float(value), float(limit))
        ok = {"minInclusive": a >= b, "maxInclusive": a <= b, "minExclusive": a > b, "maxExclusive": a < b}  # type: ignore[operator]
        if not ok[facet]:
            return False
    return True


def triple(s: str, p: str, o: str | Literal) -> Triple:
    return Triple(URIRef(s), URIRef(p), o if isinstance(o, Literal) else URIRef(o))


def schema() -> Iterable[Triple]:
    yield from (Triple(URIRef(c), RDF.type, OWL.Class) for c in CLASSES)
    yield from (Triple(URIRef(r), RDF.type, OWL.ObjectProperty) for r in ROLES)


@st.composite
def graphs(draw: st.DrawFn) -> frozenset[Triple]:
    """Graphs of six individuals; some may have no class, some properties lead to literals."""
    typed = draw(st.sets(st.tuples(st.sampled_from(INDIVIDUALS), st.sampled_from(CLASSES)), max_size=10))
    named = draw(st.sets(st.sampled_from(INDIVIDUALS), max_size=3))
    edge = st.tuples(st.sampled_from(INDIVIDUALS), st.sampled_from(ROLES), st.sampled_from(INDIVIDUALS))
    edges = draw(st.sets(edge, max_size=14))
    data = draw(st.sets(st.tuples(st.sampled_from(INDIVIDUALS), st.sampled_from(VALUES)), max_size=8))
    found = [triple(x, str(RDF.type), c) for x, c in typed]
    found += [triple(x, str(RDF.type), str(OWL.NamedIndividual)) for x in named]
    found += [triple(*e) for e in edges]
    found += [triple(x, DATA[0], v) for x, v in data]
    return frozenset([*schema(), *found])


_roles = st.builds(Property, st.sampled_from(ROLES), st.booleans())
_data = st.builds(Property, st.sampled_from(DATA))
_integers = st.builds(
    lambda facet, n: ce.DataRange(str(XSD.integer), ((facet, Literal(n, datatype=XSD.integer)),)),
    st.sampled_from(("minInclusive", "maxInclusive", "minExclusive", "maxExclusive")),
    st.sampled_from(NUMBERS),
)
_ranges = st.one_of(
    _integers,
    st.just(ce.DataRange(str(XSD.decimal), (("minInclusive", Literal("2.0", datatype=XSD.decimal)),))),
    st.just(ce.DataRange(str(XSD.date), (("minExclusive", Literal("2024-02-01", datatype=XSD.date)),))),
    st.just(ce.DataRange(str(XSD.dateTime), (("maxInclusive", MOMENT),))),
    st.just(ce.DataRange(str(XSD.boolean))),
    st.just(ce.DataRange(str(XSD.string))),
)
_leaves = st.one_of(
    st.sampled_from((ce.Top(), ce.Bottom())), st.builds(ce.Named, st.sampled_from(CLASSES)),
    st.builds(ce.Value, _roles, st.sampled_from(INDIVIDUALS)),
    st.builds(ce.Value, _data, st.sampled_from(VALUES)),
    st.builds(lambda m: ce.OneOf(tuple(m)), st.lists(st.sampled_from(INDIVIDUALS), min_size=1, max_size=3)),
    st.builds(ce.DataSome, _data, _ranges), st.builds(ce.DataOnly, _data, _ranges),
)  # fmt: skip


def grown(
    role: st.SearchStrategy[Property], most: int, parts: int
) -> Callable[[st.SearchStrategy[Expression]], st.SearchStrategy[Expression]]:
    """Return what makes expressions of others, counting up to `most`, with so many parts at most."""
    n = st.integers(min_value=0, max_value=most)

    def grow(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        several = st.lists(inner, min_size=2, max_size=parts).map(tuple)
        counted = (st.builds(kind, n, role, inner) for kind in (ce.AtLeast, ce.AtMost, ce.Exactly))
        joined = (st.builds(kind, several) for kind in (ce.And, ce.Or))
        restricted = (st.builds(kind, role, inner) for kind in (ce.Some, ce.Only))
        return st.one_of(st.builds(ce.Not, inner), *joined, *restricted, *counted)

    return grow


expressions: st.SearchStrategy[Expression] = st.recursive(
    _leaves, grown(st.one_of(_roles, _roles, _data), 3, 3), max_leaves=5
)
