"""Kinds of index, what is asked of each, and ways to damage their files.

Only the public interface of the indexes is used, so that the attacks can be run on other versions too.
"""

import random
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mrag.cli import main
from mrag.errors import IndexError_
from mrag.generative.clue_index import ClueIndex
from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.index.dense import DenseParams
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import WordLlamaEmbedder

WORDS = ["red", "blue", "shoe", "coat", "leather", "wool", "warm", "light", "dress", "hat", "long", "old"]
BITS_FROM = DenseParams(prefilter_from=100)
"""Sign bits choose the candidates even in small indexes, so that both ways of searching are asked."""


@cache
def model() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


def there(folder: Path) -> bool:
    return (folder / "manifest.json").exists()


def documents(state: str, size: int = 700) -> list[tuple[str, str]]:
    chance = random.Random(state)
    return [
        (f"http://example.org/{state}/{at:04d}", f"{state} thing {at} {' '.join(chance.choices(WORDS, k=9))}")
        for at in range(size)
    ]


def _deleted(folder: Path, state: str) -> None:
    _similarity(folder, state)
    # Deleted rows have a file of their own.
    index = DocumentIndex.open(folder, embedder=model())
    index.delete([f"http://example.org/{state}/0003"])


def _similarity(folder: Path, state: str) -> None:
    try:
        index = DocumentIndex.open(folder, embedder=model(), thorough=True) if there(folder) else None
    except IndexError_:
        index = None
    if index is None:
        index = DocumentIndex.create(folder, embedder=model(), replace=True)
    index.sync(documents(state), extra={"state": state}, batch=100)


def _ask_similarity(folder: Path) -> Any:
    index = DocumentIndex.open(folder, embedder=model(), dense=BITS_FROM)
    found: list[Any] = [index.extra, len(index), index.doc_ids]
    for mode in ("bm25", "dense", "hybrid"):
        found += [index.search(f"{a} {b}", 7, mode=mode) for a in WORDS[:4] for b in WORDS[4:8]]  # type: ignore[arg-type]
    found += [index.text_of(doc_id) for doc_id in index.doc_ids[::3]]
    return found


def _clues(folder: Path, state: str) -> None:
    ClueIndex.build(_tokens(state), 20_000, folder=folder, segment_tokens=3_000, extra={"state": state})


def _tokens(state: str) -> list[tuple[str, list[int]]]:
    return [(doc_id, [sum(word.encode()) for word in text.split()]) for doc_id, text in documents(state)]


def _ask_clues(folder: Path) -> Any:
    index = ClueIndex.open(folder)
    found: list[Any] = [dict(index.extra), len(index), index.tokens, index.end, index.vocabulary]
    for word in WORDS:
        token = sum(word.encode())
        following = index.next_tokens([token]).tolist()
        found += [following, index.count([token]), index.documents([token, following[0]])]
    found += [(index.document(number), index.ids_of(number)) for number in range(0, len(index), 5)]
    return found


def _codes(folder: Path, state: str) -> None:
    codes = {}
    for doc_id, text in documents(state):
        words = text.split()
        codes[doc_id] = GraphCode.of(words[:3], [(words[n], words[n + 1], words[n + 2]) for n in range(3, 9)])
    try:
        index = GraphCodeIndex(folder)
        if there(folder):
            index.verify()
    except IndexError_:
        index = GraphCodeIndex(folder, anew=True)
    if there(folder):
        index.sync(codes)
    else:
        index.put(codes)


def _ask_codes(folder: Path) -> Any:
    index = GraphCodeIndex(folder, must_exist=True)
    found: list[Any] = [index.ids, sorted((n.id, c) for n, c in index.nodes())]
    for a, b, c in zip(WORDS, WORDS[3:], WORDS[6:], strict=False):
        found.append(index.search(GraphCode.of([a], [(a, b, c)]), 20))
    for doc_id in index.ids[::60]:
        code = index.code(doc_id)
        found.append((doc_id, list(map(str, code.dictionary)), sorted(map(repr, code.edges))))
    return found


@dataclass(frozen=True)
class Index:
    """A kind of index: how to build one of a state, and everything that is then asked of it."""

    build: Callable[[Path, str], None]
    ask: Callable[[Path], Any]


KINDS = {
    "similarity": Index(_similarity, _ask_similarity), "deleted": Index(_deleted, _ask_similarity),
    "clues": Index(_clues, _ask_clues), "codes": Index(_codes, _ask_codes),
}  # fmt: skip


def files_of(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.name != "lock")


def flip(folder: Path, chance: random.Random) -> None:
    """Turn one bit of one file over."""
    file = chance.choice(files_of(folder))
    data = bytearray(file.read_bytes())
    at = chance.randrange(8 * len(data))
    data[at // 8] ^= 1 << at % 8
    file.write_bytes(data)


def cut(folder: Path, chance: random.Random) -> None:
    """Cut a file off."""
    file = chance.choice(files_of(folder))
    data = file.read_bytes()
    file.write_bytes(data[: chance.randrange(len(data))])


def grow(folder: Path, chance: random.Random) -> None:
    """Put something behind a file."""
    file = chance.choice(files_of(folder))
    file.write_bytes(file.read_bytes() + chance.randbytes(chance.randint(1, 5000)))


def zero(folder: Path, chance: random.Random) -> None:
    """Write zeros over a part of a file, as a disk does that lost it."""
    file = chance.choice(files_of(folder))
    data = bytearray(file.read_bytes())
    at = chance.randrange(len(data))
    size = min(len(data) - at, chance.choice([1, 512, 4096]))
    data[at : at + size] = bytes(size)
    file.write_bytes(data)


def swap(folder: Path, chance: random.Random) -> None:
    """Exchange two files, or two parts of one."""
    files = [file for file in files_of(folder) if file.name != "manifest.json"]
    one, other = chance.choice(files), chance.choice(files)
    if one != other:
        kept = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(kept)
        return
    data = bytearray(one.read_bytes())
    size = min(512, len(data) // 3)
    a, b = chance.randrange(len(data) - size), chance.randrange(len(data) - size)
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]
    one.write_bytes(data)


def lose(folder: Path, chance: random.Random) -> None:
    """Take a file away."""
    chance.choice(files_of(folder)).unlink()


def add(folder: Path, chance: random.Random) -> None:
    """Put a file of rubbish, or a copy of another one, beside the files of the index."""
    file = chance.choice(files_of(folder))
    name = chance.choice(
        ["segment-00000099.seg", "deleted-00000098.bits", "manifest.json.new", "vectors.pending"]
    )
    if chance.random() < 0.5:
        shutil.copy(file, folder / name)
    else:
        (folder / name).write_bytes(chance.randbytes(300))


DAMAGE = {f.__name__: f for f in (flip, cut, grow, zero, swap, lose, add)}


def command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    """Run `mrag` in this process, and return its exit code, output and errors."""
    monkeypatch.setattr(sys, "argv", ["mrag", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    captured = capsys.readouterr()
    code = ended.value.code
    return int(code or 0) if not isinstance(code, str) else 1, captured.out, captured.err


def outcome(ask: Callable[[], Any], expected: Any) -> str:
    """Say what came of asking: `same`, `told` (a typed error), `WRONG`, or the name of a raw exception."""
    try:
        return "same" if ask() == expected else "WRONG"
    except IndexError_ as error:
        return "told" if str(error).strip() and error.hint else "no hint"
    except Exception as error:
        return f"raw {type(error).__name__}"
