"""The towns, reasoned over, in memory."""

from collections.abc import Iterator

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from tests.completion.towns import TOWNS


@pytest.fixture
def kg() -> Iterator[KnowledgeGraph]:
    with mrag.connect() as graph:
        graph.load([TOWNS])
        mrag.reason(graph)
        graph.profile()
        yield graph
