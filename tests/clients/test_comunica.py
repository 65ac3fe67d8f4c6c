"""Comunica, a query engine for the web, with our endpoint as its source and its destination."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.server.conftest import Running

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scenario", ["selecting", "federating", "constructing", "writing_out", "refusing"])
def test_comunica_reads(node: Callable[..., None], server: Running, scenario: str) -> None:
    node("comunica.mjs", scenario, server.url)


def test_comunica_writes(node: Callable[..., None], writable: Running) -> None:
    node("comunica.mjs", "updating", writable.url)
