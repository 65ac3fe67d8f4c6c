"""The knowledge base of the published problems of Family."""

from collections.abc import Iterator

import pytest

from mrag.cel.problem import LearningProblem, read_problems
from mrag.graph.kg import KnowledgeGraph
from mrag.reasoning.run import reason
from mrag.stores.oxigraph import OxigraphStore
from tests.conftest import shared_data


@pytest.fixture(scope="session")
def family() -> Iterator[KnowledgeGraph]:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([shared_data("cel_kbs/drill/Family/family-benchmark_rich_background.owl")])
        reason(kg)
        yield kg


@pytest.fixture(scope="session")
def problems() -> dict[str, LearningProblem]:
    return read_problems(shared_data("cel_kbs/drill/Family/lp_dl_learner.json"))
