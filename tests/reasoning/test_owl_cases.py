"""The OWL working group's cases of the OWL 2 RL profile, and how many of all others pass."""

import pytest

from tests.cases import cases as tables
from tests.reasoning.owl_cases import Case, cases, data_file, passes, report

KNOWN_FAILURES: dict[str, str] = tables(__file__, "known failures")
"""Cases of the RL profile that fail, and why. One that starts to pass has to leave this table."""
COUNTS = {profile or None: counts for profile, counts in tables(__file__, "passed and all").items()}
"""Passed and all, by profile. Outside RL most failures need a case split or an invented individual."""
absent = not data_file().is_file()
why = f"the test cases are not at {data_file()}; set MRAG_SHARED_DATA"
needs_data = pytest.mark.skipif(absent, reason=why)
_RL = [] if absent else [c for c in cases() if "RL" in c.profiles]


@needs_data
@pytest.mark.parametrize("case", _RL, ids=lambda c: c.id)
def test_case(case: Case) -> None:
    assert passes(case) != (case.id in KNOWN_FAILURES), KNOWN_FAILURES.get(case.id)


@needs_data
def test_known_failures_are_cases() -> None:
    assert set(KNOWN_FAILURES) <= {c.id for c in cases()}


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("profile", list(COUNTS), ids=str)
def test_counts(profile: str | None) -> None:
    assert report(profile) == COUNTS[profile]
