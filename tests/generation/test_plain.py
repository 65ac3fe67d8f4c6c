"""Answers without a language model: on topic, readable, cited, honest."""

from __future__ import annotations

import pytest
from rdflib import Literal

from mrag.context.render import Context
from mrag.generation.answering import answer, stream_answer
from mrag.generation.prompts import NO_MODEL_NOTICE
from mrag.generation.result import Answer
from mrag.generation.verbalise import PHRASES
from mrag.generation.verification import verify
from mrag.rdf.terms import XSD
from tests.cases import cases
from tests.generation.conftest import ask_in, context_of


def told(context: Context, question: str) -> str:
    given = answer(question, context)
    assert given.model is None
    assert given.notice == NO_MODEL_NOTICE
    assert given.supported
    assert verify(given, ask_in(context)).ok, str(verify(given, ask_in(context)))
    return given.text


@pytest.mark.parametrize(("question", "expected"), cases(__file__, "one_thing"))
def test_one_thing(products: Context, question: str, expected: str) -> None:
    assert told(products, question).startswith(expected)


def test_a_list_with_the_fact_that_makes_each_right(products: Context) -> None:
    assert told(products, "Which triple stores have RDF storage?") == (
        "- GraphDB is a triple store and has the feature RDF storage [t1][t4].\n"
        "- Virtuoso is a triple store and has the feature RDF storage [t13][t15]."
    )


def test_a_list_leaves_out_what_meets_one_condition_only(products: Context) -> None:
    text = told(products, "Which triple stores are developed by Ontotext?")
    assert "GraphDB" in text and "Virtuoso" not in text


def test_what_is_known_to_be_of_another_class_is_left_out() -> None:
    context = context_of(
        ("GraphDB", "is a", "product"),
        ("GraphDB", "made in", "Sofia"),
        ("Refine", "made in", "Sofia"),
        ("Ontotext", "is a", "company"),
        ("Ontotext", "made in", "Sofia"),
        ("Sofia", "is a", "city"),
    )
    assert told(context, "Which products are made in Sofia?") == (
        "- GraphDB is a product and is made in Sofia [t1][t2].\n- Refine is made in Sofia [t3]."
    )


def test_what_is_asked_for_together_must_stand_together() -> None:
    context = context_of(
        ("Luke", "is a", "character"), ("Luke", "eye color", "blue"), ("Luke", "skin color", "fair"),
        ("R2-D2", "is a", "character"), ("R2-D2", "eye color", "red"), ("R2-D2", "skin color", "blue"),
    )  # fmt: skip
    text = told(context, "Which characters have blue eyes?")
    assert "Luke" in text and "R2-D2" not in text


def test_a_narrower_relation_answers_for_the_wider() -> None:
    context = context_of(
        ("GraphDB", "is a", "database"),
        ("GraphDB", "has feature", "RDF storage"),
        ("Qdrant", "is a", "database"),
        ("Qdrant", "has feature", "vector indexing"),
        ("has feature", "sub property of", "linked to"),
    )
    assert told(context, "Which databases are linked to RDF?") == (
        "GraphDB is a database and has the feature RDF storage [t1][t2]."
    )


def test_comparing_tells_what_keeps_them_apart(products: Context) -> None:
    text = told(products, "What is the difference between a product and a vendor?")
    assert "Nothing is both a product and a vendor [t24]." in text
    text = told(products, "What is the difference between GraphDB and Neo4j?")
    assert "- GraphDB is a triple store [t1]." in text and "\n- Neo4j is a graph database" in text


def test_a_count(products: Context) -> None:
    text = told(products, "How many triple stores are there?")
    assert text.startswith("I don't know") and "The context shows" not in text
    context = context_of(("Ada", "is a", "person"), ("Ada", "child count", Literal(2)))
    assert told(context, "How many child does Ada have?") == "The child count of Ada is 2 [t2]."


def test_a_description_tells_what_comes_first(products: Context) -> None:
    text = told(products, "What is GraphDB?")
    assert text.startswith(
        "GraphDB is a triple store [t1]. It is described as "
        "“A triple store that keeps inferred statements beside the asserted ones” [t7]."
    )
    assert "is developed by Ontotext" in text


def test_over_one_thing_between(products: Context) -> None:
    text = told(products, "In which city is the vendor of GraphDB headquartered?")
    assert "Sofia" in text and "GraphDB" in text and "Ontotext" in text


