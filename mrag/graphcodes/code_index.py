"""The index of graph codes: exact scores of a question against all documents.

What every document of a segment has in common with a question is counted. Counts are exact whole numbers,
and each metric is worked out from them with the operations of its plain formula in the same order. What a
document can reach at most is known from the number of nodes that it shares, so documents are taken in order
of that number until no other can come in.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_
from mrag.graphcodes.code import Cell, Edge, GraphCode, Node
from mrag.graphcodes.metrics import CodeComparison, CodeScores, Component, Ontology, Weighted
from mrag.graphcodes.segments import KIND, CodeSegment, CodeState, Flat, Ints
from mrag.storage.folder import Committed, Live, SegmentFolder, first_to_merge

Floats: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CodeMatch:
    """A document that was found.

    Attributes:
        score: The aggregated score; of a lexicographic order its first component.
    """

    id: str
    score: float
    scores: CodeScores


class GraphCodeIndex:
    """An index of graph codes, in memory or in a folder. Readers need no lock; one writer at a time.

    Args:
        path: The folder, which is read if there is an index in it; None to keep the index in memory.
        must_exist: Whether a folder without an index is an error.
        anew: Whether to pass over the index that is there, damaged or not; the first change takes its place.

    Raises:
        MissingIndex: If there is no index and `must_exist` is set.
        IndexMismatch: If another version of the package wrote it.
        IndexError_: If a file is missing or damaged.

    Example:
        >>> index = GraphCodeIndex()
        >>> index.put({"ex:1": GraphCode.of([], [("dog", "bites", "man")]),
        ...            "ex:2": GraphCode.of([], [("man", "bites", "dog")])})
        >>> [match.id for match in index.search(GraphCode.of([], [("man", "bites", "dog")]))]
        ['ex:2', 'ex:1']
    """

    def __init__(
        self, path: str | Path | None = None, *, must_exist: bool = False, anew: bool = False
    ) -> None:
        self.path = None if path is None else Path(path)
        self._state = CodeState()
        self._writing = threading.Lock()
        self._folder = None if self.path is None else SegmentFolder(self.path, KIND, CodeSegment)
        self._anew = anew
        if self._folder is not None and not anew and (must_exist or self._folder.exists()):
            self.refresh()

    def refresh(self) -> None:
        """Read what another process has written since.

        Raises:
            IndexError_: If the index is in memory, missing or damaged.
        """
        if self._folder is None:
            raise IndexError_("An index in memory has nothing to read anew.")

        def build(committed: Committed, segments: list[CodeSegment], live: Live) -> CodeState:
            return CodeState(tuple(segments), live, committed)

        self._state = self._folder.read(build)

    @property
    def ids(self) -> list[str]:
        """The ids of the documents, in the order of `scores`."""
        return list(self._state.rows.by_id)

    def __len__(self) -> int:
        return len(self._state)

    def __contains__(self, doc_id: object) -> bool:
        return isinstance(doc_id, str) and self._state.find(doc_id) is not None

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(a.nbytes for segment in self._state.segments for a in segment.arrays().values())

    def put(self, codes: Mapping[str, GraphCode] | Flat) -> None:
        """Add documents, or replace those that are there. All become visible at once.

        Args:
            codes: Code by document id, or many codes as flat arrays.

        Raises:
            IndexError_: If another writer holds the lock or the system refuses; nothing has changed then.
        """
        flat = codes if isinstance(codes, Flat) else Flat.of(codes)
        self._write(flat, flat.ids)

    def sync(self, codes: Mapping[str, GraphCode] | Flat) -> int:
        """Make the index hold exactly these documents, in one step, as `put` takes them.

        Returns:
            How many documents there were that no longer are.

        Example:
            >>> index = GraphCodeIndex()
            >>> index.put({"ex:1": GraphCode.of(["dog"], []), "ex:2": GraphCode.of(["cat"], [])})
            >>> index.sync({"ex:2": GraphCode.of(["cat"], []), "ex:3": GraphCode.of(["man"], [])}), index.ids
            (1, ['ex:2', 'ex:3'])
        """
        flat = codes if isinstance(codes, Flat) else Flat.of(codes)
        gone = set(self.ids) - set(flat.ids)
        self._write(flat, [*sorted(gone), *flat.ids])
        return len(gone)

    def verify(self) -> None:
        """Read all files of the index and check them.

        Raises:
            DamagedIndex: If one is not as it was written.
        """
        if self._folder is not None:
            self._folder.verify()

    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents and return how many there were; unknown ids are passed over.

        Raises:
            IndexError_: If another writer holds the lock or the system refuses.
        """
        return self._write(None, list(ids))

    def _write(self, flat: Flat | None, gone: Sequence[str]) -> int:
        with self._writing:
            folder = self._folder
            if folder is None:
                return self._change(flat, gone)
            with folder.lock():
                if not self._anew and folder.exists():
                    held = self._state.committed
                    if held is None or folder.committed().generation != held.generation:
                        self.refresh()
                return self._change(flat, gone)

    def _change(self, flat: Flat | None, gone: Sequence[str]) -> int:
        state = self._state
        rows = state.rows.without(gone)
        dead = state.rows.count - rows.count
        if flat is None and not dead:
            return 0
        parts = [rows.live[start:end] for start, end in rows.spans()]
        sizes = [(int(part.sum()), len(part)) for part in parts]
        first = first_to_merge(sizes, 0 if flat is None else len(flat.ids))
        flats = [s.flat(p) for s, p in zip(state.segments[first:], parts[first:], strict=True) if p.any()]
        if flat is not None and flat.ids:
            flats.append(flat)
        built = [CodeSegment.build(Flat.merge(flats))] if flats else []
        live = np.concatenate([*parts[:first], *(np.ones(len(s), bool) for s in built), np.ones(0, bool)])
        keep = None if live.all() else live
        committed = None
        if self._folder is not None:
            committed = self._folder.put(state.committed, first, built, keep, {})
        self._anew = False
        self._state = CodeState((*state.segments[:first], *built), keep, committed)
        return dead

    def scores(self, q: GraphCode, comparison: CodeComparison | None = None) -> Floats:
        """Work out the three values for all documents.

        Returns:
            Shape (documents, 3), rows in the order of `ids`.
        """
        state, how, parts = self._state, comparison or CodeComparison(), [np.empty((0, 3))]
        for at, segment in enumerate(state.segments):
            values = np.zeros((len(segment), 3))
            if q:
                values = _all_values(self._counts(state, at, q, how))
            elif how.metric == "structural":
                # The empty question is like empty documents and no other, by our metric alone.
                values[np.asarray(segment.n_nodes) == 0] = 1.0
            live = state.live_of(at)
            parts.append(values if live is None else values[live])
        return np.concatenate(parts)

    def _counts(self, state: CodeState, at: int, q: GraphCode, comparison: CodeComparison) -> _Counts:
        return _Counts(state.segments[at], q, comparison, state.live_of(at))

    def search(self, q: GraphCode, k: int = 10, comparison: CodeComparison | None = None) -> list[CodeMatch]:
        """Find the best documents among those that share a node with a question.

        Returns:
            Best first, ties in order of id.

        Raises:
            ConfigError: If k is below 1.
        """
        if k < 1:
            raise ConfigError(f"At least one document must be asked for, not {k}.")
        comparison, state = comparison or CodeComparison(), self._state
        matches = []
        for at, segment in enumerate(state.segments if q else ()):
            kept = _Best(self._counts(state, at, q, comparison), k)
            for row, three in zip(kept.rows.tolist(), kept.values.T.tolist(), strict=True):
                scores = CodeScores(*three)
                key = comparison.aggregate(scores)
                order = (key,) if isinstance(key, float) else key
                matches.append((tuple(-v for v in order), CodeMatch(segment.ids[row], order[0], scores)))
        matches.sort(key=lambda pair: (pair[0], pair[1].id))
        return [match for _, match in matches[:k]]

    def code(self, doc_id: str) -> GraphCode:
        """Read the code of a document back.

        Raises:
            IndexError_: If the document is not there.
        """
        segment, row = self._place(doc_id)
        return segment.code(row)

    def nodes(self) -> Iterator[tuple[Node, int]]:
        """Return the nodes of all documents with the number of documents that have them."""
        state = self._state
        for at, segment in enumerate(state.segments):
            live = state.live_of(at)
            for slot in range(len(segment.slots)):
                docs = segment.docs_of(slot)
                count = len(docs) if live is None else int(np.count_nonzero(live[docs]))
                if count:
                    yield segment.node(slot), count

    def part(self, doc_id: str, q: GraphCode, comparison: CodeComparison) -> tuple[GraphCode, int, int]:
        """Read what a document has of a question, which takes less time than its whole code.

        Returns:
            Its nodes that match any of the question, with the edges between them; and how many nodes and
            edges it has in all.

        Raises:
            IndexError_: If the document is not there.
        """
        segment, row = self._place(doc_id)
        look = _Lookup(segment, q, comparison)
        slots = [slot for slot in look.all_slots if segment.has(slot, row)]
        nodes = {slot: segment.node(slot) for slot in slots}
        edges = []
        for pair in look.pairs_between(slots, slots).tolist() if slots else ():
            start, end = int(segment.pair_ptr[pair]), int(segment.pair_ptr[pair + 1])
            at = start + int(np.searchsorted(segment.pair_docs[start:end], row))
            if at < end and segment.pair_docs[at] == row:
                source, target = divmod(int(segment.pair_keys[pair]), len(segment.slots))
                cell = segment.cell_list[int(segment.pair_cells[at])]
                edges += [Edge(nodes[source].id, relation, nodes[target].id) for relation in cell]
        return GraphCode.of(nodes.values(), edges), int(segment.n_nodes[row]), int(segment.n_edges[row])

    def _place(self, doc_id: str) -> tuple[CodeSegment, int]:
        place = self._state.find(doc_id)
        if place is None:
            raise IndexError_("This document is not in the index of graph codes.", term=doc_id)
        return place


