"""How much vectors count is learnt from the documents alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.index.bm25 import Bm25Index
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import Embedder, Vectors, WordLlamaEmbedder
from mrag.index.fusion import EVEN, FusionWeight, usual
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf.terms import Triple

from .conftest import Cranfield


class RandomVectors:
    """A model that knows nothing."""

    name = "random"
    dim = 32

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        vector = np.random.default_rng(seed).normal(size=self.dim)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


THINGS = "lamp table chair shelf window door carpet mirror candle drawer".split()
TRAITS = "oak birch brass linen velvet marble copper wicker enamel walnut".split()


def documents(count: int) -> list[tuple[str, str]]:
    return [
        (
            f"ex:{n:03}",
            f"{THINGS[n % 10]} {n}. It is made of {TRAITS[n // 10 % 10]} and number {n} of the house. "
            f"Stands beside the {THINGS[n * 7 % 10]} of {TRAITS[n * 3 % 10]}, facing {n * 13 % 97}.",
        )
        for n in range(count)
    ]


def index_of(model: Embedder, texts: Sequence[tuple[str, str]], parts: int = 1) -> DocumentIndex:
    index = DocumentIndex.create(None, embedder=model)
    for part in range(parts):
        index.add(texts[part::parts])
    return index


def found(index: DocumentIndex, cranfield: Cranfield, weight: float, mode: str = "hybrid") -> float:
    ranks = []
    for text, relevant in cranfield.queries:
        hits = index.search(text, 10, mode=mode, weight=weight)  # type: ignore[arg-type]
        ranks.append(max((1 / n for n, m in enumerate(hits, 1) if m.doc_id in relevant), default=0.0))
    return float(np.mean(ranks))


@pytest.mark.slow
def test_a_model_that_knows_nothing_counts_little_and_costs_nothing(cranfield: Cranfield) -> None:
    index = index_of(RandomVectors(), cranfield.documents)
    learnt = index.learnt_weight()
    assert learnt.dense == 0.1 and learnt.words > learnt.vectors and learnt.questions == 100

    words = found(index, cranfield, EVEN, "bm25")
    even = found(index, cranfield, EVEN)
    assert even < 0.7 * words < 0.95 * words <= found(index, cranfield, learnt.dense)


@pytest.mark.slow
def test_a_model_that_finds_less_than_words_counts_for_less_and_still_helps(
    cranfield: Cranfield, wordllama: WordLlamaEmbedder
) -> None:
    index = index_of(wordllama, cranfield.documents)
    learnt = index.learnt_weight()
    assert 0.2 <= learnt.dense < EVEN and "finds less than words" in str(learnt)
    assert learnt.of("are wings stalled?") == learnt.dense
    assert found(index, cranfield, learnt.dense) > found(index, cranfield, EVEN, "bm25")


def test_the_share_rests_on_the_documents_alone() -> None:
    texts = documents(300)
    one = index_of(RandomVectors(), texts).learnt_weight()
    assert one == index_of(RandomVectors(), texts[::-1], parts=4).learnt_weight()
    assert one == FusionWeight.from_json(one.to_json()) and one.questions == 100


def test_few_texts_teach_nothing() -> None:
    learnt = index_of(RandomVectors(), documents(20)).learnt_weight()
    assert (learnt.dense, learnt.questions) == (EVEN, 0) and "too few" in str(learnt)


def test_a_document_that_is_not_there_is_scored_as_if_it_were() -> None:
    texts = documents(50)
    index = Bm25Index.of(texts)
    for text in ("marble table", "stands beside the lamp", "of the house 7 7"):
        rows, scores = index.search(text, 50)
        for row, score in zip(rows[:5], scores[:5], strict=True):
            told = index.score_of(text, dict(texts)[index.rows.id_of(int(row))])
            assert told == pytest.approx(float(score), rel=1e-5)


def test_a_graph_learns_its_share_again_when_much_has_changed(tmp_path: Path) -> None:
    def named(items: Sequence[tuple[str, str]]) -> list[Triple]:
        return [Triple(URIRef(i), RDFS.comment, Literal(text)) for i, text in items]

    texts = documents(200)
    with mrag.connect(f"oxigraph:{tmp_path}/db") as kg:
        kg.insert(named(texts[:100]))
        indexes = SimilarityIndexes.of(kg)
        indexes.build(model=RandomVectors())
        first = indexes.info().fusion
        assert first is not None and (first.documents, first.changed) == (100, 0)
        kg.insert(named(texts[100:105]))
        indexes.build(model=RandomVectors())
        second = indexes.info().fusion
        assert second is not None and (second.documents, second.changed) == (100, 5)
        assert indexes.get(model=RandomVectors()).search("lamp", 3)
        kg.insert(named(texts[105:]))
        indexes.build(model=RandomVectors())
        # A build that was broken off learns the next time, and one without change writes nothing.
        files = indexes.get(model=RandomVectors()).files  # type: ignore[union-attr]
        files.delete((), extra={k: v for k, v in files.extra.items() if k != "fusion"})
        indexes.build(model=RandomVectors())
        third = indexes.info().fusion
        generation = indexes.get(model=RandomVectors()).files.generation  # type: ignore[union-attr]
        indexes.build(model=RandomVectors())
        assert indexes.get(model=RandomVectors()).files.generation == generation  # type: ignore[union-attr]
        assert third is not None and (third.documents, third.changed) == (200, 0)


def test_vectors_count_for_more_where_texts_are_short(wordllama: WordLlamaEmbedder) -> None:
    short = [
        (
            f"ex:{n:03}",
            f"{TRAITS[n % 10]} {THINGS[n // 10]} beside {TRAITS[n * 7 % 9]} {THINGS[n * 3 % 10]}",
        )
        for n in range(100)
    ]
    learnt = index_of(wordllama, short).learnt_weight()
    assert 0.7 <= learnt.dense <= 0.9 and learnt.length <= 16 and learnt.questions == 100
    assert "because the texts are short" in str(learnt) and "for questions meaning" in str(learnt)
    # A question is less like a short text than a phrase is.
    assert learnt.of("a brass lamp beside a table") == learnt.dense
    assert EVEN <= learnt.of("Which lamp is of brass?") == round(learnt.dense - 0.2, 2)
    nothing = index_of(RandomVectors(), short).learnt_weight()
    assert nothing.dense < EVEN and "far less" in str(nothing)


@pytest.mark.parametrize(("words", "share"), [(3, 0.7), (16, 0.7), (32, 0.6), (64, 0.5), (500, 0.5)])
def test_the_share_falls_with_the_length_of_the_texts(words: int, share: float) -> None:
    assert usual(words) == share
