"""Updates over HTTP: what they change, what they leave, and what they may not touch."""

import time
from pathlib import Path

import pytest
from rdflib import RDFS, URIRef

import mrag
from mrag.cel.concepts import keep_concept
from mrag.graph.updates import update
from mrag.index.documents import Definition, documents
from mrag.index.similarity import SimilarityIndexes, freshen
from mrag.rdf.expressions import Named
from mrag.rdf.terms import Triple
from mrag.reasoning.run import reason
from tests.cases import cases
from tests.server.conftest import Running, running

ALL = "SELECT ?s ?p ?o { ?s ?p ?o } ORDER BY ?s ?p ?o"


def objects(server: Running, query: str = ALL) -> list[str]:
    return [row["o"] for row in server.select(query)]


def test_named_graphs_are_part_of_the_default_graph_once(anywhere: Running) -> None:
    reply = anywhere.update(
        "INSERT DATA { <urn:a> <urn:b> 1 . GRAPH <urn:g> { <urn:a> <urn:b> 1, 2 } "
        "GRAPH <urn:h> { <urn:a> <urn:b> 2, 3 } }"
    )
    assert (reply.headers["mrag-added"], reply.headers["mrag-removed"]) == ("5", "0")
    assert objects(anywhere) == ["1", "2", "3"]
    named = "SELECT ?g ?o { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g ?o"
    assert [(r["g"], r["o"]) for r in anywhere.select(named)] == [
        ("urn:g", "1"), ("urn:g", "2"), ("urn:h", "2"), ("urn:h", "3"),
    ]  # fmt: skip
    merged = objects(anywhere, "SELECT DISTINCT ?o FROM <urn:g> FROM <urn:h> { ?s ?p ?o } ORDER BY ?o")
    assert merged == ["1", "2", "3"]
    if anywhere.engine.remote is None:
        # Oxigraph's own server gives a triple of two such graphs twice.
        assert objects(anywhere, "SELECT ?o FROM <urn:g> FROM <urn:h> { ?s ?p ?o } ORDER BY ?o") == merged
    anywhere.update("DROP GRAPH <urn:h>")
    assert objects(anywhere) == ["1", "2"]
    anywhere.update("DELETE DATA { <urn:a> <urn:b> 1 }")
    assert objects(anywhere) == ["2"]
    assert anywhere.kg.record.contexts == ("urn:g",)
    assert anywhere.kg.record.triples == anywhere.kg.count() == 1


def test_an_update_is_whole_or_not_at_all(anywhere: Running) -> None:
    anywhere.update("INSERT DATA { <urn:a> <urn:b> 1 }")
    text = "DELETE WHERE { ?s ?p ?o } ; INSERT DATA { GRAPH <urn:mrag:system> { <urn:a> <urn:b> 2 } }"
    reply = anywhere.client.post("/update", data={"update": text})
    assert reply.status_code == 400
    assert "kept for mrag" in reply.json()["error"]
    assert objects(anywhere) == ["1"]


def test_no_update_makes_a_similarity_index(anywhere: Running) -> None:
    """As GraphDB's documentation has one made; its triples would only lie about."""
    sim = "http://www.ontotext.com/graphdb/similarity/"
    text = f"""PREFIX : <{sim}> PREFIX inst: <{sim}instance/>
        INSERT {{ inst:main :createIndex "-termweight idf" . _:d :documentText ?x }} WHERE {{ ?s ?p ?x }}"""
    anywhere.update("INSERT DATA { <urn:a> <urn:b> 1 }")
    reply = anywhere.client.post("/update", data={"update": text})
    assert reply.status_code == 400 and "mrag index" in reply.json()["error"]
    assert objects(anywhere) == ["1"]


def test_operations_see_those_before_them(anywhere: Running) -> None:
    anywhere.update(
        """INSERT DATA { <urn:a> <urn:n> 1 } ;
        DELETE { ?s <urn:n> ?n } INSERT { ?s <urn:n> ?m . ?s <urn:was> [ <urn:value> ?n ] }
        WHERE { ?s <urn:n> ?n BIND (?n + 1 AS ?m) } ;
        INSERT { GRAPH ?g { ?s <urn:seen> ?n } } WHERE { ?s <urn:n> ?n BIND (<urn:log> AS ?g) }"""
    )
    assert objects(anywhere, "SELECT ?o { <urn:a> <urn:n> ?o }") == ["2"]
    assert objects(anywhere, "SELECT ?o { <urn:a> <urn:was>/<urn:value> ?o }") == ["1"]
    assert objects(anywhere, "SELECT ?o { GRAPH <urn:log> { ?s ?p ?o } }") == ["2"]
    assert len(objects(anywhere, "SELECT ?o { ?o <urn:value> 1 FILTER (isIRI(?o)) }")) == 1


