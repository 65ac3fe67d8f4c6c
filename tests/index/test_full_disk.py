"""What is left of an index when the disk is full."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mrag.errors import IndexError_
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import WordLlamaEmbedder

Content = Callable[[DocumentIndex], dict[str, tuple[str, bytes]]]


def documents(name: str, size: int) -> list[tuple[str, str]]:
    return [(f"ex:{i:04d}", f"{name} thing number {i} of {i * 7 % 11} in red and blue") for i in range(size)]


STATES = {"one": documents("one", 300), "less": documents("two", 60)}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB, where the system lets us mount one."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root on Linux can mount a small file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip(f"no small file system can be mounted here: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk(small_disk: Path, wordllama: WordLlamaEmbedder, content: Content) -> None:
    folder = small_disk / "index"
    index = DocumentIndex.create(folder, embedder=wordllama)
    index.sync(STATES["less"], extra={"state": "less"})
    before = content(index)
    lexical = DocumentIndex.create(small_disk / "lexical", embedder=None)
    lexical.sync(STATES["less"][:5], extra={})
    large = [(f"ex:{i}", f"thing number {i} " * 20) for i in range(2000)]
    with pytest.raises(IndexError_, match="No space left") as caught:
        index.sync(large, extra={"state": "large"})
    assert "disk space" in (caught.value.hint or "")
    for again in (index, DocumentIndex.open(folder, embedder=wordllama)):
        assert content(again) == before and again.extra == {"state": "less"}
    # Fill the disk, so that not one more file can be written whole.
    with pytest.raises(OSError, match="No space left"), (small_disk / "fill").open("wb", buffering=0) as fill:
        while True:
            fill.write(b"x" * 4096)
    with pytest.raises(IndexError_, match="No space left"):
        lexical.sync(large, extra={})
    (small_disk / "fill").unlink()
    (folder / "vectors.pending").unlink()
    index.sync(STATES["less"][:30], extra={"state": "after"})
    lexical.sync(STATES["less"], extra={})
    assert len(DocumentIndex.open(folder, embedder=wordllama)) == 30 and len(lexical) == 60


LIMITED = """
import json, resource, sys
from mrag.errors import IndexError_
from mrag.index.document_index import DocumentIndex
index = DocumentIndex.open(sys.argv[1], embedder=None)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    index.sync(map(tuple, json.loads(sys.argv[2])), extra={"state": "one"})
except IndexError_ as error:
    print(len(index), index.extra["state"], error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file sizes are limited on POSIX systems only")
def test_a_file_that_may_not_grow(tmp_path: Path, content: Content) -> None:
    index = DocumentIndex.create(tmp_path, embedder=None)
    index.sync(STATES["less"], extra={"state": "less"})
    files = sorted(p.name for p in tmp_path.iterdir())
    command = [sys.executable, "-c", LIMITED, str(tmp_path), json.dumps(STATES["one"])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("60 less The index could not be written: File too large.")
    assert "as it was before" in done.stdout
    assert content(DocumentIndex.open(tmp_path, embedder=None)) == content(index)
    assert sorted(p.name for p in tmp_path.iterdir()) == files


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(IndexError_, match="cannot be written") as caught:
        DocumentIndex.create(tmp_path / "file" / "index", embedder=None)
    assert caught.value.hint
