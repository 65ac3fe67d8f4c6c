"""Queries over HTTP: formats, parameters, pages, errors that say what is wrong, and malformed requests."""

import json
import os
import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.guard import read_gate
from mrag.rdf.slicing import slice_query
from tests.cases import cases
from tests.server.conftest import Running, running
from tests.server.test_serving import dial

ONE = "SELECT ?x ?y { VALUES (?x ?y) { (<urn:a> 'b, \"c\"'@en) (UNDEF 4) } }"
TRIPLE = "CONSTRUCT { <urn:a> <urn:b> 'c'@en } {}"
RESULTS = {
    "application/sparql-results+json": ox.QueryResultsFormat.JSON,
    "application/sparql-results+xml": ox.QueryResultsFormat.XML,
    "text/tab-separated-values": ox.QueryResultsFormat.TSV,
}
GRAPHS = {
    "text/turtle": ox.RdfFormat.TURTLE, "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/ld+json": ox.RdfFormat.JSON_LD, "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/n-quads": ox.RdfFormat.N_QUADS, "application/trig": ox.RdfFormat.TRIG,
}  # fmt: skip


@pytest.fixture
def server(either: Running) -> Running:
    return either


def get(server: Running, query: str, accept: str = "*/*", **params: str) -> httpx.Response:
    return server.client.get("/sparql", params={"query": query, **params}, headers={"Accept": accept})


@pytest.mark.parametrize("media", RESULTS)
def test_rows_come_in_each_format(server: Running, media: str) -> None:
    reply = get(server, ONE, media)
    assert reply.status_code == 200
    assert reply.headers["content-type"].partition(";")[0] == media
    rows = ox.parse_query_results(reply.content, format=RESULTS[media])
    assert not isinstance(rows, ox.QueryBoolean)
    found = [tuple(None if t is None else str(t) for t in row) for row in rows]
    four = '"4"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert found == [("<urn:a>", '"b, \\"c\\""@en'), (None, four)]


def test_rows_come_as_csv(server: Running) -> None:
    assert get(server, ONE, "text/csv").text == 'x,y\r\nurn:a,"b, ""c"""\r\n,4\r\n'


@pytest.mark.parametrize("media", GRAPHS)
def test_triples_come_in_each_format(server: Running, media: str) -> None:
    reply = get(server, TRIPLE, media)
    assert reply.headers["content-type"].partition(";")[0] == media
    (quad,) = ox.parse(reply.content, GRAPHS[media])
    assert str(quad.triple) == '<urn:a> <urn:b> "c"@en'


def test_the_heaviest_format_wins_and_unknown_ones_are_refused(server: Running) -> None:
    picked = get(server, "ASK {}", "text/csv;q=0.4, application/sparql-results+xml;q=0.9, */*;q=0.1")
    assert picked.headers["content-type"] == "application/sparql-results+xml"
    assert get(server, "ASK {}", "*/*").json() == {"head": {}, "boolean": True}
    refused = get(server, "ASK {}", "image/png")
    assert refused.status_code == 406
    assert "application/sparql-results+json" in refused.json()["error"]
    assert get(server, "ASK {}", "text/turtle").status_code == 406


def test_a_query_comes_by_get_form_and_body(server: Running) -> None:
    query = "SELECT (1 AS ?n) {}"
    form = server.client.post("/sparql", data={"query": query})
    body = server.client.post(
        "/sparql", content=query, headers={"Content-Type": "application/sparql-query; charset=utf-8"}
    )
    answers = {reply.text for reply in (get(server, query), form, body)}
    assert len(answers) == 1
    assert json.loads(answers.pop())["results"]["bindings"][0]["n"]["value"] == "1"


@pytest.mark.parametrize(
    ("query", "words"),
    [*cases(__file__, "REFUSED"), ("SELECT * { " + "{" * 500 + "}" * 500 + " }", "nested too deeply")],
)
def test_a_bad_query_is_refused_in_words(server: Running, query: str, words: str) -> None:
    reply = get(server, query)
    # What only the engine finds, a server in front of another hears from that one.
    assert reply.status_code == 400 or (server.engine.remote is not None and reply.status_code == 502)
    body = reply.json()
    assert words in f"{body['error']} {body.get('hint', '')}"
    assert server.client.get("/health").json() == {"status": "ok"}


