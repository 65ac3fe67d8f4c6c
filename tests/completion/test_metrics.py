from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mrag.completion.measures import contained, exact_match, hits_at_1, normalised, score, set_f1

NAMES = st.lists(
    st.sampled_from(["Up", "up!", "Heat", "The Heat", "", "  ", "Amélie", "amelie", "$"]), max_size=4
)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The Matrix", "matrix"),
        ("Amélie", "amelie"),
        ("  a  b ", "b"),
        ("Ocean’s 11", "ocean s 11"),
        ("snake_case", "snake case"),
        ("ﬁlm", "film"),
    ],
)
def test_spellings_of_one_answer_are_equal(left: str, right: str) -> None:
    assert normalised(left) == normalised(right)


def test_answers_of_signs_or_articles_alone_are_answers() -> None:
    assert normalised("$") == "$"
    assert normalised("The") == "the"
    assert normalised(" ") == ""
    assert exact_match(["$"], ["$"]) == 1.0
    assert exact_match(["$"], ["?"]) == 0.0


def test_exact_match_is_of_sets() -> None:
    assert exact_match(["b", "Up", "up"], ["UP", "B"]) == 1.0
    assert exact_match(["up"], ["up", "heat"]) == 0.0
    assert exact_match(["superman"], ["man"]) == 0.0, "no containment"
    assert exact_match([], []) == exact_match([""], []) == 1.0


@pytest.mark.parametrize(
    ("found", "gold", "f1"),
    [(["a b"], ["b"], 1.0), (["x", "y"], ["y", "z"], 0.5), ([], ["y"], 0.0), (["y"], [], 0.0), ([], [], 1.0)],
)
def test_f1_is_of_sets(found: list[str], gold: list[str], f1: float) -> None:
    assert set_f1(found, gold) == f1


def test_containment_is_of_whole_words() -> None:
    assert contained("The director was Ridley Scott, in 1979", ["ridley scott"]) == 1.0
    assert contained("command", ["man"]) == 0.0
    assert contained("It was Scott or Ridley", ["Ridley Scott"]) == 0.0
    assert contained("one of them: Heat", ["Up", "Heat"]) == 1.0
    assert contained("", []) == 1.0
    assert contained("anything", []) == 0.0


def test_hits_look_at_the_first_answer_alone() -> None:
    assert hits_at_1(["Heat", "Up"], ["heat"]) == 1.0
    assert hits_at_1(["Up", "Heat"], ["heat"]) == 0.0
    assert hits_at_1([], []) == 1.0
    assert hits_at_1(["Up"], []) == hits_at_1([], ["Up"]) == 0.0


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
    assert 0 <= f1 <= 1
    assert (exact == 1.0) == (f1 == 1.0)
    assert set_f1(gold, found) == f1
    assert exact_match(list(reversed(found)), gold) == exact
    if exact == 1.0 and found and normalised(found[0]):
        assert hits_at_1(found, gold) == 1.0
        assert contained(", ".join(found), gold) == 1.0
