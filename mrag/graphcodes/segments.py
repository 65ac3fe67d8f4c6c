"""Segments of an index of graph codes: runs of documents with their postings, never changed once built.

| array | content |
|---|---|
| `ids` | ids of the documents, sorted |
| `slots`, `hashes` | nodes, sorted by a hash of their ids, by which they are found |
| `node_ptr`, `node_docs` | for each slot the documents that have it, ascending |
| `hub_of`, `hubs` | instead, for slots of more than one document in 32: one bit per document |
| `pair_keys`, `pair_ptr`, | for each ordered pair of slots (source times number of slots plus target) |
| `pair_docs`, `pair_cells` | the documents that have edges there, and their cells |
| `n_nodes`, `n_pairs`, `n_edges` | how many things each document has |

Posting lists are read by a fancy index at 5 to 9 ns an entry, bits at 0.07 ns a document: a bit set is
the faster form from a document in 64 on and the smaller one from a document in 32 on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.graphcodes.code import Cell, Edge, GraphCode, Node
from mrag.index.rows import Rows, StoredSegment, StringTable
from mrag.storage.folder import Committed, Kind, Live

Ints: TypeAlias = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Flat:
    """Codes as arrays: one entry per node of a document, one per ordered pair that has edges."""

    ids: Sequence[str]
    nodes: Sequence[Node]
    cells: Sequence[Cell]
    node_doc: Ints
    node_slot: Ints
    pair_doc: Ints
    pair_source: Ints
    pair_target: Ints
    pair_cell: Ints

    def __post_init__(self) -> None:
        lengths = {len(a) for a in (self.pair_doc, self.pair_source, self.pair_target, self.pair_cell)}
        if len(self.node_doc) != len(self.node_slot) or len(lengths) != 1:
            raise ConfigError("Arrays of a flat collection that belong together differ in length.")
        if len(set(self.ids)) != len(self.ids):
            raise ConfigError("A document id comes twice.")

    @classmethod
    def of(cls, codes: Mapping[str, GraphCode]) -> Flat:
        """Take codes by document id apart."""
        known = _Known()
        node_doc: list[int] = []
        node_slot: list[int] = []
        pairs: list[tuple[int, int, int, int]] = []
        for at, code in enumerate(codes.values()):
            here = {node.id: known.slot(node) for node in code.nodes}
            node_slot += here.values()
            node_doc += [at] * len(here)
            for (source, target), cell in code.cells.items():
                pairs.append((at, here[source], here[target], known.cell(cell)))
        columns = np.ascontiguousarray(np.array(pairs, np.int32).reshape(-1, 4).T)
        nodes = np.array(node_doc, np.int32), np.array(node_slot, np.int32)
        return cls(list(codes), known.nodes, list(known.cells), *nodes, *columns)

    @classmethod
    def merge(cls, flats: Sequence[Flat]) -> Flat:
        """Join collections, at least one, that have no document in common."""
        if len(flats) == 1:
            return flats[0]
        known = _Known()
        ids: list[str] = []
        columns: list[tuple[Ints, ...]] = []
        for flat in flats:
            slot_of = np.fromiter(map(known.slot, flat.nodes), np.int64, len(flat.nodes))
            cell_of = np.fromiter(map(known.cell, flat.cells), np.int64, len(flat.cells))
            pairs = slot_of[flat.pair_source], slot_of[flat.pair_target], cell_of[flat.pair_cell]
            docs = np.asarray(flat.node_doc) + len(ids), np.asarray(flat.pair_doc) + len(ids)
            columns.append((docs[0], slot_of[flat.node_slot], docs[1], *pairs))
            ids += flat.ids
        whole = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        return cls(ids, known.nodes, list(known.cells), *whole)


class _Known:
    """Numbers nodes and cells as they come; of labels of one node the first in order is kept."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.cells: dict[Cell, int] = {}
        self._slots: dict[tuple[str, frozenset[str]], int] = {}

    def slot(self, node: Node) -> int:
        """Return the number of a node."""
        nodes = self.nodes
        slot = self._slots.setdefault((node.id, node.types), len(nodes))
        if slot == len(nodes):
            nodes.append(node)
        elif node.label and (not nodes[slot].label or node.label < nodes[slot].label):
            nodes[slot] = node
        return slot

    def cell(self, cell: Cell) -> int:
        """Return the number of a cell."""
        return self.cells.setdefault(cell, len(self.cells))


