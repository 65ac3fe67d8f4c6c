"""Several flat collections as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mrag.graphcodes.code import Node
from mrag.graphcodes.index.flat import Flat, WeightedCell

__all__ = ["merged"]


def merged(flats: Sequence[Flat]) -> Flat:
    """Join flat collections, at least one, that have no document in common."""
    if len(flats) == 1:
        return flats[0]
    slots: dict[tuple[str, frozenset[str]], int] = {}
    nodes: list[Node] = []
    cells: dict[WeightedCell, int] = {}
    ids: list[str] = []
    columns: list[tuple[object, ...]] = []
    for flat in flats:
        slot_of, cell_of = np.empty(len(flat.nodes), np.int64), np.empty(len(flat.cells), np.int64)
        for at, node in enumerate(flat.nodes):
            slot = slot_of[at] = slots.setdefault((node.id, node.types), len(nodes))
            if slot == len(nodes):
                nodes.append(node)
            elif node.label and (not nodes[slot].label or node.label < nodes[slot].label):
                nodes[slot] = node
        for at, cell in enumerate(flat.cells):
            cell_of[at] = cells.setdefault(cell, len(cells))
        columns.append(
            (
                np.asarray(flat.node_doc) + len(ids),
                slot_of[flat.node_slot],
                np.asarray(flat.pair_doc) + len(ids),
                slot_of[flat.pair_source],
                slot_of[flat.pair_target],
                cell_of[flat.pair_cell],
            )
        )
        ids += flat.ids
    return Flat(ids, nodes, list(cells), *(np.concatenate(parts) for parts in zip(*columns, strict=True)))
