"""Values that are none of their datatype, and tags such as zh-classical, are kept, cited and verified."""

import logging
from pathlib import Path

import pytest
from rdflib import XSD, Literal

import mrag
from mrag.rdf.terms import term_from_json, to_ox
from tests.cases import beside

DATA = beside(__file__, "gauges.ttl")


def test_nothing_is_logged_about_ill_typed_values(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "odd.ttl").write_text(DATA, encoding="utf-8")
    with caplog.at_level(logging.WARNING), mrag.connect("oxigraph:") as kg:
        kg.load([tmp_path / "odd.ttl"])
        kg.index(model="none")
        for question in (
            "Which gauges were installed in 2021?",
            "When was A installed?",
            "What is the level of A?",
        ):
            mrag.ask(kg, question, model="none")
        rows = kg.select("SELECT ?v { <http://odd.example/a> <http://odd.example/installed> ?v }")
        assert [str(value) for (value,) in rows] == ["2022-02-29"]
        assert str(term_from_json({"type": "literal", "value": "x", "datatype": str(XSD.date)})) == "x"
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        Literal("2022-02-29", datatype=XSD.date)
    assert caplog.records, "what rdflib says to others is theirs"


TURTLE = beside(__file__, "mottos.ttl")


def test_a_term_keeps_an_odd_tag() -> None:
    term = to_ox(Literal('say "so"\n', lang="zh-classical"))
    assert str(term) == '"say \\"so\\"\\n"@zh-classical'


@pytest.mark.parametrize(
    ("question", "cited"),
    [("What is the motto of Tunis?", 1), ("Which city has the motto glory?", 2), ("What is Tunis?", 2)],
)
def test_what_has_an_odd_tag_is_cited_and_verified(tmp_path: Path, question: str, cited: int) -> None:
    (tmp_path / "mottos.ttl").write_text(TURTLE, encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / "mottos.ttl"])
        kg.index(model="none")
        answer = mrag.ask(kg, question, model="none")
        report = mrag.verify(kg, answer.to_json())
        assert ("glory" in str(answer)) and report.complete and report.checked == cited
