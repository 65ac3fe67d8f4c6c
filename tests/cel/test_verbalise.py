"""Sentences: readable, in two languages, and different for different expressions."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDFS, Literal

from mrag.cel.expressions import Expression, Property, Some, normal
from mrag.cel.notation import from_dl
from mrag.cel.problem import ExampleCounts, Hypothesis
from mrag.cel.sentences import Language, names_of, sentence, verbalise
from mrag.graph.kg import KnowledgeGraph
from tests.cel.facts import E, dl, put
from tests.cel.plain import expressions


@settings(max_examples=100)
@given(st.lists(expressions, min_size=2, max_size=12), st.sampled_from(("en", "de")))
def test_other_normal_forms_get_other_sentences(several: list[Expression], language: Language) -> None:
    said: dict[str, Expression] = {}
    for e in map(normal, several):
        text = verbalise(e, lambda iri: iri.rpartition("/")[2], language)
        assert said.setdefault(text, e) == e


@settings(max_examples=200)
@given(st.lists(st.text(alphabet="ab“”\\ or()that", min_size=1), min_size=4, max_size=4, unique=True))
def test_odd_labels_cannot_pass_for_words_of_the_sentence(labels: list[str]) -> None:
    names = dict(zip((E + x for x in "abcd"), labels, strict=True))
    shapes = [*map(dl, (
        ":a ⊔ :b", ":a ⊔ :c", ":a", "∃ :c.:a", "∃ :c.{:a}", "∃ :d.{:a}", "∃ :c.(:a ⊔ :b)", "(∃ :c.:a) ⊔ :b",
        "¬:d", ":d",
    ))]  # fmt: skip
    for language in ("en", "de"):
        assert len({verbalise(e, names.__getitem__, language) for e in shapes}) == len(shapes)  # type: ignore[arg-type]


def test_english_and_german_sentences(kg: KnowledgeGraph) -> None:
    labels = ("Image image en", "Image Bild de", "shows shows_attribute en", "tight tight en", "tight eng de",
              "other image en")  # fmt: skip
    for name, label, language in map(str.split, labels):
        put(kg, (name, str(RDFS.label), Literal(label.replace("_", " "), lang=language)))
    put(kg, ("Image", "a", str(OWL.Class)))
    e = normal(dl(":Image ⊓ (∃ :shows.{:tight})"))
    h = Hypothesis(e, 0.9, ExampleCounts(9, 1, 10, 40))
    assert sentence(kg, h, noun="images") == (
        "Whatever is an image and shows attribute “tight”: 9 of your 10 images, 1 of 40 others."
    )
    assert sentence(kg, h, "de") == (
        "Alles, was vom Typ „Bild“ ist und bei „shows attribute“ „eng“ hat: "
        "9 von Ihren 10 Beispielen, 1 von 40 anderen."
    )
    # Two things with one label are told apart by what identifies them.
    both = dl(":Image ⊔ :other")
    text = verbalise(both, names_of(kg, [both]))
    assert "http://example.org/Image" in text and "http://example.org/other" in text


LINES = Path(__file__).with_name("sentences.tsv").read_text("utf-8").splitlines()
SENTENCES = [line.split("\t") for line in LINES]


@pytest.mark.parametrize(("language", "concept", "said"), SENTENCES)
def test_a_concept_is_said_in_these_words(language: Language, concept: str, said: str) -> None:
    e = from_dl(concept, {"": "n:"})
    assert verbalise(e, lambda iri: iri.removeprefix("n:").replace("_", " "), language) == said


def test_limits_at_both_sides_are_said_as_one(kg: KnowledgeGraph) -> None:
    apart = dl("(∃ :age.xsd:integer[≥ 3]) ⊓ (∃ :age.xsd:integer[≤ 7])")
    # Where something has several ages, one may be 1 and another 9.
    put(kg, ("a", "age", Literal(5)))
    assert sentence(kg, apart) == "Whatever has an age from 3 to 7."
    child = Some(Property(E + "child"), apart)
    assert sentence(kg, child) == "Whatever has a child that has an age from 3 to 7."
    put(kg, ("a", "age", Literal(9)))
    assert "at least 3" in sentence(kg, apart) and "at most 7" in sentence(kg, apart)
