"""Comunica, a query engine for the web, and Ontotext's driver for GraphDB, unchanged, on our endpoint."""

from collections.abc import Callable

import pytest

import mrag
from tests.cases import cases
from tests.server.conftest import Running, running

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("scenario", ["selecting", "federating", "constructing", "writing_out", "refusing"])
def test_comunica_reads(node: Callable[..., None], server: Running, scenario: str) -> None:
    node("comunica.mjs", scenario, server.url)


def test_comunica_writes(node: Callable[..., None], writable: Running) -> None:
    node("comunica.mjs", "updating", writable.url)


@pytest.mark.parametrize("scenario", cases(__file__, "DRIVER"))
def test_the_driver_of_graphdb(node: Callable[..., None], writable: Running, scenario: str) -> None:
    node("graphdb.mjs", scenario, writable.url)


def test_the_driver_of_graphdb_logs_in(node: Callable[..., None]) -> None:
    token = "a-long-random-token"
    with mrag.connect() as kg, running(kg, token=token, update=True, workers=1) as server:
        node("graphdb.mjs", "logging_in", server.url, token)
