"""What may not be lost or mistaken between the words of a question and its plan."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from mrag.language.tokens import PREPOSITIONS, alike, stem
from mrag.planning.composing.drafts import Unbuildable
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexical.english import BEING, is_past, is_role, positive
from mrag.planning.plan import Fold, Plan
from mrag.planning.reading.numbers import unit_of
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.segmentation import Segmentation, meaningful
from mrag.planning.reading.state import is_superlative
from mrag.planning.schema import Schema

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


_SAID_TWICE = re.compile(r"(?i)\b(?P<n>[a-z]{3,}) of (?:the )?[^,]+?(?:['’]s|s['’]) (?P=n)\b")
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
