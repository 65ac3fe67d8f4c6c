"""Every next step down from an expression, counted in one query."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import HealthCheck, given, settings

from mrag.cel.problem import confusion, refinements
from mrag.cel.syntax.expressions import And, Expression, Named, Property, Some, Top, Value, key, normal
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cel.plain import CLASSES, DATA, INDIVIDUALS, ROLES, Plain, expressions, graphs


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs(), expressions)
def test_a_layer_counts_what_single_queries_count(triples: frozenset[Triple], e: Expression) -> None:
    plain = Plain(triples)
    positives, negatives = INDIVIDUALS[:3], INDIVIDUALS[3:]
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples)
        asked: list[str] = []
        select = kg.select
        with patch.object(kg, "select", lambda query: asked.append(query) or select(query)):
            layer = refinements(kg, e, positives, negatives, inverse=True)
        assert len(asked) == 1
        found = dict(layer)
        assert len(found) == len(layer)
        wanted: dict[Expression, tuple[int, int]] = {}
        roles = [Property(r, inverse) for r in ROLES for inverse in (False, True)] + [Property(DATA[0])]
        steps: list[Expression] = [Named(c) for c in CLASSES]
        steps += [Some(r, filler) for r in roles for filler in (Top(), *map(Named, CLASSES))]
        steps += [Value(Property(r), x) for r in ROLES for x in INDIVIDUALS]
        for step in steps:
            members = plain.instances(And((e, step)))
            tp, fp = len(members & {*positives}), len(members & {*negatives})
            if tp or fp:
                wanted[normal(And((e, step)))] = tp, fp
        for expression, (tp, fp) in wanted.items():
            assert (found[expression].tp, found[expression].fp) == (tp, fp), key(expression)
        # Beside these there are texts, and types such as owl:NamedIndividual.
        again = confusion(kg, [x for x, _ in layer], positives, negatives)
        assert again == [c for _, c in layer]
