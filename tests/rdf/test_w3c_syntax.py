"""The gate's grammar beside the W3C's syntax tests of SPARQL 1.1."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyoxigraph as ox
import pytest

from mrag.errors import QueryRefused
from mrag.rdf.parser import parse_query
from mrag.rdf.parser import parse_update as parse
from tests.server.w3c import ARCHIVE, MF, Case, cases, unpack

pytestmark = pytest.mark.skipif(
    not ARCHIVE.is_file(), reason=f"the W3C test cases are not there: {ARCHIVE.name}; set MRAG_SHARED_DATA"
)
FOLDERS = ("syntax-query", "syntax-update-1", "syntax-update-2", "syntax-fed", "aggregates", "grouping")
KINDS = (
    "PositiveSyntaxTest11",
    "NegativeSyntaxTest11",
    "PositiveUpdateSyntaxTest11",
    "NegativeUpdateSyntaxTest11",
)
BASE = "http://base.example/"

# The grammar leaves the scope of variables to the engine.
SCOPE = {
    *(f"agg{number:02}.rq" for number in range(8, 13)),
    *(f"syn-bad-{number:02}.rq" for number in range(1, 4)),
    *(f"syntax-BINDscope{number}.rq" for number in range(6, 9)),
    "group06.rq",
    "group07.rq",
    "syntax-SELECTscope2.rq",
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    root = unpack(tmp_path_factory.mktemp("w3c"))
    return [case for folder in FOLDERS for case in cases(root / folder) if case.kind in KINDS]


def judged(case: Case, text: str) -> bool:
    """Tell whether the gate takes a text for well formed."""
    try:
        if "Update" in case.kind:
            # A LOAD is understood but refused, unless it may fail in silence.
            parse(text.replace("LOAD <", "LOAD SILENT <"), base=BASE)
        else:
            parse_query(text, base=BASE)
    except QueryRefused as error:
        if "SERVICE is not allowed" in error.message:
            return "Positive" in case.kind
        return False
    return True


def test_the_grammar_is_that_of_the_standard(suite: list[Case]) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for case in suite:
        path = Path(str(case.manifest.value(case.iri, MF.action)).removeprefix("file://"))
        text = path.read_bytes().decode()
        counts[case.kind] += 1
        if judged(case, text) == ("Positive" in case.kind):
            continue
        if case.group.startswith("syntax-update") or path.name not in SCOPE:
            wrong.append(f"{case.group}/{path.name}")
            continue
        with pytest.raises(SyntaxError):
            ox.Store().query(parse_query(text, base=BASE)[1].tokens.printed(), base_iri=BASE)
    assert not wrong, " ".join(wrong)
    assert counts["PositiveSyntaxTest11"] > 60
    assert counts["NegativeUpdateSyntaxTest11"] > 10