def test_bad_requests_are_refused_in_words(server: Running) -> None:
    client = server.client
    assert client.get("/sparql", params={"queri": "ASK {}"}).status_code == 400
    assert client.get("/sparql?query=ASK%20%7B%7D&query=SELECT%20*%20%7B%7D").status_code == 400
    assert client.get("/sparql?query=%FF%FE").status_code == 400
    assert client.post("/sparql", content="ASK {}", headers={"Content-Type": "text/plain"}).status_code == 415
    assert client.post("/sparql", content="ASK {}").status_code == 415
    bad = client.post("/sparql", content=b"\xff", headers={"Content-Type": "application/sparql-query"})
    assert bad.status_code == 400
    assert "UTF-8" in bad.json()["error"]
    assert client.put("/sparql", content="ASK {}").status_code == 405
    assert client.get("/sparql", params={"query": "ASK {}", "timeout": "soon"}).status_code == 400
    assert client.get("/nothing").status_code == 404


def test_an_update_is_refused_where_updates_are_off(server: Running) -> None:
    for path in ("/update", "/sparql", "/repositories/main/statements"):
        reply = server.client.post(path, data={"update": "CLEAR ALL"})
        assert reply.status_code == 403
        assert "--update" in reply.json()["error"]
    assert server.client.put("/graphs?default", content="").status_code == 403
    assert server.client.delete("/repositories/main/statements").status_code == 403
    assert server.select("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")[0]["n"] != "0"


def test_head_and_options_are_answered(server: Running) -> None:
    head = server.client.head("/sparql", params={"query": "ASK {}"})
    assert (head.status_code, head.content) == (200, b"")
    options = server.client.options("/sparql")
    assert options.status_code == 204
    assert options.headers["allow"] == "GET, HEAD, OPTIONS, POST"


def test_a_result_over_the_caps_never_looks_whole(demo: KnowledgeGraph) -> None:
    with running(demo, max_rows=50, max_bytes=1 << 20) as server:
        small = get(server, "SELECT * { ?s ?p ?o } LIMIT 60")
        assert small.status_code == 400
        assert "50 rows" in small.json()["error"]
        assert get(server, "SELECT * { ?s ?p ?o } LIMIT 50").status_code == 200
        triples = get(server, "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }")
        assert triples.status_code == 400
    with running(demo, max_bytes=1 << 20) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            get(server, "SELECT * { ?s ?p ?o . ?a ?b ?c }", "text/csv")
        assert server.client.get("/health").json() == {"status": "ok"}


def test_layers_and_prefixes_work_as_in_graphdb(server: Running) -> None:
    all_, explicit, implicit = (
        int(server.select(f"SELECT (COUNT(*) AS ?n) {source} {{ ?s ?p ?o }}")[0]["n"])
        for source in ("", "FROM onto:explicit", "FROM onto:implicit")
    )
    assert explicit > 0 < implicit
    assert all_ == explicit + implicit
    query = {"query": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "infer": "false"}
    reply = server.client.get("/repositories/main", params=query)
    assert int(reply.json()["results"]["bindings"][0]["n"]["value"]) == explicit


def test_the_similarity_vocabulary_works(server: Running) -> None:
    rows = server.select(queries.get("similarity/text").text)
    assert rows
    assert {"documentID", "score"} <= rows[0].keys()


def test_random_answers_are_not_kept(server: Running) -> None:
    texts = {get(server, "SELECT (STRUUID() AS ?x) {}").text for _ in range(3)}
    assert len(texts) == 3


