"""The same files on real engines, where a package brings one: Jena's tools, and Virtuoso."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from rdflib import Graph, URIRef
from rdflib.term import Node

from tests.conftest import PRODUCTS
from tests.docker.test_compose import DOCKER
from tests.jena import jena_command

BASE = "http://base.example/config"
EX = "PREFIX ex: <https://w3id.org/mrag/demo/products#>\n"
pytestmark = pytest.mark.slow
TRIPLES = 2235
SEMANTIC = 28  # products that mrag's own reasoning finds to be semantic products


# -- Jena ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def jena(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that runs Jena's tools, with what Debian's package leaves at the wrong place."""
    return jena_command(tmp_path_factory.mktemp("fix"))


@pytest.fixture(scope="module")
def described(jena: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each dataset of the configuration in a file of its own, its database in a temporary folder."""
    folder = tmp_path_factory.mktemp("fuseki")
    text = (DOCKER / "fuseki" / "config.ttl").read_text(encoding="utf-8")
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


# -- Virtuoso --------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


@pytest.fixture(scope="module")
def virtuoso(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A Virtuoso of one's own with the settings of the compose file, and the folder it may read."""
    program, isql = shutil.which("virtuoso-t"), shutil.which("isql-vt")
    if program is None or isql is None:
        pytest.skip("Virtuoso is not installed (Debian: virtuoso-opensource-7)")
    folder = tmp_path_factory.mktemp("virtuoso")
    (folder / "data").mkdir()
    shutil.copy(PRODUCTS, folder / "data")
    sql, web = free_port(), free_port()
    (folder / "virtuoso.ini").write_text(
        f"""[Database]
DatabaseFile={folder}/v.db
ErrorLogFile={folder}/v.log
LockFile={folder}/v.lck
TransactionFile={folder}/v.trx
xa_persistent_file={folder}/v.pxa
[TempDatabase]
DatabaseFile={folder}/t.db
TransactionFile={folder}/t.trx
[Parameters]
ServerPort=127.0.0.1:{sql}
DirsAllowed={folder}/data
NumberOfBuffers=10000
MaxDirtyBuffers=6000
[HTTPServer]
ServerPort=127.0.0.1:{web}
ServerRoot={folder}
ServerThreads=5
[SPARQL]
ResultSetMaxRows=1000000
MaxQueryExecutionTime=60
MaxQueryCostEstimationTime=400
"""
    )
    server = f"127.0.0.1:{sql}"
    process = subprocess.Popen(
        [program, "+foreground", "+configfile", str(folder / "virtuoso.ini")],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        healthy = [isql, server, "dba", "dba", "EXEC=SPARQL ASK {}"]
        for _ in range(600):
            if process.poll() is not None:
                pytest.fail(f"Virtuoso ended: {(folder / 'v.log').read_text()[-500:]}")
            if subprocess.run(healthy, capture_output=True, check=False, timeout=30).returncode == 0:
                break
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
        yield server, folder / "data"
    finally:
        process.terminate()
        process.wait(30)


def load(server: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", str(DOCKER / "virtuoso" / "load.sh")],
        env={**os.environ, "ISQL": "isql-vt", "VIRTUOSO_SERVER": server, "DATA_FOLDER": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def count(server: str) -> str:
    query = "SPARQL SELECT COUNT(*) FROM <https://w3id.org/mrag/demo/products> { ?s ?p ?o };"
    plain = ["VERBOSE=OFF", "BANNER=OFF", "PROMPT=OFF"]
    command = ["isql-vt", server, "dba", "dba", *plain, f"EXEC={query}"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()


def test_virtuoso_is_healthy_and_loads_the_demo_graph_as_often_as_one_likes(
    virtuoso: tuple[str, Path],
) -> None:
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
