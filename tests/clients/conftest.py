"""Clients written in JavaScript, each run by Node against a server of this process."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.server.conftest import demo, server, writable

__all__ = ["demo", "server", "writable"]

HERE = Path(__file__).parent
PACKAGES = HERE / "node_modules"


def lacking(reason: str) -> None:
    """Skip a test for want of a program, or fail it where the gate has installed them all."""
    if os.environ.get("MRAG_REQUIRE_CLIENTS"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def packages() -> Path:
    """The folder of the installed clients."""
    if not PACKAGES.is_dir():
        lacking("the clients are not installed: npm ci --ignore-scripts --prefix tests/clients")
    return PACKAGES


@pytest.fixture(scope="session")
def node(packages: Path) -> Callable[..., None]:
    """Run a scenario of a script, and fail with what Node says if it fails."""
    program = shutil.which("node")
    if program is None:
        lacking("Node.js is not installed")

    def run(script: str, scenario: str, *arguments: str) -> None:
        command = [str(program), str(HERE / script), scenario, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{scenario}\n{done.stdout[-4000:]}\n{done.stderr[-8000:]}"

    return run
