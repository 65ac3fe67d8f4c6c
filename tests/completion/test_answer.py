from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from langchain_core.language_models import FakeListChatModel
from rdflib import URIRef

from mrag.completion.chain import answer
from mrag.completion.graph import complete_from_graph
from mrag.completion.grounding import GroundingSettings, ground
from mrag.completion.patterns import (
    CompletedTriple,
    GroundedPlan,
    IncompleteTriple,
    Slot,
    TriplePlan,
)
from mrag.errors import ModelError
from mrag.generation.result import EvidenceRef
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.rdf.terms import OWL, Triple
from mrag.reasoning.run import reason
from mrag.retrieval.answering import verify
from mrag.stores.oxigraph import OxigraphStore
from tests.completion.films import BY, GENRE, STARS, f, films

X, Y = Unknown("x"), Unknown("y")


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with films() as graph:
        yield graph


def plan(question: str, *triples: tuple[Slot, Slot, Slot], excluded: tuple[Slot, ...] = ()) -> TriplePlan:
    return TriplePlan(question, (), tuple(IncompleteTriple(*t) for t in triples), X, "hand", excluded)


GENRES = plan("Which genres does Alien have?", (f("alien"), GENRE, X))


def test_without_a_model_the_values_are_given_with_what_they_rest_on(kg: KnowledgeGraph) -> None:
    found = answer(kg, complete_from_graph(kg, GroundedPlan(GENRES)))
    assert found.answers == ("horror", "science fiction")
    assert found.text == "horror [t1].\nscience fiction [t2]."
    assert [c.text for c in found.answer.citations] == [
        "(Alien, has genre, horror)",
        "(Alien, has genre, science fiction)",
    ]
    assert found.answer.supported
    assert verify(kg, found.answer).ok


def test_a_chain_is_cited_whole(kg: KnowledgeGraph) -> None:
    chain = plan("?", (f("runner"), BY, Y), (X, BY, Y), excluded=(f("runner"),))
    found = answer(kg, complete_from_graph(kg, GroundedPlan(chain)))
    assert found.answers == ("Alien", "The Duellists", "Legend")
    cited = [c.text for c in found.answer.sentences[0].citations]
    assert cited == ["(Blade Runner, directed by, Ridley Scott)", "(Alien, directed by, Ridley Scott)"]


def test_a_model_words_the_answer_and_citations_are_computed(kg: KnowledgeGraph) -> None:
    model = FakeListChatModel(responses=["Alien has the genre horror [t9]. It won an Oscar."])
    found = answer(kg, complete_from_graph(kg, GroundedPlan(GENRES)), model)
    assert found.answers == ("horror", "science fiction")
    first, second = found.answer.sentences
    assert [c.text for c in first.citations] == ["(Alien, has genre, horror)"]
    assert first.rejected_ids == ("t9",)
    assert not second.supported


def test_passages_and_regions_are_cited(kg: KnowledgeGraph) -> None:
    ref = EvidenceRef("urn:passage:7", "Michelle Yeoh plays the lead", "passage", "notes/tiger.txt")
    fact = CompletedTriple(f("tiger"), STARS, f("yeoh"), "completed", (ref,), 0.7)
    asked = plan("Who stars in it?", (f("tiger"), STARS, X))
    found = answer(kg, complete_from_graph(kg, GroundedPlan(asked), facts=[fact]))
    assert found.evidence == {"t1": (ref,)}
    [citation] = found.answer.citations
    assert citation.graph == "urn:passage:7"
    assert citation.text.endswith(") completed")
    assert "[t1] passage of notes/tiger.txt: “Michelle Yeoh plays the lead”" in str(found)
    kept = json.loads(json.dumps(found.answer.to_json()))
    assert kept["evidence"]["t1"][0]["kind"] == "passage"


def test_inferred_triples_are_said_to_be() -> None:
    with films() as kg:
        kg.insert([Triple(f("directed"), URIRef(OWL + "inverseOf"), BY)])
        reason(kg)
        found = answer(kg, complete_from_graph(kg, GroundedPlan(plan("?", (f("lee"), f("directed"), X)))))
        assert found.answer.citations[0].inferred
        assert str(found).count("inferred") == 1


def test_what_is_missing_is_said(kg: KnowledgeGraph) -> None:
    asked = plan("?", ("Solaris", "directed by", Y), (Y, "born in", X))
    model = FakeListChatModel(responses=["Andrei Tarkovsky."])
    for given in (None, model):
        completion = complete_from_graph(kg, ground(kg, asked, GroundingSettings(model=None)))
        found = answer(kg, completion, given)
        assert found.answers == ()
        assert "The graph knows nothing called “Solaris”." in found.text
        assert "Nothing was found for (Solaris, directed by, ?y)" in found.text
        assert found.answer.citations == ()
    assert found.answer.to_json()["ungrounded"] == ["Solaris", "born in"]


def test_many_answers_are_shown_in_part_and_a_bound_is_told() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([Triple(f("hub"), BY, f(f"n{n:03}")) for n in range(120)])
        completion = complete_from_graph(kg, GroundedPlan(plan("?", (f("hub"), BY, X))))
        found = answer(kg, completion)
        assert len(found.answers) == 120
        assert len(found.answer.sentences) == 50
        assert found.answer.notice == "70 more answers are not shown."


def test_a_model_without_words_is_an_error(kg: KnowledgeGraph) -> None:
    with pytest.raises(ModelError):
        answer(kg, complete_from_graph(kg, GroundedPlan(GENRES)), FakeListChatModel(responses=[""]))
