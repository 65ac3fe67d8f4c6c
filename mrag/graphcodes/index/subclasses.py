"""Counting with an ontology: several nodes of a document may match one of a question, and one several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.graphcodes.index.lookup import PairPostings

if TYPE_CHECKING:
    from mrag.graphcodes.index.counts import SegmentCounts

Floats: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]


def subclass_edges(counts: SegmentCounts) -> None:
    """Count matches where subclasses match classes: several may match one, and one several."""
    look, size = counts.lookup, len(counts.segment)
    theirs: npt.NDArray[Any] = np.zeros(size, np.uint16 if len(look.all_slots) < 65536 else np.uint32)
    look.add(look.all_slots, theirs)
    counts.their_count = theirs
    between = [look.pairs_between(look.slots[s], look.slots[t]) for s, t in look.ends]
    none = np.empty(0, np.int64)
    pairs = np.unique(np.concatenate([none, *between]))
    found = look.postings(pairs)
    at = counts.touch(found.docs)
    asked = [np.searchsorted(pairs, some) for some in between]
    wanted: list[set[str]] = [set() for _ in pairs]
    for cell, some in zip(look.cells, asked, strict=True):
        for pair in some.tolist():
            wanted[pair].update(cell)
    kinds = {kind: place for place, kind in enumerate(dict.fromkeys(map(frozenset, wanted)))}
    tables = [counts.fitting(sorted(kind), exact=False) for kind in kinds]
    which = np.array([kinds[frozenset(w)] for w in wanted], np.int64)
    typed = np.stack(tables)[which[found.which], found.sets] if len(found.docs) else np.zeros(0)
    counts.kept = {"their_pairs": counts.sum(at), "their_edges": counts.sum(at, typed)}
    counts.kept |= _asked_edges(counts, found, at, asked, len(pairs))


def _asked_edges(
    counts: SegmentCounts, found: PairPostings, at: npt.NDArray[Any], asked: Sequence[Rows], pairs: int
) -> dict[str, Floats]:
    bounds = np.searchsorted(found.which, np.arange(pairs + 1))
    pair_count, edge_count = np.zeros(len(counts.touched)), np.zeros(len(counts.touched))
    for cell, some in zip(counts.lookup.cells, asked, strict=True):
        spans = [np.arange(bounds[p], bounds[p + 1]) for p in some.tolist()]
        if not spans:
            continue
        entries = np.concatenate(spans)
        any_of = np.zeros(len(counts.touched), bool)
        any_of[at[entries]] = True
        pair_count += any_of
        for relation in cell:
            fits = counts.fitting([relation], exact=False)[found.sets[entries]] > 0
            any_of[:] = False
            any_of[at[entries[fits]]] = True
            edge_count += any_of
    return {"pairs": pair_count, "edges": edge_count}
