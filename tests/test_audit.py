"""The gate's audit, against a service of advisories on loopback that speaks OSV's protocol."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.servers import Quiet, answering, free_port

KNOWN = {("requests", "2.19.0"): "PYSEC-0000-1", ("rdflib", "7.1.1"): "PYSEC-0000-2"}


def advisory(name: str, version: str) -> dict[str, Any]:
    events = [{"introduced": "0"}, {"fixed": "99"}]
    ranges = [{"type": "ECOSYSTEM", "events": events}]
    told = {"id": KNOWN[name, version], "summary": "Bad.", "modified": "2026-01-01T00:00:00Z"}
    return {**told, "affected": [{"package": {"name": name, "ecosystem": "PyPI"}, "ranges": ranges}]}


@pytest.fixture
def service() -> Iterator[str]:
    class Osv(Quiet):
        def do_POST(self) -> None:
            asked = json.loads(self.body())
            key = (asked["package"]["name"], asked["version"])
            self.answer(200, json.dumps({"vulns": [advisory(*key)]} if key in KNOWN else {}).encode())

    with answering(Osv) as at:
        yield f"http://{at}/v1/query"


def audit(url: str, folder: Path, wanted: str) -> subprocess.CompletedProcess[str]:
    (folder / "wanted.txt").write_text(wanted)
    options = ["-s", "osv", "--osv-url", url, "--no-deps", "--disable-pip", "-r", str(folder / "wanted.txt")]
    return subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "audit.py"), *options],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_an_advisory_fails_the_gate_and_a_sound_package_does_not(service: str, tmp_path: Path) -> None:
    sound = audit(service, tmp_path, "numpy==2.3.0\n")
    assert sound.returncode == 0 and "1 packages audited, 0 advisories" in sound.stdout, sound
    bad = audit(service, tmp_path, "numpy==2.3.0\nrdflib==7.1.1\n")
    assert bad.returncode == 1 and "rdflib 7.1.1: PYSEC-0000-2" in bad.stdout, bad


@pytest.mark.slow
def test_a_service_that_knows_nothing_counts_as_none(tmp_path: Path) -> None:
    silent = audit(f"http://127.0.0.1:{free_port()}/v1/query", tmp_path, "rdflib==7.1.1\n")
    assert silent.returncode == 0 and silent.stdout.startswith("not run: no service"), silent


def test_each_line_that_is_left_out_says_why() -> None:
    bare = []
    for path in sorted((ROOT / "mrag").rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for at, line in enumerate(lines):
            if rule := re.search(r"# noqa: S\d+(.*)", line):
                before = [x.strip() for x in lines[max(0, at - 3) : at]]
                if not rule[1].strip(" #") and not any(x.startswith("#") for x in before):
                    bare.append(f"{path}:{at + 1}")
    assert not bare


def test_what_torch_reads_is_weights_alone() -> None:
    """The linter has no rule for it."""
    calls = [
        node
        for path in sorted((ROOT / "mrag").rglob("*.py"))
        if b"torch" in (source := path.read_bytes())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load"
    ]
    assert calls
    for call in calls:
        assert {word.arg: ast.unparse(word.value) for word in call.keywords}["weights_only"] == "True"