STORE = ox.Store()
STORE.extend(
    ox.Quad(ox.NamedNode(f"urn:s{n:02}"), ox.NamedNode("urn:p"), ox.Literal(f"LIMIT {n}  {{"))
    for n in range(30)
)
SHAPES = (
    "SELECT ?s {{ ?s ?p ?o }} ORDER BY ?s {0}",
    "SELECT ?s {{ {{ SELECT ?s {{ ?s ?p ?o }} ORDER BY ?s LIMIT 20 }} }} ORDER BY ?s {0}",
    'SELECT ?s {{ ?s ?p ?o FILTER(?o != "LIMIT 3  {{") }} ORDER BY ?s {0} VALUES ?p {{ <urn:p> }}',
    "SELECT (MIN(?s) AS ?first) {{ ?s ?p ?limit }} GROUP BY ?limit HAVING (COUNT(*) > 0) ORDER BY ?first {0}",
)
NUMBERS = st.none() | st.integers(0, 35)


def rows(query: str) -> list[str]:
    return [str(solution[0]) for solution in STORE.query(query)]  # type: ignore[union-attr]


@given(st.sampled_from(SHAPES), NUMBERS, NUMBERS, NUMBERS, st.integers(0, 35), st.booleans())
def test_a_slice_is_the_slice_of_all_rows(
    shape: str, own_limit: int | None, own_offset: int | None, limit: int | None, offset: int, swapped: bool
) -> None:
    own = [f"LIMIT {own_limit}"] if own_limit is not None else []
    own += [f"OFFSET {own_offset}"] if own_offset is not None else []
    query = shape.format(" ".join(reversed(own) if swapped else own))
    every = rows(query)
    wanted = every[offset:] if limit is None else every[offset : offset + limit]
    assert rows(slice_query(read_gate(query).text, limit, offset)) == wanted


@given(
    st.sampled_from(SHAPES[::3]), NUMBERS, st.integers(0, 35), st.sampled_from(["", "DISTINCT", "REDUCED"])
)
def test_a_distinct_slice_has_a_distinct_query(shape: str, limit: int | None, offset: int, said: str) -> None:
    query = shape.format("").replace("?s {", "?p {").replace("ORDER BY ?s", "ORDER BY ?p")
    wanted = rows(slice_query(read_gate(query.replace("SELECT", "SELECT DISTINCT", 1)).text, limit, offset))
    asked = query.replace("SELECT", f"SELECT {said}", 1)
    assert rows(slice_query(read_gate(asked).text, limit, offset, distinct=True)) == wanted


def test_solutions_that_are_the_same_count_once_on_demand(server: Running) -> None:
    params = {"query": "SELECT ?c { ?s a ?c } ORDER BY STR(?c)"}
    path = "/repositories/main"
    every = server.client.get(path, params=params).json()["results"]["bindings"]
    once = server.client.get(path, params={**params, "distinct": "true"}).json()["results"]["bindings"]
    assert len(once) < len(every) and [row for n, row in enumerate(every) if row not in every[:n]] == once
    page = {**params, "distinct": "true", "offset": "1", "limit": "2"}
    assert server.client.get(path, params=page).json()["results"]["bindings"] == once[1:3]
    assert server.client.get(path, params={**params, "queryLn": "serql"}).status_code == 400


def test_clients_page_through_a_result(server: Running) -> None:
    path, query = "/repositories/main", "SELECT DISTINCT ?c { ?s a ?c } ORDER BY STR(?c)"

    def page(**params: str) -> list[str]:
        reply = server.client.get(path, params={"query": query, **params})
        assert reply.status_code == 200, reply.text
        return [row["c"]["value"] for row in reply.json()["results"]["bindings"]]

    every = page()
    assert len(every) > 3
    assert page(limit="2") + page(limit="2", offset="2") == every[:4]
    assert page(offset="1", limit="-1") == every[1:] and page(limit="0") == []
    assert server.client.get(path, params={"query": query, "limit": "many"}).status_code == 400
    asked = server.client.get(path, params={"query": "ASK { ?s ?p ?o }", "limit": "0"})
    assert asked.json()["boolean"] is True


@pytest.mark.parametrize("path", ["/sparql", "/repositories/main"])
def test_the_same_query_twice_is_one(server: Running, path: str) -> None:
    once = ("query", "ASK { ?s ?p ?o }")
    assert server.client.get(path, params=[once, once]).json()["boolean"] is True
    twice = server.client.get(path, params=[once, ("query", "ASK {}")])
    assert twice.status_code == 400 and "2 times" in twice.text
    headers = {"Content-Type": "application/sparql-query"}
    body = server.client.post(path, params={"query": "ASK {}"}, content="ASK {}", headers=headers)
    assert body.json()["boolean"] is True


