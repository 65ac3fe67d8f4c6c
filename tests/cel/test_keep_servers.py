"""Concepts kept, explained and removed in servers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import mrag
from mrag.cel.concepts import keep_concept, list_concepts, member_differences, remove_concept
from mrag.cel.explain import why_not, why_satisfied
from mrag.cel.expressions import Named
from mrag.cel.problem import instances
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.reasoning.run import reason
from tests.cel.facts import PHOTOS, E
from tests.cel.test_keep import CLOSED, JACKET, OPEN
from tests.servers import free_port, oxigraph_server, running


def go_in_and_out(kg: KnowledgeGraph, settled: Callable[[KnowledgeGraph], object]) -> None:
    """Keep, explain and remove concepts; `settled` brings the graph up to date where its server does not."""
    kg.insert(PHOTOS)
    settled(kg)
    before = kg.count("asserted")
    for e in (OPEN[2], CLOSED[1]):
        held = instances(kg, e)
        kept = keep_concept(kg, e, "c")
        settled(kg)
        assert list_concepts(kg) == [kept] and keep_concept(kg, e, "c") == kept
        assert held and instances(kg, Named(kept.iri)) == held
        assert why_satisfied(kg, e, held[0]).holds
        assert remove_concept(kg, "c") and not list_concepts(kg) and kg.count("asserted") == before
        settled(kg)
        assert not instances(kg, Named(kept.iri))
    graphs, whole = kg.store.graphs(), kg.count()
    missing = why_not(kg, OPEN[1], E + "p4")
    assert missing.verified and missing.changes is not None and len(missing.changes) == 1
    assert kg.store.graphs() == graphs and kg.count() == whole


def test_in_a_server_that_does_not_reason(tmp_path: Path) -> None:
    def settled(kg: KnowledgeGraph) -> None:
        reason(kg)
        assert not any(member_differences(kg, kept) for kept in list_concepts(kg))

    with oxigraph_server(tmp_path, memory=True) as url, mrag.connect(url) as kg:
        go_in_and_out(kg, settled)


@pytest.mark.slow
def test_over_a_servers_protocol(tmp_path: Path) -> None:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "mrag", "serve", "--store", str(tmp_path / "data"), "--update"]
    with (
        running([*command, "--reason", "--port", str(port)], f"{base}/sparql", tmp_path / "log"),
        mrag.connect(f"graphdb:{base}/repositories/main") as kg,
    ):
        go_in_and_out(kg, lambda kg: None)
    with (
        running([*command, "--port", str(port)], f"{base}/sparql", tmp_path / "log"),
        mrag.connect(f"sparql:{base}/sparql?update={base}/sparql") as kg,
        pytest.raises(ConfigError, match="read only here"),
    ):
        keep_concept(kg, JACKET, "c")
