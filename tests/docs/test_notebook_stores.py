"""The notebook of stores runs unchanged on every server that can run here, and prints the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import ROOT
from tests.servers import oxigraph_server, virtuoso_server

NOTEBOOK = ROOT / "notebooks" / "02_your_triple_store.ipynb"


@pytest.fixture(params=["oxigraph", "virtuoso"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    start = oxigraph_server if request.param == "oxigraph" else virtuoso_server
    with start(tmp_path) as url:
        yield url


def outputs(store: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("MRAG_NOTEBOOK_STORE", store)
    monkeypatch.setenv("MRAG_STORE_USER", "dba")
    monkeypatch.setenv("MRAG_STORE_PASSWORD", "dba")
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=180, resources={"metadata": {"path": str(folder)}}).execute()
    # The second cell of code shows the store itself.
    cells = [c for c in notebook.cells if c.cell_type == "code"][2:]
    # A kernel may send what one cell prints in any number of messages, so each cell's are joined.
    return ["".join(o.get("text") or o["data"]["text/plain"] for o in c.outputs) for c in cells if c.outputs]


def test_the_notebook_prints_the_same_on_every_store(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = outputs("oxigraph:", tmp_path, monkeypatch)
    there = outputs(url, tmp_path, monkeypatch)
    assert len(here) >= 5 and "2235 triples loaded" in here[0] and "Virtuoso" in "".join(here)
    assert there == here
