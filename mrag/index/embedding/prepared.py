"""A model made ready to embed many texts: some are known already, the rest is shared among workers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mrag.errors import IndexError_
from mrag.index.embedding.embedders import Embedder, embedder
from mrag.index.embedding.local_models import MiniLmEmbedder, Vectors
from mrag.index.segments.segment import digest
from mrag.jobs.runners import Runner, carried

__all__ = ["EmbeddingWork", "PreparedEmbedder", "VectorSource", "prepared"]

logger = logging.getLogger(__name__)

_BATCH = 256


class VectorSource(Protocol):
    """Something that has vectors of texts."""

    def known_vectors(self, digests: Collection[bytes]) -> Mapping[bytes, npt.NDArray[np.float32]]:
        """Return the vectors of texts by digest; none of those that it does not know."""


class EmbeddingWork:
    """Embeds batches of texts wherever it is sent to; the model is opened there, once.

    Args:
        model: Name or object, as for `embedder`.
        threads: Threads that a model in the process may use.
    """

    def __init__(self, model: Any, threads: int) -> None:
        self.model = model
        self.threads = threads
        self._opened: Embedder | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_opened": None}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        if self._opened is None:
            named = MiniLmEmbedder(self.threads) if self.model == "minilm" else self.model
            self._opened = embedder(named)
        assert self._opened is not None
        return self._opened.embed_documents(texts)


class PreparedEmbedder:
    """A model for the time of one build of an index.

    Args:
        model: The model.
        given: What it was made of, to be made again by workers.
        runner: What embeds; the model itself if left out.
        sources: Gives what may know vectors of a model already.

    Example:
        >>> from mrag.index.embedding.embedders import embedder
        >>> model = PreparedEmbedder(embedder("wordllama"), "wordllama", None, lambda name: ())
        >>> [(number, vectors.shape) for number, vectors in model.embed_batches([["a shoe"], ["a", "b"]])]
        [(0, (1, 256)), (1, (2, 256))]
    """

    def __init__(
        self,
        model: Embedder,
        given: Any,
        runner: Runner | None,
        sources: Callable[[str], Iterable[VectorSource]],
    ) -> None:
        self._model = model
        self._given = given
        self._runner = runner
        self._sources = sources

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model.name

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return self._model.dim

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        return self._model.embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        keys = [digest(text) for text in texts]
        found = dict(self.recalled(set(keys)))
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        names, missing = list(fresh), list(fresh.values())
        parts = [missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH)]
        for number, vectors in self.embed_batches(parts):
            found.update(zip(names[number * _BATCH :], vectors, strict=False))
        if not keys:
            return self._model.embed_documents([])
        return np.stack([found[key] for key in keys])

    def embed_batches(self, batches: Iterable[Sequence[str]]) -> Iterator[tuple[int, Vectors]]:
        """Embed batches of texts.

        Yields:
            The number of a batch, from 0, and its vectors, in the order in which they are ready.
        """
        rest = iter(batches)
        first = list(islice(rest, 2))
        if self._runner is None or len(first) < 2:
            # One batch alone is not worth a worker.
            yield from enumerate(map(self._model.embed_documents, chain(first, rest)))
            return
        work = EmbeddingWork(self._given, self._runner.cores)
        yield from carried(self._runner, work, chain(first, rest))

    def recalled(self, digests: Collection[bytes]) -> dict[bytes, npt.NDArray[np.float32]]:
        """Return the vectors of texts that a source knows, by digest."""
        found: dict[bytes, npt.NDArray[np.float32]] = {}
        wanted = set(digests)
        for source in self._sources(self.name) if wanted else ():
            try:
                found.update(source.known_vectors(wanted - found.keys()))
            except IndexError_ as error:
                logger.warning("Vectors of an index cannot be used again: %s", error.message)
            if len(found) == len(wanted):
                break
        return found

    def finish(self) -> None:
        """Become the plain model again."""
        self._runner, self._sources = None, lambda name: ()


@contextmanager
def prepared(
    model: Embedder | None,
    given: Any,
    runner: Runner | None,
    sources: Callable[[str], Iterable[VectorSource]],
) -> Iterator[Embedder | None]:
    """Give a model that is made ready, for the time of a build; see `PreparedEmbedder`."""
    if model is None:
        yield None
        return
    ready = PreparedEmbedder(model, given, runner, sources)
    try:
        yield ready
    finally:
        ready.finish()
