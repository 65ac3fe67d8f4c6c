"""OpenSearch: the shipped suite over a server of their contract, or a real one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mrag.errors import ConfigError, IndexError_
from mrag.index import Bm25Params
from mrag.index.backends.base import open_backend
from mrag.storage.files import make_folder
from mrag.testing.indexes import DOCUMENTS, Trigrams
from tests.index.search_server import SearchServer, serving, stored_length


@pytest.mark.parametrize("version", [2, 3])
def test_scores_are_those_of_the_local_index(version: int, tmp_path: Path) -> None:
    with serving(SearchServer(version)) as address:
        backends = open_backend(f"opensearch:{address}", "g", tmp_path), open_backend("local:", "", None)
        index, local = (b.create("main", embedder=Trigrams(), bm25=Bm25Params()) for b in backends)
        index.sync(DOCUMENTS, extra={})
        local.sync(DOCUMENTS, extra={})
        for mode in ("bm25", "dense", "hybrid"):
            found, wanted = (i.search("red leather of a twin", 9, mode=mode) for i in (index, local))
            assert {m.doc_id: m.score for m in found} == {
                m.doc_id: pytest.approx(m.score, abs=1e-5) for m in wanted
            }


@pytest.fixture
def opensearch() -> Iterator[tuple[SearchServer, str]]:
    server = SearchServer(3)
    with serving(server) as address:
        yield server, f"opensearch:{address}"


def test_documents_that_are_refused_as_too_many_are_sent_again(
    opensearch: tuple[SearchServer, str], tmp_path: Path
) -> None:
    server, url = opensearch
    index = open_backend(url, "g", tmp_path).create("main", embedder=None, bm25=Bm25Params())
    server.busy = len(DOCUMENTS) + 3
    assert index.sync(DOCUMENTS, extra={}).added == len(DOCUMENTS)
    assert index.doc_ids == sorted(doc_id for doc_id, _ in DOCUMENTS) and not server.busy
    documents = [r for r in server.requests if r.endswith("_bulk") and "mrag_registry" not in r]
    assert len(documents) == 3


def test_large_filters_long_queries_and_many_hits_stay_below_the_limits(
    opensearch: tuple[SearchServer, str], tmp_path: Path
) -> None:
    index = open_backend(opensearch[1], "g", tmp_path).create("main", embedder=Trigrams(), bm25=Bm25Params())
    index.sync([*DOCUMENTS, ("urn:long", "x" * 300 + " seldom")], extra={})
    allowed = ["urn:boot", *(f"urn:none:{n}" for n in range(70_000))]
    assert [m.doc_id for m in index.search("leather", 5, allowed=allowed)] == ["urn:boot"]
    text = " ".join(f"word{n}" for n in range(2000)) + " boot boot"
    assert [m.doc_id for m in index.search(text, 5, mode="bm25")] == ["urn:boot"]
    assert [m.doc_id for m in index.search("x" * 300, 5, mode="bm25")] == ["urn:long"]
    assert len(index.search("leather", 20_000, mode="dense")) == len(DOCUMENTS) + 1
    assert len(index.search("leather", 20_000)) == len(DOCUMENTS) + 1


def test_the_login_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = SearchServer(3, login="ApiKey abc123")
    with serving(server) as address:
        url = f"opensearch:{address}"
        with pytest.raises(IndexError_, match="401") as error:
            open_backend(url, "g", tmp_path).names()
        assert "MRAG_OPENSEARCH_KEY" in str(error.value)
        monkeypatch.setenv("MRAG_OPENSEARCH_KEY", "abc123")
        assert open_backend(url, "g", tmp_path).names() == []
        monkeypatch.delenv("MRAG_OPENSEARCH_KEY")
        server.login = "Basic bWU6b2s="
        monkeypatch.setenv("MRAG_OPENSEARCH_USER", "me")
        monkeypatch.setenv("MRAG_OPENSEARCH_PASSWORD", "ok")
        assert open_backend(url, "g", tmp_path).names() == []
        server.login = "Bearer t0ken"
        monkeypatch.setenv("MRAG_OPENSEARCH_TOKEN", "t0ken")
        assert open_backend(url, "g", tmp_path).names() == []


def test_a_wrong_address_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no address"):
        open_backend("opensearch:host", "g", tmp_path)
    with pytest.raises(ConfigError, match="no password"):
        open_backend("opensearch:http://me:secret@host:9200", "g", tmp_path)
    with pytest.raises(IndexError_, match="cannot be reached"):
        open_backend("opensearch:http://127.0.0.1:1", "g", tmp_path).names()


def test_what_another_process_built_anew_is_read_again(
    opensearch: tuple[SearchServer, str], tmp_path: Path
) -> None:
    make_folder(tmp_path / "other")
    ours, other = (open_backend(opensearch[1], "g", tmp_path / name) for name in ("ours", "other"))
    ours.create("main", embedder=None, bm25=Bm25Params()).sync(DOCUMENTS, extra={})
    reader = other.open("main", embedder=None)
    ours.create("main", embedder=None, bm25=Bm25Params(), replace=True).sync(DOCUMENTS[:2], extra={})
    assert len(reader.search("leather", 9)) == 2 and len(reader) == 2
    ours.delete("main")
    assert other.names() == []


def test_lengths_are_kept_as_lucene_keeps_them() -> None:
    # https://lucene.apache.org/core/9_0_0/core/org/apache/lucene/util/SmallFloat.html
    assert [stored_length(n) for n in (0, 39, 40, 41, 42, 57, 1000)] == [0, 39, 40, 40, 42, 56, 984]
