"""What an answer says of the state of its graph is expected; a caution that it leaves out is not checked."""

import json
from pathlib import Path

import mrag
from mrag.generation.prompts import NAMES_APART
from mrag.retrieval.verifying import NOTICE

TURTLE = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix : <http://example.org/> .
:City rdfs:label "city" . :rome a :City ; rdfs:label "Rome" ; owl:sameAs :roma .
:oslo a :City ; rdfs:label "Oslo" .
"""


def test_a_caution_that_is_left_out_is_not_vouched_for(tmp_path: Path) -> None:
    (tmp_path / "cities.ttl").write_text(TURTLE, encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / "cities.ttl"])
        answer = json.loads(json.dumps(mrag.ask(kg, "How many cities are there?", model="none").to_json()))
        assert answer["notice"] == NAMES_APART and mrag.verify(kg, answer).complete
        # Whoever asked before the names stood apart was not told, so this is not called false.
        silent = mrag.verify(kg, {**answer, "notice": None})
        assert [part.name for part in silent.of("not checked")] == [NOTICE]
        assert not mrag.verify(kg, {**answer, "notice": "Checked by hand."}).ok
