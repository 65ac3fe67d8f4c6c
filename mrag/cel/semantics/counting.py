"""Questions about class expressions that the store answers: instances, counts of examples, refinements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag.cel.problem import ExampleCounts
from mrag.cel.semantics.instances import World
from mrag.cel.semantics.sparql import (
    BATCH,
    VOCABULARY,
    X,
    batches,
    individuals_among,
    instances_query,
    members,
)
from mrag.cel.semantics.values import by_value
from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.normal_form import normal
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import patterns as pt
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import OWL, RDF, RDFS

_LABEL, _N, _H = pt.var("label"), pt.var("n"), pt.var("h")
_TYPE = pt.iri(RDF + "type")
_TOGETHER = 40
"""Most hypotheses in one query."""


def instances(kg: KnowledgeGraph, expression: ce.Expression) -> list[str]:
    """Return the named individuals that an expression holds, in order of IRI.

    Args:
        kg: The knowledge graph.
        expression: The expression.

    Example:
        >>> import mrag
        >>> from mrag.rdf.terms import Triple
        >>> kg = mrag.connect()
        >>> _ = kg.insert([Triple(URIRef(f"urn:{s}"), URIRef(RDF + "type"), URIRef("urn:A")) for s in "xy"])
        >>> instances(kg, ce.Named("urn:A"))
        ['urn:x', 'urn:y']
        >>> kg.close()
    """
    if not _answers(kg, expression):
        return World.whole(kg).instances(expression)
    return sorted(str(row[0]) for row in kg.select(instances_query(expression)))


def instances_among(kg: KnowledgeGraph, expression: ce.Expression, given: Iterable[str]) -> set[str]:
    """Return those of the given individuals that an expression holds.

    Args:
        kg: The knowledge graph.
        expression: The expression.
        given: IRIs, in any number.
    """
    names = list(given)
    found: set[str] = set()
    if not _answers(kg, expression):
        world = World.of(kg, names, steps=max(1, ce.depth(expression)))
        world = world if world.reaches(expression) else World.whole(kg)
        return {*names} & {*world.instances(expression)}
    for batch in batches(names):
        found.update(str(row[0]) for row in kg.select(instances_query(expression, batch)))
    return found


def confusion(
    kg: KnowledgeGraph,
    expressions: Sequence[ce.Expression],
    positives: Sequence[str],
    negatives: Sequence[str],
    *,
    known: bool = False,
) -> list[ExampleCounts]:
    """Count the examples that each of several expressions holds, many expressions to a query.

    Args:
        kg: The knowledge graph.
        expressions: The expressions.
        positives: IRIs of positive examples.
        negatives: IRIs of negative examples.
        known: Whether all are known to be individuals, so that it need not be asked.

    Returns:
        The counts, in the order of the expressions.
    """
    counts = [[0, 0] for _ in expressions]
    asked = [(at, e) for at, e in enumerate(expressions) if _answers(kg, e)]
    for at in {*range(len(expressions))} - {at for at, _ in asked}:
        for side, examples in enumerate((negatives, positives)):
            counts[at][side] = len(instances_among(kg, expressions[at], examples))
    among = {*positives, *negatives} if known else individuals_among(kg, [*positives, *negatives])
    held = ([x for x in positives if x in among], [x for x in negatives if x in among])
    for batch in _labelled(*held):
        given = [name for name, _ in batch]
        for start in range(0, len(asked), _TOGETHER):
            branches = tuple(
                pt.Group(
                    (
                        pt.SubSelect(
                            pt.Select((X,), pt.Group(tuple(members(e, given, known=True))), distinct=True)
                        ),
                        pt.Bind(ox.Literal(at), _H),
                    )
                )
                for at, e in asked[start : start + _TOGETHER]
            )
            where = pt.Group((_rows(batch), pt.Union(branches)))
            query = pt.Select((_H, _LABEL, (pt.Count(X, distinct=True), _N)), where, group_by=(_H, _LABEL))
            for h, label, n in kg.select(to_sparql(query)):
                counts[int(str(h))][int(str(label))] += int(str(n))
    return [ExampleCounts(tp, fp, len(positives), len(negatives)) for fp, tp in counts]


def refinements(
    kg: KnowledgeGraph,
    expression: ce.Expression,
    positives: Sequence[str],
    negatives: Sequence[str],
    *,
    inverse: bool = False,
    nominals: bool = True,
) -> list[tuple[ce.Expression, ExampleCounts]]:
    """Count the examples of every next step down from an expression, in one query to a batch of examples.

    The steps join one more condition to it: a class `A`, and for each property `∃r.⊤`, `∃r.A` for the
    classes of values, and `∃r.{v}` for individuals and texts.

    Args:
        kg: The knowledge graph.
        expression: Where to start.
        positives: IRIs of positive examples.
        negatives: IRIs of negative examples.
        inverse: Whether to take the properties backwards too.
        nominals: Whether to take single values.

    Returns:
        The expressions in normal form with their counts; those that hold no example are left out.
    """
    counts: dict[ce.Expression, list[int]] = {}
    for batch in _labelled(positives, negatives):
        for row in kg.select(_layer([name for name, _ in batch], batch, expression, inverse, nominals)):
            step = _step(row[:4])
            if step is None:
                continue
            entry = counts.setdefault(step, [0, 0])
            entry[int(str(row[4]))] += int(str(row[5]))
    found = {
        normal(ce.And((expression, step))): ExampleCounts(tp, fp, len(positives), len(negatives))
        for step, (fp, tp) in counts.items()
    }
    return sorted(found.items(), key=lambda item: (ce.length(item[0]), ce.key(item[0])))


def _answers(kg: KnowledgeGraph, expression: ce.Expression) -> bool:
    """Return whether the store can be trusted with an expression.

    Virtuoso 7 gives wrong answers, or none in time, where a `MINUS` has a sub-select in it or an alternative
    is a list of values; there the statements are fetched and evaluated here.
    """
    if not kg.store.url.startswith("virtuoso:"):
        return True
    hard = ce.Not | ce.Only | ce.AtMost | ce.Exactly | ce.DataOnly | ce.OneOf
    return not any(isinstance(part, hard) for part in ce.walk(normal(expression)))


def _layer(
    given: list[str], batch: list[tuple[str, int]], e: ce.Expression, inverse: bool, nominals: bool
) -> str:
    p, q, kind, value, y = pt.var("p"), pt.var("q"), pt.var("kind"), pt.var("value"), pt.var("step")
    not_schema = pt.Filter(pt.Negation(pt.In(kind, VOCABULARY)))
    # Every branch begins at the examples: joined from outside, an engine may scan the graph for it.
    held = pt.SubSelect(pt.Select((X,), pt.Group(tuple(members(e, given))), distinct=True))
    start: tuple[pt.Pattern, ...] = (_rows(batch), held)
    branches: list[pt.Pattern] = [pt.Group((*start, pt.TriplePattern(X, _TYPE, kind), not_schema))]
    for name, edge in ((p, pt.TriplePattern(X, p, y)), (q, pt.TriplePattern(y, q, X)))[: 1 + inverse]:
        plain = pt.Filter(pt.AllOf(tuple(pt.Negation(_starts(name, ns)) for ns in (RDF, RDFS, OWL))))
        branches.append(pt.Group((*start, edge, plain)))
        branches.append(pt.Group((*start, edge, pt.TriplePattern(y, _TYPE, kind), plain, not_schema)))
    if nominals:
        plain = pt.Filter(pt.AllOf(tuple(pt.Negation(_starts(p, ns)) for ns in (RDF, RDFS, OWL))))
        branches.append(pt.Group((*start, pt.TriplePattern(X, p, value), plain)))
    columns = (p, q, kind, value, _LABEL, (pt.Count(X, distinct=True), _N))
    return to_sparql(pt.Select(columns, pt.Union(tuple(branches)), group_by=(p, q, kind, value, _LABEL)))


def _step(row: tuple[object, ...]) -> ce.Expression | None:
    p, q, kind, value = row
    filler = ce.Top() if kind is None else ce.Named(str(kind))
    if p is None and q is None:
        return filler
    role = ce.Property(str(p)) if p is not None else ce.Property(str(q), True)
    if isinstance(value, Literal) and by_value(value):
        # Equal numbers can be several terms, and each has a row of its own here.
        return None
    if isinstance(value, Literal | URIRef):
        return ce.Value(role, value if isinstance(value, Literal) else str(value))
    return ce.Some(role, filler) if value is None else None


def _starts(name: ox.Variable, namespace: str) -> pt.Call:
    return pt.Call("strstarts", (pt.Call("str", (name,)), ox.Literal(namespace)))


def _labelled(positives: Sequence[str], negatives: Sequence[str]) -> list[list[tuple[str, int]]]:
    rows = [(name, 1) for name in positives] + [(name, 0) for name in negatives]
    return [rows[start : start + BATCH] for start in range(0, len(rows), BATCH)]


def _rows(batch: list[tuple[str, int]]) -> pt.Values:
    return pt.Values((X, _LABEL), tuple((pt.iri(name), ox.Literal(label)) for name, label in batch))
