"""Segments: runs of documents with their postings, never changed once built.

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
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.graphcodes.code import Cell, Edge, GraphCode, Node
from mrag.graphcodes.index.flat import Flat, Ints, WeightedCell
from mrag.index.rows import StringTable
from mrag.storage.arrays import Arrays, lazy

_HUB: Final = 32


def smallest(highest: int) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that holds a number."""
    return np.min_scalar_type(max(highest, 0))


def _hash(node_id: str) -> int:
    return int.from_bytes(blake2b(node_id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _slot_text(node: Node) -> str:
    plain = not node.label and not node.types and not node.id.startswith("[")
    return node.id if plain else json.dumps([node.id, node.label, *sorted(node.types)], ensure_ascii=False)


def _slot_node(text: str) -> Node:
    if not text.startswith("["):
        return Node(text)
    node_id, label, *types = json.loads(text)
    return Node(node_id, label, frozenset(types))


def _slot_id(text: str) -> str:
    return str(json.loads(text)[0]) if text.startswith("[") else text


class _Stored:
    """An array of a segment, read and checked when it is first asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, segment: Any, owner: type) -> Any:
        found = segment.__dict__[self.name] = segment.arrays()[self.name]
        return found


class CodeSegment:
    """A run of documents. Make one by `CodeSegment.build` or from the arrays of a file.

    Args:
        arrays: What `arrays` returns; those of a file are read as they are asked for.
    """

    hashes: npt.NDArray[np.uint64] = _Stored()  # type: ignore[assignment]
    node_ptr: Ints = _Stored()  # type: ignore[assignment]
    node_docs: Ints = _Stored()  # type: ignore[assignment]
    hub_of: Ints = _Stored()  # type: ignore[assignment]
    hubs: npt.NDArray[np.uint8] = _Stored()  # type: ignore[assignment]
    pair_keys: npt.NDArray[np.int64] = _Stored()  # type: ignore[assignment]
    pair_ptr: Ints = _Stored()  # type: ignore[assignment]
    pair_docs: Ints = _Stored()  # type: ignore[assignment]
    pair_cells: Ints = _Stored()  # type: ignore[assignment]
    n_nodes: Ints = _Stored()  # type: ignore[assignment]
    n_pairs: Ints = _Stored()  # type: ignore[assignment]
    n_edges: Ints = _Stored()  # type: ignore[assignment]

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def __len__(self) -> int:
        return len(lazy(self._arrays, "ids.offsets")) - 1

    @cached_property
    def ids(self) -> StringTable:
        """Ids of the documents, sorted."""
        return self._strings("ids")

    @cached_property
    def slots(self) -> StringTable:
        """Nodes, sorted by a hash of their ids."""
        return self._strings("slots")

    @cached_property
    def cells(self) -> StringTable:
        """Relations of ordered pairs, with their weights."""
        return self._strings("cells")

    def _strings(self, name: str) -> StringTable:
        return StringTable(lazy(self._arrays, f"{name}.blob"), self._arrays[f"{name}.offsets"])

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
        sizes = np.array([len(cell) for cell, _ in flat.cells], np.int64)

        node_doc, pair_doc = doc_rank[flat.node_doc], doc_rank[flat.pair_doc]
        slot, docs = _sorted([(slot_rank[flat.node_slot], width), (node_doc, size)])
        hub_of, hubs, node_ptr, node_docs = _hubs(slot, docs, width, size)
        keys, pair_docs, cells = _sorted(
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
            "cells": StringTable.of(
                json.dumps([*c, *weights], ensure_ascii=False) for c, weights in flat.cells
            ),
        }
        arrays: dict[str, npt.NDArray[Any]] = {}
        for name, table in strings.items():
            arrays |= {f"{name}.blob": np.asarray(table.blob), f"{name}.offsets": table.offsets}
        counts = {"n_nodes": n_nodes, "n_pairs": n_pairs, "n_edges": n_edges}
        return cls(
            arrays
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

    def arrays(self) -> Arrays:
        """Return everything that a segment is, as arrays by name."""
        return self._arrays

    @cached_property
    def relation_sets(self) -> tuple[Ints, dict[Cell, int], dict[str, list[int]]]:
        """Number the distinct sets of relations, which cells of several weights share.

        Returns:
            The set of each cell, the number of each set, and the sets that have a relation.
        """
        numbers: dict[Cell, int] = {}
        of_cell = np.array([numbers.setdefault(cell, len(numbers)) for cell, _ in self.cell_list], np.int64)
        having: dict[str, list[int]] = {}
        for cell, number in numbers.items():
            for relation in cell:
                having.setdefault(relation, []).append(number)
        return of_cell, numbers, having

    @cached_property
    def cell_list(self) -> list[WeightedCell]:
        """The cells by number."""
        read = (json.loads(text) for text in self.cells)
        return [(tuple(c[: len(c) // 2]), tuple(map(float, c[len(c) // 2 :]))) for c in read]

    def node(self, slot: int) -> Node:
        """Return the node of a slot."""
        return _slot_node(self.slots[slot])

    def slots_of(self, ids: Sequence[str]) -> list[list[int]]:
        """Return the slots of each id."""
        asked = np.array([_hash(i) for i in ids], np.uint64)
        low = np.searchsorted(self.hashes, asked, "left").tolist()
        high = np.searchsorted(self.hashes, asked, "right").tolist()
        found = []
        for node_id, start, end in zip(ids, low, high, strict=True):
            texts = [(slot, self.slots[slot]) for slot in range(start, end)]
            found.append([slot for slot, text in texts if text == node_id or _slot_id(text) == node_id])
        return found

    @cached_property
    def slots_by_type(self) -> Mapping[str, list[int]]:
        """The slots that have each type."""
        found: dict[str, list[int]] = {}
        for slot, text in enumerate(self.slots):
            if text.startswith("["):
                for kind in json.loads(text)[2:]:
                    found.setdefault(kind, []).append(slot)
        return found

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
        slot = np.repeat(np.arange(len(lists)), [len(found) for found in lists])
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
        found = np.flatnonzero(self.pair_docs == row)
        keys = self.pair_keys[np.searchsorted(self.pair_ptr, found, "right") - 1]
        edges = []
        for key, number in zip(keys.tolist(), self.pair_cells[found].tolist(), strict=True):
            source, target = divmod(key, len(self.slots))
            ends = self.node(source).id, self.node(target).id
            edges += [Edge(ends[0], r, ends[1], w) for r, w in zip(*self.cell_list[number], strict=True)]
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


def _sorted(columns: Iterable[tuple[Ints, int]]) -> list[npt.NDArray[np.int64]]:
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
    found = []
    for _, bits in reversed(given):
        found.append((packed & np.uint64((1 << bits) - 1)).astype(np.int64))
        packed >>= np.uint64(bits)
    return found[::-1]
