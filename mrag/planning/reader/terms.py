"""Plans over terms: what is just below or above one, or all that is, at any depth."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from rdflib import RDF, URIRef

from mrag.planning.plan import Aggregate, Block, Column, Contains, Pattern, Plan, Unknown, parts
from mrag.planning.reader.outcome import PlanDraft
from mrag.planning.schema import Schema
from mrag.planning.scopes import rewritten, walk


def depths(schema: Schema, draft: PlanDraft, cues: Collection[str]) -> Iterator[PlanDraft]:
    """Yield a plan as it stands or, where it speaks of what is above and below terms, both ways to read that.

    Args:
        schema: The schema of the graph.
        draft: The plan. Its kinds may be terms.
        cues: What the words do that are left over.
    """
    plan = draft.plan
    if schema.tree is not None:
        for cue in cues:
            if cue.startswith("lang:"):
                draft = _spoken(schema, draft, cue[5:])
        plan = rewritten(draft.plan, partial(_of_terms, schema))
        draft = replace(draft, plan=plan)
    above = schema.ladders
    if all(str(p.predicate) not in above for p in walk(plan) if isinstance(p, Pattern)):
        yield draft
        return
    shape, terms = _shape(plan), "" if schema.tree is not None else "things "
    said = [cue for cue in ("direct", "deep") if cue in cues] or ["unsaid"]
    for depth in ("flat", "deep"):
        features = {f"{terms}{depth}|{shape}": 1.0, **{f"{terms}{depth}|{cue}": 1.0 for cue in said}}
        read = _repeated(plan, above) if depth == "deep" else plan
        yield replace(draft, plan=read, features={**draft.features, **features})


def _of_terms(schema: Schema, value: Any) -> Any:
    """Return a triple or a block where classes may be terms."""
    assert schema.tree is not None
    above, info = URIRef(schema.tree.above), schema.properties.get(schema.tree.above)
    if isinstance(value, Pattern):
        return _below(schema, value)
    if isinstance(value, Block) and info is not None and info.ranges.get(schema.tree.kind, 0) < info.objects:
        # What is above a class may be a restriction as well, which is no term.
        ends = (p.object for p in value.patterns if p.predicate == above)
        kinds = (Pattern(end, RDF.type, URIRef(schema.tree.kind)) for end in ends if isinstance(end, Unknown))
        return replace(value, patterns=tuple(dict.fromkeys((*value.patterns, *kinds))))
    return value


def _spoken(schema: Schema, draft: PlanDraft, tag: str) -> PlanDraft:
    """Return a plan that shows texts in a language, and of terms their names in it."""
    plan, label = draft.plan, next(iter(schema.label_properties), "")
    texts = {p.object for p in plan.where.patterns if _is_text(schema, p)}
    columns, more, said = list[Column](), list[Pattern](), list[Contains]()
    for column in plan.columns:
        if isinstance(value := column.value, Unknown) and column.name in draft.shown:
            if value not in texts:
                name = Unknown(f"{value.name}_name")
                more.append(Pattern(value, URIRef(label), name))
                value = name
            said.append(Contains(value, tag, "language"))
        columns.append(replace(column, value=value))
    lacked = [b for b in plan.where.without if any(_is_text(schema, p) for p in b.patterns)]
    if lacked:
        # What has no German name may have another.
        without = tuple(_in_language(schema, b, tag) if b in lacked else b for b in plan.where.without)
        plan = replace(plan, where=replace(plan.where, without=without))
        return replace(draft, plan=plan, features={**draft.features, "unspoken": 1.0})
    if not said:
        return draft
    block = plan.where
    block = replace(block, patterns=(*block.patterns, *more), conditions=(*block.conditions, *said))
    features = {**draft.features, "spoken": 1.0}
    return replace(draft, plan=replace(plan, where=block, columns=tuple(columns)), features=features)


def _is_text(schema: Schema, p: Pattern) -> bool:
    info = schema.properties.get(str(p.predicate))
    return info is not None and info.kind == "text"


def _in_language(schema: Schema, block: Block, tag: str) -> Block:
    texts = (p.object for p in block.patterns if _is_text(schema, p) and isinstance(p.object, Unknown))
    return replace(block, conditions=(*block.conditions, *(Contains(x, tag, "language") for x in texts)))


def _below(schema: Schema, pattern: Pattern) -> Pattern:
    """Return a pattern, or what it says if the kind that it names is a term."""
    assert schema.tree is not None
    kind, above = pattern.object, URIRef(schema.tree.above)
    if pattern.predicate != RDF.type or not isinstance(kind, URIRef) or str(kind) in schema.classes:
        return pattern
    below = pattern.subject
    return Pattern(kind, above, below) if schema.tree.inverse else Pattern(below, above, kind)


def _repeated(plan: Plan, above: Collection[str]) -> Plan:
    def change(value: Any) -> Any:
        up = isinstance(value, Pattern) and str(value.predicate) in above
        return replace(value, repeated=True) if up else value

    return rewritten(plan, change)


def _shape(plan: Plan) -> str:
    if plan.yes_or_no:
        return "truth"
    values = [v for c in plan.columns for v in parts(c.value)]
    return "count" if any(isinstance(v, Aggregate) for v in values) else "list"
