"""Sentences made of graphs, true and false, of which the false ones must not pass as supported.

The whole measurement is benchmarks/support_adversary.py; here is a seeded sample over the demo graph and two
graphs whose makers knew nothing of this.
"""

import importlib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
GRAPHS = ("demo", "clinic", "museum")


@pytest.fixture
def adversary(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("support_adversary")


def test_false_sentences_do_not_pass_and_true_ones_do(adversary: Any) -> None:
    found = list(adversary.judged_cases(GRAPHS, 100, seed=11))
    assert len(found) > 280
    wrong = [f"{one.case.kind}: {one.case.text}" for one in found if one.case.true is not one.accepted]
    false, true = adversary.shares(found)
    assert false <= adversary.FALSE_BAR and true >= adversary.TRUE_BAR, "\n".join(wrong[:40])


def test_cases_are_the_same_for_a_seed_and_of_many_kinds(adversary: Any) -> None:
    cases = adversary.cases_of("demo", 120, 3)
    assert cases == adversary.cases_of("demo", 120, 3) != adversary.cases_of("demo", 120, 4)
    every = adversary.cases_of("demo", 520, 3)
    assert len({one.kind for one in every if one.true}) >= 15
    assert len({one.kind for one in every if not one.true}) >= 25
