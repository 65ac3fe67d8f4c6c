"""Sending files to a server as N-Triples, in one stream or in parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from mrag.stores.wire.http import upload

_SENDERS = 2


def send_stream(parts: Iterator[bytes], post: Callable[[object], None]) -> None:
    """Send parts as one request.

    Raises:
        LoadError: What the parser raised, as any other error of the parts.
    """
    failed: list[BaseException] = []

    def watched() -> Iterator[bytes]:
        # What the parser raises would come out of the HTTP client as a broken connection.
        try:
            yield from parts
        except Exception as error:
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
