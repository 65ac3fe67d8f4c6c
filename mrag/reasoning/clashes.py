"""Triples that contradict the axioms of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest

import pyoxigraph as ox
from rdflib import Literal

from mrag.errors import InconsistentOntology
from mrag.rdf.terms import RDF, XSD, Term, Triple, from_ox, ntriples_terms
from mrag.reasoning.axioms import Label
from mrag.reasoning.compile import compile_rules
from mrag.reasoning.evaluate import TripleCounts, clashes
from mrag.reasoning.rules import ConsistencyCheck, Ruleset
from mrag.stores.base import Dataset, Row, TripleStore

_MAX_CLASHES = 100
_MAX_ROWS = 20_000
"""Matches of one check that are counted; a graph that has more is told to have at least so many."""


@dataclass(frozen=True)
class Clash:
    """Triples that contradict an axiom.

    Attributes:
        axiom: The axiom in words.
        rule: Name of the rule of OWL 2 RL/RDF.
        triples: The triples that clash.
    """

    axiom: str
    rule: str
    triples: tuple[Triple, ...]


@dataclass(frozen=True)
class ClashGroup:
    """Contradictions of one axiom by literals of one datatype, or without literals.

    Attributes:
        axiom: The axiom in words.
        rule: Name of the rule of OWL 2 RL/RDF.
        datatype: Datatypes of the literals that clash, shortened; empty if none take part.
        count: How many there are.
        cut: Whether counting ended early, so that there may be more.
        clashes: The first of them.
    """

    axiom: str
    rule: str
    datatype: str
    count: int
    cut: bool
    clashes: tuple[Clash, ...]

    def text(self) -> str:
        """Return the group in one line.

        Example:
            >>> ClashGroup("age Range: integer", "dt-not-type", "xsd:string", 1200, False, ()).text()
            'age Range: integer (dt-not-type), values of xsd:string: 1,200'
        """
        values = f", values of {self.datatype}" if self.datatype else ""
        return f"{self.axiom} ({self.rule}){values}: {'at least ' if self.cut else ''}{self.count:,}"

    def to_json(self, examples: int = 5) -> dict[str, object]:
        """Return the group as values of JSON, with some of its clashes as terms of N-Triples."""
        shown = [[ntriples_terms(t) for t in clash.triples] for clash in self.clashes[:examples]]
        named = {"axiom": self.axiom, "rule": self.rule, "datatype": self.datatype}
        return {**named, "count": self.count, "at_least": self.cut, "examples": shown}


def check(
    store: TripleStore,
    dataset: Dataset,
    *,
    ruleset: Ruleset | None = None,
    label: Label | None = None,
) -> list[ClashGroup]:
    """Find triples that contradict the axioms.

    Args:
        store: The store.
        dataset: Asserted and inferred graphs; without the latter only direct contradictions show.
        ruleset: The compiled axioms, if they are not those of the dataset.
        label: Returns the names in the axioms' words.

    Returns:
        The contradictions in groups, the largest first.
    """
    rules = ruleset or compile_rules(store, dataset)
    return find_clashes(store, dataset, rules.checks, TripleCounts.of(store, dataset.default), label)


def find_clashes(
    store: TripleStore,
    dataset: Dataset,
    checks: Iterable[ConsistencyCheck],
    counts: TripleCounts,
    label: Label | None,
) -> list[ClashGroup]:
    """Find the triples that some checks match.

    Args:
        store: The store.
        dataset: Asserted and inferred graphs.
        checks: The checks.
        counts: Triples of the graphs by predicate and class.
        label: Returns the names in the axioms' words.

    Returns:
        The contradictions in groups, the largest first.
    """
    found: dict[tuple[str, str, str], list[Clash]] = {}
    seen: set[tuple[str, tuple[Triple, ...]]] = set()
    cut: set[tuple[str, str]] = set()
    for each in checks:
        text = clashes(each, counts, _MAX_ROWS)
        rows = list(store.select(text, dataset)) if text else []
        if not rows:
            continue
        words = each.axiom.text(label) if each.axiom else _LANGUAGE.get(each.name, each.name)
        if len(rows) == _MAX_ROWS:
            cut.add((each.name, words))
        for facts in _facts(each, rows):
            if (each.name, facts) not in seen:
                seen.add((each.name, facts))
                group = found.setdefault((each.name, words, _datatypes(facts)), [])
                group.append(Clash(words, each.name, facts))
    groups = [
        ClashGroup(words, rule, datatype, len(each), (rule, words) in cut, _first(each))
        for (rule, words, datatype), each in found.items()
    ]
    return sorted(groups, key=lambda g: (-g.count, g.rule, g.axiom, g.datatype))


def flat(groups: Iterable[ClashGroup]) -> tuple[Clash, ...]:
    """Return the first contradictions of groups, in order of rule, axiom and triples."""
    return _first(clash for group in groups for clash in group.clashes)


def _first(found: Iterable[Clash]) -> tuple[Clash, ...]:
    return tuple(nsmallest(_MAX_CLASHES, found, key=lambda c: (c.rule, c.axiom, [*map(_key, c.triples)])))


def _key(triple: Triple) -> tuple[str, ...]:
    """Return what a triple is sorted by; rdflib's own order takes ten times as long."""
    o = triple.o
    kind = f"{o.language} {o.datatype}" if isinstance(o, Literal) else ""
    return (str(triple.s), str(triple.p), str(o), kind)


def _facts(check: ConsistencyCheck, rows: Iterable[Row]) -> Iterator[tuple[Triple, ...]]:
    """Yield the triples of the body of a check for each row of its variables."""
    places = {v: at for at, v in enumerate(check.variables())}
    atoms = [
        [places[t] if isinstance(t, ox.Variable) else from_ox(t) for t in (atom.s, atom.p, atom.o)]  # type: ignore[arg-type]
        for atom in check.body
    ]
    for row in rows:
        triples = {Triple(*(row[t] if isinstance(t, int) else t for t in atom)) for atom in atoms}  # type: ignore[arg-type]
        yield tuple(sorted(triples, key=_key))


def _datatypes(triples: Iterable[Triple]) -> str:
    names = {
        "rdf:langString" if t.o.language else str(t.o.datatype or XSD + "string")
        for t in triples
        if isinstance(t.o, Literal)
    }
    return ", ".join(sorted(n.replace(XSD, "xsd:").replace(RDF, "rdf:") for n in names))


_LANGUAGE = {
    "cls-nothing2": "Nothing has no instances",
    "eq-diff1": "What is the same cannot be different",
    "prp-bottom": "The bottom property relates nothing",
}


def inconsistent(groups: Sequence[ClashGroup], label: Label | None) -> InconsistentOntology:
    """Return the error for contradictions, which names the first."""
    found, total = flat(groups), sum(group.count for group in groups)
    first = found[0]
    more = f" and {total - 1:,} more" if total > 1 else ""

    def say(term: Term) -> str:
        text = term.n3()
        return label(str(term)) if label and text.startswith("<") else text

    facts = "; ".join(" ".join(say(t) for t in triple) for triple in first.triples)
    return InconsistentOntology(
        f"The graph contradicts its ontology: {facts} against {first.axiom} ({first.rule}){more}.",
        clashes=found,
        hint="Take one of these triples or the axiom out with `mrag remove`, or infer without --strict.",
    )
