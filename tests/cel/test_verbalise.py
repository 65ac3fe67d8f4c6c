"""Sentences: readable, in two languages, and different for different expressions."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Literal, URIRef
from rdflib.namespace import OWL, RDF, RDFS, XSD

from mrag.cel.problem import ExampleCounts, Hypothesis
from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    AtMost,
    DataRange,
    DataSome,
    Expression,
    Named,
    Not,
    Only,
    Or,
    Property,
    Some,
    Top,
    Value,
)  # fmt: skip
from mrag.cel.syntax.normal_form import normal
from mrag.cel.syntax.verbalise import Language, names_of, sentence, verbalise
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from tests.cel.plain import expressions

E = "http://example.org/"


@settings(max_examples=300, deadline=None)
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
        "Alles, was zu „Bild“ gehört und bei „shows attribute“ „eng“ hat: "
        "9 von Ihren 10 Beispielen, 1 von 40 anderen."
    )
    # Two things with one label are told apart by what identifies them.
    both = Or((Named(E + "Image"), Named(E + "other")))
    text = verbalise(both, names_of(kg, [both]))
    assert "http://example.org/Image" in text and "http://example.org/other" in text


def test_sentences_for_all_kinds() -> None:
    p, a = Property(E + "hasPart"), Named(E + "A")
    range = DataRange(str(XSD.integer), (("minInclusive", Literal(18)),))

    def say(e: Expression) -> str:
        return verbalise(e, lambda iri: {E + "hasPart": "has part"}.get(iri, iri.rpartition("/")[2]))

    assert say(Some(p, a)) == "has part some “A”"  # "a" is a word of the sentence
    assert say(Some(p, Top())) == "has part something"
    assert say(Not(Some(p, Top()))) == "has part nothing"
    assert say(Only(p, Not(a))) == "has part nothing but (is not a “A”)"
    assert say(AtLeast(2, p, a)) == "has part at least 2 things that (is a “A”)"
    assert say(AtMost(1, p, Top())) == "has part at most 1 thing"
    assert say(DataSome(p, range)) == "has part some whole number of at least 18"
    assert say(Some(Property(p.iri, True), a)) == "is “has part” of some “A”"
    assert say(Or((And((Named(E + "B"), Named(E + "C"))), Named(E + "D")))) == "is a D or (is a B and is a C)"
