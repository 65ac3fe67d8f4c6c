"""`mrag update`, `mrag remove` and `mrag kgs` on a graph of companies with wrong datatypes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mrag
from tests.cases import beside
from tests.commands import run

COMPANIES = beside(__file__, "corp.ttl")
NS = "http://example.org/corp#"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corp.ttl").write_text(COMPANIES)
    loaded = run("load", "corp.ttl", cwd=tmp_path)
    assert loaded.returncode == 0
    assert "3 contradictions of the ontology" in loaded.stderr
    return tmp_path


def ask(folder: Path, pattern: str) -> bool:
    query = f"PREFIX : <{NS}> ASK {{ {pattern} }}"
    return run("query", query, cwd=folder).stdout == "true\n"


def test_contradictions_cost_no_inferences_and_are_grouped_by_datatype(folder: Path) -> None:
    assert ask(folder, ":cord a :Organisation ; :subsidiaryOf :acme")
    assert ask(folder, ':acme :revenue "23"')
    reported = run("reason", "--report", "found.json", cwd=folder)
    assert reported.returncode == 0
    groups = json.loads((folder / "found.json").read_text())
    assert [(g["rule"], g["datatype"], g["count"]) for g in groups] == [
        ("dt-not-type", "xsd:string", 2),
        ("dt-not-type", "xsd:string", 1),
    ]
    assert "decimal" in groups[0]["axiom"]
    checked = run("doctor", "--store", "mrag.db", cwd=folder).stdout
    assert "values of xsd:string: 2" in checked


def test_an_update_is_shown_first_and_inferences_follow(folder: Path) -> None:
    text = f"DELETE DATA {{ <{NS}base> <{NS}subsidiaryOf> <{NS}acme> }}"
    shown = run("update", text, cwd=folder)
    assert shown.returncode == 0
    assert "1 triple would be removed" in shown.stderr and "Nothing was changed" in shown.stderr
    assert ask(folder, ":cord :subsidiaryOf :acme")
    done = run("update", "--yes", "--json", text, cwd=folder)
    assert json.loads(done.stdout)["removed"] == 1 and not json.loads(done.stdout)["pending"]
    assert not ask(folder, ":cord :subsidiaryOf :acme")
    assert ask(folder, ":cord :subsidiaryOf :base") and ask(folder, ":cord a :Organisation")
    late = run("update", "--yes", "--no-reason", f"DELETE DATA {{ <{NS}base> a <{NS}Company> }}", cwd=folder)
    assert "not up to date" in late.stderr
    assert "inferences not up to date" in run("kgs", cwd=folder).stdout
    refused = run("update", "DELETE WHERE { ?s ?p", cwd=folder)
    assert refused.returncode == 1 and refused.stderr.startswith("mrag: ")


def test_a_triple_a_graph_and_a_file_are_removed(folder: Path) -> None:
    gone = run("remove", f"<{NS}cord>", f"{NS}revenue", '"n/a"', "--yes", cwd=folder)
    assert gone.returncode == 0, gone.stderr
    assert not ask(folder, ':cord :revenue "n/a"') and ask(folder, ":cord a :Organisation")
    run(
        "update",
        "--yes",
        f"INSERT DATA {{ GRAPH <urn:g> {{ <{NS}dorn> <{NS}subsidiaryOf> <{NS}base> }} }}",
        cwd=folder,
    )
    assert ask(folder, ":dorn a :Organisation ; :subsidiaryOf :acme")
    run("remove", "--graph", "urn:g", "--yes", cwd=folder)
    assert not ask(folder, ":dorn ?p ?o")
    (folder / "some.ttl").write_text(f"<{NS}cord> <{NS}subsidiaryOf> <{NS}base> .")
    run("remove", "--file", "some.ttl", "--yes", cwd=folder)
    assert not ask(folder, ":cord a :Organisation")
    assert run("remove", "corp:a", "corp:b", cwd=folder).returncode == 2
    assert run("remove", f"<{NS}cord>", f"<{NS}p>", "no term", "--yes", cwd=folder).returncode == 1


def test_knowledge_graphs_are_listed_and_deleted(folder: Path) -> None:
    run("load", "--kg", "other", "--store", "mrag.db", "corp.ttl", cwd=folder)
    run("index", "--store", "mrag.db", "--kg", "other", "--embedder", "none", cwd=folder)
    listed = json.loads(run("kgs", "--json", cwd=folder).stdout)
    assert [one["name"] for one in listed] == ["main", "other"]
    assert listed[1]["triples"] == listed[0]["triples"] and listed[1]["index_bytes"] > 0
    kept = run("kgs", "--delete", "other", cwd=folder)
    assert "Nothing was changed" in kept.stderr
    assert run("kgs", "--delete", "other", "--yes", cwd=folder).stdout == "Deleted other.\n"
    assert [one["name"] for one in json.loads(run("kgs", "--json", cwd=folder).stdout)] == ["main"]
    assert ask(folder, ":cord a :Organisation")
    assert run("kgs", "--delete", "other", "--yes", cwd=folder).returncode == 1
    with mrag.connect(f"oxigraph:{folder / 'mrag.db'}") as kg:
        assert not [g for g in kg.store.graphs() if ":other:" in g]
    assert not (folder / "mrag.db.mrag" / "other").exists()
