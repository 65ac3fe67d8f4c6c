"""The notebook of stores runs unchanged on every server that can run here, and prints the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.docs.notebooks import executed, kernel
from tests.servers import oxigraph_server, virtuoso_server

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from jupyter_client import AsyncKernelManager

__all__ = ["kernel"]

NOTEBOOK = ROOT / "notebooks" / "02_your_triple_store.ipynb"


@pytest.fixture(params=["oxigraph", "virtuoso"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    start = oxigraph_server if request.param == "oxigraph" else virtuoso_server
    with start(tmp_path) as url:
        yield url


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, kernel: AsyncKernelManager) -> list[str]:
    """What it prints on the embedded store."""
    return outputs("oxigraph:", tmp_path_factory.mktemp("here"), kernel)


def outputs(store: str, folder: Path, kernel: AsyncKernelManager) -> list[str]:
    access = {"MRAG_STORE_USER": "dba", "MRAG_STORE_PASSWORD": "dba", "XDG_DATA_HOME": str(folder)}
    cells = executed(NOTEBOOK, folder, kernel, MRAG_NOTEBOOK_STORE=store, **access)
    # The second cell of code shows the store itself; a kernel may send what one cell prints in any number of
    # messages, so each cell's are joined.
    shown = [cell.outputs for cell in cells[2:] if cell.outputs]
    return ["".join(o.get("text") or o["data"]["text/plain"] for o in some) for some in shown]


def test_the_notebook_prints_the_same_on_every_store(
    here: list[str], url: str, tmp_path: Path, kernel: AsyncKernelManager
) -> None:
    there = outputs(url, tmp_path, kernel)
    assert len(here) >= 5 and "2235 triples loaded" in here[0] and "Virtuoso" in "".join(here)
    assert there == here
