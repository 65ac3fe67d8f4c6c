"""The same sets from servers, a real Oxigraph server and a real Virtuoso; and concepts kept in them."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from rdflib import Graph, Literal

import mrag
from mrag.cel.concepts import keep_concept, list_concepts, member_differences, remove_concept
from mrag.cel.evaluate import World
from mrag.cel.explain import why_satisfied
from mrag.cel.expressions import And, Expression, Named, Property, Top, Value, key, normal, walk
from mrag.cel.learners.base import learner
from mrag.cel.problem import LearningProblem, confusion, instances, instances_among
from mrag.errors import ConfigError
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.reasoning.run import reason
from mrag.stores.http import Access
from tests.cel.graphs import PHOTOS
from tests.cel.plain import CLASSES, INDIVIDUALS, ROLES, UNWATCHED, Plain, expressions, schema
from tests.cel.test_keep import CLOSED, JACKET, OPEN
from tests.conftest import slow
from tests.servers import free_port, oxigraph_server, running, virtuoso_server

A, B, C = CLASSES
a, b, c, d, e, f = INDIVIDUALS
R, S = ROLES
TURTLE = """@prefix : <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:a a :A ; :r :a , :b , :c ; :s :untyped ; :data 1 , 7 . :b a :A , :B ; :r :d ; :s :a ; :data 2.5e0 .
:c a :B ; :r :c ; :s :a ; :data 2 . :d a :C ; :s :e ; :data "red" .
:e a :C ; :s :f ; :data "2024-03-01"^^xsd:date . :f a owl:NamedIndividual ; :r :a , :d .
"""
GRAPH = frozenset([*schema(), *(Triple(*t) for t in Graph().parse(data=TURTLE))])  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=["oxigraph", *slow("virtuoso")])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    folder: Path = tmp_path_factory.mktemp(request.param)
    if request.param == "oxigraph":
        context, access = oxigraph_server(folder), None
    else:
        context, access = virtuoso_server(folder), Access(user="dba", password="dba")
    with context as url:
        store, _ = open_store(url, access)
        with KnowledgeGraph(store) as kg:
            kg.insert(GRAPH)
            yield kg


def comparable(x: Expression) -> bool:
    """Tell whether servers agree on it: Virtuoso has no booleans of its own."""
    return not any(isinstance(part, Value) and part.value in map(Literal, (True, False)) for part in walk(x))


@settings(UNWATCHED, max_examples=40, derandomize=True)
@given(x=expressions.filter(comparable))
def test_random_expressions_hold_the_same_on_a_server(server: KnowledgeGraph, x: Expression) -> None:
    expected = Plain(GRAPH).instances(x)
    assert set(instances(server, x)) == expected, key(normal(x))
    assert instances_among(server, x, [a, c, e]) == expected & {a, c, e}, key(normal(x))


def test_counts_worlds_and_learning_on_a_server(server: KnowledgeGraph) -> None:
    plain = Plain(GRAPH)
    several = [Named(A), Top(), And((Named(A), Named(B))), Value(Property(R), c)]
    counts = confusion(server, several, [a, b, c], [d, e, f])
    held = [plain.instances(x) for x in several]
    assert [(k.tp, k.fp) for k in counts] == [(len(h & {a, b, c}), len(h & {d, e, f})) for h in held]
    around = World.around(server, [a, b], steps=2)
    assert set(around.instances(Named(A))) == {a, b}
    problem = LearningProblem([a, b, c], [d, e])
    best = learner("search", server, seconds=60).fit(problem)[0]
    assert best.solved and plain.instances(best.expression) & {*problem.examples} == {a, b, c}


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
