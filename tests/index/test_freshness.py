"""An index that is older than the graph is brought up to date on the spot, or told."""

from __future__ import annotations

import pytest
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.generation.prompts import PENDING
from mrag.graph.updates import update
from mrag.index import similarity
from mrag.index.similarity import SimilarityIndexes


def test_asking_and_searching_see_what_came_after_indexing(monkeypatch: pytest.MonkeyPatch) -> None:
    with mrag.connect() as kg:
        kg.insert([mrag.Triple(URIRef("urn:a"), RDFS.label, Literal("A red dress"))])
        kg.index(model="none")
        kg.insert([mrag.Triple(URIRef("urn:b"), RDFS.label, Literal("A blue coat"))])
        assert SimilarityIndexes.of(kg).info().stale
        assert kg.search("coat").names == ("A blue coat",)
        assert not SimilarityIndexes.of(kg).info().stale
        update(kg, 'INSERT DATA { <urn:c> rdfs:label "A green hat" ; <urn:colour> "green" }')
        assert "green hat" in kg.ask("What hat is green?", model="none", how="read").text
        # Too much to do it meanwhile.
        monkeypatch.setattr(similarity, "_WORDS", 0)
        update(kg, 'INSERT DATA { <urn:d> rdfs:label "A black shoe" }')
        answer = kg.ask("What hat is green?", model="none", how="read")
        assert "older than the graph" in str(answer.notice)


def test_answers_say_when_inferences_do_not_belong_to_the_triples() -> None:
    with mrag.demo(model="none") as kg:
        assert PENDING not in str(kg.ask("How many triple stores are there?", model="none").notice)
        update(kg, "DELETE DATA { ex:GraphDB a ex:TripleStore }")
        assert kg.pending
        assert PENDING in str(kg.ask("How many triple stores are there?", model="none").notice)
        kg.reason()
        assert PENDING not in str(kg.ask("How many triple stores are there?", model="none").notice)
        report = kg.update("INSERT DATA { ex:GraphDB a ex:TripleStore }")
        assert report.added == 1 and kg.reasoned
