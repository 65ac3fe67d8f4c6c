"""Requests to the page's API that are refused in words; where there is no body they only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

ROWS = [
    row.split("\t") for row in Path(__file__).with_name("refused.tsv").read_text("utf-8").splitlines()[1:]
]
ROWS += [
    ["/api/verify", "400", '{"citations": [' + "{}, " * 2000 + "{}]}"],
    ["/api/saved", "400", '{"name": "x", "text": "' + "A" * 60_000 + '"}'],
    [f"/api/entity?iri=urn:{'x' * 3000}", "400", ""],
    ["/api/concepts", "400", '{"name": "x", "concept": "' + " and ".join(["ex:C"] * 80) + '"}'],
    ["/api/concepts", "400", '{"name": "x", "concept": "' + "(" * 4000 + "ex:C" + ")" * 3990 + '"}'],
    ["/api/learn", "400", '{"liked": ["ex:a"], "hits": ["ex:a"' + ', "ex:a"' * 500 + "]}"],
]


@pytest.fixture(scope="module")
def client(base: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=base, timeout=30) as found:
        yield found


@pytest.mark.parametrize(("path", "status", "body"), ROWS, ids=lambda part: part[:60])
def test_what_cannot_be_done_is_said(client: httpx.Client, path: str, status: str, body: str) -> None:
    sent = {"content": body.encode(), "headers": {"content-type": "application/json"}}
    reply = client.post(path, **sent) if body else client.get(path)  # type: ignore[arg-type]
    assert reply.status_code == int(status), reply.text
    assert len(reply.json()["error"]) > 10 and reply.headers["cache-control"] == "no-store"
