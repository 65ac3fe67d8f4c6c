"""Plans that are run: ties, what comes next, and limits."""

from collections.abc import Iterator

import pytest
from rdflib import Literal, URIRef

from mrag.errors import ConfigError, QueryTimeout
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Aggregate, Block, Column, Comparison, Number, Order, Pattern, Plan, Unknown
from mrag.planning.run import run
from mrag.rdf.terms import Triple
from mrag.stores.base import Limits
from mrag.stores.oxigraph import OxigraphStore

X, SIZE = Unknown("x"), Unknown("size")
SIZES = [9, "9 m", "8", 8.0, 7, 7, 7, "unknown", 1]
WHERE = Block((Pattern(X, URIRef("urn:size"), SIZE),))
SHOWN = (Column(X, "x"), Column(Number(SIZE), "size"))


@pytest.fixture(scope="module")
def sizes() -> Iterator[KnowledgeGraph]:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(
            Triple(URIRef(f"urn:x{i}"), URIRef("urn:size"), Literal(size)) for i, size in enumerate(SIZES)
        )
        yield kg


def names(kg: KnowledgeGraph, limit: int | None, offset: int = 0, *, ties: bool = False) -> tuple[str, str]:
    order = (Order("size", descending=True),)
    found = run(kg, Plan(WHERE, SHOWN, order=order, limit=limit, offset=offset, ties=ties))
    assert not found.truncated
    return tuple(  # type: ignore[return-value]
        "".join(str(row[0]).removeprefix("urn:x") for row in rows) for rows in (found.rows, found.runners_up)
    )


def test_ties_are_shown_with_the_last_row(sizes: KnowledgeGraph) -> None:
    assert names(sizes, 1) == ("0", "1234568")
    assert names(sizes, 1, ties=True) == ("01", "234568")
    assert names(sizes, 3, ties=True) == ("0123", "4568")
    assert names(sizes, 2, 2, ties=True) == ("23", "4568")
    assert names(sizes, 5, ties=True) == ("0123456", "8")


def test_what_has_no_value_is_last_and_wins_nothing(sizes: KnowledgeGraph) -> None:
    assert names(sizes, None) == ("012345687", "")
    assert names(sizes, 100) == ("01234568", "")


def test_an_answer_that_is_cut_says_so(sizes: KnowledgeGraph) -> None:
    found = run(sizes, Plan(WHERE, (Column(X, "x"),)), limits=Limits(seconds=10, rows=4))
    assert found.truncated
    assert [str(x) for (x,) in found.rows] == [f"urn:x{i}" for i in range(4)]


def test_many_ties_are_cut_and_that_is_said() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(Triple(URIRef(f"urn:x{i:03}"), URIRef("urn:size"), Literal(1)) for i in range(300))
        plan = Plan(WHERE, SHOWN, order=(Order("size"),), limit=1, ties=True)
        assert run(kg, plan).truncated
        assert not run(kg, plan).runners_up


def test_sums_that_are_equal_but_for_rounding_are_ties() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        parts = {"a": (0.1, 0.2, 0.3), "b": (0.6,), "c": (0.5,)}
        kg.insert(
            Triple(URIRef(f"urn:{name}"), URIRef("urn:size"), Literal(v))
            for name in parts
            for v in parts[name]
        )
        total = Column(Aggregate("sum", SIZE, (X,)), "total")
        found = run(
            kg, Plan(WHERE, (Column(X, "x"), total), order=(Order("total", True),), limit=1, ties=True)
        )
        assert [tuple(map(str, row)) for row in found.rows] == [("urn:a", "0.6"), ("urn:b", "0.6")]


def test_nothing_runs_past_its_deadline() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(Triple(URIRef(f"urn:x{i}"), URIRef("urn:size"), Literal(i)) for i in range(2000))
        others = [Unknown(f"x{i}") for i in range(4)]
        pairs = Block(tuple(Pattern(o, URIRef("urn:size"), Unknown(f"s{i}")) for i, o in enumerate(others)))
        with pytest.raises(QueryTimeout):
            run(
                kg,
                Plan(pairs, (Column(Aggregate("count", of=tuple(others)), "n"),)),
                limits=Limits(seconds=0.5),
            )


@pytest.mark.parametrize(
    "plan",
    [
        Plan(columns=(Column(X, "x"),)), Plan(WHERE, (Column(X, "x } DROP"),)),
        Plan(Block((Pattern(Unknown("a b"), URIRef("urn:size"), SIZE),))),
        Plan(WHERE, (Column(X, "x"),), limit=-1), Plan(WHERE, (Column(X, "x"), Column(SIZE, "x"))),
        Plan(WHERE, (Column(X, "x"),), order=(Order("size"),)),
        Plan(Block(WHERE.patterns, (Comparison(Aggregate("count", of=(X,)), ">", Literal(1)),))),
        Plan(WHERE, (Column(Aggregate("sum", of=(X,)), "n"),)),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(sizes: KnowledgeGraph, plan: Plan) -> None:
    with pytest.raises(ConfigError):
        run(sizes, plan)
