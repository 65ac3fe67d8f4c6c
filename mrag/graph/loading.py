"""How triples come into a knowledge graph: whole or not at all, and what a crash left is put right.

The record says what has been begun before anything is written; `recover` finishes that, or discards it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.errors import LoadError, StoreError
from mrag.graph.record import GraphChange, Record, TouchedEntities, joined
from mrag.loaders.checks import LoadNotes
from mrag.loaders.rdf import Progress, Source
from mrag.rdf.patterns import Construct, Group, TriplePattern, var
from mrag.rdf.terms import Triple, to_ntriples
from mrag.stores.base import Dataset, LoadReport
from mrag.stores.process.parsing import graph_names
from mrag.stores.process.parsing import prefixes as declared

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph

_ALL = TriplePattern(var("s"), var("p"), var("o"))
_EVERYTHING = Construct((_ALL,), Group((_ALL,)))
_DELTA_BYTES = 64 << 20
"""Additions up to this size are kept apart, so that reasoning can start from them alone."""

_SMALL_BYTES = 1 << 18  # Files up to this size are read again for the entities that they touch

_AMBIGUOUS = ""  # What the empty prefix stands for where files disagree on it


def load(
    kg: KnowledgeGraph,
    files: Sequence[Source],
    on_progress: Progress | None,
    *,
    skip_bad_lines: bool,
    replacing: bool,
) -> LoadReport:
    """Load RDF files into the asserted graph, as `KnowledgeGraph.load` does."""
    if replacing and kg.store.capabilities.reasoning:
        for graph in kg.record.asserted:
            kg.store.clear(graph)
        kg.recount()
    started = time.perf_counter()
    names = graph_names(files, skip_bad_lines=skip_bad_lines)
    if not kg.store.capabilities.reasoning:
        kg.begin_own()
        _require_own(kg, names)
    kg.collect()
    notes = LoadNotes()

    def put(graph: str, merged: str | None) -> None:
        nonlocal notes
        notes = kg.store.bulk_load(
            files, graph, on_progress=on_progress, skip_bad_lines=skip_bad_lines, merged=merged
        )

    paths = [str(s.path) for s in files]
    small = sum(s.size() for s in files) <= _DELTA_BYTES
    prefixes = _prefixes_of(files, "" if replacing else kg.record.prefixes)
    touched = partial(_touch, files)
    new = _assert(kg, paths, put, touched, apart=small, prefixes=prefixes, replacing=replacing, named=names)
    return LoadReport(
        kg.record.asserted[-1], new, time.perf_counter() - started, tuple(paths), tuple(notes.rejected),
        tuple(sorted(notes.tags)), tuple(notes.empty),
    )  # fmt: skip


def insert(kg: KnowledgeGraph, triples: Iterable[Triple]) -> int:
    """Assert triples, whole or not at all, and return how many were new."""
    triples = list(triples)
    data = to_ntriples(triples)
    if not data:
        return 0
    touched = partial(TouchedEntities.of, triples)
    return _assert(kg, [], lambda graph, _: kg.store.insert(data, graph), touched, apart=True)


def recover(kg: KnowledgeGraph) -> str:
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
    written = _Written(pending["graph"], pending.get("merged", ""), tuple(pending.get("named", ())))
    if not atomic or kg.counted(written.graphs) == pending["triples"]:
        kg.commit(before)
        for graph in written.named:
            if graph not in before.contexts:
                kg.store.clear(graph)
        return f"An unfinished load of {_few(pending['load'])} was discarded."
    replacing = bool(pending.get("replacing"))
    _check_names(kg, before, written, pending["prefixes"], _change(pending["load"]), replacing=replacing)
    return f"The load of {_few(pending['load'])} had been completed before the interruption."


def learn_prefixes(kg: KnowledgeGraph) -> None:
    """Take over the prefixes that loaded files declared, or that the store keeps."""
    kept = json.loads(kg.record.prefixes) if kg.record.prefixes else {}
    kept.update(kg.store.prefixes())
    kg.prefixes.update({p: n for p, n in kept.items() if n and p not in kg.prefixes})
    if kept.get("") == _AMBIGUOUS:
        kg.prefixes.pop("", None)


@dataclass(frozen=True)
class _Written:
    """The graphs that a load writes."""

    graph: str
    merged: str = ""
    named: tuple[str, ...] = ()

    @property
    def graphs(self) -> tuple[str, ...]:
        """Return all of them."""
        return tuple(g for g in (self.graph, self.merged, *self.named) if g)


def _require_own(kg: KnowledgeGraph, named: Sequence[str]) -> None:
    """Refuse to load into named graphs of the store that are others'."""
    others = {*kg.store.graphs()} - {*kg.record.contexts} if named else set()
    if taken := sorted(others & {*named}):
        hint = "Nothing was loaded. Rename the graph in the file, or use another store."
        raise LoadError(f"The store has a graph <{taken[0]}> that is not part of {kg.name!r}.", hint=hint)


