"""BM25 and vectors by their formulas, and the terms that analysers cut texts into."""

import math
import unicodedata
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError, IndexError_
from mrag.index import bm25, dense
from mrag.index.bm25 import Bm25Index, Bm25Params, Postings
from mrag.index.dense import DenseIndex, DenseParams, SegmentSigns, _rotate, nearest_by_signs, sign_planes
from mrag.index.embedding import WordLlamaEmbedder
from mrag.index.rows import Rows, StringTable
from mrag.language.analysis import DEFAULT, Analyser, by_languages, resolve_name, stemmer
from tests.conftest import slow

WORDS = st.sampled_from(["red", "blue", "shoe", "shoes", "coat", "leather", "é", "東京", "x1", "the"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
IDS = st.sampled_from([f"ex:{i}" for i in range(12)])
DOCUMENTS = st.dictionaries(IDS, TEXTS, max_size=12)


def terms_of(text: str) -> Counter[str]:
    analyser = Analyser()
    return Counter(term for token in analyser.tokens(text) for term in analyser.terms(token))


def oracle(documents: dict[str, str], query: str, k1: float = 1.2, b: float = 0.75) -> dict[str, float]:
    """BM25 as its formula reads, document by document."""
    counted = {doc_id: terms_of(text) for doc_id, text in documents.items()}
    n = len(documents)
    mean = sum(sum(c.values()) for c in counted.values()) / n if n else 0
    scores: dict[str, float] = defaultdict(float)
    meant = " ".join(word for word in query.split() if word != "the")
    for term, times in terms_of(meant or query).items():
        df = sum(term in c for c in counted.values())
        for doc_id, c in counted.items():
            if c[term]:
                idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
                scores[doc_id] += (
                    times * idf * c[term] / (c[term] + k1 * (1 - b + b * sum(c.values()) / mean))
                )
    return scores


def found(index: Bm25Index, query: str, k: int, allowed: set[str] | None = None) -> list[tuple[str, float]]:
    mask = None if allowed is None else index.rows.mask(allowed)
    rows, scores = index.search(query, k, mask)
    assert rows.dtype == np.int64 and scores.dtype == np.float32
    return [(index.rows.id_of(row), score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]


@given(DOCUMENTS, TEXTS, st.integers(1, 14), st.none() | st.sets(IDS))
@settings(max_examples=75, deadline=None)
def test_equals_the_formula(documents: dict[str, str], query: str, k: int, allowed: set[str] | None) -> None:
    index = Bm25Index.of(documents.items())
    expected = oracle(documents, query)
    if allowed is not None:
        expected = {doc_id: score for doc_id, score in expected.items() if doc_id in allowed}
    got = found(index, query, k, allowed)
    assert len(got) == min(k, len(expected))
    assert dict(got) == pytest.approx({doc_id: expected[doc_id] for doc_id, _ in got}, rel=1e-6)
    assert got == sorted(got, key=lambda pair: (-pair[1], pair[0]))
    left_out = [score for doc_id, score in expected.items() if doc_id not in dict(got)]
    assert not got or all(score <= got[-1][1] * (1 + 1e-6) for score in left_out)


CHANGES = st.lists(
    st.tuples(st.just("add"), st.dictionaries(IDS, TEXTS, min_size=1, max_size=4))
    | st.tuples(st.just("delete"), st.sets(IDS, max_size=4)),
    max_size=6,
)


@given(CHANGES, TEXTS)
@settings(max_examples=120, deadline=None)
def test_changes_equal_a_rebuild_to_the_bit(changes: list[tuple[str, object]], query: str) -> None:
    index, documents = Bm25Index.of([]), {}
    for kind, what in changes:
        if kind == "add" and isinstance(what, dict):
            index = index.add(what.items())
            documents |= what
        elif isinstance(what, set):
            index = index.delete(what)
            documents = {doc_id: text for doc_id, text in documents.items() if doc_id not in what}
    rebuilt = Bm25Index.of(documents.items())
    for k in (2, 20):
        assert found(index, query, k) == found(rebuilt, query, k)
    for doc_id in documents:
        assert index.explain(query, doc_id) == rebuilt.explain(query, doc_id)


ZIPF = [f"w{place}" for place in range(40) for _ in range(1 + 160 // (1 + place) ** 2)]


@pytest.fixture(scope="module")
def segments() -> Bm25Index:
    chance = np.random.default_rng(7)
    index = Bm25Index.of([])
    for part in range(3):
        texts = [" ".join(chance.choice(ZIPF, chance.integers(1, 9))) for _ in range(300)]
        index = index.add((f"ex:{number}:{part}", text) for number, text in enumerate(texts))
    return index.delete(f"ex:{number}:1" for number in range(0, 300, 7))


@pytest.mark.parametrize("tail", [8, 1024])
def test_the_best_rows_are_those_of_scoring_all(
    tail: int, segments: Bm25Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bm25, "_TAIL", tail)
    chosen = 0
    for params in (Bm25Params(), Bm25Params(idf="plain"), Bm25Params(k1=0)):
        index = Bm25Index(params, segments.rows, segments.postings)
        chance = np.random.default_rng(8)
        for turn in range(120):
            query = " ".join(chance.choice(ZIPF[:: 1 + turn % 40], chance.integers(1, 5)))
            k = int(chance.integers(1, 30))
            mask = chance.random(index.rows.total) < 0.6 if turn % 3 == 0 else None
            monkeypatch.setattr(bm25, "_SMALL", 0)
            rows, scores = index.search(query, k, mask)
            monkeypatch.setattr(bm25, "_SMALL", 10**9)
            every, whole = index.search(query, k, mask)
            assert rows.tolist() == every.tolist() and scores.tolist() == whole.tolist(), (query, k)
            chosen += bm25._choose(index._impacts, index.count_terms(query), k, mask) is not None
    assert chosen > 100


@given(st.lists(DOCUMENTS, min_size=1, max_size=4), st.sets(IDS))
@settings(max_examples=60, deadline=None)
def test_merged_postings_equal_built_ones(runs: list[dict[str, str]], gone: set[str]) -> None:
    parts, texts = [], []
    for run in runs:
        numbers = np.full(len(run), -1, np.int64)
        for row, (doc_id, text) in enumerate(run.items()):
            if doc_id not in gone:
                numbers[row] = len(texts)
                texts.append(text)
        parts.append((Postings.build(list(run.values()), Analyser()), numbers))
    merged, built = Postings.merge(parts, len(texts)), Postings.build(texts, Analyser())
    assert list(merged.terms) == list(built.terms)
    for name in ("starts", "rows", "counts", "lengths"):
        np.testing.assert_array_equal(getattr(merged, name), getattr(built, name))


@given(st.lists(st.text(), unique=True), st.text())
def test_string_tables(strings: list[str], other: str) -> None:
    strings.sort(key=lambda s: s.encode("utf-8", "surrogatepass"))
    table = StringTable.of(strings)
    assert list(table) == strings and [table[i] for i in range(len(table))] == strings
    assert [table.find(s) for s in strings] == list(range(len(strings)))
    assert (table.find(other) is not None) == (other in strings)


def test_order_of_documents_plays_no_part_with_many_ties() -> None:
    documents = [(f"ex:{i:04d}", "red shoe" if i % 3 else "red coat") for i in range(3000)]
    forward = Bm25Index.of(documents)
    pieces = Bm25Index.of(documents[2000:][::-1]).add(documents[500:2000]).add(documents[:500])
    for query in ("red", "coat red", "shoe shoe coat"):
        for k in (1, 7, 1500):
            assert found(forward, query, k) == found(pieces, query, k)
    assert [doc_id for doc_id, _ in found(pieces, "red", 3)] == ["ex:0000", "ex:0001", "ex:0002"]


def test_repeated_words_of_the_query_count() -> None:
    index = Bm25Index.of([("a", "red"), ("b", "coat")])
    assert found(index, "red red coat", 2)[0] == ("a", pytest.approx(2 * found(index, "red", 1)[0][1]))


def test_explanations_sum_to_the_score() -> None:
    index = Bm25Index.of([("a", "red leather shoe, red laces"), ("b", "blue coat"), ("c", "a red coat")])
    for doc_id, score in found(index, "red shoes of leather red coat", 5):
        parts = index.explain("red shoes of leather red coat", doc_id)
        assert np.float32(sum(part for _, part in parts)) == np.float32(score)
    assert index.explain("red", "nobody") == [] == index.explain("green", "a")
    assert index.matching("RED shoes of Leather", np.array([0, 2])) == [("red", "shoes", "leather"), ("red",)]


def test_empty_things() -> None:
    index = Bm25Index.of([])
    assert found(index, "red", 5) == [] and index.explain("red", "a") == []
    index = index.add([("a", ""), ("b", "...")])
    assert found(index, "red", 5) == [] and found(index, "", 5) == []
    assert found(index.add([("c", "red")]), "red", 0) == []
    assert found(index.add([("c", "red")]).delete(["a", "b", "c"]), "red", 5) == []


def test_an_id_occurs_once() -> None:
    with pytest.raises(IndexError_, match="occurs twice"):
        Bm25Index.of([("a", "x"), ("a", "y")])


@pytest.mark.parametrize("knobs", [{"k1": -1}, {"k1": float("nan")}, {"b": 1.1}, {"b": float("nan")}])
def test_knobs_are_checked(knobs: dict[str, float]) -> None:
    with pytest.raises(ConfigError) as caught:
        Bm25Params(**knobs)  # type: ignore[arg-type]
    assert caught.value.hint


@pytest.mark.parametrize(("k1", "b"), [(0, 0.75), (2, 0), (0.5, 1)])
def test_knobs_have_effect(k1: float, b: float) -> None:
    documents = {"a": "red red shoe", "b": "red", "c": "blue shoe of the red coat"}
    index = Bm25Index.of(documents.items(), Bm25Params(k1=k1, b=b))
    assert dict(found(index, "red shoe", 3)) == pytest.approx(oracle(documents, "red shoe", k1, b), rel=1e-6)


def test_sums_of_impacts_are_exact() -> None:
    documents = [(f"d{i}", " ".join(f"w{j}" for j in range(40) if (i * j) % 7 != 3)) for i in range(200)]
    index = Bm25Index.of(documents)
    query = " ".join(f"w{j}" for j in range(40))
    for doc_id, score in found(index, query, 50):
        exact = sum((Fraction(part) for _, part in index.explain(query, doc_id)), Fraction())
        assert np.float32(float(exact)) == np.float32(score)


def test_function_words_of_a_query_count_only_alone() -> None:
    index = Bm25Index.of([("a", "what the"), ("b", "red shoe"), ("c", "the red")])
    assert found(index, "what is the SHOE", 3) == found(index, "shoe", 3)
    assert [doc_id for doc_id, _ in found(index, "what", 3)] == ["a"]
    rows = np.array([0, 1, 2])
    assert index.matching("the red shoe", rows) == [(), ("red", "shoe"), ("red",)]
    assert index.matching("what the", rows) == [("what", "the"), (), ("the",)]


A = Analyser(name="plural")


def terms(text: str, analyser: Analyser = A) -> list[str]:
    return [term for token in analyser.tokens(text) for term in analyser.terms(token)]


ROWS = [x.split("\t") for x in Path(__file__).with_name("terms.tsv").read_text("utf-8").split("\n")[:-1]]


@pytest.mark.parametrize(("name", "text", "expected"), ROWS)
def test_terms_of_texts_by_analyser(name: str, text: str, expected: str) -> None:
    assert terms(text, Analyser(name=resolve_name(name))) == expected.split()


PAIRS = """shoe shoes, tie ties, dress dresses, virus viruses, cherry cherries, tree trees, movie movies,
box boxes, watch watches, headache headaches, blouse blouses, glass glasses, potato potatoes,
hoodie hoodies, sash sashes, cause causes, key keys, class classes, judge judges, species species"""


@pytest.mark.parametrize("pair", PAIRS.replace("\n", " ").split(", "))
def test_plural_meets_singular(pair: str) -> None:
    one, many = pair.split()
    assert terms(one) == terms(many)


@pytest.mark.parametrize(
    ("languages", "name"),
    [
        (("en", "mul", ""), DEFAULT), (("de-CH", "en"), "snowball:german+words"),
        (("zh", "fr"), "snowball:french+words"), (("mul", ""), DEFAULT), ((), DEFAULT),
    ],
)  # fmt: skip
def test_languages_choose_the_analyser(languages: tuple[str, ...], name: str) -> None:
    assert by_languages(languages) == resolve_name(name) == name


@pytest.mark.parametrize("name", ["porter", "snowball:klingon", "snowball:", "Plural", ""])
def test_there_is_no_other_analyser(name: str) -> None:
    with pytest.raises(ConfigError):
        resolve_name(name)


def test_every_language_has_its_stemmer() -> None:
    snowball = pytest.importorskip("snowballstemmer")
    known = snowball.algorithms()
    assert all(
        resolve_name(f"snowball:{tag}").removeprefix("snowball:") in known for tag in ("de", "nn", "yi", "ta")
    )


def test_a_stemmer_serves_many_threads() -> None:
    words = [f"{s}{e}" for s in ("relat", "locat", "connect", "develop") for e in ("ion", "ing", "ed", "s")]
    stem = stemmer("snowball:english")
    expected = [stem(word) for word in words]
    stemmer.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: [stemmer("snowball:english")(word) for word in words], range(40)))
    assert all(one == expected for one in found)


def test_accents_can_stay() -> None:
    assert Analyser(fold_accents=False).tokens("Crème é") == ["crème", "é"]


@given(st.text())
@settings(max_examples=200)
def test_composed_and_decomposed_spellings_meet(text: str) -> None:
    for analyser in (A, Analyser(fold_accents=False)):
        spellings = {tuple(terms(unicodedata.normalize(form, text), analyser)) for form in ("NFC", "NFD")}
        assert len(spellings) == 1


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_ascii_and_general_path_agree(text: str) -> None:
    # A letter outside ASCII forces the general path.
    assert A.tokens(text + " ж") == [*A.tokens(text), "ж"]


@given(st.text())
def test_a_sentence_is_its_parts(text: str) -> None:
    assert terms(f"{text} . {text}") == terms(text) * 2


FORCED = DenseParams(prefilter_from=0)


def unit_vectors(n: int, dim: int, seed: int) -> npt.NDArray[np.float32]:
    raw = np.random.default_rng(seed).standard_normal((n, dim))
    return (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)


def ranked(
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
        got = ranked(DenseIndex.of(ids, vectors, params), query, k)
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
    assert {*map(index.rows.id_of, also.tolist())} & {*best} <= {*map(index.rows.id_of, rows.tolist())}
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
        assert ranked(whole, query, k) == ranked(pieces, query, k)
    ties = ranked(pieces, vectors[7], 20)
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
    got = ranked(index, query, 10, mask)
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
        exact, approximate = ranked(index, query, 10), ranked(bits, query, 10)
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
        "8a189aae0bc1c8dd", "3adb9aa2f83dbb11", "3a426aab06342277",
    ]  # fmt: skip
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
    st.lists(st.integers(1, 300), min_size=1, max_size=3), st.integers(1, 80), st.integers(1, 120),
    st.integers(0, 10**6),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_nearest_by_signs_weighs_all_bits_of_the_rows_that_few_planes_choose(
    sizes: list[int], k: int, first: int, seed: int
) -> None:
    vectors = [unit_vectors(size, 32, seed + at) for at, size in enumerate(sizes)]
    chance = np.random.default_rng(seed)
    allowed = [chance.random(size) < 0.8 for size in sizes]
    query = unit_vectors(1, 32, seed + 9)[0]
    got = nearest_by_signs(
        list(map(SegmentSigns.of, vectors)), query, k, first, list(map(dense.pack, allowed))
    )
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
    assert sorted(dense.set_bits(np.array(words, np.uint64)).tolist()) == expected


def test_signs_of_rows_are_those_of_the_planes() -> None:
    signs = SegmentSigns.of(unit_vectors(5000, 40, 3))
    rows = np.unpackbits(np.asarray(signs.rows), axis=1, bitorder="little")
    assert np.array_equal(rows, np.unpackbits(np.asarray(signs.planes), axis=1, bitorder="little").T)


def test_empty_and_wrong() -> None:
    empty = DenseIndex(Rows([]), [], [])
    assert ranked(empty, np.ones(3, np.float32), 5) == [] and empty.dim is None
    index = DenseIndex.of(["a"], np.ones((1, 1), np.float32))
    assert ranked(index, np.ones(1, np.float32), 0) == []
    with pytest.raises(IndexError_, match=r"shape \(2,\), the index 1 dimensions"):
        index.search(np.ones(2, np.float32), 1)
    with pytest.raises(IndexError_, match="occurs twice"):
        DenseIndex.of(["a", "a"], np.ones((2, 1), np.float32))
    with pytest.raises(ConfigError):
        DenseParams(oversample=0)
