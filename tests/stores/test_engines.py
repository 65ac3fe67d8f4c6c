"""The records of engines, by their documented protocols, and data that was in a server before mrag came.

No such engine runs here: `tests/engine_server.py` speaks their protocols, and `mrag serve` speaks RDF4J's.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rdflib import RDFS, URIRef

import mrag
from mrag.errors import ConfigError, EndpointError
from mrag.graph.connection import open_store
from mrag.index.similarity import SimilarityIndexes
from mrag.reasoning.run import reason
from mrag.stores.base import Dataset, Limits
from mrag.stores.engines import ENGINES, SERVERS
from mrag.stores.fuseki import FusekiStore
from mrag.stores.http import Access, Incomplete, lines_of, triples_of
from mrag.stores.sparql import DEFAULT
from tests.cases import beside, cases
from tests.conftest import PRODUCTS, ROOT, opened
from tests.engine_server import engine_server
from tests.fuseki_server import UNNAMED, fuseki_server
from tests.servers import oxigraph_server, virtuoso_server

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
    monkeypatch.setattr("mrag.graph.kg.user_data_path", lambda name: tmp_path / name)


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


@pytest.mark.parametrize(("kind", "sent"), [("stardog", "2500"), ("rdf4j", "3"), ("neptune", None)])
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


DATA = beside(__file__, "car.ru")
UNNAMED_DATA = DATA.replace("GRAPH <urn:mine> {", "").replace("} }", "}")


oxigraph = opened(lambda folder: oxigraph_server(folder, memory=True))


@pytest.fixture
def fill(oxigraph: str) -> Iterator[Callable[..., str]]:
    def put(*data: str) -> str:
        with mrag.connect(oxigraph) as kg:
            kg.store.update("DROP ALL")
            for part in data:
                kg.store.update(part)
        return oxigraph

    yield put


def asks_and_answers(kg: mrag.KnowledgeGraph) -> None:
    SimilarityIndexes.of(kg).build("main", model="none")
    answer = mrag.ask(kg, "Which car has a wheel?", model="none")
    assert any("red car" in c.text and "wheel" in c.text for c in answer.citations)


def test_named_graphs_are_taken_as_they_are(fill: Callable[..., str]) -> None:
    url = fill(DATA)
    with mrag.connect(url) as kg:
        assert kg.record.asserted == ("urn:mine",) and not kg.as_found
        asks_and_answers(kg)
        before = kg.store.graphs()
        kg.profile()
        assert kg.store.graphs() == before, "reading writes nothing"
        assert reason(kg).triples == 1
        assert kg.query("ASK { <urn:x:wheel> a <urn:x:Part> }") is True
        assert kg.store.count("urn:mine") == 5
    with mrag.connect(url) as kg:
        assert kg.reasoned and kg.count("inferred") == 1


def test_the_unnamed_graph_is_read_but_not_written(fill: Callable[..., str], tmp_path: Path) -> None:
    url = fill(UNNAMED_DATA)
    with mrag.connect(url) as kg:
        assert kg.record.asserted == (DEFAULT,) and kg.as_found
        asks_and_answers(kg)
        assert kg.count() == 5
        with pytest.raises(ConfigError, match="default graph"):
            reason(kg)
        (tmp_path / "more.nt").write_text("<urn:x:bike> <urn:x:hasPart> <urn:x:bell> .\n")
        kg.load([tmp_path / "more.nt"])
        assert kg.count() == 1, "what is loaded is a knowledge graph of its own"
    with mrag.connect(url) as kg:
        assert kg.count() == 1 and not kg.as_found
        assert kg.store.count(DEFAULT) == 5


def test_graphs_can_be_named(fill: Callable[..., str]) -> None:
    url = fill(DATA.replace("urn:mine", "urn:other"), DATA)
    with mrag.connect(url) as kg:
        assert kg.record.asserted == ("urn:mine", "urn:other")
    for kg in (mrag.connect(url, graphs=["urn:mine"]), mrag.connect(f"{url}&graph=urn:mine")):
        with kg:
            assert kg.record.asserted == ("urn:mine",)
            assert "graph=" not in kg.store.url.replace("graphs=", "")
    with mrag.connect(url, "own", graphs=["urn:mine"]) as kg:
        reason(kg)
    with pytest.raises(ConfigError, match="other graphs"):
        mrag.connect(url, "own", graphs=["urn:other"])


def test_others_changes_are_noticed_by_their_number(fill: Callable[..., str]) -> None:
    url = fill(DATA)
    with mrag.connect(url) as kg:
        SimilarityIndexes.of(kg).build("main", model="none")
        assert not SimilarityIndexes.of(kg).info().stale
        kg.store.update("INSERT DATA { GRAPH <urn:mine> { <urn:x:new> <urn:x:p> 'n' } }")
    with mrag.connect(url) as kg:
        assert SimilarityIndexes.of(kg).info().stale


@pytest.mark.slow
def test_virtuosos_own_graphs_are_left_out(tmp_path: Path) -> None:
    with virtuoso_server(tmp_path) as url:
        access = Access(user="dba", password="dba")
        with mrag.connect(url, access=access) as kg:
            assert kg.record.asserted == ("urn:mrag:kg:main:asserted:0",)
            kg.store.update(DATA)
        with mrag.connect(url, access=access) as kg:
            assert kg.record.asserted == ("urn:mine",)
            asks_and_answers(kg)
        with mrag.connect(url) as kg:  # without a login: reading alone
            asks_and_answers(kg)


def test_fusekis_unnamed_and_named_graphs_are_read_together(tmp_path: Path) -> None:
    with fuseki_server() as (url, asked, store):
        store.update(DATA)
        store.update(DATA.replace("urn:mine", UNNAMED).replace("car", "bus"))
        with mrag.connect(url) as kg:
            assert kg.as_found and kg.query("ASK { <urn:x:bus> ?p ?o . <urn:x:car> ?q ?r }") is True
            assert asked[-1]["default-graph-uri"] == ["urn:x-arq:DefaultGraph", "urn:x-arq:UnionGraph"]
            asks_and_answers(kg)
            kg.query("ASK { ?s ?p ?o }", limits=Limits(seconds=7))
            assert asked[-1]["timeout"] == ["7"]
            assert isinstance(kg.store, FusekiStore)
            kg.store.create("mem")
            assert asked[-1] == {"dbName": ["ds"], "dbType": ["mem"]}


def reopened_by_another_name(url: str, access: Access | None = None) -> tuple[str, ...]:
    """Load beside what is there, reason, and return the graphs that a graph of another name is made of."""
    with mrag.connect(url, access=access) as kg:
        kg.store.update(DATA)
    with mrag.connect(url, access=access) as kg:
        kg.begin_own()
        kg.insert([mrag.Triple(URIRef("urn:x:hasPart"), RDFS.domain, URIRef("urn:x:Whole"))])
        reason(kg)
    with mrag.connect(url, "other", access=access) as kg:
        assert kg.count() == 5 and kg.query("ASK { ?s rdfs:domain ?o }") is False
        return kg.record.asserted


@pytest.mark.parametrize("union", [False, True])
def test_what_mrag_wrote_is_not_read_as_found(tmp_path: Path, union: bool) -> None:
    with oxigraph_server(tmp_path, memory=True, union=union) as url:
        assert reopened_by_another_name(url) == ("urn:mine",)


@pytest.mark.slow
def test_what_mrag_wrote_is_not_read_as_found_on_virtuoso(tmp_path: Path) -> None:
    with virtuoso_server(tmp_path) as url:
        assert reopened_by_another_name(url, Access(user="dba", password="dba")) == ("urn:mine",)
