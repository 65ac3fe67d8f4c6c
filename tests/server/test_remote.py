"""A graph in a store that is a server: its queries and its updates."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rdflib import Literal, URIRef

import mrag
from mrag.errors import QueryRefused
from mrag.graph.updates import update
from mrag.rdf.terms import Triple
from tests.conftest import opened, slow
from tests.server.conftest import Running, load_demo, running
from tests.servers import oxigraph_server, server_of

FOUND = """
<urn:a> <urn:n> 1 . <urn:b> <urn:n> 2 .
GRAPH <urn:g> { <urn:c> <urn:n> 3 }
"""


@pytest.fixture(scope="module", params=["oxigraph", *slow("fuseki", "virtuoso")])
def anyone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server in front of another one, which holds the demo graph."""
    with server_of(request.param, tmp_path_factory.mktemp(request.param)) as url, mrag.connect(url) as kg:
        load_demo(kg)
        with running(kg, update=True, model="none", seconds=30.0) as found:
            yield found


def test_answers_are_those_of_an_embedded_store(anyone: Running, server: Running) -> None:
    query = """SELECT ?vendor (COUNT(?x) AS ?n) { ?x ex:developedBy ?vendor }
               GROUP BY ?vendor HAVING (COUNT(?x) > 1) ORDER BY STR(?vendor)"""
    assert anyone.select(query) == server.select(query) != []
    inferred = "SELECT (COUNT(*) AS ?n) FROM onto:implicit { ?s ?p ?o }"
    assert anyone.select(inferred) == server.select(inferred)
    for name in ("$x", "$y"):
        params = {"query": "SELECT ?y { ?x ex:developedBy ?y } ORDER BY STR(?y)", name: "ex:none"}
        params[name] = f"<{server.kg.prefixes['ex']}{'GraphDB' if name == '$x' else 'Ontotext'}>"
        replies = [one.client.get("/repositories/main", params=params).json() for one in (anyone, server)]
        assert replies[0] == replies[1]
        assert replies[0]["results"]["bindings"]


def test_questions_and_pages_work(anyone: Running, server: Running) -> None:
    question = {"question": "How many triple stores are there?", "how": "plan"}
    texts = [one.client.post("/api/ask", json=question).text for one in (anyone, server)]
    assert texts[0].splitlines()[0] == texts[1].splitlines()[0]
    assert "11 triple stores" in texts[0]
    entity = {"iri": "ex:GraphDB"}
    heads = [one.client.get("/api/entity", params=entity).json()["label"] for one in (anyone, server)]
    assert heads == ["GraphDB", "GraphDB"]
    assert anyone.client.get("/health").json() == {"status": "ok"}


def test_statements_are_added_read_and_removed(anyone: Running) -> None:
    size = int(anyone.client.get("/repositories/main/size").text)
    path = "/repositories/main/statements"
    body = '<urn:x> <urn:p> "a\\nb"@en , 7 . <urn:y> <urn:p> <urn:x> .'
    reply = anyone.client.post(path, content=body, headers={"Content-Type": "text/turtle"})
    assert (reply.status_code, reply.headers["mrag-added"]) == (204, "3")
    accept = {"Accept": "application/n-triples"}
    found = anyone.client.get(path, params={"subj": "<urn:x>"}, headers=accept).text
    assert sorted(found.split("\n"))[1].startswith('<urn:x> <urn:p> "7"^^') and '"a\\nb"@en' in found
    assert anyone.client.get(path, params={"subj": "_:x"}, headers=accept).text == ""
    begun = anyone.client.post("/repositories/main/transactions").headers["location"]
    for action, text in (("DELETE", "<urn:y> <urn:p> <urn:x> ."), ("ADD", "<urn:z> <urn:p> 1 .")):
        headers = {"Content-Type": "text/turtle"}
        assert anyone.client.put(begun, params={"action": action}, content=text, headers=headers).is_success
    assert anyone.client.put(begun, params={"action": "COMMIT"}).status_code == 200
    assert [row["s"] for row in anyone.select("SELECT DISTINCT ?s { ?s <urn:p> ?o } ORDER BY STR(?s)")] == [
        "urn:x",
        "urn:z",
    ]
    anyone.update("DELETE { ?s <urn:p> ?o } WHERE { ?s <urn:p> ?o }")
    assert int(anyone.client.get("/repositories/main/size").text) == size


def test_inferences_follow_an_update(anyone: Running) -> None:
    query = "SELECT ?x { ?x a ex:Database FILTER (?x = <urn:new>) }"
    anyone.update("INSERT DATA { <urn:new> a ex:TripleStore }")
    until = time.monotonic() + 60
    while not anyone.select(query):
        assert time.monotonic() < until
        time.sleep(0.1)
    anyone.update("DELETE DATA { <urn:new> a ex:TripleStore }")
    while anyone.select(query):
        assert time.monotonic() < until
        time.sleep(0.1)


