"""What an update changes, as one value, and how it lands: triples, record and copies in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from mrag.errors import QueryRefused
from mrag.graph.record import GraphChange, TouchedEntities

if TYPE_CHECKING:
    import pyoxigraph as ox

    from mrag.graph.layers import GraphLayers
    from mrag.graph.record import Record
    from mrag.stores.changes import Layout, UpdateOutcome


@dataclass(frozen=True)
class UpdateReport:
    """What an update did.

    Attributes:
        added: Statements more, those of named graphs counted in each of them.
        removed: Statements fewer.
        inferred: What became of the inferred triples: `none` if there are none, `kept` if they still hold,
            `pending` if some may not hold any more until the graph is reasoned over, `dropped` if all have
            to be inferred anew.
    """

    added: int = 0
    removed: int = 0
    inferred: str = "none"


@dataclass(frozen=True)
class PlannedUpdate:
    """What an update would change, before anything is written.

    Attributes:
        report: How much, and what becomes of the inferred triples.
        added: Quads to write, by the names that graphs have inside.
        removed: Quads to take out.
        record: The record of the knowledge graph afterwards; None if nothing changes.
        copies: Copies of the triples that came and went, from which the next reasoning starts.
    """

    report: UpdateReport
    added: Sequence[ox.Quad] = ()
    removed: Sequence[ox.Quad] = ()
    record: Record | None = None
    copies: Sequence[ox.Quad] = ()


def land(kg: GraphLayers, change: PlannedUpdate) -> None:
    """Carry out what `preview` returned, in one transaction.

    Raises:
        QueryRefused: If the graph has changed since.
    """
    from mrag.rdf.patterns import to_data

    record, before = change.record, kg.record
    if record is None:
        return
    if record.revision != before.revision + 1:
        raise QueryRefused("The graph has changed meanwhile.", hint="Try the update again.")
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
        copies += [_copied(t, came[-1]) for t in come if t not in gone]
        copies += [_copied(t, removed[-1]) for t in gone if t not in come]
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


def _copied(triple: ox.Triple, graph: str) -> ox.Quad:
    import pyoxigraph

    return pyoxigraph.Quad(triple.subject, triple.predicate, triple.object, pyoxigraph.NamedNode(graph))


def graph_of(quad: ox.Quad) -> str:
    """Return the IRI of the graph of a quad."""
    return str(cast(Any, quad.graph_name).value)
