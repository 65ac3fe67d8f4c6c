"""Clients written in JavaScript, run by Node against servers of this process."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
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


@pytest.fixture(scope="package")
def node(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., None]]:
    """Run a scenario of a script, and fail with what Node says if it fails."""
    program = shutil.which("node")
    if program is None:
        lacking("Node.js is not installed")
    log = tmp_path_factory.mktemp("node") / "log"
    running: dict[str, subprocess.Popen[str]] = {}
    with log.open("w") as said:

        def started(script: str) -> subprocess.Popen[str]:
            pipe = subprocess.PIPE
            command = [str(program), str(HERE / script)]
            return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=said, encoding="utf-8")

        def run(script: str, scenario: str, *arguments: str) -> None:
            process = running.get(script) or running.setdefault(script, started(script))
            limit = threading.Timer(120, process.kill)
            limit.start()
            try:
                process.stdin.write(json.dumps([scenario, *arguments]) + "\n")
                process.stdin.flush()
                while (line := process.stdout.readline()) and not line.startswith("FAILED: "):
                    said.write(line)
            finally:
                limit.cancel()
            said.flush()
            if not line:
                ended(running.pop(script))
            failed = json.loads(line.removeprefix("FAILED: ") or '"Node has ended"')
            assert failed == "", f"{scenario}\n{failed}\n{log.read_text()[-8000:]}"

        yield run
        for process in running.values():
            ended(process)


def ended(process: subprocess.Popen[str]) -> None:
    """Let a process end, and see to it that it does."""
    try:
        process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