def test_what_the_graph_does_not_say_is_said(products: Context) -> None:
    text = told(products, "Who is the CEO of Ontotext?")
    assert text.startswith("I don't know") and "I looked for “CEO” and “Ontotext”." in text
    assert "mentions “CEO”.\n\nNearest facts, which do not answer the question:\n- Ontotext " in text
    assert text.count("\n- ") <= 3
    text = told(products, "Does Neo4j support SPARQL querying?")
    assert text.startswith("I don't know")
    assert "Nothing in the context links Neo4j to SPARQL querying." in text
    assert "Neo4j has the feature Cypher querying" in text
    text = told(products, "Where was Neo4j first presented?")
    assert text.startswith("I don't know")


@pytest.mark.parametrize("question", ["Who develops Photoshop?", "What is the weather today?", "?", "???"])
def test_nothing_that_matches(products: Context, question: str) -> None:
    given = answer(question, products)
    assert given.text.startswith(PHRASES["en"].no_match)
    assert given.citations == ()
    assert given.supported


def test_a_question_without_words_is_about_what_was_found(products: Context) -> None:
    """So that an image alone can be asked about: the hits are what is on it."""
    text = told(products, " ")
    assert text.startswith("- GraphDB is a triple store [t1].") and "\n- Ontotext is a company" in text


def test_facts_that_were_to_be_computed_with_do_not_answer(products: Context) -> None:
    asked = "Who develops the newest triple store?"
    found = answer(asked, products, computing=("newest",)).text
    assert list(stream_answer(asked, products, computing=("newest",)))[-1] == answer(
        asked, products, computing=("newest",)
    )
    assert found.startswith("I don't know") and "\n- GraphDB is developed by Ontotext" in found


def test_a_relation_may_have_the_word_that_asks_to_compute() -> None:
    peaks = context_of(("Norway", "highest point", "Galdhøpiggen"))
    asked = "What is the highest point of Norway?"
    assert answer(asked, peaks, computing=("highest",)).text == answer(asked, peaks).text
    assert "directly" not in answer(asked, peaks).text


def test_an_empty_context() -> None:
    given = answer("Who?", Context((), ()))
    assert given.text == PHRASES["en"].nothing_found
    assert given.notice == NO_MODEL_NOTICE


def test_the_notice_can_tell_why(products: Context) -> None:
    assert answer("Who?", products, notice="Ollama is down.").notice == "Ollama is down."


def test_the_same_in_gives_the_same_out(products: Context) -> None:
    questions = ["Who develops GraphDB?", "Which triple stores are there?", "What is Neo4j?"]
    assert [answer(q, products) for q in questions] == [answer(q, products) for q in questions]


def test_more_than_there_is_room_for_are_named() -> None:
    rows = [(f"Store {chr(65 + i)}", "is a", "triple store") for i in range(9)]
    text = told(context_of(*rows), "Which triple stores are there?")
    assert text.count("\n- ") == 6
    assert (
        "- Also Store G (triple store), Store H (triple store) and Store I (triple store) [t7][t8][t9]."
        in text
    )


def test_another_language_gets_facts_without_english_grammar(products: Context) -> None:
    text = told(products, "Wer ist der Hersteller von GraphDB und wo ist das?")
    assert text.startswith(PHRASES["de"].no_match) and "\n- GraphDB ist vom Typ triple store [t1]." in text


def test_numbers_dates_and_truth_values() -> None:
    context = context_of(
        ("Ratts Tyerell", "is a", "Aleena"),
        ("Ratts Tyerell", "gender", '"male"'),
        ("Ratts Tyerell", "height", Literal("79.0", datatype=XSD + "decimal")),
        ("Ratts Tyerell", "skin color", '"blue"'),
        ("Ratts Tyerell", "skin color", '"grey"'),
        ("Photo 1", "is static", Literal("false", datatype=XSD + "boolean")),
        ("Photo 1", "taken on", Literal("1977-05-25", datatype=XSD + "date")),
    )
    assert told(context, "How tall is Ratts Tyerell?") == "The height of Ratts Tyerell is 79 [t3]."
    assert told(context, "What is the skin color of Ratts Tyerell?") == (
        "The skin colors of Ratts Tyerell are blue and grey [t4][t5]."
    )
    assert told(context, "Is Photo 1 static?").startswith("Photo 1 is not static [t6].")
    assert "Photo 1 is taken on 1977-05-25 [t7]." in told(context, "When was Photo 1 taken?")


def test_a_person_is_not_called_it() -> None:
    context = context_of(
        ("Ada", "is a", "person"), ("Ada", "gender", '"female"'), ("Ada", "knows", "Charles")
    )
    text = told(context, "Who is Ada?")
    assert " it " not in f" {text.casefold()} " and "its" not in text.casefold()


