"""Questions over small graphs and what answers them, all of them data: see `tests.planning.questions`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from tests.planning.questions import GRAPHS, ExpectedRows, check, loaded, questions_of, told_of

ASKED = [asked for path in sorted(GRAPHS.glob("*.tsv")) for asked in questions_of(path.stem)]
TOLD = told_of(Path(__file__).with_name("told.tsv"))


@pytest.fixture(scope="module")
def kg(request: pytest.FixtureRequest) -> Iterator[KnowledgeGraph]:
    found = loaded(request.param)
    yield found
    found.close()


@pytest.mark.parametrize(
    ("kg", "asked"),
    [(asked.graph, asked) for asked in ASKED],
    indirect=["kg"],
    ids=[f"{asked.graph}-{asked.question}" for asked in ASKED],
)
def test_rows_answer_a_question(kg: KnowledgeGraph, asked: ExpectedRows) -> None:
    check(kg, asked)


@pytest.mark.parametrize(
    ("kg", "asked"),
    [(asked.graph, asked) for asked in TOLD],
    indirect=["kg"],
    ids=[f"{asked.graph}-{asked.question}" for asked in TOLD],
)
def test_an_answer_is_told_in_words(kg: KnowledgeGraph, asked: ExpectedRows) -> None:
    """Hold what an answer says, or how it says that the question was read."""
    attempt = compute(kg, asked.question, seconds=300)
    if attempt.sure or asked.read:
        assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
        told = f"{attempt.answer.text}\n{attempt.answer.computed.reading}"
        assert all(said in told for said in asked.rows)
        assert mrag.verify(kg, attempt.answer).ok