def test_what_another_process_writes_is_seen(tmp_path: Path) -> None:
    with (
        oxigraph_server(tmp_path, memory=True) as url,
        mrag.connect(url) as kg,
        running(kg) as served,
        mrag.connect(url) as other,
    ):
        count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
        assert served.select(count) == [{"n": "0"}]
        for number in (1, 2, 3):
            other.insert([Triple(URIRef(f"urn:{number}"), URIRef("urn:p"), Literal(number))])
            assert served.select(count) == [{"n": str(number)}]
        other.clear()
        other.insert([Triple(URIRef("urn:9"), URIRef("urn:p"), Literal(9))])
        # The graph that the server knew of is gone; an answer from it would be a wrong one.
        assert served.select("SELECT ?o { ?s ?p ?o }") == [{"o": "9"}]


def test_data_that_mrag_did_not_load_is_served_as_it_is(tmp_path: Path) -> None:
    with oxigraph_server(tmp_path, memory=True) as url:
        address = url.partition("update=")[2].partition("&")[0]
        requests.post(address, data={"update": f"INSERT DATA {{ {FOUND} }}"}, timeout=30).raise_for_status()
        with mrag.connect(url) as kg, running(kg, update=True) as served:
            assert [r["o"] for r in served.select("SELECT ?o { ?s ?p ?o } ORDER BY ?o")] == ["1", "2"]
            assert served.select("SELECT ?o { GRAPH <urn:g> { ?s ?p ?o } }") == [{"o": "3"}]
            assert served.select("SELECT ?o FROM <urn:g> { ?s ?p ?o }") == [{"o": "3"}]
            reply = served.client.get("/repositories/main/contexts")
            assert [r["contextID"]["value"] for r in reply.json()["results"]["bindings"]] == ["urn:g"]
            quads = served.client.get(
                "/repositories/main/statements", headers={"Accept": "application/n-quads"}
            )
            assert len(quads.text.splitlines()) == 3 and "<urn:g>" in quads.text
            refused = served.client.post("/update", data={"update": "INSERT DATA { <urn:a> <urn:b> 1 }"})
            assert refused.status_code == 400 and "read only" in refused.text


_IRIS = st.sampled_from(["<urn:a>", "<urn:b>", "<urn:c>"])
_OBJECTS = st.sampled_from(["<urn:a>", "1", '"x"@en', '"1"'])
_TRIPLES = st.builds("{} {} {} .".format, _IRIS, _IRIS, _OBJECTS)
_GRAPHS = st.sampled_from(["", "<urn:g>", "<urn:h>"])


def _in(graph: str, text: str) -> str:
    return f"{{ GRAPH {graph} {{ {text} }} }}" if graph else f"{{ {text} }}"


_DATA = st.builds(
    lambda verb, graph, parts: f"{verb} DATA {_in(graph, ' '.join(parts))}",
    st.sampled_from(["INSERT", "DELETE"]),
    _GRAPHS,
    st.lists(_TRIPLES, min_size=1, max_size=4),
)
_MODIFY = st.builds(
    lambda graph, s, o: (
        f"DELETE {_in(graph, f'{s} ?p ?o')} INSERT {_in(graph, f'{s} ?p {o}')} "
        f"WHERE {_in(graph, f'{s} ?p ?o')}"
    ),
    _GRAPHS,
    _IRIS,
    _OBJECTS,
)
_WHOLE = st.sampled_from(
    ["CLEAR DEFAULT", "DROP GRAPH <urn:g>", "CLEAR NAMED", "COPY SILENT <urn:g> TO <urn:h>"]
)
_REQUESTS = st.lists(
    st.lists(st.one_of(_DATA, _MODIFY, _WHOLE), min_size=1, max_size=3).map(" ; ".join), max_size=5
)


twin = opened(lambda folder: oxigraph_server(folder, memory=True))


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(requests_=_REQUESTS)
@example(  # what only a named graph holds is in the default graph too
    requests_=[
        "INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:p> <urn:b> } }",
        "DELETE { <urn:a> ?p ?o } INSERT { <urn:a> ?p <urn:c> } WHERE { <urn:a> ?p ?o }",
    ]
)
def test_updates_come_to_the_same_as_in_an_embedded_store(twin: str, requests_: list[str]) -> None:
    with mrag.connect() as here, mrag.connect(twin) as there:
        there.clear()
        for text in requests_:
            reports = [update(kg, text) for kg in (here, there)]
            assert (reports[0].added, reports[0].removed) == (reports[1].added, reports[1].removed), text
            # `select` reads without a worker, of which every change needs a new one.
            contents = [
                sorted(str(t) for t in kg.select("SELECT ?s ?p ?o { ?s ?p ?o }").rows) for kg in (here, there)
            ]
            assert contents[0] == contents[1], text
            assert here.record.contexts == there.record.contexts
            assert here.record.triples == there.record.triples == len(contents[0])
        there.clear()


def test_a_later_where_reads_changes_of_small_graphs_only(twin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "INSERT DATA { <urn:a> <urn:n> 1 } ; INSERT { ?s <urn:m> ?n } WHERE { ?s <urn:n> ?n }"
    with mrag.connect(twin) as kg:
        kg.clear()
        assert update(kg, text).added == 2
        monkeypatch.setattr("mrag.stores.remote._COPIED", 1)
        with pytest.raises(QueryRefused, match="requests of their own"):
            update(kg, "DELETE DATA { <urn:a> <urn:n> 1 } ; INSERT { ?s <urn:k> ?n } WHERE { ?s ?p ?n }")
        assert kg.record.triples == 2
