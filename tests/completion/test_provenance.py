"""Where completed triples and descriptions come from is read by queries, and by those of the catalogue."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.completion.passages import store_folder
from mrag.completion.review import accept
from mrag.graph.kg import KnowledgeGraph
from mrag.images.enrichment import EnrichedGraph, JournalEntry
from mrag.loaders.snippets import Snippets
from mrag.rdf import queries
from mrag.rdf.guard import PROVENANCE
from mrag.stores.base import SelectResult
from tests import commands
from tests.completion.towns import iri, proposed, read, triples


@pytest.fixture
def kg(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as graph:
        graph.insert(triples())
        yield graph


def rows(kg: KnowledgeGraph, text: str) -> list[dict[str, str]]:
    found = kg.query(text)
    assert isinstance(found, SelectResult)
    return [{name: str(term) for name, term in one.items()} for one in found.bindings()]


def fill(kg: KnowledgeGraph, folder: Path) -> None:
    accept(kg, proposed(kg, read("bob", "knows", "lund", quote="Bob knows Lund."), question="Whom?"))
    proposed(kg, read("bob", "bornIn", "visby", quote="Bob was born in Visby."))
    folder.mkdir()
    (folder / "a.txt").write_text("Bob was born in Visby.", encoding="utf-8")
    store_folder(kg, Snippets(folder))
    said = ("urn:i", "", "A coat.", "seer", "Say what is shown.", "{}", "2026-01-01T00:00:00Z", "mrag", "0")
    EnrichedGraph(kg).write([JournalEntry(*said)])


def test_the_catalogue_reads_it(kg: KnowledgeGraph, tmp_path: Path) -> None:
    fill(kg, tmp_path / "texts")
    runs = rows(kg, queries.get("provenance/runs").text)
    assert [(r["question"], r["state"], r["model"], r["statements"]) for r in runs] == [
        ("Whom?", "accepted", "hand", "1"),
        ("Where?", "proposed", "hand", "1"),
    ]
    completed = rows(kg, queries.get("provenance/completed").text)
    assert {(r["state"], r["words"], r["source"]) for r in completed} == {
        ("accepted", "Bob knows Lund.", "page.txt"),
        ("proposed", "Bob was born in Visby.", "page.txt"),
    }
    about = rows(kg, queries.get("provenance/completed-about").bind(entity=[iri("visby")]))
    assert [r["words"] for r in about] == ["Bob was born in Visby."]
    [described] = rows(kg, queries.get("provenance/described").text)
    assert described["what"] == "urn:i" and described["model"] == "seer"
    assert described["prompt"] == "Say what is shown."


def test_other_queries_do_not_see_it(kg: KnowledgeGraph, tmp_path: Path) -> None:
    fill(kg, tmp_path / "texts")
    asked = "PREFIX m: <https://w3id.org/mrag#> ASK {0} {{ ?run a m:CompletionRun . ?p a m:Passage }}"
    assert kg.query(asked.format("")) is False
    assert kg.query(asked.format(f"FROM <{PROVENANCE}>")) is True


def test_the_command_and_the_endpoint_do(kg: KnowledgeGraph, tmp_path: Path) -> None:
    fill(kg, tmp_path / "texts")
    kg.close()
    listed = commands.run("query", "--list", "provenance", cwd=tmp_path)
    assert "provenance/completed\tEach triple" in listed.stdout, listed.stderr
    done = commands.run("query", "provenance/completed", "--store", "store", "--json", cwd=tmp_path)
    bindings = json.loads(done.stdout)["results"]["bindings"]
    assert {row["words"]["value"] for row in bindings} == {"Bob knows Lund.", "Bob was born in Visby."}
    nothing = commands.run("query", "--store", "store", cwd=tmp_path)
    assert nothing.returncode == 2 and "--list" in nothing.stderr
