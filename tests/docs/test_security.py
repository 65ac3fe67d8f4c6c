"""Every promise of SECURITY.md names tests, and they exist."""

import ast
import re
import tomllib

from tests.conftest import ROOT

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
