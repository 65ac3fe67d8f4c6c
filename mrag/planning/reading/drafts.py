"""A plan that is being made, what speaks against it, and how likely it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from mrag.errors import ConfigError
from mrag.language.possessive import compile_late
from mrag.language.tokens import PREPOSITIONS, alike, stem
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexical.english import BEING, is_past, is_role, positive
from mrag.planning.plan import Aggregate, Block, Expression, Fold, Plan, Unknown
from mrag.planning.reading.frame import is_superlative
from mrag.planning.reading.question import QuestionText, Segmentation, meaningful, unit_of
from mrag.planning.schema import Schema
from mrag.planning.scopes import check, merged, with_subclasses


class Unbuildable(Exception):
    """A frame has no plan over this schema."""


@dataclass(frozen=True)
class Draft:
    """A plan with what it cost to make it of the question's words.

    Attributes:
        plan: The plan.
        shown: Names of the columns that were asked for.
        matches: The scores of the names that were used.
        joins: The cost of joins that the question does not name.
        guesses: How many choices were made without a word for them.
        ignored: Words that carry meaning and were not read.
        choices: What was chosen for each place of the question, with what else might have been.
        ties: Properties of joins that could as well go another way.
    """

    plan: Plan
    shown: tuple[str, ...]
    matches: tuple[float, ...]
    joins: float
    guesses: float
    ignored: tuple[str, ...]
    choices: Mapping[int, tuple[Candidate, ...]] = field(default_factory=dict)
    ties: tuple[str, ...] = ()

    @property
    def values(self) -> list[Expression]:
        """Return what was asked for, in the order of the columns."""
        return [c.value for c in self.plan.columns if c.name in self.shown]

    @property
    def lone_value(self) -> Expression | None:
        """Return the one thing that was asked for; None if there are several."""
        return self.values[0] if len(self.shown) == 1 else None


Read: TypeAlias = Callable[[str], Sequence[Draft]]
"""Reads a question that holds no other; best drafts first."""
ReadWith: TypeAlias = Callable[[str, Candidate], Sequence[Draft]]
"""Reads a question with what a word in it stands for; best drafts first."""
Named: TypeAlias = Callable[[str], Sequence[Candidate]]
"""Returns what words may name as a whole, best first."""
Total: TypeAlias = Callable[[Iterable[float]], float]
"""What costs make together."""


def fully_read(drafts: Sequence[Draft], most: int) -> list[Draft]:
    """Return those of the first drafts that leave no word unread.

    Args:
        drafts: Drafts of a question, best first.
        most: How many of them are looked at.
    """
    return [draft for draft in drafts[:most] if not draft.ignored]


def whole(
    plan: Plan,
    first: Draft,
    *others: Draft,
    shown: Sequence[str] | None = None,
    matches: Sequence[float] = (),
    joins: Total = sum,
    guesses: Total = sum,
) -> Draft | None:
    """Return the draft of a plan that is made of those of drafts; None if it says nothing sensible.

    Args:
        plan: The plan.
        first: The draft that it shows the columns of.
        others: The other drafts.
        shown: Names of the columns that are asked for, if other than in the first.
        matches: The scores of further names.
        joins: What the joins of all of them cost together: their sum, or `max` where each is an answer.
        guesses: The same for what was guessed.
    """
    try:
        check(plan)
    except ConfigError:
        return None
    drafts = (first, *others)
    return Draft(
        plan,
        first.shown if shown is None else tuple(shown),
        (*(m for d in drafts for m in d.matches), *matches),
        joins(d.joins for d in drafts),
        guesses(d.guesses for d in drafts),
        tuple(word for d in drafts for word in d.ignored),
    )


def also_holding(
    draft: Draft, block: Block, *others: Draft, matches: Sequence[float] = (), joins: Total = sum
) -> Draft | None:
    """Return a draft of which a block holds as well, as other drafts say; None if that is no plan.

    The other arguments are those of `whole`.
    """
    found = replace(draft.plan, where=merged(draft.plan.where, block))
    return whole(found, draft, *others, matches=matches, joins=joins)


def folded_by(draft: Draft) -> tuple[Unknown, Aggregate] | None:
    """Return by what a draft folds something of one kind of things, and the fold; None if it does not.

    In "number of rivers per state" these are the state and the count of rivers.
    """
    plan, values = draft.plan, draft.values
    keys = [v for v in values if not isinstance(v, Aggregate)]
    folds = [v for v in values if isinstance(v, Aggregate)]
    if len(keys) != 1 or len(folds) != 1 or plan.having or plan.limit is not None:
        return None
    key, fold = keys[0], folds[0]
    return (key, fold) if isinstance(key, Unknown) and len(fold.of) == 1 else None


def guessed(draft: Draft, more: float) -> Draft:
    """Return a draft that is less likely by some guesses."""
    return replace(draft, guesses=draft.guesses + more)


_JOINING = frozenset("as than that which who whose is are was were has have had do does did".split())
"""Words that are in no name but one that has them."""
_NAMES = frozenset("name surname forename firstname lastname".split())
_BEFORE_NOUNS = PREPOSITIONS | frozenset(
    "a an the do does did each every any no all this that and or".split()
)
"""Words behind which no verb stands."""


def without_split_values(mentions: Sequence[NameMention], schema: Schema) -> list[NameMention]:
    """Return mentions without the values that are a thing and its class, or parts of a thing's name.

    These are "the Colorado river", and the first and the last name of "Ada Lovelace".
    """
    whole = [m for m in mentions if m.candidates[0].kind == "entity" and m.candidates[0].way == "exact"]
    split = {
        (m.start, m.end)
        for m in mentions
        if _part_of_name(m, schema)
        and any(o.start <= m.start and m.end <= o.end and o.end - o.start > m.end - m.start for o in whole)
    }
    mentions = [m for m in mentions if (m.start, m.end) not in split]
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


def _part_of_name(mention: NameMention, schema: Schema) -> bool:
    """Return whether words are a value that is only a part of names: a first name, a surname."""
    best = mention.candidates[0]
    infos = [schema.properties[p] for p in best.properties if p in schema.properties]
    return best.kind == "value" and bool(infos) and all(_NAMES & {*i.names[0].lower().split()} for i in infos)


def refuse_things(function: Fold | None, question: QuestionText) -> None:
    """Refuse to count things where a number of theirs is asked for: "how much does it weigh".

    Raises:
        Unbuildable: If a number is asked for.
    """
    if function == "average" or (function == "sum" and question.low[:2] == ["how", "much"]):
        raise Unbuildable("things are no number")


def without_parts_asked_for(mentions: Sequence[NameMention], question: QuestionText) -> list[NameMention]:
    """Return mentions without things that "which" asks for by a part of their name: "which agency publishes".

    A kind of thing is asked for there. Before a class such a part tells which of it: "which Spanish cities".
    """
    headed = {m.start for m in mentions if any(c.kind == "class" for c in m.candidates)}
    found = []
    for m in mentions:
        if m.start and question.low[m.start - 1] in ("which", "what") and m.end not in headed:
            kept = tuple(c for c in m.candidates if c.kind not in ("entity", "value") or c.way != "tokens")
            m = replace(m, candidates=kept)
        if m.candidates:
            found.append(m)
    return found


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


def named_as_a_whole(mentions: Sequence[NameMention], size: int) -> Sequence[Candidate]:
    """Return what all of some words may name together, as does a name with its kind: "the Main river".

    Args:
        mentions: What the words may name.
        size: How many words there are, without articles.
    """
    if whole := [m for m in mentions if m.end - m.start >= size]:
        return whole[0].candidates
    for one in mentions:
        for kind in mentions:
            classes = {c.term for c in kind.candidates if c.kind == "class"}
            found = [c for c in one.candidates if c.kind == "entity" and classes & {*c.classes}]
            if found and one.end == kind.start and kind.end - one.start == size:
                return found
    return ()


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


_SAID_TWICE = compile_late(r"(?i)\b(?P<n>[a-z]{3,}) of (?:the )?[^,]+?(?:['’]s|s['’]) (?P=n)\b")
"""A relation that is walked twice, "the boss of Ada's boss", which one step does not answer."""


def unreadable(way: Segmentation, question: QuestionText, schema: Schema) -> bool:
    """Return whether a question names two names of a kind for one, or measures what is but a text."""
    twice = _SAID_TWICE.search(question.text) is not None
    return twice or both_of_a_kind(way, question) or _measures_a_text(way, question, schema)


def _measures_a_text(way: Segmentation, question: QuestionText, schema: Schema) -> bool:
    """Return whether a question measures what is but a text: "how old is the coach of Hull"."""
    low = question.low
    if (
        low[:1] != ["how"]
        or len(low) < 5
        or positive(low[1]) is None
        or low[2] not in BEING
        or any(map(is_superlative, low[3:]))
    ):
        return False
    first = next((i for i in way.items if i.mention is not None and i.start >= 3), None)
    if first is None or first.mention is None or low[first.end : first.end + 1] != ["of"]:
        return False
    best = first.mention.candidates[0]
    info = schema.properties.get(best.term) if best.kind == "property" else None
    return info is not None and info.kind == "text"


_ASKING = frozenset(
    "list show give find return get me us what which are is were was do have the a all of any name names "
    "different distinct every each those please display tell".split()
)
"""Words before what a question asks for."""
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
    kinds = [i for i in way.items if i.named_kind == "class"]
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


def asked_class(way: Segmentation, question: QuestionText) -> str | None:
    """Return the class of things that a question begins with: "list the names of conductors that …".

    Args:
        way: How the question was cut.
        question: The question.
    """
    first = next((i for i in way.items if i.mention is not None), None)
    if first is None or first.mention is None or not {*question.low[: first.start]} <= _ASKING:
        return None
    best = first.mention.candidates[0]
    compound = any(i.mention is not None and i.start == first.end for i in way.items)
    owned = question.text[question.words[first.end - 1].token.end :].startswith(("'", "’"))
    listed = question.low[first.end : first.end + 1] in (["and"], ["of"], ["or"], ["with"])
    return (
        best.term if best.kind == "class" and best.score > 0.9 and not (compound or owned or listed) else None
    )


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
    return any(not orders for orders in _superlatives(way, question))


def only_orders(way: Segmentation, question: QuestionText) -> bool:
    """Return whether superlatives of a question only order what is found: ", highest salary first"."""
    found = [*_superlatives(way, question)]
    return bool(found) and all(found)


def _superlatives(way: Segmentation, question: QuestionText) -> Iterator[bool]:
    """Yield for each superlative whether it orders: "newest first" finds nothing by itself."""
    low = question.low

    def orders(start: int, end: int) -> bool:
        apart = "," in question.words[start].before and low[-1] == "first"
        return "first" in (low[end : end + 3] if apart else low[end : end + 1])

    for item in way.items:
        if item.cue is not None and item.cue.kind in ("most", "top"):
            yield orders(item.cue.start, item.cue.end + 1) or orders(item.cue.start, item.cue.end)
        elif item.cue is None and item.unread and is_superlative(low[item.start]):
            yield orders(item.start, item.end)


def says_when_last(question: QuestionText) -> bool:
    """Return whether a question tells when things last were something: "last released before 2021".

    That is no superlative of them.
    """
    low = question.low
    return bool(question.periods) and any(
        word in ("first", "last") and low[at] in BEING and is_past(low[at + 2])
        for at, word in enumerate(low[1:-1])
    )


def passes_over_or(way: Segmentation, plan: Plan) -> bool:
    """Return whether a plan has no alternatives, although the question says "or"."""
    said = any(i.cue_kind == "or" for i in way.items)
    return said and not any(b.either or b.without for b in (plan.where, *(p.where for p in plan.where.plans)))


def both_of_a_kind(way: Segmentation, question: QuestionText) -> bool:
    """Return whether both of the things of a class are spoken of, which no plan says: "on both labels"."""
    low = question.low
    return any(
        i.start and low[i.start - 1] == "both" and "and" not in low[i.end : i.end + 1]
        for i in way.items
        if i.named_kind == "class"
    )


WEIGHTS: Mapping[str, float] = {
    "bias": 3.0,
    "mean match": 4.0,
    "worst match": 2.0,
    "joins": -0.75,
    "guesses": -0.65,
    "ignored": -1.6,
    "cut": 0.25,
}
"""Weights of what is measured of a reading, set by hand; those of joins and guesses after four graphs."""


@dataclass(frozen=True)
class Reading:
    """One way of reading a question.

    Attributes:
        plan: The plan.
        shown: Names of the plan's columns that the question asks for; the others order or select.
        probability: How likely it is to be what was meant.
        ignored: Words that carry meaning and were not read.
        features: What it was scored by.
        note: Why it was read so, where more than its words tell.
        certainty: How likely its answer is right, which is known once it has one; None before.
        measured: What that is told by.
    """

    plan: Plan
    shown: tuple[str, ...]
    probability: float
    ignored: tuple[str, ...]
    features: Mapping[str, float]
    note: str = ""
    certainty: float | None = None
    measured: Mapping[str, float] | None = None

    @property
    def is_framed(self) -> bool:
        """Return whether it was read by frames; else by the roles of its words alone."""
        return "role score" not in self.features or "guesses" in self.features

    @property
    def confidence(self) -> float:
        """Return how likely its answer is right, as far as that is known."""
        return self.probability if self.certainty is None else self.certainty


def scored(draft: Draft, cost: float, schema: Schema, weights: Mapping[str, float] = WEIGHTS) -> Reading:
    """Return a draft as a reading with its probability.

    Args:
        draft: The draft.
        cost: What the way of cutting the question costs.
        schema: The schema.
        weights: What counts how much, as in `WEIGHTS`.
    """
    matches = draft.matches or (0.5,)
    features = {
        "bias": 1.0,
        "mean match": sum(matches) / len(matches) - 1.0,
        "worst match": min(matches) - 1.0,
        "joins": max(0.0, draft.joins),
        "guesses": float(draft.guesses),
        "ignored": float(len(draft.ignored)),
        "cut": cost,
    }
    logit = sum(weights[name] * value for name, value in features.items())
    plan = with_subclasses(draft.plan, schema)
    return Reading(plan, draft.shown, 1 / (1 + math.exp(-logit)), draft.ignored, features)
