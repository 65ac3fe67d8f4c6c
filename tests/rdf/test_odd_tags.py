"""Language tags that RDF allows and BCP 47 does not, such as zh-classical, are asked, cited and verified."""

from __future__ import annotations

from pathlib import Path

import pytest
from rdflib import Literal

import mrag
from mrag.rdf.terms import to_ox

TURTLE = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix : <http://example.org/> .
:City rdfs:label "city" . :motto rdfs:label "motto" .
:tunis a :City ; rdfs:label "Tunis"@en , "Tunisi"@zh-classical ; :motto "glory"@zh-classical .
:rome a :City ; rdfs:label "Rome"@en ; :motto "peace"@zh-classical .
"""


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
