"""Plans written by hand for questions of graphs by others give the gold answers."""

from __future__ import annotations

import importlib

import pytest

from tests.conftest import ROOT, slow


@pytest.mark.parametrize("name", ["library", *slow("carmakers", "helpdesk", "kennel", "railways")])
def test_kept_plans_give_the_gold_answers(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    found = importlib.import_module("blind_plans").tried(name)
    assert (found.questions, found.plans, found.wrong) == (40, 40, ())
    assert not found.inexpressible
