"""Sentences: readable, in two languages, and different for different expressions."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Literal, URIRef
from rdflib.namespace import OWL, RDF, RDFS, XSD

from mrag.cel.expressions import (
    And,
    AtLeast,
    AtMost,
    DataRange,
    DataSome,
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
    normal,
)  # fmt: skip
from mrag.cel.problem import ExampleCounts, Hypothesis
from mrag.cel.sentences import Language, names_of, sentence, verbalise
from mrag.graph.kg import KnowledgeGraph
from mrag.language.names import name_parts
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
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


def test_sentences_for_all_kinds() -> None:
    p, a = Property(E + "hasPart"), Named(E + "A")

    def say(e: Expression) -> str:
        return verbalise(e, lambda iri: " ".join(name_parts(iri.rpartition("/")[2])))

    b, shirt = Named(E + "B"), Named(E + "Shirt")
    shows, look = Property(E + "shows"), Property(E + "hasLook")
    striped = And((shirt, Value(look, E + "striped")))
    for e, text in (
        (Some(p, a), "has a part that is a “A”"),  # "a" is a word of the sentence
        (Some(p, Top()), "has a part"),
        (Not(Some(p, Top())), "has no part"),
        (Only(p, Not(a)), "has no part that is a “A”"),
        (Only(p, b), "has no part but one that is a B"),
        (AtLeast(2, p, b), "has at least 2 parts each of which is a B"),
        (AtMost(1, p, Top()), "has at most 1 part"),
        (Some(Property(p.iri, True), b), "is a part of a B"),
        (Or((And((b, Named(E + "C"))), Named(E + "D"))), "is a D or (is a B and is a C)"),
        (Some(shows, striped), "shows a Shirt that has the look “striped”"),
        (Not(Some(shows, striped)), "shows no Shirt that has the look “striped”"),
        (AtLeast(2, shows, shirt), "shows at least 2 Shirts"),
        (AtMost(2, shows, Named(E + "Person")), "shows at most 2 People"),
        (Only(shows, shirt), "shows nothing but Shirts"),
        (Not(Value(shows, E + "b")), "does not show “b”"),
        (Some(Property(E + "wears", True), Named(E + "Boy")), "is worn by a Boy"),
        (Some(Property(E + "wear", True), Top()), "is worn by something"),
        (Some(Property(E + "developed by", True), b), "develops a B"),
        (Some(Property(E + "part of", True), b), "has a part that is a B"),
        (Some(Property(E + "married"), b), "is married to a B"),
        (Some(Property(E + "hasSibling"), Top()), "has a sibling"),
        (Or((Named(E + "blue jeans"), Named(E + "Striped"))), "is Striped or is blue jeans"),
        (And((Named(E + "RDF store"), Named(E + "Ape"))), "is an Ape and is an RDF store"),
        (And((Some(p, b), Some(shows, shirt))), "has a part that (is a B) and shows a Shirt"),
        (And((AtLeast(3, p, b), AtMost(7, p, b))), "has from 3 to 7 parts each of which is a B"),
        (And((AtLeast(3, shows, shirt), AtMost(3, shows, shirt))), "shows exactly 3 Shirts"),
        (And((b, AtMost(4, p, Top()), AtLeast(2, p, Top()))), "is a B and has from 2 to 4 parts"),
        (
            And((b, AtMost(4, p, Top()), AtLeast(2, p, b))),
            "is a B, has at most 4 parts and has at least 2 parts each of which is a B",
        ),
        (Named(E + "hasEggs"), "is of the kind “has Eggs”"),
    ):
        assert say(e) == text


def test_numbers_in_words() -> None:
    def said(name: str, value: Literal, facet: str = "minInclusive") -> str:
        range = DataRange(str(value.datatype), ((facet, value),))  # type: ignore[arg-type]
        return verbalise(
            DataSome(Property(E + name), range), lambda iri: " ".join(name_parts(iri.rpartition("/")[2]))
        )

    assert said("energy", Literal(-1.034), "maxInclusive") == "has an energy of at most -1.034"
    assert said("weight", Literal(24.5)) == "has a weight of at least 24.5"
    assert said("hasAge", Literal(18), "minExclusive") == "has an age of more than 18"
    assert said("points", Literal(9), "maxExclusive") == "has points of less than 9"
    day = Literal("2024-02-01", datatype=XSD.date)
    assert said("release date", day, "maxExclusive") == "has a release date before 2024-02-01"
    assert said("release date", day) == "has a release date not before 2024-02-01"
    assert said("hasLegs", Literal(4)) == "has a number of legs of at least 4"
    assert said("hasWheels", Literal(2.5)) == "has wheels of at least 2.5"


def test_limits_at_both_sides_are_said_as_one() -> None:
    def limits(*facets: tuple[str, int]) -> DataRange:
        return DataRange(str(XSD.integer), tuple((f, Literal(n)) for f, n in facets))  # type: ignore[misc]

    age, kg = Property(E + "age"), KnowledgeGraph(OxigraphStore())
    low, high = ("minInclusive", 3), ("maxInclusive", 7)
    for facets, en, de in (
        ((low, high), "has an age from 3 to 7", "bei „age“ von 3 bis 7 hat"),
        ((low, ("maxInclusive", 3)), "has an age of exactly 3", "bei „age“ genau 3 hat"),
        ((low, ("maxExclusive", 7)), "has an age of at least 3 and less than 7", None),
    ):
        e = DataSome(age, limits(*facets))
        assert verbalise(e, lambda iri: iri.rpartition("/")[2]) == en
        assert de in (None, verbalise(e, lambda iri: iri.rpartition("/")[2], "de"))
    apart = And((DataSome(age, limits(low)), DataSome(age, limits(high))))
    # Where something has several ages, one may be 1 and another 9.
    with kg:
        kg.insert([Triple(URIRef(E + "a"), URIRef(age.iri), Literal(5))])
        assert sentence(kg, apart) == "Whatever has an age from 3 to 7."
        assert (
            sentence(kg, Some(Property(E + "child"), apart))
            == "Whatever has a child that has an age from 3 to 7."
        )
        kg.insert([Triple(URIRef(E + "a"), URIRef(age.iri), Literal(9))])
        assert "at least 3" in sentence(kg, apart) and "at most 7" in sentence(kg, apart)


def _said(e: Expression, language: Language = "en") -> str:
    return verbalise(e, lambda iri: iri, language)


def _at_least(kind: URIRef, value: str) -> DataRange:
    return DataRange(str(kind), (("minInclusive", Literal(value, datatype=kind)),))


def test_names_of_properties_are_verbs_nouns_units_and_truths() -> None:
    mirror, cat = Named("Mirror"), Named("Cat")
    open_ = Property("is open")
    for e, text in (
        (Some(Property("observes"), cat), "observes a Cat"),
        (Some(Property("observe", True), cat), "is observed by a Cat"),
        (Some(Property("uses filter"), Top()), "uses a filter"),
        (Not(Some(Property("uses filter"), Top())), "uses no filter"),
        (Some(Property("participates in project"), cat), "participates in a project that is a Cat"),
        (Some(Property("sits on", True), cat), "is what a Cat sits on"),
        (AtLeast(2, Property("located in", True), cat), "is what at least 2 Cats are located in"),
        (Not(Some(Property("made of", True), mirror)), "is what no Mirror is made of"),
        (Some(Property("has been visited by", True), cat), "visits a Cat"),
        (Some(Property("member of"), cat), "is a member of a Cat"),
        (Some(Property("wearing", True), cat), "is worn by a Cat"),
        (AtLeast(2, Property("children"), cat), "has at least 2 children each of which is a Cat"),
        (Value(open_, Literal(True)), "is open"),
        (Value(open_, Literal(False)), "is not open"),
        (Not(Value(open_, Literal(True))), "is not said to be open"),
        (Value(Property("has dome"), Literal(False)), "has no dome"),
        (Value(Property("can swim"), Literal(False)), "cannot swim"),
        (DataSome(Property("mirror diameter m"), _at_least(XSD.double, "8.2")),
         "has a mirror diameter of at least 8.2 m"),
        (DataSome(Property("temperature (°C)"), _at_least(XSD.integer, "-5")),
         "has a temperature of at least -5 °C"),
        (DataSome(Property("number of seats"), _at_least(XSD.integer, "3")),
         "has a number of seats of at least 3"),
        (DataSome(Property("weighs"), _at_least(XSD.integer, "3")), "weighs at least 3"),
        (Value(Property("price_eur"), Literal(35)), "has the price 35 euros"),
        (Value(Property("published"), Literal("1990-01-01", datatype=XSD.date)),
         "was published on 1990-01-01"),
        (OneOf((E + "x",)), f"is “{E}x” itself"),
        (Some(Property("depends on"), Named("Software")), "depends on Software"),
    ):  # fmt: skip
        assert _said(e) == text


def test_german_names_of_properties_are_verbs_and_nouns() -> None:
    part, city, own = Property("hat Bauteil"), Named("Stadt"), Property("besitzt")
    weight = DataRange(str(XSD.decimal), (("minInclusive", Literal("24.5", datatype=XSD.decimal)),))
    day = _at_least(XSD.date, "2020-03-01")
    for e, text in (
        (Some(part, Named("Rad")), "als Bauteil etwas vom Typ „Rad“ hat"),
        (Some(Property("hat Bauteil", True), Named("Rad")), "Bauteil von etwas vom Typ „Rad“ ist"),
        (AtLeast(2, part, And((Named("Rad"), Value(Property("Farbe"), "rot")))),
         "als Bauteil mindestens 2 Dinge vom Typ „Rad“ hat, von denen jedes als Farbe „rot“ hat"),
        (Some(Property("wohnt in"), city), "in etwas vom Typ „Stadt“ wohnt"),
        (Only(Property("wohnt in"), city), "nur in Dingen vom Typ „Stadt“ wohnt"),
        (Some(Property("wohnt in", True), city), "Ziel von „wohnt in“ bei etwas vom Typ „Stadt“ ist"),
        (Not(Some(own, city)), "nichts vom Typ „Stadt“ besitzt"),
        (Some(Property("wird gewartet von"), city), "von etwas vom Typ „Stadt“ gewartet wird"),
        (Some(Property("ist Teil von", True), city), "als Teil etwas vom Typ „Stadt“ hat"),
        (Value(Property("in Betrieb"), Literal(False)), "nicht in Betrieb ist"),
        (Not(Value(Property("in Betrieb"), Literal(True))), "bei „in Betrieb“ nicht „ja“ sagt"),
        (DataSome(Property("Gewicht (kg)"), weight), "als Gewicht mindestens 24,5 kg hat"),
        (DataSome(Property("letzte Wartung"), day), "als letzte Wartung ein Datum ab 2020-03-01 hat"),
        (Some(Property("has child"), city), "bei „has child“ etwas vom Typ „Stadt“ hat"),
    ):  # fmt: skip
        assert _said(e, "de") == text
