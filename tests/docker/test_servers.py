"""The same files on real engines, where a package brings one: Jena's tools, and Virtuoso."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from rdflib import Graph, URIRef
from rdflib.term import Node

from tests.conftest import PRODUCTS
from tests.docker.test_compose import DOCKER
from tests.java_servers import java
from tests.servers import virtuoso_server

BASE = "http://base.example/config"
EX = "PREFIX ex: <https://w3id.org/mrag/demo/products#>\n"
pytestmark = pytest.mark.slow
TRIPLES = 2235
SEMANTIC = 28  # products that mrag's own reasoning finds to be semantic products


@pytest.fixture(scope="module")
def jena() -> list[str]:
    """The command that runs Jena's tools."""
    return java("fuseki")


@pytest.fixture(scope="module")
def described(jena: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each dataset of the configuration in a file of its own, its database in a temporary folder."""
    folder = tmp_path_factory.mktemp("fuseki")
    text = (DOCKER / "fuseki" / "config.ttl").read_text("utf-8")
    whole = Graph().parse(data=text.replace("/fuseki/databases", str(folder)), publicID=BASE, format="turtle")
    files = {}
    for name in ("plain", "owl"):
        part, todo, seen = Graph(), [URIRef(f"{BASE}#{name}")], set[Node]()
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                part += whole.triples((node, None, None))
                todo.extend(whole.objects(node))
        files[name] = folder / f"{name}.ttl"
        part.serialize(files[name], format="turtle")
    return files


def tool(jena: list[str], *arguments: str) -> str:
    done = subprocess.run([*jena, *arguments], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Exception" not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize("name,semantic", [("plain", 0), ("owl", SEMANTIC)])
def test_jena_reads_the_assembler_stores_and_reasons(
    jena: list[str], described: dict[str, Path], name: str, semantic: int
) -> None:
    desc = f"--desc={described[name]}"
    tool(jena, "arq.update", desc, f"LOAD <{PRODUCTS.as_uri()}>")
    query = "SELECT (COUNT(DISTINCT ?x) AS ?n) { ?x a ex:SemanticProduct }"
    assert f"| {semantic} " in tool(jena, "arq.sparql", desc, EX + query)
    folder = described[name].parent / ("products" if name == "plain" else "products-owl")
    stored = tool(jena, "tdb2.tdbquery", f"--loc={folder}", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
    assert f"| {TRIPLES} |" in stored


@pytest.fixture(scope="module")
def virtuoso(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The SQL port of a Virtuoso, and the folder it may read."""
    folder = tmp_path_factory.mktemp("virtuoso")
    with virtuoso_server(folder, most_rows=1_000_000):
        lines = (folder / "virtuoso.ini").read_text().splitlines()
        (folder / "data").mkdir()
        shutil.copy(PRODUCTS, folder / "data")
        yield next(line.split()[-1] for line in lines if line.startswith("ServerPort")), folder / "data"


def load(server: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(DOCKER / "virtuoso" / "load.sh")],
        env={**os.environ, "ISQL": "isql-vt", "VIRTUOSO_SERVER": server, "DATA_FOLDER": str(folder)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def count(server: str) -> str:
    query = "SPARQL SELECT COUNT(*) FROM <https://w3id.org/mrag/demo/products> { ?s ?p ?o };"
    plain = ["VERBOSE=OFF", "BANNER=OFF", "PROMPT=OFF"]
    command = ["isql-vt", server, "dba", "dba", *plain, f"EXEC={query}"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()


def test_virtuoso_is_healthy_and_loads_the_demo_graph_as_often_as_wished(virtuoso: tuple[str, Path]) -> None:
    server, folder = virtuoso
    for _ in range(2):
        done = load(server, folder)
        assert done.returncode == 0, done.stderr
        assert "is loaded" in done.stdout
        assert count(server) == str(TRIPLES)


def test_virtuosos_loader_says_when_it_could_not(virtuoso: tuple[str, Path]) -> None:
    server, folder = virtuoso
    (folder / "products.ttl").write_text("no Turtle <")
    done = load(server, folder)
    shutil.copy(PRODUCTS, folder)
    assert done.returncode == 1 and "syntax error" in done.stderr
    assert load("127.0.0.1:9", folder).returncode != 0
