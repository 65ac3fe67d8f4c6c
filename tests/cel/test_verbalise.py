"""Sentences: readable, in two languages, and different for different expressions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Literal, URIRef
from rdflib.namespace import OWL, RDF, RDFS

from mrag.cel.expressions import (
    And,
    Expression,
    Named,
    Not,
    Or,
    Property,
    Some,
    Value,
    normal,
)  # fmt: skip
from mrag.cel.notation import from_dl
from mrag.cel.problem import ExampleCounts, Hypothesis
from mrag.cel.sentences import Language, names_of, sentence, verbalise
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from tests.cel.plain import expressions

E = "http://example.org/"


@settings(max_examples=100, deadline=None)
@given(st.lists(expressions, min_size=2, max_size=12), st.sampled_from(("en", "de")))
def test_different_normal_forms_get_different_sentences(
    several: list[Expression], language: Language
) -> None:
    said: dict[str, Expression] = {}
    for e in map(normal, several):
        text = verbalise(e, lambda iri: iri.rpartition("/")[2], language)
        assert said.setdefault(text, e) == e


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(alphabet="ab“”\\ or()that", min_size=1), min_size=4, max_size=4, unique=True))
def test_odd_labels_cannot_pass_for_words_of_the_sentence(labels: list[str]) -> None:
    a, b, c, d = (f"urn:{n}" for n in range(4))
    names = dict(zip((a, b, c, d), labels, strict=True))
    shapes = [
        Or((Named(a), Named(b))), Or((Named(a), Named(c))), Named(a), Some(Property(c), Named(a)),
        Value(Property(c), a), Value(Property(d), a), Some(Property(c), Or((Named(a), Named(b)))),
        Or((Some(Property(c), Named(a)), Named(b))), Not(Named(d)), Named(d),
    ]  # fmt: skip
    for language in ("en", "de"):
        assert len({verbalise(e, names.__getitem__, language) for e in shapes}) == len(shapes)  # type: ignore[arg-type]


def test_english_and_german_sentences(kg: KnowledgeGraph) -> None:
    facts = [
        (E + "Image", RDFS.label, Literal("image", lang="en")),
        (E + "Image", RDFS.label, Literal("Bild", lang="de")),
        (E + "shows", RDFS.label, Literal("shows attribute", lang="en")),
        (E + "tight", RDFS.label, Literal("tight", lang="en")),
        (E + "tight", RDFS.label, Literal("eng", lang="de")),
        (E + "other", RDFS.label, Literal("image", lang="en")), (E + "Image", RDF.type, OWL.Class),
    ]  # fmt: skip
    kg.insert(Triple(URIRef(s), p, o) for s, p, o in facts)
    e = normal(And((Named(E + "Image"), Value(Property(E + "shows"), E + "tight"))))
    h = Hypothesis(e, 0.9, ExampleCounts(9, 1, 10, 40))
    assert sentence(kg, h, noun="images") == (
        "Whatever is an image and shows attribute “tight”: 9 of your 10 images, 1 of 40 others."
    )
    assert sentence(kg, h, "de") == (
        "Alles, was vom Typ „Bild“ ist und bei „shows attribute“ „eng“ hat: "
        "9 von Ihren 10 Beispielen, 1 von 40 anderen."
    )
    # Two things with one label are told apart by what identifies them.
    both = Or((Named(E + "Image"), Named(E + "other")))
    text = verbalise(both, names_of(kg, [both]))
    assert "http://example.org/Image" in text and "http://example.org/other" in text


SENTENCES = [
    line.split("\t") for line in Path(__file__).with_name("sentences.tsv").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(("language", "concept", "said"), SENTENCES)
def test_a_concept_is_said_in_these_words(language: Language, concept: str, said: str) -> None:
    e = from_dl(concept, {"": "n:"})
    assert verbalise(e, lambda iri: iri.removeprefix("n:").replace("_", " "), language) == said


def test_limits_at_both_sides_are_said_as_one(kg: KnowledgeGraph) -> None:
    age, names = Property(E + "age"), {"": E}
    apart = from_dl("(∃ :age.xsd:integer[≥ 3]) ⊓ (∃ :age.xsd:integer[≤ 7])", names)
    # Where something has several ages, one may be 1 and another 9.
    kg.insert([Triple(URIRef(E + "a"), URIRef(age.iri), Literal(5))])
    assert sentence(kg, apart) == "Whatever has an age from 3 to 7."
    child = Some(Property(E + "child"), apart)
    assert sentence(kg, child) == "Whatever has a child that has an age from 3 to 7."
    kg.insert([Triple(URIRef(E + "a"), URIRef(age.iri), Literal(9))])
    assert "at least 3" in sentence(kg, apart) and "at most 7" in sentence(kg, apart)