DATA = """INSERT DATA {
  <urn:a> <urn:p> 1 . <urn:b> <urn:p> 2 . <urn:a> <urn:q> <urn:b> . <urn:b> <urn:q> <urn:a> .
  <urn:c> <urn:p> 1
}"""


@pytest.fixture(scope="module")
def bound() -> Iterator[Running]:
    with mrag.connect() as kg, running(kg, update=True, workers=1) as found:
        found.update(DATA)
        yield found


@pytest.mark.parametrize(("query", "expected"), cases(__file__, "BOUND"))
def test_a_value_is_there_from_the_start(bound: Running, query: str, expected: list[str]) -> None:
    reply = bound.client.get("/repositories/main", params={"query": query, "$x": "<urn:a>"})
    assert reply.status_code == 200, reply.text
    found = [row["o"]["value"] for row in reply.json()["results"]["bindings"]]
    assert sorted(found) == sorted(expected)


def test_values_are_terms_and_nothing_else(bound: Running) -> None:
    for value in ("<urn:a> . ?s ?p ?o", "?y", "<urn:a", "<a b>", "_:b", '"x" } DROP ALL #', ""):
        params = {"query": "SELECT ?x { ?x ?p ?o }", "$x": value}
        assert bound.client.get("/repositories/main", params=params).status_code == 400, value
    text = '"} UNION { ?x ?p ?o"@en'
    params = {"query": "SELECT (?x AS ?y) {}", "$x": text}
    reply = bound.client.get("/repositories/main", params=params)
    assert reply.json()["results"]["bindings"][0]["y"]["value"] == "} UNION { ?x ?p ?o"


TRIES = int(os.environ.get("MRAG_TEST_TRIES", "300"))
TOKEN = "a-long-token"
Headers = list[tuple[str, str]]
PARTS: dict[str, list[str]] = {}
for _part in Path(__file__).with_name("malformed.txt").read_text("ascii").rstrip("\n").split("\n== ")[1:]:
    _name, *_lines = _part.split("\n")
    PARTS[_name] = [line.encode().decode("unicode_escape") for line in _lines]
READ, HOSTS, HEADERS = PARTS["GET"], PARTS["hosts"], PARTS["headers"]
VALUES = [*HOSTS, *PARTS["values"], "9" * 5000, "x" * 7000, "bytes=" + "0-1," * 500]
ENDS = [
    *PARTS["ends"], "?k=" + "9" * 5000 + "&q=a", "?" + "a&" * 2000, "/" + "x" * 5000, "?q=" + "x" * 20_000,
]  # fmt: skip
BODIES = [body.encode("latin-1") for body in PARTS["bodies"]]
BODIES += [b"1" * 5000, b"[" * 50_000, b'{"a":' * 5000, b"&" * 3000]
ROUTES = [
    *((method, path) for method in ("GET", "POST", "PUT", "DELETE") for path in PARTS[method]),
    *(("HEAD", path) for path in ("/", "/sparql?query=ASK%7B%7D", "/graphs?default")),
    *(("OPTIONS", path) for path in ("/sparql", "/api/ask", "/graphs/x")),
]
KINDS = """
application/json application/x-www-form-urlencoded application/sparql-query application/sparql-update
text/turtle application/ld+json multipart/form-data;boundary=x
""".split()


