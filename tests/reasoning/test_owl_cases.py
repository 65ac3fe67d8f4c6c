"""The OWL working group's cases of the OWL 2 RL profile, and how many of all others pass."""

import pytest

from tests.reasoning.owl_cases import Case, cases, data_file, passes, report

KNOWN_FAILURES = {
    "WebOnt-I4.6-005-Direct-positive": "annotations carry no meaning for rules",
    "WebOnt-I5.8-006-positive": "range byte gives range short: ranges are not widened to larger datatypes",
    "WebOnt-I5.8-008-positive": "two datatype ranges meet in a third: ranges are not intersected",
    "WebOnt-I5.8-009-positive": "two datatype ranges meet in a third: ranges are not intersected",
    "WebOnt-equivalentClass-008-Direct-positive": "annotations carry no meaning for rules",
    "WebOnt-imports-011-positive": "the imported ontology is not in the file",
}
"""Cases of the RL profile that fail, and why. One that starts to pass has to leave this table."""
COUNTS = {
    "RL": {"positive": (23, 29), "negative": (6, 6), "consistent": (75, 75), "inconsistent": (11, 11)},
    "EL": {"positive": (22, 26), "negative": (6, 6), "consistent": (69, 69), "inconsistent": (6, 12)},
    "QL": {"positive": (16, 20), "negative": (3, 3), "consistent": (58, 58), "inconsistent": (5, 6)},
    None: {"positive": (127, 203), "negative": (20, 23), "consistent": (327, 344), "inconsistent": (36, 114)},
}
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
