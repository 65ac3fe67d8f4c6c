"""Updates that a client writes: read, worked out triple by triple, and written in one transaction.

`mrag.rdf.parser` reads the text. What its operations change is worked out before anything is written
(`mrag.stores.changes`), in a worker process where a WHERE clause has to be answered. So an update lands
whole or not at all, within its deadline, and only in the graphs of its knowledge graph: the default graph
is its asserted triples, and a graph that the client names becomes one of its `contexts`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import pyoxigraph as ox

from mrag.errors import QueryRefused
from mrag.graph.record import UNNAMED, GraphChange, Record, TouchedEntities
from mrag.rdf.guard import EXPLICIT, IMPLICIT
from mrag.rdf.parser import parse_update
from mrag.rdf.patterns import to_data
from mrag.stores.base import TripleStore
from mrag.stores.changes import (
    NIL,
    Changes,
    Layout,
    Operation,
    Refused,
    UpdateOutcome,
    carry_out,
    needs_queries,
)
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.channel import timeout
from mrag.stores.process.parsing import Bounds, parsed

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
    from mrag.stores.sparql import SparqlStore


@dataclass(frozen=True)
class UpdateReport:
    """What an update did."""

    added: int = 0  # Statements more, those of named graphs counted in each of them
    removed: int = 0  # Statements fewer
    # What became of the inferred triples: `none` if there are none, `kept` if they still hold, `pending` if
    # some may not hold any more until the graph is reasoned over, `dropped` if all have to be inferred anew
    inferred: str = "none"


@dataclass(frozen=True)
class PlannedUpdate:
    """What an update would change, before anything is written."""

    report: UpdateReport
    added: Sequence[ox.Quad] = ()
    removed: Sequence[ox.Quad] = ()
    record: Record | None = None
    copies: Sequence[ox.Quad] = ()


def land(kg: KnowledgeGraph, change: PlannedUpdate) -> None:
    """Carry out what `preview` returned, in one transaction."""
    record, before = change.record, kg.record
    if record is None:
        return
    if record.revision != before.revision + 1:
        raise QueryRefused("The graph has changed meanwhile.", hint="Try the update again.")
    if kg.store.capabilities.reasoning:
        kg.store.update(to_data(change.removed, change.added, where=" WHERE {}"))
        kg.recount()
        return
    kept = record.inferred == before.inferred
    touched = TouchedEntities.of(change.added, change.removed) if kept else None
    data = to_data(change.removed, [*change.added, *change.copies])
    kg.commit(record, data, change=GraphChange("update", touched=touched))
    for graph in before.contexts:
        if graph not in record.contexts:
            kg.store.clear(graph)  # the engine would go on listing its name


def record_after(
    name: str, before: Record, layout: Layout, outcome: UpdateOutcome
) -> tuple[Record, list[ox.Quad]]:
    """Return the record after an update, and copies of what came and went for the next reasoning."""
    asserted = [*before.asserted]
    written = {graph_of(quad) for quad in outcome.added}
    asserted += [g for g in (layout.target, layout.merged) if g in written and g not in asserted]
    base = {*asserted, layout.target, layout.merged}
    count = sum(graph_of(q) in base for q in outcome.added) - sum(
        graph_of(q) in base for q in outcome.removed
    )
    come = {q.triple: None for q in outcome.added if graph_of(q) in base}
    gone = {q.triple: None for q in outcome.removed if graph_of(q) in base}
    revision = before.revision + 1
    after, copies = before, list[Any]()
    untouched = not outcome.gained and not outcome.lost and before.reasoned == before.revision
    if before.followed:
        came = before.came or (f"{name}:came:{revision}",) if outcome.gained else before.came
        removed = before.removed or (f"{name}:removed:{revision}",) if outcome.lost else before.removed
        copies += [_copy(t, came[-1]) for t in come if t not in gone]
        copies += [_copy(t, removed[-1]) for t in gone if t not in come]
        dropped = sum(graph_of(q) in layout.inferred for q in outcome.removed)
        left = before.inferences if before.inferences < 0 else before.inferences - dropped
        after = replace(before, came=came, removed=removed, inferences=left)
    elif before.inferred:
        # What was inferred still holds when something has been added, but not what else there may be to it.
        after = before.without_inferences() if outcome.lost else before
    return replace(
        after,
        asserted=tuple(asserted),
        revision=revision,
        reasoned=revision if untouched else before.reasoned,
        triples=before.triples + count,
        contexts=outcome.contexts,
        merged=layout.merged if layout.merged in asserted else "",
        pending="",
        kept=True,
    ), copies


def _copy(triple: ox.Triple, graph: str) -> ox.Quad:
    return ox.Quad(triple.subject, triple.predicate, triple.object, ox.NamedNode(graph))


def graph_of(quad: ox.Quad) -> str:
    """Return the IRI of the graph of a quad."""
    return str(cast(Any, quad.graph_name).value)


_SHARE = 0.4
"""Share of the deadline for working a change out; writing it takes as long again and cannot be stopped."""


def update(
    kg: KnowledgeGraph, text: str, *, union: bool = True, seconds: float = 30.0, max_changes: int = 1_000_000
) -> UpdateReport:
    """Carry out a SPARQL 1.1 Update on a knowledge graph, whole or not at all.

    Args:
        kg: The knowledge graph. What a server infers by itself it brings up to date by itself.
        text: The update. `LOAD` and `SERVICE` are refused.
        union: Whether the default graph holds the triples of named graphs too.
        seconds: Deadline of the whole.
        max_changes: Most triples that may change.

    Raises:
        QueryRefused: If it does not parse, or asks for what is not allowed.
        QueryTimeout: At the deadline; nothing has changed.

    Example:
        >>> import mrag
        >>> kg = mrag.connect()
        >>> update(kg, "INSERT DATA { <urn:a> <urn:b> 1 . GRAPH <urn:g> { <urn:a> <urn:b> 2 } }").added
        2
        >>> update(kg, "DELETE { ?s ?p ?o } INSERT { ?s ?p 3 } WHERE { ?s ?p ?o FILTER (?o = 1) }").removed
        1
        >>> sorted(int(o) for _, _, o in kg.query("SELECT * { ?a ?b ?o }"))
        [2, 3]
        >>> kg.close()
    """
    return apply(
        kg, parse_update(text, kg.query_prefixes), union=union, seconds=seconds, max_changes=max_changes
    )


def apply(
    kg: KnowledgeGraph,
    operations: Sequence[Operation],
    *,
    union: bool = True,
    seconds: float = 30.0,
    max_changes: int = 1_000_000,
    commit: AbstractContextManager[Any] | None = None,
) -> UpdateReport:
    """Carry out operations that `parse_update` read, whole or not at all."""
    change = preview(kg, operations, union=union, seconds=seconds * _SHARE, max_changes=max_changes)
    with commit or nullcontext():
        land(kg, change)
    return change.report


def preview(
    kg: KnowledgeGraph,
    operations: Sequence[Operation],
    *,
    union: bool = True,
    seconds: float = 30.0,
    max_changes: int = 1_000_000,
) -> PlannedUpdate:
    """Return what operations that `parse_update` read would change, and change nothing."""
    kg.require_writable()
    layout = layout_of(kg, union=union, max_changes=max_changes)
    steps = [_place(operation, kg, layout) for operation in operations]
    outcome = work_out(kg.store, layout, steps, seconds)
    before, here = kg.record, {layout.merged, *layout.inferred}
    if kg.store.capabilities.reasoning:
        # It has all its named graphs in sight without a graph of what they assert, and infers by itself.
        outcome.added = [q for q in outcome.added if graph_of(q) not in here]
        outcome.removed = [q for q in outcome.removed if graph_of(q) not in here]
    if not outcome.added and not outcome.removed:
        return PlannedUpdate(UpdateReport(inferred="kept" if before.inferred else "none"))
    if kg.store.capabilities.reasoning:
        report = UpdateReport(len(outcome.added), len(outcome.removed), "kept" if before.inferred else "none")
        record = replace(before, revision=before.revision + 1)
        return PlannedUpdate(report, outcome.added, outcome.removed, record)
    record, copies = record_after(kg.iri, before, layout, outcome)
    inferred = "none" if not before.inferred else "pending" if record.removed else "kept"
    if before.inferred and not record.inferred:
        inferred = "dropped"
    report = UpdateReport(
        sum(graph_of(q) not in here for q in outcome.added),
        sum(graph_of(q) not in here for q in outcome.removed),
        inferred,
    )
    return PlannedUpdate(report, outcome.added, outcome.removed, record, copies)


def work_out(
    store: TripleStore, layout: Layout, operations: Sequence[Operation], seconds: float
) -> UpdateOutcome:
    """Return what an update would change, without changing it."""
    until = time.monotonic() + seconds
    steps = parsed(operations, replace(Bounds.from_env(), seconds=seconds))
    if not isinstance(store, OxigraphStore):
        from mrag.stores.remote import RemoteChanges, copy_graphs  # which loads what speaks HTTP

        server = cast("SparqlStore", store)
        if not needs_queries(steps[1:]):
            return _alone(RemoteChanges(server, layout, until=until), steps)
        with copy_graphs(server, layout) as copy:
            return work_out(copy, layout, steps, until - time.monotonic())
    if not needs_queries(steps):
        return _alone(Changes(store.engine, layout, until=until), steps)
    # A WHERE clause may run without end, so it runs on a copy, in a process that can be killed.
    worker = store.workers.take(fresh=True)
    try:
        request = {"do": "update", "layout": asdict(layout), "operations": tuple(steps)}
        reply = worker.ask(request, until)
    except BaseException:
        store.workers.discard(worker)
        raise
    store.workers.release(worker)
    if reply[0] != "changes":
        raise QueryRefused(f"{str(reply[-1]).rstrip('.')}.")
    return UpdateOutcome.unpack(reply[1])


def _alone(changes: Changes, steps: Sequence[Operation]) -> UpdateOutcome:
    """Work an update out in this process."""
    try:
        carry_out(changes, steps)
    except Refused as error:
        raise QueryRefused(f"{str(error).rstrip('.')}.") from error
    except TimeoutError as error:
        raise timeout("") from error
    return changes.outcome()


def layout_of(kg: KnowledgeGraph, *, union: bool = True, max_changes: int = 1_000_000) -> Layout:
    """Return the graphs of a knowledge graph as an update sees them."""
    record = kg.record
    merged = record.merged if record.merged in record.asserted else ""
    asserted = tuple(g for g in record.asserted if g != merged)
    if EXPLICIT in asserted:
        asserted = (kg.server_graph(), UNNAMED)
    number = record.revision + 1
    target = asserted[0] if asserted else f"{kg.iri}:asserted:{number}"
    edges = kg.store.capabilities.edges
    mine = {*asserted, merged, *record.inferred, *record.contexts}
    return Layout(
        asserted, target, merged or f"{kg.iri}:asserted:{number}:0", record.contexts, record.inferred,
        frozenset(g for g in kg.store.graphs() if g not in mine and (not edges or any(kg.store.edges(g)))),
        union, max_changes,
    )  # fmt: skip


def _place(operation: Operation, kg: KnowledgeGraph, layout: Layout) -> Operation:
    """Put the names that graphs have inside where USING and WITH name GraphDB's pseudo-graphs."""
    if operation[0] != "modify":
        return operation
    kind, where, default, named, deletes, inserts = operation

    def inside(graphs: Sequence[str]) -> tuple[str, ...]:
        layers: list[str] = []
        for graph in graphs:
            if graph == EXPLICIT:
                layers += [*layout.asserted, layout.target, layout.merged]
            elif graph == IMPLICIT:
                layers += layout.inferred
            elif graph in NIL:
                layers += [*layout.asserted, layout.target]
            elif graph in layout.foreign or graph.startswith("urn:mrag:"):
                raise QueryRefused(f"The graph <{graph}> cannot be read from here.", query=where)
            else:
                layers.append(graph)
        return tuple(dict.fromkeys(layers))

    seen = (None if graphs is None else inside(graphs) for graphs in (default, named))
    return (kind, where, *seen, deletes, inserts)
