"""The test cases of the OWL working group, read from their RDF and run by our rules."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.sax import SAXParseException

import pyoxigraph as ox
from rdflib import OWL, RDF, RDFS, BNode, Graph, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.exceptions import ParserError
from rdflib.term import Node

from mrag.errors import TermError
from mrag.rdf.patterns import Ask, Group, TriplePattern, to_sparql, var
from mrag.rdf.terms import SKOLEM, to_ox
from mrag.reasoning.rounds import materialise
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore

TEST = Namespace("http://www.w3.org/2007/OWL/testOntology#")
ROOT = Path(__file__).resolve().parents[2]
KINDS = ("positive", "negative", "consistent", "inconsistent")


def data_file() -> Path:
    """Return where the cases should be."""
    shared = Path(os.environ.get("MRAG_SHARED_DATA", str(ROOT / ".." / "shared" / "data")))
    return shared / "owl_wg_tests" / "semantics-direct.rdf"


@dataclass(frozen=True)
class Case:
    """One case in one of its roles."""

    name: str
    kind: str
    profiles: tuple[str, ...]
    premise: str
    conclusion: str = ""
    imports: bool = False

    @property
    def id(self) -> str:
        return f"{self.name}-{self.kind}"


@cache
def cases() -> tuple[Case, ...]:
    """Read all cases that have a premise in RDF/XML."""
    return tuple(sorted(_read(), key=lambda c: c.id))


def _read() -> Iterator[Case]:
    # Every worker of the tests reads this file to know its tests, and rdflib takes ten times as long.
    stated: dict[str, dict[str, list[str]]] = {}
    text = re.sub(rb"(<!ENTITY \S+) '([^']*)'>", rb'\1 "\2">', data_file().read_bytes())
    for quad in ox.parse(text, format=ox.RdfFormat.RDF_XML):
        if isinstance(quad.subject, ox.NamedNode) and not isinstance(quad.object, ox.Triple):
            of = stated.setdefault(quad.subject.value, {})
            of.setdefault(quad.predicate.value, []).append(quad.object.value)
    roles = {
        "positive": (TEST.PositiveEntailmentTest, TEST.rdfXmlConclusionOntology),
        "negative": (TEST.NegativeEntailmentTest, TEST.rdfXmlNonConclusionOntology),
        "consistent": (TEST.ConsistencyTest, None),
        "inconsistent": (TEST.InconsistencyTest, None),
    }
    for node, of in sorted(stated.items()):
        types = of.get(str(RDF.type), [])
        premise = of.get(str(TEST.rdfXmlPremiseOntology))
        if str(TEST.TestCase) not in types or premise is None:
            continue
        name = of.get(str(TEST.identifier), [node])[0].strip()
        profiles = tuple(sorted(p.rsplit("#", 1)[-1] for p in of.get(str(TEST.profile), [])))
        for kind, (cls, part) in roles.items():
            conclusion = of.get(str(part)) if part is not None else [""]
            if str(cls) in types and conclusion is not None:
                yield Case(name, kind, profiles, premise[0], conclusion[0], str(TEST.importedOntology) in of)


def parse(text: str) -> Graph:
    try:
        return Graph().parse(data=text, format="xml", publicID="http://test.example/")
    except (ParserError, SAXParseException) as error:
        raise Unchecked("not RDF/XML") from error


def load(graph: Graph, into: OxigraphStore, name: str) -> None:
    """Put an rdflib graph into the store with its blank nodes made IRIs, as a load does."""
    lines = []
    for triple in graph:
        try:
            s, p, o = (ox.NamedNode(f"{SKOLEM}{t}") if isinstance(t, BNode) else to_ox(t) for t in triple)
        except TermError as error:
            raise Unchecked("a term that RDF 1.1 does not allow") from error
        lines.append(str(ox.Triple(s, p, o)) + " .")  # type: ignore[arg-type]
    into.insert("\n".join(sorted(lines)).encode(), name)


_PARTS = (OWL.onProperty, OWL.intersectionOf, OWL.unionOf, OWL.complementOf, OWL.oneOf, OWL.onDatatype)
_DECLARED = {
    OWL.Class, OWL.ObjectProperty, OWL.DatatypeProperty, OWL.AnnotationProperty, OWL.NamedIndividual,
    OWL.Ontology, OWL.Thing, OWL.Restriction, RDFS.Datatype, RDFS.Class, RDF.Property, RDF.List,
    OWL.DataRange, OWL.AllDifferent, OWL.AllDisjointClasses, OWL.NegativePropertyAssertion,
    OWL.AllDisjointProperties,
    OWL.DeprecatedClass, OWL.DeprecatedProperty,
}  # fmt: skip
_VOCABULARY = (*_PARTS, OWL.members, OWL.distinctMembers, OWL.someValuesFrom, OWL.allValuesFrom, OWL.hasValue,
               RDF.first, RDF.rest, OWL.onClass, OWL.onDataRange, OWL.withRestrictions)  # fmt: skip


class Unchecked(Exception):
    """A conclusion has a form that is not looked up in a closure."""


def entailed(case: Case) -> bool:
    """Return whether the conclusion of a case holds in the closure of its premise.

    Nameless classes of the conclusion are given names by definitions added to the premise, which
    changes nothing that follows otherwise.
    """
    conclusion = parse(case.conclusion)
    extra, atoms = Graph(), []
    classes = {n for n in conclusion.subjects() if isinstance(n, BNode) and _is_class(conclusion, n)}
    names: dict[Node, URIRef] = {n: URIRef(f"urn:test:{n}") for n in classes}
    lists = {n for n in conclusion.subjects(RDF.first) if isinstance(n, BNode)}
    for s, p, o in sorted(conclusion):
        if isinstance(p, URIRef) and (s in classes or s in lists) and (p in _VOCABULARY or _technical(p)):
            extra.add((s, p, o))
            continue
        if (p == RDF.type and o in _DECLARED) or p in (OWL.imports, OWL.versionInfo):
            if p == RDF.type and o in (OWL.ObjectProperty, OWL.DatatypeProperty, RDFS.Datatype):
                extra.add((s, p, o))
            continue
        atoms.append((s, p, o))
    for atom in list(atoms):
        if atom[1] in (OWL.distinctMembers, OWL.members):
            atoms.remove(atom)
            members = list(Collection(conclusion, atom[2]))
            different = (atom[0], RDF.type, OWL.AllDifferent) in conclusion
            if not different:
                raise Unchecked("list axiom")
            atoms += [(a, OWL.differentFrom, b) for i, a in enumerate(members) for b in members[i + 1 :]]
    if any(p in (OWL.sourceIndividual, OWL.hasKey, OWL.propertyChainAxiom) for _, p, _ in atoms):
        raise Unchecked("axiom of several triples")
    negative = [a for a in atoms if a[1] == OWL.differentFrom or _complement(conclusion, a)]
    for s, p, o in negative:
        # What is not the case is not stored. It holds if the opposite contradicts the premise.
        opposite = Graph() + extra
        other = conclusion.value(o, OWL.complementOf) if p == RDF.type else o
        opposite.add((s, RDF.type if p == RDF.type else OWL.sameAs, names.get(other, other)))
        contradicted = closed(case, opposite, names)
        if not contradicted.result.clashes:  # type: ignore[attr-defined]
            return False
    atoms = [a for a in atoms if a not in negative]
    store = closed(case, extra, names)
    try:
        body = []
        for s, p, o in atoms:
            trivial = s == o and p in (RDFS.subClassOf, RDFS.subPropertyOf, OWL.equivalentClass, OWL.sameAs,
                                       OWL.equivalentProperty)  # fmt: skip
            if trivial or (p == RDFS.subClassOf and (o == OWL.Thing or s == OWL.Nothing)):
                continue
            body.append(TriplePattern(*(_node(t, names) for t in (s, p, o))))
        return store.ask(to_sparql(Ask(Group(tuple(body)))), _both(store))
    finally:
        store.close()


def _node(term: Node, names: dict[Node, URIRef]) -> ox.NamedNode | ox.Literal | ox.Variable:
    if isinstance(term, BNode) and term not in names:
        return var(f"b{term}")
    return to_ox(names.get(term, term))  # type: ignore[return-value]


def _complement(graph: Graph, atom: tuple[Node, Node, Node]) -> bool:
    return atom[1] == RDF.type and (atom[2], OWL.complementOf, None) in graph


def _is_class(graph: Graph, node: BNode) -> bool:
    return any((node, p, None) in graph for p in _PARTS)


def _technical(p: URIRef) -> bool:
    return "ardinality" in p or p == OWL.hasSelf or (p.startswith("http://www.w3.org/2001/XMLSchema#"))


def _both(store: OxigraphStore) -> Dataset:
    return Dataset(default=("urn:a", *(g for g in store.graphs() if g.startswith("urn:i:"))))


def closed(case: Case, extra: Graph | None = None, names: dict[Node, URIRef] | None = None) -> OxigraphStore:
    """Return a store with the premise and its closure; `clashes` is set on it."""
    store = OxigraphStore()
    premise = parse(case.premise)
    for triple in extra or ():
        premise.add(triple)
    for node, name in (names or {}).items():
        premise.add((name, OWL.equivalentClass, node))
    load(premise, store, "urn:a")
    store.result = materialise(  # type: ignore[attr-defined]
        store, Dataset(default=("urn:a",)), "urn:i", on_inconsistency="report", threads=1
    )
    return store


def consistent(case: Case) -> bool:
    """Return whether no check finds a contradiction."""
    store = closed(case)
    clashes = store.result.clashes  # type: ignore[attr-defined]
    store.close()
    return not clashes


@cache
def passes(case: Case) -> bool:
    """Run a case, once. What has a form that cannot be looked up counts as failed."""
    try:
        if case.kind in ("positive", "negative"):
            return entailed(case) == (case.kind == "positive")
        return consistent(case) == (case.kind == "consistent")
    except Unchecked:
        return case.kind == "negative"


def report(profile: str | None = None) -> dict[str, list[int]]:
    """Return, for each kind, how many cases pass and how many there are."""
    passed, total = Counter[str](), Counter[str]()
    for case in cases():
        if profile is None or profile in case.profiles:
            total[case.kind] += 1
            passed[case.kind] += passes(case)
    return {kind: [passed[kind], total[kind]] for kind in KINDS}
