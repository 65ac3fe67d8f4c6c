"""How triples come into a knowledge graph: whole or not at all, and what a crash left is put right.

The record says what has been begun before anything is written; `recover` finishes that, or discards it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from mrag.errors import StoreError
from mrag.graph.layers import GraphLayers
from mrag.graph.record import Record, joined
from mrag.loaders.rdf import LoadNotes, Progress, Source
from mrag.rdf.terms import Triple, to_ntriples
from mrag.stores.base import LoadReport
from mrag.stores.process.parsing import prefixes as declared

_DELTA_BYTES = 64 << 20
"""Additions up to this size are kept apart, so that reasoning can start from them alone."""


def load(
    kg: GraphLayers,
    found: Sequence[Source],
    on_progress: Progress | None,
    *,
    skip_bad_lines: bool,
    replacing: bool,
) -> LoadReport:
    """Load RDF files into the asserted graph, as `KnowledgeGraph.load` does."""
    if replacing and kg.store.capabilities.reasoning:
        kg.clear()
    started = time.perf_counter()
    kg.collect()
    notes = LoadNotes()

    def put(graph: str) -> None:
        nonlocal notes
        notes = kg.store.bulk_load(found, graph, on_progress=on_progress, skip_bad_lines=skip_bad_lines)

    names = [str(s.path) for s in found]
    small = sum(s.size() for s in found) <= _DELTA_BYTES
    prefixes = _prefixes_of(found, "" if replacing else kg.record.prefixes)
    new = _assert(kg, names, put, apart=small, prefixes=prefixes, replacing=replacing)
    return LoadReport(
        kg.record.asserted[-1],
        new,
        time.perf_counter() - started,
        tuple(names),
        tuple(notes.rejected),
        tuple(sorted(notes.tags)),
    )


def insert(kg: GraphLayers, triples: Iterable[Triple]) -> int:
    """Assert triples, whole or not at all, and return how many were new.

    Raises:
        TermError: If a term is not well formed, or is a blank node.
    """
    data = to_ntriples(triples)
    if not data:
        return 0
    return _assert(kg, ["triples"], lambda graph: kg.store.insert(data, graph), apart=True)


def recover(kg: GraphLayers) -> str:
    """Finish or discard what was begun and not ended, and return what that was, in words."""
    pending = json.loads(kg.record.pending)
    before = replace(kg.record, pending="")
    if "clear" in pending:
        kg.forget(pending["clear"])
        return "What the graph held before it was replaced has now been removed for good."
    if "load" not in pending:
        kg.commit(before)
        work = next(iter(pending), "operation")
        return f"An unfinished {work} was discarded; the graph is as it was before."
    # Where a load cannot land in one step, a graph that holds something may hold a part.
    atomic = kg.store.capabilities.atomic
    if not atomic or kg.store.count(pending["graph"]) == pending["triples"]:
        kg.commit(before)
        return f"An unfinished load of {_few(pending['load'])} was discarded."
    replacing = bool(pending.get("replacing"))
    _asserted(kg, before, pending["graph"], pending["prefixes"], replacing=replacing)
    return f"The load of {_few(pending['load'])} had been completed before the interruption."


def learn_prefixes(kg: GraphLayers) -> None:
    """Take over the prefixes that loaded files declared, or that the store keeps."""
    kept = json.loads(kg.record.prefixes) if kg.record.prefixes else {}
    kept.update(kg.store.prefixes())
    kg.prefixes.update({p: n for p, n in kept.items() if p not in kg.prefixes})


def _assert(
    kg: GraphLayers,
    names: Sequence[str],
    put: Callable[[str], None],
    *,
    apart: bool,
    prefixes: str | None = None,
    replacing: bool = False,
) -> int:
    """Put triples into an asserted graph, and return how many are new.

    After reasoning they go to a graph of their own, where `apart` allows it, so that the next reasoning
    can start from them alone. Those that replace all others fill a new graph in any case.
    """
    if kg.store.capabilities.reasoning:
        count = kg.record.triples
        put(kg.server_graph())
        kg.store.remember(json.loads(prefixes or "{}"))
        kg.recount()
        learn_prefixes(kg)
        return kg.record.triples - count
    kg.begin_own()
    before = kg.record
    apart = apart and before.followed
    # Where a load cannot land in one step it fills a graph that no one reads yet.
    apart = apart or replacing or not kg.store.capabilities.atomic
    graph = kg.new_graph() if apart else before.asserted[0]
    prefixes = before.prefixes if prefixes is None else prefixes
    pending = {
        "load": list(names),
        "graph": graph,
        "triples": kg.store.count(graph) if len(before.asserted) > 1 else 0 if apart else before.triples,
        "prefixes": prefixes,
        "replacing": replacing,
    }
    kg.commit(replace(before, pending=json.dumps(pending)))
    try:
        put(graph)
    except BaseException:
        # Ctrl-C is heard after a step of the engine, so all may have been put by then. What cannot be
        # put right now, for the disk may be full, is put right by the next opening.
        with suppress(StoreError):
            recover(kg)
        raise
    _asserted(kg, before, graph, prefixes, replacing=replacing)
    return kg.record.triples - (0 if replacing else before.triples)


def _asserted(kg: GraphLayers, before: Record, graph: str, prefixes: str, *, replacing: bool = False) -> None:
    """Finish what `_assert` began; recovery runs it again, so it may come twice."""
    if replacing:
        count = kg.store.count(graph)
        kg.begin_anew(Record((graph,), revision=before.revision + 1, triples=count, prefixes=prefixes))
        learn_prefixes(kg)
        return
    others = [g for g in before.asserted if g != graph]
    if graph in before.asserted:
        # Too much to tell apart: inferences are dropped until the next reasoning.
        for other in others:
            kg.remove_doubles([(other, graph, other)])
        after = replace(before.without_inferences(), revision=before.revision + 1)
    elif before.triples:
        kg.remove_doubles([(graph, other, graph) for other in others])
        kg.remove_doubles([(graph, other, other) for other in (*before.inferred, *before.apart)])
        after = joined(before, graph, 0)
    else:
        after = joined(replace(before, asserted=(), added=()), graph, 0)
    kg.commit(replace(after, triples=kg.counted(after.asserted), pending="", prefixes=prefixes))
    learn_prefixes(kg)


def _prefixes_of(found: Sequence[Source], before: str) -> str:
    known = json.loads(before) if before else {}
    known.update(declared(found))
    return json.dumps(known, sort_keys=True)


def _few(paths: Sequence[str]) -> str:
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
