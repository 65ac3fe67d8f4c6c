"""Processes that are killed while they build an index leave the one before or the one after."""

import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import mrag
from mrag.errors import MissingIndex
from tests.conftest import ROOT
from tests.storage.attacks import KINDS, command_line, documents

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="only POSIX has SIGKILL"),
]

logger = logging.getLogger(__name__)

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "2"))
BUILDER = """
import sys
from pathlib import Path
from tests.storage.attacks import KINDS, model
if sys.argv[1] == "similarity":
    model()
print("ready", flush=True)
KINDS[sys.argv[1]].build(Path(sys.argv[2]), sys.argv[3])
"""


def killed(command: list[str], folder: Path, chance: random.Random, whole: float) -> bool:
    """Run a command and kill it at a random moment, half of the time after it has begun to write.

    It writes a line when it begins, and takes about `whole` seconds. Return whether it was killed, not ended.
    """
    before = _names(folder)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        if chance.random() < 0.5:
            while process.poll() is None and _names(folder) <= before:
                time.sleep(0.0005)
            time.sleep(chance.uniform(0, 0.1) * whole)
        else:
            time.sleep(chance.uniform(0, 1.1) * whole)
        ended = process.poll() is not None
        process.kill()
    return not ended


def _names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()} - {"lock"} if folder.is_dir() else set()


@pytest.mark.parametrize("first", [True, False], ids=["first build", "rebuild"])
@pytest.mark.parametrize("name", ["similarity", "clues", "codes"])
def test_killed_at_any_moment(name: str, first: bool, tmp_path: Path) -> None:
    kind = KINDS[name]
    expected: dict[str, Any] = {}
    for state in ("one", "two"):
        started = time.perf_counter()
        kind.build(tmp_path / state, state)
        whole = time.perf_counter() - started
        expected[state] = kind.ask(tmp_path / state)
    found: Counter[str] = Counter()
    for seed in range(TRIES):
        folder = tmp_path / f"{seed}"
        if not first:
            shutil.copytree(tmp_path / "one", folder)
        command = [sys.executable, "-c", BUILDER, name, str(folder), "two"]
        amid = killed(command, folder, random.Random(f"{name} {first} {seed}"), whole)
        try:
            answer = kind.ask(folder)
            state = next((s for s, one in expected.items() if answer[1:] == one[1:]), "WRONG")
        except MissingIndex as error:
            assert error.hint and "mrag" in error.hint
            state = "none"
        found[f"{state}{', killed' if amid else ', ended'}"] += 1
        assert state in ({"none", "two"} if first else {"one", "two"}), found
        kind.build(folder, "two")
        assert kind.ask(folder)[1:] == expected["two"][1:]
        files = {"lock", "manifest.json"}
        assert {n for n in _names(folder) if n not in files} == _named(folder), "what was left is swept away"
        shutil.rmtree(folder)
    logger.info("%s, %s: %s", name, "first build" if first else "rebuild", dict(found))


def _named(folder: Path) -> set[str]:
    from mrag.storage.folder import read_manifest

    committed = read_manifest(folder)[2]
    assert committed is not None
    return set(committed.files)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 2,000 things without an index."""
    place = tmp_path_factory.mktemp("killed")
    lines = [
        f'<{doc_id}> <http://www.w3.org/2000/01/rdf-schema#label> "{text}"@en .\n'
        for doc_id, text in documents("thing", 2000)
    ]
    (place / "things.nt").write_text("".join(lines))
    with mrag.connect(f"oxigraph:{place / 'store'}") as kg:
        kg.load([place / "things.nt"])
    return place / "store"


def test_the_first_index_command_is_killed(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"oxigraph:{store}"
    index = [sys.executable, "-u", "-m", "mrag", "index", "--store", url, "--embedder", "wordllama"]
    beside = Path(f"{store}.mrag")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = time.perf_counter()
    subprocess.run(index, check=True, capture_output=True, cwd=ROOT, env=environment)
    whole = time.perf_counter() - started
    arguments = ("search", "thing red shoe", "--store", url, "--json")
    _, expected, _ = command_line(monkeypatch, capsys, *arguments)
    found: Counter[str] = Counter()
    for seed in range(TRIES if TRIES >= 10 else 1):
        shutil.rmtree(beside / "main" / "index", ignore_errors=True)
        echo = [sys.executable, "-c", f"import os; print(flush=True); os.execv({index[0]!r}, {index!r})"]
        killed(echo, beside / "main" / "index" / "main", random.Random(seed), whole)
        code, out, error = command_line(monkeypatch, capsys, *arguments)
        if code == 0:
            assert out == expected
            found["after"] += 1
        else:
            assert "There is no similarity index 'main'" in error and "mrag index" in error
            found["before"] += 1
        looked, out, _ = command_line(monkeypatch, capsys, "doctor", "--deep", "--store", url)
        assert ("bytes, intact" in out) if code == 0 else (looked == 1 and "no  index: there is none" in out)
    logger.info("mrag index: %s", dict(found))
    assert subprocess.run(index, capture_output=True, check=True, cwd=ROOT, env=environment).returncode == 0
    assert command_line(monkeypatch, capsys, *arguments)[1] == expected


def test_an_index_that_is_not_of_the_graph_is_told(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mrag.index.document_index import DocumentIndex

    folder = Path(f"{store}.mrag") / "main" / "index" / "other"
    DocumentIndex.create(folder, embedder=None).sync([("urn:a", "a thing")], extra={})
    code, out, _ = command_line(monkeypatch, capsys, "doctor", "--store", f"oxigraph:{store}")
    assert code == 1 and "index other" in out and "does not say what of the graph" in out
    shutil.rmtree(folder)
