"""A question looked up in a segment: which slots and pairs are its nodes and edges there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from mrag.graphcodes.code import Cell, Edge, GraphCode
from mrag.graphcodes.comparison import CodeComparison
from mrag.graphcodes.index.flat import Ints
from mrag.graphcodes.index.segment import CodeSegment
from mrag.graphcodes.ontology import Ontology

_PRODUCT = 4096
_SMALL = 1 << 16


@dataclass(frozen=True)
class PairPostings:
    """What the documents have on some ordered pairs of slots, one entry per pair and document.

    Attributes:
        which: The place of the pair in the list that was asked for.
        docs: The document.
        sets: The set of relations, see `CodeSegment.relation_sets`.
        cells: The cell.
    """

    which: npt.NDArray[np.int64]
    docs: npt.NDArray[np.int64]
    sets: Ints
    cells: Ints


class SegmentLookup:
    """A question looked up in a segment.

    Args:
        segment: The segment.
        q: The question's code.
        comparison: How it is compared; only `structural` looks at types and the ontology.
    """

    def __init__(self, segment: CodeSegment, q: GraphCode, comparison: CodeComparison) -> None:
        self.segment = segment
        self.marks: dict[tuple[int, ...], npt.NDArray[np.uint8]] = {}
        self.q = q
        self.place = {node_id: at for at, node_id in enumerate(q.dictionary)}
        self.ends = [(self.place[s], self.place[t]) for s, t in q.cells]
        self.cells: list[Cell] = list(q.cells.values())
        if comparison.metric != "structural":
            self.slots = segment.slots_of(q.dictionary)
        elif comparison.ontology is None:
            meets = Ontology().meets
            found_for = segment.slots_of(q.dictionary)
            self.slots = [
                [slot for slot in found if not asked.types or meets(asked, segment.node(slot))]
                for asked, found in zip(q.nodes, found_for, strict=True)
            ]
        else:
            self.slots = [
                self._narrower_slots(asked.id, at, comparison.ontology) for at, asked in enumerate(q.nodes)
            ]

    def _narrower_slots(self, node_id: str, at: int, ontology: Ontology) -> list[int]:
        ids = sorted({node_id, *ontology.narrower.get(node_id, ())})
        slots = {slot for found in self.segment.slots_of(ids) for slot in found}
        for kind in ids:
            slots.update(self.segment.slots_by_type.get(kind, ()))
        asked = self.q.nodes[at]
        return sorted(slot for slot in slots if ontology.matches(asked, self.segment.node(slot)))

    @cached_property
    def all_slots(self) -> list[int]:
        """Every slot that matches a node of the question, each once."""
        return sorted({slot for slots in self.slots for slot in slots})

    def add(self, slots: Sequence[int], counts: npt.NDArray[Any]) -> None:
        """Add 1 for each document that has a slot, for each of the slots."""
        segment = self.segment
        hub_of, ptr = segment.hub_of[slots].tolist(), segment.node_ptr
        for slot, hub in zip(slots, hub_of, strict=True):
            if hub >= 0:
                counts += np.unpackbits(segment.hubs[hub], count=len(segment))
            else:
                # Documents of one slot are distinct. A fancy index is fast with the machine's integers only.
                counts[segment.node_docs[ptr[slot] : ptr[slot + 1]].astype(np.intp)] += 1

    def mark(self, slots: Sequence[int], row: npt.NDArray[np.uint8]) -> None:
        """Write 1 for each document that has any of the slots, else 0."""
        segment = self.segment
        row[:] = 0
        for slot in slots:
            hub = int(segment.hub_of[slot])
            if hub >= 0:
                row |= np.unpackbits(segment.hubs[hub], count=len(segment))
            else:
                row[segment.docs_of(slot).astype(np.intp)] = 1

    def having(self, slots: Sequence[int], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return 1 for each of some documents that has any of the slots, else 0."""
        segment = self.segment
        if len(segment) <= _SMALL or 16 * len(rows) > len(segment):
            marks = self.marks.get(tuple(slots))
            if marks is None:
                marks = self.marks[tuple(slots)] = np.empty(len(segment), np.uint8)
                self.mark(slots, marks)
            return marks[rows]
        found = np.zeros(len(rows), np.uint8)
        for slot in slots:
            hub = int(segment.hub_of[slot])
            if hub >= 0:
                found |= segment.hubs[hub][rows >> 3] >> (7 - (rows & 7)).astype(np.uint8) & 1
                continue
            docs = segment.docs_of(slot)
            if len(docs):
                # Numbers of another type would have the whole list converted.
                at = np.minimum(np.searchsorted(docs, rows.astype(docs.dtype)), len(docs) - 1)
                found |= docs[at] == rows
        return found

    def arcs(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Find the pairs of the segment that are pairs of the question, whose nodes share no slots.

        Returns:
            Their numbers, and for each the place of its cell in `cells`.
        """
        width = len(self.segment.slots)
        keys, places = [], []
        for place, (source, target) in enumerate(self.ends):
            for s in self.slots[source]:
                for t in self.slots[target]:
                    keys.append(s * width + t)
                    places.append(place)
        return self._known(np.array(keys, np.int64), np.array(places, np.int64))

    def other_arcs(self) -> npt.NDArray[np.int64]:
        """Find the pairs of the segment between two different nodes that have no edge in the question."""
        slots = np.array([slot for found in self.slots for slot in found], np.int64)
        nodes = np.repeat(np.arange(len(self.slots)), [len(found) for found in self.slots])
        free = ~np.eye(len(self.slots), dtype=bool)
        for source, target in self.ends:
            free[source, target] = False
        wanted = free[nodes[:, None], nodes[None, :]]
        keys = (slots[:, None] * len(self.segment.slots) + slots[None, :])[wanted]
        return self._known(keys, keys)[0]

    def _known(
        self, keys: npt.NDArray[np.int64], places: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        known = self.segment.pair_keys
        if not len(known):
            return keys[:0], places[:0]
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1).astype(np.int64)
        hit = known[at] == keys
        return at[hit], places[hit]

    def pairs_between(self, sources: Sequence[int], targets: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the pairs of the segment from any of the sources to any of the targets."""
        segment, width = self.segment, len(self.segment.slots)
        if len(sources) * len(targets) <= _PRODUCT:
            keys = (np.array(sources, np.int64)[:, None] * width + np.array(targets, np.int64)).ravel()
            return self._known(keys, keys)[0]
        wanted = np.zeros(width, bool)
        wanted[list(targets)] = True
        bounds = np.array(sources, np.int64)[:, None] * width + np.array([0, width])
        found = [np.empty(0, np.int64)]
        for low, high in np.searchsorted(segment.pair_keys, bounds).tolist():
            keys = segment.pair_keys[low:high]
            found.append(low + np.flatnonzero(wanted[keys % width]))
        return np.concatenate(found)

    def spans(self, pairs: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return where the postings of some pairs begin and end."""
        ptr = self.segment.pair_ptr
        return ptr[pairs].astype(np.int64), ptr[pairs + 1].astype(np.int64)

    def docs_on(self, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Read the documents on some pairs, one entry per pair and document."""
        starts, ends = self.spans(pairs)
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        docs = [np.empty(0, np.int64), *(self.segment.pair_docs[a:b] for a, b in spans)]
        return np.concatenate(docs, dtype=np.int64)

    def bare_postings(self, pairs: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Ints]:
        """Read the documents and cells on some pairs, one entry per pair and document."""
        segment = self.segment
        starts, ends = self.spans(pairs)
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        cells = [segment.pair_cells[:0], *(segment.pair_cells[a:b] for a, b in spans)]
        return self.docs_on(pairs), np.concatenate(cells)

    def postings(self, pairs: npt.NDArray[np.int64]) -> PairPostings:
        """Read all there is on some pairs."""
        docs, cells = self.bare_postings(pairs)
        starts, ends = self.spans(pairs)
        which = np.repeat(np.arange(len(pairs)), ends - starts)
        sets, _, _ = self.segment.relation_sets
        return PairPostings(which, docs, sets[cells], cells)


def part_of(segment: CodeSegment, row: int, q: GraphCode, comparison: CodeComparison) -> GraphCode:
    """Read the nodes of a document that match any of the question, with the edges between them."""
    look = SegmentLookup(segment, q, comparison)
    slots = [slot for slot in look.all_slots if segment.has(slot, row)]
    nodes = {slot: segment.node(slot) for slot in slots}
    edges = []
    for pair in look.pairs_between(slots, slots).tolist() if slots else ():
        start, end = int(segment.pair_ptr[pair]), int(segment.pair_ptr[pair + 1])
        at = start + int(np.searchsorted(segment.pair_docs[start:end], row))
        if at < end and segment.pair_docs[at] == row:
            source, target = divmod(int(segment.pair_keys[pair]), len(segment.slots))
            cell = segment.cell_list[int(segment.pair_cells[at])]
            edges += [Edge(nodes[source].id, r, nodes[target].id, w) for r, w in zip(*cell, strict=True)]
    return GraphCode.of(nodes.values(), edges)
