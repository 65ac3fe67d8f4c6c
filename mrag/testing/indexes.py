"""What every backend of similarity indexes must do, as a suite for pytest that ships with the package.

A new backend is done when a subclass passes::

    class TestMyBackend(IndexConformance):
        @pytest.fixture(scope="class")
        @classmethod
        def backend(cls):
            yield MyBackend("my://localhost")

The oracle is the local index in memory; what a backend approximates is compared loosely.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from rdflib import RDFS, Literal, URIRef

from mrag._tables import tables
from mrag.errors import IndexError_, IndexMismatch, MissingIndex, StaleIndex
from mrag.graph.kg import KnowledgeGraph
from mrag.index.backends.base import IndexBackend, documents_of
from mrag.index.backends.engine import EngineIndex, EngineRow, IndexChange
from mrag.index.bm25 import Bm25Params
from mrag.index.document_index import DocumentIndex, Match, StoredIndex
from mrag.index.embedding import Vectors, unit
from mrag.index.fusion import weighted_scores
from mrag.index.similarity import INSTANCE, SimilarityIndexes, freshen
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.stores.base import SelectResult
from mrag.stores.oxigraph import OxigraphStore

_GIVEN: Final = tables("testing/indexes.toml")
DOCUMENTS: Final[list[tuple[str, str]]] = [*_GIVEN["documents"].items()]
QUERIES: Final[list[str]] = _GIVEN["queries"]


class Trigrams:
    """A model of hashed trigrams, which needs no files and knows no words."""

    def __init__(self, name: str = "trigrams", dim: int = 48) -> None:
        self.name, self.dim = name, dim
        self.embedded: list[str] = []
        self.fail_after: int | None = None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        self.embedded += texts
        if self.fail_after is not None and len(self.embedded) > self.fail_after:
            raise KeyboardInterrupt
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a text."""
        vector = np.zeros(self.dim)
        padded = f"  {text.lower()} " if text.strip() else ""
        for at in range(len(padded) - 2):
            key = hashlib.blake2b(padded[at : at + 3].encode(), digest_size=4).digest()
            vector[int.from_bytes(key, "big") % self.dim] += 1
        return unit(vector)


# ruff: noqa: D102 - the names of the tests say what they test


_BM25 = Bm25Params()
_names = (f"conformance-{number}" for number in count())


def _ids(matches: Sequence[Match]) -> list[str]:
    return [match.doc_id for match in matches]


def _begin(backend: IndexBackend, name: str, model: Any = None) -> StoredIndex:
    index = backend.create(name, embedder=model or Trigrams(), bm25=_BM25)
    index.sync(DOCUMENTS, extra={"revision": 1})
    return index


