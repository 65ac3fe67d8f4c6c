"""`mrag clues`: build, search, status."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mrag.cli import app
from tests.conftest import PRODUCTS


def run(*args: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in args])


@pytest.mark.slow
@pytest.mark.model
def test_build_and_search(gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store, model = tmp_path / "store", f"local:{gguf}"
    assert run("load", PRODUCTS, "--store", store, "--json").exit_code == 0
    missing = run("clues", "search", "x", "--store", store, "--model", model)
    assert "no clue index" in str(missing.exception)

    built = run("clues", "build", "--store", store, "--model", model, "--json")
    assert built.exit_code == 0, built.output
    report = json.loads(built.stdout)
    assert report["documents"] > 200 and report["tokens"] > 5000

    found = run("clues", "search", "Who develops GraphDB?", "--store", store, "--model", model, "--json")
    hits = json.loads(found.stdout)["hits"]
    assert hits[0]["label"] == "GraphDB"
    assert "occurs token by token in this document alone" in hits[0]["reasons"][0]
    search = ("clues", "search", "Ontotext", "--store", store, "--model", model, "--in")
    said = run(*search, "ex:Vendor", "-k", 2).stdout
    assert re.match(r"  1  -?\d+\.\d+  Ontotext  <https://w3id.org/mrag/demo/products#Ontotext>\n", said)
    none = run(*search, "ex:Nothing")
    assert none.stdout == ""
    assert "no phrase that occurs in exactly one document" in " ".join(none.stderr.split())
