"""Nothing that a question says is dropped: questions and plans that do not say the same."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.accounting import account, of_the_kind
from mrag.planning.lexicon import lexicon_of
from mrag.planning.plan import Plan
from mrag.planning.readings import Reading
from mrag.planning.run import PlanResult, run
from tests.cases import cases
from tests.planning.questions import loaded, plan_of

SHOP = "http://example.org/shop/"


SPACES = {"catalogue": SHOP, "bank": "http://example.org/bank/", "tagged_films": "http://example.org/films/"}


@pytest.fixture(scope="module")
def graphs() -> Iterator[dict[str, KnowledgeGraph]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(loaded(name)) for name in SPACES}


def supplied(*patterns: str) -> Plan:
    return plan_of({"where": {"patterns": ["?x a :Product", *patterns]}, "columns": {"x": "?x"}}, SHOP)


@pytest.mark.parametrize(("graph", "question", "shown", "left", "written"), cases(__file__, "accounts"))
def test_what_a_plan_leaves_out_is_named(
    graphs: dict[str, KnowledgeGraph], graph: str, question: str, shown: list[str], left: list[str],
    written: dict[str, Any],
) -> None:  # fmt: skip
    """ "Savings accounts" are no types of accounts, though the comment of the type tells of savings.

    Without classes, what all is about is no restriction.
    """
    found = account(lexicon_of(graphs[graph]), question, plan_of(written, SPACES[graph]), shown)
    assert set(left) <= set(found.words) and bool(left) == bool(found.words) == bool(found.gaps)


def test_what_a_follow_up_goes_on_from_counts_as_said(graphs: dict[str, KnowledgeGraph]) -> None:
    before = supplied("?x :suppliedBy :bolt")
    lexicon, plan = lexicon_of(graphs["catalogue"]), supplied("?x :suppliedBy :bolt", "?x :inCategory :toys")
    assert not account(lexicon, "and in toys?", plan, ["x"], before).gaps
    assert "rotten" in account(lexicon, "and the rotten ones in toys?", plan, ["x"], before).words
    # What neither question says is not in the plan.
    other = supplied("?x :suppliedBy :acme")
    assert account(lexicon, "and in toys?", other, ["x"], before).gaps


def test_the_rows_tell_whether_people_are_told() -> None:
    with loaded("saga") as kg:

        def told(name: str) -> list[tuple[Reading, PlanResult]]:
            written = {"where": {"patterns": [f"?x :planet :{name}"]}, "columns": {"x": "?x"}}
            plan = plan_of(written, "http://example.org/saga/")
            found = (Reading(plan, ("x",), 0.9, (), {}), run(kg, plan, schema=lexicon_of(kg).schema))
            return of_the_kind(lexicon_of(kg), f"Who lives on {name}?", [found])

        # Both are linked things, most of which are no people.
        assert told("dune")[0][0].ignored == ("who",) and told("moon")[0][0].ignored == ()
