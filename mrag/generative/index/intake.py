"""Documents on their way into a clue index: checked, told from those that are there, and put in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.generative.index.segments import ClueSegment


class Intake:
    """Documents that have tokens, each looked at before it is taken.

    Args:
        documents: Id and token ids of each.
        vocabulary: Number of token ids.
        end: Token to put behind each document; None for none.

    Raises:
        ConfigError: While they are looked at, if a token is not below `vocabulary`.
    """

    def __init__(
        self, documents: Iterable[tuple[str, Sequence[int]]], vocabulary: int, end: int | None
    ) -> None:
        self._rest = iter(documents)
        self._vocabulary = vocabulary
        self._end = end
        self._next: tuple[str, npt.NDArray[np.int64]] | None = None

    def more(self) -> bool:
        """Return whether there is a document."""
        while self._next is None:
            found = next(self._rest, None)
            if found is None:
                return False
            tokens = np.asarray(found[1], np.int64).reshape(-1)
            if len(tokens):
                self._next = found[0], self._whole(found[0], tokens)
        return True

    def look(self) -> tuple[str, npt.NDArray[np.int64]]:
        """Return the document that comes next."""
        assert self._next is not None
        return self._next

    def take(self) -> None:
        """Go on."""
        self._next = None

    def _whole(self, doc_id: str, tokens: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if int(tokens.min()) < 0 or int(tokens.max()) >= self._vocabulary:
            raise ConfigError(
                f"The document {doc_id} has a token outside of the vocabulary of {self._vocabulary:,}.",
                hint="Build the index with the tokeniser that made the tokens.",
            )
        return tokens if self._end is None else np.append(tokens, self._end)


@dataclass(frozen=True)
class BatchNames:
    """Ids of the documents of a batch.

    Attributes:
        base: Number of documents of what comes before the batch.
        own: The number of a batch, the place of a document in it, and an id that this document has.
        earlier: The number of a document that the index had before, and an id that it has, too.
    """

    base: int
    own: list[tuple[int, int, str]] = field(default_factory=list)
    earlier: list[tuple[int, str]] = field(default_factory=list)


class Batches:
    """The batches of which segments are built, one after the other; equal documents come once.

    Args:
        stream: The documents.
        earlier: Segments of the index as it is.
        max_tokens: Most tokens of a batch, ends of documents counted; one document at least.

    Attributes:
        names: Ids of the documents of the batches that have been given out.
    """

    def __init__(self, stream: Intake, earlier: Sequence[ClueSegment], max_tokens: int) -> None:
        self._stream = stream
        self._earlier = earlier
        self._most = max_tokens
        self._base = sum(map(len, earlier))
        self._seen: dict[bytes, tuple[int, int]] = {}
        self.names: list[BatchNames] = []

    def __iter__(self) -> Iterator[list[npt.NDArray[np.int64]]]:
        while self._stream.more():
            batch: list[npt.NDArray[np.int64]] = []
            names, number, size = BatchNames(self._base), len(self.names), 0
            while self._stream.more():
                doc_id, tokens = self._stream.look()
                key = hashlib.blake2b(tokens.tobytes(), digest_size=16).digest()
                before = _known(self._earlier, tokens) if key not in self._seen else None
                if before is not None:
                    names.earlier.append((before, doc_id))
                else:
                    if key not in self._seen:
                        if batch and size + len(tokens) + 1 > self._most:
                            break
                        self._seen[key] = number, len(batch)
                        batch.append(tokens)
                        size += len(tokens) + 1
                    names.own.append((*self._seen[key], doc_id))
                self._stream.take()
            self._base += len(batch)
            self.names.append(names)
            yield batch


def _known(segments: Sequence[ClueSegment], tokens: npt.NDArray[np.int64]) -> int | None:
    """Return the number of an equal document of earlier segments."""
    base = 0
    listed = tokens.tolist() if segments else []
    for segment in segments:
        found = segment.find(listed)
        if found is not None:
            return base + found
        base += len(segment)
    return None
