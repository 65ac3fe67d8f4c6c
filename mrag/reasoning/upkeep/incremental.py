"""Inferences follow what came and what went since the last reasoning, without inferring everything anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import cast

import pyoxigraph as ox

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import GraphChange, Record, TouchedEntities
from mrag.graph.updates import graph_of
from mrag.rdf.patterns import Construct, Graph, Group, TriplePattern, iri, var
from mrag.rdf.terms import SKOLEM
from mrag.reasoning.axioms import Label
from mrag.reasoning.clashes import ClashGroup, find_clashes, flat, inconsistent
from mrag.reasoning.compile import compile_rules
from mrag.reasoning.evaluate import LazyCounts, TripleCounts
from mrag.reasoning.rounds import Closure, OnInconsistency, Round, Rounds
from mrag.reasoning.rules import Ruleset
from mrag.reasoning.tbox import TBox
from mrag.reasoning.upkeep.apart import withhold
from mrag.reasoning.upkeep.retract import Retraction, TooFarReaching
from mrag.reasoning.upkeep.sameness import has_large_sets
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore

_ANY = TriplePattern(var("s"), var("p"), var("o"))
_MOST = 500_000
"""Triples taken out for a while from which on everything is inferred anew."""
_SMALL = 20_000
"""Inferred triples up to this many go to a graph that is there: each graph more makes reading slower."""


class Follower:
    """Brings the inferred triples of a knowledge graph in an embedded store up to date.

    Args:
        kg: The knowledge graph, whose record says what came and went.
        prefix: Start of the names of the graphs to write.
        on_round: Called after each round of rules over what came.
        on_inconsistency: Raise on new contradictions, or report them.
        label: Returns the names in messages.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        prefix: str,
        on_round: Callable[[Round], None] | None,
        on_inconsistency: OnInconsistency,
        label: Label,
    ) -> None:
        self.kg, self.store, self.prefix = kg, kg.store, prefix
        self.on_round, self.on_inconsistency, self.label = on_round, on_inconsistency, label

    def run(self) -> Closure | None:
        """Follow the changes, in one transaction for what went and one for what came.

        Returns:
            What holds now; None where everything has to be inferred anew, because axioms changed or too
            much rests on what went.

        Raises:
            InconsistentOntology: If what came contradicts the axioms and that is an error.
        """
        began, record = time.perf_counter(), self.kg.record
        changes = (*record.added, *record.came, *record.removed)
        if self._axioms(changes) or has_large_sets(self.store, (*record.asserted, *record.inferred)):
            return None
        rules = compile_rules(self.store, Dataset(record.asserted))
        try:
            if record.removed:
                self._take_out(rules)
            rounds, groups = self._bring_in(rules)
        except TooFarReaching:
            return None
        notes = rules.notes
        if self.kg.record.inferences < 0:
            count = sum(self.store.count(g) for g in self.kg.record.inferred)
            self.kg.commit(replace(self.kg.record, inferences=count), changed=False)
        return Closure(
            self.kg.record.inferred,
            self.kg.record.inferences,
            rounds,
            time.perf_counter() - began,
            clashes=flat(groups),
            contradictions=tuple(groups),
            notes=notes,
        )

    # -- inside ------------------------------------------------------------------------------------

    def _axioms(self, graphs: Sequence[str]) -> bool:
        """Return whether axioms, or instances of classes without a name, are among the changes."""
        box = TBox.read(self.store, Dataset(tuple(graphs)))
        counts = TripleCounts.of(self.store, graphs)
        nameless = any(name.startswith(SKOLEM) for name in counts.classes)
        return bool(box.triples or box.structure or box.kinds or nameless)

    def _take_out(self, rules: Ruleset) -> None:
        """Take out what rested on what went, and commit that."""
        record, store = self.kg.record, self.store
        gone = self._one(record.removed, "gone")
        known = (*record.inferred, *record.apart)
        work = Retraction(store, rules.rules, record.asserted, known, f"{self.prefix}:retract", _MOST)
        work.run(gone)
        out = [q for g in known for q in self._held(work.lost, g)]
        back = [q for q in self._quads(work.back, record.inferred[0]) if not self._anywhere(q, known)]
        after = replace(record, removed=())
        self._commit(after, out, back, done=not (record.added or record.came or record.apart))
        for graph in {*record.removed, gone, work.lost, work.back}:
            store.clear(graph)

    def _bring_in(self, rules: Ruleset) -> tuple[tuple[Round, ...], list[ClashGroup]]:
        """Infer what follows from what came, look for contradictions, and commit that."""
        record, store = self.kg.record, self.store
        if not (record.added or record.came or record.apart):
            return (), []
        delta = self._delta(record)
        known = (*record.inferred, *record.apart)
        counts = LazyCounts(store, (*record.asserted, *known))
        run = Rounds(
            store,
            record.asserted,
            known,
            f"{self.prefix}:new",
            rules,
            self.on_round,
            1,
            counts,
            stepwise=True,
        )
        run.first(plain=(), old=rules.rules, added=delta)
        fresh = tuple(run.live)
        if run.same.centre:
            run.same.forget()
            raise TooFarReaching  # what was said of a name of a set that is large now goes to one alone
        groups = self._clashes(rules, (*record.asserted, *known, *fresh), (delta, *fresh), counts)
        if groups and self.on_inconsistency == "error":
            raise inconsistent(groups, self.label)
        whole = (*known, *fresh)
        apart = None
        if record.apart or groups:
            sizes = TripleCounts.of(store, (*record.asserted, *whole))
            apart = withhold(store, rules, record.asserted, whole, f"{self.prefix}:apart", sizes)
        self._settle(record, fresh, apart)
        for graph in {delta, *record.came, *record.apart, *fresh} - {*self._named(self.kg.record)}:
            store.clear(graph)
        return tuple(run.rounds), groups

    def _settle(self, record: Record, fresh: tuple[str, ...], apart: str | None) -> None:
        """Put what was inferred in sight, and what is to be kept apart out of it."""
        store, base = self.store, record.inferred[0]
        large = [g for g in fresh if store.count(g) > _SMALL]
        barred = {q.triple for q in self._quads(apart, base)} if apart else set[ox.Triple]()
        into = [q for g in fresh if g not in large for q in self._quads(g, base) if q.triple not in barred]
        for graph in record.apart:
            # Asserted since then, it is in sight already.
            into += [
                q
                for q in self._quads(graph, base)
                if q.triple not in barred and not self._anywhere(q, record.asserted)
            ]
        out = [q for g in (*record.inferred, *large) for q in self._held(apart, g)] if apart else []
        count = record.inferences
        after = replace(
            record,
            inferred=(*record.inferred, *large),
            inferences=count if record.inferences < 0 else record.inferences + sum(map(store.count, large)),
            added=(),
            came=(),
            apart=(apart,) if apart else (),
        )
        self._commit(after, out, into, done=True)

    def _clashes(
        self, rules: Ruleset, graphs: tuple[str, ...], fresh: Iterable[str], counts: TripleCounts
    ) -> list[ClashGroup]:
        """Find the contradictions that something new takes part in."""
        sizes = TripleCounts()
        for graph in fresh:
            sizes.add(TripleCounts.of(self.store, (graph,)))
        checks = [c for c in rules.checks if any(sizes.match(atom) for atom in c.body)]
        return find_clashes(self.store, Dataset(graphs), checks, counts, self.label)

    def _commit(self, after: Record, out: list[ox.Quad], into: list[ox.Quad], *, done: bool) -> None:
        from mrag.rdf.patterns import to_data

        count = after.inferences
        if count >= 0:
            count += len(into) - sum(graph_of(q) in after.inferred for q in out)
        revision = after.revision + 1
        after = replace(after, inferences=count, revision=revision, pending="")
        after = replace(after, reasoned=revision) if done else after
        known = after.inferred == self.kg.record.inferred
        touched = TouchedEntities.of(into, out) if known else None
        self.kg.commit(after, to_data(out, into), change=GraphChange("reasoning", touched=touched))

    def _delta(self, record: Record) -> str:
        """Return the graph of all that came and is still asserted."""
        if len(record.added) == 1 and not record.came:
            return record.added[0]
        into = f"{self.prefix}:delta"
        for graph in record.added:
            self.store.derive(Construct((_ANY,), Graph(iri(graph), _ANY)), Dataset((), (graph,)), into)
        for graph in record.came:
            still = Construct((_ANY,), Group((Graph(iri(graph), _ANY), _ANY)))
            self.store.derive(still, Dataset(record.asserted, (graph,)), into)
        return into

    def _one(self, graphs: tuple[str, ...], name: str) -> str:
        if len(graphs) == 1:
            return graphs[0]
        into = f"{self.prefix}:{name}"
        for graph in graphs:
            self.store.derive(Construct((_ANY,), Graph(iri(graph), _ANY)), Dataset((), (graph,)), into)
        return into

    def _quads(self, graph: str, into: str) -> list[ox.Quad]:
        """Return the triples of a graph as quads of another."""
        name = ox.NamedNode(into)
        return [ox.Quad(q.subject, q.predicate, q.object, name) for q in self.store.edges(graph)]

    def _held(self, graph: str, other: str) -> list[ox.Quad]:
        """Return those triples of a graph that another holds, as quads of that."""
        return [q for q in self._quads(graph, other) if self._anywhere(q, (other,))]

    def _anywhere(self, quad: ox.Quad, graphs: Iterable[str]) -> bool:
        engine = cast(OxigraphStore, self.store).engine
        return any(
            ox.Quad(quad.subject, quad.predicate, quad.object, ox.NamedNode(g)) in engine for g in graphs
        )

    @staticmethod
    def _named(record: Record) -> tuple[str, ...]:
        return (*record.asserted, *record.inferred, *record.hidden)
