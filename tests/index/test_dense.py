from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError, IndexError_
from mrag.index.dense import DenseIndex, DenseParams, SegmentSigns, _rotate, nearest_by_signs, sign_planes
from mrag.index.embedding import WordLlamaEmbedder
from mrag.index.rows import Rows, StringTable
from mrag.storage.bits import packed, set_bits
from tests.conftest import slow

FORCED = DenseParams(prefilter_from=0)


def unit_vectors(n: int, dim: int, seed: int) -> npt.NDArray[np.float32]:
    raw = np.random.default_rng(seed).standard_normal((n, dim))
    return (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)


def found(
    index: DenseIndex, query: npt.NDArray[np.float32], k: int, mask: Any = None
) -> list[tuple[str, float]]:
    rows, scores = index.search(query, k, mask)
    assert rows.dtype == np.int64 and scores.dtype == np.float32
    return [(index.rows.id_of(row), score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]


def brute(ids: list[str], vectors: Any, query: Any, k: int) -> list[tuple[str, float]]:
    scores = (vectors.astype(np.float64) @ query.astype(np.float64)).astype(np.float32)
    return sorted(zip(ids, scores.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))[:k]


def in_pieces(ids: list[str], vectors: Any, borders: list[int], params: DenseParams) -> DenseIndex:
    tables, parts, signs = [], [], []
    for start, end in zip([0, *borders], [*borders, len(ids)], strict=True):
        order = sorted(range(start, end), key=lambda i: ids[i])
        tables.append(StringTable.of([ids[i] for i in order]))
        parts.append(vectors[order])
        signs.append(SegmentSigns.of(vectors[order]))
    return DenseIndex(Rows(tables), parts, signs, params)


@given(st.integers(1, 40), st.integers(1, 24), st.integers(1, 45), st.integers(0, 10**6), st.booleans())
@settings(max_examples=80, deadline=None)
def test_equals_brute_force(n: int, dim: int, k: int, seed: int, doubles: bool) -> None:
    vectors = unit_vectors(n, dim, seed)
    if doubles:
        vectors[n // 2 :] = vectors[0]
    ids = [f"ex:{(i * 7919) % 1009:04d}" for i in range(n)]
    query = unit_vectors(1, dim, seed + 1)[0]
    for params in (DenseParams(), FORCED):
        got = found(DenseIndex.of(ids, vectors, params), query, k)
        expected = brute(ids, vectors, query, k)
        assert [score for _, score in got] == pytest.approx([s for _, s in expected], abs=1e-6)
        assert got == sorted(got, key=lambda pair: (-pair[1], pair[0]))
        if doubles:
            assert {i for i, _ in got} == {i for i, _ in expected} or n > 1


@given(st.integers(60, 200), st.integers(0, 10**6), st.sets(st.integers(0, 59), max_size=20))
@settings(max_examples=40)
def test_rows_that_are_named_are_compared_whatever_their_signs(n: int, seed: int, named: set[int]) -> None:
    vectors = unit_vectors(n, 8, seed)
    ids = [f"urn:{i:03}" for i in range(n)]
    few = DenseParams(prefilter_from=0, candidates=1, oversample=1)
    index = in_pieces(ids, vectors, [n // 3], few)
    query = unit_vectors(1, 8, seed + 1)[0]
    also = np.array(sorted(named), np.int64)
    rows, scores = index.search(query, 5, None, also)
    without = index.search(query, 5)[0]
    best = [name for name, _ in brute(ids, vectors, query, 5)]
    assert {index.rows.id_of(r) for r in also.tolist()} & {*best} <= {
        index.rows.id_of(r) for r in rows.tolist()
    }
    exact = dict(brute(ids, vectors, query, n))
    for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
        assert exact[index.rows.id_of(row)] == score
        assert row in without or row in also


@pytest.mark.parametrize("params", [DenseParams(), FORCED], ids=["exact", "bits"])
def test_order_of_documents_plays_no_part(params: DenseParams) -> None:
    vectors = unit_vectors(3000, 64, 3)
    vectors[1000:1800] = vectors[7]
    ids = [f"ex:{(i * 7919) % 100003:06d}" for i in range(3000)]
    whole = DenseIndex.of(ids, vectors, params)
    shuffled = np.random.default_rng(1).permutation(3000)
    pieces = in_pieces([ids[i] for i in shuffled], vectors[shuffled], [40, 900, 2990], params)
    for seed, k in ((1, 1), (2, 10), (3, 100)):
        query = unit_vectors(1, 64, seed)[0]
        assert found(whole, query, k) == found(pieces, query, k)
    ties = found(pieces, vectors[7], 20)
    same = sorted([ids[7], *(ids[i] for i in range(1000, 1800))])
    assert [doc_id for doc_id, _ in ties] == same[:20]


@pytest.mark.parametrize("params", [DenseParams(), FORCED], ids=["exact", "bits"])
@pytest.mark.parametrize("share", [0.0, 0.0005, 0.01, 0.3, 0.9])
def test_only_allowed_and_live_rows(params: DenseParams, share: float) -> None:
    vectors = unit_vectors(4000, 32, 5)
    ids = [f"ex:{i:04d}" for i in range(4000)]
    whole = DenseIndex.of(ids, vectors, params)
    chance = np.random.default_rng(2)
    gone = chance.choice(ids, 800, replace=False).tolist()
    index = DenseIndex(whole.rows.without(gone), whole.vectors, whole.signs, params)
    mask = chance.random(4000) < share
    left = [i for i in range(4000) if mask[i] and ids[i] not in set(gone)]
    query = unit_vectors(1, 32, 9)[0]
    expected = brute([ids[i] for i in left], vectors[left], query, 10)
    got = found(index, query, 10, mask)
    assert {i for i, _ in got} <= {ids[i] for i in left}
    assert len(got) == len(expected)
    if params is not FORCED or len(left) < 1000:
        assert [i for i, _ in got] == [i for i, _ in expected]


@pytest.mark.parametrize("part", ["question", *slow("answer")])
def test_sign_bits_keep_the_best_of_real_texts(
    part: str, medquad: list[dict[str, Any]], wordllama: WordLlamaEmbedder
) -> None:
    texts = sorted({d[part][:300] for d in medquad if d[part]})
    vectors = wordllama.embed_documents(texts)
    index = DenseIndex.of([f"{i:05d}" for i in range(len(texts))], vectors)
    bits = DenseIndex(index.rows, index.vectors, index.signs, FORCED)
    kept = []
    for query in wordllama.embed_documents([d["question"] for d in medquad[::13]]):
        exact, approximate = found(index, query, 10), found(bits, query, 10)
        kept.append(len(set(exact) & set(approximate)) / 10)
    assert len(texts) > 2500
    assert np.mean(kept) >= 0.99


def bits_of(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    return np.unpackbits(sign_planes(vectors), axis=1, count=len(vectors), bitorder="little")


def test_planes_are_the_same_everywhere() -> None:
    vectors = np.eye(3, 100, dtype=np.float32) + np.float32(0.01)
    planes = sign_planes(vectors)
    assert planes.shape == (512, 8) and planes.dtype == np.uint8
    words = np.packbits(bits_of(vectors), axis=0, bitorder="little").T.copy().view("<u8")
    assert [f"{int(word):016x}" for word in words[:, 0]] == [
        "8a189aae0bc1c8dd",
        "3adb9aa2f83dbb11",
        "3a426aab06342277",
    ]
    assert sign_planes(unit_vectors(65, 700, 1)).shape == (1024, 16)


def test_signs_follow_the_angle() -> None:
    vectors = unit_vectors(2, 384, 11)
    for share in (0.1, 0.25, 0.5, 0.75):
        angle = share * np.pi
        across = vectors[1] - (vectors[1] @ vectors[0]) * vectors[0]
        turned = np.cos(angle) * vectors[0] + np.sin(angle) * across / np.linalg.norm(across)
        bits = bits_of(np.array([vectors[0], turned], np.float32))
        assert (bits[:, 0] != bits[:, 1]).mean() == pytest.approx(share, abs=0.07)


@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=3),
    st.integers(1, 80),
    st.integers(1, 120),
    st.integers(0, 10**6),
)
@settings(max_examples=40, deadline=None)
def test_nearest_by_signs_weighs_all_bits_of_the_rows_that_few_planes_choose(
    sizes: list[int], k: int, first: int, seed: int
) -> None:
    vectors = [unit_vectors(size, 32, seed + at) for at, size in enumerate(sizes)]
    chance = np.random.default_rng(seed)
    allowed = [chance.random(size) < 0.8 for size in sizes]
    query = unit_vectors(1, 32, seed + 9)[0]
    got = nearest_by_signs(list(map(SegmentSigns.of, vectors)), query, k, first, list(map(packed, allowed)))
    turned = _rotate(query[np.newaxis])[0]
    size = np.abs(turned)
    read = np.argsort(-size, kind="stable")[:40]
    bits = np.concatenate([bits_of(part).T for part in vectors]) > 0
    may = np.concatenate(allowed)

    def chosen(scores: Any, among: Any, number: int) -> Any:
        if among.sum() <= number:
            return among
        return among & (scores >= np.sort(scores[among])[::-1][number - 1])

    few = chosen(
        (bits[:, read] == (turned[read] >= 0)) @ (1 + (size[read] >= size[read].mean())), may, max(k, first)
    )
    best = chosen((bits == (turned > 0)) @ np.minimum(np.rint(size / size.mean()), 3), few, k)
    bases = np.cumsum([0, *sizes[:-1]])
    assert (
        np.concatenate([part + base for part, base in zip(got, bases, strict=True)]).tolist()
        == np.flatnonzero(best).tolist()
    )


@given(st.lists(st.integers(0, 2**64 - 1), max_size=40))
def test_set_bits_are_all_found(words: list[int]) -> None:
    expected = [64 * at + bit for at, word in enumerate(words) for bit in range(64) if word >> bit & 1]
    assert sorted(set_bits(np.array(words, np.uint64)).tolist()) == expected


def test_signs_of_rows_are_those_of_the_planes() -> None:
    signs = SegmentSigns.of(unit_vectors(5000, 40, 3))
    rows = np.unpackbits(np.asarray(signs.rows), axis=1, bitorder="little")
    assert np.array_equal(rows, np.unpackbits(np.asarray(signs.planes), axis=1, bitorder="little").T)


def test_empty_and_wrong() -> None:
    empty = DenseIndex(Rows([]), [], [])
    assert found(empty, np.ones(3, np.float32), 5) == [] and empty.dim is None
    index = DenseIndex.of(["a"], np.ones((1, 1), np.float32))
    assert found(index, np.ones(1, np.float32), 0) == []
    with pytest.raises(IndexError_, match=r"shape \(2,\), the index 1 dimensions"):
        index.search(np.ones(2, np.float32), 1)
    with pytest.raises(IndexError_, match="occurs twice"):
        DenseIndex.of(["a", "a"], np.ones((2, 1), np.float32))
    with pytest.raises(ConfigError):
        DenseParams(oversample=0)
