"""What may not be lost or mistaken between the words of a question and its plan."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from rdflib import RDF, URIRef

from mrag.planning.algebra.scopes import aggregates, mentioned
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexical.synonyms import positive
from mrag.planning.lexical.words import is_past, is_role
from mrag.planning.plan import Aggregate, Block, Column, Comparison, Pattern, Plan, Scalar, Unknown, parts
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.segmentation import Segmentation, meaningful
from mrag.planning.reading.state import is_superlative
from mrag.planning.reading.units import unit_of
from mrag.planning.schema import Schema
from mrag.text.english import PREPOSITIONS
from mrag.text.tokens import alike, stem

_JOINING = frozenset("as than that which who whose is are was were has have had do does did".split())
"""Words that are in no name but one that has them."""
_BEFORE_NOUNS = PREPOSITIONS | frozenset(
    "a an the do does did each every any no all this that and or".split()
)
"""Words behind which no verb stands."""


def without_split_values(mentions: Sequence[NameMention]) -> list[NameMention]:
    """Return mentions without the values that are a thing and its class: "the Colorado river"."""
    split: set[tuple[int, int]] = set()
    for one in mentions:
        for other in mentions:
            classes = {c.term for c in other.candidates[:1] if c.kind == "class" and c.score > 0.94}
            if (
                classes
                and one.end == other.start
                and any(
                    c.kind == "entity" and c.way == "exact" and classes & set(c.classes)
                    for c in one.candidates
                )
            ):
                split.add((one.start, other.end))
    return [
        m for m in mentions if (m.start, m.end) not in split or any(c.kind != "value" for c in m.candidates)
    ]


def without_each_other(mentions: Sequence[NameMention]) -> list[NameMention]:
    """Return mentions without the classes that another word names: a "bid" is no bidder beside "bidders"."""
    named = {c.term: m for m in mentions for c in m.candidates if c.kind == "class" and c.way == "exact"}
    found = []
    for m in mentions:
        own = any(c.kind == "class" and c.way == "exact" for c in m.candidates)
        kept = tuple(
            c for c in m.candidates
            if not (own and c.kind == "class" and c.way != "exact" and c.term in named and named[c.term] != m)
        )  # fmt: skip
        found.append(replace(m, candidates=kept))
    return found


def headed(mention: NameMention, question: QuestionText) -> NameMention | None:
    """Return a mention without classes whose head noun is not said: "European" is no European product."""
    if mention.end - mention.start > 1 and question.low[mention.end - 1] in ("named", "called"):
        return None  # "cities named Frankfurt" asks for no names of cities
    unit = any(q.end == mention.start and not q.ordinal for q in question.quantities)
    if unit and unit_of(question.low[mention.start : mention.end]) and mention.candidates[0].way == "synonym":
        return None  # "500 kilometres" says of what it is
    if (
        mention.start
        and question.low[mention.start : mention.end] in (["rate"], ["rates"])
        and meaningful(question.words[mention.start - 1])
        and mention.candidates[0].way in ("synonym", "meaning")
    ):
        return None  # a success rate is no fee
    deed = mention.end - mention.start == 1 and _deed(question.low, mention.start)
    role = mention.end - mention.start == 1 and is_role(question.low[mention.start])
    # What is "deeper" is no Deep Lake.
    graded = mention.end - mention.start == 1 and positive(question.low[mention.start]) is not None
    graded = graded and positive(question.low[mention.start]) != question.low[mention.start]
    # Who "manages" a team is not called a manager.
    verb = mention.end - mention.start == 1 and not is_role(question.low[mention.start].removesuffix("s"))
    said = {w.stem for w in question.words[mention.start : mention.end]}
    joined = _JOINING & {*question.low[mention.start : mention.end]}

    def fits(c: Candidate) -> bool:
        name = c.name.lower().split()
        if c.way == "tokens" and (joined - {*name} or ((deed or graded) and c.kind in ("value", "entity"))):
            return False
        if c.kind == "class" and c.way == "tokens":
            return stem(name[-1]) in said or name[-1] in _LIGHT_HEADS
        if role and c.way == "meaning" and not any(map(is_role, name)):
            return False
        return not (verb and c.kind == "value" and c.way != "exact" and is_role(name[-1]))

    kept = tuple(filter(fits, mention.candidates))
    return replace(mention, candidates=kept) if kept else None


def is_part_of_time(mention: NameMention, question: QuestionText) -> bool:
    """Return whether words say a time, and are only a part of a name: the year of "VOY-2021"."""
    said = any(p.start <= mention.start and mention.end <= p.end for p in question.periods)
    return said and all(c.way == "tokens" for c in mention.candidates)


def _deed(low: Sequence[str], at: int) -> bool:
    """Return whether a word stands as a verb, no part of a name: "did she sail" of "sailing yacht"."""
    if is_past(low[at]):
        return True
    return bool({"did", "do", "does"} & {*low[:at]}) and low[at - 1] not in _BEFORE_NOUNS


def leads_to(other: Candidate, first: Candidate, schema: Schema) -> bool:
    """Return whether a property is called like the class it leads to: no other reading of the word."""
    info = schema.properties.get(other.term) if first.kind == "class" else None
    if info is None or info.kind != "entity":
        return False
    return first.term in info.ranges and other.name.lower() == first.name.lower()


def leads_to_things(mention: NameMention, schema: Schema) -> bool:
    """Return whether a noun is a property that leads to things, which can be counted: "members"."""
    best = mention.candidates[0]
    info = schema.properties.get(best.term) if best.kind == "property" and best.score > 0.7 else None
    plain = mention.end - mention.start == 1 and best.way in ("exact", "inflected")
    return info is not None and info.kind == "entity" and plain


def leading_to_names(plan: Plan) -> list[str]:
    """Return the properties that relate things that are asked for to what is named."""
    found = (
        str(p.predicate) for p in plan.where.patterns
        if p.predicate != RDF.type and {type(p.subject), type(p.object)} == {Unknown, URIRef}
    )  # fmt: skip
    return list(dict.fromkeys(found))


def alike_named(plan: Plan) -> list[tuple[Pattern, ...]]:
    """Return the triples that relate one thing in one way to several that are named: "films by A and B"."""
    found: dict[tuple[object, ...], list[Pattern]] = {}
    for p in plan.where.patterns:
        if isinstance(p.subject, Unknown) and isinstance(p.object, URIRef) and p.predicate != RDF.type:
            found.setdefault((p.subject, p.predicate), []).append(p)
        elif isinstance(p.subject, URIRef) and isinstance(p.object, Unknown):
            found.setdefault((p.predicate, p.object), []).append(p)
    return [tuple(same) for same in found.values() if len(same) > 1]


def united(plan: Plan, question: str) -> Plan | None:
    """Return a plan for things of any of several names, where a plan is for things of all of them."""
    alike, words = alike_named(plan), question.lower().split()
    if len(alike) != 1 or "and" not in words or "both" in words:
        return None
    kept = tuple(p for p in plan.where.patterns if p not in alike[0])
    any_of = tuple(Block((p,)) for p in alike[0])
    return replace(plan, where=replace(plan.where, patterns=kept, either=(*plan.where.either, any_of)))


def made_possible(plan: Plan, question: str, schema: Schema) -> Plan:
    """Return a plan for things of any of several names where they have one only: "staff of Bonn and Ulm"."""
    alike = alike_named(plan)
    info = schema.properties.get(str(alike[0][0].predicate)) if len(alike) == 1 else None
    if info is None or not info.functional or not isinstance(alike[0][0].object, URIRef):
        return plan
    return united(plan, question) or plan


def unreadable(way: Segmentation, question: QuestionText, schema: Schema) -> bool:
    """Return whether a question names two names of a kind for one, or measures what is but a text."""
    return both_of_a_kind(way, question) or _measures_a_text(way, question, schema)


def _measures_a_text(way: Segmentation, question: QuestionText, schema: Schema) -> bool:
    """Return whether a question measures what is but a text: "how old is the coach of Hull"."""
    low = question.low
    if (
        low[:1] != ["how"]
        or len(low) < 5
        or positive(low[1]) is None
        or low[2] not in ("is", "was", "are", "were")
        or any(map(is_superlative, low[3:]))
    ):
        return False
    first = next((i for i in way.items if i.mention is not None and i.start >= 3), None)
    if first is None or first.mention is None or low[first.end : first.end + 1] != ["of"]:
        return False
    best = first.mention.candidates[0]
    info = schema.properties.get(best.term) if best.kind == "property" else None
    return info is not None and info.kind == "text"


def not_of_itself(plan: Plan) -> Plan:
    """Return a plan that counts what leads to each thing, where it counts each thing once: "arrivals"."""
    keys = {c.value for c in plan.columns if isinstance(c.value, Unknown)}
    columns = list[Column]()
    for column in plan.columns:
        fold = column.value
        if isinstance(fold, Aggregate) and fold.function == "count" and fold.value is None:
            (of, *more) = fold.of or (None,)
            sources = [p.subject for p in plan.where.patterns if p.object == of and p.predicate != RDF.type]
            if of in keys and not more and len(sources) == 1 and isinstance(sources[0], Unknown):
                column = replace(column, value=replace(fold, of=(sources[0],)))
        columns.append(column)
    return replace(plan, columns=tuple(columns)) if tuple(columns) != plan.columns else plan


_LIGHT_HEADS = frozenset("type kind category model record entry item profile info information".split())
"""Heads of names of classes that are left out in speech: an "aircraft" is an aircraft type."""
_HEADS = frozenset("type types kind kinds sort sorts amount amounts value values share shares".split())
_MAKES = frozenset("make makes".split())
_BEFORE_HEADS = frozenset("the a an each every per by their its and or of which what".split())


def heads_passed_over(way: Segmentation, question: QuestionText, names: Collection[str]) -> int:
    """Return how many words were not read that say something else with the kind beside them: "boat type".

    Args:
        way: How the question was cut.
        question: The question.
        names: Words in the names of the properties of its plan.
    """
    low, found = question.low, 0
    kinds = [
        i for i in way.items if i.mention is not None and i.mention.candidates[0].kind == "class"
    ]  # fmt: skip
    behind, before = {i.end for i in kinds}, {i.start for i in kinds}
    for item in way.items:
        word = low[item.start]
        if not item.unread or any(alike(question.words[item.start].stem, name) for name in names):
            continue
        apart = bool(question.words[item.start].before)
        if word in _HEADS:
            of = low[item.end : item.end + 1] == ["of"] and item.end + 1 in before
            found += of or (not apart and item.start in behind)
        elif word in _MAKES:
            # A "make" in the place of a noun is none of "is made of".
            found += apart or (bool(item.start) and low[item.start - 1] in _BEFORE_HEADS)
    return found


def asked_kinds(way: Segmentation) -> set[str]:
    """Return the kinds of words that no other way of cutting a question may lose."""
    cues = {(i.cue.kind, i.start) for i in way.items if i.cue is not None}
    return {
        kind for kind, at in cues if kind in ("not", "text") or (kind in ("who", "when", "count") and not at)
    }


def groups(way: Segmentation) -> bool:
    """Return whether a way of cutting a question reads that something is asked of each group."""
    kinds = {i.cue.kind for i in way.items if i.cue is not None}
    # A share "by city" is one of each city.
    ways = ("each", "by") if kinds & {"ratio", "percentage"} else ("each",)
    return any(i.cue is not None and i.cue.kind == "group" and i.cue.value in ways for i in way.items)


def says_extreme(way: Segmentation, question: QuestionText) -> bool:
    """Return whether a way of cutting a question reads a superlative in it."""
    low = question.low
    return any(
        i.cue.kind in ("most", "top") and low[i.cue.end + 1 : i.cue.end + 2] != ["first"]
        if i.cue is not None
        # "Newest first" orders, and finds nothing by itself.
        else i.unread and is_superlative(low[i.start]) and low[i.end : i.end + 1] != ["first"]
        for i in way.items
    )


def finds_extreme(plan: Plan) -> bool:
    """Return whether a plan finds what is first or last, greatest or least."""
    folds = ("maximum", "minimum")
    return (
        plan.limit is not None
        or any(a.function in folds for c in plan.columns for a in aggregates(c.value))
        or any(finds_extreme(p) for p in plan.where.plans)
        or any(
            isinstance(c, Comparison) and any(isinstance(s, Scalar) for s in (c.left, c.right))
            for c in (*plan.where.conditions, *plan.having)
        )
    )


def loose(kinds: Sequence[Unknown], where: Block, columns: Sequence[Column]) -> bool:
    """Return whether nothing but its kind is said of one of some things."""
    related = tuple(p for p in where.patterns if p.predicate != RDF.type)
    used = mentioned(Block(related, where.conditions, (), where.either, (), where.plans))
    for column in columns:
        shown = (*parts(column.value), *getattr(column.value, "of", ()))
        used |= {u for u in shown if isinstance(u, Unknown)}
    return any(kind not in used for kind in kinds)


def falls_apart(where: Block) -> bool:
    """Return whether some unknowns of a block have nothing to do with what else it says, nor with a name.

    Each of its things would be set beside each of the others.
    """
    parts_ = [{t for t in (p.subject, p.object) if not _is_kind(p, t)} for p in where.patterns]
    parts_ += [{*mentioned(Block(conditions=(c,)))} for c in where.conditions]
    parts_ += [set().union(*(mentioned(b) for b in blocks)) for blocks in where.either]
    parts_ += [{Unknown(c.name) for c in plan.columns} for plan in where.plans]
    groups_ = list[set[object]]()
    for part in parts_:
        near = [g for g in groups_ if g & part]
        groups_ = [g for g in groups_ if g not in near] + [set(part).union(*near)]
    loose_ = [g for g in groups_ if all(isinstance(t, Unknown) for t in g)]
    return len(groups_) > 1 and any(_plain(g, where) for g in loose_)


def _is_kind(pattern: Pattern, term: object) -> bool:
    return pattern.predicate == RDF.type and term == pattern.object


def _plain(group: Collection[object], where: Block) -> bool:
    """Return whether only triples speak of unknowns."""
    others = Block((), where.conditions, (), where.either, (), where.plans)
    return not {*mentioned(others)} & {*group} and not any(
        c.name in {getattr(t, "name", "") for t in group} for plan in where.plans for c in plan.columns
    )


def passes_over_or(way: Segmentation, plan: Plan) -> bool:
    """Return whether a plan has no alternatives, although the question says "or"."""
    said = any(i.cue is not None and i.cue.kind == "or" for i in way.items)
    return said and not any(b.either or b.without for b in (plan.where, *(p.where for p in plan.where.plans)))


def both_of_a_kind(way: Segmentation, question: QuestionText) -> bool:
    """Return whether both of the things of a class are spoken of, which no plan says: "on both labels"."""
    low = question.low
    return any(
        i.start and low[i.start - 1] == "both" and "and" not in low[i.end : i.end + 1]
        for i in way.items
        if i.mention is not None and i.mention.candidates[0].kind == "class"
    )