_HUB: Final = 32


def smallest(highest: int) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that holds a number."""
    return np.min_scalar_type(max(highest, 0))


def _hash(node_id: str) -> int:
    return int.from_bytes(blake2b(node_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _slot_text(node: Node) -> str:
    plain = not node.label and not node.types and not node.id.startswith("[")
    return node.id if plain else json.dumps([node.id, node.label, *sorted(node.types)], ensure_ascii=False)


def _slot_parts(text: str) -> list[str]:
    """Return the id, the label and the types of a node."""
    parts: list[str] = json.loads(text) if text.startswith("[") else [text, ""]
    return parts


class CodeSegment(StoredSegment):
    """A run of documents. Make one by `CodeSegment.build` or from the arrays of a file."""

    hashes: npt.NDArray[np.uint64]
    node_ptr: Ints
    node_docs: Ints
    hub_of: Ints
    hubs: npt.NDArray[np.uint8]
    pair_keys: npt.NDArray[np.int64]
    pair_ptr: Ints
    pair_docs: Ints
    pair_cells: Ints
    n_nodes: Ints
    n_pairs: Ints
    n_edges: Ints

    def __getattr__(self, name: str) -> Any:
        """Read and check an array when it is first asked for."""
        if name not in CodeSegment.__annotations__:
            raise AttributeError(name)
        array = self.__dict__[name] = self.arrays()[name]
        return array

    @cached_property
    def slots(self) -> StringTable:
        """Nodes, sorted by a hash of their ids."""
        return self.strings("slots")

    @cached_property
    def cells(self) -> StringTable:
        """Relations of ordered pairs."""
        return self.strings("cells")

    @classmethod
    def build(cls, flat: Flat) -> CodeSegment:
        """Build a segment from flat arrays."""
        size, width = len(flat.ids), len(flat.nodes)
        ids = sorted(flat.ids)
        rank = dict(zip(ids, range(size), strict=True))
        doc_rank = np.fromiter((rank[i] for i in flat.ids), np.int64, size)
        hashes = np.fromiter((_hash(node.id) for node in flat.nodes), np.uint64, width)
        texts = [_slot_text(node) for node in flat.nodes]
        order = sorted(range(width), key=lambda at: (int(hashes[at]), texts[at]))
        slot_rank = np.empty(width, np.int64)
        slot_rank[order] = np.arange(width)
        sizes = np.array([len(cell) for cell in flat.cells], np.int64)

        node_doc, pair_doc = doc_rank[flat.node_doc], doc_rank[flat.pair_doc]
        slot, docs = _sort([(slot_rank[flat.node_slot], width), (node_doc, size)])
        hub_of, hubs, node_ptr, node_docs = _hubs(slot, docs, width, size)
        keys, pair_docs, cells = _sort(
            [
                (slot_rank[flat.pair_source] * width + slot_rank[flat.pair_target], width * width),
                (pair_doc, size),
                (flat.pair_cell, len(flat.cells)),
            ]
        )
        first = np.flatnonzero(np.concatenate([np.ones(min(1, len(keys)), bool), keys[1:] != keys[:-1]]))
        n_edges = np.bincount(pair_doc, weights=sizes[flat.pair_cell], minlength=size).astype(np.int64)
        n_nodes, n_pairs = np.bincount(node_doc, minlength=size), np.bincount(pair_doc, minlength=size)
        strings = {
            "ids": StringTable.of(ids),
            "slots": StringTable.of(texts[at] for at in order),
            "cells": StringTable.of(json.dumps(cell, ensure_ascii=False) for cell in flat.cells),
        }
        counts = {"n_nodes": n_nodes, "n_pairs": n_pairs, "n_edges": n_edges}
        return cls(
            cls.pack(strings)
            | {
                "hashes": hashes[order],
                "node_ptr": node_ptr,
                "node_docs": node_docs,
                "hub_of": hub_of,
                "hubs": hubs,
                "pair_keys": keys[first],
                "pair_ptr": np.append(first, len(keys)).astype(smallest(len(keys))),
                "pair_docs": pair_docs.astype(np.int32),
                "pair_cells": cells.astype(smallest(len(flat.cells))),
            }
            | {name: count.astype(smallest(int(count.max(initial=0)))) for name, count in counts.items()}
        )

    @cached_property
    def cell_list(self) -> list[Cell]:
        """The cells by number."""
        return [tuple(json.loads(text)) for text in self.cells]

    @cached_property
    def cell_numbers(self) -> Mapping[Cell, int]:
        """The number of each cell."""
        return {cell: number for number, cell in enumerate(self.cell_list)}

    @cached_property
    def having(self) -> Mapping[str, list[int]]:
        """The numbers of the cells that have each relation."""
        rows: dict[str, list[int]] = {}
        for number, cell in enumerate(self.cell_list):
            for relation in cell:
                rows.setdefault(relation, []).append(number)
        return rows

    def node(self, slot: int) -> Node:
        """Return the node of a slot."""
        node_id, label, *types = _slot_parts(self.slots[slot])
        return Node(node_id, label, frozenset(types))

    def slots_of(self, ids: Sequence[str]) -> list[list[int]]:
        """Return the slots of each id."""
        asked = np.array([_hash(i) for i in ids], np.uint64)
        low = np.searchsorted(self.hashes, asked, "left").tolist()
        high = np.searchsorted(self.hashes, asked, "right").tolist()
        slots = []
        for node_id, start, end in zip(ids, low, high, strict=True):
            slots.append([s for s in range(start, end) if _slot_parts(self.slots[s])[0] == node_id])
        return slots

    @cached_property
    def slots_by_type(self) -> Mapping[str, list[int]]:
        """The slots that have each type."""
        slots: dict[str, list[int]] = {}
        for slot, text in enumerate(self.slots):
            for kind in _slot_parts(text)[2:]:
                slots.setdefault(kind, []).append(slot)
        return slots

    def docs_of(self, slot: int) -> Ints:
        """Return the documents that have a slot, ascending."""
        hub = int(self.hub_of[slot])
        if hub >= 0:
            return np.flatnonzero(np.unpackbits(self.hubs[hub], count=len(self)))
        return np.asarray(self.node_docs[int(self.node_ptr[slot]) : int(self.node_ptr[slot + 1])])

    def has(self, slot: int, row: int) -> bool:
        """Return whether a document has a slot."""
        hub = int(self.hub_of[slot])
        if hub >= 0:
            return bool(self.hubs[hub, row >> 3] >> (7 - (row & 7)) & 1)
        docs = self.docs_of(slot)
        at = int(np.searchsorted(docs, row))
        return at < len(docs) and bool(docs[at] == row)

    def flat(self, live: npt.NDArray[np.bool_] | None = None) -> Flat:
        """Return the documents as flat arrays again, without those that are not live."""
        slots = range(len(self.slots))
        lists = [self.docs_of(slot) for slot in slots]
        docs = np.concatenate([np.empty(0, np.int64), *lists])
        slot = np.repeat(np.arange(len(lists)), [len(group) for group in lists])
        keys = np.repeat(self.pair_keys, self.pair_ptr[1:].astype(np.int64) - self.pair_ptr[:-1])
        pair_docs, cells = np.asarray(self.pair_docs), np.asarray(self.pair_cells)
        ids = list(self.ids)
        if live is not None:
            number = np.cumsum(live) - 1
            ids = [i for i, keep in zip(ids, live.tolist(), strict=True) if keep]
            kept, kept_pairs = live[docs], live[pair_docs]
            docs, slot = number[docs[kept]], slot[kept]
            keys, cells, pair_docs = keys[kept_pairs], cells[kept_pairs], number[pair_docs[kept_pairs]]
        source, target = np.divmod(keys, max(1, len(self.slots)))
        # What only deleted documents had is forgotten.
        used, slot = np.unique(slot, return_inverse=True)
        used_cells, cells = np.unique(cells, return_inverse=True)
        source, target = np.searchsorted(used, source), np.searchsorted(used, target)
        nodes = [self.node(s) for s in used.tolist()]
        kept_cells = [self.cell_list[c] for c in used_cells.tolist()]
        return Flat(ids, nodes, kept_cells, docs, slot, pair_docs, source, target, cells)

    def code(self, row: int) -> GraphCode:
        """Read the code of a document back; looks through all postings, so it is for one at a time."""
        at = np.flatnonzero(self.node_docs == row)
        slots = (np.searchsorted(self.node_ptr, at, "right") - 1).tolist()
        if len(self.hubs):
            bits = self.hubs[:, row >> 3] >> (7 - (row & 7)) & 1
            slots += np.flatnonzero((self.hub_of >= 0) & (bits[self.hub_of] == 1)).tolist()
        places = np.flatnonzero(self.pair_docs == row)
        keys = self.pair_keys[np.searchsorted(self.pair_ptr, places, "right") - 1]
        edges = []
        for key, number in zip(keys.tolist(), self.pair_cells[places].tolist(), strict=True):
            source, target = divmod(key, len(self.slots))
            ends = self.node(source).id, self.node(target).id
            edges += [Edge(ends[0], relation, ends[1]) for relation in self.cell_list[number]]
        return GraphCode.of((self.node(slot) for slot in slots), edges)


def _hubs(slot: Ints, docs: Ints, width: int, size: int) -> tuple[Ints, npt.NDArray[np.uint8], Ints, Ints]:
    counts = np.bincount(slot, minlength=width)
    places = np.concatenate([[0], np.cumsum(counts)])
    hub_slots = np.flatnonzero(counts > max(64, size // _HUB))
    hub_of = np.full(width, -1, np.int32)
    hub_of[hub_slots] = np.arange(len(hub_slots))
    hubs = np.zeros((len(hub_slots), (size + 7) // 8), np.uint8)
    for number, hub in enumerate(hub_slots.tolist()):
        bits = np.zeros(size, np.uint8)
        bits[docs[places[hub] : places[hub + 1]]] = 1
        hubs[number] = np.packbits(bits)
    rest = hub_of[slot] < 0
    counts[hub_slots] = 0
    ptr = np.concatenate([[0], np.cumsum(counts)])
    return hub_of, hubs, ptr.astype(np.int64), docs[rest].astype(np.int32)


def _sort(columns: Iterable[tuple[Ints, int]]) -> list[npt.NDArray[np.int64]]:
    """Sort rows by their columns, the first one first; each comes with a bound of its numbers."""
    given = [(np.asarray(column), max(1, int(bound - 1).bit_length())) for column, bound in columns]
    if sum(bits for _, bits in given) > 64:
        order = np.lexsort([column for column, _ in reversed(given)])
        return [column[order].astype(np.int64) for column, _ in given]
    # All columns in one number: sorting that is several times as fast as sorting by several keys.
    packed = np.zeros(len(given[0][0]), np.uint64)
    for column, bits in given:
        packed <<= np.uint64(bits)
        packed |= column.astype(np.uint64)
    packed.sort()
    orders = []
    for _, bits in reversed(given):
        orders.append((packed & np.uint64((1 << bits) - 1)).astype(np.int64))
        packed >>= np.uint64(bits)
    return orders[::-1]


KIND: Final = Kind("index of graph codes", 4, "Build it anew with `mrag codes build`.")


@dataclass(frozen=True)
class CodeState:
    """What readers see: replaced as a whole by a writer."""

    segments: tuple[CodeSegment, ...] = ()
    live: Live = None
    committed: Committed | None = None

    @cached_property
    def rows(self) -> Rows:
        """The documents as numbered rows; their ids are read for it."""
        return Rows([segment.ids for segment in self.segments], self.live)

    @cached_property
    def bases(self) -> list[int]:
        """Where the documents of each segment begin, and those of the last end."""
        return [0, *np.cumsum([len(segment) for segment in self.segments]).tolist()]

    def __len__(self) -> int:
        return self.bases[-1] if self.live is None else int(np.count_nonzero(self.live))

    def live_of(self, at: int) -> Live:
        """Return False for every deleted document of a segment; None if no document is deleted."""
        return None if self.live is None else self.live[self.bases[at] : self.bases[at + 1]]

    def find(self, doc_id: str) -> tuple[CodeSegment, int] | None:
        """Return the segment of a document and its row in it."""
        row = self.rows.row_of(doc_id)
        if row is None:
            return None
        at, place = self.rows.place(row)
        return self.segments[at], place
