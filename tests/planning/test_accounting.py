"""Nothing that a question says is dropped: questions and plans that do not say the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rdflib import RDF, Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.accounting import account, of_the_kind
from mrag.planning.lexicon import lexicon_of
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Number,
    Order,
    Pattern,
    Plan,
    Unknown,
)
from mrag.planning.readings import Reading
from mrag.planning.run import PlanResult, run
from tests.planning.questions import loaded


def iri(name: str) -> URIRef:
    return URIRef(f"http://example.org/shop/{name}")


X, Y, V, W = (Unknown(name) for name in "xyvw")


def of(kind: str, *others: Pattern, thing: Unknown = X) -> tuple[Pattern, ...]:
    return (Pattern(thing, RDF.type, iri(kind)), *others)


def value(name: str, thing: Unknown = X, told: Unknown = V) -> Pattern:
    return Pattern(thing, iri(name), told)


def best(function: str = "average", limit: int = 1) -> Plan:
    number = Aggregate(function, Number(V), of=(X,))  # type: ignore[arg-type]
    columns = (Column(X, "x"), Column(number, "n"))
    return Plan(Block(of("Supplier", value("reliability"))), columns, order=(Order("n", True),), limit=limit)


YOUNGEST = Plan(
    Block(of("Teacher", value("age"))), (Column(X, "x"), Column(Number(V), "n")), order=(Order("n"),), limit=1
)
FLAGGED = Block(of("Product", value("inCategory", told=Y), Pattern(X, iri("discontinued"), Literal(False))))
MOST = Aggregate("minimum", Number(W), of=(X,))
PRICED = Plan(Block(of("Product", value("price"))), (Column(X, "x"), Column(V, "v")))

DROPPED = [
    ("Which 5 suppliers have the best average reliability?", best(), ["x"], "5"),
    ("Which supplier has the best average reliability?", best("maximum"), ["x"], "average"),
    ("Which categories do not have any discontinued products?", Plan(FLAGGED, (Column(Y, "y"),)), ["y"], "not"),  # noqa: E501
    ("Which product has the minimum price?", PRICED, ["x"], "minimum"),
    (
        "Which category of product has the minimum price?",
        Plan(
            Block(of("Product", value("inCategory", told=Y), value("price", told=W))),
            (Column(Y, "y"), Column(MOST, "n")),
        ),
        ["y"],
        "minimum",
    ),
    ("Where is the youngest teacher from?", YOUNGEST, ["x"], "where"),
    (
        "What are the maximum and minimum share of shows?",
        Plan(
            Block(of("Show")),
            (Column(Arithmetic(Aggregate("count", of=(X,)), "/", Aggregate("count", of=(X,))), "n"),),
        ),
        ["n"],
        "maximum and minimum",
    ),
    (
        "Who supplies the saw and where is that supplier based?",
        Plan(Block(of("Product", value("suppliedBy", told=Y))), (Column(X, "x"),)),
        ["x"],
        "where",
    ),
    (
        "Which products in toys are supplied by Bolt?",
        Plan(Block(of("Product", Pattern(X, iri("suppliedBy"), iri("bolt")))), (Column(X, "x"),)),
        ["x"],
        "toys",
    ),
    ("Which teachers have sold a product?", Plan(Block(of("Teacher")), (Column(X, "x"),)), ["x"], "product"),
    ("Which products are rotten?", Plan(Block(of("Product")), (Column(X, "x"),)), ["x"], "rotten"),
    ("Show the price and the category of each product.", PRICED, ["v"], "category"),
    ("How many products does each supplier have?", PRICED, ["x"], "how many"),
    ("Which products cost more than 6?", PRICED, ["x"], "6"),
    ("Which products are cheaper than the axe?", PRICED, ["x"], "cheaper than"),
    ("Which products do customers find angry?",
     Plan(Block(of("Product", value("csat"))), (Column(X, "x"),)), ["x"], "angry"),
    ("Which products are not supplied by Bolt?",
     Plan(Block(of("Product", Pattern(X, iri("suppliedBy"), iri("bolt")))), (Column(X, "x"),)), ["x"], "not"),
    ("Which products come from tools?",
     Plan(Block(of("Product", Pattern(X, iri("suppliedBy"), iri("acme")))), (Column(X, "x"),)), ["x"], "Acme Tools"),  # noqa: E501
]  # fmt: skip


SAID = [
    ("Which 5 suppliers have the best average reliability?", best(limit=5), ["x"]),
    ("Who is the youngest teacher?", YOUNGEST, ["x"]),
    (
        "Where is the youngest teacher from?",
        Plan(
            Block(of("Teacher", value("age"), value("hometown", told=W))),
            (Column(W, "w"), Column(Number(V), "n")),
            order=(Order("n"),),
            limit=1,
        ),
        ["w"],
    ),
    (
        "Which categories do not have any discontinued products?",
        Plan(
            Block(
                of("Category", thing=Y),
                without=(
                    Block(
                        of(
                            "Product",
                            value("inCategory", told=Y),
                            Pattern(X, iri("discontinued"), Literal(True)),
                        )
                    ),
                ),
            ),
            (Column(Y, "y"),),
        ),
        ["y"],
    ),
    ("Please show me the prices of all products in the database.", PRICED, ["v"]),
    ("What are the prices of the products so far?", PRICED, ["v"]),
    (
        "Which products cost at least 6?",
        Plan(Block(of("Product", value("price")), (Comparison(V, ">=", Literal(6)),)), (Column(X, "x"),)),
        ["x"],
    ),
    (
        "What are the maximum and minimum share of shows?",
        Plan(
            Block(of("Show", value("share"))),
            (
                Column(Aggregate("maximum", Number(V), of=(X,)), "a"),
                Column(Aggregate("minimum", Number(V), of=(X,)), "b"),
            ),
        ),
        ["a", "b"],
    ),
]


@pytest.fixture(scope="module")
def shop() -> Iterator[KnowledgeGraph]:
    with loaded("catalogue") as kg:
        yield kg


@pytest.mark.parametrize(("question", "plan", "shown", "word"), DROPPED, ids=[d[0] + d[3] for d in DROPPED])
def test_what_a_plan_leaves_out_is_named(
    shop: KnowledgeGraph, question: str, plan: Plan, shown: list[str], word: str
) -> None:
    assert word in account(lexicon_of(shop), question, plan, shown).words


@pytest.mark.parametrize(("question", "plan", "shown"), SAID, ids=[s[0] for s in SAID])
def test_a_plan_that_says_all_is_taken(
    shop: KnowledgeGraph, question: str, plan: Plan, shown: list[str]
) -> None:
    assert not account(lexicon_of(shop), question, plan, shown).gaps


def test_what_a_code_is_said_to_stand_for_is_not_its_property() -> None:
    """ "Savings accounts" are no types of accounts, though the comment of the type tells of savings."""
    x, v = Unknown("x"), Unknown("v")
    account_, tp = URIRef("http://example.org/bank/Account"), URIRef("http://example.org/bank/tp")
    asked = "How many savings accounts are there?"
    with loaded("bank") as kg:
        types = Block((Pattern(x, RDF.type, account_), Pattern(x, tp, v)))
        plan = Plan(types, (Column(Aggregate("count", of=(v,)), "n"),))
        assert "savings" in account(lexicon_of(kg), asked, plan, ["n"]).words
        coded = Block((Pattern(x, RDF.type, account_), Pattern(x, tp, Literal("S"))))
        plan = Plan(coded, (Column(Aggregate("count", of=(x,)), "n"),))
        assert not account(lexicon_of(kg), asked, plan, ["n"]).gaps


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Show the name and the price of each product.", "price"),
        ("Which products are in toys or in tools?", "or"),
        ("Which products cost more than 6?", "more than 6"),
        ("What is the densest product?", "densest"),
    ],
)
def test_plans_that_say_half(shop: KnowledgeGraph, question: str, word: str) -> None:
    bound = (Comparison(V, "<", Literal(6)),)
    plans = {
        "price": Plan(Block(of("Product", value("price"))), (Column(X, "x"),)),
        "or": Plan(
            Block(
                of(
                    "Product",
                    Pattern(X, iri("inCategory"), iri("toys")),
                    Pattern(X, iri("inCategory"), iri("tools")),
                )
            ),
            (Column(X, "x"),),
        ),
        "more than 6": Plan(Block(of("Product", value("price")), bound), (Column(X, "x"),)),
        "densest": Plan(
            Block(of("Product", value("price"))),
            (Column(X, "x"), Column(Number(V), "n")),
            order=(Order("n", True),),
            limit=1,
        ),
    }
    assert word in account(lexicon_of(shop), question, plans[word], ["x"]).words


def test_what_a_follow_up_goes_on_from_counts_as_said(shop: KnowledgeGraph) -> None:
    before = Plan(Block(of("Product", Pattern(X, iri("suppliedBy"), iri("bolt")))), (Column(X, "x"),))
    toys = of(
        "Product", Pattern(X, iri("suppliedBy"), iri("bolt")), Pattern(X, iri("inCategory"), iri("toys"))
    )
    lexicon, plan = lexicon_of(shop), Plan(Block(toys), (Column(X, "x"),))
    assert not account(lexicon, "and in toys?", plan, ["x"], before).gaps
    assert "rotten" in account(lexicon, "and the rotten ones in toys?", plan, ["x"], before).words
    # What neither question says is not in the plan.
    other = Plan(Block(of("Product", Pattern(X, iri("suppliedBy"), iri("acme")))), (Column(X, "x"),))
    assert account(lexicon, "and in toys?", other, ["x"], before).gaps


def test_the_rows_tell_whether_people_are_told() -> None:
    with loaded("saga") as kg:
        planet = URIRef("http://example.org/saga/planet")

        def told(name: str) -> list[tuple[Reading, PlanResult]]:
            plan = Plan(
                Block((Pattern(X, planet, URIRef(f"http://example.org/saga/{name}")),)), (Column(X, "x"),)
            )
            found = (Reading(plan, ("x",), 0.9, (), {}), run(kg, plan, schema=lexicon_of(kg).schema))
            return of_the_kind(lexicon_of(kg), f"Who lives on {name}?", [found])

        # Both are linked things, most of which are no people.
        assert told("dune")[0][0].ignored == ("who",) and told("moon")[0][0].ignored == ()


def film(name: str) -> URIRef:
    return URIRef(f"http://example.org/films/{name}")


def of_films(*triples: Pattern) -> Plan:
    return Plan(Block(triples), (Column(X, "x"),))


TAGGED = of_films(Pattern(X, film("has_tags"), film("slavery")))
WRITTEN = of_films(Pattern(X, film("written_by"), film("lou")))
CAST = of_films(Pattern(film("one"), film("starred_actors"), X))
WRITERS = of_films(Pattern(film("one"), film("written_by"), X))


@pytest.mark.parametrize(
    ("question", "plan", "left"),
    [
        ("which movies are about slavery", TAGGED, ()),
        ("which comedies are about slavery", TAGGED, ("comedies",)),
        ("which comedies were written by Lou Stern", WRITTEN, ("comedies",)),
        ("who are the actors in Storm Without a Cause", CAST, ()),
        ("who are the actors without a part in Storm Without a Cause", CAST, ("without",)),
        ("who is the screenwriter of Storm Without a Cause", WRITERS, ()),
        ("who is the screenwriter of Storm Without a Cause", CAST, ("screenwriter",)),
        ("which movie writers are about slavery", TAGGED, ("movie", "writers")),
    ],
)
def test_without_classes_what_all_is_about_is_no_restriction(
    question: str, plan: Plan, left: tuple[str, ...]
) -> None:
    with loaded("tagged_films") as kg:
        words = account(lexicon_of(kg), question, plan, ["x"]).words
        assert set(left) <= set(words) and bool(left) == bool(words)
