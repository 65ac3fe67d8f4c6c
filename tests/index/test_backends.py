"""The shipped suite over every backend that can run here, and one graph whose index moves."""

import importlib.util
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

import mrag
from mrag.errors import ConfigError, IndexError_
from mrag.front import NarrowedGraph
from mrag.index import Abilities, Bm25Params, DocumentIndex, IndexBackend, SimilarityIndexes
from mrag.index.backends.base import LocalBackend, documents_of, open_backend
from mrag.index.backends.engine import EngineIndex, IndexView, ScoredIds, search
from mrag.index.backends.vector_store import VectorStoreBackend
from mrag.index.bm25 import Bm25Index
from mrag.index.document_index import TextSearch
from mrag.index.embedding import WordLlamaEmbedder
from mrag.storage.files import make_folder
from mrag.stores.base import SelectResult
from mrag.testing.indexes import DOCUMENTS, IndexConformance, Trigrams
from tests.commands import run
from tests.conftest import PRODUCTS, ROOT, slow
from tests.java_servers import opensearch_server
from tests.servers import Quiet, answering

REAL = {"qdrant": "MRAG_TEST_QDRANT", "opensearch": "MRAG_TEST_OPENSEARCH"}
"""Variables that name servers on which the suite runs too."""


def needs(*packages: str) -> pytest.MarkDecorator:
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


BACKENDS = [
    "local", pytest.param("postgres", marks=needs("psycopg", "pgserver")), "vectors",
    pytest.param("milvus", marks=[pytest.mark.slow, needs("pymilvus", "milvus_lite")]),
    pytest.param("qdrant", marks=needs("qdrant_client")), *slow("opensearch"),
    *(f"{kind}:{os.environ[name]}" for kind, name in REAL.items() if name in os.environ),
]  # fmt: skip