@pytest.mark.parametrize("text", cases(__file__, "what_is_not_allowed_is_refused"))
def test_what_is_not_allowed_is_refused(anywhere: Running, text: str) -> None:
    before = anywhere.kg.record
    reply = anywhere.client.post("/update", data={"update": text})
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]
    assert anywhere.kg.record == before


def test_graphs_of_another_knowledge_graph_are_out_of_reach(tmp_path: Path) -> None:
    url = f"oxigraph:{tmp_path / 'store'}"
    with mrag.connect(url, "one") as one, running(one, update=True) as server:
        server.update("INSERT DATA { <urn:a> <urn:b> 1 . GRAPH <urn:g> { <urn:a> <urn:b> 2 } }")
    with mrag.connect(url, "two") as two, running(two, update=True) as server:
        assert objects(server) == []
        assert server.select("SELECT * { GRAPH ?g { ?s ?p ?o } }") == []
        text = "INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:b> 3 } }"
        reply = server.client.post("/update", data={"update": text})
        assert reply.status_code == 400
        assert "another knowledge graph" in reply.json()["error"]
        assert server.client.get("/graphs", params={"graph": "urn:g"}).status_code == 404
    with mrag.connect(url, "one") as one:
        assert one.record.contexts == ("urn:g",)
        assert len(one.query("SELECT * { ?s ?p ?o }")) == 2  # type: ignore[arg-type]


def current(server: Running) -> None:
    """Wait until what was inferred belongs to the triples."""
    for _ in range(600):
        if server.client.get("/sparql", params={"query": "ASK {}"}).headers["x-mrag-inference"] == "current":
            return
        time.sleep(0.05)
    raise AssertionError("the inferences never became current")


def test_inferences_follow_updates_and_replies_say_when_they_have_not_yet() -> None:
    car, part = URIRef("urn:car"), URIRef("urn:Part")
    wheel = "ASK { <urn:wheel> a <urn:Part> }"
    with mrag.connect() as kg:
        kg.insert(
            [
                Triple(URIRef("urn:hasPart"), RDFS.range, part),
                Triple(car, URIRef("urn:hasPart"), URIRef("urn:wheel")),
            ]
        )
        with running(kg, update=True) as server:
            assert server.client.get("/health").headers["x-mrag-inference"] == "none"
            server.update("INSERT DATA { <urn:car> <urn:hasPart> <urn:mirror> }")
            assert not kg.reasoned
        reason(kg)
        with running(kg, update=True) as server:
            added = server.update(
                "INSERT DATA { <urn:car> <urn:hasPart> <urn:door> . <urn:wheel> a <urn:Part> }"
            )
            assert added.headers["mrag-inferred"] == "kept"
            current(server)
            assert objects(server, "SELECT ?o { <urn:door> a ?o }") == ["urn:Part"]
            gone = server.update(
                "DELETE DATA { <urn:wheel> a <urn:Part> . <urn:car> <urn:hasPart> <urn:door> }"
            )
            assert gone.headers["mrag-inferred"] == "pending"
            current(server)
            # Still a part, because it is asserted to be one of the car.
            assert objects(server, "SELECT ?o { <urn:wheel> a ?o }") == ["urn:Part"]
            assert objects(server, "SELECT ?o { <urn:door> a ?o }") == []
            # A change of the ontology, after which everything is inferred anew.
            server.update(
                "DELETE DATA { <urn:hasPart> <http://www.w3.org/2000/01/rdf-schema#range> <urn:Part> }"
            )
            current(server)
            assert objects(server, "SELECT ?o { <urn:wheel> a ?o }") == []
        assert kg.reasoned and not kg.query(wheel)