# -- a question looked up in a segment -------------------------------------------------------------

_PRODUCT: Final = 4096
_SMALL: Final = 1 << 16


class _Lookup:
    """A question looked up in a segment: for each of its nodes the slots that match it."""

    def __init__(self, segment: CodeSegment, q: GraphCode, comparison: CodeComparison) -> None:
        self.segment = segment
        self.marks: dict[tuple[int, ...], npt.NDArray[np.uint8]] = {}
        place = {node_id: at for at, node_id in enumerate(q.dictionary)}
        self.ends = [(place[s], place[t]) for s, t in q.cells]
        self.cells: list[Cell] = list(q.cells.values())
        ontology = comparison.ontology
        if ontology is not None:
            self.slots = [self._narrower_slots(asked, ontology) for asked in q.nodes]
            return
        self.slots = segment.slots_of(q.dictionary)
        if comparison.metric == "structural":
            meets = Ontology().meets
            self.slots = [
                [slot for slot in slots if not asked.types or meets(asked, segment.node(slot))]
                for asked, slots in zip(q.nodes, self.slots, strict=True)
            ]

    def _narrower_slots(self, asked: Node, ontology: Ontology) -> list[int]:
        ids = sorted({asked.id, *ontology.narrower.get(asked.id, ())})
        slots = {slot for group in self.segment.slots_of(ids) for slot in group}
        slots.update(slot for kind in ids for slot in self.segment.slots_by_type.get(kind, ()))
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

    def mark(self, slots: Sequence[int]) -> npt.NDArray[np.uint8]:
        """Return 1 for each document that has any of the slots, else 0."""
        segment = self.segment
        row = np.zeros(len(segment), np.uint8)
        for slot in slots:
            hub = int(segment.hub_of[slot])
            if hub >= 0:
                row |= np.unpackbits(segment.hubs[hub], count=len(segment))
            else:
                row[segment.docs_of(slot).astype(np.intp)] = 1
        return row

    def having(self, slots: Sequence[int], rows: Rows) -> npt.NDArray[np.uint8]:
        """Return 1 for each of some documents that has any of the slots, else 0."""
        segment = self.segment
        if len(segment) <= _SMALL or 16 * len(rows) > len(segment):
            key = tuple(slots)
            if key not in self.marks:
                self.marks[key] = self.mark(slots)
            return self.marks[key][rows]
        bits = np.zeros(len(rows), np.uint8)
        for slot in slots:
            hub = int(segment.hub_of[slot])
            if hub >= 0:
                bits |= segment.hubs[hub][rows >> 3] >> (7 - (rows & 7)).astype(np.uint8) & 1
            elif len(docs := segment.docs_of(slot)):
                # Numbers of another type would have the whole list converted.
                at = np.minimum(np.searchsorted(docs, rows.astype(docs.dtype)), len(docs) - 1)
                bits |= docs[at] == rows
        return bits

    def arcs(self) -> tuple[Rows, Rows]:
        """Find the segment's pairs that are pairs of the question, each with the place of its cell."""
        width = len(self.segment.slots)
        keys, places = [], []
        for place, (source, target) in enumerate(self.ends):
            for s in self.slots[source]:
                for t in self.slots[target]:
                    keys.append(s * width + t)
                    places.append(place)
        return self._known_rows(np.array(keys, np.int64), np.array(places, np.int64))

    def other_arcs(self) -> Rows:
        """Find the pairs of the segment between two different nodes that have no edge in the question."""
        slots = np.array([slot for group in self.slots for slot in group], np.int64)
        nodes = np.repeat(np.arange(len(self.slots)), [len(group) for group in self.slots])
        free = ~np.eye(len(self.slots), dtype=bool)
        for source, target in self.ends:
            free[source, target] = False
        wanted = free[nodes[:, None], nodes[None, :]]
        keys = (slots[:, None] * len(self.segment.slots) + slots[None, :])[wanted]
        return self._known_rows(keys, keys)[0]

    def _known_rows(self, keys: Rows, places: Rows) -> tuple[Rows, Rows]:
        known = self.segment.pair_keys
        if not len(known):
            return keys[:0], places[:0]
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1).astype(np.int64)
        hit = known[at] == keys
        return at[hit], places[hit]

    def pairs_between(self, sources: Sequence[int], targets: Sequence[int]) -> Rows:
        """Return the pairs of the segment from any of the sources to any of the targets."""
        segment, width = self.segment, len(self.segment.slots)
        if len(sources) * len(targets) <= _PRODUCT:
            keys = (np.array(sources, np.int64)[:, None] * width + np.array(targets, np.int64)).ravel()
            return self._known_rows(keys, keys)[0]
        wanted = np.zeros(width, bool)
        wanted[list(targets)] = True
        bounds = np.array(sources, np.int64)[:, None] * width + np.array([0, width])
        pairs = [np.empty(0, np.int64)]
        for low, high in np.searchsorted(segment.pair_keys, bounds).tolist():
            keys = segment.pair_keys[low:high]
            pairs.append(low + np.flatnonzero(wanted[keys % width]))
        return np.concatenate(pairs)

    def read(self, postings: Ints, pairs: Rows) -> Ints:
        """Read what documents have on some pairs, one entry per pair and document."""
        ptr = self.segment.pair_ptr
        spans = zip(ptr[pairs].tolist(), ptr[pairs + 1].tolist(), strict=True)
        return np.concatenate([postings[:0], *(postings[a:b] for a, b in spans)])

    def docs_on(self, pairs: Rows) -> Rows:
        """Read the documents on some pairs."""
        return self.read(self.segment.pair_docs, pairs).astype(np.int64)

    def cells_on(self, pairs: Rows) -> tuple[Rows, Ints]:
        """Read the place of the pair among them, and the cell, of each such entry."""
        ptr = self.segment.pair_ptr
        sizes = (ptr[pairs + 1] - ptr[pairs]).astype(np.int64)
        return np.repeat(np.arange(len(pairs)), sizes), self.read(self.segment.pair_cells, pairs)


