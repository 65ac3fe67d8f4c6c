"""Questions that count two things against each other: "which countries have more cities than lakes".

Each number is read as a question of its own, "number of cities per country", and the two are compared for
each thing; in "more cities than Peru" the second is the number that one thing has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rdflib import RDF, URIRef

from mrag.planning import plan as pl
from mrag.planning.building.checks import leads_to_things
from mrag.planning.composing.drafts import Draft, Read, folded_by, fully_read
from mrag.planning.composing.folding import folded
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexical.english import AUXILIARIES
from mrag.planning.reading.numbers import NUMBERS
from mrag.planning.reading.question import QuestionText
from mrag.planning.schema import Schema
from mrag.planning.scopes import all_patterns, folded_aside, merged

_JOINING = AUXILIARIES | frozenset("having with that which who whose".split())
_BETWEEN = frozenset("the a an of any".split())
_FORMS: tuple[tuple[tuple[str, ...], pl.Relation], ...] = (
    (("more", "than"), ">"),
    (("fewer", "than"), "<"),
    (("less", "than"), "<"),
)


@dataclass(frozen=True)
class Contrast:
    """Two numbers of things that a question compares.

    Attributes:
        relation: How; for a question of how many more, None.
        first: What is counted first.
        second: What is counted beside it, or the thing whose number of `first` is meant; None for the
            average of all.
        of: The class of the things that have both, or the thing that has the first number; None where all
            things of either kind are counted.
        verb: The words that say how they belong to it, if they do.
        outer: The question without the comparison; of a question for yes or no, what is said of both kinds.
        whether: Whether it is a question for yes or no.
    """

    relation: pl.Relation | None
    first: NameMention
    second: NameMention | None
    of: NameMention | None
    verb: str
    outer: str
    whether: bool = False


def contrasted(question: QuestionText, mentions: Sequence[NameMention], schema: Schema) -> Contrast | None:
    """Return the two numbers that a question compares; None if it compares none.

    Args:
        question: The question.
        mentions: What its words may name.
        schema: The schema.
    """
    low = question.low
    things = _longest(m for m in mentions if _is(m, "class") or leads_to_things(m, schema))
    named = _longest(m for m in mentions if _is(m, "entity"))
    if low[:3] in (["how", "many", "more"], ["how", "many", "fewer"]):
        first = next((m for m in things if m.start == 3), None)
        than = low.index("than") if "than" in low else 0
        owner = next((m for m in named if first is not None and first.end < m.end <= than), None)
        other = next((m for m in named if m.start == _after(low, than + 1)), None)
        if first is None or owner is None or other is None:
            return None
        relation: pl.Relation | None = None if low[2] == "more" else "<"
        return Contrast(relation, first, other, owner, "", "")
    for first in things:
        found = _compared(low, first)
        if found is None:
            continue
        relation, start, behind = found
        at = _after(low, behind)
        second = next((m for m in (*things, *named) if m.start == at), None)
        if (
            low[0] in AUXILIARIES
            and second is not None
            and (asked := _whether(question, found, first, second, named))
        ):
            return asked
        owner = next((m for m in reversed(things) if m.end <= start and _is(m, "class")), None)
        average = low[at : at + 1] in (["average"], ["mean"])
        if owner is None or (second is None and not average):
            continue
        end = at + 1 if second is None else second.end
        if end < len(low) and _said_of(low, end, things):
            continue
        verb = [w for w in low[owner.end : start] if w not in _JOINING]
        if len(verb) > 3 or (not verb and not _JOINING & {*low[owner.end : start]}):
            continue
        while end < len(low) and (low[end] in _JOINING or low[end] in verb):
            end += 1
        outer = f"{question.before(owner.end)}{question.onward(end)}".strip()
        return Contrast(relation, first, second, owner, " ".join(verb), outer)
    return None


def _whether(
    question: QuestionText,
    compared: tuple[pl.Relation, int, int],
    first: NameMention,
    second: NameMention,
    named: Sequence[NameMention],
) -> Contrast | None:
    """Return what a question for yes or no compares: "does Ada have more cats than Ben", "than dogs"."""
    low, (relation, start, _) = question.low, compared
    if low[1:2] == ["there"] and start == 2 and _is(second, "class"):
        rest = question.behind(second.end - 1).strip(" ?.!")
        return Contrast(relation, first, second, None, "", rest, True)
    owner = next((m for m in named if m.start > 0 and m.end <= start), None)
    if owner is None or low[1 : owner.start] not in ([], ["the"]) or second.end < len(low):
        return None
    verb = [w for w in low[owner.end : start] if w not in _JOINING]
    return Contrast(relation, first, second, owner, " ".join(verb), "", True) if len(verb) < 4 else None


def counts_unread(question: QuestionText, mentions: Sequence[NameMention]) -> bool:
    """Return whether a question compares numbers of things in a way that is not read."""
    if question.low[:3] in (["how", "many", "more"], ["how", "many", "fewer"]) and "than" in question.low[4:]:
        return True
    for first in _longest(m for m in mentions if _is(m, "class") or _is(m, "value")):
        found = _compared(question.low, first)
        behind = question.low[_after(question.low, found[2]) :][:1] if found is not None else []
        if behind and not (behind[0] in NUMBERS or any(c.isdigit() for c in behind[0])):
            return True
    return False


def _compared(low: Sequence[str], first: NameMention) -> tuple[pl.Relation, int, int] | None:
    """Return how a number of things is compared, where that begins, and where what is behind it does."""
    for words, relation in _FORMS:
        if tuple(low[first.end : first.end + 2]) == words:
            return relation, first.start, first.end + 2
        if low[first.start - 1 : first.start] == [words[0]] and low[first.end : first.end + 1] == ["than"]:
            return relation, first.start - 1, first.end + 1
    if low[max(0, first.start - 2) : first.start] == ["as", "many"] and low[first.end : first.end + 1] == [
        "as"
    ]:
        return "=", first.start - 2, first.end + 1
    return None


def _said_of(low: Sequence[str], at: int, things: Sequence[NameMention]) -> bool:
    """Return whether what is compared with is only part of a longer description."""
    return low[at] in ("of", "'s") or any(m.start == at for m in things)


def _is(mention: NameMention, kind: str) -> bool:
    return mention.candidates[0].kind == kind and mention.candidates[0].score > 0.7


def _longest(mentions: Iterable[NameMention]) -> list[NameMention]:
    found: dict[int, NameMention] = {}
    for m in mentions:
        if m.start not in found or found[m.start].end < m.end:
            found[m.start] = m
    return [found[at] for at in sorted(found)]


def _after(low: Sequence[str], at: int) -> int:
    while at < len(low) and low[at] in _BETWEEN:
        at += 1
    return at


def contrasts(question: QuestionText, contrast: Contrast, schema: Schema, read: Read) -> list[Draft]:
    """Return the plans of a question that compares two numbers of things.

    Args:
        question: The question.
        contrast: What it compares.
        schema: The schema.
        read: Reads a question; best drafts first.
    """
    if contrast.of is None:
        return _whole(contrast, question, read)
    owner = contrast.of.candidates[0]
    second = contrast.second.candidates[0] if contrast.second is not None else None
    classes = [owner.term] if owner.kind == "class" else [c for c in owner.classes if c in schema.classes]
    for cls in classes:
        name = schema.classes[cls].names[0]
        first = _number(read, question.named(contrast.first), name, contrast.verb)
        if first is None:
            continue
        other: _Counted | None = first
        if second is not None and contrast.second is not None and second.kind == "class":
            other = _number(read, question.named(contrast.second), name, contrast.verb)
        elif second is not None and cls not in second.classes:
            other = None
        if other is None:
            continue
        if owner.kind == "entity" and second is not None:
            if contrast.whether:
                return [_decision(contrast, first, other, owner, second)]
            return [_difference(contrast, first, owner, second)]
        return [
            d for o in read(contrast.outer)[:2] if (d := _joined(o, contrast, cls, first, other)) is not None
        ]
    return []


@dataclass(frozen=True)
class _Counted:
    """A number of things of each thing of a class: its plan, the unknown of the things, and the fold."""

    draft: Draft
    key: pl.Unknown
    count: pl.Aggregate

    def of(self, place: pl.Place, prefix: str) -> pl.Aggregate:
        """Return the fold for a place, its unknowns apart from those of others."""
        where = self.draft.plan.where
        kept = tuple(p for p in where.patterns if not (p.subject == self.key and p.predicate == RDF.type))
        return folded_aside(self.count, replace(where, patterns=kept), prefix, {self.key: place})

    def beside(self, second: NameMention | None, thing: pl.Unknown) -> pl.Expression | None:
        """Return what is compared with: another number of the same thing, that of another, the average."""
        if second is None:
            mean = folded(self.draft, "average")
            return None if mean is None else pl.Scalar(mean.plan)
        one = second.candidates[0]
        return self.of(thing if one.kind == "class" else URIRef(one.term), "other_")


def _number(read: Read, what: str, name: str, verb: str) -> _Counted | None:
    texts = [f"how many {what} does each {name} {verb}", f"number of {what} per {name}"]
    for draft in (d for text in (texts if verb else texts[1:]) for d in fully_read(read(text), 3)):
        found = folded_by(draft)
        if found is not None and found[1].function == "count" and found[1].value is None:
            return _Counted(draft, *found)
    return None


def _joined(outer: Draft, contrast: Contrast, cls: str, first: _Counted, other: _Counted) -> Draft | None:
    plan = outer.plan
    things = [p.subject for p in all_patterns(plan.where) if p.predicate == RDF.type and str(p.object) == cls]
    if not things or not isinstance(things[0], pl.Unknown) or contrast.relation is None:
        return None
    thing = things[0]
    left, value = first.of(thing, "one_"), other.beside(contrast.second, thing)
    if value is None:
        return None
    block = pl.Block(tuple(p for p in plan.where.patterns if p.subject == thing and p.predicate == RDF.type))
    having = pl.Comparison(left, contrast.relation, value)
    inner = pl.Plan(block, (pl.Column(thing, thing.name),), having=(having,))
    simple = not (plan.grouped or plan.limit is not None or plan.order or plan.yes_or_no) and all(
        isinstance(c.value, pl.Unknown) for c in plan.columns
    )
    if simple and [c.value for c in plan.columns] == [thing]:
        found = replace(plan, having=(having,))
    else:
        found = replace(plan, where=merged(plan.where, pl.Block(plans=(inner,))))
    return _with(outer, found, outer.shown, contrast, first, other)


def _difference(contrast: Contrast, first: _Counted, owner: Candidate, other: Candidate) -> Draft:
    one, two = first.of(URIRef(owner.term), "one_"), first.of(URIRef(other.term), "other_")
    if contrast.relation == "<":
        one, two = two, one
    plan = pl.Plan(pl.Block(), (pl.Column(pl.Arithmetic(one, "-", two), "difference"),))
    return _with(first.draft, plan, ("difference",), contrast, first)


def _decision(
    contrast: Contrast, first: _Counted, counted: _Counted, owner: Candidate, second: Candidate
) -> Draft:
    """Return the plan of whether one thing has more of something than another, or than it has of others."""
    other = owner if second.kind == "class" else second
    one, two = first.of(URIRef(owner.term), "one_"), counted.of(URIRef(other.term), "other_")
    assert contrast.relation is not None
    plan = pl.Plan(pl.Block(), having=(pl.Comparison(one, contrast.relation, two),))
    return _with(first.draft, plan, (), contrast, first, counted)


def _whole(contrast: Contrast, question: QuestionText, read: Read) -> list[Draft]:
    """Return the plan of whether there are more things of one kind than of another."""
    folds = list[pl.Aggregate]()
    drafts = list[Draft]()
    for mention, prefix in ((contrast.first, "one_"), (contrast.second, "other_")):
        assert mention is not None
        asked = f"how many {question.named(mention)} are there {contrast.outer}".strip()
        for draft in fully_read(read(asked), 2):
            fold = draft.plan.columns[0].value if len(draft.plan.columns) == 1 else None
            bare = replace(draft.plan, where=pl.Block(), columns=()) == pl.Plan()
            if isinstance(fold, pl.Aggregate) and fold.function == "count" and bare:
                folds.append(folded_aside(fold, draft.plan.where, prefix))
                drafts.append(draft)
                break
    if len(folds) != 2 or contrast.relation is None:
        return []
    plan = pl.Plan(pl.Block(), having=(pl.Comparison(folds[0], contrast.relation, folds[1]),))
    matches = (*drafts[0].matches, *drafts[1].matches)
    return [replace(drafts[0], plan=plan, shown=(), matches=matches, choices={})]


def _with(outer: Draft, plan: pl.Plan, shown: tuple[str, ...], contrast: Contrast, *parts: _Counted) -> Draft:
    matches = [m for p in parts for m in p.draft.matches]
    named = [m for m in (contrast.of, contrast.second) if m is not None]
    matches += [*(m.candidates[0].score for m in named), *outer.matches]
    joins = max([0.0, outer.joins, *(p.draft.joins for p in parts)])
    guesses = outer.guesses + max(p.draft.guesses for p in parts)
    return replace(
        outer, plan=plan, shown=shown, matches=tuple(matches), joins=joins, guesses=guesses, choices={}
    )
