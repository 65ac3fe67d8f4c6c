"""What every document of a segment has in common with a question, counted; the metrics from the counts.

Counts are exact whole numbers (but for `paper-numbers`, whose weights are real), and each metric is
worked out from them with the operations of its plain formula in the same order.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.comparison import CodeComparison
from mrag.graphcodes.index.flat import Ints
from mrag.graphcodes.index.lookup import SegmentLookup
from mrag.graphcodes.index.segment import CodeSegment
from mrag.graphcodes.index.subclasses import subclass_edges
from mrag.graphcodes.registry import RelationRegistry

Floats: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = tuple[Floats, Floats, Floats]

_local = threading.local()


def _scratch(name: str, size: int, dtype: type[Any]) -> npt.NDArray[Any]:
    # Fresh memory costs more than the counting itself: pages are cleared as they are touched.
    held: npt.NDArray[Any] | None = getattr(_local, name, None)
    if held is None or len(held) < size:
        held = np.empty(size, dtype)
        setattr(_local, name, held)
    return held[:size]


class SegmentCounts:
    """The counts of one question in one segment. Use it up before the same thread makes another.

    Args:
        segment: The segment.
        q: The question's code, with at least one node.
        comparison: How codes are compared.
        registry: Numbers of relations, for `paper-numbers`.
        live: False for deleted documents.

    Attributes:
        count: For each document, how many nodes of the question it has a match of.
        touched: The documents that have edges where the question looks, ascending.
    """

    def __init__(
        self,
        segment: CodeSegment,
        q: GraphCode,
        comparison: CodeComparison,
        registry: RelationRegistry,
        live: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self.segment, self.q, self.comparison = segment, q, comparison
        self.lookup = SegmentLookup(segment, q, comparison)
        size = len(segment)
        self.count: npt.NDArray[Any] = np.zeros(size, np.uint8 if len(q) < 256 else np.uint16)
        for slots in self.lookup.slots:
            if comparison.ontology is None or len(slots) < 2:
                self.lookup.add(slots, self.count)
            else:
                row = np.empty(size, np.uint8)
                self.lookup.mark(slots, row)
                self.count += row
        if live is not None:
            self.count *= live
        self.live = live
        self.kept: dict[str, npt.NDArray[Any]] = {}
        self.touched: Rows = np.empty(0, np.int64)
        if comparison.metric == "structural":
            if comparison.ontology is None:
                self._plain_edges()
            else:
                subclass_edges(self)
        else:
            self._cells(registry)

    def touch(self, docs: Rows) -> npt.NDArray[Any]:
        """Number the documents that come up; give the number of each entry."""
        touched = _scratch("touched", len(self.segment), np.bool_)
        touched[:] = False
        touched[docs] = True
        self.touched = np.flatnonzero(touched)
        number = _scratch("number", len(self.segment), np.int32)
        number[self.touched] = np.arange(len(self.touched), dtype=np.int32)
        return number[docs]

    def sum(self, at: npt.NDArray[Any], values: npt.NDArray[Any] | None = None) -> Floats:
        """Sum up entries, or values of theirs, for each document of `touched`."""
        return np.bincount(at, weights=values, minlength=len(self.touched)).astype(np.float64)

    def levels(self, low: int, high: int) -> Rows:
        """Return the documents that share so many nodes, from low to high, and are not in `touched`."""
        count = self.count
        rows: Rows = np.flatnonzero((count >= low) & (count <= high) if high < len(self.q) else count >= low)
        return rows[~_scratch("touched", len(self.segment), np.bool_)[rows]]

    def _cells(self, registry: RelationRegistry) -> None:
        """Count for the metrics of whole cells: those of the paper and the query-relative one."""
        look = self.lookup
        pairs, places = look.arcs()
        keep = np.array([s != t for s, t in look.ends], bool)[places]
        pairs, places = pairs[keep], places[keep]
        _, numbers, _ = self.segment.relation_sets
        found = look.postings(pairs)
        at = self.touch(found.docs)
        self.kept = {"both": self.sum(at)}
        if self.comparison.metric != "paper-numbers":
            asked = np.array([numbers.get(cell, -1) for cell in look.cells], np.int64)[places]
            self.kept["same"] = self.sum(at[found.sets == asked[found.which]])
            return
        weights = [self.q.weights[pair] for pair in self.q.cells]
        self.worth = np.array([w * registry.number(c) for w, c in zip(weights, look.cells, strict=True)])
        self.values_of_cells = np.array([max(w) * registry.number(c) for c, w in self.segment.cell_list])
        wanted = self.worth[places][found.which]
        self.kept["wanted"] = self.sum(at, wanted)
        self.kept["difference"] = self.sum(at, np.abs(wanted - self.values_of_cells[found.cells]))

    def _plain_edges(self) -> None:
        """Count matched pairs and edges where each node of a document matches at most one asked for."""
        pairs, places = self.lookup.arcs()
        kinds = {cell: at for at, cell in enumerate(dict.fromkeys(self.lookup.cells))}
        kind = np.array([kinds[cell] for cell in self.lookup.cells] or [0], np.int64)[places]
        table = np.stack([self.fitting(cell, exact=True) for cell in kinds] or [np.zeros(1)])
        self.their_count: npt.NDArray[Any] = self.count
        found = self.lookup.postings(pairs)
        at = self.touch(found.docs)
        typed = table[kind[found.which], found.sets] if len(found.docs) else np.zeros(0)
        pair_count, edge_count = self.sum(at), self.sum(at, typed)
        self.kept = {"pairs": pair_count, "their_pairs": pair_count}
        self.kept |= {"edges": edge_count, "their_edges": edge_count}

    def fitting(self, relations: Sequence[str], *, exact: bool) -> Floats:
        """Return for each set of relations how many of its members fit any of these."""
        _, numbers, having = self.segment.relation_sets
        fit = set(relations)
        ontology = self.comparison.ontology
        if not exact and ontology is not None:
            fit.update(*(ontology.narrower.get(r, ()) for r in relations))
        counts = np.zeros(max(1, len(numbers)))
        for relation in fit:
            counts[having.get(relation, [])] += 1
        return counts

    def bounds(self, shared: int) -> tuple[float, float, float]:
        """Return what a document can reach that shares so many nodes and is not in `touched`."""
        features = shared / len(self.q)
        metric, excess = self.comparison.metric, self.comparison.excess
        if metric == "query-relative":
            return features, 0.0, 0.0
        if metric == "structural":
            theirs = shared if self.comparison.ontology is None else int(self.their_count.max(initial=shared))
            features = (shared + excess * theirs) / (len(self.q) + excess * theirs)
            edges = features if not self.q.edges else 0.0
            return features, edges, edges
        cells = shared * (shared - 1)
        alone = metric == "paper-numbers"
        return features, 0.0, 0.0 if not cells else 1.0 if alone else 1.0 - 1.0 / cells

    def values(self, rows: Rows, at: Rows | None, *, bound: bool = False) -> Values:
        """Work out the metric for some documents.

        Args:
            rows: Their numbers.
            at: Their places in `touched`; None for documents that are not in it.
            bound: For `paper`, give for the types a bound from above that takes less time.
        """
        kept = {n: v[at] if at is not None else np.zeros(len(rows)) for n, v in self.kept.items()}
        if self.comparison.metric == "structural":
            return self._structural(rows, kept)
        k = self.count[rows].astype(np.float64)
        features = k / len(self.q)
        both = kept["both"]
        if self.comparison.metric == "query-relative":
            asked = sum(s != t for s, t in self.lookup.ends)
            return features, both / max(1, asked), np.divide(kept["same"], both, out=both * 0, where=both > 0)
        cells = np.maximum(k * (k - 1), 1)
        if bound:
            return features, both / cells, np.where(k >= 2, 1.0 - (both - kept["same"]) / cells, 0.0)
        shared, wanted = self._shared(rows)
        others, theirs = self._others(rows)
        if self.comparison.metric == "paper":
            # Cells that either has, less those that are the same.
            difference = shared + others - kept["same"]
        else:
            difference = wanted - kept["wanted"] + kept["difference"] + theirs
        seen = (k >= 2) & (shared + others > 0)
        types = np.where(seen, np.clip(1.0 - difference / cells, 0.0, 1.0), 0.0)
        return features, both / cells, types

    def _shared(self, rows: Rows) -> tuple[Floats, Floats]:
        """Count the cells of the question both of whose nodes a document has; sum up their values too."""
        ends = [(at, s, t) for at, (s, t) in enumerate(self.lookup.ends) if s != t]
        numbers = self.comparison.metric == "paper-numbers"
        having = {
            end: self.lookup.having(self.lookup.slots[end], rows)
            for end in {end for _, *both in ends for end in both}
        }
        count: npt.NDArray[Any] = np.zeros(len(rows), np.uint8 if len(ends) < 256 else np.uint16)
        value = np.zeros(len(rows) if numbers else 0)
        for at, source, target in ends:
            both = having[source] & having[target]
            count += both
            if numbers:
                value += self.worth[at] * both
        return count.astype(np.float64), value

    @cached_property
    def _free(self) -> tuple[Rows, Ints]:
        pairs = self.lookup.other_arcs()
        if self.comparison.metric == "paper":
            return self.lookup.docs_on(pairs), np.empty(0, np.int64)
        return self.lookup.bare_postings(pairs)

    def _others(self, rows: Rows) -> tuple[Floats, Floats]:
        """Count the cells between the question's nodes that only a document has; sum up their values."""
        flags = _scratch("flags", len(self.segment), np.bool_)
        flags[:] = False
        flags[rows] = True
        # Only places of the rows asked for are read below, so older ones do no harm.
        number = _scratch("number", len(self.segment), np.int32)
        number[rows] = np.arange(len(rows), dtype=np.int32)
        docs, cells = self._free
        hit = np.flatnonzero(flags[docs])
        at = number[docs[hit]]
        counts = np.bincount(at, minlength=len(rows)).astype(np.float64)
        if self.comparison.metric != "paper-numbers":
            return counts, counts
        values = self.values_of_cells[cells[hit]]
        return counts, np.bincount(at, weights=values, minlength=len(rows)).astype(np.float64)

    def _structural(self, rows: Rows, kept: dict[str, Floats]) -> Values:
        excess, segment, q = self.comparison.excess, self.segment, self.q
        a, b = self.count[rows].astype(np.float64), self.their_count[rows].astype(np.float64)
        features = _covered(a, b, len(q), segment.n_nodes[rows], excess, None)
        relations = _covered(
            kept["pairs"], kept["their_pairs"], len(q.cells), segment.n_pairs[rows], excess, features
        )
        types = _covered(
            kept["edges"], kept["their_edges"], len(q.edges), segment.n_edges[rows], excess, features
        )
        return features, relations, types


def _covered(
    asked: Floats, found: Floats, of_q: int, of_d: npt.NDArray[Any], excess: float, empty: Floats | None
) -> Floats:
    whole = of_q + excess * of_d.astype(np.float64)
    value = (asked + excess * found) / np.where(whole > 0, whole, 1.0)
    return value if empty is None else np.where(whole > 0, value, empty)
