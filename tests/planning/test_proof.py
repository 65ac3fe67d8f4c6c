"""The triples that prove a row are in the graph, and the plan gives the row again over them alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from rdflib import URIRef

from mrag.generation.result import Citation
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.evidence.witnesses import blocks_of_rows
from mrag.planning.interpreter import evaluate
from mrag.planning.plan import Block, Column, Comparison, Pattern, Plan, Relation, Unknown
from mrag.planning.proof import proofs, prove
from mrag.planning.run import run
from mrag.rdf.terms import Triple
from tests.planning.graphs import GRAPHS, KNOWS, NAME, SIZE, THINGS, WHEN
from tests.planning.stores import graphs, value
from tests.planning.strategies import plans


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, KnowledgeGraph]]:
    with graphs("embedded", tmp_path_factory.mktemp("proofs")) as found:
        yield found


@pytest.mark.parametrize("name", GRAPHS)
def test_a_plan_gives_a_row_again_over_its_proof(embedded: dict[str, KnowledgeGraph], name: str) -> None:
    kg = embedded[name]

    @seed(len(name))
    @settings(
        max_examples=30,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(plans())
    def proved(plan: Plan) -> None:
        result = run(kg, plan)
        row = result.rows[0] if result.rows else ()
        proof = prove(kg, plan, row, most=500)
        assert set(proof.triples) <= GRAPHS[name]
        if plan.yes_or_no and not result.holds:
            assert not proof.triples or plan.grouped
        # What is compared with a value over everything, or grouped by what is not shown, rests on more.
        if proof.truncated or not result.holds or "Scalar(" in repr(plan) or plan.group_by:
            return
        inner = tuple(replace(p, order=(), limit=None) for p in plan.where.plans)
        where = replace(plan.where, plans=inner)
        free = replace(plan, where=where, order=(), limit=None, offset=0, ties=False)
        again = evaluate(free, proof.triples)
        assert tuple(map(value, row)) in [tuple(map(value, r)) for r in again], (row, again, proof.triples)

    proved()


_COMPARED = st.tuples(*[st.sampled_from((SIZE, NAME, WHEN))] * 2, st.sampled_from(("=", "!=", "<", ">=")))


@pytest.mark.parametrize("name", GRAPHS)
def test_what_is_compared_means_the_same_in_a_proof(embedded: dict[str, KnowledgeGraph], name: str) -> None:
    """What one row shows of two values that are compared is a value still, not a number, a date or a text."""
    kg = embedded[name]
    one, other, a, b = (Unknown(n) for n in ("one", "other", "a", "b"))

    @seed(len(name))
    @settings(
        max_examples=20,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(
        _COMPARED,
        st.sampled_from(("alternatives", "without", "plain")),
        st.sampled_from(((a,), (b,), (a, b))),
    )
    def proved(compared: tuple[URIRef, URIRef, Relation], where: str, shown: tuple[Unknown, ...]) -> None:
        first, second, relation = compared
        said = (Comparison(a, relation, b),)
        block = Block((Pattern(one, first, a), Pattern(other, second, b)))
        if where == "plain":
            block = replace(block, conditions=said)
        elif where == "without":
            block = replace(block, without=(Block(conditions=said),))
        else:
            others = Block((Pattern(one, KNOWS, other), Pattern(other, KNOWS, one)))
            block = replace(block, either=((Block(conditions=said), others),))
        plan = Plan(block, (*(Column(u, u.name) for u in shown), Column(one, "one")))
        for row in run(kg, plan).rows[::7]:
            proof = prove(kg, plan, row, most=500)
            again = evaluate(plan, proof.triples)
            assert tuple(map(value, row)) in [tuple(map(value, r)) for r in again], (row, again)

    proved()


def test_inferred_triples_are_marked(tmp_path: Path) -> None:
    with graphs("embedded", tmp_path) as found:
        kg = found["clean"]
        thing = THINGS[0]
        kg.store.insert(b"<urn:t:0> <urn:p:knows> <urn:t:new> .\n", "urn:mrag:kg:clean:inferred:1")
        kg.set_inferred(["urn:mrag:kg:clean:inferred:1"])
        who = Unknown("who")
        plan = Plan(Block((Pattern(thing, KNOWS, who),)), (Column(who, "who"),))
        rows = [row for row in run(kg, plan).rows if str(row[0]) == "urn:t:new"]
        (line,) = prove(kg, plan, rows[0]).context.lines
        assert line.triple == Triple(thing, KNOWS, rows[0][0])  # type: ignore[arg-type]
        assert Citation.of(line).mark == " inferred"


@pytest.mark.parametrize("name", GRAPHS)
def test_rows_that_are_proved_at_once_rest_on_what_each_rests_on(
    embedded: dict[str, KnowledgeGraph], name: str
) -> None:
    kg = embedded[name]
    together = 0

    @seed(len(name))
    @settings(
        max_examples=60,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(plans())
    def proved(plan: Plan) -> None:
        nonlocal together
        rows = run(kg, plan).rows[:6]
        if plan.yes_or_no or len(rows) < 2:
            return
        together += bool(blocks_of_rows(plan, rows))
        ends = time.monotonic() + 60
        for row, proof in zip(rows, proofs(kg, plan, rows, most=5, ends=ends), strict=True):
            assert proof == prove(kg, plan, row, most=5), row

    proved()
    assert together


def test_a_list_is_proved_by_a_few_queries(
    embedded: dict[str, KnowledgeGraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    kg = embedded["clean"]
    one, other = Unknown("one"), Unknown("other")
    plan = Plan(Block((Pattern(one, KNOWS, other),)), (Column(one, "one"), Column(other, "other")))
    rows = run(kg, plan).rows[:20]
    asked, bounded = list[str](), kg.store.bounded

    def counted(text: str, *more: Any) -> Any:
        asked.append(text)
        return bounded(text, *more)

    monkeypatch.setattr(kg.store, "bounded", counted)
    assert len(list(proofs(kg, plan, rows, most=5, ends=time.monotonic() + 60))) == len(rows) > 5
    assert len(asked) == 1
