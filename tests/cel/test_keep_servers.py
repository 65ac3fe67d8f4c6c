"""Concepts kept, explained and removed in servers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import mrag
from mrag.cel.concepts import keep_concept, list_concepts, member_differences, remove_concept
from mrag.cel.explain import why_not, why_satisfied
from mrag.cel.expressions import Named
from mrag.cel.problem import instances
from mrag.errors import ConfigError
from mrag.reasoning.run import reason
from tests.cel.plain import E
from tests.cel.test_keep import CLOSED, JACKET, OPEN, photos
from tests.servers import free_port, oxigraph_server, running


def test_in_a_server_that_does_not_reason(tmp_path: Path) -> None:
    with oxigraph_server(tmp_path, memory=True) as url, mrag.connect(url) as kg:
        kg.insert(photos())
        reason(kg)
        before = kg.count()
        for e in (OPEN[2], CLOSED[1]):
            held = instances(kg, e)
            kept = keep_concept(kg, e, "c")
            reason(kg)
            assert list_concepts(kg) == [kept] and keep_concept(kg, e, "c") == kept
            assert held and instances(kg, Named(kept.iri)) == held and not member_differences(kg, kept)
            assert why_satisfied(kg, e, held[0]).holds
            assert remove_concept(kg, "c") and not list_concepts(kg) and kg.count() == before
            reason(kg)
        graphs = kg.store.graphs()
        missing = why_not(kg, OPEN[1], E + "p4")
        assert missing.verified and missing.changes is not None and len(missing.changes) == 1
        assert kg.store.graphs() == graphs and kg.count() == before


@pytest.mark.slow
def test_over_a_servers_protocol(tmp_path: Path) -> None:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "mrag", "serve", "--store", str(tmp_path / "data"), "--update"]
    with (
        running([*command, "--reason", "--port", str(port)], f"{base}/sparql", tmp_path / "log"),
        mrag.connect(f"graphdb:{base}/repositories/main") as kg,
    ):
        kg.insert(photos())
        before = kg.count("asserted")
        for e in (OPEN[2], CLOSED[1]):
            held = instances(kg, e)
            kept = keep_concept(kg, e, "c")
            assert list_concepts(kg) == [kept] and keep_concept(kg, e, "c") == kept
            assert held and instances(kg, Named(kept.iri)) == held
            assert why_satisfied(kg, e, held[0]).holds
            assert remove_concept(kg, "c") and not list_concepts(kg)
            assert not instances(kg, Named(kept.iri)) and kg.count("asserted") == before
        missing = why_not(kg, OPEN[1], E + "p4")
        assert missing.verified and missing.changes is not None and len(missing.changes) == 1
    with (
        running([*command, "--port", str(port)], f"{base}/sparql", tmp_path / "log"),
        mrag.connect(f"sparql:{base}/sparql?update={base}/sparql") as kg,
        pytest.raises(ConfigError, match="read only here"),
    ):
        keep_concept(kg, JACKET, "c")
