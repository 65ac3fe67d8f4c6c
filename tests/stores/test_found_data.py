"""Data that was in a server before mrag came: read as it is, reasoned over beside it, never changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rdflib import RDFS, URIRef

import mrag
from mrag.errors import ConfigError
from mrag.index.similarity import SimilarityIndexes
from mrag.reasoning.run import reason
from mrag.stores.base import Limits
from mrag.stores.fuseki import FusekiStore
from mrag.stores.http import Access
from mrag.stores.sparql import DEFAULT
from tests.cases import beside
from tests.fuseki_server import UNNAMED, fuseki_server
from tests.servers import oxigraph_server, virtuoso_server

DATA = beside(__file__, "car.ru")
UNNAMED_DATA = DATA.replace("GRAPH <urn:mine> {", "").replace("} }", "}")


@pytest.fixture(scope="module")
def oxigraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with oxigraph_server(tmp_path_factory.mktemp("found"), memory=True) as url:
        yield url


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.index.backends.base.user_data_path", lambda name: tmp_path / name)


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
