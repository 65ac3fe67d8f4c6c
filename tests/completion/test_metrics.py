import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mrag.completion.measures import contained, exact_match, hits_at_1, normalised, score, set_f1
from tests.cases import cases

SPELT = ["Up", "up!", "Heat", "The Heat", "", "  ", "Amélie", "amelie", "$"]
NAMES = st.lists(st.sampled_from(SPELT), max_size=4)


@pytest.mark.parametrize(("left", "right"), cases(__file__, "spellings"))
def test_spellings_of_one_answer_are_equal(left: str, right: str) -> None:
    assert normalised(left) == normalised(right)


@pytest.mark.parametrize(("found", "gold", "exact", "f1", "first"), cases(__file__, "sets"))
def test_sets_and_first_answers_are_compared(
    found: list[str], gold: list[str], exact: float, f1: float, first: float
) -> None:
    assert (exact_match(found, gold), set_f1(found, gold), hits_at_1(found, gold)) == (exact, f1, first)


@pytest.mark.parametrize(("text", "gold", "held"), cases(__file__, "contained"))
def test_containment_is_of_whole_words(text: str, gold: list[str], held: float) -> None:
    assert contained(text, gold) == held


def test_questions_without_an_answer_count() -> None:
    scores = score({"a": ["Up"]}, {"a": ["Up"], "b": ["Heat"], "c": ["Heat"]})
    assert scores.questions == 3
    assert scores.hits_at_1 == scores.exact_match == scores.f1 == scores.accuracy == pytest.approx(1 / 3)
    assert score({}, {}).questions == 0
    assert score({}, {"a": ["Up"]}, {"a": "It is Up."}).accuracy == 1.0


@given(NAMES, NAMES)
@example(["$", ""], ["$"])
@example(["The The", "a"], ["the the", "A"])
def test_measures_agree_with_each_other(found: list[str], gold: list[str]) -> None:
    exact, f1 = exact_match(found, gold), set_f1(found, gold)
    assert 0 <= f1 <= 1 and (exact == 1.0) == (f1 == 1.0)
    assert set_f1(gold, found) == f1 and exact_match(list(reversed(found)), gold) == exact
    if exact == 1.0 and found and normalised(found[0]):
        assert hits_at_1(found, gold) == 1.0
        assert contained(", ".join(found), gold) == 1.0
