"""What follows and contradicts the ontology is kept apart: it is not in sight, and nothing rests on it.

Asserted triples stay as they are, and what follows from them is inferred. Of the inferred triples those go
apart that clash; and where two things are one only by inference and what they have together clashes, that
they are one goes apart too. So a wrong value or an axiom that the data do not keep to costs what would be
wrong, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from mrag.rdf.patterns import Compare, Construct, Filter, Graph, Group, TriplePattern, iri, var
from mrag.reasoning.axioms import SAME
from mrag.reasoning.evaluate import TripleCounts, applies, clashing
from mrag.reasoning.rules import Ruleset
from mrag.reasoning.upkeep.retract import Retraction
from mrag.stores.base import Dataset, TripleStore

_S, _P, _O, _X = (var(name) for name in "spox")
_SOMEWHERE = var("graph")


def withhold(
    store: TripleStore,
    rules: Ruleset,
    asserted: Sequence[str],
    inferred: Sequence[str],
    prefix: str,
    counts: TripleCounts,
) -> str | None:
    """Find the inferred triples that are to be kept apart.

    Args:
        store: The store.
        rules: The rules of the axioms.
        asserted: The asserted graphs.
        inferred: The graphs of their whole closure.
        prefix: Start of the names of the graphs to write.
        counts: Triples of all these graphs.

    Returns:
        The graph of the triples, or None if there are none. They are in the closure still.
    """
    clash = f"{prefix}:clash"
    whole = Dataset((*asserted, *inferred), tuple(inferred))
    for check in rules.checks:
        if check.body and applies(check, counts):
            for at, atom in enumerate(check.body):
                store.derive(Construct((atom,), clashing(check, counts, at)), whole, clash)
    if not (found := TripleCounts.of(store, (clash,))).total:
        return None
    if counts.match(TriplePattern(_S, SAME, _O)):
        _blame(store, whole, clash, found)
    taken = Retraction(store, rules.rules, asserted, inferred, prefix)
    taken.run(clash, barred=True)
    for graph in (clash, taken.back):
        store.clear(graph)
    return taken.lost


def _blame(store: TripleStore, whole: Dataset, clash: str, found: TripleCounts) -> None:
    """Add the inferred equalities through which clashing triples follow."""
    blamed = f"{clash}:same"
    data = Dataset(whole.default, (*whole.named, clash))
    ways = (
        (TriplePattern(_S, _P, _O), TriplePattern(_X, SAME, _S), TriplePattern(_X, _P, _O)),
        (TriplePattern(_S, _P, _O), TriplePattern(_X, SAME, _O), TriplePattern(_S, _P, _X)),
    )
    for wrong, same, other in ways:
        parts = (Graph(iri(clash), wrong), Graph(_SOMEWHERE, same), other, Filter(Compare(_P, "!=", SAME)))
        back = TriplePattern(same.o, SAME, _X)
        store.derive(Construct((same, back), Group(parts)), data, blamed)
    if found.total:
        both = Construct((TriplePattern(_S, _P, _O),), Graph(iri(blamed), TriplePattern(_S, _P, _O)))
        store.derive(both, Dataset((), (blamed,)), clash)
    store.clear(blamed)