class TestBackends(IndexConformance):
    @pytest.fixture(scope="class", params=BACKENDS)
    @classmethod
    def backend(
        cls, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[IndexBackend]:
        folder, kind = tmp_path_factory.mktemp("index"), str(request.param)
        match kind:
            case "local":
                yield LocalBackend(folder)
                return
            case "vectors":
                yield VectorStoreBackend(in_memory(), folder)
                return
            case "postgres":
                url = request.getfixturevalue("postgres")
            case "milvus":
                url = f"milvus:{folder / 'milvus.db'}"
            case "qdrant":
                url = f"qdrant:{folder}"
            case "opensearch":
                url = request.getfixturevalue("opensearch")
            case _:
                url = kind
        yield open_backend(url, "conformance", folder / "pending")


def in_memory() -> Callable[[str, Embeddings], VectorStore]:
    stores: dict[str, VectorStore] = {}

    def opened(name: str, embeddings: Embeddings) -> VectorStore:
        store = stores.setdefault(name, InMemoryVectorStore(embeddings))
        store.embedding = embeddings  # type: ignore[attr-defined]
        return store

    return opened


def test_an_unknown_engine_and_a_graph_in_memory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No index can be kept"):
        open_backend("redis://localhost", "", tmp_path)
    with pytest.raises(ConfigError, match="in memory"):
        open_backend("postgresql://localhost/x", "", None)


@needs("psycopg")
@pytest.mark.parametrize("url", ["postgresql://u:secret@h/d", "postgresql://h/d?password=secret"])
def test_a_password_is_not_written_down(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError) as error:
        open_backend(url, "", tmp_path)
    assert "secret" not in str(error.value)


@needs("psycopg")
def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    backend = open_backend("postgresql://mrag@127.0.0.1:1/none", "", tmp_path)
    with pytest.raises(IndexError_, match="PostgreSQL says"):
        backend.names()


@needs("psycopg", "pgserver")
def test_a_search_goes_on_in_the_index_that_was_built_anew(postgres: str, tmp_path: Path) -> None:
    backend = open_backend(postgres, "anew", tmp_path)
    index = backend.create("main", embedder=None, bm25=Bm25Params())
    index.sync(DOCUMENTS, extra={})
    assert isinstance(index, EngineIndex)
    times = iter([True, False, False])

    def ask(view: IndexView) -> dict[str, str]:
        if next(times):
            backend.create("main", embedder=None, bm25=Bm25Params(), replace=True).sync(
                DOCUMENTS[:1], extra={}
            )
        return view.texts(["urn:shoe", "urn:boot"])

    assert index._read(ask) == dict(DOCUMENTS[:1])


@needs("psycopg", "pgserver")
class TestOneGraph:
    """A graph on disk whose index goes to an engine and is found there again."""

    @pytest.fixture(scope="class")
    @classmethod
    def place(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = tmp_path_factory.mktemp("graph")
        with mrag.connect(f"oxigraph:{folder / 'db'}") as kg:
            kg.load([PRODUCTS])
            kg.index(model="wordllama")
        return folder

    def test_copied_without_embedding_and_found_again(
        self, place: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        question = mrag.Question("open source reasoner")
        with mrag.connect(f"oxigraph:{place / 'db'}") as kg:
            wanted = mrag.SimilarityRanker(kg).rank(question, 10)
            with monkeypatch.context() as refused:
                refused.setattr(WordLlamaEmbedder, "embed_documents", None)
                assert SimilarityIndexes.of(kg).build(model="wordllama", backend=postgres).added == 264
            found = mrag.SimilarityRanker(kg).rank(question, 10)
            assert [h.iri for h in found] == [h.iri for h in wanted]
        with mrag.connect(f"oxigraph:{place / 'db'}") as kg:
            indexes = SimilarityIndexes.of(kg)
            assert indexes.places.of("main").url == postgres and indexes.names() == ["main"]
            # What another host adds is told at once, as the index that is open is looked at again.
            assert indexes.get("main") is indexes.get("main") and indexes.info("main").documents == 264
            other = SimilarityIndexes.of(kg).places.of("main").open("main", embedder=None)
            gone = other.doc_ids[0]
            text = other.text_of(gone)
            other.delete([gone])
            assert indexes.info("main").documents == 263
            assert indexes.get("main").files.add([(gone, text)]).added == 1
            assert [h.iri for h in mrag.SimilarityRanker(kg).rank(question, 10)] == [h.iri for h in wanted]
            assert not indexes.info().stale
            # And back again, to the last bit of the vectors.
            before = dict(documents_of(indexes.get(quiet=True).files))
            vectors = indexes.get(quiet=True).files.vectors_of(before)
            indexes.build(model="wordllama", backend="local:")
            again = indexes.get(quiet=True).files
            assert isinstance(again, DocumentIndex) and dict(documents_of(again)) == before
            assert all(v.tobytes() == vectors[i].tobytes() for i, v in again.vectors_of(before).items())

    def test_a_part_of_the_graph_and_sparql_search_it(self, tmp_path: Path, postgres: str) -> None:
        (tmp_path / "a.trig").write_text(
            "PREFIX e: <urn:e:> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
            'e:one { e:coat rdfs:label "A blue coat" } e:two { e:hat rdfs:label "A blue hat" }'
        )
        with mrag.connect(f"oxigraph:{tmp_path / 'db'}") as kg:
            kg.load([tmp_path / "a.trig"])
            SimilarityIndexes.of(kg, postgres).build("parts", model="none")
            text = (
                "PREFIX : <http://www.ontotext.com/graphdb/similarity/>\n"
                "PREFIX inst: <http://www.ontotext.com/graphdb/similarity/instance/>\n"
                "SELECT ?d { ?s a inst:parts ; :searchTerm 'blue' ; "
                ":documentResult [ :value ?d ] } ORDER BY ?d"
            )
            rows = kg.query(text)
            assert isinstance(rows, SelectResult) and [str(d) for (d,) in rows] == ["urn:e:coat", "urn:e:hat"]
        with mrag.connect(f"oxigraph:{tmp_path / 'db'}") as kg:
            part = NarrowedGraph(kg, "urn:e:two")
            hits = mrag.SimilarityRanker(part, "parts").rank(mrag.Question("blue"), 5)
            assert [hit.iri for hit in hits] == ["urn:e:hat"]
        # With the graph its index goes.
        deleted = run(
            "kgs", "--delete", "main", "--yes", "--store", f"oxigraph:{tmp_path / 'db'}", cwd=tmp_path
        )
        assert deleted.returncode == 0, deleted.stderr
        with mrag.connect(f"oxigraph:{tmp_path / 'db'}") as kg:
            assert SimilarityIndexes.of(kg, postgres).names() == []

    def test_by_command(self, place: Path, postgres: str) -> None:
        store, words = ("--store", f"oxigraph:{place / 'db'}"), ("index", "--name", "words")
        built = run(*words, *store, "--embedder", "none", "--backend", postgres, "--json", cwd=place)
        assert built.returncode == 0, built.stderr
        assert json.loads(built.stdout)["documents"] == 264


def test_the_page_says_what_each_backend_approximates() -> None:
    lines = (
        (ROOT / "docs/index-backends.md").read_text().partition("## What each does exactly")[2].splitlines()
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    kinds: dict[str, str] = {
        "local": "base.LocalBackend", "PostgreSQL": "postgres.PostgresBackend",
        "Qdrant": "qdrant.QdrantBackend", "Milvus": "milvus.MilvusBackend",
        "OpenSearch": "opensearch.OpenSearchBackend", "LangChain": "vector_store.VectorStoreBackend",
    }  # fmt: skip
    assert rows[0][1:] == list(kinds)
    for column, place in enumerate(kinds.values(), 1):
        module, _, name = place.rpartition(".")
        backend = getattr(importlib.import_module(f"mrag.index.backends.{module}"), name)
        can: Abilities = backend.abilities
        told = [can.exact_words, can.exact_vectors, can.live_statistics, can.snapshots]
        told += [can.readable, can.learns]
        assert [row[column] == "yes" for row in rows[2:]] == told, name


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

    def by_words(self, query: Mapping[str, int], k: int, allowed: Collection[str] | None) -> ScoredIds:
        rows, scores = self._words.search(" ".join(query), k)
        names = list(self._texts)
        return [(names[row], float(score)) for row, score in zip(rows, scores, strict=True)]

    def by_vector(self, vector: Vector, k: int, allowed: Collection[str] | None) -> ScoredIds:
        found = [(name, float(v @ vector)) for name, v in self._vectors.items() if name not in self._blind]
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


@pytest.fixture(scope="module")
def opensearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real OpenSearch."""
    with opensearch_server(tmp_path_factory.mktemp("opensearch")) as base:
        yield f"opensearch:{base}"


@pytest.mark.slow
def test_scores_are_those_of_the_local_index(opensearch: str, tmp_path: Path) -> None:
    backends = open_backend(opensearch, "scores", tmp_path), open_backend("local:", "", None)
    index, local = (b.create("main", embedder=Trigrams(), bm25=Bm25Params()) for b in backends)
    index.sync(DOCUMENTS, extra={})
    local.sync(DOCUMENTS, extra={})
    for mode, exact in (("bm25", 0.01), ("dense", 1e-5), ("hybrid", 0.01)):
        found, wanted = (i.search("red leather of a twin", 9, mode=mode) for i in (index, local))
        near = {m.doc_id: pytest.approx(m.score, rel=exact, abs=1e-5) for m in wanted}
        assert {m.doc_id: m.score for m in found} == near


@pytest.mark.slow
def test_documents_that_are_refused_as_too_many_are_sent_again(opensearch: str, tmp_path: Path) -> None:
    refused: list[str] = []

    class Busy(Quiet):
        """Passes on what it is asked, but takes in no document before it was sent twice."""

        def _handle(self) -> None:
            raw, document = self.body(), b'"id":"urn:'
            if self.path.endswith("/_bulk") and document in raw and len(refused) < 2:
                refused.append(self.path)
                heads = [json.loads(line)["index"] for line in raw.splitlines()[::2]]
                items = [{"index": {**head, "status": 429, "error": {"type": "busy"}}} for head in heads]
                return self.answer(
                    200, json.dumps({"errors": True, "items": items}).encode(), "application/json"
                )
            url, kind = opensearch.partition(":")[2] + self.path, self.headers.get("Content-Type")
            given = requests.request(
                self.command, url, data=raw, headers={"Content-Type": kind} if kind else {}
            )
            return self.answer(given.status_code, given.content, "application/json")

        do_GET = do_PUT = do_POST = do_DELETE = _handle

    with answering(Busy) as at:
        backend = open_backend(f"opensearch:http://{at}", "busy", tmp_path)
        index = backend.create("main", embedder=None, bm25=Bm25Params())
        assert index.sync(DOCUMENTS, extra={}).added == len(DOCUMENTS)
        assert index.doc_ids == sorted(doc_id for doc_id, _ in DOCUMENTS) and len(refused) == 2


@pytest.mark.slow
def test_large_filters_long_queries_and_many_hits_stay_below_limits(opensearch: str, tmp_path: Path) -> None:
    index = open_backend(opensearch, "large", tmp_path).create("main", embedder=Trigrams(), bm25=Bm25Params())
    index.sync([*DOCUMENTS, ("urn:long", "x" * 300 + " seldom")], extra={})
    allowed = ["urn:boot", *(f"urn:none:{n}" for n in range(70_000))]
    assert [m.doc_id for m in index.search("leather", 5, allowed=allowed)] == ["urn:boot"]
    text = " ".join(f"word{n}" for n in range(2000)) + " boot boot"
    assert [m.doc_id for m in index.search(text, 5, mode="bm25")] == ["urn:boot"]
    assert [m.doc_id for m in index.search("x" * 300, 5, mode="bm25")] == ["urn:long"]
    assert len(index.search("leather", 20_000, mode="dense")) == len(DOCUMENTS) + 1
    assert len(index.search("leather", 20_000)) == len(DOCUMENTS) + 1


@pytest.mark.slow
def test_what_another_process_built_anew_is_read_again(opensearch: str, tmp_path: Path) -> None:
    make_folder(tmp_path / "other")
    ours, other = (open_backend(opensearch, "two", tmp_path / name) for name in ("ours", "other"))
    ours.create("main", embedder=None, bm25=Bm25Params()).sync(DOCUMENTS, extra={})
    reader = other.open("main", embedder=None)
    ours.create("main", embedder=None, bm25=Bm25Params(), replace=True).sync(DOCUMENTS[:2], extra={})
    assert len(reader.search("leather", 9)) == 2 and len(reader) == 2
    ours.delete("main")
    assert other.names() == []


@pytest.fixture
def guarded() -> Iterator[tuple[list[str | None], str]]:
    """What stands before an OpenSearch: it says in a text what it refuses, and notes the logins."""
    logins: list[str | None] = []

    class Guard(Quiet):
        def do_GET(self) -> None:
            logins.append(self.headers.get("Authorization"))
            self.answer(
                401 if logins[-1] is None else 200, b'{"error": "no upstream here"}', "application/json"
            )

    with answering(Guard) as at:
        yield logins, f"opensearch:http://{at}"


def test_an_error_that_is_a_text_and_the_login_of_the_environment(
    guarded: tuple[list[str | None], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logins, url = guarded
    with pytest.raises(IndexError_, match=r"\(401\): no upstream here.*MRAG_OPENSEARCH_KEY"):
        open_backend(url, "g", tmp_path).names()
    for variables, login in (
        ({"KEY": "abc123"}, "ApiKey abc123"),
        ({"USER": "me", "PASSWORD": "ok"}, "Basic bWU6b2s="),
        ({"TOKEN": "t0ken"}, "Bearer t0ken"),
    ):
        with monkeypatch.context() as some:
            for name, value in variables.items():
                some.setenv(f"MRAG_OPENSEARCH_{name}", value)
            with pytest.raises(IndexError_, match=r"\(200\): no upstream here"):
                open_backend(url, "g", tmp_path).names()
        assert logins[-1] == login


def test_a_wrong_address_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no address"):
        open_backend("opensearch:host", "g", tmp_path)
    with pytest.raises(ConfigError, match="no password"):
        open_backend("opensearch:http://me:secret@host:9200", "g", tmp_path)
    with pytest.raises(IndexError_, match="cannot be reached"):
        open_backend("opensearch:http://127.0.0.1:1", "g", tmp_path).names()
