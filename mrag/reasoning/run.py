"""Reasoning over a knowledge graph: from scratch or from what came and went, landing as one change.

What goes is taken out with all that rests on it, and what follows from something else is put back, in graphs
that nobody reads meanwhile. What a rule infers from asserted triples alone is not taken out at all. Of the
inferred triples those go apart that clash; and where two things are one only by inference and what they have
together clashes, that they are one goes apart too.

Source: Gupta, Mumick and Subrahmanian, Maintaining Views Incrementally (SIGMOD 1993); compare Motik,
Nenov, Piro and Horrocks, Incremental Update of Datalog Materialisation (AAAI 2015).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

import pyoxigraph as ox

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import UNNAMED, GraphChange, Record, TouchedEntities, named_graph
from mrag.graph.updates import graph_of
from mrag.rdf import patterns as pt
from mrag.rdf import queries
from mrag.rdf.patterns import (
    Ask,
    Construct,
    Filter,
    Graph,
    Group,
    Holds,
    Negation,
    TriplePattern,
    iri,
    to_data,
    to_sparql,
    var,
)
from mrag.rdf.terms import SKOLEM, Triple, curie
from mrag.reasoning import rounds
from mrag.reasoning.compile import compile_rules
from mrag.reasoning.proofs import Proof, prove
from mrag.reasoning.rounds import ClashGroup, Closure, OnInconsistency, Round, Rounds, TripleCounts
from mrag.reasoning.rules import SAME, TYPE, Label, Rule, Ruleset, TBox
from mrag.reasoning.sameness import has_large_sets
from mrag.stores.base import Dataset, TripleStore
from mrag.stores.oxigraph import OxigraphStore

_ANY = pt.TriplePattern(pt.var("s"), pt.var("p"), pt.var("o"))
_SOMEWHERE = pt.var("graph")


def _copy(
    store: TripleStore, graph: str, into: str, *, inside: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> None:
    """Copy the triples of a graph, or of them those that stand in some other graphs, or in none of these."""
    more = [_ANY] if inside else [Filter(Negation(Holds(_ANY)))] if without else []
    where = Group((Graph(iri(graph), _ANY), *more))
    store.derive(Construct((_ANY,), where), Dataset(inside or without, (graph,)), into)


class TooFarReaching(Exception):
    """So much would have to be taken out that inferring everything anew is quicker."""


class Retraction:
    """Finds what no longer follows."""

    def __init__(
        self,
        store: TripleStore,
        rules: Sequence[Rule],
        asserted: Sequence[str],
        inferred: Sequence[str],
        prefix: str,
        most: int | None = None,
    ) -> None:
        self.store, self.rules, self.prefix, self.most = store, rules, prefix, most
        self.asserted, self.inferred = tuple(asserted), tuple(inferred)
        self.lost, self.back, self._safe = (f"{prefix}:{name}" for name in ("lost", "back", "safe"))
        self._scratch = [self._safe]

    def run(self, gone: str, *, barred: bool = False) -> int:
        """Take triples out with all that rests on them, and put back what follows still."""
        known = (*self.asserted, *self.inferred, gone)
        counts = rounds.LazyCounts(self.store, known)
        _copy(self.store, gone, self.lost, without=self.asserted)
        delta, size = self.lost, self._size(self.lost)
        out = size.total
        while size.total:
            reached = self._reach(delta, size, known, counts)
            delta = self._graph("out")
            _copy(self.store, reached, delta, without=(self._safe,))
            _copy(self.store, delta, self.lost)
            size = self._size(delta)
            out += size.total
            if self.most is not None and out > self.most:
                raise TooFarReaching
        if out:
            self._put_back(counts, gone if barred else None)
        for graph in self._scratch:
            self.store.clear(graph)
        return self.store.count(self.lost)

    def _reach(self, delta: str, size: TripleCounts, known: tuple[str, ...], counts: TripleCounts) -> str:
        """Collect what rests on what was taken out last, and note what asserted triples alone support."""
        reached = self._graph("found")
        data = Dataset(known, (*self.asserted, self.lost, delta))
        for rule, at in self._touch(size, counts):
            stands = pt.Filter(pt.Negation(pt.Holds(pt.Graph(_SOMEWHERE, rule.head))))
            self.store.derive(_forward(rule, at, delta, size, counts, [stands]), data, reached)
        heads = self._size(reached)
        sure = Dataset((*self.asserted, self._safe), (reached,))
        for rule in self.rules:
            if heads.match(rule.head) and rounds.applies(rule, counts):
                self.store.derive(_support(rule, reached, heads, counts), sure, self._safe)
        return reached

    def _put_back(self, counts: TripleCounts, barred: str | None) -> None:
        """Put back what follows from what is left, then what follows from that."""
        known = (*self.asserted, *self.inferred, self.back)
        named = (self.lost, barred) if barred else (self.lost,)
        delta, heads = self._graph("back"), self._size(self.lost)
        for rule in self.rules:
            if heads.match(rule.head) and rounds.applies(rule, counts):
                more = [*_free(rule.body, self.lost, heads), *_free((rule.head,), barred)]
                query = _support(rule, self.lost, heads, counts, more)
                self.store.derive(query, Dataset(known, named), delta)
        while (size := self._size(delta)).total:
            _copy(self.store, delta, self.back)
            self.store.update(
                queries.get("update/remove-doubles").bind(
                    scanned_probed_graph=[(delta, self.lost, self.lost)]
                )
            )
            fresh = self._graph("back")
            data = Dataset(known, (*named, delta))
            for rule, at in self._touch(size, counts):
                others = tuple(atom for i, atom in enumerate(rule.body) if i != at)
                more = [*_free(others, self.lost, heads), pt.Graph(pt.iri(self.lost), rule.head)]
                more += _free((rule.head,), barred)
                self.store.derive(_forward(rule, at, delta, size, counts, more), data, fresh)
            delta = fresh

    def _touch(self, size: TripleCounts, counts: TripleCounts) -> Iterator[tuple[Rule, int]]:
        for rule in self.rules:
            if rounds.applies(rule, counts, size):
                for at, atom in enumerate(rule.body):
                    if size.match(atom):
                        yield rule, at

    def _size(self, graph: str) -> TripleCounts:
        return TripleCounts.of(self.store, (graph,))

    def _graph(self, name: str) -> str:
        graph = f"{self.prefix}:{name}:{len(self._scratch)}"
        self._scratch.append(graph)
        return graph


def _forward(
    rule: Rule, at: int, delta: str, size: TripleCounts, counts: TripleCounts, more: Sequence[pt.Pattern]
) -> Construct:
    """Return the query of a rule with one atom held to the graph `delta`, and more that has to match."""
    sizes = rounds.size_patterns(rule.body, counts, at, iri(delta), size)
    parts = [*rule.values, *rounds.order_patterns(sizes, hint=not rule.values, filters=rule.filters)]
    return Construct((rule.head,), Group((*parts, *more)))


def _support(
    rule: Rule, heads: str, size: TripleCounts, counts: TripleCounts, more: Sequence[pt.Pattern] = ()
) -> pt.Construct:
    """Return the query for the triples of a graph that a rule infers.

    A body of one triple is looked for as a condition, which ends at the first match. Oxigraph would read
    all matches of a longer one for each triple, so that it is joined.
    """
    given, names = pt.Graph(pt.iri(heads), rule.head), tuple(dict.fromkeys(rule.head.variables()))
    rest = (*more, *map(pt.Filter, rule.filters))
    if len(rule.body) == 1 or not names:
        return pt.Construct(
            (rule.head,), pt.Group((given, pt.Filter(pt.Holds(pt.Group((*rule.values, *rule.body, *rest))))))
        )
    first = pt.SubSelect(pt.Select(names, given, limit=2 * size.match(rule.head) + 100, sized=True))
    # The triples come first whatever the sizes say, then atoms that share a variable with them.
    parts = (
        *rule.values,
        first,
        *rounds.order_patterns(rounds.size_patterns(rule.body, counts), hint=False, bound=names),
        *rest,
    )
    return pt.Construct((rule.head,), pt.SubSelect(pt.Select(names, pt.Group(parts), distinct=True)))


def _free(
    atoms: Sequence[pt.TriplePattern], graph: str | None, held: TripleCounts | None = None
) -> list[pt.Pattern]:
    if graph is None:
        return []
    there = [a for a in atoms if held is None or held.match(a)]
    return [pt.Filter(pt.Negation(pt.Holds(pt.Graph(pt.iri(graph), atom)))) for atom in there]


_S, _P, _O, _X = (var(name) for name in "spox")
_SAMES = TriplePattern(_S, SAME, _O)
_MOST_APART = 20_000  # triples taken out from which on inferring everything anew is quicker


def withhold(
    store: TripleStore,
    rules: Ruleset,
    asserted: Sequence[str],
    inferred: Sequence[str],
    prefix: str,
    counts: TripleCounts,
) -> str | None:
    """Find the inferred triples that are to be kept apart."""
    clash = f"{prefix}:clash"
    if not _clashing(store, rules, asserted, inferred, clash, counts).total:
        return None
    if TripleCounts.of(store, (clash,)).match(_SAMES):
        # What is the same shares all triples, and each of them follows from every other way round.
        raise TooFarReaching
    taken = Retraction(store, rules.rules, asserted, inferred, prefix, _MOST_APART)
    taken.run(clash, barred=True)
    for graph in (clash, taken.back):
        store.clear(graph)
    return taken.lost


def without(
    store: TripleStore, rules: Ruleset, asserted: Sequence[str], inferred: Sequence[str], prefix: str
) -> tuple[tuple[str, ...], str]:
    """Infer everything anew without the triples that `withhold` found."""
    barred, apart = f"{prefix}:clash", f"{prefix}:lost"
    store.clear(apart)
    run = Rounds(store, tuple(asserted), (), f"{prefix}:kept", rules, None, 2, stepwise=True, barred=barred)
    run.first(plain=rules.rules)
    kept = run.merge()
    for graph in inferred:
        _copy(store, graph, apart, without=kept)
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
    for each in rules.checks:
        if each.body and rounds.applies(each, counts):
            for at, atom in enumerate(each.body):
                store.derive(Construct((atom,), rounds.clashing(each, counts, at)), whole, clash)
    sizes = TripleCounts.of(store, (clash,))
    if sizes.total and counts.match(_SAMES):
        _blame(store, whole, clash)
    return sizes


def _blame(store: TripleStore, whole: Dataset, clash: str) -> None:
    """Add the inferred equalities through which clashing triples follow."""
    blamed = f"{clash}:same"
    data = Dataset(whole.default, (*whole.named, clash))
    ways = (
        (TriplePattern(_S, _P, _O), TriplePattern(_X, SAME, _S), TriplePattern(_X, _P, _O)),
        (TriplePattern(_S, _P, _O), TriplePattern(_X, SAME, _O), TriplePattern(_S, _P, _X)),
    )
    for wrong, same, other in ways:
        parts = (Graph(iri(clash), wrong), Graph(_SOMEWHERE, same), other, Filter(pt.Compare(_P, "!=", SAME)))
        back = TriplePattern(same.o, SAME, _X)
        store.derive(Construct((same, back), Group(parts)), data, blamed)
    _copy(store, blamed, clash)
    store.clear(blamed)


_MOST = 500_000  # triples taken out for a while from which on everything is inferred anew
_SMALL = 20_000
"""Inferred triples up to this many go to a graph that is there: each graph more makes reading slower."""


class Follower:
    """Brings the inferred triples of a knowledge graph in an embedded store up to date."""

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
        """Follow the changes, in one transaction for what went and one for what came."""
        began, record = time.perf_counter(), self.kg.record
        changes = (*record.added, *record.came, *record.removed)
        if self._axioms(changes) or has_large_sets(self.store, (*record.asserted, *record.inferred)):
            return None
        rules = compile_rules(self.store, Dataset(record.asserted))
        try:
            if record.removed:
                self._take_out(rules)
            done, groups = self._bring_in(rules)
        except TooFarReaching:
            return None
        if self.kg.record.inferences < 0:
            count = sum(self.store.count(g) for g in self.kg.record.inferred)
            self.kg.commit(replace(self.kg.record, inferences=count), changed=False)
        return Closure(
            self.kg.record.inferred, self.kg.record.inferences, done, time.perf_counter() - began,
            contradictions=tuple(groups), notes=rules.notes,
        )  # fmt: skip

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
        out = [q for g in known for q in self._hold(work.lost, g)]
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
        counts = rounds.LazyCounts(store, (*record.asserted, *known))
        run = Rounds(
            store, record.asserted, known, f"{self.prefix}:new", rules, self.on_round, 1, counts,
            stepwise=True,
        )  # fmt: skip
        run.first(plain=(), old=rules.rules, added=delta)
        fresh = tuple(run.live)
        if run.same.centre:
            run.same.forget()
            raise TooFarReaching  # what was said of a name of a set that is large now goes to one alone
        # Contradictions that something new takes part in.
        sizes = TripleCounts()
        for graph in (delta, *fresh):
            sizes.add(TripleCounts.of(store, (graph,)))
        checks = [c for c in rules.checks if any(sizes.match(atom) for atom in c.body)]
        every = Dataset((*record.asserted, *known, *fresh))
        groups = rounds.find_clashes(store, every, checks, counts, self.label)
        if groups and self.on_inconsistency == "error":
            raise rounds.inconsistent(groups, self.label)
        whole = (*known, *fresh)
        apart = None
        if record.apart or groups:
            sizes = TripleCounts.of(store, (*record.asserted, *whole))
            apart = withhold(store, rules, record.asserted, whole, f"{self.prefix}:apart", sizes)
        self._settle(record, fresh, apart)
        now = self.kg.record
        used = {*now.asserted, *now.inferred, *now.hidden}
        for graph in {delta, *record.came, *record.apart, *fresh} - used:
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
        out = [q for g in (*record.inferred, *large) for q in self._hold(apart, g)] if apart else []
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

    def _commit(self, after: Record, out: list[ox.Quad], into: list[ox.Quad], *, done: bool) -> None:
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
            _copy(self.store, graph, into)
        for graph in record.came:
            _copy(self.store, graph, into, inside=record.asserted)
        return into

    def _one(self, graphs: tuple[str, ...], name: str) -> str:
        if len(graphs) == 1:
            return graphs[0]
        for graph in graphs:
            _copy(self.store, graph, f"{self.prefix}:{name}")
        return f"{self.prefix}:{name}"

    def _quads(self, graph: str, into: str) -> list[ox.Quad]:
        """Return the triples of a graph as quads of another."""
        name = ox.NamedNode(into)
        return [ox.Quad(q.subject, q.predicate, q.object, name) for q in self.store.edges(graph)]

    def _hold(self, graph: str, other: str) -> list[ox.Quad]:
        """Return those triples of a graph that another holds, as quads of that."""
        return [q for q in self._quads(graph, other) if self._anywhere(q, (other,))]

    def _anywhere(self, quad: ox.Quad, graphs: Iterable[str]) -> bool:
        engine = cast(OxigraphStore, self.store).engine
        return any(
            ox.Quad(quad.subject, quad.predicate, quad.object, ox.NamedNode(g)) in engine for g in graphs
        )


_DEFAULT = "default"


def choose(kg: KnowledgeGraph, graphs: Sequence[str] | None) -> tuple[str, ...]:
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
def unite(kg: KnowledgeGraph, names: Sequence[str], prefix: str) -> Iterator[Dataset]:
    """Yield the graphs that reasoning reads, without triples that two of them share."""
    graphs = premises(kg, names)
    if not names or len(graphs.default) == 1:
        yield graphs
        return
    into = f"{prefix}:premises"
    try:
        for graph in graphs.default:
            _copy(kg.store, graph, into)
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


def reason(
    kg: KnowledgeGraph,
    *,
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
        on_round: Called after each round of rules.
        on_inconsistency: What triples that contradict the axioms do: `report` infers all the same and gives
            them in the closure, `error` raises.
        graphs: Named graphs that are read, by IRI or CURIE, `default` for what is in none; empty for all that
            is asserted, which is so by default; None for the choice of before.

    Raises:
        InconsistentOntology: If the triples contradict the axioms and that is an error; the layer is as it
            was before.
        ConfigError: If there is no such named graph.

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
    if kg.store.capabilities.reasoning:
        if graphs:
            raise ConfigError(
                "This server reasons over all of its graphs together.",
                endpoint=kg.store.url,
                hint="Leave --graph (graphs=) out.",
            )
        inferred = sum(kg.store.count(g) for g in kg.record.inferred)
        note = "The server infers by its own rules as triples come in."
        groups = tuple(contradictions_of(kg))  # its rules look for none, or for few
        if groups and on_inconsistency == "error":
            raise rounds.inconsistent(groups, _label(kg))
        return Closure(kg.record.inferred, inferred, (), 0.0, groups, (note,))
    record, names = kg.record, choose(kg, graphs)
    prefix = f"{kg.iri}:inferred:{record.revision + 1}"
    kg.collect(f"{prefix}:")
    label = _label(kg)
    kg.begin("reasoning")
    try:
        whole = not (names or record.premises)
        if whole and record.followed and record.changed:
            if (done := _follow(kg, prefix, on_round, on_inconsistency)) is not None:
                return done
            prefix = f"{kg.iri}:inferred:{kg.record.revision + 1}:0"
        kg.collect()
        with unite(kg, names, prefix) as asserted:
            closure = rounds.materialise(
                kg.store, asserted, prefix, on_round=on_round, on_inconsistency=on_inconsistency, label=label
            )
            closure, apart = _keep_apart(kg, closure, asserted, f"{prefix}:apart")
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
    proof = prove(kg.store, asserted, inferred, triple, ruleset=rules, label=label)
    if proof is None or proof.asserted:
        return proof
    return prove(kg.store, premises(kg, names), inferred, triple, ruleset=rules, label=label) or proof


def contradictions_of(kg: KnowledgeGraph) -> list[ClashGroup]:
    """Find what contradicts the axioms in a graph as it is, in groups, the largest first."""
    asserted = premises(kg, kg.record.premises)
    rules = compile_rules(kg.store, asserted)
    whole = Dataset((*asserted.default, *kg.record.inferred, *kg.record.apart))
    groups = rounds.check(kg.store, whole, ruleset=rules, label=_label(kg))
    return [*groups, *_find_merged(kg, rules)] if kg.store.capabilities.reasoning else groups


def _find_merged(kg: KnowledgeGraph, rules: Ruleset) -> Iterator[ClashGroup]:
    """Yield what is asserted too often of functional properties, where the server has merged two things."""
    asserted, same = kg.dataset("asserted"), [rule for rule in rules.rules if rule.head.p == SAME]
    counts = TripleCounts.of(kg.store, asserted.default)
    for group in rounds.find_clashes(kg.store, asserted, same, counts, _label(kg)):
        ends = {t.o for t in group.clashes[0].triples}, {t.s for t in group.clashes[0].triples}
        for one, other in (sorted(both) for both in ends if len(both) == 2):
            if kg.holds(to_sparql(Ask(pt.TriplePattern(iri(one), SAME, iri(other))))):
                yield group


def list_left_out(kg: KnowledgeGraph) -> list[tuple[str, str]]:
    """Return the axioms of which a store that reasons by rules of its own lacks something that follows.

    With each comes the IRI of a class or property of which something is lacking.
    """
    asserted, counts = kg.dataset("asserted"), TripleCounts.of(kg.store, kg.dataset().default)
    asked = list[tuple[tuple[str, str], pt.Pattern]]()
    for rule in compile_rules(kg.store, asserted).rules:
        term = rule.head.o if rule.head.p == TYPE else rule.head.p
        if rule.axiom is not None and isinstance(term, ox.NamedNode):
            named = rule.axiom.text(_label(kg)), term.value
            asked += ((named, query.where) for query, _ in rounds.queries([rule], counts))
    lacking, number, size = dict[tuple[str, str], None](), pt.var("number"), kg.store.capabilities.parts
    for start in range(0, len(asked), size):
        some = asked[start : start + size]
        parts = (pt.Select(((ox.Literal(n), number),), where, limit=1) for n, (_, where) in enumerate(some))
        union = pt.Select((number,), pt.Union(tuple(map(pt.SubSelect, parts))))
        lacking |= {some[int(str(n))][0]: None for (n,) in kg.select(to_sparql(union))}
    return list(lacking)


def _follow(
    kg: KnowledgeGraph,
    prefix: str,
    on_round: Callable[[Round], None] | None,
    on_inconsistency: OnInconsistency,
) -> Closure | None:
    """Infer from what has changed alone, and land it; None where everything has to be inferred anew."""
    record = kg.record
    strict = on_inconsistency == "error"
    if kg.store.capabilities.edges and not (strict and record.apart):
        outcome = Follower(kg, prefix, on_round, on_inconsistency, _label(kg)).run()
        if outcome is not None:
            return outcome
    record = kg.record
    if not record.added or record.came or record.removed or record.apart:
        return None
    closure = _extend(kg, f"{prefix}:0", on_round, on_inconsistency)
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


def _extend(
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
        closure = rounds.extend(
            kg.store, Dataset(tuple(known)), graphs, added, f"{prefix}:{number}", on_round=on_round,
            on_inconsistency=on_inconsistency, label=_label(kg),
        )  # fmt: skip
        known.append(added)
        graphs = closure.graphs
    return replace(closure, triples=sum(kg.store.count(g) for g in graphs))


def _keep_apart(
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
        closure = replace(closure, graphs=graphs)
    return replace(closure, triples=sum(kg.store.count(g) for g in closure.graphs)), apart


def _label(kg: KnowledgeGraph) -> Callable[[str], str]:
    return lambda iri: kg.labels([iri])[iri] or curie(iri, kg.prefixes)
