"""Reasoning over a knowledge graph: from scratch or from what was added, landing as one change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import UNNAMED, TouchedEntities, named_graph
from mrag.rdf.patterns import Construct, Graph, TriplePattern, iri, var
from mrag.rdf.terms import Triple, curie
from mrag.reasoning.compile import compile_rules
from mrag.reasoning.evaluate import TripleCounts
from mrag.reasoning.incremental import Follower, TooFarReaching, withhold, without
from mrag.reasoning.proofs import Proof, prove
from mrag.reasoning.rounds import (
    ClashGroup,
    Closure,
    OnInconsistency,
    Round,
    accelerate,
    check,
    extend,
    materialise,
)
from mrag.stores.base import Dataset

_ANY = TriplePattern(var("s"), var("p"), var("o"))
_DEFAULT = "default"


def chosen(kg: KnowledgeGraph, graphs: Sequence[str] | None) -> tuple[str, ...]:
    """Return the named graphs that reasoning is to read, in order; none for all that is asserted."""
    if graphs is None:
        return kg.record.premises
    named = {
        UNNAMED if g in (_DEFAULT, UNNAMED) else named_graph(kg.record, g, kg.name, kg.prefixes)
        for g in graphs
    }
    return tuple(sorted(named))


def premises(kg: KnowledgeGraph, names: Sequence[str]) -> Dataset:
    """Return the graphs that hold what reasoning reads; several that were chosen may share triples."""
    if not names:
        return kg.dataset("asserted")
    unnamed = [g for g in kg.record.asserted if g != kg.record.merged]
    return Dataset(tuple(g for name in names for g in (unnamed if name == UNNAMED else [name])))


@contextmanager
def united(kg: KnowledgeGraph, names: Sequence[str], prefix: str) -> Iterator[Dataset]:
    """Yield the graphs that reasoning reads, without triples that two of them share."""
    found = premises(kg, names)
    if not names or len(found.default) == 1:
        yield found
        return
    into = f"{prefix}:premises"
    try:
        for graph in found.default:
            kg.store.derive(Construct((_ANY,), Graph(iri(graph), _ANY)), Dataset((), (graph,)), into)
        yield Dataset((into,))
    finally:
        kg.store.clear(into)


def without_asserted(kg: KnowledgeGraph, closure: Closure) -> Closure:
    """Take out of a closure, which is not in sight yet, what graphs that were not read assert."""
    graphs = kg.record.asserted
    sizes = {graph: kg.store.count(graph) for graph in (*graphs, *closure.graphs)}
    pairs = [(g, a) if sizes[g] <= sizes[a] else (a, g) for g in closure.graphs for a in graphs]
    taken = [g for g in closure.graphs for _ in graphs]
    kg.remove_doubles([(*pair, graph) for pair, graph in zip(pairs, taken, strict=True)])
    return replace(closure, triples=sum(kg.store.count(g) for g in closure.graphs))


def refuse_choice(kg: KnowledgeGraph, graphs: Sequence[str] | None) -> None:
    """Refuse to choose where the server reasons over all of its graphs."""
    if graphs:
        raise ConfigError(
            "This server reasons over all of its graphs together.",
            endpoint=kg.store.url,
            hint="Leave --graph (graphs=) out.",
        )


Engine = Literal["rules", "sparq"]


def reason(
    kg: KnowledgeGraph,
    *,
    engine: str = "rules",
    on_round: Callable[[Round], None] | None = None,
    on_inconsistency: OnInconsistency = "report",
    graphs: Sequence[str] | None = None,
) -> Closure:
    """Bring the inferred triples of a knowledge graph up to date.

    In an embedded store additions and deletions are followed: what rested on a deleted triple is deleted,
    unless it follows from others too. After a change of axioms, and on servers after deletions, everything is
    inferred anew. The inferred layer changes in one transaction at the end, or in one for deletions and one
    for additions: until then, and after a crash, queries see the layer of before.

    What follows and contradicts the ontology is kept apart, out of sight, and nothing rests on it.

    Where named graphs are chosen, reasoning reads these alone, then and after later changes, until others are
    chosen; then everything is inferred anew after each change.

    Args:
        kg: The knowledge graph.
        engine: `rules` runs OWL 2 RL and a little more as SPARQL in the store; `sparq` has the
            accelerator sparq-rdf do most of it (extra `accelerate`).
        on_round: Called after each round of rules.
        on_inconsistency: What triples that contradict the axioms do: `report` infers all the same and gives
            them in the closure, `error` raises.
        graphs: Named graphs that are read, by IRI or CURIE, `default` for what is in none; empty for all that
            is asserted, which is so by default; None for the choice of before.

    Raises:
        InconsistentOntology: If the triples contradict the axioms and that is an error; the layer is as it
            was before.
        ConfigError: If there is no such engine, or no such named graph.

    Example:
        >>> import mrag
        >>> from rdflib import RDFS, URIRef
        >>> kg = mrag.connect()
        >>> _ = kg.insert([Triple(URIRef("urn:hasPart"), RDFS.range, URIRef("urn:Part")),
        ...                Triple(URIRef("urn:car"), URIRef("urn:hasPart"), URIRef("urn:wheel"))])
        >>> reason(kg).triples
        1
        >>> kg.query("ASK { <urn:wheel> a <urn:Part> }")
        True
        >>> kg.close()
    """
    if engine not in ("rules", "sparq"):
        raise ConfigError(f"There is no reasoner {engine!r}.", hint="Use rules or sparq.")
    if kg.store.capabilities.reasoning:
        refuse_choice(kg, graphs)
        inferred = sum(kg.store.count(g) for g in kg.record.inferred)
        note = "The server infers by its own rules as triples come in."
        return Closure(kg.record.inferred, inferred, (), 0.0, notes=(note,))
    record, names = kg.record, chosen(kg, graphs)
    prefix = f"{kg.iri}:inferred:{record.revision + 1}"
    kg.collect(f"{prefix}:")
    label = _label(kg)
    kg.begin("reasoning")
    try:
        whole = not (names or record.premises)
        if whole and engine == "rules" and record.followed and record.changed:
            if (done := _followed(kg, prefix, on_round, on_inconsistency)) is not None:
                return done
            prefix = f"{kg.iri}:inferred:{kg.record.revision + 1}:0"
        kg.collect()
        run = accelerate if engine == "sparq" else materialise
        with united(kg, names, prefix) as asserted:
            closure = run(
                kg.store, asserted, prefix, on_round=on_round, on_inconsistency=on_inconsistency, label=label
            )
            closure, apart = _kept_apart(kg, closure, asserted, f"{prefix}:apart")
        closure = without_asserted(kg, closure) if names else closure
    except BaseException:
        kg.end()
        raise
    kg.set_inferred(closure.graphs, closure.triples, (apart,) if apart else (), names)
    return closure


def proof_of(kg: KnowledgeGraph, triple: Triple) -> Proof | None:
    """Prove a triple down to asserted ones; None if it is neither asserted nor inferred."""
    asserted, inferred, label = kg.dataset("asserted"), kg.dataset("inferred"), _label(kg)
    names = kg.record.premises
    if not names:
        return prove(kg.store, asserted, inferred, triple, label=label)
    # By the axioms that reasoning read; by facts that it did not read only where they stand for what it
    # inferred as well.
    rules = compile_rules(kg.store, premises(kg, names))
    found = prove(kg.store, asserted, inferred, triple, ruleset=rules, label=label)
    if found is None or found.asserted:
        return found
    return prove(kg.store, premises(kg, names), inferred, triple, ruleset=rules, label=label) or found


def contradictions_of(kg: KnowledgeGraph) -> list[ClashGroup]:
    """Find what contradicts the axioms in a graph as it is, in groups, the largest first."""
    asserted = premises(kg, kg.record.premises)
    rules = compile_rules(kg.store, asserted)
    whole = Dataset((*asserted.default, *kg.record.inferred, *kg.record.apart))
    return check(kg.store, whole, ruleset=rules, label=_label(kg))


def _followed(
    kg: KnowledgeGraph,
    prefix: str,
    on_round: Callable[[Round], None] | None,
    on_inconsistency: OnInconsistency,
) -> Closure | None:
    """Infer from what has changed alone, and land it; None where everything has to be inferred anew."""
    record = kg.record
    strict = on_inconsistency == "error"
    if kg.store.capabilities.edges and not (strict and record.apart):
        found = Follower(kg, prefix, on_round, on_inconsistency, _label(kg)).run()
        if found is not None:
            return found
    record = kg.record
    if not record.added or record.came or record.removed or record.apart:
        return None
    closure = _extended(kg, f"{prefix}:0", on_round, on_inconsistency)
    if closure.contradictions and not strict:
        return None  # what is to be kept apart depends on all of it
    new = [g for g in closure.graphs if g not in record.inferred]
    touched = (
        TouchedEntities.of(quad for g in new for quad in kg.store.edges(g))
        if kg.store.capabilities.edges
        else None
    )
    kg.set_inferred(closure.graphs, closure.triples, touched=touched)
    return closure


def _extended(
    kg: KnowledgeGraph,
    prefix: str,
    on_round: Callable[[Round], None] | None,
    on_inconsistency: OnInconsistency,
) -> Closure:
    """Infer from graphs that came, axioms among them, one after the other."""
    record = kg.record
    known = [g for g in record.asserted if g not in record.added]
    graphs = record.inferred
    closure = Closure(graphs, 0, (), 0.0)
    for number, added in enumerate(record.added):
        closure = extend(
            kg.store,
            Dataset(tuple(known)),
            graphs,
            added,
            f"{prefix}:{number}",
            on_round=on_round,
            on_inconsistency=on_inconsistency,
            label=_label(kg),
        )
        known.append(added)
        graphs = closure.graphs
    return replace(closure, triples=sum(kg.store.count(g) for g in graphs))


def _kept_apart(
    kg: KnowledgeGraph, closure: Closure, asserted: Dataset, prefix: str
) -> tuple[Closure, str | None]:
    """Take what contradicts the ontology, and what rests on it, out of a closure that is not in sight yet."""
    if not closure.contradictions:
        return closure, None
    rules = compile_rules(kg.store, asserted)
    counts = TripleCounts.of(kg.store, (*asserted.default, *closure.graphs))
    try:
        apart = withhold(kg.store, rules, asserted.default, closure.graphs, prefix, counts)
        if apart is None:
            return closure, None
        kg.remove_doubles([(apart, graph, graph) for graph in closure.graphs])
    except TooFarReaching:
        graphs, apart = without(kg.store, rules, asserted.default, closure.graphs, prefix)
        leftover = (*closure.leftover, *closure.graphs)
        closure = replace(closure, graphs=graphs, leftover=leftover)
    return replace(closure, triples=sum(kg.store.count(g) for g in closure.graphs)), apart


def _label(kg: KnowledgeGraph) -> Callable[[str], str]:
    return lambda iri: kg.labels([iri])[iri] or curie(iri, kg.prefixes)
