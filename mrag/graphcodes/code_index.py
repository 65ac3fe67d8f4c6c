"""The index of graph codes: exact scores of a question against all documents."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mrag.errors import ConfigError, IndexError_
from mrag.graphcodes.code import GraphCode, Node, RelationRegistry
from mrag.graphcodes.counts import Floats, SegmentCounts, all_values, best
from mrag.graphcodes.metrics import CodeComparison, CodeScores, Lexicographic
from mrag.graphcodes.segments import KIND, CodeSegment, CodeState, Flat
from mrag.storage.folder import Committed, Live, SegmentFolder, first_to_merge


@dataclass(frozen=True, slots=True)
class CodeMatch:
    """A document that was found.

    Attributes:
        id: The document.
        score: The aggregated score; of a lexicographic order its first component.
        scores: The three values of the metric.
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
        self,
        path: str | Path | None = None,
        *,
        must_exist: bool = False,
        anew: bool = False,
    ) -> None:
        self.path = None if path is None else Path(path)
        self._state = CodeState()
        self._writing = threading.Lock()
        self._registry = RelationRegistry()
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

        def build(
            committed: Committed, segments: list[CodeSegment], live: Live
        ) -> tuple[RelationRegistry, CodeState]:
            about = committed.about
            state = CodeState(tuple(segments), live, committed, about["extra"])
            return RelationRegistry(about["relations"]), state

        self._registry, self._state = self._folder.read(build)

    @property
    def registry(self) -> RelationRegistry:
        """The numbers of the relations in the index, a copy."""
        return RelationRegistry(self._registry.names())

    @property
    def extra(self) -> Mapping[str, Any]:
        """What was kept with the index by `put`."""
        return self._state.extra

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

    def put(self, codes: Mapping[str, GraphCode] | Flat, *, extra: Mapping[str, Any] | None = None) -> None:
        """Add documents, or replace those that are there. All become visible at once.

        Args:
            codes: Code by document id, or many codes as flat arrays.
            extra: What to keep with the index instead of what is kept; JSON.

        Raises:
            IndexError_: If another writer holds the lock or the system refuses; nothing has changed then.
        """
        flat = codes if isinstance(codes, Flat) else Flat.of(codes)
        self._write(flat, flat.ids, extra)

    def sync(self, codes: Mapping[str, GraphCode] | Flat) -> int:
        """Make the index hold exactly these documents, in one step.

        Args:
            codes: As for `put`.

        Returns:
            How many documents there were that no longer are.

        Raises:
            IndexError_: As `put` does.

        Example:
            >>> index = GraphCodeIndex()
            >>> index.put({"ex:1": GraphCode.of(["dog"], []), "ex:2": GraphCode.of(["cat"], [])})
            >>> index.sync({"ex:2": GraphCode.of(["cat"], []), "ex:3": GraphCode.of(["man"], [])}), index.ids
            (1, ['ex:2', 'ex:3'])
        """
        flat = codes if isinstance(codes, Flat) else Flat.of(codes)
        gone = set(self.ids) - set(flat.ids)
        self._write(flat, [*sorted(gone), *flat.ids], None)
        return len(gone)

    def verify(self) -> None:
        """Read all files of the index and check them.

        Raises:
            DamagedIndex: If one is not as it was written.
        """
        if self._folder is not None:
            self._folder.verify()

    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents; unknown ids are passed over.

        Returns:
            How many there were.

        Raises:
            IndexError_: If another writer holds the lock or the system refuses.
        """
        return self._write(None, list(ids), None)

    def _write(self, flat: Flat | None, gone: Sequence[str], extra: Mapping[str, Any] | None) -> int:
        with self._writing:
            folder = self._folder
            if folder is None:
                return self._change(flat, gone, extra)
            with folder.locked():
                if not self._anew and folder.exists():
                    held = self._state.committed
                    if held is None or folder.committed().generation != held.generation:
                        self.refresh()
                return self._change(flat, gone, extra)

    def _change(self, flat: Flat | None, gone: Sequence[str], extra: Mapping[str, Any] | None) -> int:
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
        built = [CodeSegment.build(Flat.merged(flats))] if flats else []
        live = np.concatenate([*parts[:first], *(np.ones(len(s), bool) for s in built), np.ones(0, bool)])
        registry = self.registry
        for segment in built:
            for cell, _ in segment.cell_list:
                registry.number(cell)
        keep = None if live.all() else live
        extra = self.extra if extra is None else dict(extra)
        committed = None
        if self._folder is not None:
            about = {"relations": registry.names(), "extra": extra}
            committed = self._folder.put(state.committed, first, built, keep, about)
        self._anew = False
        self._registry = registry
        self._state = CodeState((*state.segments[:first], *built), keep, committed, extra)
        return dead

    def scores(self, q: GraphCode, comparison: CodeComparison | None = None) -> Floats:
        """Work out the three values for all documents.

        Args:
            q: The question's code.
            comparison: How to compare; `structural` by default.

        Returns:
            Shape (documents, 3), rows in the order of `ids`.
        """
        state, comparison, found = self._state, comparison or CodeComparison(), [np.empty((0, 3))]
        for at, segment in enumerate(state.segments):
            values = all_values(self._counts(state, at, q, comparison)) if q else _empty(segment, comparison)
            live = state.live_of(at)
            found.append(values if live is None else values[live])
        return np.concatenate(found)

    def _counts(self, state: CodeState, at: int, q: GraphCode, comparison: CodeComparison) -> SegmentCounts:
        registry = self.registry if comparison.metric == "paper-numbers" else self._registry
        return SegmentCounts(state.segments[at], q, comparison, registry, state.live_of(at))

    def search(self, q: GraphCode, k: int = 10, comparison: CodeComparison | None = None) -> list[CodeMatch]:
        """Find the best documents among those that share a node with a question.

        Args:
            q: The question's code.
            k: How many at most, at least 1.
            comparison: How to compare; `structural` by default.

        Returns:
            Best first, ties in order of id.

        Raises:
            ConfigError: If k is below 1.
        """
        if k < 1:
            raise ConfigError(f"At least one document must be asked for, not {k}.")
        comparison, state = comparison or CodeComparison(), self._state
        found = []
        for at, segment in enumerate(state.segments if q else ()):
            rows, values = best(self._counts(state, at, q, comparison), k)
            for row, three in zip(rows.tolist(), values.tolist(), strict=True):
                scores = CodeScores(*three)
                key = comparison.aggregate(scores)
                score, order = (key, (key,)) if isinstance(key, float) else (key[0], key)
                found.append((tuple(-v for v in order), CodeMatch(segment.ids[row], score, scores)))
        found.sort(key=lambda pair: (pair[0], pair[1].id))
        return [match for _, match in found[:k]]

    def compare(self, q: GraphCode, doc_id: str, comparison: CodeComparison | None = None) -> CodeScores:
        """Compare a question with one document by the plain formulas.

        Raises:
            IndexError_: If the document is not there.
        """
        return (comparison or CodeComparison()).scores(q, self.code(doc_id), self.registry)

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
        from mrag.graphcodes.counts import part_of

        segment, row = self._place(doc_id)
        part = part_of(segment, row, q, replace(comparison, aggregate=Lexicographic()))
        return part, int(segment.n_nodes[row]), int(segment.n_edges[row])

    def _place(self, doc_id: str) -> tuple[CodeSegment, int]:
        place = self._state.find(doc_id)
        if place is None:
            raise IndexError_("This document is not in the index of graph codes.", term=doc_id)
        return place


def _empty(segment: CodeSegment, comparison: CodeComparison) -> Floats:
    """Compare the empty question, which is like empty documents and no other, by our metric alone."""
    values = np.zeros((len(segment), 3))
    if comparison.metric == "structural":
        values[np.asarray(segment.n_nodes) == 0] = 1.0
    return values
