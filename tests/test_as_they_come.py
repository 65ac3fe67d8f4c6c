"""A company's files as they come, from files to answers on each kind of store, by the commands of the README.

Encodings differ, names stand only in IRIs, datatypes are wrong, and three named graphs hold one year each.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases import beside
from tests.commands import run
from tests.jena import jena_server
from tests.servers import oxigraph_server, virtuoso_server

STAFF = beside(__file__, "staff.rdf")
TERMS = beside(__file__, "terms.ttl")
YEARS = beside(__file__, "years.trig")
COMPUTED = {
    "How many employees work in Lisbon?": "2 employees",
    "Who is the oldest employee?": "Eva Novak",
    "Where does Jörg Müller work?": "Zürich",
    "Which products are made in Lisbon?": "Red Gadget",
}
READ = "What is known of Blue Widget?"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "staff.rdf").write_bytes(STAFF.encode("latin-1"))
    (folder / "terms.ttl").write_bytes(b"\xef\xbb\xbf" + TERMS.encode())
    (folder / "years.trig").write_bytes(YEARS.encode())
    return folder


@pytest.fixture(params=["embedded", "oxigraph", "virtuoso", "fuseki"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "embedded":
        yield f"oxigraph:{tmp_path / 'db'}"
    elif request.param == "oxigraph":
        with oxigraph_server(tmp_path, memory=True) as url:
            yield url
    elif request.param == "virtuoso":
        with virtuoso_server(tmp_path) as url:
            yield url
    else:
        with jena_server(tmp_path) as base:
            yield f"fuseki:{base}/ds"


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    """What the first store said, which the others must say too."""
    return {}


@pytest.mark.slow
def test_files_come_to_the_same_answers_on_each_store(
    store: str, files: Path, expected: dict[str, str], tmp_path: Path
) -> None:
    login = {"MRAG_STORE_USER": "dba", "MRAG_STORE_PASSWORD": "dba"} if "virtuoso:" in store else {}

    def mrag(*args: str) -> subprocess.CompletedProcess[str]:
        return run(*args, cwd=tmp_path, MRAG_STORE=store, **login)

    loaded = mrag("load", str(files))
    assert loaded.returncode == 0, loaded.stderr
    assert "3 triples inferred" in loaded.stdout
    assert "c:revenue Range: xsd:decimal (dt-not-type), values of xsd:string: 3" in loaded.stderr
    indexed = mrag("index", "--embedder", "none")
    assert indexed.returncode == 0, indexed.stderr
    for question, words in COMPUTED.items():
        answer = mrag("ask", "-m", "none", question)
        assert answer.returncode == 0 and words in answer.stdout.splitlines()[0], (question, answer)
        assert answer.stdout == expected.setdefault(question, answer.stdout)
    read = mrag("ask", "-m", "none", "--how", "read", READ)
    assert '(Blue Widget, revenue, "31", in graph <http://corp.example/years/2024>)' in read.stdout, read
    assert read.stdout == expected.setdefault(READ, read.stdout)
    rows = "SELECT ?g ?r { GRAPH ?g { ?product c:revenue ?r } } ORDER BY ?g STR(?r)"
    listed = mrag("query", "PREFIX c: <http://corp.example/terms#> " + rows)
    assert [line.split("\t")[0][-5:-1] for line in listed.stdout.splitlines()[1:] if line] == [
        "2023", "2024", "2024",
    ]  # fmt: skip
