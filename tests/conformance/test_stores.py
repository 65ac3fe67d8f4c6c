"""The shipped suite over every store that can run here."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path

import pytest

from mrag.graph.connection import open_store
from mrag.stores.base import TripleStore
from mrag.stores.conformance import StoreConformance
from mrag.stores.engines import ENGINES
from mrag.stores.http import Access
from mrag.stores.oxigraph import OxigraphStore
from tests.conftest import slow
from tests.engine_server import engine_server
from tests.java_servers import blazegraph_server, graphdb_repository, rdf4j_repository
from tests.servers import graphdb_protocol, oxigraph_server, virtuoso_server

FEWER = 3000
"""Rows of the large result where no limit of a server lies between these and the suite's own number."""


@contextmanager
def at(url: str, access: Access | None = None) -> Iterator[TripleStore]:
    store, _ = open_store(url, access)
    yield store
    store.close()


@contextmanager
def served(server: AbstractContextManager[str], access: Access | None = None) -> Iterator[TripleStore]:
    with server as url, at(url, access) as store:
        yield store


@contextmanager
def over_protocol(kind: str) -> Iterator[TripleStore]:
    with engine_server(kind) as (url, access, _), at(url, access) as store:
        yield store


Opened = Callable[[Path], AbstractContextManager[TripleStore]]
WHOLE: dict[str, Opened] = {
    "memory": lambda folder: OxigraphStore(),
    "disk": lambda folder: OxigraphStore(folder / "data"),
    "oxigraph server": lambda folder: served(oxigraph_server(folder)),
    "virtuoso": lambda folder: served(virtuoso_server(folder), Access(user="dba", password="dba")),
    "blazegraph": lambda folder: served(blazegraph_server(folder)),
}
WITH_FEWER: dict[str, Opened] = {
    "graphdb protocol": lambda folder: served(graphdb_protocol(folder, "--reason")),
    # The protocol alone, over the embedded store.
    "qlever protocol": lambda folder: over_protocol("qlever"),
}
SAILS = {"memory": "openrdf:MemoryStore", "native": "openrdf:NativeStore", "lmdb": "rdf4j:LmdbStore"}
RULES = ("empty", "owl-horst-optimized")
IN_JAVA: dict[str, tuple[str, Callable[[str], AbstractContextManager[str]]]] = {
    "fuseki": ("fuseki", lambda base: nullcontext(f"fuseki:{base}/ds")),
    **{f"rdf4j {n}": ("rdf4j", partial(rdf4j_repository, name=n, sail=f'"{s}"')) for n, s in SAILS.items()},
    **{f"graphdb {r}": ("graphdb", partial(graphdb_repository, name=r, ruleset=r)) for r in RULES},
}
"""The fixture of each server, and what gives the URL of a store on it."""
RUNNING: dict[str, Opened] = {
    f"running {kind}": lambda folder, url=os.environ[name]: at(url)  # type: ignore[misc]
    for kind in ENGINES
    if (name := f"MRAG_TEST_{kind.upper()}") in os.environ
}
STORES = (*WHOLE, *WITH_FEWER, *RUNNING, *IN_JAVA)
AT_ONCE = ("memory", "disk", "oxigraph server", *RUNNING)


class TestStores(StoreConformance):
    @pytest.fixture(scope="class", params=[*AT_ONCE, *slow(*(n for n in STORES if n not in AT_ONCE))])
    @classmethod
    def store(
        cls, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[TripleStore]:
        cls.rows = FEWER if request.param in WITH_FEWER else StoreConformance.rows
        if request.param in IN_JAVA:
            server, made = IN_JAVA[request.param]
            opened = served(made(request.getfixturevalue(server)))
        else:
            opened = {**WHOLE, **WITH_FEWER, **RUNNING}[request.param](tmp_path_factory.mktemp("store"))
        with opened as store:
            yield store

    @pytest.fixture(autouse=True)
    def _searched_there(self, request: pytest.FixtureRequest) -> None:
        if "similarity_queries[graphdb protocol" in request.node.name:
            pytest.skip("mrag serve looks into indexes of its own, as tests/stores/test_graphdb.py does")
        if "blazegraph-kg/list" in request.node.name:
            request.applymarker(pytest.mark.xfail(strict=True, reason="it reads GRAPH beside its dataset"))
