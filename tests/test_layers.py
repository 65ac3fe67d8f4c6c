"""The house is in order: imports point one way, a name means one thing, and its front doors open quickly."""

from __future__ import annotations

import ast
import gc
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import mrag
from tests.cases import cases
from tests.commands import python
from tests.conftest import ROOT
from tests.longest import LONGEST, LONGEST_SLOW
from tests.pumping import Expression, expressions, slow_ones, slowness


def packages() -> Iterator[Path]:
    """The files of the package; `loaders` is a link to a folder of its own."""
    for top in ("mrag", "loaders"):
        for path in sorted((ROOT / top).rglob("*.py")):
            if path.relative_to(ROOT).parts[:2] != ("mrag", "loaders"):
                yield path


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "mrag" else ("mrag", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, ast.Module]:
    gc.disable()  # to look for garbage among so many nodes takes twice as long as to read them
    try:
        return {name_of(path): ast.parse(path.read_text(encoding="utf-8")) for path in packages()}
    finally:
        gc.enable()


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """What runs when a module is imported: nothing inside functions, nothing for type checkers alone."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from statements(node.orelse)
            continue
        yield node
        for field in ("body", "orelse", "finalbody"):
            yield from statements(getattr(node, field, []))
        for handler in getattr(node, "handlers", []):
            yield from statements(handler.body)


def imports(tree: ast.Module) -> set[str]:
    """The modules of the package that a module imports when it is imported itself."""
    known, found = modules(), set()
    for node in statements(tree.body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in known}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written whole"
            parts = {f"{node.module}.{alias.name}" for alias in node.names} & known.keys()
            found |= parts or {str(node.module)} & known.keys()
    return found


def layers() -> list[str]:
    with (ROOT / "pyproject.toml").open("rb") as stream:
        (contract,) = tomllib.load(stream)["tool"]["importlinter"]["contracts"]
    return [name.strip() for layer in contract["layers"] for name in layer.split("|")]


def test_every_module_is_in_a_layer() -> None:
    named = layers()
    outside = {
        name
        for name in modules()
        if not any(name == layer or name.startswith(f"{layer}.") for layer in named)
    }
    # A package whose modules are in several layers has none itself, so it imports nothing.
    parents = {name for name in outside if any(layer.startswith(f"{name}.") for layer in named)}
    assert outside == parents
    for name in parents:
        assert imports(modules()[name]) <= {"mrag._lazy"}, name


def test_every_layer_is_there() -> None:
    assert set(layers()) <= modules().keys()


def test_there_is_no_circle_of_imports() -> None:
    order = TopologicalSorter({name: imports(tree) for name, tree in modules().items()})
    try:
        order.prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


def test_a_public_class_has_a_name_of_its_own() -> None:
    classes: defaultdict[str, list[str]] = defaultdict(list)
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(name)
    assert {name for name, places in classes.items() if len(places) > 1} == set()


def test_the_files_that_workers_begin_with_are_there() -> None:
    assert [name for name in (*LONGEST, *LONGEST_SLOW) if not (ROOT / "tests" / f"{name}.py").is_file()] == []


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
    done = python(script)
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
    answer, *_, count = python(script, *question).stdout.splitlines()
    assert answer.removeprefix("Probably: ") == "Ontotext [t1]"
    assert int(count) <= 160


def test_docs_and_notebooks_need_nothing_deeper() -> None:
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb"), ROOT / "README.md"]
    used = {
        found
        for page in pages
        for text in re.split(r"(?s)```diff\n.*?```", page.read_text(encoding="utf-8"))
        for found in re.findall(r"(?:from|import) (mrag(?:\.\w+)*)", text)
    }
    assert {name for name in used if name.count(".") > 1} <= DEEPER
    assert len(used) > 10


ALL = frozenset(("search", "fullmatch"))


@pytest.mark.parametrize("pattern", cases(__file__, "what_is_slow_is_found"))
def test_what_is_slow_is_found(pattern: str) -> None:
    assert slowness(Expression(pattern, re.compile(pattern).flags, ALL, "")) is not None


@pytest.mark.parametrize("pattern", [r"\w+", r"(?<!\s)\s+$", r"[a-z]{1,20}\d+x", r"(?:ab)*+c", r"\s*+x"])
def test_what_is_fast_is_let_through(pattern: str) -> None:
    assert slowness(Expression(pattern, re.compile(pattern).flags, frozenset(("match",)), "")) is None


def test_all_expressions_are_collected() -> None:
    found = expressions()
    places = {one.place.partition(":")[0] for one in found}
    assert len(found) > 250
    # Of modules, of tuples in them, of calls with a text, and behind the links of the package.
    assert {"mrag/untrusted.py", "mrag/planning/reader/quantities.py", "mrag/loaders/sketch.py"} <= places


def test_no_expression_is_slow() -> None:
    assert slow_ones() == []
