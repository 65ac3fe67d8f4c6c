"""Triples that contradict the axioms of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mrag.errors import InconsistentOntology
from mrag.rdf.terms import Term, Triple, from_ox, to_ox
from mrag.reasoning.axioms import Label
from mrag.reasoning.compile import compile_rules
from mrag.reasoning.evaluate import TripleCounts, clashes
from mrag.reasoning.rules import ConsistencyCheck, Ruleset
from mrag.stores.base import Dataset, TripleStore

_MAX_CLASHES = 100


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


def check(
    store: TripleStore,
    dataset: Dataset,
    *,
    ruleset: Ruleset | None = None,
    label: Label | None = None,
    max_clashes: int = _MAX_CLASHES,
) -> list[Clash]:
    """Find triples that contradict the axioms.

    Args:
        store: The store.
        dataset: Asserted and inferred graphs; without the latter only direct contradictions show.
        ruleset: The compiled axioms.
        label: Returns the names in the axioms' words.
        max_clashes: Most clashes in all.
    """
    rules = ruleset or compile_rules(store, dataset)
    return find_clashes(
        store, dataset, rules.checks, TripleCounts.of(store, dataset.default), label, max_clashes
    )


def find_clashes(
    store: TripleStore,
    dataset: Dataset,
    checks: Iterable[ConsistencyCheck],
    counts: TripleCounts,
    label: Label | None,
    max_clashes: int = _MAX_CLASHES,
) -> list[Clash]:
    """Find the triples that some checks match.

    Args:
        store: The store.
        dataset: Asserted and inferred graphs.
        checks: The checks.
        counts: Triples of the graphs by predicate and class.
        label: Returns the names in the axioms' words.
        max_clashes: Most clashes in all.
    """
    found: dict[tuple[str, tuple[Triple, ...]], Clash] = {}
    for each in checks:
        text = clashes(each, counts, max_clashes)
        for row in store.select(text, dataset) if text and len(found) < max_clashes else ():
            bound = zip(each.variables(), row, strict=False)
            binding = {v: to_ox(t) for v, t in bound if t is not None}
            triples = tuple(triple_of(atom.substitute(binding)) for atom in each.body)  # type: ignore[arg-type]
            words = each.axiom.text(label) if each.axiom else _LANGUAGE.get(each.name, each.name)
            facts = tuple(sorted(set(triples)))
            found.setdefault((each.name, facts), Clash(words, each.name, facts))
    return sorted(found.values(), key=lambda c: (c.rule, c.axiom, c.triples))[:max_clashes]


_LANGUAGE = {
    "cls-nothing2": "Nothing has no instances",
    "eq-diff1": "What is the same cannot be different",
    "prp-bottom": "The bottom property relates nothing",
}


def triple_of(atom: object) -> Triple:
    """Turn a pattern without variables into a triple."""
    s, p, o = (from_ox(getattr(atom, place)) for place in "spo")
    return Triple(s, p, o)  # type: ignore[arg-type]  # subjects of stored triples are no literals


def inconsistent(found: Sequence[Clash], label: Label | None) -> InconsistentOntology:
    """Return the error for contradictions, which names the first."""
    first = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""

    def say(term: Term) -> str:
        text = term.n3()
        return label(str(term)) if label and text.startswith("<") else text

    facts = "; ".join(" ".join(say(t) for t in triple) for triple in first.triples)
    return InconsistentOntology(
        f"The graph contradicts its ontology: {facts} against {first.axiom} ({first.rule}){more}.",
        clashes=tuple(found),
        hint="Correct or remove one of these triples, or the axiom.",
    )
