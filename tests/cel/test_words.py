"""Small functions by tables: what is said of names, and what stands for sets and expressions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rdflib import Literal

from mrag.cel import sentences as english
from mrag.cel.expressions import Bottom, Named, Or, Property, key
from mrag.cel.learners.search import by_chance
from mrag.cel.problem import ExampleBits, ExampleCounts, PartBits, fingerprints
from mrag.cel.rerank import precision
from mrag.cel.sentences import counts_in_words
from mrag.cel.sparql import by_value, comparable, count_query, family
from mrag.rdf.terms import RDF, XSD
from tests.cases import cases

A, B, C = (Named(f"urn:{name}") for name in "ABC")
P = Property("urn:p")


@pytest.mark.parametrize(("function", "of", "wanted"), cases(__file__, "english"))
def test_words_of_english(function: str, of: str, wanted: Any) -> None:
    said = getattr(english, function)(of)
    assert (list(said) if isinstance(wanted, list) else said) == wanted


@pytest.mark.parametrize(("name", "value", "wanted"), cases(__file__, "truth"))
def test_truth_values_are_said(name: str, value: bool, wanted: str) -> None:
    assert english.truth(name, value) == wanted


@pytest.mark.parametrize(
    ("said", "of", "wanted"),
    [
        (counts_in_words, (ExampleCounts(9, 1, 10, 40),), "9 of your 10 examples, 1 of 40 others"),
        (precision, (ExampleCounts(3, 1, 4, 2),), 0.75),
        (by_value, (Literal(5),), True),
        (by_value, (Literal("five"),), False),
        (comparable, (Literal("2024-02-30", datatype=XSD + "date"),), None),
        (family, (Literal("7", datatype=XSD + "short"),), XSD + "integer"),
    ],
)
def test_functions_of_values(said: Callable[..., Any], of: tuple[Any, ...], wanted: Any) -> None:
    assert said(*of) == wanted


def test_a_plural_of_a_property_of_numbers_is_a_number() -> None:
    assert english.as_noun(english.role("has legs"), "has legs", whole=True).noun == "number of legs"


def test_an_expression_has_a_text_to_sort_by() -> None:
    assert key(Or((B, Bottom()))) == "(or <urn:B> ⊥)"


def test_the_query_counts_each_individual_once() -> None:
    wanted = f"SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE {{ ?x <{RDF}type> <urn:A> . FILTER(isIRI(?x)) }}"
    assert count_query(A).split() == wanted.split()


def test_equal_rows_have_equal_fingerprints() -> None:
    a, b, c = fingerprints(np.array([[True, False], [False, True], [True, False]]))
    assert a == c != b


def test_bits_of_a_part_count_what_is_in_it() -> None:
    whole = ExampleBits(2, 3)
    part = PartBits(whole, np.array([True, False, True, True, False]))
    assert [n.tolist() for n in part.count(whole.pack(np.ones((1, 5), dtype=bool)))] == [[1], [2]]


@pytest.mark.parametrize(("of_each", "accident"), [(3, True), (30, False)])
def test_few_examples_are_told_apart_by_chance(of_each: int, accident: bool) -> None:
    assert by_chance(A, ExampleCounts(of_each, 0, of_each, of_each), 100) is accident
