"""Whether what is not of one kind is there as another: no port, but a coastal port."""

from __future__ import annotations

import time
from dataclasses import replace

from rdflib import RDF, Literal, URIRef

from mrag.errors import ConfigError, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Column, Comparison, Contains, Pattern, Plan, Unknown
from mrag.planning.run import run
from mrag.planning.schema import Schema
from mrag.stores.base import Limits
from mrag.text.tokens import words_in

_KIND, _THING = Unknown("other_kind"), "other_thing"


def of_another_kind(kg: KnowledgeGraph, plan: Plan, schema: Schema, ends: float) -> Pattern | None:
    """Return that something by the name that a question says is of another kind; None where nothing is.

    Args:
        kg: The graph.
        plan: A plan that asks whether something is of a kind, and finds nothing.
        schema: The schema.
        ends: When to give up, by the clock of `time.monotonic`.
    """
    where = plan.where
    typed = [p for p in where.patterns if p.predicate == RDF.type and isinstance(p.object, URIRef)]
    if not plan.yes_or_no or len(typed) != 1 or where.without or where.plans or where.either:
        return None
    (kind,) = typed
    rest = tuple(p for p in where.patterns if p is not kind)
    if isinstance(kind.subject, Unknown) and not _is_named(rest, where.conditions, kind.subject):
        return None
    if isinstance(kind.subject, URIRef) and rest:
        return None
    other = replace(where, patterns=(*rest, replace(kind, object=_KIND, narrower=())))
    things = (Column(kind.subject, _THING),) if isinstance(kind.subject, Unknown) else ()
    asked = Plan(other, (*things, Column(_KIND, _KIND.name)), limit=5)
    try:
        left = max(0.001, ends - time.monotonic())
        rows = run(kg, asked, schema=schema, limits=Limits(left, 5), settled=False).rows
    except (ConfigError, StoreError):
        return None
    for *thing, cls in rows:
        subject = thing[0] if thing else kind.subject
        if isinstance(cls, URIRef) and str(cls) in schema.classes and isinstance(subject, URIRef):
            return Pattern(subject, RDF.type, cls)
    return None


def _is_named(patterns: tuple[Pattern, ...], conditions: tuple[object, ...], thing: Unknown) -> bool:
    """Return whether all that is said of a thing is a text that it has, such as its name."""
    texts = {p.object for p in patterns if p.subject == thing}
    if len(patterns) != 1 or len(texts) != 1:
        return False
    (text,) = texts
    if isinstance(text, Literal):
        return not conditions
    return len(conditions) == 1 and any(
        (isinstance(c, Contains) and c.value == text and c.position == "whole")
        or (isinstance(c, Comparison) and c.left == text and c.relation == "=")
        for c in conditions
    )


def may_be_meant(plan: Plan, other: Pattern, schema: Schema) -> bool:
    """Return whether the other kind is called as the one that was asked for: a coastal port is a port."""
    if other.predicate != RDF.type:
        return False
    asked = {str(p.object) for p in plan.where.patterns if p.predicate == RDF.type}
    theirs = [set(words_in(n.lower())) for n in schema.classes[str(other.object)].names]
    ours = [set(words_in(n.lower())) for c in asked if c in schema.classes for n in schema.classes[c].names]
    return any(own and own <= words for own in ours for words in theirs)
