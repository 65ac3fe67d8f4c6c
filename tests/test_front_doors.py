"""What users import: there, sorted, loaded when first used, and enough for all that docs and notebooks do."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module

import pytest

from tests.conftest import ROOT

PACKAGES = tuple(
    f"mrag.{name}"
    for name in (
        "cel", "completion", "context", "evaluation", "generation", "generative", "graph", "graphcodes",
        "images", "index", "language", "loaders", "planning", "rdf", "reasoning", "retrieval", "stores",
    )
)  # fmt: skip
HEAVY = ("langchain_core", "numpy", "onnxruntime", "pyoxigraph", "rdflib")
# Suites for pytest, which only those who write a store or a backend import; their pages show them.
DEEPER = {"mrag.stores.conformance", "mrag.testing.indexes"}


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_sorted_and_there(package: str) -> None:
    module = import_module(package)
    names = module.__all__
    assert names == sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n))
    assert dir(module) == sorted(names)
    for name in names:
        assert not isinstance(getattr(module, name), type(sys)), f"{name} is a module"
    with pytest.raises(AttributeError):
        module.nothing  # noqa: B018


def test_importing_them_loads_nothing_heavy() -> None:
    script = f"import sys, mrag, {', '.join(PACKAGES)}; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_processes_that_parse_load_no_rdflib() -> None:
    modules = "mrag.stores.process.parsing, mrag.stores.process.parsing"
    script = f"import sys, {modules}; print('rdflib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_docs_and_notebooks_need_nothing_deeper() -> None:
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb"), ROOT / "README.md"]
    used = {
        found
        for page in pages
        for found in re.findall(r"(?:from|import) (mrag(?:\.\w+)*)", page.read_text(encoding="utf-8"))
    }
    assert {name for name in used if name.count(".") > 1} <= DEEPER
    assert len(used) > 10
