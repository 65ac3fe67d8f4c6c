"""The page's JavaScript, checked by TypeScript against the types of its JSDoc."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from tests.clients.conftest import HERE, lacking

PAGE = Path(str(files("mrag") / "server" / "page"))
OWN = sorted(path for path in PAGE.rglob("*.js") if "vendor" not in path.parts)

ANY = re.compile(r"@(?:type|param|returns|typedef) \{(?:[^{}]|\{[^{}]*\})*\bany\b")


def checked(packages: Path, module: Path | None = None) -> str:
    """Return what the compiler says of all modules, or of one in a copy of the page; nothing if sound."""
    node = shutil.which("node")
    if node is None:
        lacking("Node.js is not installed")
    compiler = packages / "typescript" / "lib" / "tsc.js"
    if not compiler.is_file():
        lacking("TypeScript is not installed: npm ci --ignore-scripts --prefix tests/clients")
    project = HERE / "page.tsconfig.json"
    if module is not None:
        options = json.loads(project.read_text(encoding="utf-8")) | {"include": [module.name]}
        project = module.with_name("tsconfig.json")
        project.write_text(json.dumps(options), encoding="utf-8")
    command = [str(node), str(compiler), "--project", str(project), "--pretty", "false"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert bool(done.returncode) == bool(done.stdout.strip()), done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_every_module_of_the_page_is_typed(packages: Path) -> None:
    assert checked(packages) == ""


@pytest.mark.slow
def test_a_fault_is_found(packages: Path, tmp_path: Path) -> None:
    page = tmp_path / "page"
    shutil.copytree(PAGE, page, ignore=shutil.ignore_patterns("vendor"))
    wrong = """
import { byId } from "./dom.js";
/** @import {EntityPage} from "./types.js" */
/** @param {EntityPage} about */
export const wrong = (about) => about.lable;
byId("sought").value = "";
"""
    module = page / "wrong.js"
    module.write_text(wrong, encoding="utf-8")
    said = checked(packages, module)
    assert said.count("error TS") == 2 and "'lable'" in said and "'value'" in said


def test_nothing_is_left_unchecked() -> None:
    assert len(OWN) > 25
    for path in OWN:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"@ts-(?:ignore|nocheck|expect-error)", text), path
        # What the API returns is said where it is asked for.
        assert path.name == "api.js" or not ANY.search(text), path
