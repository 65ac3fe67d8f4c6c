"""Sentences polished by a model: better words are taken, another meaning never."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Literal, URIRef
from rdflib.namespace import RDF, RDFS

from mrag.cel.expressions import (
    And,
    AtLeast,
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
    Value,
    normal,
)  # fmt: skip
from mrag.cel.polish import PolishedSentence, _literals, graph_labels, meaning_change, polish_sentence
from mrag.cel.problem import ExampleCounts, Hypothesis
from mrag.cel.sentences import sentence, verbalise
from mrag.errors import ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import XSD, Triple
from tests.cel.test_summary import E, Server

IMAGE, SHOWS, JACKET = E + "Image", Property(E + "shows"), E + "jacket"
LABELS = {
    "Image": "Image",
    "shows": "shows",
    "jacket": "jacket",
    "skirt": "skirt",
    "breasted": "single breasted",
}
CONCEPT = And((Named(IMAGE), Value(SHOWS, JACKET), Not(Value(SHOWS, E + "breasted"))))
PLAIN = And((Named(IMAGE), Value(SHOWS, JACKET)))
COUNTS = ": 3 of your 3 images, 0 of 3 others."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    pytest.importorskip("langchain_ollama")
    running = Server(monkeypatch)
    yield running
    running.front.close()
    running.behind.close()


@pytest.fixture
def images(kg: KnowledgeGraph) -> KnowledgeGraph:
    facts = [Triple(URIRef(E + name), RDFS.label, Literal(label)) for name, label in LABELS.items()]
    facts += [
        Triple(URIRef(E + "i1"), RDF.type, URIRef(IMAGE)),
        Triple(URIRef(E + "i1"), RDFS.label, Literal("Every")),
    ]
    kg.insert(facts)
    return kg


def hypothesis_of(expression: Expression) -> Hypothesis:
    return Hypothesis(normal(expression), 1.0, ExampleCounts(3, 0, 3, 3))


def polished(
    server: Server, kg: KnowledgeGraph, answer: str | None, of: Expression = PLAIN
) -> PolishedSentence:
    server.say = lambda messages: answer
    server.asked.clear()
    found = polish_sentence(kg, hypothesis_of(of), server.model, noun="images")
    assert len(server.asked) == 1
    assert found.original == sentence(kg, hypothesis_of(of), noun="images")
    assert found.accepted == (found.reason == "") and (found.accepted or found.text == found.original)
    return found


def test_a_good_answer_is_taken_and_the_counts_are_put_there_by_rules(
    server: Server, images: KnowledgeGraph
) -> None:
    found = polished(server, images, "Every Image that shows a “jacket”.")
    assert found == PolishedSentence(
        f"Every Image that shows a “jacket”{COUNTS}", f"Whatever is an Image and shows “jacket”{COUNTS}", True
    )
    _, human = server.asked[0]
    assert human["content"] == "Whatever is an Image and shows “jacket”."  # the counts are not its business
    for answer in (
        "Whatever is an Image and shows jacket",
        '<think>Hm.</think>\n"Images? No."\n'[:19] + "Every image that also shows a jacket.",
        '"Any Image which shows the jacket"',
    ):
        assert polished(server, images, answer).accepted, answer


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Every Image that shows a “skirt”.", "It lacks “jacket”."),
        ("Every Image that shows a “jacket” and a “skirt”.", "It adds “skirt”."),
        ("Every Image that shows a “single breasted jacket”.", "It adds “single”."),
        ("Every Image that shows no “jacket”.", "It adds “no”."),
        ("Every Image that shows 2 “jacket”.", "It adds “2”."),
        ("Every Image that shows two “jacket”.", "It adds “two”."),
        ("Every Image that shows “jacket”: 9 of 10.", "It adds “9”."),
        ("Every Image that shows only “jacket”.", "It adds “only”."),
        ("Every Image or whatever shows “jacket”.", "It adds “or”."),
        ("“jacket” shows every Image.", "It has the names or numbers in another order."),
        ("Every Image that shows every “jacket”.", "It adds “every”."),
        ("Every expensive Image that shows “jacket”.", "It adds “expensive”."),
        ("Every Image that shows “jacket” ☂", "It adds signs."),
        ("Every non-Image that shows “jacket”.", "It adds “non”."),
        ("I cannot help with that.", "It lacks “image”."),
        ("", "The model answered nothing."),
        ("<think>I wonder", "The model answered nothing."),
    ],
)
def test_lies_refusals_and_silence_are_not_taken(
    server: Server, images: KnowledgeGraph, answer: str, reason: str
) -> None:
    assert polished(server, images, answer).reason == reason


def test_a_lost_negation(server: Server, images: KnowledgeGraph) -> None:
    made = sentence(images, hypothesis_of(CONCEPT))
    assert "does not show" in made
    lost = "Every Image that shows “jacket” and shows “single breasted”"
    assert polished(server, images, lost, CONCEPT).reason == "It lacks “does not show”."
    kept = made.partition(":")[0].replace("Whatever is an Image and", "Every Image that")
    assert polished(server, images, kept, CONCEPT).accepted


def test_a_model_that_fails_costs_nothing(server: Server, images: KnowledgeGraph) -> None:
    assert "did not answer" in polished(server, images, None).reason
    with pytest.raises(ModelError, match="no language model"):
        polish_sentence(images, hypothesis_of(PLAIN), None)


def test_in_german(server: Server, images: KnowledgeGraph) -> None:
    server.say = lambda messages: "Jedes, das vom Typ „Image“ ist und bei „shows“ „jacket“ hat"
    found = polish_sentence(images, hypothesis_of(PLAIN), server.model, "de", noun="Bildern")
    assert found.text == (
        "Jedes, das vom Typ „Image“ ist und bei „shows“ „jacket“ hat: 3 von Ihren 3 Bildern, 0 von 3 anderen."
    )
    server.say = lambda messages: "Alles, was nicht vom Typ „Image“ ist und bei „shows“ „jacket“ hat"
    assert polish_sentence(images, hypothesis_of(PLAIN), server.model, "de").reason == "It adds “nicht”."


def test_labels_of_the_graph_may_not_come_in(server: Server, images: KnowledgeGraph) -> None:
    assert graph_labels(images) == {*LABELS.values(), "Every"}
    assert len(graph_labels(images, 2)) == 2
    made, names = "Whatever is an Image and shows “jacket”", ["Image", "shows", "jacket"]
    good = "Every Image that also shows “jacket”"
    assert meaning_change(made, good, names, labels=graph_labels(images)) == ""
    assert meaning_change(made, good, names, labels=["also shows"]) == "It adds “also shows”."
    assert meaning_change(made, "Images that are an Image and shows jacket", names, noun="images") == ""


SENTENCES = [
    ("Whatever shows something that (is a Jacket and has “red”) and shows something that (is a Hat)",
     "Whatever shows something that is a Jacket and has “red” and shows something that is a Hat"),
    ("Whatever is a Jacket or (is a Hat and has “red”)", "Whatever is a Jacket or is a Hat and has “red”"),
    ("Whatever is a Jacket or is a Hat", "Whatever is a Jacket and is a Hat"),
    ("Whatever is a Jacket, is a Hat or has “red”", "Whatever is a Jacket or a Hat and has “red”"),
    ("Whatever is “has” of some Hat", "Whatever “has” some Hat"),
    ("Whatever shows at least 2 things that (is a Hat)", "Whatever shows at most 2 things that is a Hat"),
    ("Whatever shows at least 2 things", "Whatever shows at least 3 things"),
    ("Whatever is one of “Jacket”, “Hat”", "Whatever is “Jacket”, “Hat”"),
    ("Whatever shows a Jacket and has “red”", "Whatever shows a Jacket that has “red”"),
    ('Whatever has "big, red"@en', 'Whatever has "big, blue"@en'),
    ("Whatever has the truth value true", "Whatever has the truth value false"),
    ("Whatever has some decimal number above -1.5", "Whatever has some decimal number above 1.5"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "other"), SENTENCES)
def test_another_meaning_in_the_same_words(made: str, other: str) -> None:
    names = ["Jacket", "Hat", "red", "has", "shows", "true", "-1.5"]
    assert meaning_change(made, other, names) != ""
    assert meaning_change(made, made, names) == ""


NAMES = ["Cat", "Dog", "has part", "not here"]


def expressions() -> st.SearchStrategy[Expression]:
    iris = st.sampled_from(NAMES)
    roles = st.builds(Property, iris, st.booleans())
    number = st.builds(lambda n: Literal(str(n), datatype=XSD + "integer"), st.integers(-9, 99))
    ranges = st.builds(lambda v: DataRange(XSD + "integer", (("minInclusive", v),)), number)
    atoms = st.one_of(
        st.builds(Named, iris),
        st.builds(Value, roles, iris),
        st.builds(lambda p, v: Value(Property(p), v), iris, number),
        st.builds(lambda p, r: DataSome(Property(p), r), iris, ranges),
        st.builds(lambda a, b: OneOf((a, b)), iris, iris),
    )

    def more(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.one_of(
            st.builds(Not, inner), st.builds(Some, roles, inner), st.builds(Only, roles, inner),
            st.builds(lambda a, b: And((a, b)), inner, inner),
            st.builds(lambda a, b: Or((a, b)), inner, inner),
            st.builds(lambda n, p, f: AtLeast(n, p, f), st.integers(2, 4), roles, inner),
        )  # fmt: skip

    return st.recursive(atoms, more, max_leaves=5)


@settings(max_examples=100, deadline=None)
@given(expressions(), expressions())
def test_only_the_sentence_itself_passes_among_those_of_other_expressions(
    one: Expression, other: Expression
) -> None:
    """Whatever the rules say of another expression is another meaning, and is never taken for this one."""
    mine, theirs = (f"Whatever {verbalise(e, str)}" for e in (one, other))
    names = [*NAMES, *_literals(normal(one))]
    assert meaning_change(mine, mine, names) == ""
    if mine != theirs:
        assert meaning_change(mine, theirs, names) != "", (mine, theirs)