class IndexConformance:
    """The suite; subclasses give the fixture `backend`."""

    @pytest.fixture(scope="class")
    @classmethod
    def oracle(cls) -> DocumentIndex:
        """The same documents in a local index."""
        index = DocumentIndex.create(None, embedder=Trigrams(), bm25=_BM25)
        index.sync(DOCUMENTS, extra={})
        return index

    @pytest.fixture(scope="class")
    @classmethod
    def built(cls, backend: IndexBackend) -> Iterator[StoredIndex]:
        """An index that tests read and do not change."""
        name = next(_names)
        backend.delete(name)  # of a run that was broken off
        yield _begin(backend, name)
        backend.delete(name)

    @pytest.fixture
    def name(self, backend: IndexBackend) -> Iterator[str]:
        """The name of an index of one test."""
        name = next(_names)
        backend.delete(name)
        yield name
        backend.delete(name)

    @pytest.mark.parametrize("text", QUERIES)
    def test_it_ranks_as_the_local_index(
        self, backend: IndexBackend, built: StoredIndex, oracle: DocumentIndex, text: str
    ) -> None:
        hits, wanted = (i.search(text, 20, mode="bm25") for i in (built, oracle))
        assert {m.doc_id: m.terms for m in hits} == {m.doc_id: m.terms for m in wanted}
        if backend.abilities.exact_words:
            assert hits == wanted
        else:
            expected = {m.doc_id: m.score for m in wanted}
            assert [m.score for m in hits] == [pytest.approx(expected[m.doc_id], rel=0.05) for m in hits]
        hits, wanted = (i.search(text, 20, mode="dense") for i in (built, oracle))
        # So few documents are compared one by one, or as good as.
        near = {m.doc_id: pytest.approx(m.score, abs=1e-4) for m in wanted}
        assert near == {m.doc_id: m.score for m in hits} and hits[0].score >= wanted[0].score - 1e-4
        parts = [built.search(text, 100, mode=mode) for mode in ("bm25", "dense")]
        scored = [[(m.doc_id, m.score) for m in part] for part in parts]
        fused = dict(weighted_scores(scored, weights=(0.75, 0.25)))
        hits = built.search(text, 5, weight=0.25)
        assert [m.score for m in hits] == pytest.approx(sorted(fused.values(), reverse=True)[:5], abs=1e-4)
        for match in hits:
            ranks = [(_ids(p).index(match.doc_id) + 1 if match.doc_id in _ids(p) else None) for p in parts]
            assert [match.bm25_rank, match.dense_rank] == ranks
            assert match.score == pytest.approx(fused[match.doc_id], abs=1e-4)

    @pytest.mark.parametrize("mode", ["bm25", "dense", "hybrid"])
    def test_ties_are_in_order_of_iri_and_only_what_is_allowed_is_found(
        self, built: StoredIndex, mode: Any
    ) -> None:
        twins = ["urn:twin:a", "urn:twin:b", "urn:twin:c"]
        assert _ids(built.search("the same words of twins", 3, mode=mode)) == twins
        assert _ids(built.search("the same words of twins", 2, mode=mode)) == twins[:2]
        allowed = ["urn:boot", "urn:twin:c", DOCUMENTS[4][0]]
        some = built.search("leather hat twins", 20, mode=mode, allowed=[*allowed, "urn:unknown"])
        assert set(_ids(some)) == {*allowed}
        assert _ids(built.search("leather", 1, mode=mode, allowed=allowed)) == ["urn:boot"]
        for none in ([], ["urn:unknown"]):
            assert built.search("leather", 5, mode=mode, allowed=none) == []

    @pytest.mark.parametrize("text", ["", "   ", "?!"])
    def test_a_query_without_words_finds_nothing_by_words(self, built: StoredIndex, text: str) -> None:
        assert built.search(text, 5, mode="bm25") == []
        if not text.strip():
            assert built.search(text, 5, mode="dense") == built.search(text, 5) == []

    def test_documents_can_be_read(self, backend: IndexBackend, built: StoredIndex) -> None:
        assert len(built) == len(DOCUMENTS) and built.doc_ids == sorted(i for i, _ in DOCUMENTS)
        assert list(documents_of(built)) == sorted(DOCUMENTS)
        assert "urn:hat" in built and "urn:none" not in built
        assert built.texts_of(["urn:käse", "urn:none"]) == {"urn:käse": DOCUMENTS[3][1]}
        assert built.text_of("urn:hat") == "A hat, a red hat"
        with pytest.raises(IndexError_):
            built.text_of("urn:none")
        if not backend.abilities.readable:
            return
        [(doc_id, vector)] = built.vectors_of(["urn:hat", "urn:none"]).items()
        assert doc_id == "urn:hat"
        assert vector == pytest.approx(Trigrams().embed_query("A hat, a red hat"), abs=1e-6)

    def test_many_read_at_once(self, built: StoredIndex) -> None:
        wanted = [built.search(text, 5) for text in QUERIES]
        with ThreadPoolExecutor(4) as pool:
            for _ in range(3):
                assert list(pool.map(lambda text: built.search(text, 5), QUERIES)) == wanted

    def test_changes_are_followed(self, backend: IndexBackend, name: str) -> None:
        model = Trigrams()
        index = _begin(backend, name, model)
        assert len(model.embedded) == len({text for _, text in DOCUMENTS})
        model.embedded.clear()
        documents = dict(DOCUMENTS[1:])
        documents["urn:coat"] = "A green coat"
        documents["urn:new"] = "A violet scarf"
        assert index.differing(documents.items()) == 3
        report = index.sync(documents.items(), extra={"revision": 2})
        assert (report.added, report.changed, report.deleted) == (1, 1, 1)
        assert report.unchanged == len(DOCUMENTS) - 2
        assert sorted(model.embedded) == ["A green coat", "A violet scarf"]
        assert index.differing(documents.items()) == 0 and len(index) == len(documents)
        assert list(documents_of(index)) == sorted(documents.items())
        anew = DocumentIndex.create(None, embedder=Trigrams(), bm25=_BM25)
        anew.sync(documents.items(), extra={})
        for text in ("red shoes", "violet", "coat", "leather"):
            for mode in ("bm25", "dense"):
                matches, wanted = (i.search(text, 20, mode=mode) for i in (index, anew))
                assert set(_ids(matches)) == set(_ids(wanted))
                if mode == "bm25" and backend.abilities.live_statistics and backend.abilities.exact_words:
                    assert matches == wanted
        assert "urn:shoe" not in _ids(index.search("red leather shoes", 20))
        assert index.extra == {"revision": 2}
        more = index.add([("urn:new", "A violet shawl"), ("urn:last", "A cape")], extra={"revision": 3})
        assert (more.added, more.changed, more.deleted) == (1, 1, 0)
        assert len(index) == len(documents) + 1 and index.text_of("urn:new") == "A violet shawl"
        assert _ids(index.search("scarf", 5, mode="bm25")) == []

    def test_documents_can_be_deleted_and_come_again(self, backend: IndexBackend, name: str) -> None:
        index = _begin(backend, name)
        assert index.delete(["urn:boot", "urn:none"]) == 1
        assert _ids(index.search("leather", 5, mode="bm25")) == ["urn:shoe"]
        assert index.delete((), extra={"revision": 9}) == 0
        assert backend.open(name, embedder=None).extra == {"revision": 9}
        assert len(index) == len(DOCUMENTS) - 1
        assert index.sync([], extra={}).deleted == len(DOCUMENTS) - 1
        assert len(index) == 0 and index.doc_ids == [] and index.search("leather", 5) == []
        assert index.sync(DOCUMENTS[:2], extra={}).added == 2
        assert _ids(index.search("leather boot", 1)) == ["urn:boot"]

    def test_an_index_is_opened_again(self, backend: IndexBackend, name: str) -> None:
        assert name not in backend.names()
        with pytest.raises(MissingIndex):
            backend.open(name, embedder=None)
        _begin(backend, name)
        assert name in backend.names()
        again = backend.open(name, embedder=Trigrams())
        assert again.extra == {"revision": 1} and again.embedder_name == "trigrams"
        assert again.bm25_params == _BM25 and len(again) == len(DOCUMENTS)
        assert _ids(again.search("boot", 1)) == ["urn:boot"]
        assert _ids(backend.open(name, embedder=None).search("boot", 1, mode="bm25")) == ["urn:boot"]
        with pytest.raises(IndexMismatch):
            backend.open(name, embedder=Trigrams("another"))
        with pytest.raises(IndexError_):
            backend.create(name, embedder=Trigrams(), bm25=_BM25)
        backend.delete(name)
        assert name not in backend.names()
        backend.delete(name)

    def test_a_reader_sees_what_others_write(self, backend: IndexBackend, name: str) -> None:
        index = _begin(backend, name)
        reader = backend.open(name, embedder=Trigrams())
        assert not reader.refresh()
        index.sync([("urn:new", "A violet scarf")], extra={"revision": 2})
        assert reader.refresh() and reader.extra == {"revision": 2}
        assert _ids(reader.search("leather scarf", 5)) == ["urn:new"]

    def test_two_do_not_write_at_once(self, backend: IndexBackend, name: str) -> None:
        index = _begin(backend, name)
        other = backend.open(name, embedder=Trigrams())

        def documents() -> Iterator[tuple[str, str]]:
            with pytest.raises(IndexError_):
                other.sync(DOCUMENTS, extra={})
            yield "urn:new", "A violet scarf"

        index.sync(documents(), extra={})
        assert index.doc_ids == ["urn:new"]

    def test_words_alone_need_no_model(self, backend: IndexBackend, name: str) -> None:
        index = backend.create(name, embedder=None, bm25=_BM25)
        index.sync(DOCUMENTS, extra={})
        assert _ids(index.search("boot", 5)) == ["urn:boot"] and index.vectors_of(["urn:boot"]) == {}
        with pytest.raises(IndexMismatch):
            backend.open(name, embedder=Trigrams())

    def test_a_build_broken_off_leaves_the_old_index(
        self, backend: IndexBackend, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = Trigrams()
        index = _begin(backend, name, model)
        before = index.search("leather", 5), list(documents_of(index))
        more = [*DOCUMENTS[2:], *((f"urn:more:{n}", f"leather number {n}") for n in range(20))]
        model.fail_after = len(model.embedded) + 10
        with pytest.raises(KeyboardInterrupt):
            index.sync(more, extra={"revision": 2}, batch=5)
        model.fail_after = None
        whole = IndexChange.rows

        def half(change: IndexChange) -> Iterator[list[EngineRow]]:
            for rows in whole(change):
                yield rows[:7]
                raise KeyboardInterrupt

        if isinstance(index, EngineIndex):
            monkeypatch.setattr(IndexChange, "rows", half)
            with pytest.raises(KeyboardInterrupt):
                index.sync(more, extra={"revision": 2})
            monkeypatch.undo()
        for kept in (index, backend.open(name, embedder=Trigrams())):
            assert (kept.search("leather", 5), list(documents_of(kept))) == before
            assert kept.extra == {"revision": 1}
        assert index.sync(more, extra={"revision": 2}).added == 20
        assert list(documents_of(index)) == sorted(more)
        assert len(index.search("leather", 40, mode="bm25", allowed=[i for i, _ in more])) == 20

    def test_another_model_replaces_the_whole(self, backend: IndexBackend, name: str) -> None:
        _begin(backend, name)
        other = Trigrams("another", 24)
        index = backend.create(name, embedder=other, bm25=_BM25, replace=True)
        assert _ids(backend.open(name, embedder=Trigrams()).search("boot", 1)) == ["urn:boot"]
        index.sync(DOCUMENTS[:3], extra={})
        again = backend.open(name, embedder=other)
        assert again.doc_ids == sorted(i for i, _ in DOCUMENTS[:3])
        assert _ids(again.search("boot", 1, mode="dense")) == ["urn:boot"]
        with pytest.raises(IndexMismatch):
            backend.open(name, embedder=Trigrams())

    def test_a_graph_is_searched_and_followed(self, backend: IndexBackend, name: str, tmp_path: Path) -> None:
        def named(iri: str, label: str) -> Triple:
            return Triple(URIRef(iri), RDFS.label, Literal(label))

        with OxigraphStore(tmp_path / "store") as store:
            kg = KnowledgeGraph(store)
            kg.insert([named("urn:a", "A red dress"), named("urn:b", "A blue coat")])
            indexes = SimilarityIndexes.of(kg, backend)
            assert indexes.build(name, model="none").added == 2
            assert name in indexes.names() and not indexes.info(name).stale
            asked = queries.get("similarity/text").bind(
                index_term_parameters=[
                    (URIRef(INSTANCE + name), Literal("coat"), Literal("-numsearchresults 5"))
                ]
            )
            rows = kg.query(asked)
            assert isinstance(rows, SelectResult) and [str(r[0]) for r in rows] == ["urn:b"]
            kg.insert([named("urn:c", "A green coat")])
            assert indexes.info(name).stale
            with pytest.raises(StaleIndex):
                indexes.get(name, strict=True)
            assert freshen(kg, name) is None and not indexes.info(name).stale
            assert len(indexes.get(name).search("coat", 5)) == 2
            # It is written down where it is.
            again = SimilarityIndexes.of(KnowledgeGraph(store), backend if not backend.url else None)
            if backend.url:
                assert again.places.of(name).url == backend.url
            indexes.delete(name)
            assert name not in indexes.names()
