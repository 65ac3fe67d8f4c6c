"""A damaged index answers as if it were whole or says that it is damaged; never wrong, never a raw error."""

from __future__ import annotations

import logging
import os
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mrag.errors import DamagedIndex, IndexError_
from mrag.storage.folder import check
from tests.storage.attacks import DAMAGE, KINDS, outcome

logger = logging.getLogger(__name__)

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "6"))


@pytest.fixture(scope="module", params=["deleted", "clues", "codes"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Any]:
    folder = tmp_path_factory.mktemp(request.param) / "index"
    kind = KINDS[request.param]
    kind.build(folder, "one")
    return request.param, folder, kind.ask(folder)


@pytest.mark.parametrize("damage", list(DAMAGE))
def test_damage_is_told_or_harmless(built: tuple[str, Path, Any], damage: str, tmp_path: Path) -> None:
    name, folder, expected = built
    found: Counter[str] = Counter()
    for seed in range(TRIES):
        place = tmp_path / str(seed)
        shutil.copytree(folder, place)
        DAMAGE[damage](place, random.Random(f"{name} {damage} {seed}"))
        came = outcome(lambda place=place: KINDS[name].ask(place), expected)  # type: ignore[misc]
        found[came] += 1
        if came == "same" and damage in ("flip", "zero", "cut", "grow", "lose"):
            # What was not needed for the answers is found by reading all of it.
            assert [one for one in check(place) if one.error is not None] or _equal(folder, place)
        if came == "told" and seed == 0:
            KINDS[name].build(place, "one")
            assert KINDS[name].ask(place) == expected, "it can be built anew"
        shutil.rmtree(place)
    logger.info("%s %s: %s", name, damage, dict(found))
    assert found.keys() <= {"same", "told"}, found


def _equal(one: Path, other: Path) -> bool:
    return all(file.read_bytes() == (other / file.name).read_bytes() for file in one.iterdir())


def test_what_was_read_stays_whatever_happens_to_the_file(
    built: tuple[str, Path, Any], tmp_path: Path
) -> None:
    """An open index neither sees bytes that changed after they were checked nor dies of a file cut off."""
    name, folder, _ = built
    if name != "deleted":
        pytest.skip("the others are read whole when they are opened or by numpy alone")
    from mrag.index.document_index import DocumentIndex
    from tests.storage.attacks import model

    shutil.copytree(folder, tmp_path / "index")
    index = DocumentIndex.open(tmp_path / "index", embedder=model())
    before = index.search("red shoe", 10)
    for file in (tmp_path / "index").glob("*.seg"):
        with file.open("r+b") as stream:
            stream.write(bytes(file.stat().st_size // 2))
            stream.truncate(file.stat().st_size // 2)
    assert index.search("red shoe", 10) == before
    with pytest.raises(DamagedIndex, match="'index' is damaged"):
        for doc_id in index.doc_ids:
            index.text_of(doc_id)


def test_every_single_block_is_checked(built: tuple[str, Path, Any], tmp_path: Path) -> None:
    name, folder, _ = built
    shutil.copytree(folder, tmp_path / name)
    assert [one.error for one in check(tmp_path)] == [None]
    for file in sorted((tmp_path / name).glob("*.seg")):
        whole = file.read_bytes()
        for at in range(0, len(whole), 4001):
            data = bytearray(whole)
            data[at] ^= 1
            file.write_bytes(data)
            (one,) = check(tmp_path)
            assert isinstance(one.error, IndexError_) and file.name in one.error.message
        file.write_bytes(whole)
