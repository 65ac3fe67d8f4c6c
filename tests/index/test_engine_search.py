"""Search over an engine that looks through a part of its vectors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from mrag.index import Bm25Params
from mrag.index.backends.engine import Found, IndexView, search
from mrag.index.bm25 import Bm25Index
from mrag.index.document_index import TextSearch

WORDS = "heron gull tern rail crake".split()
Vector = npt.NDArray[np.float32]


class View:
    """Documents in memory, of whose vectors some are passed over."""

    def __init__(
        self, texts: Mapping[str, str], vectors: Mapping[str, Vector], blind: Collection[str]
    ) -> None:
        self._texts, self._vectors, self._blind = texts, vectors, blind
        self._words = Bm25Index.of(texts.items(), Bm25Params())
        manifest = type("Manifest", (), {"bm25": Bm25Params(), "documents": len(texts)})
        self.state = cast("Any", type("State", (), {"manifest": manifest}))

    def by_words(self, query: Mapping[str, int], k: int, allowed: Collection[str] | None) -> Found:
        rows, scores = self._words.search(" ".join(query), k)
        names = list(self._texts)
        return [(names[row], float(score)) for row, score in zip(rows, scores, strict=True)]

    def by_vector(self, vector: Vector, k: int, allowed: Collection[str] | None) -> Found:
        found = [
            (name, float(one @ vector)) for name, one in self._vectors.items() if name not in self._blind
        ]
        return sorted(found, key=lambda one: (-one[1], one[0]))[:k]

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        return {name: self._texts[name] for name in ids}

    def vectors(self, ids: Collection[str]) -> dict[str, Vector]:
        return {name: self._vectors[name] for name in ids}

    def digests(self) -> dict[str, bytes]:
        return {}


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=2, max_size=30),
    st.sets(st.integers(0, 29)),
    st.integers(0, 10**6),
)
def test_what_the_words_find_is_never_passed_over(texts: list[list[str]], blind: set[int], seed: int) -> None:
    chance = np.random.default_rng(seed)
    named = {f"urn:{at:02}": " ".join([*words, "bird"]) for at, words in enumerate(texts)}
    vectors = {name: _unit(chance.normal(size=8)) for name in named}
    asked, vector = f"{WORDS[0]} bird", _unit(chance.normal(size=8))
    missed = {f"urn:{at:02}" for at in blind} - {min(named)}

    def found(passed_over: Collection[str]) -> list[tuple[str, float]]:
        view = cast("IndexView", View(named, vectors, passed_over))
        hits = search(view, TextSearch(asked, 10), vector)
        return [(hit.doc_id, round(hit.score, 5)) for hit in hits]

    assert found(missed) == found(())


def _unit(vector: npt.NDArray[np.float64]) -> Vector:
    return np.asarray(vector / np.linalg.norm(vector), np.float32)