@pytest.mark.parametrize("question", ["Who is Ada Lane?", "Tell me about Ada Lane", "Ada Lane"])
def test_what_is_only_said_of_others_is_told(question: str) -> None:
    context = context_of(
        ("Acme", "is a", "Company"), ("Acme", "chief executive", "Ada Lane"),
        ("Acme", "headquarters", "Oslo"), ("Bolt", "chief executive", "Ann"),
        ("Bolt", "headquarters", "Oslo"), ("Oslo", "is a", "City"),
    )  # fmt: skip
    assert told(context, question) == "The chief executive of Acme is Ada Lane [t2]."
    assert told(context, "What is Oslo?").startswith(
        "Oslo is a City [t6]. The headquarter of Acme is Oslo [t3]."
    )
    assert "Acme is a Company" in told(context, "What is Acme?"), "what is said of it comes first"


def test_schema_reads_as_schema(products: Context) -> None:
    context = context_of(
        ("triple store", "sub class of", "graph database"),
        ("triple store", "description", '"A graph database for RDF statements."'),
        ("GraphDB", "is a", "triple store"),
        ("product", "disjoint with", "vendor"),
    )
    text = told(context, "What is a triple store?")
    assert "A triple store is described as “A graph database for RDF statements”" in text
    assert "A triple store is a kind of graph database [t1]." in text
    assert told(context, "Can a product be a vendor?") == "Nothing is both a product and a vendor [t4]."


def test_a_long_description_is_quoted_where_it_matters() -> None:
    filler = "This sentence says something about the film that nobody asked for at this place. " * 4
    prose = f'"{filler}It was directed by Irvin Kershner. {filler}"'
    context = context_of(("The Film", "is a", "film"), ("The Film", "description", prose))
    text = told(context, "Who directed The Film?")
    assert "directed by Irvin Kershner" in text
    assert len(text) < 500


def test_facts_in_odd_words_are_shown_as_they_stand() -> None:
    context = context_of(("is", "is", "is"), ("", "", ""), ("—", ":", "“"), ("a", "b", '"."'))
    for question in ("is", "What is is?", "—", "a b"):
        given: Answer = answer(question, context)
        assert verify(given, ask_in(context)).ok


@pytest.mark.parametrize(("question", "missing"), cases(__file__, "what_is_said_to_be_missing_are_words"))
def test_what_is_said_to_be_missing_are_words(question: str, missing: str) -> None:
    context = context_of(
        ("Max", "is a", "Person"), ("Acme Inc.", "is a", "firm"), ("Henry 8", "is a", "king")
    )
    assert f"Nothing in the context mentions “{missing}”." in told(context, question)


@pytest.mark.parametrize("question", cases(__file__, "what_no_line_says_of_what_was_asked_is_not_known"))
def test_what_no_line_says_of_what_was_asked_is_not_known(question: str) -> None:
    context = context_of(
        ("Ada", "is a", "person"), ("Eva", "is a", "person"), ("Ada", "birth year", '"1815"'),
        ("Wisconsin", "is a", "state"), ("Wisconsin", "population", Literal(5)),
        ("Ulm Hall", "contained in place", "Ulm"), ("Red Horses", "is a", "painting"),
        ("Big Garden", "is a", "garden"), ("Eva", "birth place", "Ulm"), ("Ada Works", "is a", "company"),
        ("Ada Works", "based on", "Engines"),
        ("Red Horses", "written by", "Dan"),
    )  # fmt: skip
    text = told(context, question)
    assert text.startswith(PHRASES["en"].no_match + " I looked for ")


@pytest.mark.parametrize(
    ("question", "expected"), cases(__file__, "words_that_add_nothing_to_what_a_line_says_are_no_gap")
)
def test_words_that_add_nothing_to_what_a_line_says_are_no_gap(question: str, expected: str) -> None:
    context = context_of(
        ("Alien", "release year", Literal(1979)), ("Alien", "written by", "Dan"), ("Ada", "is a", "person"),
        ("Ada", "hire date", Literal(1851)), ("Ada", "lives in", "Ulm"), ("Max", "is a", "person"),
        ("Max", "originates in", "Rome"), ("Max", "located at", "Rome"), ("Alloy", "contains", "tin"),
        ("Alloy", "also known as", '"Mix"'), ("Ulm Cup", "awarded to", "Max"),
        ("Alloy", "description", '"a mixture"'),
    )  # fmt: skip
    assert expected in told(context, question)
    assert not told(context, question).startswith("I don't know")
