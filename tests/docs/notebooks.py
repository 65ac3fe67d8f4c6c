"""Notebooks that run one after the other in one kernel, so that what they import is imported once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import ROOT

# What runs notebooks takes two seconds to import, so the worker that runs them does so, not every one.
if TYPE_CHECKING:
    from jupyter_client import AsyncKernelManager

FRESH = """
%reset -f
import os, sys
os.chdir({folder!r})
os.environ.update({environment!r})
sys.path = [{root!r}, *(place for place in sys.path if place != {root!r})]
import pytest
from tests.vectors import remember
remember(pytest.MonkeyPatch())
%reset -f
"""
"""What the kernel of all notebooks runs before each; what is imported and embedded once stays."""


@pytest.fixture(scope="module")
def kernel() -> Iterator[AsyncKernelManager]:
    """A kernel in which the notebooks of a module of tests run."""
    from jupyter_client import AsyncKernelManager
    from jupyter_core.utils import run_sync

    manager = AsyncKernelManager(kernel_name="python3")
    run_sync(manager.start_kernel)()
    yield manager
    run_sync(manager.shutdown_kernel)(now=True)


def executed(path: Path, folder: Path, kernel: AsyncKernelManager, **environment: str) -> list[Any]:
    """Run a notebook in a folder, and return its cells of code with what they print now."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    fresh = FRESH.format(root=str(ROOT), folder=str(folder), environment=environment)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(fresh))
    client = NotebookClient(notebook, km=kernel, timeout=180)
    client.execute()
    client.kc.stop_channels()
    return cells
