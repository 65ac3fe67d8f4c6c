"""Things of several names, told once: which of the names of a thing an unknown takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyoxigraph as ox
from rdflib import OWL, RDF

from mrag.graph.naming import Twins
from mrag.planning.plan import Aggregate, Block, Comparison, Pattern, Plan, Unknown
from mrag.planning.schema import Schema
from mrag.rdf import patterns as sparql

_SAME = ox.NamedNode(str(OWL.sameAs))


def doubled(patterns: Iterable[Pattern], schema: Schema | None) -> list[Unknown]:
    """Return the unknowns of patterns that may take several names of a thing, in order.

    Classes, properties, values and what is said to be the same are left out.
    """
    found: dict[Unknown, None] = {}
    for p in patterns:
        if p.predicate == OWL.sameAs:
            continue
        if isinstance(p.subject, Unknown):
            found[p.subject] = None
        info = schema.properties.get(str(p.predicate)) if schema is not None else None
        valued = p.predicate == RDF.type or (info is not None and info.kind != "entity")
        if isinstance(p.object, Unknown) and not valued:
            found[p.object] = None
    return list(found)


def better(thing: ox.Variable, twin: ox.Variable, twins: Twins) -> list[sparql.Pattern]:
    """Return the patterns of another name of a thing that stands for it: one at home, then the least.

    Example:
        >>> from mrag.rdf.patterns import to_sparql
        >>> x, y = sparql.var("x"), sparql.var("y")
        >>> print(to_sparql(sparql.Ask(sparql.Group(tuple(better(x, y, Twins("", True)))))))
        ASK { ?x <http://www.w3.org/2002/07/owl#sameAs> ?y . FILTER(str(?y) < str(?x)) }
    """

    def key(name: ox.Variable) -> sparql.Expression:
        text = sparql.Call("str", (name,))
        if not twins.home:
            return text
        own = sparql.Call("strstarts", (text, ox.Literal(twins.home)))
        rank = sparql.Call("if", (own, ox.Literal("0"), ox.Literal("1")))
        return sparql.Call("concat", (rank, text))

    way = _SAME if twins.closed else sparql.Repeated(sparql.Alternative((_SAME, sparql.Inverse(_SAME))))
    return [
        sparql.TriplePattern(thing, way, twin),
        sparql.Filter(sparql.Compare(key(twin), "<", key(thing))),
    ]


def said_of(patterns: Iterable[Pattern], thing: Unknown, name: Unknown) -> list[Pattern]:
    """Return what patterns say of a thing, said of another name of it.

    Example:
        >>> from rdflib import URIRef
        >>> x, y = Unknown("x"), Unknown("y")
        >>> [str(p) for p in said_of([Pattern(x, URIRef("urn:p"), URIRef("urn:o"))], x, y)]
        ['(?y, urn:p, urn:o)']
    """
    return [
        Pattern(*(name if place == thing else place for place in p.places), narrower=p.narrower)  # type: ignore[arg-type, misc]
        for p in patterns
        if thing in (p.subject, p.object)
    ]


def other_named(plan: Plan) -> Plan | None:
    """Return the plan that counts those of the things a plan counts that have other names, if it counts any.

    Args:
        plan: A plan.
    """
    value = plan.columns[0].value if len(plan.columns) == 1 else None
    counts = isinstance(value, Aggregate) and value.function == "count" and value.value is None
    if not counts or len(value.of) != 1 or plan.group_by or plan.having:  # type: ignore[union-attr]
        return None
    assert isinstance(value, Aggregate)
    thing, other = value.of[0], Unknown("other_name")
    ways = (Pattern(thing, OWL.sameAs, other), Pattern(other, OWL.sameAs, thing))
    said = tuple(Block((way,), (Comparison(thing, "!=", other),)) for way in ways)
    return replace(plan, where=replace(plan.where, either=(*plan.where.either, said)))
