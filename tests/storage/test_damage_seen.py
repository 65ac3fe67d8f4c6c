"""What people see of a damaged index: on the command line and over HTTP."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.index.similarity import SimilarityIndexes
from tests.server.conftest import running
from tests.storage.attacks import DAMAGE, command_line, documents

logger = logging.getLogger(__name__)

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "3"))
HARM = ["flip", "cut", "zero", "swap", "lose"]
SEARCH = """PREFIX : <http://www.ontotext.com/graphdb/similarity/>
PREFIX inst: <http://www.ontotext.com/graphdb/similarity/instance/>
SELECT ?thing ?score { ?s a inst:main ; :searchTerm "red shoe" ; :documentResult ?r .
                       ?r :value ?thing ; :score ?score } ORDER BY DESC(?score) ?thing"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 300 things with an index of words and vectors."""
    place = tmp_path_factory.mktemp("seen")
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    lines = [f'<{iri}> <{label}> "{text}"@en .\n' for iri, text in documents("thing", 300)]
    (place / "things.nt").write_text("".join(lines))
    with mrag.connect(f"oxigraph:{place / 'store'}") as kg:
        kg.load([place / "things.nt"])
        SimilarityIndexes.of(kg).build("main", model="wordllama")
    return place


@pytest.fixture
def index(place: Path) -> Iterator[Path]:
    """The folder of the index; it is whole again afterwards."""
    folder = place / "store.mrag" / "main" / "index" / "main"
    shutil.copytree(folder, place / "whole")
    yield folder
    restored(folder, place)
    shutil.rmtree(place / "whole")


def restored(folder: Path, place: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(place / "whole", folder)


def test_on_the_command_line(
    place: Path, index: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ("--store", f"oxigraph:{place / 'store'}")
    code, expected, _ = command_line(monkeypatch, capsys, "search", "red shoe", "--json", *store)
    assert code == 0 and json.loads(expected)
    assert command_line(monkeypatch, capsys, "doctor", "--deep", "--json", *store)[0] == 0
    found: Counter[str] = Counter()
    for seed in range(TRIES):
        damage = HARM[seed % len(HARM)]
        DAMAGE[damage](index, random.Random(f"command line {seed}"))
        code, out, error = command_line(monkeypatch, capsys, "search", "red shoe", "--json", *store)
        if code == 0:
            assert out == expected
        else:
            assert code == 1 and error.startswith("mrag: ") and "'main'" in error and "mrag index" in error
        found["same" if code == 0 else "told"] += 1
        code, out, _ = command_line(monkeypatch, capsys, "doctor", "--deep", "--json", *store)
        bad = [f for f in json.loads(out) if "index" in f["what"] and f["ok"] is False]
        # Zeros may have been written over zeros.
        harmed = sorted(file.name for file in index.iterdir()) != sorted(
            file.name for file in (place / "whole").iterdir()
        ) or any(file.read_bytes() != (place / "whole" / file.name).read_bytes() for file in index.iterdir())
        assert (code == 1) == bool(bad) == harmed, "reading all of it finds the damage"
        assert all(f["hint"] for f in bad)
        if seed == 0:
            built, _, _ = command_line(monkeypatch, capsys, "index", "--embedder", "wordllama", *store)
            assert built == 0
            again = command_line(monkeypatch, capsys, "search", "red shoe", "--json", *store)
            assert again[:2] == (0, expected)
        restored(index, place)
    logger.info("command line: %s", dict(found))


def test_over_http(place: Path, index: Path) -> None:
    found: Counter[str] = Counter()
    expected = None
    for seed in range(-1, TRIES):
        if seed >= 0:
            DAMAGE[HARM[seed % len(HARM)]](index, random.Random(f"http {seed}"))
        with mrag.connect(f"oxigraph:{place / 'store'}") as kg, running(kg) as server:
            reply = server.client.get("/sparql", params={"query": SEARCH})
            if reply.status_code == 200:
                rows = reply.json()["results"]["bindings"]
                expected = expected or rows
                assert rows and rows == expected
                found["same"] += 1
                # It has read what it needs; harm to the file after that changes no answer.
                for file in index.iterdir():
                    if file.name != "lock":
                        file.write_bytes(bytes(10))
                again = server.client.get("/sparql", params={"query": SEARCH})
                assert again.json()["results"]["bindings"] == expected
            else:
                assert reply.status_code in (404, 500) and "main" in reply.json()["error"]
                assert "mrag index" in reply.json()["hint"] and str(place) not in reply.text
                found["told"] += 1
            assert server.client.get("/sparql", params={"query": "ASK { ?s ?p ?o }"}).json()["boolean"]
        restored(index, place)
    logger.info("HTTP: %s", dict(found))
