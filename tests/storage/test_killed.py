"""Processes that are killed while they build an index leave the one before or the one after."""

import signal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import mrag
from mrag.cli import app
from mrag.errors import MissingIndex
from mrag.index.document_index import DocumentIndex
from mrag.storage.folder import read_manifest
from tests.crash import Job, breaks, program
from tests.storage.attacks import KINDS, command_line, documents

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="only POSIX has SIGKILL"),
]
BUILDER = """
import sys
from pathlib import Path
from tests.storage.attacks import KINDS
KINDS[sys.argv[1]].build(Path(sys.argv[2]), sys.argv[3])
"""


@pytest.mark.parametrize("first", [True, False], ids=["first build", "rebuild"])
@pytest.mark.parametrize("name", ["similarity", "clues", "codes"])
def test_killed_at_any_moment(name: str, first: bool, tmp_path: Path) -> None:
    def before(folder: Path) -> None:
        if not first:
            KINDS[name].build(folder / "index", "one")

    def answers(folder: Path) -> Any:
        try:
            return KINDS[name].ask(folder / "index")[1:]
        except MissingIndex as error:
            assert error.hint and "mrag" in error.hint
            return None

    words = program(BUILDER, name, "index", "two")
    breaks(Job(f"{name} {first}", words, before, answers, works=(), quiet=True), tmp_path)
    index = tmp_path / "broken" / "index"
    committed = read_manifest(index)[2]
    left = {file.name for file in index.iterdir()} - {"lock", "manifest.json"}
    assert left == set(committed.files), "what was left is swept away"


def things(folder: Path) -> None:
    """Make a store of 2,000 things without an index."""
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    lines = [f'<{doc_id}> {label} "{text}"@en .\n' for doc_id, text in documents("thing", 2000)]
    (folder / "things.nt").write_text("".join(lines))
    with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
        kg.load([folder / "things.nt"])


def searched(folder: Path) -> str:
    """What is found; nothing where a search, and the doctor too, says that there is no index."""
    url = f"oxigraph:{folder / 'store'}"
    found = CliRunner().invoke(app, ["search", "thing red shoe", "--store", url, "--json"])
    looked = CliRunner().invoke(app, ["doctor", "--deep", "--store", url])
    if found.exit_code == 0:
        assert "bytes, intact" in looked.output
        return found.stdout
    said = str(found.exception)
    assert "There is no similarity index 'main'" in said and "mrag index" in said
    assert looked.exit_code == 1 and "no  index: there is none" in looked.output
    return ""


def test_the_first_index_command_is_killed(tmp_path: Path) -> None:
    words = ("index", "--store", "store", "--embedder", "wordllama")
    breaks(Job("index", words, things, searched, works=()), tmp_path)


def test_an_index_that_is_not_of_the_graph_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    things(tmp_path)
    folder = tmp_path / "store.mrag" / "main" / "index" / "other"
    DocumentIndex.create(folder, embedder=None).sync([("urn:a", "a thing")], extra={})
    code, out, _ = command_line(monkeypatch, capsys, "doctor", "--store", f"oxigraph:{tmp_path / 'store'}")
    assert code == 1 and "index other" in out and "does not say what of the graph" in out