def test_a_server_takes_up_what_was_left_pending() -> None:
    with mrag.connect() as kg:
        kg.insert([Triple(URIRef("urn:p"), RDFS.range, URIRef("urn:C"))])
        kg.insert([Triple(URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:b"))])
        reason(kg)
        update(kg, "DELETE DATA { <urn:a> <urn:p> <urn:b> }")
        assert kg.pending
        with running(kg) as server:
            assert server.client.get("/api/about").json()["pending"] is True
            assert server.client.get("/health").headers["x-mrag-inference"] == "pending"
        with running(kg, update=True) as server:
            current(server)
            assert objects(server, "SELECT ?o { <urn:b> a ?o }") == []


def test_a_slow_update_is_ended_and_changes_nothing(anywhere: Running) -> None:
    many = " ".join(f"<urn:s{i}> <urn:p> {i} ." for i in range(200))
    anywhere.update(f"INSERT DATA {{ {many} }}")
    before = anywhere.kg.record
    text = f"INSERT {{ <urn:a> <urn:b> ?n }} WHERE {{ SELECT (COUNT(*) AS ?n) {{ {SLOW} }} }}"
    reply = anywhere.client.post("/update", data={"update": text, "timeout": "1"})
    assert reply.status_code == 503
    assert anywhere.kg.record == before
    assert anywhere.update("INSERT DATA { <urn:a> <urn:b> 1 }").headers["mrag-added"] == "1"


SLOW = " ".join(f"?a{i} ?b{i} ?c{i} ." for i in range(8))


def test_loads_of_mrag_and_updates_go_together(tmp_path: Path) -> None:
    file = tmp_path / "a.ttl"
    file.write_text("<urn:a> <urn:b> 1, 2, 5 .")
    with mrag.connect() as kg, running(kg, update=True) as server:
        server.update("INSERT DATA { <urn:a> <urn:b> 1 . GRAPH <urn:g> { <urn:a> <urn:b> 2, 3 } }")
        kg.load([file])
        assert objects(server) == ["1", "2", "3", "5"]
        assert kg.record.triples == kg.count() == 4
        server.update("DROP GRAPH <urn:g>")
        assert objects(server) == ["1", "2", "5"]
        kg.clear()
        assert objects(server) == []


def test_values_that_are_equal_are_one(anywhere: Running) -> None:
    anywhere.update('INSERT DATA { <urn:a> <urn:b> "2E-1"^^xsd:double, 1.50 }')
    anywhere.update(
        'DELETE DATA { <urn:a> <urn:b> 0.2e0 } ; INSERT DATA { <urn:a> <urn:b> "0.20"^^xsd:double }'
    )
    assert len(objects(anywhere)) == 2
    anywhere.update("DELETE DATA { <urn:a> <urn:b> 1.5 }")
    assert len(objects(anywhere)) == 1


def test_a_similarity_index_says_that_it_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    with mrag.connect() as kg, running(kg, update=True) as server:
        server.update(
            'INSERT DATA { <urn:a> rdfs:label "A red dress"@en . <urn:b> rdfs:label "A blue hat"@en }'
        )
        select = "SELECT ?documentID ?documentText { ?documentID rdfs:label ?documentText }"
        monkeypatch.setenv("MRAG_EMBEDDER", "none")
        body = {"name": "idx", "type": "text", "selectQuery": select}
        assert server.client.post("/rest/similarity", json=body).status_code == 201
        assert server.client.post("/rest/similarity", json=body).status_code == 409
        (found,) = server.client.get("/rest/similarity").json()
        assert (found["name"], found["status"], found["selectQuery"]) == ("idx", "BUILT", select)
        query = """PREFIX : <http://www.ontotext.com/graphdb/similarity/>
            PREFIX inst: <http://www.ontotext.com/graphdb/similarity/instance/>
            SELECT ?o { ?search a inst:idx ; :searchTerm "dress" ; :documentResult ?r . ?r :value ?o }"""
        assert objects(server, query)[0] == "urn:a"
        server.update('INSERT DATA { <urn:c> rdfs:label "A long dress for the evening, a dress"@en }')
        assert server.client.get("/rest/similarity").json()[0]["status"] == "OUTDATED"
        assert server.client.put("/rest/similarity", json={"name": "idx"}).status_code == 200
        assert server.client.get("/rest/similarity").json()[0]["status"] == "BUILT"
        assert "urn:c" in objects(server, query)
        assert server.client.delete("/rest/similarity?name=idx").status_code == 200
        assert server.client.get("/rest/similarity").json() == []


def test_the_index_follows_a_kept_class_without_reading_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.index.similarity._TRIPLES", 0)
    with mrag.demo(model="none") as kg:
        product = Named("https://w3id.org/mrag/demo/products#TripleStore")
        keep_concept(kg, product, "stores of triples")
        kg.reason()
        assert SimilarityIndexes.of(kg).info().stale
        assert freshen(kg) is None and not SimilarityIndexes.of(kg).info().stale
        assert kg.search("stores of triples")[0].iri == "urn:mrag:concept:stores-of-triples"
        files = SimilarityIndexes.of(kg).get(quiet=True).files
        assert not files.differing(documents(kg, Definition(languages=kg.languages)))
