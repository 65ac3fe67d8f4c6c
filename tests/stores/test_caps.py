"""Servers that cut answers, or end them in time, without a word: nothing is lost or made up."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs

import pyoxigraph as ox
import pytest

import mrag
from mrag.errors import EndpointError, QueryTimeout
from mrag.graph.connection import open_store
from mrag.stores.base import Dataset, Limits
from mrag.stores.sparql import DEFAULT
from tests.commands import run
from tests.conftest import opened
from tests.java_servers import graphdb_repository, graphdb_server
from tests.servers import Quiet, answering, virtuoso_server

ROOT = Path(__file__).parents[2]
D = Dataset((DEFAULT,))
ROWS = "SELECT ?s ?o { ?s <urn:p> ?o }"
ENDLESS = " . ".join(f"?a{n} ?b{n} ?c{n}" for n in range(6))


def numbered(count: int) -> bytes:
    return b"".join(b'<urn:s%d> <urn:p> "%d" .\n' % (i, i % 7) for i in range(count))


@contextmanager
def cutting(most: int, triples: int) -> Iterator[str]:
    """Give the URL of a server that answers with no more than some rows, and says nothing of it."""
    data = ox.Store()
    data.load(numbered(triples), ox.RdfFormat.N_TRIPLES)

    class Cutting(Quiet):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            found = data.query(parse_qs(self.body().decode())["query"][0])
            if isinstance(found, ox.QueryTriples):
                lines = [f"{t} .\n" for t in found][:most]
                return self.answer(200, "".join(lines).encode(), "application/n-triples")
            told = json.loads(found.serialize(format=ox.QueryResultsFormat.JSON))  # type: ignore[union-attr, arg-type]
            if "results" in told:
                del told["results"]["bindings"][most:]
            self.answer(200, json.dumps(told).encode(), "application/sparql-results+json")

    with answering(Cutting) as at:
        yield f"sparql:http://{at}/sparql"


def whole(url: str, count: int) -> None:
    """Check that answers of a store with so many triples are whole, or none."""
    store, _ = open_store(url)
    wanted = sorted((f"urn:s{i}", str(i % 7)) for i in range(count))
    with store:
        for text in (ROWS, f"{ROWS} ORDER BY DESC(?o)", f"{ROWS} LIMIT {count - 1}"):
            for rows in (store.select(text, D), store.bounded(text, D, Limits())):
                found = sorted((str(s), str(o)) for s, o in rows)  # type: ignore[misc, union-attr]
                assert set(found) <= set(wanted) and len(set(found)) == count - ("LIMIT" in text)
        assert [str(n) for (n,) in store.select("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", D)] == [str(count)]
        assert store.ask("ASK { ?s <urn:p> '3' }", D)


@pytest.mark.parametrize(("most", "count"), [(1, 4), (7, 7), (7, 50), (1000, 2500), (10_000, 10_050)])
def test_a_server_that_cuts_without_a_word_is_found_out(most: int, count: int) -> None:
    with cutting(most, count) as url:
        whole(url, count)
        store, _ = open_store(url)
        with store, pytest.raises(EndpointError, match=f"cuts answers at {most} rows"):
            list(store.construct("CONSTRUCT WHERE { ?s ?p ?o }", D))


def test_a_limit_beyond_what_was_asked_first_is_found_when_answers_grow() -> None:
    with cutting(10_500, 11_000) as url:
        whole(url, 11_000)


def test_doctor_says_where_answers_end(tmp_path: Path) -> None:
    with cutting(7, 50) as url:
        shown = run("doctor", url, cwd=tmp_path).stdout
    assert "the server cuts them at 7 rows" in shown


graphdb = opened(lambda folder: graphdb_server(folder))


@pytest.mark.slow
@pytest.mark.parametrize(("most", "count"), [(1, 4), (7, 50), (100, 100), (1000, 2500), (10_000, 10_050)])
def test_graphdb_s_limit_of_rows(graphdb: str, most: int, count: int) -> None:
    with graphdb_repository(graphdb, f"cut{most}", query_limit_results=str(most)) as url:
        store, _ = open_store(url)
        with store:
            store.insert(numbered(count), "urn:g")
            assert store.caps().rows == most  # type: ignore[attr-defined]
        whole(url, count)


@pytest.mark.slow
def test_an_index_and_an_answer_beyond_graphdb_s_limit(graphdb: str) -> None:
    with graphdb_repository(graphdb, "kg", query_limit_results="100") as url, mrag.connect(url) as kg:
        kg.load([ROOT / "ontology" / "products.ttl"])
        with mrag.connect() as other:
            other.load([ROOT / "ontology" / "products.ttl"])
            question = "Which products weigh more than 1 kg?"
            here, there = (mrag.ask(one, question, model="none", how="plan") for one in (kg, other))
        assert here.text == there.text


@pytest.mark.slow
def test_graphdb_s_deadline_without_an_error(graphdb: str) -> None:
    with graphdb_repository(graphdb, "hurried", query_timeout="1") as url:
        store, _ = open_store(url)
        with store:
            store.insert(numbered(2000), "urn:g")
            assert store.caps().seconds == 1  # type: ignore[attr-defined]
            for ask in (
                lambda: store.select(f"SELECT (COUNT(*) AS ?n) {{ {ENDLESS} }}", D),
                lambda: store.ask(f"ASK {{ {ENDLESS} FILTER(?c1 = ?c2 && ?c1 != ?c2) }}", D),
                lambda: list(store.construct(f"CONSTRUCT {{ ?a1 <urn:q> 1 }} {{ {ENDLESS} }}", D)),
            ):
                with pytest.raises(QueryTimeout, match="after 1 s"):
                    ask()
            assert len(store.select(ROWS, D)) == 2000


@pytest.mark.slow
def test_virtuoso_s_limit_over_the_plain_protocol(tmp_path: Path) -> None:
    with virtuoso_server(tmp_path, most_rows=1000) as url:
        place = url.removeprefix("virtuoso:")
        store, _ = open_store(f"sparql:{place}/sparql")
        with store:
            named = "SELECT ?s ?p ?o { ?s ?p ?o }"
            total = [str(n) for (n,) in store.select("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", D)]
            assert [str(len(store.select(named, D)))] == total
            with pytest.raises(EndpointError, match="cuts answers at 1000"):
                list(store.construct("CONSTRUCT WHERE { ?s ?p ?o }", D))
