"""When the triples of an entity came into the graph, and by what, as far as the store keeps it.

Changes are kept with their time (`mrag.graph.record`), small ones with marks of the triples that came; runs
of completion and of enrichment say what they wrote. What none of them accounts for has no record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mrag.graph.record import RecordedChange, mark, recorded, status_of
from mrag.rdf import queries

if TYPE_CHECKING:
    from mrag.context.neighbourhood import Statement
    from mrag.graph.kg import KnowledgeGraph

_OVER = ("clear", "replace")
_ASSERTING = ("load", "insert", "update", "concept", "repair", "replace")


@dataclass(frozen=True)
class Origin:
    """What brought some triples into the graph.

    Attributes:
        by: As of `GraphChange`, or `completion`, `enrichment`; `several` where it is one of `among`; empty
            where there is no record.
        what: The file, question, model or concept; may be empty.
        at: When, as an ISO 8601 date and time; empty where that is not known.
        run: IRI of the run in Review; may be empty.
        among: What it may have been.
    """

    by: str = ""
    what: str = ""
    at: str = ""
    run: str = ""
    among: tuple[Origin, ...] = ()


def origins(kg: KnowledgeGraph, statements: Sequence[Statement]) -> dict[Origin, list[Statement]]:
    """Return what brought statements into the graph, latest first, each with its statements.

    Args:
        kg: The knowledge graph.
        statements: Some of its triples, each with its graph.

    Example:
        >>> import mrag
        >>> from mrag.context.neighbourhood import read
        >>> kg = mrag.connect()
        >>> _ = kg.update("INSERT DATA { <urn:a> <urn:p> <urn:b> }")
        >>> [one.by for one in origins(kg, read(kg, "urn:a", "out", scan=9, share=9).statements)]
        ['update']
        >>> kg.close()
    """
    import pyoxigraph as ox

    changes = _since_emptied(recorded(kg.store, kg.iri, 0, kg.revision))
    written = _written(kg, statements)
    latest = {m: c for c in changes if c.change.touched for m in c.change.touched.came}
    rest = {inferred: _rest(changes, kg.revision, inferred) for inferred in (False, True)}
    found: dict[Origin, list[Statement]] = {}
    for statement in statements:
        s, p, o, graph = statement
        inferred = kg.is_inferred(graph)
        origin = written.get(statement)
        if origin is None:
            change = latest.get(mark(ox.NamedNode(s), ox.NamedNode(p), o))
            known = change is not None and (change.change.by == "reasoning") == inferred
            origin = _origin(change) if change is not None and known else rest[inferred]
        found.setdefault(origin, []).append(statement)
    return {one: found[one] for one in sorted(found, key=lambda o: (o.at, o.by, o.what, o.run), reverse=True)}


def _since_emptied(changes: list[RecordedChange]) -> list[RecordedChange]:
    """Return the changes from the last one on after which nothing of before was left."""
    starts = [at for at, one in enumerate(changes) if one.change.by in _OVER]
    return changes[starts[-1] :] if starts else changes


def _rest(changes: Sequence[RecordedChange], revision: int, inferred: bool) -> Origin:
    """Return where statements come from that no mark accounts for."""
    if inferred:
        # Reasoning anew makes all that is inferred anew.
        whole = [c for c in changes if c.change.by == "reasoning" and c.change.touched is None]
        return _origin(whole[-1]) if whole else Origin()
    large = [c for c in changes if c.change.by in _ASSERTING and c.change.touched is None]
    begins = changes[:1] and (changes[0].since == 0 or changes[0].change.by in _OVER)
    ends = [*(c.since for c in changes[1:]), revision]
    if not large or not begins or [c.revision for c in changes] != ends:
        return Origin()
    return _origin(large[0]) if len(large) == 1 else Origin("several", among=tuple(map(_origin, large)))


def _origin(change: RecordedChange) -> Origin:
    return Origin(change.change.by, change.change.what, change.at)


def _written(kg: KnowledgeGraph, statements: Sequence[Statement]) -> Mapping[Statement, Origin]:
    """Return the runs of completion and of enrichment that wrote statements."""
    by_status: dict[str, list[Statement]] = {}
    for one in statements:
        by_status.setdefault(status_of(one[3], inferred=kg.is_inferred(one[3])), []).append(one)
    return {
        **_completed(kg, by_status.get("completed", [])),
        **_described(kg, by_status.get("enriched", [])),
    }


def _completed(kg: KnowledgeGraph, statements: Sequence[Statement]) -> dict[Statement, Origin]:
    from rdflib import URIRef

    from mrag.completion.review import run_heads, runs_stating
    from mrag.rdf.terms import Triple, from_ox

    if not statements:
        return {}
    triples = {Triple(URIRef(s), URIRef(p), from_ox(o)): one for one in statements for s, p, o, _ in [one]}
    heads = {run.iri: run for run in run_heads(kg)}
    found: dict[Statement, Origin] = {}
    for triple, runs in runs_stating(kg, list(triples)).items():
        for iri in sorted(run for run, state in runs.items() if state == "accepted" and run in heads):
            run = heads[iri]
            found[triples[triple]] = Origin("completion", run.question, run.decided or run.started, iri)
    return found


def _described(kg: KnowledgeGraph, statements: Sequence[Statement]) -> dict[Statement, Origin]:
    subjects = sorted({s for s, *_ in statements})
    known: dict[tuple[str, str], Origin] = {}
    for query in queries.get("provenance/describing").batches("subject", subjects):
        for subject, text, model, time, activity in kg.select(query):
            known[str(subject), str(text)] = Origin("enrichment", str(model), str(time), str(activity))
    keys = {one: (one[0], str(one[2].value)) for one in statements}
    return {one: known[key] for one, key in keys.items() if key in known}
