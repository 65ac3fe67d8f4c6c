"""Expressions written down and read back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Graph, Literal, URIRef
from rdflib.namespace import OWL, XSD

from mrag.cel.expressions import (
    And,
    AtLeast,
    AtMost,
    DataRange,
    DataSome,
    Exactly,
    Expression,
    Named,
    Not,
    OneOf,
    Only,
    Or,
    Property,
    Some,
    Top,
    Value,
    length,
    normal,
)  # fmt: skip
from mrag.cel.notation import (
    from_dl,
    from_manchester,
    to_dl,
    to_graph,
    to_manchester,
    to_turtle,
)
from mrag.errors import MragError
from tests.cel.graphs import from_graph
from tests.cel.plain import E, expressions

NAMES = {"ex": E}
A, B, C = (Named(E + x) for x in "ABC")
R, S = Property(E + "r"), Property(E + "s", True)


@settings(max_examples=120, deadline=None)
@given(expressions.map(normal), st.booleans())
def test_what_is_written_reads_back(e: Expression, prefixed: bool) -> None:
    prefixes = NAMES if prefixed else None
    assert from_dl(to_dl(e, prefixes), prefixes) == e
    assert from_manchester(to_manchester(e, prefixes), prefixes) == e


@settings(max_examples=80, deadline=None)
@given(expressions.map(normal))
def test_triples_read_back(e: Expression) -> None:
    graph = Graph()
    assert normal(from_graph(graph, to_graph(e, graph))) == e
    again = Graph().parse(data=to_turtle(e, E + "New", NAMES), format="turtle")
    node = again.value(URIRef(E + "New"), OWL.equivalentClass)
    assert node is not None
    assert normal(from_graph(again, node)) == e


def test_names_that_need_brackets_and_texts_that_need_escapes() -> None:
    odd = And((Named("http://example.org/a,b(c)"), Value(R, Literal('say "hi"\n\\', lang="en"))))
    for write, read in ((to_dl, from_dl), (to_manchester, from_manchester)):
        assert read(write(odd, NAMES), NAMES) == odd


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ex:A and not (ex:B or ex:C)", And((A, Not(Or((B, C)))))),
        ("ex:r some (inverse ex:s only ex:A)", Some(R, Only(S, A))),
        ("ex:r min 2 ex:A", AtLeast(2, R, A)),
        ("ex:r max 1", AtMost(1, R, Top())),
        ("ex:r exactly 3 owl:Thing", Exactly(3, R, Top())),
        ("ex:r value ex:a", Value(R, E + "a")),
        ("{ex:a, ex:b}", OneOf((E + "a", E + "b"))),
        (
            'ex:d some xsd:date[> "2024-02-01"^^xsd:date]',
            DataSome(
                Property(E + "d"),
                DataRange(str(XSD.date), (("minExclusive", Literal("2024-02-01", datatype=XSD.date)),)),
            ),
        ),
    ],
)
def test_manchester_as_people_write_it(text: str, expected: Expression) -> None:
    assert from_manchester(text, NAMES) == expected


@pytest.mark.parametrize(
    "text",
    ["", "ex:A and", "ex:A ex:B", "(ex:A", "nope:A", "ex:r some", "ex:r min two ex:A", "ex:r value", "A",
     '"text"', "ex:d some xsd:integer[>= ex:a]", "not " * 200 + "ex:A", "(" * 200, "ex:r min -1 ex:A"],
)  # fmt: skip
def test_what_is_not_well_formed_is_refused(text: str) -> None:
    with pytest.raises(MragError):
        from_manchester(text, NAMES)


def test_lengths_are_owlapys() -> None:
    wanted = {
        Top(): 1, A: 1, Not(A): 2, And((A, B, C)): 5, Or((A, Not(B))): 4, Some(R, A): 3, Only(S, A): 4,
        AtLeast(2, R, A): 4, Value(R, E + "a"): 3, OneOf((E + "a", E + "b")): 1,
        DataSome(R, DataRange("urn:t", (("minInclusive", Literal(1)), ("maxInclusive", Literal(2))))): 4,
    }  # fmt: skip
    assert {e: length(e) for e in wanted} == wanted


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (Not(And((A, Not(B)))), Or((B, Not(A)))),
        (Not(Only(R, A)), Some(R, Not(A))),
        (And((A, Or((A, B)))), A),
        (Or((A, And((A, B)), Not(A))), Top()),
        (And((Some(R, A), AtLeast(3, R, A))), AtLeast(3, R, A)),
        (Some(R, OneOf((E + "a",))), Value(R, E + "a")),
        (AtLeast(0, R, A), Top()),
        (Exactly(0, R, A), Only(R, Not(A))),
        (AtMost(2, R, OneOf((E + "a", E + "b"))), Top()),
    ],
)
def test_normal_forms(e: Expression, expected: Expression) -> None:
    assert normal(e) == expected