def ask(spoken: Running, method: str, path: str, headers: Headers, body: bytes = b"") -> int:
    """Send a request as it stands, and return the status of the answer, which is not 500.

    It is 0 where the server closed a connection whose request said of its length what is not so.
    """
    given = {name.lower(): value for name, value in headers}
    if "host" not in given:
        headers = [("Host", "localhost"), *headers]
    if body and "content-length" not in given:
        headers = [*headers, ("Content-Length", str(len(body)))]
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
    request = f"{method} {path} HTTP/1.1\r\n{lines}Connection: close\r\n\r\n".encode("latin-1") + body
    unclear = "content-length" in given or "transfer-encoding" in given
    reply = b""
    with dial(spoken.url) as connection, suppress(ConnectionError):
        connection.sendall(request)
        if unclear:
            # Without an end the server would wait for the rest until its own deadline. It may have answered
            # by now, and closed the connection.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
        while part := connection.recv(1 << 16):
            reply += part
    if not reply and unclear:
        return 0
    status = reply[9:12].decode()
    assert reply.startswith(b"HTTP/1.1 ") and status != "500", (method, path, headers, body[:80], reply[:300])
    return int(status)


@pytest.fixture(scope="module", params=["open", "token"])
def spoken(request: pytest.FixtureRequest) -> Iterator[Running]:
    """A server that clients may change, without and with a token."""
    token = TOKEN if request.param == "token" else None
    settings = {"update": True, "token": token, "seconds": 5.0, "model": "none"}
    with mrag.demo(model="none") as kg, running(kg, **settings) as found:
        yield found


def authorised(spoken: Running, *headers: tuple[str, str]) -> Headers:
    token = spoken.engine.settings.token
    return [*headers] if token is None else [("Authorization", f"Bearer {token}"), *headers]


def turn(spoken: Running) -> int:
    """Return 0 or 1: the two servers take turns, since they read a request that is authorised alike."""
    return int(spoken.engine.settings.token is None)


@pytest.mark.parametrize("path", ["/", "/health", "/sparql", "/graphs/a"])
def test_a_host_that_is_none_is_refused(spoken: Running, path: str) -> None:
    for host in (*HOSTS, "evil host", "a" * 300, "localhost:" + "9" * 5000):
        assert ask(spoken, "GET", path, authorised(spoken, ("Host", host))) in (400, 421), host
    for host in ("localhost", "127.0.0.1", "[::1]", "localhost:7333", "LOCALHOST", "localhost:"):
        assert ask(spoken, "GET", path, authorised(spoken, ("Host", host))) in (200, 404), host


@pytest.mark.slow
@pytest.mark.parametrize("name", HEADERS)
def test_no_value_of_a_header_makes_the_server_fail(spoken: Running, name: str) -> None:
    # Each value goes to one of the servers by one method; from header to header they take turns.
    shift = HEADERS.index(name) + 2 * turn(spoken)
    for at, value in enumerate(VALUES):
        if (at + shift) % 4 == 0:
            ask(spoken, "GET", "/page/main.js", authorised(spoken, (name, value)))
        elif (at + shift) % 4 == 1:
            ask(spoken, "POST", "/rest/login", authorised(spoken, (name, value)), b"{}")


@pytest.mark.slow
def test_no_address_makes_the_server_fail(spoken: Running) -> None:
    for at, path in enumerate(READ):
        for end in ENDS[at % 3 + 3 * turn(spoken) :: 6]:
            place = path.partition("?")[0] if "?" in end else path
            ask(spoken, "GET", place + end, authorised(spoken))


@pytest.mark.slow
def test_no_body_makes_the_server_fail(spoken: Running) -> None:
    for method, path in ROUTES:
        for at, body in enumerate(BODIES if method in ("POST", "PUT") else ()):
            for kind in {KINDS[0], KINDS[at % len(KINDS)]} if at % 2 == turn(spoken) else ():
                ask(spoken, method, path, authorised(spoken, ("Content-Type", kind)), body)


@pytest.mark.slow
def test_no_request_at_random_makes_the_server_fail(spoken: Running) -> None:
    chance = random.Random(7)
    for _ in range(TRIES):
        method, path = chance.choice(ROUTES)
        headers = [(chance.choice(HEADERS), chance.choice(VALUES)) for _ in range(chance.randint(0, 4))]
        if chance.random() < 0.8:
            headers = authorised(spoken, *headers)
        if chance.random() < 0.3:
            path += chance.choice(ENDS)
        body = chance.choice(BODIES) if method in ("POST", "PUT") or chance.random() < 0.1 else b""
        ask(spoken, method, path, headers, body)
    assert spoken.client.get("/health").status_code == 200
