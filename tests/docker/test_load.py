"""The load scripts send what the servers' documentation asks for, told by a server that writes it down.

GraphDB and Fuseki themselves cannot be had from a package registry, so this holds the scripts to the
protocols only: RDF4J's and GraphDB's REST API, and the SPARQL 1.1 Graph Store HTTP Protocol.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from mrag.rdf import queries
from tests.conftest import PRODUCTS, ROOT
from tests.docker.test_compose import DOCKER
from tests.servers import Quiet, answering

pytestmark = pytest.mark.skipif(
    not (shutil.which("curl") and shutil.which("sh")), reason="the scripts need sh and curl"
)
GRAPH = "https://w3id.org/mrag/demo/products"


@dataclass
class Asked:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes


@dataclass
class Server:
    url: str
    asked: list[Asked] = field(default_factory=list)
    answers: dict[tuple[str, str], str] = field(default_factory=dict)
    status: int = 200

    def wrote(self) -> list[Asked]:
        return [a for a in self.asked if a.method != "GET" and not a.path.endswith("/query")]


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server("")

    class Handler(Quiet):
        def _answer(self) -> None:
            parts = urlsplit(self.path)
            headers = {k.lower(): v for k, v in self.headers.items()}
            state.asked.append(Asked(self.command, parts.path, parse_qs(parts.query), headers, self.body()))
            self.answer(state.status, state.answers.get((self.command, parts.path), "[]").encode())

        do_GET = do_POST = do_PUT = do_DELETE = _answer

    with answering(Handler) as at:
        state.url = f"http://{at}"
        yield state


def load(stack: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(DOCKER / stack / "load.sh")],
        env={**os.environ, "DATA_FOLDER": str(PRODUCTS.parent), "QUERY_FOLDER": str(ROOT / "sparql"), **env},
        capture_output=True, text=True, check=False, timeout=30,
    )  # fmt: skip


@pytest.fixture
def graphdb(server: Server) -> Callable[[], subprocess.CompletedProcess[str]]:
    return lambda: load("graphdb", GRAPHDB_URL=server.url)


def test_graphdb_gets_a_repository_data_and_an_index(
    server: Server, graphdb: Callable[[], subprocess.CompletedProcess[str]]
) -> None:
    done = graphdb()
    assert done.returncode == 0, done.stderr
    made, loaded, indexed = server.wrote()
    assert (made.method, made.path) == ("POST", "/rest/repositories")
    assert made.headers["content-type"].startswith("multipart/form-data")
    assert b'name="config"' in made.body and b"text/turtle" in made.body
    assert (DOCKER / "graphdb" / "config.ttl").read_bytes() in made.body
    assert (loaded.method, loaded.path) == ("PUT", "/repositories/products/statements")
    assert loaded.query == {"context": [f"<{GRAPH}>"]}
    assert loaded.headers["content-type"] == "text/turtle; charset=utf-8"
    assert loaded.body == PRODUCTS.read_bytes()
    assert (indexed.method, indexed.path) == ("POST", "/rest/similarity")
    assert indexed.headers["x-graphdb-repository"] == "products"
    description = json.loads(indexed.body)
    assert description["name"] == "main"
    assert description["selectQuery"] == queries.get("index/texts").text


def test_graphdb_is_left_as_it_is_where_it_has_them(
    server: Server, graphdb: Callable[[], subprocess.CompletedProcess[str]]
) -> None:
    server.answers["GET", "/rest/repositories"] = '[{"id": "products", "state": "RUNNING"}]'
    server.answers["GET", "/rest/similarity"] = '[{"name":"main","status":"BUILT"}]'
    assert graphdb().returncode == 0
    loaded, removed, indexed = server.wrote()
    assert loaded.path.endswith("/statements")
    assert (removed.method, removed.path, removed.query) == ("DELETE", "/rest/similarity", {"name": ["main"]})
    assert (indexed.method, indexed.path) == ("POST", "/rest/similarity")


@pytest.mark.parametrize("stack,variable", [("graphdb", "GRAPHDB_URL"), ("fuseki", "FUSEKI_URL")])
def test_a_refusal_ends_the_script_with_an_error(server: Server, stack: str, variable: str) -> None:
    server.status = 500
    done = load(stack, **{variable: server.url})
    assert done.returncode != 0 and "500" in done.stderr
    assert load(stack, **{variable: "http://127.0.0.1:9"}).returncode != 0


def test_any_query_becomes_a_json_string(server: Server, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    text = 'SELECT * {\n\t?s ?p "a \\"quoted\\" \\n back\\\\slash & more" }\n'
    (tmp_path / "index" / "texts.rq").write_text(text)
    assert load("graphdb", GRAPHDB_URL=server.url, QUERY_FOLDER=str(tmp_path)).returncode == 0
    assert json.loads(server.wrote()[-1].body)["selectQuery"] == text


def test_fuseki_gets_the_data_in_both_datasets(server: Server) -> None:
    server.answers["POST", "/products-owl/query"] = '{ "head": {} , "boolean" : false }'
    done = load("fuseki", FUSEKI_URL=server.url)
    assert done.returncode == 0, done.stderr
    plain, owl = server.wrote()
    assert (plain.method, plain.path) == ("PUT", "/products/data")
    assert plain.query == {"graph": [GRAPH]}
    assert (owl.method, owl.path) == ("POST", "/products-owl/data")
    assert [a.body for a in (plain, owl)] == [PRODUCTS.read_bytes()] * 2
    asked = next(a for a in server.asked if a.path == "/products-owl/query")
    assert parse_qs(asked.body.decode())["query"][0].startswith("ASK")


def test_fuseki_is_not_loaded_twice_under_its_reasoner(server: Server) -> None:
    server.answers["POST", "/products-owl/query"] = '{"head":{},"boolean":true}'
    assert load("fuseki", FUSEKI_URL=server.url).returncode == 0
    assert [a.path for a in server.wrote()] == ["/products/data"]