# -- counts ----------------------------------------------------------------------------------------

_local = threading.local()


def _scratch(name: str, size: int, dtype: type[Any]) -> npt.NDArray[Any]:
    # Fresh memory costs more than the counting itself: pages are cleared as they are touched.
    held: npt.NDArray[Any] | None = getattr(_local, name, None)
    if held is None or len(held) < size:
        held = np.empty(size, dtype)
        setattr(_local, name, held)
    return held[:size]


class _Counts:
    """The counts of one question in one segment. Use it up before the same thread makes another.

    Attributes:
        count: For each document, how many nodes of the question it has a match of.
        touched: The documents that have edges where the question looks, ascending.
        kept: What is counted for each of those.
    """

    def __init__(
        self,
        segment: CodeSegment,
        q: GraphCode,
        comparison: CodeComparison,
        live: npt.NDArray[np.bool_] | None,
    ) -> None:
        self.segment, self.q, self.comparison, self.live = segment, q, comparison, live
        self.lookup = _Lookup(segment, q, comparison)
        self.count: npt.NDArray[Any] = np.zeros(len(segment), np.uint8 if len(q) < 256 else np.uint16)
        for slots in self.lookup.slots:
            if comparison.ontology is None or len(slots) < 2:
                self.lookup.add(slots, self.count)
            else:
                self.count += self.lookup.mark(slots)
        if live is not None:
            self.count *= live
        self.kept: dict[str, npt.NDArray[Any]] = {}
        self.touched: Rows = np.empty(0, np.int64)
        self.their_count = self.count
        if comparison.metric != "structural":
            self._count_cells()
        elif comparison.ontology is None:
            self._count_edges()
        else:
            self._count_subclass_edges()

    def _touch(self, docs: Rows) -> npt.NDArray[Any]:
        """Number the documents that come up; give the number of each entry."""
        touched = _scratch("touched", len(self.segment), np.bool_)
        touched[:] = False
        touched[docs] = True
        self.touched = np.flatnonzero(touched)
        number = _scratch("number", len(self.segment), np.int32)
        number[self.touched] = np.arange(len(self.touched), dtype=np.int32)
        return number[docs]

    def _sum(self, at: npt.NDArray[Any], values: npt.NDArray[Any] | None = None) -> Floats:
        """Sum up entries, or values of theirs, for each document of `touched`."""
        return np.bincount(at, weights=values, minlength=len(self.touched)).astype(np.float64)

    def levels(self, low: int, high: int) -> Rows:
        """Return the documents that share so many nodes, from low to high, and are not in `touched`."""
        count = self.count
        rows: Rows = np.flatnonzero((count >= low) & (count <= high) if high < len(self.q) else count >= low)
        untouched: npt.NDArray[np.bool_] = ~_scratch("touched", len(self.segment), np.bool_)[rows]
        return rows[untouched]

    def _count_cells(self) -> None:
        """Count for the metric of whole cells, that of the paper."""
        look = self.lookup
        pairs, places = look.arcs()
        keep = np.array([s != t for s, t in look.ends], bool)[places]
        pairs, places = pairs[keep], places[keep]
        which, cells = look.cells_on(pairs)
        at = self._touch(look.docs_on(pairs))
        asked = np.array([self.segment.cell_numbers.get(cell, -1) for cell in look.cells], np.int64)[places]
        self.kept = {"both": self._sum(at), "same": self._sum(at[cells == asked[which]])}

    def _count_edges(self) -> None:
        """Count matched pairs and edges where each node of a document matches at most one asked for."""
        look = self.lookup
        pairs, places = look.arcs()
        kinds = {cell: at for at, cell in enumerate(dict.fromkeys(look.cells))}
        kind = np.array([kinds[cell] for cell in look.cells] or [0], np.int64)[places]
        table = np.stack([self._fitting(cell) for cell in kinds] or [np.zeros(1)])
        which, cells = look.cells_on(pairs)
        at = self._touch(look.docs_on(pairs))
        typed = table[kind[which], cells] if len(which) else np.zeros(0)
        pair_count, edge_count = self._sum(at), self._sum(at, typed)
        self.kept = {"pairs": pair_count, "their_pairs": pair_count}
        self.kept |= {"edges": edge_count, "their_edges": edge_count}

    def _count_subclass_edges(self) -> None:
        """Count matches where subclasses match classes: several may match one, and one several."""
        look, size = self.lookup, len(self.segment)
        self.their_count = np.zeros(size, np.uint16 if len(look.all_slots) < 65536 else np.uint32)
        look.add(look.all_slots, self.their_count)
        between = [look.pairs_between(look.slots[s], look.slots[t]) for s, t in look.ends]
        pairs = np.unique(np.concatenate([np.empty(0, np.int64), *between]))
        which, cells = look.cells_on(pairs)
        at = self._touch(look.docs_on(pairs))
        asked = [np.searchsorted(pairs, some) for some in between]
        wanted: list[set[str]] = [set() for _ in pairs]
        for cell, some in zip(look.cells, asked, strict=True):
            for pair in some.tolist():
                wanted[pair].update(cell)
        kinds = {kind: place for place, kind in enumerate(dict.fromkeys(map(frozenset, wanted)))}
        kind = np.array([kinds[frozenset(w)] for w in wanted], np.int64)
        tables = [self._fitting(sorted(kind)) for kind in kinds]
        typed = np.stack(tables)[kind[which], cells] if len(which) else np.zeros(0)
        self.kept = {"their_pairs": self._sum(at), "their_edges": self._sum(at, typed)}
        bounds = np.searchsorted(which, np.arange(len(pairs) + 1))
        pair_count, edge_count = np.zeros(len(self.touched)), np.zeros(len(self.touched))
        for cell, some in zip(look.cells, asked, strict=True):
            spans = [np.arange(bounds[pair], bounds[pair + 1]) for pair in some.tolist()]
            entries = np.concatenate([np.empty(0, np.int64), *spans])
            any_of = np.zeros(len(self.touched), bool)
            any_of[at[entries]] = True
            pair_count += any_of
            for relation in cell:
                fits = self._fitting([relation])[cells[entries]] > 0
                any_of[:] = False
                any_of[at[entries[fits]]] = True
                edge_count += any_of
        self.kept |= {"pairs": pair_count, "edges": edge_count}

    def _fitting(self, relations: Sequence[str]) -> Floats:
        """Return for each cell how many of its relations fit any of these."""
        fit = set(relations)
        if self.comparison.ontology is not None:
            fit.update(*(self.comparison.ontology.narrower.get(r, ()) for r in relations))
        counts = np.zeros(max(1, len(self.segment.cell_list)))
        for relation in fit:
            counts[self.segment.having.get(relation, [])] += 1
        return counts

    def reach(self, shared: int) -> float:
        """Return what a document not in `touched` that shares so many nodes can reach of the first key."""
        features = shared / len(self.q)
        metric, excess = self.comparison.metric, self.comparison.excess
        relations = types = 0.0
        if metric == "structural":
            theirs = shared if self.comparison.ontology is None else int(self.their_count.max(initial=shared))
            features = (shared + excess * theirs) / (len(self.q) + excess * theirs)
            relations = types = features if not self.q.edges else 0.0
        elif shared > 1:
            types = 1.0 - 1.0 / (shared * (shared - 1))
        key = self.comparison.aggregate(CodeScores(features, relations, types))
        return (key if isinstance(key, float) else key[0]) * _MARGIN

    def values(self, rows: Rows, at: Rows | None, *, bound: bool = False) -> list[Floats]:
        """Work out the three values of the metric for some documents."""
        kept = {n: v[at] if at is not None else np.zeros(len(rows)) for n, v in self.kept.items()}
        if self.comparison.metric == "structural":
            return self._structural(rows, kept)
        k = self.count[rows].astype(np.float64)
        features = k / len(self.q)
        both = kept["both"]
        cells = np.maximum(k * (k - 1), 1)
        if bound:
            types = np.where(k >= 2, 1.0 - (both - kept["same"]) / cells, 0.0)
            return [features, both / cells, types]
        either = self._count_shared(rows) + self._others(rows)
        # Cells that either has, less those that are the same.
        seen = (k >= 2) & (either > 0)
        types = np.where(seen, 1.0 - (either - kept["same"]) / cells, 0.0)
        return [features, both / cells, types]

    def _count_shared(self, rows: Rows) -> Floats:
        """Count the cells of the question both of whose nodes a document has."""
        ends = [(s, t) for s, t in self.lookup.ends if s != t]
        asked = {end for both in ends for end in both}
        having = {end: self.lookup.having(self.lookup.slots[end], rows) for end in asked}
        count: npt.NDArray[Any] = np.zeros(len(rows), np.uint8 if len(ends) < 256 else np.uint16)
        for source, target in ends:
            count += having[source] & having[target]
        return count.astype(np.float64)

    @cached_property
    def _free(self) -> Rows:
        return self.lookup.docs_on(self.lookup.other_arcs())

    def _others(self, rows: Rows) -> Floats:
        """Count the cells between the question's nodes that only a document has."""
        flags = _scratch("flags", len(self.segment), np.bool_)
        flags[:] = False
        flags[rows] = True
        # Only places of the rows asked for are read below, so older ones do no harm.
        number = _scratch("number", len(self.segment), np.int32)
        number[rows] = np.arange(len(rows), dtype=np.int32)
        docs = self._free
        return np.bincount(number[docs[flags[docs]]], minlength=len(rows)).astype(np.float64)

    def _structural(self, rows: Rows, kept: dict[str, Floats]) -> list[Floats]:
        excess, segment, q = self.comparison.excess, self.segment, self.q
        kept["nodes"], kept["their_nodes"] = self.count[rows], self.their_count[rows]
        values: list[Floats] = []
        for name, asked, there in (
            ("nodes", len(q), segment.n_nodes),
            ("pairs", len(q.cells), segment.n_pairs),
            ("edges", len(q.edges), segment.n_edges),
        ):
            whole = asked + excess * there[rows].astype(np.float64)
            value = kept[name] + excess * kept[f"their_{name}"].astype(np.float64)
            value /= np.where(whole > 0, whole, 1.0)
            values.append(np.where(whole > 0, value, values[0]) if values else value)
        return values


