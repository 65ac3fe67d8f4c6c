"""Plans over terms: what is just below or above one, or all that is, at any depth."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from rdflib import RDF, URIRef

from mrag.planning.plan import Aggregate, Pattern, Plan, parts
from mrag.planning.reader.outcome import PlanDraft
from mrag.planning.schema import Schema
from mrag.planning.scopes import rewritten, walk


def depths(schema: Schema, draft: PlanDraft, cues: Collection[str]) -> Iterator[PlanDraft]:
    """Yield a plan as it stands or, where it speaks of what is above and below terms, both ways to read that.

    Args:
        schema: The schema of the graph.
        draft: The plan. Things whose class is a term are what is below that.
        cues: What the words do that are left over.
    """
    if schema.tree is None or not schema.tree.above:
        yield draft
        return
    above, inverse = URIRef(schema.tree.above), schema.tree.inverse

    def below(value: Any) -> Any:
        if (
            not isinstance(value, Pattern)
            or value.predicate != RDF.type
            or not isinstance(value.object, URIRef)
        ):
            return value
        term = value.object
        if str(term) in schema.classes:
            return value
        return Pattern(term, above, value.subject) if inverse else Pattern(value.subject, above, term)

    plan = rewritten(draft.plan, below)
    if all(p.predicate != above for p in walk(plan) if isinstance(p, Pattern)):
        yield draft
        return
    shape = _shape(plan)
    said = [cue for cue in ("direct", "deep") if cue in cues] or ["unsaid"]
    for depth in ("flat", "deep"):
        features = {f"{depth}|{shape}": 1.0, **{f"{depth}|{cue}": 1.0 for cue in said}}
        yield replace(
            draft, plan=_repeated(plan, above, depth == "deep"), features={**draft.features, **features}
        )


def _repeated(plan: Plan, above: URIRef, deep: bool) -> Plan:
    def change(value: Any) -> Any:
        step = isinstance(value, Pattern) and value.predicate == above
        return replace(value, repeated=True) if deep and step else value

    return rewritten(plan, change)


def _shape(plan: Plan) -> str:
    if plan.yes_or_no:
        return "truth"
    values = [v for c in plan.columns for v in parts(c.value)]
    return "count" if any(isinstance(v, Aggregate) for v in values) else "list"
