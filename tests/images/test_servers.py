"""Enrichment and search where the graph is on a server."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import mrag
from mrag.images.enrichment import EnrichSettings, describe
from mrag.images.graph import described, image_texts
from mrag.images.rankers import ImageTextRanker
from mrag.rdf import queries
from mrag.retrieval.rankers import Question
from tests.conftest import slow
from tests.images.conftest import E, turtle
from tests.images.seeing_server import SeeingServer
from tests.servers import graphdb_protocol, oxigraph_server


def store(kind: str, folder: Path) -> AbstractContextManager[str]:
    return oxigraph_server(folder, memory=True) if kind == "oxigraph" else graphdb_protocol(folder)


@pytest.mark.parametrize("kind", ["oxigraph", *slow("graphdb")])
def test_a_graph_on_a_server_is_enriched_in_two_runs(
    kind: str, photos: Path, tmp_path: Path, seeing: SeeingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    (tmp_path / "g.ttl").write_text(turtle(), encoding="utf-8")
    with store(kind, tmp_path) as url:
        with mrag.connect(url) as kg:
            kg.load([tmp_path / "g.ttl"])
            before = kg.revision
            assert describe(kg, folder=photos, settings=EnrichSettings(limit=2)).described == 2
            assert kg.revision > before
            assert len(described(kg)) == 2
        with mrag.connect(url) as kg:
            report = describe(kg, folder=photos)
            assert (report.described, report.already) == (4, 2)
            assert len(kg.select(queries.get("image/provenance").text)) == 6
            assert kg.record.triples == kg.count("asserted")
            (hit,) = ImageTextRanker(kg, "bm25").rank(Question("yellow"), 1)
            assert hit.iri == E + "image_4"
        with mrag.connect(url) as kg:
            parts = EnrichSettings(regions="quarters")
            assert describe(kg, folder=photos, settings=parts).described == 24
        with mrag.connect(url) as kg:
            assert describe(kg, folder=photos, settings=parts).already == 30
            assert [len(one.regions) for one in image_texts(kg)] == [4] * 6
    assert len(seeing.asked) == 30
    assert list((tmp_path / "home").rglob("descriptions.jsonl"))
