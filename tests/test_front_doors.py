"""What users import: there, sorted, loaded when first used, and enough for all that docs and notebooks do."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import mrag
from tests.conftest import ROOT

PACKAGES = tuple(
    f"mrag.{name}"
    for name in (
        "cel", "completion", "context", "evaluation", "generation", "generative", "graph", "graphcodes",
        "images", "index", "language", "loaders", "planning", "rdf", "reasoning", "retrieval", "stores",
    )
)  # fmt: skip
HEAVY = ("langchain_core", "numpy", "onnxruntime", "pyoxigraph", "rdflib")
CLIENTS = ("langchain", "langchain_core", "langchain_ollama", "langchain_openai", "openai", "ollama", "httpx",
           "xllamacpp")  # fmt: skip
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


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        (f"import mrag, {', '.join(PACKAGES)}", (*HEAVY, "scipy", "requests", "httpx")),
        ("import mrag.cli\ntry: mrag.cli.app(['--help'])\nexcept SystemExit: pass", HEAVY),
        ("import mrag.generation.models, mrag.generation.answering", CLIENTS),
        ("import mrag.stores.process.parsing", ("rdflib",)),
    ],
    ids=["packages", "help", "models", "parsing"],
)
def test_importing_loads_nothing_heavy(code: str, heavy: tuple[str, ...]) -> None:
    script = f"import sys\n{code}\nfound = {{*{heavy!r}}} & {{*sys.modules}}\nassert not found, found"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_question_loads_few_modules(tmp_path: Path) -> None:
    with mrag.connect(f"oxigraph:{tmp_path}") as kg:
        kg.load([ROOT / "mrag" / "ontology" / "products.ttl"])
    script = (
        "import atexit, sys, mrag.cli\n"
        "atexit.register(lambda: print(sum(name.partition('.')[0] == 'mrag' for name in sys.modules)))\n"
        "mrag.cli.main()"
    )
    question = ("ask", "Who develops GraphDB?", "--model", "none", "--store", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", script, *question], capture_output=True, text=True, check=True
    )
    answer, *_, count = done.stdout.splitlines()
    assert answer == "Ontotext [t1]"
    assert int(count) <= 160


def test_docs_and_notebooks_need_nothing_deeper() -> None:
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb"), ROOT / "README.md"]
    used = {
        found
        for page in pages
        for found in re.findall(r"(?:from|import) (mrag(?:\.\w+)*)", page.read_text(encoding="utf-8"))
    }
    assert {name for name in used if name.count(".") > 1} <= DEEPER
    assert len(used) > 10
