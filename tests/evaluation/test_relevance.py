import math

import numpy as np
import pytest
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.errors import ConfigError
from mrag.evaluation.questions import (
    Condition,
    Demand,
    EntityShape,
    by_graph,
    facts,
    instances,
    question_id,
    satisfying,
    similar_questions,
    stated,
    template_questions,
)
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from tests.cases import cases
from tests.evaluation.conftest import IMAGES, SHAPE, E, garments, iri


def kind(name: str) -> Condition:
    return Condition(E + "hasKind", iri(name))


def has(name: str) -> Condition:
    return Condition(E + "hasAttribute", iri(name))


def demanded(parts: list[list[str]]) -> Demand:
    """A demand of parts, each of attributes and then the kind of a thing; something may be of no kind."""
    return Demand(parts=tuple((*map(has, some), *([kind(last)] if last else [])) for *some, last in parts))


def names(found: list[str]) -> list[str]:
    return [f.removeprefix(E) for f in found]


@pytest.mark.parametrize("backwards", [False, True])
def test_attributes_are_bound_to_their_garment(kg: KnowledgeGraph, backwards: bool) -> None:
    kg.insert(garments(backwards=backwards))
    red_jacket = Demand(parts=((has("red"), kind("jacket")),))
    assert names(satisfying(kg, red_jacket, SHAPE)) == ["image_1", "image_3"]
    somewhere = Demand(parts=((has("red"),), (kind("jacket"),)))
    assert names(satisfying(kg, somewhere, SHAPE)) == ["image_1", "image_2", "image_3"]
    both = Demand(parts=((has("red"), kind("jacket")), (kind("skirt"), has("blue"))))
    assert names(satisfying(kg, both, SHAPE)) == ["image_1"]
    of_class = Demand(own=(Condition(str(RDF.type), E + "Image"),))
    assert names(satisfying(kg, of_class, SHAPE)) == sorted(IMAGES)


def test_the_entities_are_those_of_the_class(images: KnowledgeGraph) -> None:
    images.insert([Triple(URIRef(E + "drawing"), URIRef(E + "hasGarment"), URIRef(E + "image_1/0"))])
    wanted = Demand(parts=((kind("jacket"),),))
    assert E + "drawing" in satisfying(images, wanted, EntityShape(SHAPE.link, SHAPE.kind))
    assert E + "drawing" not in satisfying(images, wanted, SHAPE)
    assert names(instances(images, E + "Image")) == sorted(IMAGES)


def test_conditions_that_cannot_be_met_or_asked(images: KnowledgeGraph) -> None:
    assert satisfying(images, Demand(parts=((kind("jacket"), has("white")),)), SHAPE) == []
    with pytest.raises(ConfigError, match="without conditions"):
        satisfying(images, Demand(), SHAPE)
    with pytest.raises(ConfigError, match="no link"):
        satisfying(images, Demand(parts=((kind("jacket"),),)), EntityShape())
    with pytest.raises(Exception, match="well-formed"):
        satisfying(images, Demand(own=(Condition("urn:p", "urn:x> } ; DROP ALL #"),)), SHAPE)


def test_facts_leave_out_what_is_no_news(images: KnowledgeGraph) -> None:
    owl = "http://www.w3.org/2002/07/owl#"
    images.insert([Triple(URIRef(E + "image_1"), RDF.type, URIRef(owl + "NamedIndividual"))])
    found = facts(images, [E + "image_1", E + "image_5"], SHAPE)
    assert found[E + "image_1"].own == [] and found[E + "image_5"].parts == {}
    garments = [[has("red"), kind("jacket")], [has("blue"), kind("skirt")]]
    assert found[E + "image_1"].parts == {f"{E}image_1/{at}": one for at, one in enumerate(garments)}


@pytest.mark.parametrize(("entity", "question", "parts"), cases(__file__, "stated"))
def test_what_a_question_states_is_read_by_the_names_of_the_graph(
    images: KnowledgeGraph, entity: int, question: str, parts: list[list[str]]
) -> None:
    known = facts(images, [f"{E}image_{entity}"], SHAPE)[f"{E}image_{entity}"]
    assert stated(question, known, images.labels(sorted({c.value for c in known}))) == demanded(parts)


def test_relevance_by_the_graph_lists_the_questions_it_cannot_judge(images: KnowledgeGraph) -> None:
    red, white = ((kind("jacket"), has("red")),), ((kind("skirt"), has("white")),)
    wanted = {"q1": Demand(parts=red), "q2": Demand(), "q3": Demand(parts=white)}
    qrels, without = by_graph(images, wanted, SHAPE)
    assert qrels == {"q1": {E + "image_1": 1, E + "image_3": 1}} and without == ["q2", "q3"]


def test_questions_by_template_are_met_by_their_entity_and_read_back(images: KnowledgeGraph) -> None:
    entities = instances(images, E + "Image")
    known = facts(images, entities, SHAPE)
    labels = images.labels(sorted({c.value for found in known.values() for c in found}))
    seen = set()
    for seed in range(12):
        asked = template_questions(images, entities, SHAPE, seed=seed)
        assert asked == template_questions(images, list(reversed(entities)), SHAPE, seed=seed)
        assert names([a.entity for a in asked]) == ["image_1", "image_2", "image_3", "image_4"]
        for one in asked:
            assert one.entity in satisfying(images, one.demand, SHAPE)
            assert one.text.startswith("Which image shows a ") and one.text.endswith("?")
            assert stated(one.text, known[one.entity], labels) == one.demand
            seen.add(one.text)
    assert "Which image shows a jacket that is red and tight (fit)?" in seen


def test_a_value_with_quotes_is_only_ever_a_value(kg: KnowledgeGraph) -> None:
    odd = 'red" . ?x ?y ?z } #'
    kg.insert([Triple(URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:odd"))])
    kg.insert([Triple(URIRef("urn:odd"), RDFS.label, Literal(odd, lang="en"))])
    [asked] = template_questions(kg, ["urn:a"], EntityShape())
    assert odd in asked.text and satisfying(kg, asked.demand, EntityShape()) == ["urn:a"]


def test_similar_questions_are_the_nearest_of_all_ties_by_id() -> None:
    random = np.random.default_rng(3)
    vectors = random.normal(size=(40, 8)).astype(np.float32)
    vectors[7:12] = vectors[7]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"q{i:02d}" for i in range(40)]
    qrels = similar_questions({q: f"e{q}" for q in ids}, dict(zip(ids, vectors, strict=True)))
    assert {len(found) for found in qrels.values()} == {math.isqrt(40)}
    for at, question in enumerate(ids):
        cosines = [np.inf if i == at else float(np.float32(vectors[at] @ vectors[i])) for i in range(40)]
        least = sorted(cosines, reverse=True)[5]
        sure = {f"e{ids[i]}" for i in range(40) if cosines[i] > least + 1e-6}
        assert f"e{question}" in qrels[question] and sure <= set(qrels[question])
    assert set(qrels["q11"]) >= {"eq07", "eq08", "eq09", "eq10", "eq11"}
    with pytest.raises(ConfigError, match="no vector"):
        similar_questions({"a": "b"}, {})
    with pytest.raises(ConfigError, match="1 or more"):
        similar_questions({"a": "b"}, {"a": vectors[0]}, k=0)
    assert similar_questions({}, {}) == {}


def test_the_id_of_a_question_depends_on_its_entity_alone() -> None:
    assert question_id("urn:a") == question_id("urn:a") != question_id("urn:b")
