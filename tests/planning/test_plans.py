"""Plans mean on every store what the interpreter says."""

from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from rdflib import Literal, URIRef

from mrag.errors import EndpointError, QueryRefused, QueryTimeout
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.compiler import to_sparql
from mrag.planning.plan import Block, Column, Comparison, Contains, Pattern, Plan, Unknown
from mrag.rdf.parser import parse_query, walk
from tests.conftest import slow
from tests.planning.graphs import GRAPHS, HOSTILE, NAME
from tests.planning.stores import agree, graphs
from tests.planning.strategies import plans

PLANS = {"embedded": 100, "oxigraph server": 200, "virtuoso": 100}
"""How many plans are compared on each of the three graphs."""
MORE = 300
"""How many more the slow tests compare in the embedded store."""

Kept = tuple[str, dict[str, KnowledgeGraph]]


@pytest.fixture(scope="module", params=["embedded", *slow("oxigraph server", "virtuoso")])
def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    with graphs(request.param, tmp_path_factory.mktemp("plans")) as found:
        yield request.param, found


@pytest.mark.parametrize("name", GRAPHS)
def test_plans_agree_with_the_interpreter(stored: Kept, name: str) -> None:
    kind, found = stored
    compare(kind, kind, found, name, PLANS[kind])


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_more_plans_agree_with_the_interpreter(name: str, tmp_path: Path) -> None:
    with graphs("embedded", tmp_path) as found:
        compare("more", "embedded", found, name, MORE)


def compare(dice: str, kind: str, found: dict[str, KnowledgeGraph], name: str, count: int) -> None:
    """Compare as many random plans on a graph in a kind of store."""
    refused = []

    @seed(crc32(f"{dice} {name}".encode()))
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(plans())
    def compared(plan: Plan) -> None:
        try:
            agree(found[name], name, plan)
        except (EndpointError, QueryRefused, QueryTimeout) as error:
            # Its compiler of queries fails on some, and it refuses what it believes to take long; it says so.
            if kind != "virtuoso" or not any(w in str(error) for w in ("nternal", "estimated")):
                raise
            refused.append(plan)

    compared()
    assert len(refused) <= count // 10


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_text(stored: Kept, text: str) -> None:
    thing, name = Unknown("thing"), Unknown("name")
    named = (Pattern(thing, NAME, name),)
    for where in (
        Block((Pattern(thing, NAME, Literal(text)),)),
        Block(named, (Contains(name, text),)),
        Block(named, (Comparison(name, "=", Literal(text)),)),
        Block(named, without=(Block(conditions=(Contains(name, text, "start"),)),)),
    ):
        plan = Plan(where, (Column(thing, "thing"),))
        agree(stored[1]["messy"], "messy", plan)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_does_not_change_the_shape_of_a_query(text: str) -> None:
    def shape(words: str) -> list[type]:
        thing, name = Unknown("thing"), Unknown("name")
        where = Block(
            (Pattern(thing, NAME, name), Pattern(thing, URIRef("urn:p"), Literal(words, lang="en"))),
            (Contains(name, words), Comparison(name, "<", Literal(words))),
        )
        return [type(n) for n in walk(parse_query(to_sparql(Plan(where, (Column(thing, "thing"),))))[0])]

    assert shape(text) == shape("plain")
