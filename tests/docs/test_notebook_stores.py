"""The notebook of stores runs unchanged on every server that can run here, and prints the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.servers import oxigraph_server, virtuoso_server

NOTEBOOK = ROOT / "notebooks" / "02_your_triple_store.ipynb"


@pytest.fixture(params=["oxigraph", "virtuoso"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    start = oxigraph_server if request.param == "oxigraph" else virtuoso_server
    with start(tmp_path) as url:
        yield url


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What it prints on the embedded store."""
    return outputs("oxigraph:", tmp_path_factory.mktemp("here"))


def outputs(store: str, folder: Path) -> list[str]:
    import nbformat  # takes two seconds, which is too long for every worker
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MRAG_NOTEBOOK_STORE", store)
        patch.setenv("MRAG_STORE_USER", "dba")
        patch.setenv("MRAG_STORE_PASSWORD", "dba")
        patch.setenv("XDG_DATA_HOME", str(folder))
        NotebookClient(notebook, timeout=180, resources={"metadata": {"path": str(folder)}}).execute()
    # The second cell of code shows the store itself.
    cells = [c for c in notebook.cells if c.cell_type == "code"][2:]
    # A kernel may send what one cell prints in any number of messages, so each cell's are joined.
    return ["".join(o.get("text") or o["data"]["text/plain"] for o in c.outputs) for c in cells if c.outputs]


def test_the_notebook_prints_the_same_on_every_store(here: list[str], url: str, tmp_path: Path) -> None:
    there = outputs(url, tmp_path)
    assert len(here) >= 5 and "2235 triples loaded" in here[0] and "Virtuoso" in "".join(here)
    assert there == here
