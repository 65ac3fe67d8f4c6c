from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError
from mrag.language.analysis import DEFAULT, Analyser, by_languages, checked, stemmer

A = Analyser(name="plural")


def terms(text: str, analyser: Analyser = A) -> list[str]:
    return [term for token in analyser.tokens(text) for term in analyser.terms(token)]


ROWS = [
    line.split("\t") for line in Path(__file__).with_name("terms.tsv").read_text("utf-8").split("\n")[:-1]
]


@pytest.mark.parametrize(("name", "text", "expected"), ROWS)
def test_terms_of_texts_by_analyser(name: str, text: str, expected: str) -> None:
    assert terms(text, Analyser(name=checked(name))) == expected.split()


PAIRS = """shoe shoes, tie ties, dress dresses, virus viruses, cherry cherries, tree trees, movie movies,
box boxes, watch watches, headache headaches, blouse blouses, glass glasses, potato potatoes,
hoodie hoodies, sash sashes, cause causes, key keys, class classes, judge judges, species species"""


@pytest.mark.parametrize("pair", PAIRS.replace("\n", " ").split(", "))
def test_plural_meets_singular(pair: str) -> None:
    one, many = pair.split()
    assert terms(one) == terms(many)


def test_words_of_scripts_without_spaces_by_icu() -> None:
    pytest.importorskip("icu", reason="PyICU is not installed")
    assert terms("我喜欢猫 shoes", Analyser(name="icu")) == ["我", "喜欢", "猫", "shoe"]
    assert "データベース" in terms("東京のデータベースを買う", Analyser(name="icu"))


@pytest.mark.parametrize(
    ("languages", "name"),
    [
        (("en", "mul", ""), DEFAULT),
        (("de-CH", "en"), "snowball:german+words"),
        (("zh", "fr"), "snowball:french+words"),
        (("mul", ""), DEFAULT),
        ((), DEFAULT),
    ],
)
def test_languages_choose_the_analyser(languages: tuple[str, ...], name: str) -> None:
    assert by_languages(languages) == checked(name) == name


@pytest.mark.parametrize("name", ["porter", "snowball:klingon", "snowball:", "Plural", ""])
def test_there_is_no_other_analyser(name: str) -> None:
    with pytest.raises(ConfigError):
        checked(name)


def test_every_language_has_its_stemmer() -> None:
    snowball = pytest.importorskip("snowballstemmer")
    known = snowball.algorithms()
    assert all(
        checked(f"snowball:{tag}").removeprefix("snowball:") in known for tag in ("de", "nn", "yi", "ta")
    )


def test_a_stemmer_serves_many_threads() -> None:
    words = [
        f"{stem}{end}"
        for stem in ("relat", "locat", "connect", "develop")
        for end in ("ion", "ing", "ed", "s")
    ]
    stem = stemmer("snowball:english")
    expected = [stem(word) for word in words]
    stemmer.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: [stemmer("snowball:english")(word) for word in words], range(40)))
    assert all(one == expected for one in found)


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
