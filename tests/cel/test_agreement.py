"""Random expressions over random graphs: the store, the bitsets and a plain reading give the same sets."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.cel.evaluate import World
from mrag.cel.expressions import Expression, key, length, normal
from mrag.cel.problem import confusion, instances, instances_among
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cel.plain import INDIVIDUALS, UNWATCHED, Plain, expressions, graphs


@settings(UNWATCHED, max_examples=50)
@given(graphs(), st.lists(expressions, min_size=4, max_size=8))
def test_store_bitsets_and_plain_reading_agree(triples: frozenset[Triple], several: list[Expression]) -> None:
    plain = Plain(triples)
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples)
        world = World.whole(kg)
        wanted = []
        for e in several:
            expected = plain.instances(e)
            wanted.append(expected)
            assert set(world.instances(e)) == expected, key(e)
            assert set(instances(kg, e)) == expected, key(e)
            given = [*INDIVIDUALS[:4], "http://example.org/nowhere"]
            assert instances_among(kg, e, given) == expected & {*given}, key(e)
        positives, negatives = INDIVIDUALS[:3], INDIVIDUALS[3:]
        found = confusion(kg, several, positives, negatives)
        counted = [(c.tp, c.fp, c.fn, c.tn) for c in found]
        assert counted == [
            (len(w & {*positives}), len(w & {*negatives}), len({*positives} - w), len({*negatives} - w))
            for w in wanted
        ]


@settings(max_examples=100)
@given(graphs(), expressions)
def test_the_normal_form_holds_the_same_and_is_its_own(triples: frozenset[Triple], e: Expression) -> None:
    plain, found = Plain(triples), normal(e)
    assert plain.instances(found) == plain.instances(e)
    assert normal(found) == found
    assert length(found) >= 1


@settings(UNWATCHED, max_examples=30)
@given(graphs(), st.lists(expressions, min_size=4, max_size=8))
def test_what_is_fetched_around_examples_decides_what_it_says(
    triples: frozenset[Triple], several: list[Expression]
) -> None:
    plain, given = Plain(triples), INDIVIDUALS[:2]
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples)
        for world in (World.around(kg, given, steps=2), World.around(kg, given, steps=3, max_individuals=1)):
            assert world.steps is not None and 1 <= world.steps <= 3
            for e in several:
                if world.reaches(e):
                    assert {*world.instances(e)} & {*given} == plain.instances(e) & {*given}, key(e)
