"""Many codes as flat arrays: what the index is built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.graphcodes.code import Cell, GraphCode, Node

Ints: TypeAlias = npt.NDArray[np.integer[Any]]

WeightedCell: TypeAlias = tuple[Cell, tuple[float, ...]]
"""The relations of one ordered pair of nodes, sorted, and their weights."""


@dataclass(frozen=True)
class Flat:
    """Codes as arrays: one entry per node of a document, one per ordered pair that has edges.

    The nodes of a pair must be nodes of its document. Whoever has graphs as numbers already (a scene
    parser, a dump) makes these arrays directly, which is several times as fast as going through
    `GraphCode` objects.

    Args:
        ids: The ids of the documents, each once, in any order.
        nodes: The distinct nodes; the same id may come with several sets of types.
        cells: The distinct cells.
        node_doc: Number of the document of each entry.
        node_slot: Number of its node; each at most once in a document.
        pair_doc: Number of the document of each pair.
        pair_source: Number of the node that its edges leave.
        pair_target: Number of the node that they reach.
        pair_cell: Number of its cell.

    Raises:
        ConfigError: If arrays that belong together differ in length, or an id comes twice.
    """

    ids: Sequence[str]
    nodes: Sequence[Node]
    cells: Sequence[WeightedCell]
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
        """Take codes by document id apart.

        Example:
            >>> flat = Flat.of({"ex:1": GraphCode.of([], [("dog", "bites", "man")])})
            >>> flat.node_slot.tolist(), flat.cells
            ([0, 1], [(('bites',), (1.0,))])
        """
        slots: dict[tuple[str, frozenset[str]], int] = {}
        nodes: list[Node] = []
        cells: dict[WeightedCell, int] = {}
        node_doc: list[int] = []
        node_slot: list[int] = []
        pairs: list[tuple[int, int, int, int]] = []
        for at, code in enumerate(codes.values()):
            here: dict[str, int] = {}
            for node in code.nodes:
                slot = slots.setdefault((node.id, node.types), len(nodes))
                if slot == len(nodes):
                    nodes.append(node)
                elif node.label and (not nodes[slot].label or node.label < nodes[slot].label):
                    nodes[slot] = node
                here[node.id] = slot
            node_slot += here.values()
            node_doc += [at] * len(here)
            # Edges are sorted by source and relation, so relations of a pair come in order.
            found: dict[tuple[str, str], tuple[list[str], list[float]]] = {}
            for edge in code.edges:
                relations, weights = found.setdefault((edge.source, edge.target), ([], []))
                relations.append(edge.relation)
                weights.append(edge.weight)
            for (source, target), (relations, weights) in found.items():
                number = cells.setdefault((tuple(relations), tuple(weights)), len(cells))
                pairs.append((at, here[source], here[target], number))
        table = np.array(pairs, np.int32).reshape(-1, 4)
        return cls(
            list(codes),
            nodes,
            list(cells),
            np.array(node_doc, np.int32),
            np.array(node_slot, np.int32),
            *(np.ascontiguousarray(column) for column in table.T),
        )

    @classmethod
    def merged(cls, flats: Sequence[Flat]) -> Flat:
        """Join collections, at least one, that have no document in common."""
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
        return cls(ids, nodes, list(cells), *(np.concatenate(parts) for parts in zip(*columns, strict=True)))
