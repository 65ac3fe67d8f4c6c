"""The shipped suite over every store that can run here."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from mrag.graph.connection import open_store
from mrag.stores.base import TripleStore
from mrag.stores.conformance import StoreConformance
from mrag.stores.engines import ENGINES
from mrag.stores.http import Access
from mrag.stores.oxigraph import OxigraphStore
from tests.engine_server import engine_server
from tests.fuseki_server import fuseki_server
from tests.jena import jena_server
from tests.servers import graphdb_protocol, oxigraph_server, virtuoso_server

FEWER = 3000
"""Rows of the large result where no limit of a server lies between these and the suite's own number."""


class TestEmbeddedInMemory(StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls) -> Iterator[TripleStore]:
        with OxigraphStore() as store:
            yield store


class TestEmbeddedOnDisk(StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TripleStore]:
        with OxigraphStore(tmp_path_factory.mktemp("store") / "data") as store:
            yield store


class TestOxigraphServer(StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TripleStore]:
        with oxigraph_server(tmp_path_factory.mktemp("oxigraph")) as url:
            store, _ = open_store(url)
            yield store
            store.close()


@pytest.mark.slow
class TestVirtuoso(StoreConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TripleStore]:
        with virtuoso_server(tmp_path_factory.mktemp("virtuoso")) as url:
            store, _ = open_store(url, Access(user="dba", password="dba"))
            yield store
            store.close()


@pytest.mark.slow
class TestFusekiProtocol(StoreConformance):
    """The adapter's requests against a fixture that speaks Fuseki's protocol; no Fuseki runs here."""

    rows = FEWER

    @pytest.fixture(scope="class")
    @classmethod
    def store(cls) -> Iterator[TripleStore]:
        with fuseki_server() as (url, _, _):
            store, _ = open_store(url)
            yield store
            store.close()


@pytest.mark.slow
class TestJena(StoreConformance):
    """The adapter of Fuseki over Jena's own engine; the HTTP in front of it is the tests'."""

    rows = FEWER

    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TripleStore]:
        with jena_server(tmp_path_factory.mktemp("jena")) as base:
            store, _ = open_store(f"fuseki:{base}/ds")
            yield store
            store.close()


@pytest.mark.slow
class TestGraphDBProtocol(StoreConformance):
    """The adapter of GraphDB against this package's own RDF4J endpoint; no GraphDB runs here."""

    rows = FEWER

    @pytest.fixture(scope="class")
    @classmethod
    def store(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TripleStore]:
        with graphdb_protocol(tmp_path_factory.mktemp("served"), "--reason") as url:
            store, _ = open_store(url)
            yield store
            store.close()


@pytest.mark.slow
class TestEngineProtocols(StoreConformance):
    """Records of engines against fixtures that speak their protocols as documented; no such engine runs.

    The others differ less from the adapters above; `tests/stores/test_engines.py` tries them all.
    """

    rows = FEWER

    @pytest.fixture(scope="class", params=["qlever", "rdf4j"])
    @classmethod
    def store(cls, request: pytest.FixtureRequest) -> Iterator[TripleStore]:
        with engine_server(request.param) as (url, access, _):
            store, _ = open_store(url, access)
            yield store
            store.close()


NAMED = {kind: os.environ[name] for kind in ENGINES if (name := f"MRAG_TEST_{kind.upper()}") in os.environ}


@pytest.mark.skipif(not NAMED, reason="no server is named: set MRAG_TEST_QLEVER, MRAG_TEST_STARDOG and so on")
class TestRunningEngines(StoreConformance):
    """The records of engines against servers of them, wherever the environment names one by its URL."""

    @pytest.fixture(scope="class", params=sorted(NAMED) or ["none"])
    @classmethod
    def store(cls, request: pytest.FixtureRequest) -> Iterator[TripleStore]:
        store, _ = open_store(NAMED[request.param])
        yield store
        store.close()
