"""Words, mentions and sentences: what everything else is built on."""

from typing import Any

import pytest
from rdflib import Literal

from mrag.generation.prompts import without_fences
from mrag.generation.support.mentions import ContextNames
from mrag.generation.support.sentences import ThoughtFilter, split, take_ids, with_ids
from mrag.language.grammar import article, relation
from mrag.language.names import split_identifier
from mrag.language.tokens import fold, keys, language_of, stem, tokens
from mrag.rdf.terms import XSD
from tests.cases import cases
from tests.generation.conftest import context_of, iri


@pytest.mark.parametrize(("one", "other"), cases(__file__, "forms_of_one_word_fold_to_one_key"))
def test_forms_of_one_word_fold_to_one_key(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"), [("RDFS", "RDF"), ("007", "7"), ("-5", "5"), ("Paris", "Pari"), ("1e99", "1")]
)
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_a_sign_counts_only_where_it_is_one() -> None:
    assert keys("C-3PO at -5 degrees") == ("c", "3po", "at", "-5", "degree")


def test_text_without_spaces_is_cut_into_characters() -> None:
    assert keys("東京は日本") == ("東", "京", "は", "日", "本")


def test_tokens_tell_where_they_stand() -> None:
    text = "In Paris, 1,024 cafés."
    assert [text[t.start : t.end] for t in tokens(text)] == [t.raw for t in tokens(text)]


@pytest.mark.parametrize("word", ["develops", "developed", "developer", "developing", "development"])
def test_verb_forms_share_a_stem(word: str) -> None:
    assert stem(word) == "develop"


@pytest.mark.parametrize(("text", "language"), cases(__file__, "language"))
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language


def test_labels_from_code_become_words() -> None:
    assert split_identifier("voc:skinColor") == "skin color"
    assert split_identifier("release_year") == "release year"
    assert split_identifier("RDF") == "RDF"


def names(*rows: tuple[str, str, object]) -> ContextNames:
    return ContextNames(context_of(*rows).lines)


def found(index: ContextNames, text: str) -> list[str]:
    return [" ".join(m.keys) for m in index.find(text)]


@pytest.mark.parametrize(("rows", "text", "expected"), cases(__file__, "mentions"))
def test_names_are_read_where_they_are_meant(rows: list[Any], text: str, expected: list[str]) -> None:
    assert found(names(*rows), text) == expected


def test_short_forms_and_aliases_name_their_subject() -> None:
    index = names(("GraphDB", "also known as", '"OWLIM"'), ("Luke Skywalker", "is a", "character"))
    assert iri("GraphDB") in index.find("OWLIM is fast")[0].terms
    assert index.find("Then Luke came.")[0].terms == {iri("Luke Skywalker")}


def test_dates_and_numbers_are_read_in_words() -> None:
    day = Literal("1977-05-25", datatype=XSD + "date")
    length = Literal("121.0", datatype=XSD + "decimal")
    index = names(("Star Wars", "released", day), ("Star Wars", "length", length))
    for text in ("on May 25, 1977", "am 1977-05-25", "25 May 1977", "in 1977"):
        assert day in index.find(text)[0].terms, text
    assert found(index, "121 minutes") == ["121"]


@pytest.mark.parametrize(("text", "expected"), cases(__file__, "sentences"))
def test_sentences(text: str, expected: list[list[str]]) -> None:
    assert [*map(list, split(text))] == expected


def test_a_name_with_full_stops_is_not_cut() -> None:
    text = "It is by Yahoo! Inc. Labs today."
    assert split(text, ["Yahoo! Inc. Labs"]) == [("", text)]


def test_ids_are_taken_out_and_put_back() -> None:
    assert take_ids("A [t1, T2] and B [t3][t1].") == ("A and B.", ("t1", "t2", "t3"))
    assert take_ids("An array [1, 2] stays.") == ("An array [1, 2] stays.", ())
    assert with_ids("A.", ["t1", "t2"]) == "A [t1][t2]."
    assert with_ids("A", ["t1"]) == "A [t1]"
    assert with_ids("A.", []) == "A."


def test_thoughts_are_left_out_however_they_are_cut() -> None:
    text = "<think>Let me see.\nHm.</think>\n\nOntotext."
    for size in range(1, len(text)):
        thoughts = ThoughtFilter()
        pieces = [thoughts.feed(text[i : i + size]) for i in range(0, len(text), size)]
        assert "".join(pieces) == "Ontotext."
    plain = ThoughtFilter()
    assert "".join(plain.feed(c) for c in "<thin ice>") == "<thin ice>"


@pytest.mark.parametrize(("label", "several", "expected"), cases(__file__, "predicates_read_as_english"))
def test_predicates_read_as_english(label: str, several: bool, expected: str) -> None:
    assert relation(label, several)[1] == expected


@pytest.mark.parametrize(("noun", "expected"), cases(__file__, "articles"))
def test_articles(noun: str, expected: str) -> None:
    assert article(noun) == expected


@pytest.mark.parametrize(("written", "kept"), cases(__file__, "marks_of_code_go_and_code_stays"))
def test_marks_of_code_go_and_code_stays(written: str, kept: str) -> None:
    assert without_fences(written) == kept
