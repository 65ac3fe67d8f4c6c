"""The triples that prove a row are in the graph, and the plan gives the row again over them alone."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from rdflib import Literal, URIRef

from mrag.generation.result import Citation
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Aggregate, Block, Column, Comparison, Number, Pattern, Plan, Relation, Unknown
from mrag.planning.proof import blocks_of_rows, proofs, prove
from mrag.planning.run import run
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.conftest import opened
from tests.planning.graphs import GRAPHS, KNOWS, NAME, SIZE, THINGS, WHEN
from tests.planning.interpreter import evaluate
from tests.planning.stores import graphs, value
from tests.planning.strategies import GENERATED, plans

embedded = opened(lambda folder: graphs("embedded", folder))


@pytest.mark.parametrize("name", GRAPHS)
def test_a_plan_gives_a_row_again_over_its_proof(embedded: dict[str, KnowledgeGraph], name: str) -> None:
    kg = embedded[name]

    @seed(len(name))
    @settings(GENERATED, max_examples=30)
    @given(plans())
    def proved(plan: Plan) -> None:
        result = run(kg, plan)
        row = result.rows[0] if result.rows else ()
        proof = prove(kg, plan, row, most=500)
        assert set(proof.triples) <= GRAPHS[name]
        if plan.yes_or_no and not result.holds:
            assert not proof.triples or plan.grouped
        # What is compared with a value over everything rests on more.
        if proof.truncated or not result.holds or "Scalar(" in repr(plan):
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
    @settings(GENERATED, max_examples=20)
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
def test_rows_proved_at_once_rest_on_what_each_does(embedded: dict[str, KnowledgeGraph], name: str) -> None:
    kg = embedded[name]
    together = 0

    @seed(len(name))
    @settings(GENERATED, max_examples=60)
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


_OWNED = st.dictionaries(
    st.integers(0, 5),  # an owner, to a name and the sizes of the dogs
    st.tuples(st.sampled_from(("Lee", "Kim")), st.lists(st.integers(1, 3), min_size=1, max_size=4)),
    min_size=2,
)
DOG, OWNER, CALLED, HOW_LARGE = map(Unknown, ("dog", "owner", "called", "size"))


@settings(max_examples=25, derandomize=True, suppress_health_check=list(HealthCheck))
@given(_OWNED, st.sampled_from(("count", "sum", "maximum", "both", "none")), st.booleans(), st.booleans())
def test_groups_that_look_alike_are_not_given_the_evidence_of_each_other(
    owned: dict[int, tuple[str, list[int]]], shown: str, named: bool, bounded: bool
) -> None:
    """A row rests on the dogs of one owner of that name, who has so many, not on those of another."""
    with KnowledgeGraph(OxigraphStore()) as kg:
        for owner, (name, sizes) in owned.items():
            who = URIRef(f"urn:owner{owner}")
            kg.insert([Triple(who, URIRef("urn:name"), Literal(name))])
            for number, size in enumerate(sizes):
                dog = URIRef(f"urn:dog{owner}{number}")
                kg.insert(
                    [Triple(dog, URIRef("urn:owner"), who), Triple(dog, URIRef("urn:size"), Literal(size))]
                )
        folds = {
            "count": Aggregate("count", of=(DOG,)),
            "sum": Aggregate("sum", Number(HOW_LARGE), (DOG,)),
            "maximum": Aggregate("maximum", Number(HOW_LARGE)),
        }
        kept = [folds[f] for f in (("count", "sum") if shown == "both" else (shown,)) if f in folds]
        columns = [Column(CALLED, "called")] if named or not kept else []
        plan = Plan(
            Block(
                (
                    Pattern(DOG, URIRef("urn:owner"), OWNER),
                    Pattern(DOG, URIRef("urn:size"), HOW_LARGE),
                    Pattern(OWNER, URIRef("urn:name"), CALLED),
                )
            ),
            (*columns, *(Column(fold, f"fold_{n}") for n, fold in enumerate(kept))),
            (OWNER,),
            (Comparison(folds["count"], ">", Literal(1)),) if bounded else (),
        )
        rows = run(kg, plan).rows
        every = proofs(kg, plan, rows, most=100, ends=time.monotonic() + 60)
        for row, proof in zip(rows, every, strict=True):
            assert proof == prove(kg, plan, row, most=100)
            assert not proof.truncated
            (whose,) = {str(t.o).removeprefix("urn:owner") for t in proof.triples if str(t.p) == "urn:owner"}
            its_name, sizes = owned[int(whose)]
            told: dict[str, list[int]] = {
                "count": [len(sizes)], "sum": [sum(sizes)], "maximum": [max(sizes)], "none": [],
            }  # fmt: skip
            told["both"] = [*told["count"], *told["sum"]]
            assert [str(cell) for cell in row] == [*([its_name] if columns else []), *map(str, told[shown])]
            assert not bounded or len(sizes) > 1
            all_cited = shown in ("count", "sum", "both") or bounded
            dogs = {str(t.s) for t in proof.triples if str(t.p) == "urn:owner"}
            assert len(dogs) == (len(sizes) if all_cited else 1)


def test_a_yes_of_groups_rests_on_one_that_has_what_is_asked_for() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        owners = ("ann", "bob", "bob", "bob", "cy")
        kg.insert(
            Triple(URIRef(f"urn:dog{n}"), URIRef("urn:owner"), URIRef(f"urn:{o}"))
            for n, o in enumerate(owners)
        )
        block = Block((Pattern(DOG, URIRef("urn:owner"), OWNER),))
        plan = Plan(block, (), (OWNER,), (Comparison(Aggregate("count", of=(DOG,)), ">", Literal(2)),))
        assert {str(t.o) for t in prove(kg, plan).triples} == {"urn:bob"}
        none = replace(plan, having=(Comparison(Aggregate("count", of=(DOG,)), ">", Literal(3)),))
        assert not run(kg, none).holds


def test_a_row_without_what_is_folded_rests_on_the_group_itself() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([Triple(URIRef("urn:dog"), URIRef("urn:owner"), URIRef("urn:ann"))])
        large = Block((Pattern(DOG, URIRef("urn:size"), HOW_LARGE),))
        folds = (Aggregate("count", of=(DOG,), where=large), Aggregate("maximum", HOW_LARGE, where=large))
        for fold in folds:
            plan = Plan(
                Block((Pattern(DOG, URIRef("urn:owner"), OWNER),)),
                (Column(OWNER, "owner"), Column(fold, "fold")),
            )
            (row,) = run(kg, plan).rows
            assert [t.s for t in prove(kg, plan, row).triples] == [URIRef("urn:dog")]
