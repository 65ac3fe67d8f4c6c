"""Tampering and change are seen: every mutation of an answer must be caught, on servers too."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from rdflib import XSD, Literal, URIRef

import mrag
from mrag.context.display import holding
from mrag.context.render import Context
from mrag.errors import ModelError
from mrag.generation.answering import answer, cite
from mrag.generation.verification import verify
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Term, Triple
from tests.cases import cases
from tests.conftest import PRODUCTS, slow
from tests.generation.conftest import E, ask_in
from tests.servers import server_of

TEXT = (
    "Here is what I found:\n\n"
    "- GraphDB is developed by Ontotext [t3].\n"
    "- Ontotext is headquartered in Sofia [t11].\n"
    "- Neo4j was first released in 2007."
)


def honest(products: Context) -> dict[str, Any]:
    given = cite("Who develops GraphDB?", TEXT, products, model="m")
    value: dict[str, Any] = json.loads(json.dumps(given.to_json()))
    assert verify(value, ask_in(products)).ok
    return value


def test_an_honest_answer_holds(products: Context) -> None:
    report = verify(honest(products), ask_in(products))
    assert report.ok and report.checked == 4
    assert str(report).startswith("Verified in part: 4 cited triples")
    assert report.to_json()["ok"] is True


def test_so_do_answers_without_a_model(products: Context) -> None:
    for question in ("Who develops GraphDB?", "What is GraphDB?", "Which triple stores are there?", "Why?"):
        assert verify(answer(question, products), ask_in(products)).ok, question


def test_a_triple_that_is_gone_is_reported(products: Context) -> None:
    value = honest(products)
    gone = next(line for line in products.lines if line.id == "t11")
    report = verify(value, lambda triple, graph: triple != gone.triple)
    assert [line.id for line in report.missing] == ["t11"]
    assert report.unsupported == ("Ontotext is headquartered in Sofia.",)
    assert "No longer in the graph: [t11]" in str(report)


def test_one_of_two_reasons_may_go(products: Context) -> None:
    inverse = next(line for line in products.lines if line.id == "t9")
    report = verify(honest(products), lambda triple, graph: triple != inverse.triple)
    assert [line.id for line in report.missing] == ["t9"]
    assert report.unsupported == ()
    assert not report.ok


def test_the_graph_counts_too(products: Context) -> None:
    assert not verify(honest(products), lambda triple, graph: graph == "http://elsewhere.example/").ok


def line_of(value: dict[str, Any], one: str) -> int:
    return next(i for i, line in enumerate(value["context"]["lines"]) if line["id"] == one)


# Where something else is put, and what: a value, or what makes one of the old.
MUTATIONS: dict[str, tuple[list[str | int], Any]] = {
    **{name: (path, new) for name, path, new in cases(__file__, "mutations")},
    "a citation is taken off the list": (["citations"], lambda old: old[1:]),
    "a citation is put on the list": (["citations"], lambda old: [*old, {**old[0], "id": "t1"}]),
    "a citation hides that it is inferred": (["citations", 1, "inferred"], lambda old: not old),
    "a line is doubled": (["context", "lines"], lambda old: [*old, {**old[0], "id": "t3"}]),
    "a line is taken away": (["context", "lines"], lambda old: [x for x in old if x["id"] != "t3"]),
    "the text changes": (["text"], lambda old: old.replace("Ontotext", "Acme")),
    "the text loses an id": (["text"], lambda old: old.replace("[t11]", "")),
    "a sentence is taken away": (["sentences"], lambda old: old[:-1]),
    "a sentence is put in": (["sentences"], lambda old: [*old, FREE]),
    "the order changes": (["sentences"], lambda old: old[::-1]),
}
FREE = {"text": "GraphDB is free.", "before": " ", "citations": [], "supported": True, "rejected_ids": []}


def mutate(value: dict[str, Any], path: list[str | int], new: Any) -> None:
    place: Any = value
    for at, step in enumerate(path):
        # A line is named by its id.
        key = line_of(value, str(step)) if path[:at] == ["context", "lines"] else step
        if at == len(path) - 1:
            place[key] = new(place[key]) if callable(new) else new
        else:
            place = place[key]


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_mutation_is_caught(products: Context, name: str) -> None:
    value = honest(products)
    before = copy.deepcopy(value)
    mutate(value, *MUTATIONS[name])
    assert value != before
    report = verify(value, ask_in(products))
    assert not report.ok, name
    assert str(report)


def test_text_and_sentence_changed_together_are_caught(products: Context) -> None:
    value = honest(products)
    value["text"] = value["text"].replace("Ontotext [t3]", "Neo4j Inc. [t3]")
    value["sentences"][1]["text"] = "GraphDB is developed by Neo4j Inc."
    assert "GraphDB is developed by Neo4j Inc." in verify(value, ask_in(products)).unsupported


def test_labels_are_checked_where_the_store_can_say_them(products: Context) -> None:
    text = json.dumps(honest(products)).replace("Ontotext", "Acme")
    value = json.loads(text.replace(E + "Acme", E + "Ontotext"))
    known: dict[str, set[str]] = {}
    for line in products.lines:
        for term, label in zip(line.triple, line.labels, strict=True):
            known.setdefault(str(term), set()).add(label)

    def labels(term: Term) -> set[str]:
        return known.get(str(term), set())

    assert verify(honest(products), ask_in(products), labels).ok
    report = verify(value, ask_in(products), labels)
    assert any("“Acme” is not a name of" in what for what in report.altered)


def test_an_unsupported_sentence_is_reported_though_it_was_marked(products: Context) -> None:
    given = cite("Who develops GraphDB?", "Neo4j Inc. does.", products)
    report = verify(given, ask_in(products))
    assert report.flagged == ("Neo4j Inc. does.",)
    assert report.ok and "Marked as not supported, which is so" in str(report)
    value = given.to_json()
    value["sentences"][0]["supported"] = True
    assert verify(value, ask_in(products)).unsupported == ("Neo4j Inc. does.",)


def test_only_cited_triples_are_asked_for(products: Context) -> None:
    seen: list[Triple] = []

    def ask(triple: Triple, graph: str) -> bool:
        seen.append(triple)
        return True

    verify(answer("Who develops GraphDB?", products), ask)
    assert [str(t.o) for t in seen] == [E + "Ontotext"]


@pytest.mark.parametrize(("path", "new"), cases(__file__, "damages"))
def test_no_answer_is_a_typed_error(products: Context, path: list[str | int], new: Any) -> None:
    with pytest.raises(ModelError):
        verify({}, ask_in(products))
    value = honest(products)
    mutate(value, path, new)
    with pytest.raises(ModelError):
        verify(value, ask_in(products))


QUESTIONS = (
    "How many triple stores are there?", "What is the oldest database?", "Does Neo4j support SPARQL?",
    "How many vendors are there per country?", "Which products does Ontotext develop?",
    "Average release year of databases?", "Tell me about Ontotext.", "What is Virtuoso written in?",
    "Which kinds of database are there?",
)  # fmt: skip


@pytest.fixture(scope="module", params=["oxigraph", *slow("virtuoso", "fuseki", "graphdb")])
def kg(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp(request.param)
    with server_of(request.param, folder) as url, mrag.connect(url, "verified") as found:
        found.load([PRODUCTS])
        if not found.store.capabilities.reasoning:
            found.reason()
        found.index(model="none")
        yield found


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_unchanged_answer_is_verified(kg: KnowledgeGraph, question: str) -> None:
    value = json.loads(json.dumps(mrag.ask(kg, question, model="none").to_json()))
    report = mrag.verify(kg, value)
    assert report.ok, str(report)
    assert mrag.verify(kg, {**value, "question": "Is Ontotext bankrupt?"}) != report
    assert "every sentence holds" in str(report) or "what is so instead" in str(report)


def test_triples_are_found_however_a_server_spells_them(kg: KnowledgeGraph) -> None:
    thing, says = URIRef("http://example.org/thing"), URIRef("urn:says")
    values: list[Term] = [
        *(Literal("one name", lang=tag) for tag in ("en", "de", "en-GB", None)),
        Literal("another name", lang="en"), Literal(7), Literal(True), thing,
        Literal("1.50", datatype=XSD.decimal, normalize=False), Literal("2020-01-01", datatype=XSD.date),
    ]  # fmt: skip
    kg.insert([Triple(thing, says, value) for value in values])
    graphs = kg.dataset("asserted").default
    rows = kg.select("SELECT ?o { <http://example.org/thing> <urn:says> ?o }")
    kept = [Triple(thing, says, value) for (value,) in rows if value is not None]
    assert len(kept) == len(values)
    assert {t for graph in graphs for t in holding(kg, graph, kept)} == {*kept}
    other = [Triple(thing, says, Literal(text, lang="en")) for text in ("no name", "nothing")]
    assert not [t for graph in graphs for t in holding(kg, graph, other)]
