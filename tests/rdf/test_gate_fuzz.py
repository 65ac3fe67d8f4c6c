"""The read gate beside the engine, on random texts and those of the W3C: what passes keeps its meaning."""

import os
from collections import Counter
from pathlib import Path

import pyoxigraph as ox
import pytest

from mrag.errors import QueryRefused
from mrag.rdf.guard import read_gate
from mrag.rdf.parser import CALLING, WRITING, Tokens, parse_query
from mrag.rdf.parser import parse_update as parse
from tests.rdf.texts import Texts
from tests.server.w3c import ARCHIVE, MF, Case, cases, unpack

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "5000"))
BASE = "http://base.example/"


@pytest.fixture
def engine() -> ox.Store:
    store = ox.Store()
    store.update(
        'INSERT DATA { <urn:a> <urn:b> <urn:c>, "c" . <urn:c> a <urn:a> ; <urn:b> 1 .'
        " GRAPH <urn:g> { <urn:a> <urn:b> <urn:a> } }"
    )
    return store


def answer(engine: ox.Store, text: str) -> object:
    """Return what the bare engine says, in an order of its own."""
    result = engine.query(text, base_iri=BASE)
    if isinstance(result, ox.QueryBoolean):
        return bool(result)
    if isinstance(result, ox.QuerySolutions):
        # The gate writes the columns of a star in the order of the query, the bare engine in its own.
        names = sorted(v.value for v in result.variables)
        return names, Counter(str([_shape(row[n]) for n in names]) for row in result)
    return Counter(str([_shape(t.subject), t.predicate, _shape(t.object)]) for t in result)


def _shape(term: object) -> object:
    return "_:" if isinstance(term, ox.BlankNode) else term


def test_the_listener_hears_a_bare_engine(heard: tuple[str, list[bytes]], engine: ox.Store) -> None:
    with pytest.raises(OSError):
        answer(engine, f"SELECT * {{ SERVICE <{heard[0]}> {{ ?s ?p ?o }} }}")
    assert heard[1]


def test_what_passes_calls_nobody_and_means_what_was_written(
    heard: tuple[str, list[bytes]], engine: ox.Store
) -> None:
    address, calls = heard
    texts = Texts(20_26, address)
    seen: Counter[str] = Counter()
    for _ in range(TRIES):
        text = texts.query()
        try:
            read = read_gate(text, (f"{address}f", "urn:g", f"{address}base/f"))
        except QueryRefused:
            seen["refused"] += 1
            continue
        seen["passed"] += 1
        words = {token.key for token in Tokens(read.text).tokens}
        assert not words & (CALLING | WRITING)
        assert read_gate(read.text, read.graphs + read.named).text == read.text
        # A text with FROM would see other graphs, and RAND and the like give another answer each time.
        try:
            printed = answer(engine, read.text)
        except (SyntaxError, RuntimeError, ValueError) as error:
            printed = type(error)
        assert not calls, text
        if isinstance(printed, type):
            seen["refused by the engine"] += 1
            continue
        seen["answered"] += 1
        if _same_prefixes(text, read.text) and "limit" not in text.lower():
            seen["compared"] += 1
            assert answer(engine, text) == printed, text
    # The texts reach what they are for.
    assert seen["refused"] > TRIES / 10
    assert seen["answered"] > TRIES / 5
    assert seen["compared"] > TRIES / 10
    assert not calls


def _same_prefixes(text: str, printed: str) -> bool:
    """Tell whether the engine can read the text as it was written."""
    return (
        text.lower().count("prefix") == printed.lower().count("prefix")
        and "\\u" not in text
        and not text.startswith("\ufeff")
    )


def test_updates_call_nobody(heard: tuple[str, list[bytes]], engine: ox.Store) -> None:
    address, calls = heard
    texts = Texts(20_27, address)
    seen: Counter[str] = Counter()
    for _ in range(TRIES // 5):
        text = texts.update()
        try:
            operations = parse(text)
        except QueryRefused:
            seen["refused"] += 1
            continue
        seen["passed"] += 1
        for operation in operations:
            if operation[0] not in ("data", "modify"):
                continue
            words = {t.key for t in Tokens(operation[-1 if operation[0] == "data" else 1], "update").tokens}
            assert not words & (CALLING | WRITING - {"INSERT", "DATA"})
            try:
                if operation[0] == "modify":
                    answer(engine, operation[1])
                else:
                    ox.Store().update(operation[2])
            except (SyntaxError, RuntimeError, ValueError):
                seen["refused by the engine"] += 1
            assert not calls, text
    assert seen["refused"] > TRIES / 50
    assert seen["passed"] > TRIES / 50


FOLDERS = ("syntax-query", "syntax-update-1", "syntax-update-2", "syntax-fed", "aggregates", "grouping")
KINDS = (
    "PositiveSyntaxTest11", "NegativeSyntaxTest11", "PositiveUpdateSyntaxTest11",
    "NegativeUpdateSyntaxTest11",
)  # fmt: skip

# The grammar leaves the scope of variables to the engine.
SCOPE = {
    *(f"agg{number:02}.rq" for number in range(8, 13)),
    *(f"syn-bad-{number:02}.rq" for number in range(1, 4)),
    *(f"syntax-BINDscope{number}.rq" for number in range(6, 9)), "group06.rq", "group07.rq",
    "syntax-SELECTscope2.rq",
}  # fmt: skip


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


@pytest.mark.skipif(
    not ARCHIVE.is_file(), reason=f"the W3C test cases are not there: {ARCHIVE.name}; set MRAG_SHARED_DATA"
)
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
            ox.Store().query(parse_query(text, base=BASE)[1].tokens.print(), base_iri=BASE)
    assert not wrong, " ".join(wrong)
    assert counts["PositiveSyntaxTest11"] > 60
    assert counts["NegativeUpdateSyntaxTest11"] > 10
