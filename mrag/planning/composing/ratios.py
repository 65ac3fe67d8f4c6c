"""Questions for a ratio, a share or a difference: two readings that are computed over the same groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from rdflib import Literal

from mrag.language.tokens import tokens
from mrag.planning import plan as pl
from mrag.planning.composing.drafts import Draft, Unbuildable
from mrag.planning.composing.spreads import days_apart
from mrag.planning.derived.spans import unit_said
from mrag.planning.reading.frame import Frame, FrameMeasure, Noun
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.reader import FrameReader
from mrag.planning.reading.segmentation import QuestionItem
from mrag.planning.schema import Schema
from mrag.planning.scopes import common, less, merged, substituted

Build = Callable[[Frame], Draft]
Read = Callable[[Sequence[QuestionItem]], FrameReader]
_RELATIVE = frozenset(
    "that which who with whose without where having in from on at for of by not no "
    "is are was were do does have has".split()
)


_FINITE = frozenset("is are was were do does did has have had can".split())
_PRONOUNS = frozenset("that which who whose where".split())
_AMONG = ("among", "amongst")
_NOUNS = ("class", "property")
_CALLED: dict[pl.Operation, str] = {"/": "ratio", "-": "difference"}
_HALVES = re.compile(
    r"(?i)^\W*(?P<base>how many (?P<things>.+?)) (?P<verb>have|has|had|are|is|were|was) "
    r"(?P<what>.+?),? (?:and|or|versus|vs\.?) how many (?:of (?:them|those|these) |others? )?"
    r"(?P<rest>.+?)\W*$"
)
_LACKING = re.compile(
    r"(?i)(?:(?:do|does|did|are|is|were|was|have|has|had)(?: not|n['’]?t)"
    r"|(?:have|has|had) (?:none|no|never)|(?:are|is|do|have) without|lack)\b(?: have| had| been| got| any)*"
    r"(?P<again>.*)"
)
_ARTICLES = re.compile(r"(?i)\b(?:an?|any|the|one|some|at least one)\b")


def halves(text: str) -> tuple[str, str] | None:
    """Return the questions for all and for those with something, of one for both counts; None for others.

    Example:
        >>> halves("How many jars have a lid, and how many don't?")
        ('How many jars are there?', 'How many jars have a lid?')
        >>> halves("How many jars have lids and how many have no lid?") is None
        False
        >>> halves("How many jars have a lid and how many jars are blue?")
    """
    match = _HALVES.match(text)
    said = _LACKING.fullmatch(match["rest"]) if match is not None else None
    if match is None or said is None:
        return None
    parts = (_ARTICLES.sub("", part) for part in (said["again"], match["what"]))
    again, what = ([t.key for t in tokens(part)] for part in parts)
    if again not in ([], what):
        return None
    return f"{match['base']} are there?", f"{match['base']} {match['verb']} {match['what']}?"


def both_counts(all_: Draft, having: Draft) -> Draft | None:
    """Return a draft of how many things have something and how many do not; None if these are no counts.

    Args:
        all_: How many there are.
        having: How many have it.
    """
    counts = [d.plan.columns[0].value for d in (all_, having) if len(d.plan.columns) == 1]
    where, more = all_.plan.where, having.plan.where
    if len(counts) < 2 or counts[0] != counts[1] or not isinstance(counts[0], pl.Aggregate):
        return None
    plain = not (having.plan.having or having.plan.group_by or more.plans)
    if not plain or not set(where.patterns) <= set(more.patterns):
        return None
    told = less(more, where)
    if told.empty or not (told.patterns or told.either):
        return None
    count, name = counts[0], all_.plan.columns[0].name
    columns = (
        pl.Column(replace(count, where=told), f"{name}_with"),
        pl.Column(replace(count, where=pl.Block(without=(told,))), f"{name}_without"),
    )
    return replace(having, plan=pl.Plan(where, columns), shown=tuple(c.name for c in columns))


def combined(
    question: QuestionText, items: Sequence[QuestionItem], read: Read, build: Build, schema: Schema
) -> Draft | None:
    """Return the plan of a question for a ratio, a share or a difference; None if it is none.

    Args:
        question: The question.
        items: How it was cut.
        read: Begins to read some of its items.
        build: Builds the plan of a frame.
        schema: The schema.

    Raises:
        Unbuildable: If one side has no plan.
    """
    at = next(
        (n for n, i in enumerate(items) if i.cue_kind in ("ratio", "percentage", "difference")),
        None,
    )
    if at is None:
        return None
    cue = items[at].cue
    assert cue is not None
    above, below, rest = _sides(question, items, at)
    rest = _each(question, rest)
    operation: pl.Operation = "-" if cue.kind == "difference" else "/"
    before = [i for i in items[:at] if i.cue_kind != "show"]
    averaged = any(i.cue and i.cue_kind == "fold" and i.cue.value == "average" for i in before)
    before = [i for i in before if i.cue_kind != "fold"]
    first = _frame(read, [*above, *rest, *before])
    second = _frame(read, [*(below or _head(question, above)), *rest, *before])
    if below:
        _share(first, second)
    groups = None
    if first.groups and all(isinstance(g, Noun) for g in first.groups):
        groups = build(
            Frame(nouns=[g for g in first.groups if isinstance(g, Noun)], groups=list(first.groups))
        )
    sides = build(first), build(second)
    if operation == "-" and any(_is_date(side, schema) for side in sides):
        return days_apart(*sides, unit_said(question))
    factor = 100.0 if cue.value == "100" else 1.0
    called = "percentage" if factor > 1 else "share" if cue.kind == "percentage" else _CALLED[operation]
    return _joined(*sides, groups, operation, factor, averaged, called)


def _sides(
    question: QuestionText, items: Sequence[QuestionItem], at: int
) -> tuple[list[QuestionItem], list[QuestionItem], list[QuestionItem]]:
    """Return what stands above and below the line, and the groups that both have."""
    end = next(
        (
            n
            for n in range(at + 1, len(items))
            if (c := items[n].cue) and c.kind in ("group", "order", "direction")
        ),
        len(items),
    )
    low = question.low
    cut = next(
        (
            n for n in range(at + 1, end)
            if items[n].cue_kind == "out of"
            or (items[n].unread and low[items[n].start] in ("to", "and", "over"))
            or (items[n].cue_kind == "and" and items[at].cue_kind == "difference")
        ),
        None,
    )  # fmt: skip
    if cut is None:
        among = next((n for n in range(at + 1, end) if items[n].unread and low[items[n].start] in _AMONG), 0)
        above, below = [*items[at + 1 : end]], [*items[among + 1 : end]] if among else []
        # "The share of blue boats among boats in Hull" is one of the latter.
        told = any(i.named_kind in _NOUNS for i in below) and items[at].cue_kind == "percentage"
        return above, below if told else [], list(items[end:])
    above, below = list(items[at + 1 : cut]), list(items[cut + 1 : end])
    if items[at].cue_kind == "difference":
        above = [i for i in above if i.cue_kind != "between"]
    if not any(i.named_kind in _NOUNS for i in below):
        # "The difference in population between Texas and Oklahoma" is one of two populations.
        below = [*[i for i in above if i.named_kind in _NOUNS][:1], *below]
    elif items[at].cue_kind == "ratio" and not any(i.named_kind in _NOUNS for i in above):
        # "The ratio of red to blue boats" is one of boats to boats.
        above = [*above, *[i for i in below if i.named_kind == "class"][-1:]]
    return above, below, list(items[end:])


def _each(question: QuestionText, rest: Sequence[QuestionItem]) -> list[QuestionItem]:
    """Return the groups of a ratio with "by year", "by city" for "for each"."""
    found = list(rest)
    first = found[0].cue if len(found) > 1 else None
    if first is not None and (first.kind, first.value) == ("group", "by"):
        behind = found[1].mention
        kinds = {c.kind for c in behind.candidates[:1]} if behind is not None else set()
        if kinds & {"class", "property"} or question.low[found[1].start] in ("year", "month", "quarter"):
            found[0] = replace(found[0], cue=replace(first, value="each"))
    return found


def _head(question: QuestionText, items: Sequence[QuestionItem]) -> list[QuestionItem]:
    """Return what a share is taken of: the things, without what is said of some of them."""
    verb = _main_verb(question, items[0].start) if items else 0
    if verb:
        return [i for i in items if i.end <= verb]
    for number, item in enumerate(items):
        named = any(i.mention is not None for i in items[:number])
        if named and (item.cue or (item.unread and question.low[item.start] in _RELATIVE)):
            return list(items[:number])
        things = items[number - 1].mention if number else None
        if things is not None and things.candidates[0].kind == "class" and item.named_kind != "class":
            # "Of sales went through agents", "of patients smoke": what is behind says it of some of them.
            return list(items[:number])
    return [i for i in items if i.mention is not None][-1:]


def _main_verb(question: QuestionText, start: int) -> int:
    """Return where a question says of how many of some things something is so; 0 if it says it behind "that".

    In "what percentage of the boats in Hull are for sale" only boats in Hull are meant.

    Args:
        question: The question.
        start: Where the words for the things begin.
    """
    low, clauses = question.low, 0
    if _FINITE & {*low[:start]}:
        return 0
    for at in range(start + 1, len(low)):
        if low[at] in _PRONOUNS:
            clauses += 1
        elif low[at] in _FINITE and not clauses:
            return at
        elif low[at] in _FINITE and low[at - 1] not in _FINITE:
            clauses -= 1
    return 0


def _frame(read: Read, items: Sequence[QuestionItem]) -> Frame:
    named = next((i.start for i in items if i.mention is not None), 0)
    # What stands behind a noun begins no question: "of boats which are for sale".
    asking = [i.start > named and i.cue_kind in ("show", "who", "where", "when") for i in items]
    reader = read([QuestionItem(i.start, i.end) if a else i for i, a in zip(items, asking, strict=True)])
    reader.waiting.show = True
    frame = reader.read()
    frame.yes_or_no = frame.unsupported = False
    outputs, top = frame.outputs[:1], frame.superlative
    measure = top.measure if top is not None and top.n is None and outputs == [top.measure] else None
    if top is not None and measure is not None and measure.function is None:
        # "The difference between the highest and the lowest price": of the prices, not of what has them.
        fold: pl.Fold = "maximum" if top.direction == "greatest" else "minimum"
        outputs, frame.superlative = [FrameMeasure(fold, measure.noun)], None
    if not outputs:
        raise Unbuildable("a side of the ratio")
    frame.outputs = [
        FrameMeasure("count", o) if isinstance(o, Noun) and o.candidates[0].kind == "class" else o
        for o in outputs
    ]
    return frame


def _share(first: Frame, second: Frame) -> None:
    """Give the side above the names that are said at the end of the question, where both count the same."""
    one, other = first.outputs[0], second.outputs[0]
    if not (isinstance(one, FrameMeasure) and isinstance(other, FrameMeasure) and one.noun and other.noun):
        return
    if one.noun.candidates[0].term == other.noun.candidates[0].term and second.restrictions:
        words = {c.term for r in first.restrictions for c in r.mention.candidates[:1]}
        last = second.restrictions[-1]
        kinds = {c.kind for r in first.restrictions for c in r.mention.candidates[:1]}
        if last.mention.candidates[0].term not in words and (
            not first.restrictions
            or last.mention.candidates[0].kind not in kinds
            or len(second.restrictions) > 1
        ):
            first.restrictions.append(last)


def _joined(
    first: Draft,
    second: Draft,
    grouped: Draft | None,
    operation: pl.Operation,
    factor: float,
    averaged: bool,
    called: str,
) -> Draft:
    one, other = first.plan, second.plan
    value, divisor = _measure(first), _measure(second)
    if (value, one.where) == (divisor, other.where):
        raise Unbuildable("both sides of a ratio are the same")
    groups = [c for c in one.columns if c.name in first.shown and c.value != value]
    if [c.value for c in groups] != [
        c.value for c in other.columns if c.name in second.shown and c.value != divisor
    ]:
        raise Unbuildable("groups of a ratio")
    folds = [getattr(v, "function", "") for v in (value, divisor)]
    if operation == "-" and "count" in folds and folds[0] != folds[1]:
        raise Unbuildable("a number of things beside another number")
    where = common(one.where, other.where)
    if grouped is not None:
        where = merged(where, grouped.plan.where)
    if not isinstance(value, pl.Aggregate) and not isinstance(divisor, pl.Aggregate):
        further, divisor = _apart(one.where, other.where, divisor)
        ratio: pl.Expression = pl.Arithmetic(value, operation, divisor)
        where = merged(one.where, further)
        if averaged:
            owners = [
                p.subject for p in where.patterns if p.object == value and isinstance(p.subject, pl.Unknown)
            ]
            ratio = pl.Aggregate("average", ratio, tuple(owners[:1]))
    else:
        above, below = (
            replace(v, where=less(p.where, where)) if isinstance(v, pl.Aggregate) else v
            for v, p in ((value, one), (divisor, other))
        )
        ratio = pl.Arithmetic(above, operation, below)
    if factor != 1.0:
        ratio = pl.Arithmetic(ratio, "*", Literal(int(factor)))
    columns = (*groups, pl.Column(ratio, called))
    plan = pl.Plan(where, columns, order=())
    return replace(
        first,
        plan=plan,
        shown=tuple(c.name for c in columns),
        matches=(*first.matches, *second.matches),
        joins=first.joins + second.joins,
        guesses=first.guesses + second.guesses,
        ignored=tuple(w for w in first.ignored if w in second.ignored),
    )


def _is_date(draft: Draft, schema: Schema) -> bool:
    value = _measure(draft)
    of = (schema.properties.get(str(p.predicate)) for p in draft.plan.where.patterns if p.object == value)
    return any(info is not None and info.kind == "date" for info in of)


def _apart(one: pl.Block, other: pl.Block, value: pl.Expression) -> tuple[pl.Block, pl.Expression]:
    """Return a block and its value; under another name where the name stands for another value in `one`."""
    plain = value.value if isinstance(value, pl.Number) else value
    mine = [p for p in other.patterns if p.object == plain]
    theirs = [p for p in one.patterns if p.object == plain]
    if not isinstance(plain, pl.Unknown) or not theirs or mine == theirs:
        return other, value
    renamed = pl.Unknown(f"other_{plain.name}")
    return substituted(other, {plain: renamed}), pl.Number(renamed) if plain is not value else renamed


def _measure(draft: Draft) -> pl.Expression:
    return next(c.value for c in draft.plan.columns if c.name == draft.shown[-1])
