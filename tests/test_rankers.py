"""Rankers by name, alone and joined, and those that put hits in a new order."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.cross_encoders import BaseCrossEncoder

import mrag
from mrag.errors import ConfigError, ModelError
from mrag.index.embedding import MiniLmEmbedder
from mrag.retrieval import CrossEncoderRanker, MmrRanker, RankerRequest, known_rankers, registry, retrieve
from tests import commands
from tests.cases import cases
from tests.conftest import opened

ASKED = mrag.Question("graph database with RDF reasoning")


kg = opened(lambda _: mrag.demo(model="none"))


def iris(hits: Sequence[mrag.Hit]) -> list[str]:
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    return [hit.iri for hit in hits]


class Similar(BaseCrossEncoder):
    """A real model in the place of a cross-encoder: the cosine of question and text."""

    def __init__(self) -> None:
        self.model = MiniLmEmbedder()

    def score(self, text_pairs: list[tuple[str, str]]) -> Sequence[float]:
        texts = self.model.embed_documents([text for _, text in text_pairs])
        return [
            float(row @ self.model.embed_query(question))
            for row, (question, _) in zip(texts, text_pairs, strict=True)
        ]


@pytest.mark.parametrize(
    "name", ["bm25", "hybrid", "bm25+mmr", "mmr:0.5", "bm25+cel", "bm25+hybrid", " bm25 + mmr"]
)
def test_a_name_ranks_everywhere(kg: mrag.KnowledgeGraph, name: str) -> None:
    hits = mrag.ranker(name, kg).rank(ASKED, 5)
    assert len({*iris(hits)}) == 5 and all(hit.reasons for hit in hits)
    assert iris(kg.search(ASKED, 5, ranker=name)) == iris(hits)
    assert [d.id for d in mrag.TripleStoreRetriever(kg=kg, k=5, ranker=name).invoke(ASKED.text)] == iris(hits)
    assert iris(retrieve(kg, ASKED, k=5, ranker=name).hits) == iris(hits)
    answer = kg.ask(ASKED.text, model="none", how="read", k=5, ranker=name)
    assert {line.entity for line in answer.context.lines if line.hop == 1} & {*iris(hits)}


@pytest.mark.parametrize("name,says", cases(__file__, "wrong_names_are_told"))
def test_wrong_names_are_told(kg: mrag.KnowledgeGraph, name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        mrag.ranker(name, kg)


def test_rankers_that_find_are_fused_and_those_that_rerank_permute(kg: mrag.KnowledgeGraph) -> None:
    plain = mrag.ranker("bm25", kg).rank(ASKED, 60)
    assert {*iris(mrag.ranker("bm25+mmr", kg).rank(ASKED, 60))} == {*iris(plain)}
    assert isinstance(mrag.ranker("bm25+dense", kg), mrag.FusedRanker)
    # An object passes as it is.
    one = mrag.SimilarityRanker(kg)
    assert mrag.ranker(one, kg) is one


def test_variety_is_weighed_against_relevance(kg: mrag.KnowledgeGraph) -> None:
    plain = mrag.SimilarityRanker(kg, mode="bm25")
    assert iris(MmrRanker(plain, kg, balance=1).rank(ASKED, 8)) == iris(plain.rank(ASKED, 8))
    varied = MmrRanker(plain, kg, balance=0.3).rank(ASKED, 8)
    assert iris(varied)[0] == iris(plain.rank(ASKED, 1))[0] and iris(varied) != iris(plain.rank(ASKED, 8))
    assert MmrRanker(plain, kg).rank(mrag.Question("xyzzy"), 3) == []


def test_vectors_tell_what_is_alike() -> None:
    texts = {"urn:a": "a red coat", "urn:b": "red coats", "urn:c": "red wine", "urn:d": "a blue boat"}
    with mrag.connect() as kg:
        from rdflib import RDFS, Literal, URIRef

        kg.insert([mrag.Triple(URIRef(i), RDFS.label, Literal(text)) for i, text in texts.items()])
        kg.index(model="minilm")
        found = MmrRanker(mrag.SimilarityRanker(kg), kg, balance=0.2).rank(mrag.Question("a red coat"), 4)
        assert iris(found)[0] == "urn:a" and iris(found).index("urn:b") == 3


def test_a_cross_encoder_reads_question_and_text(kg: mrag.KnowledgeGraph) -> None:
    plain = mrag.SimilarityRanker(kg, mode="bm25")
    made = CrossEncoderRanker(plain, kg, Similar(), depth=10)
    hits = made.rank(ASKED, 15)
    assert {*iris(hits)[:10]} == {*iris(plain.rank(ASKED, 10))}
    assert iris(hits)[10:] == iris(plain.rank(ASKED, 15))[10:]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True) and "cross-encoder" in hits[0].reasons[-1]
    with pytest.raises(ConfigError, match="no method score"):
        CrossEncoderRanker(plain, kg, object())  # type: ignore[arg-type]


class Broken(BaseCrossEncoder):
    def __init__(self, given: list[float] | None) -> None:
        self.given = given

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        if self.given is None:
            raise RuntimeError("out of memory")
        return self.given


@pytest.mark.parametrize("given,says", [(None, "out of memory"), ([1.0], "1 scores for 50 texts")])
def test_a_cross_encoder_fails_aloud(kg: mrag.KnowledgeGraph, given: list[float] | None, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        CrossEncoderRanker(mrag.SimilarityRanker(kg), kg, Broken(given)).rank(ASKED, 3)


def test_a_package_adds_one(kg: mrag.KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed = tmp_path / "rank_extras-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: rank-extras\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        f"[{registry.GROUP}]\nbackwards = tests.test_rankers:backwards\ngone = rank_extras_gone:make\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    known_rankers.cache_clear()
    try:
        assert {"backwards", "gone", "bm25"} <= {*known_rankers()}
        found = mrag.ranker("bm25+backwards:2", kg).rank(ASKED, 2)
        assert iris(found) == iris(mrag.ranker("bm25", kg).rank(ASKED, 2))[::-1]
        with pytest.raises(ConfigError, match="The package rank-extras names a ranker 'gone' that cannot be"):
            mrag.ranker("gone", kg)
    finally:
        known_rankers.cache_clear()


def backwards(asked: RankerRequest) -> mrag.Ranker:
    """Make a ranker that turns another one round, as a package would."""

    class Backwards:
        def rank(self, question: mrag.Question, k: int) -> list[mrag.Hit]:
            found = asked.first.rank(question, int(asked.argument))[::-1]
            return [mrag.Hit(hit.iri, -at, at) for at, hit in enumerate(found[:k], start=1)]

    return Backwards()


def test_commands_take_rankers_by_name(tmp_path: Path) -> None:
    store = ("--store", f"oxigraph:{tmp_path}/db")

    def run(*args: Any) -> str:
        done = commands.run(*map(str, args), *store, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "g.ttl").write_text(
        "@prefix : <urn:x:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ':a rdfs:label "Red dog" ; :owner :b . :b rdfs:label "Ann Hill" ; rdfs:comment "She walks the dog." .'
        ' :c rdfs:label "Red wine" .'
    )
    run("load", tmp_path / "g.ttl")
    run("index", "--embedder", "none")
    run("codes", "build")
    for name in ("bm25", "hybrid+mmr", "codes", "bm25+codes"):
        hits = json.loads(run("search", "red dog", "--ranker", name, "--json"))
        assert hits[0]["iri"] == "urn:x:a", (name, hits)
        assert "Red dog" in run("ask", "red dog", "--how", "read", "--model", "none", "--ranker", name)
    folder = tmp_path / "c"
    (folder / "qrels").mkdir(parents=True)
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "red dog"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\turn:x:a\t1\n")
    report = run(
        "eval", folder, "-r", "bm25", "-r", "bm25+mmr", "-r", "codes", "-m", "MRR", "--resamples", "100"
    )
    assert [report.count(f"| {x} | 1 | 1.0000") for x in ("bm25", "bm25+mmr", "codes")] == [1, 1, 1], report
