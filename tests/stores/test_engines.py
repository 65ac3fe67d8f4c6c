"""The records of engines: the whole way over their documented protocols, and what is particular to each.

No such engine runs here: `tests/engine_server.py` speaks their protocols, and `mrag serve` speaks RDF4J's.
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

import mrag
from mrag.errors import ConfigError, EndpointError
from mrag.graph.connection import open_store
from mrag.index.similarity import SimilarityIndexes
from mrag.reasoning.run import reason
from mrag.stores.base import Dataset, Limits
from mrag.stores.engines import ENGINES, SERVERS
from mrag.stores.http import Incomplete, lines_of, triples_of
from mrag.stores.sparql import DEFAULT
from tests.cases import cases
from tests.conftest import PRODUCTS, ROOT
from tests.engine_server import engine_server
from tests.fuseki_server import UNNAMED

NIL = "http://www.openrdf.org/schema/sesame#nil"
STARDOG = "tag:stardog:api:context:"
FOUND = {
    "qlever": ("http://qlever.cs.uni-freiburg.de/builtin-functions/default-graph", "urn:mine"),
    "stardog": (f"{STARDOG}default", f"{STARDOG}named"),
    "allegrograph": (DEFAULT,),
    "neptune": ("urn:mine",),
    "rdf4j": (NIL, "urn:mine"),
}
"""What is read of a server that holds one triple outside of named graphs and two in one of them."""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.index.backends.base.user_data_path", lambda name: tmp_path / name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(ENGINES))
def test_what_is_found_and_what_is_loaded(kind: str) -> None:
    with engine_server(kind) as (url, access, server):
        if kind != "neptune":  # where every triple is in a named graph
            server.store.insert(b"<urn:u> <urn:p> <urn:v> .\n", UNNAMED)
        server.store.insert(
            b"<urn:a> <urn:p> <urn:b>, <urn:c> .\n".replace(b",", b".\n<urn:a> <urn:p>"), "urn:mine"
        )
        with mrag.connect(url, access=access) as kg:
            assert kg.record.asserted == FOUND[kind]
            assert kg.count() == (2 if kind == "neptune" else 3)
        with mrag.connect(url, "own", access=access) as kg:
            kg.load([PRODUCTS])
            assert reason(kg).triples > 1000
            SimilarityIndexes.of(kg).build("main", model="none")
            answer = mrag.ask(kg, "Who develops GraphDB?", model="none")
            assert any("Ontotext" in citation.text for citation in answer.citations)
        with mrag.connect(url, "third", access=access) as kg:
            assert not any(str(g).startswith("urn:mrag:") for g in kg.record.asserted)
            assert kg.query("ASK { <urn:a> <urn:p> <urn:b> }") is True


@pytest.mark.parametrize("kind", sorted(ENGINES))
def test_graphs_are_added_dumped_and_cleared(kind: str) -> None:
    triples = (
        b'<urn:a> <urn:p> "8"^^<http://www.w3.org/2001/XMLSchema#integer> .\n<urn:a> <urn:q> "x y"@en .\n'
    )
    with engine_server(kind) as (url, access, _):
        store, _ = open_store(url, access)
        store.insert(triples, "urn:g")
        assert store.graphs() == ["urn:g"] and store.count("urn:g") == 2
        out = io.BytesIO()
        store.dump("urn:g", out)
        assert sorted(out.getvalue().splitlines()) == sorted(triples.splitlines())
        store.clear("urn:g")
        assert store.graphs() == [] and store.count("urn:g") == 0
        store.close()


@pytest.mark.parametrize(("url", "example"), cases(__file__, "an_address_of_the_wrong_form_is_told"))
def test_an_address_of_the_wrong_form_is_told(url: str, example: str) -> None:
    with pytest.raises(ConfigError, match="no address of") as raised:
        open_store(url)
    assert example in str(raised.value.hint)


def test_an_address_may_be_in_a_folder() -> None:
    catalog = "allegrograph:http://localhost:10035/catalogs/c/repositories/r"
    for url in (catalog, "qlever:https://example.org/api/graph", "rdf4j:http://localhost/repositories/r"):
        store, _ = open_store(url)
        assert store.url == url
        store.close()


def test_qlever_takes_its_token() -> None:
    with engine_server("qlever") as (url, access, _), pytest.raises(EndpointError):
        other, _ = open_store(url, replace(access, token="another"))
        with other:
            other.insert(b"<urn:a> <urn:p> <urn:b> .\n", "urn:g")


def test_turtle_that_breaks_off_is_no_answer() -> None:
    whole = b"<urn:a> <urn:p> 8 .\n_:b <urn:p> true .\n"
    assert len(list(triples_of([whole], "text/turtle"))) == 2
    assert b'"8"^^<http://www.w3.org/2001/XMLSchema#integer> .' in next(lines_of([whole], "text/turtle"))
    for broken in (whole[:-4], whole + b"!!!!>># An error has occurred while exporting the result.\n"):
        with pytest.raises(Incomplete):
            list(triples_of([broken], "text/turtle"))
    with pytest.raises(Incomplete):
        list(triples_of([whole]))


@pytest.mark.parametrize(("kind", "sent"), [("stardog", "2500"), ("rdf4j", "2"), ("neptune", None)])
def test_the_time_limit_is_sent_in_the_servers_unit(kind: str, sent: str | None) -> None:
    with engine_server(kind) as (url, access, server):
        store, _ = open_store(url, access)
        store.bounded("ASK { ?s ?p ?o }", Dataset(("urn:g",)), Limits(seconds=2.5))
        assert server.asked[-1].get("timeout", [None]) == [sent]
        store.close()


def test_every_engine_is_named_where_stores_are() -> None:
    assert set(ENGINES) < set(SERVERS)
    page = (ROOT / "docs" / "stores.md").read_text(encoding="utf-8")
    for kind, record in ENGINES.items():
        assert f"`{kind}:{record.example}`" in page and record.dialect.name in page
        assert record.source
        assert f"MRAG_TEST_{kind.upper()}" in page
