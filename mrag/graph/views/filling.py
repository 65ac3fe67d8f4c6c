"""The triples of a view put into a graph: answered in one go or in parts, of the store or of a copy of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path

from mrag.errors import EndpointError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.views.branches import has_blank_nodes
from mrag.graph.views.parts import Progress, answered, named
from mrag.jobs.runners import Runner
from mrag.loaders.rdf import Source
from mrag.storage.files import Scratch
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import Landing, OxigraphStore

_BATCH = 20_000
"""Triples sent to a server at a time."""
_LARGE = 100_000
"""Triples of a source from which on views are worked out in a process of their own."""


@dataclass(frozen=True)
class PartsJob:
    """How a query is answered in parts.

    Attributes:
        runner: What answers them.
        state: What source and query are, as a text.
        folder: Where parts that are done are kept.
        on_progress: Called with the parts done, and the parts in all.
    """

    runner: Runner
    state: str
    folder: Path | None
    on_progress: Progress | None

    def answered(
        self, store: OxigraphStore, text: str, dataset: Dataset
    ) -> AbstractContextManager[Iterator[bytes]]:
        """Have the runner answer a query, see `mrag.graph.views.parts.answered`."""
        return answered(
            store, text, dataset, self.runner, state=self.state, folder=self.folder, told=self.on_progress
        )


def fill(kg: KnowledgeGraph, text: str, graph: str, parts: PartsJob | None) -> None:
    """Put what a CONSTRUCT query gives over the asserted triples into a graph that is not in sight yet.

    Args:
        kg: What is asked.
        text: The query.
        graph: IRI of the graph.
        parts: How it is answered in parts; in one go if left out.

    Raises:
        EndpointError: If a server does not give its triples whole.
    """
    if not isinstance(kg.store, OxigraphStore):
        with _copied(kg) as (local, copy), _answered(local, text, copy, parts) as lines:
            for batch in _batches(lines):
                kg.store.insert(batch, graph)
        return
    size = kg.record.triples
    with (
        _answered(kg.store, text, kg.dataset("asserted"), parts, size) as lines,
        Landing(kg.store, graph) as landing,
    ):
        for piece in lines:
            landing.write(piece)


@contextmanager
def _answered(
    store: OxigraphStore, text: str, dataset: Dataset, parts: PartsJob | None, triples: int = 0
) -> Iterator[Iterator[bytes]]:
    """Give the N-Triples of a query in pieces of whole lines."""
    if parts is not None:
        with parts.answered(store, text, dataset) as pieces:
            yield pieces
        return
    # The engine lets one thread of a process work at a time, so a long query goes to another process.
    apart = store.path is not None and triples > _LARGE
    lines = (store.workers.serialise if apart else store.serialise)(text, dataset)
    yield iter((named(lines, store.engine, text) if has_blank_nodes(text) else lines,))


@contextmanager
def _copied(kg: KnowledgeGraph) -> Iterator[tuple[OxigraphStore, Dataset]]:
    """Give a copy of a server's triples in a store of this process.

    Servers cut long answers without saying so, end long queries, and may group rows in another order.
    """
    copy = Dataset(("urn:mrag:copy",))
    with Scratch("view") as folder, OxigraphStore(folder / "store") as local:
        for number, graph in enumerate(kg.dataset("asserted").default):
            path = folder / f"{number}.nt"
            with path.open("wb") as out:
                kg.store.dump(graph, out)
            local.bulk_load([Source.of(path)], copy.default[0])
            path.unlink()
        expected = kg.count()
        if (had := local.count(copy.default[0])) != expected:
            raise EndpointError(
                f"The server gave {had:,} of {expected:,} triples, so the view would lack some.",
                endpoint=kg.store.url,
                hint="Let it answer at greater length; for Virtuoso raise ResultSetMaxRows in virtuoso.ini.",
            )
        yield local, copy


def _batches(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        lines = BytesIO(piece)
        while batch := list(islice(lines, _BATCH)):
            yield b"".join(batch)
