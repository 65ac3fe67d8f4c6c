"""Graphwise's `ttyg` on our server, where a Python has it (it needs 3.12 and its own environment)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.server.conftest import Running

PYTHON = os.environ.get("MRAG_TTYG_PYTHON")


@pytest.mark.skipif(not PYTHON, reason="MRAG_TTYG_PYTHON names no Python with ttyg (docs/endpoint.md)")
def test_the_tools_of_ttyg_work_unchanged(server: Running) -> None:
    ended = subprocess.run(
        [str(PYTHON), str(Path(__file__).with_name("ttyg_tools.py")), server.url],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    assert (found["health"], found["index"]) == (200, True)
    assert "https://w3id.org/mrag/demo/products#GraphDB" in found["products"]
    assert "owl:Class" in found["schema"]
    assert "products#" in found["similar"]
