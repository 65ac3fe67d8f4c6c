"""Class expressions: written, read back and put in words; store, bitsets and plain reading agree."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, XSD, Graph, Literal, URIRef

from mrag.cel import problem
from mrag.cel import sentences as english
from mrag.cel.evaluate import World
from mrag.cel.learners.search import by_chance
from mrag.cel.rerank import precision
from mrag.cel.sentences import counts_in_words, names_of, sentence, verbalise
from mrag.cel.sparql import by_value, comparable, count_query, family
from mrag.errors import MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import expressions as ce
from mrag.rdf.expressions import Bottom, Expression, Named, Or, Property, Some, key, length, normal
from mrag.rdf.notation import from_dl, from_manchester, to_dl, to_graph, to_manchester, to_turtle
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.cel.graphs import E, dl, from_graph, put
from tests.cel.plain import INDIVIDUALS, UNWATCHED, Plain, expressions, graphs

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


@settings(UNWATCHED, max_examples=50)
@given(graphs(), st.lists(expressions, min_size=4, max_size=8))
def test_store_bitsets_and_plain_reading_agree(triples: frozenset[Triple], several: list[Expression]) -> None:
    plain = Plain(triples)
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples)
        world = World.whole(kg)
        wanted = []
        for e in several:
            expected = plain.instances(e)
            wanted.append(expected)
            assert set(world.instances(e)) == expected, key(e)
            assert set(problem.instances(kg, e)) == expected, key(e)
            given = [*INDIVIDUALS[:4], "http://example.org/nowhere"]
            assert problem.instances_among(kg, e, given) == expected & {*given}, key(e)
        positives, negatives = INDIVIDUALS[:3], INDIVIDUALS[3:]
        found = problem.confusion(kg, several, positives, negatives)
        counted = [(c.tp, c.fp, c.fn, c.negatives - c.fp) for c in found]
        assert counted == [
            (len(w & {*positives}), len(w & {*negatives}), len({*positives} - w), len({*negatives} - w))
            for w in wanted
        ]


@settings(max_examples=100)
@given(graphs(), expressions)
def test_the_normal_form_holds_the_same_and_is_its_own(triples: frozenset[Triple], e: Expression) -> None:
    plain, found = Plain(triples), normal(e)
    assert plain.instances(found) == plain.instances(e)
    assert normal(found) == found
    assert length(found) >= 1


@settings(UNWATCHED, max_examples=30)
@given(graphs(), st.lists(expressions, min_size=4, max_size=8))
def test_what_is_fetched_around_examples_decides_what_it_says(
    triples: frozenset[Triple], several: list[Expression]
) -> None:
    plain, given = Plain(triples), INDIVIDUALS[:2]
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples)
        for world in (World.around(kg, given, steps=2), World.around(kg, given, steps=3, max_individuals=1)):
            assert world.steps is not None and 1 <= world.steps <= 3
            for e in several:
                if world.reaches(e):
                    assert {*world.instances(e)} & {*given} == plain.instances(e) & {*given}, key(e)


@settings(max_examples=100)
@given(st.lists(expressions, min_size=2, max_size=12))
def test_other_normal_forms_get_other_sentences(several: list[Expression]) -> None:
    said: dict[str, Expression] = {}
    for e in map(normal, several):
        text = verbalise(e, lambda iri: iri.rpartition("/")[2])
        assert said.setdefault(text, e) == e


@settings(max_examples=200)
@given(st.lists(st.text(alphabet="ab“”\\ or()that", min_size=1), min_size=4, max_size=4, unique=True))
def test_odd_labels_cannot_pass_for_words_of_the_sentence(labels: list[str]) -> None:
    names = dict(zip((E + x for x in "abcd"), labels, strict=True))
    shapes = [*map(dl, (
        ":a ⊔ :b", ":a ⊔ :c", ":a", "∃ :c.:a", "∃ :c.{:a}", "∃ :d.{:a}", "∃ :c.(:a ⊔ :b)", "(∃ :c.:a) ⊔ :b",
        "¬:d", ":d",
    ))]  # fmt: skip
    assert len({verbalise(e, names.__getitem__) for e in shapes}) == len(shapes)


def test_sentences_have_labels_and_counts(kg: KnowledgeGraph) -> None:
    labels = ("Image image en", "Image Bild de", "shows shows_attribute en", "tight tight en", "tight eng de",
              "other image en")  # fmt: skip
    for name, label, language in map(str.split, labels):
        put(kg, (name, str(RDFS.label), Literal(label.replace("_", " "), lang=language)))
    put(kg, ("Image", "a", str(OWL.Class)))
    e = normal(dl(":Image ⊓ (∃ :shows.{:tight})"))
    h = problem.Hypothesis(e, 0.9, problem.ExampleCounts(9, 1, 10, 40))
    assert sentence(kg, h, noun="images") == (
        "Whatever is an image and shows attribute “tight”: 9 of your 10 images, 1 of 40 others."
    )
    # Two things with one label are told apart by what identifies them.
    both = dl(":Image ⊔ :other")
    text = verbalise(both, names_of(kg, [both]))
    assert "http://example.org/Image" in text and "http://example.org/other" in text


LINES = Path(__file__).with_name("sentences.tsv").read_text("utf-8").splitlines()
SENTENCES = [line.split("\t") for line in LINES]


@pytest.mark.parametrize(("concept", "said"), SENTENCES)
def test_a_concept_is_said_in_these_words(concept: str, said: str) -> None:
    e = from_dl(concept, {"": "n:"})
    assert verbalise(e, lambda iri: iri.removeprefix("n:").replace("_", " ")) == said


def test_limits_at_both_sides_are_said_as_one(kg: KnowledgeGraph) -> None:
    apart = dl("(∃ :age.xsd:integer[≥ 3]) ⊓ (∃ :age.xsd:integer[≤ 7])")
    # Where something has several ages, one may be 1 and another 9.
    put(kg, ("a", "age", Literal(5)))
    assert sentence(kg, apart) == "Whatever has an age from 3 to 7."
    child = Some(Property(E + "child"), apart)
    assert sentence(kg, child) == "Whatever has a child that has an age from 3 to 7."
    put(kg, ("a", "age", Literal(9)))
    assert "at least 3" in sentence(kg, apart) and "at most 7" in sentence(kg, apart)


NAMED, OTHER = (Named(f"urn:{name}") for name in "AB")
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
        (counts_in_words, (problem.ExampleCounts(9, 1, 10, 40),), "9 of your 10 examples, 1 of 40 others"),
        (precision, (problem.ExampleCounts(3, 1, 4, 2),), 0.75),
        (by_value, (Literal(5),), True),
        (by_value, (Literal("five"),), False),
        (comparable, (Literal("2024-02-30", datatype=XSD.date),), None),
        (family, (Literal("7", datatype=XSD.short),), str(XSD.integer)),
    ],
)
def test_functions_of_values(said: Callable[..., Any], of: tuple[Any, ...], wanted: Any) -> None:
    assert said(*of) == wanted


def test_a_plural_of_a_property_of_numbers_is_a_number() -> None:
    assert english.as_noun(english.role("has legs"), "has legs", whole=True).noun == "number of legs"


def test_an_expression_has_a_text_to_sort_by() -> None:
    assert key(Or((OTHER, Bottom()))) == "(or <urn:B> ⊥)"


def test_the_query_counts_each_individual_once() -> None:
    wanted = f"SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE {{ ?x <{RDF}type> <urn:A> . FILTER(isIRI(?x)) }}"
    assert count_query(NAMED).split() == wanted.split()


def test_equal_rows_have_equal_fingerprints() -> None:
    a, b, c = problem.fingerprints(np.array([[True, False], [False, True], [True, False]]))
    assert a == c != b


def test_bits_of_a_part_count_what_is_in_it() -> None:
    whole = problem.ExampleBits(2, 3)
    part = problem.PartBits(whole, np.array([True, False, True, True, False]))
    assert [n.tolist() for n in part.count(whole.pack(np.ones((1, 5), dtype=bool)))] == [[1], [2]]


@pytest.mark.parametrize(("of_each", "accident"), [(3, True), (30, False)])
def test_few_examples_are_told_apart_by_chance(of_each: int, accident: bool) -> None:
    assert by_chance(NAMED, problem.ExampleCounts(of_each, 0, of_each, of_each), 100) is accident
