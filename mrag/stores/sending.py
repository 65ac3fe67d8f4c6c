"""Sending files to a server as N-Triples, in one stream or in parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice

import pyoxigraph as ox

from mrag.errors import MragError
from mrag.loaders.rdf import LoadNotes, Progress, Source
from mrag.stores.http import upload

PART = 10_000
"""Triples that go into a stream at a time."""

_SENDERS = 2


def send_stream(parts: Iterator[bytes], post: Callable[[object], None]) -> None:
    """Send parts as one request.

    Raises:
        LoadError: What the parser raised.
    """
    failed: list[BaseException] = []

    def watched() -> Iterator[bytes]:
        # What the parser raises would come out of the HTTP client as a broken connection.
        try:
            yield from parts
        except MragError as error:
            failed.append(error)
            raise

    try:
        post(upload(watched()))
    except Exception:
        if failed:
            raise failed[0] from None
        raise


def send_parts(parts: Iterator[bytes], post: Callable[[bytes], None]) -> None:
    """Send parts as requests of their own, two at a time, while the next is being read."""
    with ThreadPoolExecutor(_SENDERS) as pool:
        sent: deque[Future[None]] = deque()
        try:
            for part in parts:
                sent.append(pool.submit(post, part))
                if len(sent) > _SENDERS:
                    sent.popleft().result()
            while sent:
                sent.popleft().result()
        except BaseException:
            for waiting in sent:
                waiting.cancel()
            raise


def parts(
    sources: Sequence[Source],
    size: int,
    notes: LoadNotes,
    on_progress: Progress | None,
    skip_bad_lines: bool,
) -> Iterator[bytes]:
    """Yield the triples of files as N-Triples, so many at a time.

    N-Triples writes plain strings untyped, which stores of RDF 1.0 tell from typed ones.
    """
    total = sum(source.size() for source in sources)
    done = [0] * len(sources)

    def noted(at: int) -> Callable[[int], None]:
        def note(count: int) -> None:
            done[at] = count
            if on_progress is not None:
                on_progress(sum(done), total)

        return note

    quads = chain.from_iterable(
        source.quads_skipping(notes, noted(at)) if skip_bad_lines else source.quads(noted(at), notes)
        for at, source in enumerate(sources)
    )
    triples = (quad.triple for quad in quads)
    while part := ox.serialize(islice(triples, size), format=ox.RdfFormat.N_TRIPLES):
        yield part
