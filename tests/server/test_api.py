"""The JSON API over real HTTP: what it answers, what it refuses, and what it never does."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.retrieval.answering import verify
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.server.conftest import Running, running
from tests.server.serving import talking

EX = "https://w3id.org/mrag/demo/products#"
QUESTION = "What database products are linked to RDF?"
DEPICTION = URIRef("http://xmlns.com/foaf/0.1/depiction")


@pytest.fixture
def kg(demo: KnowledgeGraph) -> KnowledgeGraph:
    return demo


@pytest.fixture
def api(server: Running) -> httpx.Client:
    return server.client


def asked(client: httpx.Client, **body: Any) -> list[dict[str, Any]]:
    with client.stream("POST", "/api/ask", json=body) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("application/x-ndjson")
        return [json.loads(line) for line in response.iter_lines()]


def error_of(response: httpx.Response) -> tuple[int, str]:
    error = response.json()
    assert error["error"]
    assert response.headers["cache-control"] == "no-store"
    return response.status_code, error.get("type", "")


def test_about_counts_the_graph(api: httpx.Client, kg: KnowledgeGraph) -> None:
    about = api.get("/api/about").json()
    assert about["triples"] == {"asserted": kg.count(), "inferred": kg.count("inferred")}
    assert about["prefixes"]["ex"] == EX
    assert about["indexes"][0]["name"] == "main" and not about["indexes"][0]["stale"]
    assert about["model"]["available"] is False
    assert about["token"] is False and about["update"] is False


def test_the_schema_has_classes_and_questions_that_can_be_answered(api: httpx.Client) -> None:
    overview = api.get("/api/schema").json()
    classes = {c["label"]: c["instances"] for c in overview["classes"]}
    assert classes["product"] > classes["triple store"] > 0
    assert not any(c["iri"].startswith("http://www.w3.org/2002/07/owl#") for c in overview["classes"])
    assert EX + "hasFeature" in {p["iri"] for p in overview["properties"]}
    for question in overview["examples"]:
        assert asked(api, question=question)[-1]["answer"]["citations"]


def test_examples_of_another_graph_name_its_entities() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(
            [
                Triple(URIRef("urn:x:a"), RDF.type, URIRef("urn:x:Moon")),
                Triple(URIRef("urn:x:a"), RDFS.label, Literal("Io")),
            ]
        )
        with running(kg) as server:
            assert server.client.get("/api/schema").json()["examples"] == ["What is Io?"]


def test_an_answer_comes_as_it_is_written_and_whole_at_the_end(api: httpx.Client, kg: KnowledgeGraph) -> None:
    events = asked(api, question=QUESTION, how="read")
    kinds = [e["event"] for e in events]
    assert kinds[0] == "found" and kinds[-1] == "answer" and set(kinds[1:-1]) == {"text"}
    assert [h["rank"] for h in events[0]["hits"]] == list(range(1, 11))
    assert all(h["label"] and h["reasons"] for h in events[0]["hits"])
    answer = events[-1]["answer"]
    assert "".join(e["text"] for e in events if e["event"] == "text") == answer["text"]
    assert answer["model"] is None and "No language model" in answer["notice"]
    assert {c["status"] for c in answer["citations"]} == {"asserted", "inferred"}
    for citation in answer["citations"]:
        assert citation["inferred"] == (citation["status"] == "inferred")
        assert citation["graph"] and len(citation["labels"]) == 3
    assert verify(kg, answer).ok and Answer.from_json(answer).question == QUESTION


def test_a_computed_answer_says_what_it_computed(api: httpx.Client, kg: KnowledgeGraph) -> None:
    events = asked(api, question="How many triple stores are there?")
    assert [e["event"] for e in events] == ["text", "answer"]
    answer = events[-1]["answer"]
    assert (answer["way"], answer["reading"]) == ("plan", "the number of triple stores")
    assert [[cell["value"] for cell in row] for row in answer["rows"]] == [["11"]]
    assert events[0]["text"] == answer["text"] and answer["why"] and answer["confidence"] > 0.5
    assert len(answer["citations"]) == 11 and {c["status"] for c in answer["citations"]} == {"asserted"}
    # What it is a picture of is what its triples have in common.
    assert events[-1]["pictures"][0]["nodes"][0]["label"] == "triple store"
    assert verify(kg, answer).ok and Answer.from_json(answer).to_json()["rows"] == answer["rows"]
    # The query may be sent as it is.
    rows = api.post("/sparql", data={"query": answer["query"]}).json()["results"]["bindings"]
    assert [[cell["value"] for cell in row.values()] for row in rows] == [["11"]]


def test_another_reading_and_another_way_can_be_asked_for(api: httpx.Client, kg: KnowledgeGraph) -> None:
    question = "How many vendors are there per country?"
    first = asked(api, question=question)[-1]["answer"]
    assert first["readings"]
    for other in first["readings"]:
        answer = asked(api, question=question, reading=other["number"])[-1]["answer"]
        assert answer["reading"] == other["reading"] != first["reading"]
        assert answer["rows"] != first["rows"] and verify(kg, answer).ok
        assert 1 in [reading["number"] for reading in answer["readings"]]
    assert asked(api, question=question, how="read")[-1]["answer"]["way"] == "read"
    refused = asked(api, question="How many employees does GraphDB have?", how="plan")[-1]
    assert refused["answer"]["way"] == "plan" and refused["answer"]["plan"] is None
    assert refused["answer"]["text"].startswith("Not in this graph: ") and refused["pictures"] == []
    late = api.post("/api/ask", json={"question": question, "reading": 99})
    assert error_of(late) == (400, "ConfigError") and "from 1 to" in late.json()["hint"]


def test_a_question_may_go_on_from_the_answer_before(api: httpx.Client, kg: KnowledgeGraph) -> None:
    first = asked(api, question="How many triple stores are there?")[-1]["answer"]
    follows = {"plan": first["plan"], "columns": first["columns"]}
    then = asked(api, question="which of them are commercial?", follows=follows)[-1]["answer"]
    assert then["why"].startswith("read as a follow-up") and len(then["rows"]) == 7 and verify(kg, then).ok
    alone = asked(api, question="How many databases are there?", follows=follows)[-1]["answer"]
    assert alone["why"].startswith("read as a question on its own")
    refused = asked(api, question="and of Mars?", follows=follows)[-1]["answer"]
    assert refused["plan"] is None and refused["text"].startswith("Not in this graph: ")


@pytest.mark.parametrize(
    "follows",
    [
        "SELECT * { ?s ?p ?o }", {"query": "ASK {}"}, {"plan": [], "columns": []},
        {"plan": {"where": {"patterns": [[{"unknown": "} DROP"}] * 3]}}, "columns": []},
        {"plan": {}, "columns": ["x"]},
        {"plan": {"where": {"patterns": [[{"type": "uri", "value": "urn:a b>"}] * 3]}}, "columns": []},
        {"plan": {"columns": [{"name": "n", "value": {"unknown": "n"}}]}, "columns": ["n"]},
    ],
)  # fmt: skip
def test_a_plan_from_a_client_is_checked_like_any_input(api: httpx.Client, follows: Any) -> None:
    response = api.post("/api/ask", json={"question": "how many?", "follows": follows})
    assert error_of(response) == (400, "ConfigError")


def test_what_keeps_a_thing_out_of_a_concept_is_said(api: httpx.Client) -> None:
    asked = {"concept": "ex:OpenSourceProduct", "iri": "ex:OracleDatabase"}
    found = api.get("/api/learn/why", params=asked).json()
    assert not found["holds"]
    assert found["reason"]["absent"] == ["Oracle Database is an open source product"]


def test_why_an_answer_was_read_is_said(api: httpx.Client) -> None:
    answer = asked(api, question="Which products are written in Java?")[-1]["answer"]
    assert answer["way"] == "read" and "“Java”" in answer["why"]


def test_pictures_show_what_the_lines_say(api: httpx.Client) -> None:
    last = asked(api, question="Which vendor develops GraphDB?", k=3)[-1]
    lines = {line["id"]: line for line in last["answer"]["context"]["lines"]}
    assert last["pictures"]
    for picture in last["pictures"]:
        nodes = [n["id"] for n in picture["nodes"]]
        assert nodes[0] == picture["centre"] and len(nodes) == len(set(nodes))
        for edge in picture["edges"]:
            assert edge["s"] in nodes and edge["o"] in nodes
            line = lines[edge["line"]]
            assert line["triple"]["p"]["value"] == edge["p"] and line["status"] == edge["status"]


def test_a_model_that_the_server_offers_may_be_left_out(api: httpx.Client) -> None:
    assert asked(api, question=QUESTION, model="none")[-1]["answer"]["model"] is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 30_000, 400), (json.dumps({"question": "x" * 2001}).encode(), 400),
        ('{"question": "x"}'.encode("utf-16"), 400), (b" " * 70_000, 413),
    ],
    ids=["nested", "long", "utf-16", "blank"],
)  # fmt: skip
def test_a_body_that_is_no_question_is_refused(api: httpx.Client, body: bytes, status: int) -> None:
    reply = api.post("/api/ask", content=body, headers={"content-type": "application/json"})
    assert error_of(reply)[0] == status


def test_a_form_of_another_site_cannot_ask(api: httpx.Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        response = api.post("/api/ask", content=b'{"question": "x"}', headers={"content-type": kind})
        assert error_of(response) == (415, "")


def test_without_an_index_one_is_told_to_build_it(kg: KnowledgeGraph) -> None:
    with running(kg, index="other") as server:
        # What is computed needs none.
        (*_, last) = asked(server.client, question="How many triple stores are there?")
        assert last["answer"]["way"] == "plan"
        response = server.client.post("/api/ask", json={"question": "x"})
        assert error_of(response) == (404, "MissingIndex")
        assert "mrag index" in response.json()["hint"]
        # An entity can be looked up all the same.
        found = server.client.get("/api/search", params={"q": "ex:GraphDB"}).json()
        assert found["hits"][0]["label"] == "GraphDB"
        # Names are found without an index, words in texts are not.
        found = server.client.get("/api/search", params={"q": "graphd"}).json()
        assert found["hits"][0]["label"] == "GraphDB" and found["hits"][0]["reasons"] == ["called GraphDB"]
        assert server.client.get("/api/search", params={"q": "qqqqqq"}).json()["hits"] == []
        asked_for = server.client.get("/api/search", params={"q": "words", "ranker": "bm25"})
        assert error_of(asked_for) == (404, "MissingIndex")
        (typed, *_) = server.client.get("/api/names", params={"q": "ama"}).json()
        assert typed["name"].startswith("Ama")


def test_a_model_that_cannot_be_had_is_named(kg: KnowledgeGraph) -> None:
    with running(kg, model="local:/no/such.gguf") as server:
        assert error_of(server.client.post("/api/ask", json={"question": "x"}))[1] == "ModelError"
        found = asked(server.client, question="Who develops GraphDB?", model="none", how="read")
        assert found[-1]["event"] == "answer"


@pytest.mark.parametrize("breaks", [False, True])
def test_text_arrives_while_a_model_still_writes(
    kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, breaks: bool
) -> None:
    with talking(monkeypatch, breaks=breaks) as go_on, running(kg, model="openai:m", seconds=30.0) as server:
        body = {"question": "Who develops GraphDB?", "how": "read"}
        with server.client.stream("POST", "/api/ask", json=body) as response:
            lines = response.iter_lines()
            assert json.loads(next(lines))["event"] == "found"
            # The model waits for the event below, so these can only have come before the whole.
            assert json.loads(next(lines)) == {"event": "text", "text": "GraphDB is developed "}
            assert json.loads(next(lines)) == {"event": "text", "text": "by Ontotext."}
            go_on.set()
            rest = [json.loads(line) for line in lines]
    answer = rest[-1]["answer"]
    assert answer["model"] == "m" and answer["citations"]
    assert ("Bulgaria" in answer["text"]) is not breaks


def test_search_finds_by_words_by_curie_and_by_iri(api: httpx.Client) -> None:
    by_words = api.get("/api/search", params={"q": "triple store with reasoning", "k": 5}).json()["hits"]
    assert len(by_words) == 5 and [h["rank"] for h in by_words] == [1, 2, 3, 4, 5]
    for q in ("ex:GraphDB", EX + "GraphDB", f"<{EX}GraphDB>"):
        first = api.get("/api/search", params={"q": q}).json()["hits"][0]
        assert first["iri"] == EX + "GraphDB" and first["reasons"] == ["its IRI was given"]


@pytest.mark.parametrize("text", cases(__file__, "what_is_typed_is_never_syntax"))
def test_what_is_typed_is_never_syntax(api: httpx.Client, kg: KnowledgeGraph, text: str) -> None:
    before = kg.count()
    response = api.get("/api/search", params={"q": text})
    assert response.status_code == 200 and response.json()["q"] == text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert asked(api, question=text)[-1]["answer"]["question"] == text
    assert error_of(api.get("/api/entity", params={"iri": f"urn:x> {text}"}))[0] in (400, 404)
    assert kg.count() == before


def test_an_entity_has_its_triples_both_ways(api: httpx.Client, kg: KnowledgeGraph) -> None:
    about = api.get("/api/entity", params={"iri": "ex:GraphDB"}).json()
    assert (about["label"], about["curie"], about["iri"]) == ("GraphDB", "ex:GraphDB", EX + "GraphDB")
    assert about["description"].startswith("A triple store that")
    assert {(t["label"], t["status"]) for t in about["types"]} >= {
        ("triple store", "asserted"),
        ("semantic product", "inferred"),
    }
    for way, at in (("out", "s"), ("in", "o")):
        rows = about[way]["triples"]
        assert rows and all(row["triple"][at]["value"] == EX + "GraphDB" for row in rows)
        assert {row["status"] for row in rows} == {"asserted", "inferred"}
        assert all(kg.is_inferred(row["graph"]) == (row["status"] == "inferred") for row in rows)
    both = "SELECT (COUNT(*) AS ?n) { { ex:GraphDB ?p ?o } UNION { ?s ?q ex:GraphDB } }"
    counted = kg.query(both)
    assert int(str(counted.rows[0][0])) == len(about["out"]["triples"]) + len(about["in"]["triples"])  # type: ignore[union-attr]


def test_two_hops_reach_further_than_one(api: httpx.Client) -> None:
    near, far = (
        api.get("/api/entity", params={"iri": "ex:GraphDB", "hops": hops}).json()["neighbourhood"]
        for hops in (1, 2)
    )
    assert {n["id"] for n in near["nodes"]} < {n["id"] for n in far["nodes"]}
    assert all(EX + "GraphDB" in (e["s"], e["o"]) for e in near["edges"])


def test_a_hub_is_cut_and_says_so() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(
            Triple(URIRef(f"urn:x:{n}"), URIRef("urn:x:contains"), URIRef("urn:x:hub")) for n in range(600)
        )
        with running(kg) as server:
            about = server.client.get("/api/entity", params={"iri": "urn:x:hub"}).json()
    assert len(about["in"]["triples"]) == 40 and about["in"]["more"] == ["contains"]


def test_a_proof_ends_in_asserted_triples(api: httpx.Client, kg: KnowledgeGraph) -> None:
    found = api.get(
        "/api/explain", params={"s": "ex:GraphDB", "p": "rdf:type", "o": "ex:SemanticProduct"}
    ).json()
    proof = found["proof"]
    assert proof["status"] == "inferred" and proof["rule"] == "cax-eqc2"
    assert "semantic product" in proof["axiom"]
    assert proof["labels"] == ["GraphDB", "is a", "semantic product"]

    def leaves(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if not tree["premises"]:
            yield tree
        for premise in tree["premises"]:
            yield from leaves(premise)

    for leaf in leaves(proof):
        assert leaf["status"] == "asserted"
        s, p, o = (URIRef(leaf["triple"][part]["value"]) for part in "spo")
        assert kg.holds(queries.get("context/holds").bind(s_p_o=[(s, p, o)]), "asserted")
    assert found["text"].startswith("GraphDB is a semantic product\n")


def test_a_stated_text_is_its_own_proof(api: httpx.Client) -> None:
    values = {"s": "ex:GraphDB", "p": "rdfs:label", "literal": "GraphDB", "lang": "en"}
    assert api.get("/api/explain", params=values).json()["proof"]["status"] == "asserted"
    assert error_of(api.get("/api/explain", params={**values, "lang": "de"})) == (404, "")


def test_the_catalogue_is_whole_and_says_what_runs(api: httpx.Client, kg: KnowledgeGraph) -> None:
    groups = api.get("/api/queries").json()
    found = {q["name"]: q for group in groups for q in group["queries"]}
    assert sorted(found) == queries.names()
    assert [g["folder"] for g in groups] == sorted(g["folder"] for g in groups)
    for name, query in found.items():
        assert query["text"] == queries.get(name).text and query["params"] == list(queries.get(name).params)
        assert query["runs"] or query["reason"]
    assert found["explore/classes"]["runs"] and not found["kg/registry"]["runs"]
    assert {name for name, query in found.items() if query["common"]} == set(queries.COMMON)
    assert all(found[name]["runs"] for name in queries.COMMON)
    for name in ("explore/classes", "context/out", "similarity/text"):
        kg.query(found[name]["text"])


def test_only_images_that_the_graph_names_are_served(tmp_path: Path) -> None:
    folder = tmp_path / "media"
    folder.mkdir()
    png = bytes.fromhex("89504e470d0a1a0a") + b"rest"
    (folder / "sub").mkdir()
    for name in ("a b.png", "sub/c.png", "unnamed.png", "drawn.svg", "notes.txt"):
        (folder / name).write_bytes(png)
    (tmp_path / "secret.png").write_bytes(png)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    entity = URIRef("urn:x:a")
    named = [
        Literal("sub/c.png"), URIRef((folder / "a b.png").as_uri()), Literal("../secret.png"),
        Literal("link.png"), Literal("drawn.svg"), Literal("missing.png"),
        URIRef((tmp_path / "secret.png").as_uri()), URIRef("file://elsewhere.example/a%20b.png"),
        Literal("notes.txt"), URIRef("http://images.example/web.jpg"), URIRef("javascript:alert(1)//x.png"),
        URIRef("data:text/html,x.png"),
    ]  # fmt: skip
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(Triple(entity, DEPICTION, value) for value in named)
        with running(kg, media=folder) as server:
            client = server.client
            images = client.get("/api/entity", params={"iri": entity}).json()["images"]
            served = [i for i in images if i["src"]]
            assert sorted(i["name"] for i in served) == ["a b.png", "c.png"]
            for image in served:
                response = client.get(image["src"])
                assert response.content == png and response.headers["content-type"] == "image/png"
                assert "default-src 'none'" in response.headers["content-security-policy"]
            assert [i["link"] for i in images if i["link"]] == ["http://images.example/web.jpg"]
            assert not any("alert" in i["name"] or i["name"].startswith("html") for i in images)
            for value in [str(v) for v in named if str(v) not in (str(named[0]), str(named[1]))] + [
                "unnamed.png"
            ]:
                response = client.get("/api/image", params={"entity": entity, "value": value})
                assert error_of(response)[0] == 404, value
        with running(kg) as server:
            images = server.client.get("/api/entity", params={"iri": entity}).json()["images"]
            assert not any(i["src"] for i in images)


def test_a_token_guards_every_route_of_the_api(kg: KnowledgeGraph) -> None:
    with running(kg, token="a-long-token") as server, httpx.Client(base_url=server.url) as client:
        paths = "about schema queries search?q=x entity?iri=ex:GraphDB explain image images images/page"
        for path in f"{paths} images/one?iri=urn:a images/thumbnail?iri=urn:a".split():
            for given in ({}, *({"authorization": x} for x in ("Bearer wrong-token", "Basic a-long-token"))):
                response = client.get(f"/api/{path}", headers=given)
                assert response.status_code == 401
                assert response.headers["www-authenticate"].startswith("Bearer")
        assert client.post("/api/ask", json={"question": "x"}).status_code == 401
        assert client.post("/api/images/search", json={"q": "x"}).status_code == 401
        given = {"authorization": "Bearer a-long-token"}
        assert client.get("/api/about", headers=given).json()["token"] is True
        # The page itself holds no data, and is where the token is typed.
        assert client.get("/").status_code == 200 and client.get("/page/main.js").status_code == 200


def test_a_change_is_seen_at_once() -> None:
    with mrag.demo(model="none") as kg, running(kg, update=True) as server:
        client = server.client
        before = client.get("/api/about").json()
        classes = len(client.get("/api/schema").json()["classes"])
        update = f"INSERT DATA {{ <{EX}New> a <urn:x:Novelty> ; <{RDFS.label}> 'Quite new' }}"
        assert client.post("/update", data={"update": update}).is_success
        after = client.get("/api/about").json()
        assert after["triples"]["asserted"] == before["triples"]["asserted"] + 2
        assert after["revision"] > before["revision"]
        assert client.get("/api/entity", params={"iri": "ex:New"}).json()["label"] == "Quite new"
        assert len(client.get("/api/schema").json()["classes"]) == classes + 1
        # The index is older than the graph now, and says so.
        assert before["indexes"][0]["stale"] is False and after["indexes"][0]["stale"] is True


def test_many_ask_at_once(api: httpx.Client) -> None:
    def one(n: int) -> str:
        question = (QUESTION, "Which vendor develops GraphDB?")[n % 2]
        return str(asked(api, question=question)[-1]["answer"]["text"])

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(16)))
    assert len(set(answers)) == 2 and len(set(answers[::2])) == 1


def test_a_reader_that_goes_away_leaves_the_server_well(api: httpx.Client) -> None:
    for _ in range(3):
        with api.stream("POST", "/api/ask", json={"question": QUESTION}) as response:
            next(response.iter_lines())
    assert asked(api, question=QUESTION)[-1]["event"] == "answer"


def test_the_page_is_served_with_its_rules(api: httpx.Client) -> None:
    for path in ("/", "/page/main.js", "/page/style.css", "/page/vendor/yasqe.min.js", "/page/icon.svg"):
        response = api.get(path)
        assert response.status_code == 200
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy
        assert "http:" not in policy and "https:" not in policy and "*" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
    for path in ("/page/../api.py", "/page/%2e%2e/api.py", "/page/..%2fapi.py", "/page/vendor/"):
        assert api.get(path).status_code == 404


def test_the_vendored_files_are_small_licensed_and_name_no_map() -> None:
    folder = Path(mrag.__file__).parent / "server" / "page" / "vendor"
    files = {f.name: f for f in folder.iterdir()}
    assert set(files) == {
        "LICENSES.txt", "README.md", "cytoscape.min.js", "yasqe.min.css", "yasqe.min.js"
    }  # fmt: skip
    assert sum(f.stat().st_size for f in files.values()) < 1_100_000
    assert "sourceMappingURL" not in "".join(f.read_text() for n, f in files.items() if n.endswith(".js"))
    licences = files["LICENSES.txt"].read_text()
    parts = "@zazuko/yasqe 4.6.2, cytoscape 3.34.4, codemirror, dompurify"
    for part in (*parts.split(", "), "lodash-es"):
        assert part in licences