def _assert(
    kg: KnowledgeGraph,
    paths: Sequence[str],
    put: Callable[[str, str | None], None],
    touched: Callable[[], TouchedEntities | None],
    *,
    apart: bool,
    prefixes: str | None = None,
    replacing: bool = False,
    named: Sequence[str] = (),
) -> int:
    """Put triples into an asserted graph, and return how many are new.

    After reasoning they go to a graph of their own, where `apart` allows it, so that the next reasoning
    can start from them alone. Those that replace all others fill a new graph in any case. What is in named
    graphs stays there, and is also merged into one graph more, so that the asserted graphs have all.
    """
    if kg.store.capabilities.reasoning:
        count = kg.record.triples
        put(kg.server_graph(), "" if named else None)
        kg.store.remember(json.loads(prefixes or "{}"))
        kg.recount()
        learn_prefixes(kg)
        return kg.record.triples - count
    kg.begin_own()
    before = kg.record
    atomic = kg.store.capabilities.atomic
    apart = apart and before.followed
    # Where a load cannot land in one step it fills a graph that no one reads yet.
    apart = apart or replacing or not atomic
    graph = kg.new_graph() if apart else before.asserted[0]
    fresh = replacing or not atomic or not before.merged
    merged = "" if not named else f"{kg.new_graph()}:0" if fresh else before.merged
    written = _Written(graph, merged, tuple(named))
    prefixes = before.prefixes if prefixes is None else prefixes
    for old in before.contexts if replacing else ():
        if old in named:
            kg.store.clear(old)  # what replaces it has been read through, and is well formed
    counted = bool(named) or apart or len(before.asserted) > 1
    pending = {
        "load": list(paths),
        "graph": graph,
        "merged": merged,
        "named": list(named),
        "triples": kg.counted(written.graphs) if counted else before.triples,
        "prefixes": prefixes,
        "replacing": replacing,
    }
    kg.commit(replace(before, pending=json.dumps(pending)))
    try:
        put(graph, merged or None)
    except BaseException:
        # Ctrl-C is heard after a step of the engine, so all may have been put by then. What cannot be
        # put right now, for the disk may be full, is put right by the next opening.
        with suppress(StoreError):
            recover(kg)
        raise
    _check_names(kg, before, written, prefixes, _change(paths), touched, replacing=replacing)
    return kg.record.triples - (0 if replacing else before.triples)


def _check_names(
    kg: KnowledgeGraph,
    before: Record,
    written: _Written,
    prefixes: str,
    change: GraphChange,
    touched: Callable[[], TouchedEntities | None] = lambda: None,
    *,
    replacing: bool = False,
) -> None:
    """Finish what `_assert` began; recovery runs it again, so it may come twice."""
    graph, merged = written.graph, written.merged
    if merged and not replacing and before.merged not in ("", merged):
        # There is one such graph, so a new one takes over what the other has.
        kg.store.derive(_EVERYTHING, Dataset((before.merged,)), merged)
        asserted, added = (
            tuple(g for g in graphs if g != before.merged) for graphs in (before.asserted, before.added)
        )
        before = replace(before, asserted=asserted, added=added)
    if merged:
        rest = (graph,) if replacing else (graph, *before.asserted)
        kg.remove_doubles([(merged, other, merged) for other in dict.fromkeys(rest) if other != merged])
    contexts = tuple(sorted({*written.named, *(() if replacing else before.contexts)}))
    if replacing:
        asserted = (graph, merged) if merged else (graph,)
        after = Record(asserted, revision=before.revision + 1, prefixes=prefixes, labels=before.labels)
        after = replace(after, triples=kg.counted(asserted), contexts=contexts, merged=merged)
        kg.begin_anew(after, replace(change, by="replace"))
        learn_prefixes(kg)
        return
    others = [g for g in before.asserted if g not in (graph, merged)]
    if graph in before.asserted:
        # Too much to tell apart: inferences are dropped until the next reasoning.
        for other in others:
            kg.remove_doubles([(other, graph, other)])
        after = replace(before.without_inferences(), revision=before.revision + 1)
    elif before.triples:
        kg.remove_doubles([(graph, other, graph) for other in others])
        new = [g for g in (graph, merged) if g]
        hidden = (*before.inferred, *before.apart)
        kg.remove_doubles([(g, other, other) for g in new for other in hidden])
        after = joined(before, graph, 0)
    else:
        after = joined(replace(before, asserted=(), added=()), graph, 0)
    if merged and merged not in after.asserted:
        after = replace(joined(after, merged, 0), revision=before.revision + 1)
    elif merged and after.inferred:
        # What came to it cannot be told from what it had.
        after = after.without_inferences()
    after = replace(after, contexts=contexts, merged=merged or before.merged)
    after = replace(after, triples=kg.counted(after.asserted), pending="", prefixes=prefixes)
    known = touched() if after.inferred == kg.record.inferred else None
    kg.commit(after, change=replace(change, touched=known))
    learn_prefixes(kg)


def _change(paths: Sequence[str]) -> GraphChange:
    """Return what a load is called, without the folders of its files; none are triples of a program."""
    if not paths:
        return GraphChange("insert")
    more = f" (+{len(paths) - 1})" if len(paths) > 1 else ""
    return GraphChange("load", Path(paths[0]).name + more)


def _touch(files: Sequence[Source]) -> TouchedEntities | None:
    """Return what small files touch; None for others, which are not read twice."""
    if sum(source.size() for source in files) > _SMALL_BYTES:
        return None
    try:
        return TouchedEntities.of(quad for source in files for quad in source.quads())
    except LoadError:
        return None  # bad lines were left out of it


def _prefixes_of(files: Sequence[Source], before: str) -> str:
    known = json.loads(before) if before else {}
    new = declared(files)
    ambiguous = "" in known and "" in new and known[""] != new[""]
    known.update(new)
    if ambiguous:
        known[""] = _AMBIGUOUS
    return json.dumps(known, sort_keys=True)


def _few(paths: Sequence[str]) -> str:
    return ", ".join(paths[:3] or ["triples"]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
