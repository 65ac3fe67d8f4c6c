"""The clue index: which tokens can follow, in how many documents, and whose document it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.generative.index.building import built
from mrag.generative.index.cursor import ClueCursor, Restriction
from mrag.generative.index.files import ClueFolder, ClueManifest
from mrag.generative.index.intake import Intake
from mrag.generative.index.segments import SEGMENT_TOKENS, ClueSegment
from mrag.jobs.runners import InlineRunner, Runner

Start: TypeAlias = Literal["anywhere", "beginning"]
"""Where clues may begin: at any token of a document, or at its first."""

Documents: TypeAlias = Iterable[tuple[str, Sequence[int]]]


class ClueIndex:
    """Documents as sequences of tokens, and every clue that occurs in them.

    A clue never matches across the end of a document. Equal documents count as one, which has all their
    ids; a document without tokens cannot be found and is left out.

    Args:
        segments: Runs of documents, the oldest first.
        manifest: What the index is.
        folder: Where it is kept; None for memory alone.

    Example:
        >>> index = ClueIndex.build([("a", [1, 2, 3]), ("b", [1, 2, 4]), ("c", [1, 2, 3])], 10)
        >>> index.next_tokens([1, 2]).tolist(), index.count([1, 2]), len(index)
        ([3, 4], 2, 2)
        >>> index.is_unique([2, 3]), index.documents([2, 3]), index.documents([3, 1])
        (True, ['a', 'c'], [])
    """

    def __init__(
        self, segments: Sequence[ClueSegment], manifest: ClueManifest, folder: ClueFolder | None = None
    ) -> None:
        self.segments = tuple(segments)
        self.manifest = manifest
        self.folder = folder
        sizes = [len(segment) for segment in self.segments]
        self.bases = [0, *np.cumsum(sizes).tolist()] if sizes else [0]
        self._roots: dict[Start, ClueCursor] = {}

    @classmethod
    def build(
        cls,
        documents: Documents,
        vocabulary: int,
        *,
        end: int | None = None,
        folder: Path | None = None,
        segment_tokens: int = SEGMENT_TOKENS,
        extra: Mapping[str, Any] | None = None,
        runner: Runner | None = None,
    ) -> ClueIndex:
        """Build an index.

        Args:
            documents: Id and token ids of each document. An id may have several documents.
            vocabulary: Number of token ids; each is below it.
            end: Token to put behind each document, so that a clue can say that a document ends; the
                end token of a model's tokeniser. None for none.
            folder: Where to keep the index, replacing the one that is there once the new one is whole.
                None for memory alone.
            segment_tokens: Most tokens of a segment; what is built at a time is held in memory.
            extra: What to keep with the index.
            runner: What builds segments, see `mrag.jobs`; this process by default.

        Raises:
            ConfigError: If a token is not below `vocabulary`.
            IndexError_: If the folder cannot be written, or another writer is at it.
        """
        empty = cls((), ClueManifest(0, vocabulary, end, {}, dict(extra or {})))
        if folder is None:
            return empty._grown(documents, None, segment_tokens, runner)
        place = ClueFolder(Path(folder))
        with place.locked(), place.refusals():
            return empty._grown(documents, place, segment_tokens, runner)

    @classmethod
    def open(cls, folder: Path) -> ClueIndex:
        """Open an index that was kept. All of it is read and checked.

        Raises:
            MissingIndex: If there is none.
            IndexMismatch: If another version of the package wrote it.
            DamagedIndex: If it is damaged.
        """
        place = ClueFolder(Path(folder))
        manifest, segments = place.read()
        return cls(segments, manifest, place)

    def save(self, folder: Path) -> ClueIndex:
        """Write the index to a folder and return it as opened from there.

        Raises:
            IndexError_: If the folder cannot be written, or another writer is at it.
        """
        place = ClueFolder(Path(folder))
        with place.locked(), place.refusals():
            first = place.next_generation()
            written = dict(place.write_segment(s, first + i) for i, s in enumerate(self.segments))
            place.put(replace(self.manifest, generation=first + len(written), segments=written))
        return self.open(place.path)

    def append(
        self,
        documents: Documents,
        *,
        extra: Mapping[str, Any] | None = None,
        segment_tokens: int = SEGMENT_TOKENS,
        runner: Runner | None = None,
    ) -> ClueIndex:
        """Return the index with more documents, in segments of their own; this one stays as it is.

        An index that was opened from a folder is written there; if another writer has changed it since,
        the documents are added to what is there now.

        Args:
            documents: As for `build`.
            extra: What to keep with the index from now on; what was kept when None.
            segment_tokens: As for `build`.
            runner: As for `build`.

        Raises:
            ConfigError: If a token is not below the vocabulary's size.
            IndexError_: If the folder cannot be written, or another writer is at it.
        """
        if self.folder is None:
            kept = self if extra is None else replace_extra(self, extra)
            return kept._grown(documents, None, segment_tokens, runner)
        with self.folder.locked(), self.folder.refusals():
            latest = ClueIndex.open(self.folder.path)
            kept = latest if extra is None else replace_extra(latest, extra)
            return kept._grown(documents, self.folder, segment_tokens, runner)

    @property
    def vocabulary(self) -> int:
        """Number of token ids."""
        return self.manifest.vocabulary

    @property
    def end(self) -> int | None:
        """The token that ends each document; None if there is none."""
        return self.manifest.end

    @property
    def extra(self) -> Mapping[str, Any]:
        """What the caller keeps with the index."""
        return self.manifest.extra

    @property
    def tokens(self) -> int:
        """Number of tokens, equal documents counted once."""
        return sum(segment.tokens for segment in self.segments)

    def __len__(self) -> int:
        return self.bases[-1]

    def cursor(self, *, start: Start = "anywhere", restriction: Restriction | None = None) -> ClueCursor:
        """Return a cursor at the empty clue, to be extended token by token.

        Args:
            start: Where clues may begin.
            restriction: Documents in which clues must occur; all when None.
        """
        if restriction is not None:
            return ClueCursor.root(self, start, restriction)
        root = self._roots.get(start)
        if root is None:
            root = self._roots[start] = ClueCursor.root(self, start, None)
        return root

    def at(
        self, clue: Iterable[int], *, start: Start = "anywhere", restriction: Restriction | None = None
    ) -> ClueCursor:
        """Return the cursor at a clue; it is dead if the clue does not occur."""
        return self.cursor(start=start, restriction=restriction).follow(_listed(clue))

    def next_tokens(
        self,
        prefix: Iterable[int],
        *,
        start: Start = "anywhere",
        restriction: Restriction | None = None,
    ) -> npt.NDArray[np.int64]:
        """Return the tokens that follow a prefix somewhere, ascending, each once."""
        if restriction is None and len(self.segments) == 1:
            # The same as below, without what a cursor costs.
            segment = self.segments[0]
            view = segment.anywhere if start == "anywhere" else segment.beginnings
            tokens = _listed(prefix)
            return view.continuations(*view.find(tokens, 0, len(view), 0), len(tokens))
        return self.at(prefix, start=start, restriction=restriction).next_tokens()

    def count(self, prefix: Iterable[int]) -> int:
        """Return in how many documents a prefix occurs, however often; equal documents count as one."""
        return self.at(prefix).count()

    def is_unique(self, prefix: Iterable[int]) -> bool:
        """Return whether a prefix occurs in exactly one document, however often."""
        return self.at(prefix).is_unique()

    def matches(self, clue: Iterable[int]) -> list[tuple[str, ...]]:
        """Return the documents in which a clue occurs, each as all its ids, in order of the first."""
        return self.at(clue).documents()

    def documents(self, clue: Iterable[int]) -> list[str]:
        """Return the ids of the documents in which a clue occurs, in their order, each once."""
        return sorted({doc_id for ids in self.matches(clue) for doc_id in ids})

    def ids_of(self, number: int) -> tuple[str, ...]:
        """Return the ids of a document, by its number in the index, in their order."""
        found: list[str] = []
        for segment in self.segments:
            low, high = np.searchsorted(segment.owners, [number, number + 1]).tolist()
            found += [segment.names[at] for at in range(low, high)]
        return tuple(sorted(set(found)))

    def document(self, number: int) -> list[int]:
        """Return the tokens of a document, by its number in the index."""
        at = int(np.searchsorted(self.bases, number, side="right")) - 1
        found: list[int] = self.segments[at].document(number - self.bases[at]).tolist()
        return found

    def restriction(self, ids: Collection[str]) -> Restriction:
        """Return the restriction to the documents of some ids; ids that the index lacks are ignored."""
        wanted = ids if isinstance(ids, set | frozenset) else frozenset(ids)
        mask = np.zeros(len(self), np.bool_)
        known: set[str] = set()
        for segment in self.segments:
            here = np.fromiter((name in wanted for name in segment.names), np.bool_, len(segment.names))
            mask[segment.owners[here]] = True
            known.update(segment.names[int(at)] for at in np.flatnonzero(here))
        return Restriction(self, mask, frozenset(known))

    def _grown(
        self, documents: Documents, place: ClueFolder | None, max_tokens: int, runner: Runner | None
    ) -> ClueIndex:
        segments = list(self.segments)
        written = dict(self.manifest.segments) if place else {}
        number = place.next_generation() if place else 0
        stream = Intake(documents, self.vocabulary, self.end)
        for segment in built(stream, self.segments, max_tokens, runner or InlineRunner()):
            if place:
                name, written[name] = place.write_segment(segment, number)
                number += 1
            else:
                segments.append(segment)
        manifest = replace(self.manifest, generation=number, segments=written)
        if place is None:
            return ClueIndex(segments, manifest)
        place.put(manifest)
        return ClueIndex.open(place.path)


def replace_extra(index: ClueIndex, extra: Mapping[str, Any]) -> ClueIndex:
    """Return an index that keeps something else."""
    return ClueIndex(index.segments, replace(index.manifest, extra=dict(extra)), index.folder)


def _listed(clue: Iterable[int]) -> list[int]:
    # Numbers of numpy are many times slower to look up than those of Python.
    return clue.tolist() if isinstance(clue, np.ndarray) else list(clue)
