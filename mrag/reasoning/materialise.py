"""The closure of a graph under its axioms, kept apart from what was asserted.

It is worked out from scratch, from what was added, or from what another engine has inferred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mrag.reasoning.axioms import Label
from mrag.reasoning.compile import compile_rules
from mrag.reasoning.evaluate import TripleCounts
from mrag.reasoning.rounds import Closure, OnInconsistency, Round, Rounds
from mrag.reasoning.rules import Ruleset
from mrag.stores.base import Dataset, TripleStore


def materialise(
    store: TripleStore,
    asserted: Dataset,
    prefix: str,
    *,
    on_round: Callable[[Round], None] | None = None,
    on_inconsistency: OnInconsistency = "error",
    label: Label | None = None,
    threads: int = 2,
    ruleset: Ruleset | None = None,
) -> Closure:
    """Infer everything that follows from the asserted graphs by OWL 2 RL and a little more.

    Args:
        store: The store.
        asserted: Its asserted graphs, as `default`. They must not share triples.
        prefix: Start of the names of the graphs to write, `{prefix}:1` and so on. On any error, or if
            the process ends, graphs of such names may be left behind; nothing else is touched.
        on_round: Called after each round.
        on_inconsistency: Raise on contradictions, or report them in the closure.
        label: Returns the names in messages.
        threads: How many rules of a round may run at once.
        ruleset: Rules compiled before, to save that time.

    Raises:
        InconsistentOntology: If the triples contradict the axioms. `clashes` holds the triples.

    Source:
        OWL 2 Profiles, section 4.3; semi-naive evaluation: Abiteboul, Hull and Vianu, Foundations of
        Databases, section 13.1.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> store, g = OxigraphStore(), Dataset(default=("urn:g",))
        >>> store.update('''PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        ... INSERT DATA { GRAPH <urn:g> {
        ...   <urn:hasPart> rdfs:range <urn:Part> . <urn:car> <urn:hasPart> <urn:wheel> }}''')
        >>> closure = materialise(store, g, "urn:i")
        >>> closure.graphs, closure.triples
        (('urn:i:1',), 1)
        >>> store.ask("ASK { <urn:wheel> a <urn:Part> }", Dataset(default=closure.graphs))
        True
        >>> store.close()
    """
    rules = ruleset or compile_rules(store, asserted)
    run = Rounds(store, asserted.default, (), prefix, rules, on_round, threads)
    run.first(plain=rules.rules)
    return run.finish(on_inconsistency, label)


def extend(
    store: TripleStore,
    asserted: Dataset,
    inferred: Sequence[str],
    added: str,
    prefix: str,
    *,
    on_round: Callable[[Round], None] | None = None,
    on_inconsistency: OnInconsistency = "error",
    label: Label | None = None,
    threads: int = 2,
) -> Closure:
    """Infer what follows from triples that have been added to a graph with a closure.

    Args:
        store: The store.
        asserted: The asserted graphs without the addition.
        inferred: The graphs of their closure. They are read only.
        added: The graph of the added triples, which the asserted graphs do not hold.
        prefix: Start of the names of the graphs to write.
        on_round: Called after each round.
        on_inconsistency: Raise on contradictions, or report them.
        label: Returns the names in messages.
        threads: How many rules of a round may run at once.

    Returns:
        The closure; its graphs are `inferred` and the new ones. Its union equals that of a closure from
        scratch. Where axioms were added their rules run over everything once, others over what is new.
        Removal of triples needs `materialise` again.

    Raises:
        InconsistentOntology: If the triples contradict the axioms.
    """
    before = compile_rules(store, asserted)
    known = set(before.rules)
    whole = Dataset(default=tuple(dict.fromkeys((*asserted.default, added))))
    rules = compile_rules(store, whole)
    run = Rounds(store, whole.default, tuple(inferred), prefix, rules, on_round, threads)
    fresh = [r for r in rules.rules if r not in known]
    run.first(plain=fresh, old=[r for r in rules.rules if r in known], added=added)
    return run.finish(on_inconsistency, label, added=added)


def run_after(
    store: TripleStore,
    asserted: Dataset,
    prefix: str,
    rules: Ruleset,
    began: float,
    counts: TripleCounts,
    *,
    on_round: Callable[[Round], None] | None,
    on_inconsistency: OnInconsistency,
    label: Label | None,
) -> Closure:
    """Go on from data triples that another engine of OWL 2 RL has put into `{prefix}:1`.

    Rules that it lacks, and rules about classes and properties, run over everything; if they add data,
    all rules go on from there.
    """
    run = Rounds(store, asserted.default, (), prefix, rules, on_round, 2, counts)
    run.started = began
    run.second([r for r in rules.rules if r.beyond or r.name.startswith("scm-")])
    return run.finish(on_inconsistency, label)
