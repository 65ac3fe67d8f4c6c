"""Values that are none of their datatype are kept as they are, without a word from rdflib."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from rdflib import XSD, Literal

import mrag
from mrag.rdf.terms import term_from_json

DATA = """
@prefix : <http://odd.example/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Gauge a rdfs:Class ; rdfs:label "gauge" .
:a a :Gauge ; rdfs:label "A" ; :installed "2022-02-29"^^xsd:date ; :level "high"^^xsd:integer .
:b a :Gauge ; rdfs:label "B" ; :installed "2021-03-04"^^xsd:date ; :level 3 .
"""


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