def _all_values(counts: _Counts) -> Floats:
    """Work out the three values of every document of a segment, shape (documents, 3)."""
    values = np.stack(counts.values(np.arange(len(counts.segment)), None), axis=1)
    if len(counts.touched):
        touched = np.arange(len(counts.touched))
        values[counts.touched] = np.stack(counts.values(counts.touched, touched), axis=1)
    return values


# -- the best of a segment -------------------------------------------------------------------------

_AHEAD: Final = 16  # how many times k documents are worked out at once where bounds say little
_MARGIN: Final = 1 + 1e-12  # so that rounding never shuts out a tie


class _Best:
    """The best k documents that share a node with the question; ties in order of rows."""

    def __init__(self, counts: _Counts, k: int) -> None:
        self.counts, self.k, self.aggregate = counts, k, counts.comparison.aggregate
        self.rows = np.empty(0, np.int64)
        self.values: Floats = np.empty((3, 0))
        self.worst = -np.inf
        self._take_touched()
        self._take_untouched()

    def _keys(self, values: Sequence[Floats] | Floats) -> list[Floats]:
        how = self.aggregate
        if isinstance(how, Weighted):
            # The operations of `Weighted` in their order.
            mean = how.features * values[0]
            mean += how.relations * values[1]
            mean += how.types * values[2]
            return [np.minimum(1.0, mean / (how.features + how.relations + how.types))]
        return [values[get_args(Component).index(name)] for name in how.order]

    def _take(self, rows: Rows, at: Rows | None) -> None:
        if not len(rows):
            return
        values = self.counts.values(rows, at)
        if len(rows) > 4 * self.k:
            # Only what reaches the k-th first key can be among the best.
            key = self._keys(values)[0]
            places = _highest(key, 4 * self.k)
            high = key[places] if len(places) >= self.k else key
            lowest = np.partition(high, len(high) - self.k)[len(high) - self.k]
            keep = np.flatnonzero(key >= max(lowest, self.worst))
            rows, values = rows[keep], [value[keep] for value in values]
        rows = np.concatenate([self.rows, rows])
        merged = np.concatenate([self.values, np.stack(values)], axis=1)
        keys = self._keys(merged)
        order = np.lexsort([rows, *(-key for key in reversed(keys))])[: self.k]
        self.rows, self.values = rows[order], merged[:, order]
        if len(order) == self.k:
            self.worst = float(keys[0][order[-1]])

    def _take_touched(self) -> None:
        counts = self.counts
        rows = counts.touched
        at = np.arange(len(rows)) if counts.live is None else np.flatnonzero(counts.live[rows])
        if counts.comparison.metric == "paper" and len(at) > 2 * _AHEAD * self.k:
            # The paper's M_RT is the one value that takes long; those that cannot come in are spared it.
            bound = self._keys(counts.values(rows[at], at, bound=True))[0] * _MARGIN
            first = _highest(bound, _AHEAD * self.k)
            self._take(rows[at[first]], at[first])
            others = bound >= self.worst
            others[first] = False
            at = at[others]
        self._take(rows[at], at)

    def _take_untouched(self) -> None:
        counts = self.counts
        high = int(counts.count.max(initial=0))
        # Until there are k, level by level; then all levels at once that can still come in.
        while high > 0 and self.worst == -np.inf:
            self._take(counts.levels(high, high), None)
            high -= 1
        low = high + 1
        while low > 1 and counts.reach(low - 1) >= self.worst:
            low -= 1
        if low <= high:
            self._take(counts.levels(low, high), None)


def _highest(values: Floats, about: int) -> Rows:
    """Return places of the highest values, about so many; a sample says where they begin."""
    step = max(1, len(values) // (64 * about))
    sample = np.sort(values[::step])
    return np.flatnonzero(values >= sample[-max(1, min(len(sample), about // step))])
