"""Documents on their way into a clue index: checked, told from those that are there, and put in batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def take_batch(
    stream: Intake, earlier: Sequence[ClueSegment], base: int, max_tokens: int
) -> tuple[list[npt.NDArray[np.int64]], list[tuple[int, str]]]:
    """Take documents until no more fit in a segment; one at least."""
    batch: list[npt.NDArray[np.int64]] = []
    names: list[tuple[int, str]] = []
    seen: dict[bytes, int] = {}
    size = 0
    while stream.more():
        doc_id, tokens = stream.look()
        key = tokens.tobytes()
        owner = seen.get(key)
        if owner is None:
            owner = _known(earlier, tokens)
        if owner is None:
            if batch and size + len(tokens) + 1 > max_tokens:
                break
            owner = seen[key] = base + len(batch)
            batch.append(tokens)
            size += len(tokens) + 1
        names.append((owner, doc_id))
        stream.take()
    return batch, names


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
