"""The towns, reasoned over, in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from tests.completion.towns import TURTLE


@pytest.fixture
def kg(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    (tmp_path / "towns.ttl").write_text(TURTLE, encoding="utf-8")
    with mrag.connect() as graph:
        graph.load([tmp_path / "towns.ttl"])
        mrag.reason(graph)
        graph.profile()
        yield graph
