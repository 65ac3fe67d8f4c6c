"""Expressions written down and read back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, XSD, Graph, Literal, URIRef

from mrag.cel import expressions as ce
from mrag.cel.expressions import Expression, length, normal
from mrag.cel.notation import from_dl, from_manchester, to_dl, to_graph, to_manchester, to_turtle
from mrag.errors import MragError
from tests.cases import cases
from tests.cel.graphs import from_graph
from tests.cel.plain import E, expressions

NAMES = {"ex": E}
A, B, C = (ce.Named(E + x) for x in "ABC")
R, S = ce.Property(E + "r"), ce.Property(E + "s", True)
AFTER = ce.DataRange(str(XSD.date), (("minExclusive", Literal("2024-02-01", datatype=XSD.date)),))


@settings(max_examples=120)
@given(expressions.map(normal), st.booleans())
def test_what_is_written_reads_back(e: Expression, prefixed: bool) -> None:
    prefixes = NAMES if prefixed else None
    assert from_dl(to_dl(e, prefixes), prefixes) == e
    assert from_manchester(to_manchester(e, prefixes), prefixes) == e


@settings(max_examples=80)
@given(expressions.map(normal))
def test_triples_read_back(e: Expression) -> None:
    graph = Graph()
    assert normal(from_graph(graph, to_graph(e, graph))) == e
    again = Graph().parse(data=to_turtle(e, E + "New", NAMES), format="turtle")
    node = again.value(URIRef(E + "New"), OWL.equivalentClass)
    assert node is not None
    assert normal(from_graph(again, node)) == e


def test_names_that_need_brackets_and_texts_that_need_escapes() -> None:
    odd = ce.And((ce.Named("http://example.org/a,b(c)"), ce.Value(R, Literal('say "hi"\n\\', lang="en"))))
    for write, read in ((to_dl, from_dl), (to_manchester, from_manchester)):
        assert read(write(odd, NAMES), NAMES) == odd


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ex:A and not (ex:B or ex:C)", ce.And((A, ce.Not(ce.Or((B, C)))))),
        ("ex:r some (inverse ex:s only ex:A)", ce.Some(R, ce.Only(S, A))),
        ("ex:r min 2 ex:A", ce.AtLeast(2, R, A)), ("ex:r max 1", ce.AtMost(1, R, ce.Top())),
        ("ex:r exactly 3 owl:Thing", ce.Exactly(3, R, ce.Top())), ("ex:r value ex:a", ce.Value(R, E + "a")),
        ("{ex:a, ex:b}", ce.OneOf((E + "a", E + "b"))),
        ('ex:d some xsd:date[> "2024-02-01"^^xsd:date]', ce.DataSome(ce.Property(E + "d"), AFTER)),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(("text", "symbols"), cases(__file__, "lengths"))
def test_lengths_are_owlapys(text: str, symbols: int) -> None:
    assert length(from_dl(text, NAMES)) == symbols


@pytest.mark.parametrize(("text", "expected"), cases(__file__, "normal"))
def test_normal_forms(text: str, expected: str) -> None:
    assert normal(from_dl(text, NAMES)) == from_dl(expected, NAMES)


def test_some_of_one_individual_is_a_value() -> None:
    assert normal(ce.Some(R, ce.OneOf((E + "a",)))) == ce.Value(R, E + "a")
