"""No regular expression of the package takes time that grows faster than a text that others wrote."""

from __future__ import annotations

import re

import pytest

from tests.pumping import Expression, expressions, slow_ones, slowness

ALL = frozenset(("search", "fullmatch"))


@pytest.mark.parametrize(
    "pattern",
    [r"\s+$", r"(a+)+b", r"(a|a)*b", r"a*a*b", r"(\w+\s*)+:", r"<doc>(.*?)</doc>", r"^\s*(?:-)?\s*x\Z"],
)
def test_what_is_slow_is_found(pattern: str) -> None:
    assert slowness(Expression(pattern, re.compile(pattern).flags, ALL, "")) is not None


@pytest.mark.parametrize("pattern", [r"\w+", r"(?<!\s)\s+$", r"[a-z]{1,20}\d+x", r"(?:ab)*+c", r"\s*+x"])
def test_what_is_fast_is_let_through(pattern: str) -> None:
    assert slowness(Expression(pattern, re.compile(pattern).flags, frozenset(("match",)), "")) is None


def test_all_expressions_are_collected() -> None:
    found = expressions()
    places = {one.place.partition(":")[0] for one in found}
    assert len(found) > 500
    # Of modules, of tuples in them, of calls with a text, and behind the links of the package.
    assert {"mrag/untrusted.py", "mrag/planning/reading/comparing.py", "mrag/loaders/sketch.py"} <= places


def test_no_expression_is_slow() -> None:
    assert slow_ones() == []
