"""The whole job on a graph that was not made for it: dozens of languages, statement nodes, contradictions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.errors import InconsistentOntology
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.retrieval.answering import ask, retrieve, verify
from tests.cases import cases
from tests.conftest import shared_data
from tests.vectors import remembered_vectors

pytestmark = pytest.mark.slow

__all__ = ["remembered_vectors"]


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    folder = shared_data("starwars_kg")
    with mrag.connect() as graph:
        report = graph.load([folder])
        assert report.triples == 69_097
        assert report.odd_tags == ("zh-classical",)
        SimilarityIndexes.of(graph).build("main")
        yield graph


def test_a_contradiction_is_refused_if_so_wished(tmp_path: Path) -> None:
    # To find one takes as long as to keep what follows from it apart; a part of the data has one, too.
    folder = shared_data("starwars_kg")
    things = (folder / "starwars-data.ttl").read_text(encoding="utf-8").split("\n\n")
    (tmp_path / "part.ttl").write_text("\n\n".join(things[:200]), encoding="utf-8")
    with mrag.connect() as graph:
        assert graph.load([folder / "SWAPI-ontology.ttl", tmp_path / "part.ttl"]).triples > 2000
        with pytest.raises(InconsistentOntology, match="Functional"):
            mrag.reason(graph, on_inconsistency="error")
        assert graph.count("inferred") == 0


def test_its_ontology_contradicts_its_data_and_what_follows_is_kept_apart() -> None:
    with mrag.connect() as graph:
        graph.load([shared_data("starwars_kg")])
        closure = mrag.reason(graph)
        assert closure.contradictions[0].axiom.startswith("Functional: ")
        # Places of birth are not the same place because a person has several.
        assert graph.query("ASK { ?a owl:sameAs ?b }", layer="inferred") is False
        assert graph.count("inferred") == closure.triples > 1000
        person = "ASK { ?p a <https://swapi.co/vocabulary/HasWikidataLink> }"
        assert graph.query(person, layer="inferred") is True


QUESTIONS = cases(__file__, "QUESTIONS")


@pytest.mark.parametrize("question,word", QUESTIONS.items())
def test_the_answer_stands_in_the_context_and_is_cited(kg: KnowledgeGraph, question: str, word: str) -> None:
    context = retrieve(kg, question).context
    assert word in context.text()
    given = ask(kg, question, model="none", how="read")
    assert word in given.text
    assert verify(kg, given).ok, verify(kg, given)


@pytest.mark.parametrize("question", QUESTIONS)
def test_contexts_are_clean(kg: KnowledgeGraph, question: str) -> None:
    context = retrieve(kg, question).context
    assert context.tokens <= 4000 and len(context.lines) <= 160
    for line in context.lines:
        assert line.triple.s != line.triple.o
        language = getattr(line.triple.o, "language", None)
        if language and kg.language_rank(language) >= 2 * len(kg.languages):
            others = kg.store.edges(line.graph, s=str(line.triple.s), p=str(line.triple.p))
            ranks = {kg.language_rank(getattr(q.object, "language", None) or "") for q in others}
            assert min(ranks) >= 2 * len(kg.languages), "another language only where there is no better"
