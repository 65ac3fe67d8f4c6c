"""Graphs whose things are classes or concepts: their schema, and plans over what is above and below them."""

from collections.abc import Iterator

import pytest
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.interchange import plan_from_json, plan_to_json
from mrag.planning.lexicon import lexicon_of
from mrag.planning.plan import Block, Column, Contains, Pattern, Plan, Unknown
from mrag.planning.profiling import schema_of, spelt_out
from mrag.planning.run import run
from mrag.planning.schema import TermTree
from mrag.planning.scopes import check
from mrag.rdf.terms import OWL, Triple
from tests.planning.interpreter import evaluate
from tests.planning.questions import loaded

INSECTS = "http://insects.example/"
ABOVE = URIRef(RDFS.subClassOf)
X, Y = Unknown("x"), Unknown("y")


@pytest.fixture
def insects() -> Iterator[KnowledgeGraph]:
    with loaded("insects") as kg:
        yield kg


def triples_of(kg: KnowledgeGraph) -> list[Triple]:
    return [Triple(*row) for row in kg.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")]  # type: ignore[arg-type]


def test_classes_are_the_things_of_an_ontology_without_others(insects: KnowledgeGraph) -> None:
    schema = schema_of(insects)
    assert schema.tree == TermTree(OWL + "Class", str(ABOVE))
    assert schema.classes[OWL + "Class"].names[0] == "term"
    synonym = next(p for p in schema.properties.values() if "synonym" in p.names)
    assert (synonym.kind, synonym.subjects, synonym.triples) == ("text", 2, 3)
    lives = schema.properties[INSECTS + "P1"]
    assert lives.through == OWL + "someValuesFrom"
    assert (lives.subjects, lives.objects, list(lives.domains)) == (3, 2, [OWL + "Class"])
    assert "subclass" in schema.properties[str(ABOVE)].inverse_names


def test_where_other_things_outnumber_them_classes_are_none(insects: KnowledgeGraph) -> None:
    bees = [Triple(URIRef(f"urn:bee:{n}"), RDF.type, URIRef(INSECTS + "T6")) for n in range(20)]
    insects.insert(bees)
    schema = schema_of(insects)
    assert schema.tree is None
    assert INSECTS + "T6" in schema.classes
    assert not {str(ABOVE), INSECTS + "P1"} & {*schema.properties}


def test_a_schema_of_terms_follows_changes(insects: KnowledgeGraph) -> None:
    lexicon_of(insects, None)
    new = URIRef(INSECTS + "T7")
    more = [
        Triple(new, RDF.type, URIRef(OWL + "Class")),
        Triple(new, ABOVE, URIRef(INSECTS + "T3")),
        Triple(new, URIRef(RDFS.label), Literal("mason bee")),
    ]
    insects.insert(more)
    with loaded("insects") as fresh:
        fresh.insert(more)
        assert schema_of(insects).properties == schema_of(fresh).properties
        assert schema_of(insects).classes == schema_of(fresh).classes
        assert INSECTS + "T3" in lexicon_of(insects, None).broad


@pytest.mark.parametrize(
    "plan",
    [
        Plan(Block((Pattern(X, ABOVE, URIRef(INSECTS + "T1"), repeated=True),)), (Column(X, "x"),)),
        Plan(Block((Pattern(URIRef(INSECTS + "T4"), ABOVE, X, repeated=True),)), (Column(X, "x"),)),
        Plan(Block((Pattern(X, ABOVE, Y, repeated=True),)), (Column(X, "x"), Column(Y, "y"))),
        Plan(Block((Pattern(URIRef(INSECTS + "T4"), ABOVE, URIRef(INSECTS + "T1"), repeated=True),))),
    ],
)
def test_what_is_above_at_any_depth_is_found_and_told(insects: KnowledgeGraph, plan: Plan) -> None:
    triples = triples_of(insects)
    found = run(insects, plan, schema=schema_of(insects))
    wanted = set(evaluate(plan, triples))
    assert wanted and found.holds
    assert plan.yes_or_no or set(found.rows) == wanted
    assert plan_from_json(plan_to_json(plan)) == plan


def test_texts_are_chosen_by_their_language() -> None:
    label = URIRef("http://www.w3.org/2004/02/skos/core#prefLabel")
    spoken = Block((Pattern(X, label, Y),), (Contains(Y, "de", "language"),))
    plan = Plan(spoken, (Column(Y, "y"),))
    with loaded("rocks") as kg:
        rows = set(run(kg, plan, schema=schema_of(kg)).rows)
        assert rows == set(evaluate(plan, triples_of(kg)))
        assert {str(text) for (text,) in rows} >= {"Kreide", "Jura"}
        assert len(rows) == 7
    assert plan_from_json(plan_to_json(plan)) == plan


def test_only_a_named_relation_is_followed_several_times() -> None:
    for predicate in (Y, RDF.type):
        with pytest.raises(ConfigError, match="Only a named relation"):
            check(Plan(Block((Pattern(X, predicate, Unknown("z"), repeated=True),)), (Column(X, "x"),)))


def test_short_names_are_spelt_out_by_their_comments() -> None:
    told = ("distance nm", "nautical miles sailed")
    assert spelt_out("dist_nm", "Nautical miles sailed on the charter.") == told
    assert spelt_out("lvl", "U = undergraduate") == ("level",)
    assert spelt_out("genre", "Genre") == spelt_out("length", "in minutes") == ()
    assert spelt_out("cap", "Maximum number of participants") == ("maximum number of participants",)
