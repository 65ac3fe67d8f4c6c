from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.text.analysis import Analyser

A = Analyser()


def terms(text: str, analyser: Analyser = A) -> list[str]:
    return [term for token in analyser.tokens(text) for term in analyser.terms(token)]


PAIRS = """shoe shoes, tie ties, dress dresses, virus viruses, cherry cherries, tree trees, movie movies,
box boxes, watch watches, headache headaches, blouse blouses, glass glasses, potato potatoes,
hoodie hoodies, sash sashes, cause causes, key keys, class classes, judge judges, species species"""


@pytest.mark.parametrize("pair", PAIRS.replace("\n", " ").split(", "))
def test_plural_meets_singular(pair: str) -> None:
    one, many = pair.split()
    assert terms(one) == terms(many)


@pytest.mark.parametrize("word", ["glass", "gas", "us", "is", "virus", "status", "press"])
def test_singulars_in_s_stay(word: str) -> None:
    assert terms(word) == [word]


def test_stemming_is_for_ascii_letters_only() -> None:
    assert terms("стулs h2s 1990s") == ["стулs", "h2s", "1990s"]
    assert terms("shoes", Analyser(stem=False)) == ["shoes"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Crème BRÛLÉE Ñandú Łódź smørrebrød", ["creme", "brulee", "nandu", "lodz", "smorrebrod"]),
        ("ｆｕｌｌ ① ﬁne", ["full", "1", "fine"]),
        ("has_part snake_case_", ["has", "part", "snake", "case"]),
        ("soft\u00adhyphen zero\u200dwidth", ["softhyphen", "zerowidth"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("東京都", ["東", "京", "都", "東京", "京都"]),
        ("猫", ["猫"]),
        ("がぎぐ", ["がぎ", "ぎぐ"]),
        ("한국어를", ["한국", "국어", "어를"]),
        ("iPhone15を買う", ["iphone15", "買", "を買", "買う"]),
        ("ไทย", ["ไท", "ทย"]),
        ("... !?", []),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_accents_can_stay() -> None:
    assert Analyser(fold_accents=False).tokens("Crème é") == ["crème", "é"]


@given(st.text())
@settings(max_examples=200)
def test_composed_and_decomposed_spellings_meet(text: str) -> None:
    for analyser in (A, Analyser(fold_accents=False)):
        spellings = {tuple(terms(unicodedata.normalize(form, text), analyser)) for form in ("NFC", "NFD")}
        assert len(spellings) == 1


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_ascii_and_general_path_agree(text: str) -> None:
    # A letter outside ASCII forces the general path.
    assert A.tokens(text + " ж") == [*A.tokens(text), "ж"]


@given(st.text())
def test_a_sentence_is_its_parts(text: str) -> None:
    assert terms(f"{text} . {text}") == terms(text) * 2
