"""What follows and contradicts the ontology is kept apart: it is not in sight, and nothing rests on it.

Asserted triples stay as they are, and what follows from them is inferred. Of the inferred triples those go
apart that clash; and where two things are one only by inference and what they have together clashes, that
they are one goes apart too. So a wrong value or an axiom that the data do not keep to costs what would be
wrong, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from mrag.rdf.patterns import Compare, Construct, Filter, Graph, Group, NotExists, TriplePattern, iri, var
from mrag.reasoning.axioms import SAME
from mrag.reasoning.evaluate import TripleCounts, applies, clashing
from mrag.reasoning.rounds import Rounds
from mrag.reasoning.rules import Ruleset
from mrag.reasoning.upkeep.retract import Retraction, TooFarReaching
from mrag.stores.base import Dataset, TripleStore

_S, _P, _O, _X = (var(name) for name in "spox")
_SOMEWHERE = var("graph")
_SAMES = TriplePattern(_S, SAME, _O)
_MOST = 20_000
"""Triples taken out from which on inferring everything anew is quicker."""


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

    Raises:
        TooFarReaching: If so much rests on them that it is quicker to infer everything without them.
    """
    clash = barred_graph(prefix)
    if not _clashing(store, rules, asserted, inferred, clash, counts).total:
        return None
    if TripleCounts.of(store, (clash,)).match(_SAMES):
        # What is the same shares all triples, and each of them follows from every other way round.
        raise TooFarReaching
    taken = Retraction(store, rules.rules, asserted, inferred, prefix, _MOST)
    taken.run(clash, barred=True)
    for graph in (clash, taken.back):
        store.clear(graph)
    return taken.lost


def barred_graph(prefix: str) -> str:
    """Return the IRI of the graph in which `withhold` collects what clashes."""
    return f"{prefix}:clash"


def without(
    store: TripleStore, rules: Ruleset, asserted: Sequence[str], inferred: Sequence[str], prefix: str
) -> tuple[tuple[str, ...], str]:
    """Infer everything anew without the triples that `withhold` found.

    Args:
        store: The store.
        rules: The rules of the axioms.
        asserted: The asserted graphs.
        inferred: The graphs of their whole closure.
        prefix: As for `withhold`.

    Returns:
        The graphs of what is inferred, and the graph of what is kept apart.
    """
    barred, apart = barred_graph(prefix), f"{prefix}:lost"
    store.clear(apart)
    run = Rounds(store, tuple(asserted), (), f"{prefix}:kept", rules, None, 2, stepwise=True, barred=barred)
    run.first(plain=rules.rules)
    kept = run.merged()
    everything = TriplePattern(_S, _P, _O)
    for graph in inferred:
        rest = Group((Graph(iri(graph), everything), Filter(NotExists(everything))))
        store.derive(Construct((everything,), rest), Dataset(kept, (graph,)), apart)
    store.clear(barred)
    return kept, apart


def _clashing(
    store: TripleStore,
    rules: Ruleset,
    asserted: Sequence[str],
    inferred: Sequence[str],
    clash: str,
    counts: TripleCounts,
) -> TripleCounts:
    whole = Dataset((*asserted, *inferred), tuple(inferred))
    for check in rules.checks:
        if check.body and applies(check, counts):
            for at, atom in enumerate(check.body):
                store.derive(Construct((atom,), clashing(check, counts, at)), whole, clash)
    found = TripleCounts.of(store, (clash,))
    if found.total and counts.match(_SAMES):
        _blame(store, whole, clash)
    return found


def _blame(store: TripleStore, whole: Dataset, clash: str) -> None:
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
    both = Construct((TriplePattern(_S, _P, _O),), Graph(iri(blamed), TriplePattern(_S, _P, _O)))
    store.derive(both, Dataset((), (blamed,)), clash)
    store.clear(blamed)
