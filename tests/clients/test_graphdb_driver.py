"""Ontotext's JavaScript driver for GraphDB, unchanged, on the embedded store."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import mrag
from tests.cases import cases
from tests.server.conftest import Running, running

pytestmark = pytest.mark.slow

Script = Callable[..., None]


@pytest.mark.parametrize("scenario", cases(__file__, "the_driver_of_graphdb"))
def test_the_driver_of_graphdb(node: Script, writable: Running, scenario: str) -> None:
    node("graphdb.mjs", scenario, writable.url)


def test_the_driver_of_graphdb_logs_in(node: Script) -> None:
    token = "a-long-random-token"
    with mrag.connect() as kg, running(kg, token=token, update=True, workers=1) as server:
        node("graphdb.mjs", "logging_in", server.url, token)
