"""Plans of several parts: shares, ratios, unions, what is denied, nested questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, cast

from rdflib import RDF, Literal, URIRef

from mrag.errors import ConfigError
from mrag.language.grammar import plural
from mrag.language.possessive import compile_late
from mrag.language.tokens import PERSON_WORDS, PREPOSITIONS, VERBS, is_stopword, stem, tokens
from mrag.planning import plan as pl
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexical.english import AUXILIARIES, BEING, DIMENSIONS, is_past, positive, root
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Contains,
    Expression,
    Fold,
    Number,
    Pattern,
    Place,
    Plan,
    Scalar,
    Unknown,
    parts,
)
from mrag.planning.reading.derived import unit_said
from mrag.planning.reading.drafts import (
    Draft,
    Read,
    ReadWith,
    Unbuildable,
    also_holding,
    folded_by,
    fully_read,
    guessed,
    whole,
)
from mrag.planning.reading.frame import (
    COMMON,
    DESCRIBED,
    PARTICIPLES,
    Frame,
    FrameMeasure,
    FrameReader,
    Noun,
    is_superlative,
)
from mrag.planning.reading.question import (
    Cue,
    QuestionItem,
    QuestionText,
    Segmentation,
    cues,
    meaningful,
    unit_of,
)
from mrag.planning.schema import Schema, most_of
from mrag.planning.scopes import (
    aggregates,
    all_patterns,
    bound,
    check,
    common,
    folded_aside,
    kept_apart,
    less,
    mentioned,
    merged,
    names_of,
    numbered,
    reached,
    renamed,
    substituted,
    with_unknowns,
    without_ties,
)

_ALSO = compile_late(
    r"(?i)^(?P<first>\W*(?:which|what|who|in which|in what|find|show|list|return|give|name"
    r"|identify|display|rank|order|sort)\b.+?)"
    r"(?:,? (?:and|along with|together with|as well as|with)(?: also)?"
    r"|[.;?!](?= (?:show|give|state|include|list)))"
    r"(?: (?:also )?(?:show|give|state|include|report|return|list)(?: me)?)? "
    r"(?:(?:the |their )?names?(?: of (?:the |these |those )?[\w-]+)?(?:,| and) )?"
    r"(?P<also>(?:(?:by|of|to|with|for|in|at) )?how (?:many|much)\b.*?|"
    r"(?:what (?:is|was|are|were) )?(?:the |that |this |its |their )?"
    r"(?:corresponding |respective )?(?:numbers?|counts?|amounts?|totals?|values?|sums?|figures?|averages?"
    r"|percentages?|shares?)\b.*?|"
    r"what (?:is|was|are|were) (?:the|that|this|its|their) .+?)\W*$"
)
_LASTING = compile_late(r"(?i)\b(?:last|lasts|lasted|take|takes|took|run|runs|ran)\b")
_UNIT = compile_late(
    r"(?i)(?:for )?how many (?P<unit>seconds|minutes|hours|days|weeks|months|years)"
    r"(?: (?:does|do|did|has|have) (?:it|they) (?:last|take|run|lasted|taken))?$"
)
_SAID = frozenset(
    "how many much what number count amount total value do does did have has had they he she it them him her "
    "sum sums amounts totals figures figure numbers counts values "
    "that there in all each are is was were the year time s its their corresponding average averages "
    "percentage percentages share shares too also well made".split()
)
"""Words that say no more than that a number is asked for, or refer to what was said."""


def also_told(text: str) -> str | None:
    """Return a question without the number that it also asks for, if that is the number it speaks of anyway.

    Example:
        >>> also_told("Which farm has the most cows, and how many?")
        'Which farm has the most cows?'
        >>> also_told("Which farm has the most cows, and how many cows does it have?")
        'Which farm has the most cows?'
        >>> also_told("Which farms have cows, and how many hens do they have?")
    """
    match = _ALSO.match(text)
    if match is None:
        return None
    if _LASTING.search(match["first"]) and (unit := _UNIT.match(match["also"])) is not None:
        return f"{match['first'].strip()} in {unit['unit']}?"
    first = {root(t.key) for t in tokens(match["first"])}
    # "He/she" is two words.
    said = [t for t in tokens(match["also"].replace("/", " ")) if t.key not in _SAID]
    new = [t for t in said if not is_stopword(t.key) and root(t.key) not in first]
    return None if any(not _again(t.key, first) for t in new) else match["first"].strip() + "?"


def _again(word: str, first: set[str]) -> bool:
    """Return whether a word is made of one that was said: the "enrollment" of those "enrolled"."""
    return len(word) > 5 and any(len(r) > 4 and word.startswith(r[:5]) for r in first)


def with_its_number(draft: Draft) -> Draft | None:
    """Return a plan that also shows the number by which it orders or selects; None if there is none."""
    plan = draft.plan
    if plan.yes_or_no or len(draft.shown) > 2:
        return None
    folded = any(aggregates(c.value) for c in plan.columns if c.name in draft.shown)
    if plan.order and (plan.limit is not None or not folded):
        name = plan.order[0].column
        return replace(draft, shown=(*draft.shown, name)) if name not in draft.shown else draft
    bounds = [c.left for c in plan.having if isinstance(c, pl.Comparison)]
    numbers = [b for b in dict.fromkeys(bounds) if isinstance(b, pl.Aggregate)]
    if len(numbers) != 1 or any(aggregates(c.value) for c in plan.columns):
        return None
    number, taken = numbers[0], {c.name for c in plan.columns}
    called = plural(number.of[0].name) if number.of else "things"
    name = f"number_of_{called}" if number.function == "count" else f"{number.function}_{called}"
    while name in taken:
        name += "_2"
    columns = (*plan.columns, pl.Column(number, name))
    return replace(draft, plan=replace(plan, columns=columns), shown=(*draft.shown, name))


_ASKING: Final = frozenset("is are was were do does did has have had can could will would".split())
_SKIPPED: Final = frozenset("a an the in at on by from of for to with".split())
_COMPARING: Final = frozenset("more less fewer than not no never neither nor".split())


def alternatives(question: QuestionText, mentions: Sequence[NameMention]) -> list[str]:
    """Return a question for whether one of some named things holds as one for each; none for others.

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low, at = question.low, question.single("or")
    if not at or low[0] not in _ASKING or _COMPARING & {*low} or any(map(is_superlative, low)):
        return []
    start = at + 1
    while start < len(low) and low[start] in _SKIPPED:
        start += 1
    last = _longest(m for m in mentions if m.start == start)
    first = _longest(m for m in mentions if m.end == at)
    if first is None or last is None:
        return []
    repeated = low[at + 1 : start]  # "in Bonn or in Ulm"
    parts = [(at + 1, last.end), (_begin(low, first.start, repeated), at)]
    while "," in question.words[parts[-1][0]].before:
        end = parts[-1][0]
        before = _longest(m for m in mentions if m.end == end)
        if before is None:
            return []
        parts.append((_begin(low, before.start, repeated), end))
    head, tail = question.before(parts[-1][0]), question.behind(last.end - 1)
    return [f"{head}{question.said(begin, end)}{tail}" for begin, end in reversed(parts)]


def _begin(low: Sequence[str], start: int, repeated: Sequence[str]) -> int:
    """Return where a name begins, with the words before it that are said again before the last."""
    begin = start - len(repeated)
    return begin if begin > 0 and low[begin:start] == list(repeated) else start


def _longest(mentions: Iterable[NameMention]) -> NameMention | None:
    return max(mentions, key=lambda m: m.end - m.start, default=None)


def either(drafts: Sequence[Draft]) -> Draft | None:
    """Return the draft for whether one of some drafts holds; None if they do not ask for yes or no."""
    plans = [draft.plan for draft in drafts]
    if any(not p.yes_or_no or p.grouped or p.where.plans or p.where.optional for p in plans):
        return None
    found = Plan(Block(either=(tuple(plan.where for plan in plans),)))
    return whole(found, *drafts, joins=max, guesses=max)


_BETWEEN = AUXILIARIES | frozenset("having that who which with been there be ever yet".split())
"""Words between things and what is denied of them."""
_NOT = compile_late(
    r"(?i)^(?P<verb>(?:do|does|did|is|are|was|were|have|has|had)?)\s*"
    r"(?P<not>not|n['’]t|never|no|without(?: any| an?)?)(?: any)?(?: yet| ever)?$"
)
_SHORT = {"don't": "do", "doesn't": "does", "didn't": "did", "isn't": "is", "aren't": "are", "wasn't": "was",
          "weren't": "were", "haven't": "have", "hasn't": "has"}  # fmt: skip


@dataclass(frozen=True)
class Denial:
    """A question that denies a description.

    Attributes:
        base: What the words before the denial ask for; "" for whomever the description is of.
        affirmed: The question without the denial.
    """

    base: str
    affirmed: str


def denied(question: QuestionText, way: Segmentation, schema: Schema) -> Denial | None:
    """Return a question that denies more than one thing at once, as two that deny nothing; None for others.

    Args:
        question: The question.
        way: How it is cut best.
        schema: The schema.
    """
    nots = [i for i in way.items if i.cue_kind == "not"]
    if len(nots) != 1 or not nots[0].start:
        return None
    at, low = nots[0], question.low
    behind = [i for i in way.items if i.start >= at.end]
    who = low[0] == "who" and set(low[1 : at.start]) <= _BETWEEN
    named = who or any(i.named_kind == "class" for i in way.items if i.end <= at.start)
    if (_simple(behind, schema) and not who) or _goes_on(low, at.end) or not named:
        return None
    relative = {"that", "who", "which"} & {*low[max(0, at.start - 2) : at.start]}
    if relative and AUXILIARIES & {*low[at.end :]}:
        return None  # "boats that have no engine are …" denies only the first
    start = at.start
    while start and low[start - 1] in _BETWEEN:
        start -= 1
    if not who and not any(meaningful(w) for w in question.words[:start]):
        return None
    stated = _stated(question.said(at.start, at.end))
    if stated is None:
        return None
    base = "" if who else question.until(start) + _ending(low)
    return Denial(base, f"{question.before(at.start)}{stated} {question.onward(at.end)}")


def but_not(question: QuestionText, mentions: Sequence[NameMention]) -> Denial | None:
    """Return a question for what is of one name "but not" of another as one for each; None for others.

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low, at = question.low, question.single("but")
    behind = at + 1
    if not at or low[behind : behind + 1] not in (["no"], ["not"]):
        return None
    while behind + 1 < len(low) and low[behind] in ("no", "not", "any", "a", "an", "the"):
        behind += 1
    kinds = ("entity", "value")
    first = [m for m in mentions if m.end == at and m.candidates[0].kind in kinds]
    second = [m for m in mentions if m.start == behind and m.candidates[0].kind in kinds]
    if not first or not second:
        return None
    start = min(m.start for m in first)
    return Denial(f"{question.until(at)}?", question.before(start) + question.onward(behind))


def _stated(said: str) -> str | None:
    """Return what the words of a denial say without it: "have" of "have never", "with" of "without"."""
    if said.lower() in _SHORT:
        return _SHORT[said.lower()]
    match = _NOT.match(said)
    if match is None:
        return None
    return "with" if match["not"].lower().startswith("without") else match["verb"]


def _ending(low: Sequence[str]) -> str:
    """Return what makes a count of things a whole question again."""
    return " are there?" if list(low[:2]) == ["how", "many"] else "?"


def _simple(behind: Sequence[QuestionItem], schema: Schema) -> bool:
    """Return whether only one thing is denied, which is read without composing."""
    told = [
        i for i in behind if i.mention is not None or i.quantity is not None or i.period is not None or i.text
    ]
    names = [i for i in told if i.mention is None or i.mention.candidates[0].kind in ("entity", "value")]
    properties = (
        schema.properties.get(i.mention.candidates[0].term) for i in told[:-1] if i.mention is not None
    )
    return len(told) < 2 or not (names or any(p is not None and p.flag for p in properties))


def _goes_on(low: Sequence[str], end: int) -> bool:
    """Return whether something else is said behind what is denied: "… and are longer than 10"."""
    return any(
        w in ("and", "but", "or") and (low[i + 1] in AUXILIARIES or low[i + 1].endswith("ed"))
        for i, w in enumerate(low[:-1])
        if i >= end
    )


def anybody(affirmed: Draft, schema: Schema) -> str | None:
    """Return the question for all of the class that a description is of; None where that is not known."""
    thing = _focus(affirmed.plan)
    if thing is None:
        return None
    kinds = {str(k) for k in _kinds(affirmed.plan, thing)}
    for p in affirmed.plan.where.patterns if not kinds else ():
        info = schema.properties.get(str(p.predicate))
        if info is not None and thing in (p.subject, p.object):
            ends = info.ranges if p.object == thing else info.domains
            kinds |= {most_of(ends)} - {""}
    known = [schema.classes[k] for k in sorted(kinds) if k in schema.classes]
    return f"Which {plural(known[0].names[0])} are there?" if len(known) == 1 else None


def without(base: Draft, affirmed: Draft) -> Draft | None:
    """Return the plan of what is asked for without the things of which a description holds.

    Args:
        base: What is asked for.
        affirmed: What is asked for, of which the description holds.
    """
    block = _said_beside(base, affirmed, shared=True)
    if block is None:
        return None
    where = base.plan.where
    # What is not one or the other is neither.
    denied_ = block.either[0] if not block.patterns and len(block.either) == 1 else (block,)
    found = replace(base.plan, where=replace(where, without=(*where.without, *denied_)))
    return whole(found, base, affirmed, joins=max)


def beside(base: Draft, other: Draft) -> Draft | None:
    """Return the plan of what is asked for, of which a second description holds as well, in a way of its own.

    Args:
        base: What is asked for.
        other: The same, of which the second description holds.
    """
    block = _said_beside(base, other, shared=False)
    return None if block is None else also_holding(base, block, other, joins=max)


def _said_beside(base: Draft, affirmed: Draft, *, shared: bool) -> Block | None:
    """Return what a draft says of the things that another asks for.

    Args:
        base: The draft that asks for the things.
        affirmed: The draft that says more of them; its unknowns get names of their own.
        shared: Whether a value that both speak of is the same one.
    """
    plan, other = base.plan, affirmed.plan
    thing, same = _focus(plan), _focus(other)
    computed = other.having or other.limit is not None or other.where.plans or other.group_by
    unlike = (
        bool(_kinds(other, same)) and _kinds(plan, thing) != _kinds(other, same) if thing and same else True
    )
    if thing is None or same is None or computed or unlike:
        return None
    taken = names_of(plan)
    fresh = numbered("other", taken | {u.name for u in mentioned(other.where)})
    by = kept_apart(other.where, taken, fresh, {same: thing})
    said = {(p.subject, p.predicate): p.object for p in plan.where.patterns}
    for p in other.where.patterns if shared else ():
        if p.subject == same and isinstance(known := said.get((thing, p.predicate)), Unknown):
            by[p.object] = known
    block = substituted(other.where, by)
    # What is said of the things before holds of all of them.
    block = replace(
        block,
        patterns=tuple(
            p for p in block.patterns
            if p not in plan.where.patterns and (p.subject, p.predicate) != (thing, RDF.type)
        ),
        conditions=tuple(c for c in block.conditions if c not in plan.where.conditions),
        either=tuple(e for e in block.either if e not in plan.where.either),
    )  # fmt: skip
    return block if block.patterns or (shared and block.either) else None


def _focus(plan: Plan) -> Unknown | None:
    """Return the things that a plan shows or counts, if it shows or counts nothing else."""
    value = plan.columns[0].value if len(plan.columns) == 1 else None
    if isinstance(value, Aggregate):
        plain = value.function == "count" and value.value is None and len(value.of) == 1 and value.where.empty
        return value.of[0] if plain else None
    return value if isinstance(value, Unknown) and plan.limit is None else None


def _kinds(plan: Plan, thing: Unknown) -> set[Place]:
    return {p.object for p in all_patterns(plan.where) if (p.subject, p.predicate) == (thing, RDF.type)}


_ON_AVERAGE = compile_late(
    r"(?i)^\W*(?P<first>on average,? )?(?P<how>how many .+?) (?:(?P<does>do|does|did|have|has) (?:an? |the "
    r"|each )?"
    r"(?P<x>(?!not\b).+?)|(?P<in>(?:\w+ )?(?:in|at|for|on|per|from|by)) (?:an?|each|every|one) (?P<y>.+?))"
    r"(?P<last>,? on average)?\W*$"
)


def folded(draft: Draft, fold: Fold) -> Draft | None:
    """Return the plan that folds the numbers of groups: "the average number of rivers per state".

    Args:
        draft: The plan of the numbers, one for each group.
        fold: What is made of them.
    """
    numbers = [c for c in draft.plan.columns if c.name in draft.shown and aggregates(c.value)]
    groups = [c for c in draft.plan.columns if c.name in draft.shown and not aggregates(c.value)]
    if len(numbers) != 1 or not groups:
        return None
    single = without_ties(draft.plan if draft.plan.limit is not None else replace(draft.plan, order=()))
    number = numbers[0].name
    name = f"{fold}_{number}"
    value = Aggregate(fold, Number(Unknown(number)), tuple(Unknown(g.name) for g in groups))
    found = Plan(Block(plans=(single,)), (Column(value, name),))
    return replace(draft, plan=found, shown=(name,))


def without_fold(question: QuestionText) -> tuple[Fold, str, bool] | None:
    """Return what a question makes of numbers, the question for those, and whether they are sums.

    Example:
        >>> from mrag.planning.reading.question import cut
        >>> without_fold(cut("What is the average number of rivers per state?"))
        ('average', 'What is the number of rivers per state?', False)
    """
    if (each := _of_each(question.text)) is not None:
        return "average", each, True
    found = list(cues(question.low))
    for cue in found:
        computed = [c for c in found if c.start == cue.end and (c.kind == "count" or c.value == "sum")]
        if cue.kind == "fold" and cue.value in ("average", "maximum", "minimum") and computed:
            if any(
                c.kind == "count" and c.end <= cue.start and "and" in question.low[c.end : cue.start]
                for c in found
            ):
                return None  # "the number of boats and the average number of seats" are two numbers
            words = question.words
            start, end = words[cue.start].token.start, words[cue.end].token.start
            text = question.text[:start] + question.text[end:]
            return cast(Fold, cue.value), text, computed[0].value == "sum"
    return None


def _of_each(text: str) -> str | None:
    """Return the question for the number of each, where its average is asked for by "on average"."""
    match = _ON_AVERAGE.match(text)
    asked = (match["first"] or match["last"]) if match is not None else None
    if match is None or asked is None:
        return None
    joint, rest = (match["does"], match["x"]) if match["does"] else (match["in"], match["y"])
    return f"{match['how']} {joint} each {rest.strip(' ?.!')}?"


Costed = list[tuple[Draft, float]]


def either_fold(question: QuestionText, flat: Costed, whole: Costed, *, only: bool) -> Costed | None:
    """Return the drafts of a question that folds the numbers of groups; None if it may as well fold none.

    Args:
        question: The question.
        flat: Its drafts as it stands, with what each costs.
        whole: The drafts that fold numbers of groups.
        only: Whether no other reading will do.
    """
    if only:
        return whole
    counted = [cue for cue in cues(question.low) if cue.kind == "count"]
    if len(counted) == 1 and any(not draft.ignored and _counts_things(draft) for draft, _ in whole):
        # The average number of things is one of counts, though a number may be called like them.
        return [(guessed(draft, 2), cost) for draft, cost in flat] + whole
    return flat + whole if all(draft.ignored for draft, _ in flat) else None


def _counts_things(draft: Draft) -> bool:
    inner = draft.plan.where.plans
    folds = (c.value for p in inner for c in p.columns if isinstance(c.value, Aggregate))
    return any(fold.function == "count" and fold.value is None for fold in folds)


_FIRST = compile_late(
    r"(?i)^\W*(?:for|in|at|of|from|per) (?:each|every) (?P<group>[^,]+?),? "
    r"(?P<inner>(?:what|which|who|when|show|list|find|give|return|name|display|tell|the)\b.+?)\W*$"
)
_LAST = compile_late(
    r"(?i)^(?P<inner>.+?) (?:in|of|for|from|at|per|within|on) (?:each|every)(?: of the)? "
    r"(?P<group>[^,]+?)\W*$"
)
_MOST = frozenset("most least fewest highest lowest greatest largest smallest best worst".split())


def per_group(text: str) -> tuple[str, str] | None:
    """Return the question for the extreme one, and the groups each of which has its own; None for others.

    Example:
        >>> per_group("For each town, what is the name of the shop with the highest rent?")
        ('What is the name of the shop with the highest rent?', 'town')
        >>> per_group("Who is the oldest player of each club?")
        ('Who is the oldest player?', 'club')
        >>> per_group("How many players are there in each club?")
    """
    match = _FIRST.match(text) or _LAST.match(text)
    if match is None or re.match(r"(?i)\W*how\b", match["inner"]):
        return None
    low = match["inner"].lower().split()
    ends = ("first", "last") if _FIRST.match(text) else ()
    extreme = [
        n for n, w in enumerate(low)
        if w in _MOST or is_superlative(w) or (w in ends and low[n + 1 : n + 2] not in (["name"], ["names"]))
    ]  # fmt: skip
    told = " ".join(low[: extreme[0]]) if extreme else ""
    if re.search(r"\b(?:number of|how many|average|total)\b.*(?:,| and)(?: the)?$", told):
        return None  # "the number of players and the highest fee" are two numbers of each
    if not extreme or "number of" in match["group"]:
        return None
    inner = re.sub(r"(?i)\b(?:its|their|his|her) (?=\w)", "the ", match["inner"].strip(" ,"))
    if low[0] == "the":
        inner = f"Show {inner}"
    return inner[0].upper() + inner[1:] + "?", match["group"].strip()


def foremost(inner: str, group: str, best: Read, schema: Schema) -> list[Draft]:
    """Return the plans of what is extreme in each of some groups.

    Args:
        inner: The question for what is extreme.
        group: The words for the groups.
        best: Reads a question; best drafts first.
        schema: The schema.
    """
    found = list[Draft]()
    for draft in fully_read(best(inner), 3):
        for thing, cls in _things(draft, schema)[:2]:
            called = schema.classes[cls].names[0]
            splits = fully_read(best(f"number of {called} for each {group}"), 2)
            extremes = (_of_groups(draft, split, thing) for split in splits if _counts(split, cls))
            if (extreme := next((e for e in extremes if e is not None), None)) is not None:
                found.append(extreme)
                break
    return found


def _things(draft: Draft, schema: Schema) -> list[tuple[pl.Unknown, str]]:
    """Return what a plan finds the extreme of, whatever has it for a name, or counts, with the classes."""
    plan = draft.plan
    if (fold := _lone_fold(draft)) is not None:
        said = [str(p.predicate) for p in all_patterns(plan.where) if p.subject in fold.of]
        owners = (i for iri in said if (i := schema.properties.get(iri)) is not None)
        return [(fold.of[0], cls) for i in owners for cls in i.domains if len(i.domains) == 1][:1]
    if plan.limit != 1 or plan.offset or len(plan.order) != 1 or plan.having or not draft.shown:
        return []
    patterns = list(all_patterns(plan.where))
    kinds = {p.subject: str(p.object) for p in patterns if p.predicate == RDF.type}
    for p in patterns:
        info = schema.properties.get(str(p.predicate))
        if info is not None and len(info.domains) == 1:
            kinds.setdefault(p.subject, next(iter(info.domains)))
        if info is not None and len(info.ranges) == 1 and isinstance(p.object, pl.Unknown):
            kinds.setdefault(p.object, next(iter(info.ranges)))
    shown = draft.values
    values = [v for s in shown for v in pl.parts(s)]
    named = [p.subject for p in plan.where.patterns if p.object in values]
    counted = [u for c in plan.columns if isinstance(c.value, pl.Aggregate) for u in c.value.of]
    # What is counted is in the group: the orders of a city, not all orders of those who once ordered there.
    found = [u for u in (*counted, *shown, *named) if isinstance(u, pl.Unknown)]
    return [(u, kinds[u]) for u in dict.fromkeys(found) if kinds.get(u) in schema.classes]


def _counts(split: Draft, cls: str) -> bool:
    """Return whether a plan counts things of a class."""
    counted = {u for c in split.plan.columns if isinstance(c.value, pl.Aggregate) for u in c.value.of}
    typed = (p for p in all_patterns(split.plan.where) if p.predicate == RDF.type and p.subject in counted)
    return all(str(p.object) == cls for p in typed)


def _of_groups(draft: Draft, split: Draft, thing: pl.Unknown) -> Draft | None:
    plan, groups = draft.plan, split.plan.where
    if (folded := folded_by(split)) is None or folded[1].value is not None:
        return None
    key, count = folded
    taken = names_of(plan)
    by: dict[pl.Place, pl.Place] = {
        u: thing if u == count.of[0] else pl.Unknown(f"its_{u.name}" if u.name in taken else u.name)
        for u in mentioned(groups)
    }
    group = by[key]
    if not isinstance(group, pl.Unknown) or group == thing:
        return None
    where = merged(plan.where, substituted(groups, by))
    if (fold := _lone_fold(draft)) is not None:
        return _extreme_values(draft, split, where, pl.Column(group, group.name), fold)
    ordering = plan.order[0]
    number = next(c for c in plan.columns if c.name == ordering.column)
    if draft.shown == (number.name,) and not isinstance(number.value, pl.Aggregate):
        way: pl.Fold = "maximum" if ordering.descending else "minimum"
        value = pl.Aggregate(way, number.value, (thing,))
        return _extreme_values(draft, split, where, pl.Column(group, group.name), value)
    columns = (pl.Column(group, group.name), *plan.columns)
    told = pl.Plan(where, columns, plan.group_by)
    of = tuple(pl.Unknown(c.name) for c in columns if c is not number)
    greatest = pl.Aggregate(
        "maximum" if ordering.descending else "minimum", _plain(number, pl.Unknown(number.name)), of
    )
    top = f"best_{number.name}"
    extreme = pl.Plan(pl.Block(plans=(told,)), (columns[0], pl.Column(greatest, top)))
    equal = pl.Comparison(_plain(number, pl.Unknown(number.name)), "=", _plain(number, pl.Unknown(top)))
    asked = tuple(pl.Column(pl.Unknown(n), n) for n in dict.fromkeys((group.name, *draft.shown)))
    rest = tuple(
        pl.Column(pl.Unknown(c.name), c.name) for c in plan.columns if c.name not in {a.name for a in asked}
    )
    found = pl.Plan(pl.Block(plans=(told, extreme), conditions=(equal,)), (*asked, *rest))
    return whole(found, draft, split, shown=[a.name for a in asked])


def _lone_fold(draft: Draft) -> pl.Aggregate | None:
    """Return the least or the greatest of values that is all that a plan shows."""
    plan = draft.plan
    if len(plan.columns) != 1 or plan.having or plan.limit is not None or plan.group_by:
        return None
    value = plan.columns[0].value
    lone = isinstance(value, pl.Aggregate) and value.function in ("minimum", "maximum") and len(value.of) == 1
    return value if isinstance(value, pl.Aggregate) and lone and value.where.empty else None


def _extreme_values(
    draft: Draft, split: Draft, where: pl.Block, key: pl.Column, value: pl.Aggregate
) -> Draft | None:
    """Return the plan of the least or the greatest value of each group: "the lowest price per category"."""
    name = f"{value.function}_{draft.plan.columns[0].name}"
    found = pl.Plan(where, (key, pl.Column(value, name)))
    return whole(found, draft, split, shown=(key.name, name))


def _plain(number: pl.Column, name: pl.Unknown) -> pl.Expression:
    """Return a value as a number, unless it is a date."""
    return name if isinstance(number.value, pl.Unknown) else pl.Number(name)


_RELATIVE = frozenset("that which who whose with having where".split())
_ARTICLES = frozenset("the a an any all".split())
_PLACING = frozenset("in of on at from within inside".split())
_NAMES_TOO = compile_late(
    r"\bnames? ?(?:,|and|as well as|together with|along with)\b(?:(?!\bof\b).)*\bof (?:all |the |all the )?"
    r"|\b(?:and|with) (?:the |their |its )?names? of (?:all |the |all the )?",
    re.IGNORECASE,
)
_TRIED = 6
"""Spans of a question that are read as questions of their own."""


@dataclass(frozen=True)
class Inner:
    """Words of a question that describe a thing.

    Attributes:
        start: Index of the first.
        end: Index behind the last.
        superlative: Whether they say which of several things by a superlative.
    """

    start: int
    end: int
    superlative: bool


def descriptions(question: QuestionText, mentions: Sequence[NameMention]) -> list[Inner]:
    """Return the words of a question that may describe a thing that the rest of it speaks of, the last first.

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low, found = question.low, list(cues(question.low))
    classes = sorted({m.start: m for m in mentions if _is_class(m)}.values(), key=lambda m: m.start)
    best = [c for c in found if _is_superlative(c, low)]
    best += [Cue(i, i + 1, "top") for i, w in enumerate(low) if is_superlative(w)]
    starts: dict[int, tuple[bool, set[int]]] = {}
    first = min((i for i, w in enumerate(question.words) if i and "." in w.before), default=len(low))
    said = question.words[-1].quote >= 0 or any(m.end > len(low) - 1 for m in mentions)
    last = len(low) if said else len(low) - 1
    for cue in best:
        qualified = cue.end + 1 if _qualifies("".join(low[cue.end : cue.end + 1])) else cue.end
        ends = {m.end for m in classes if m.start in (cue.end, qualified)}
        if ends and _superlative_behind(low, min(ends)):
            ends = {len(low)}  # "the largest city in the smallest state"
        if ends:
            starts[_before(low, cue.start)] = True, {len(low), last, first, *ends}
    for mention in classes:
        judged = any(0 <= mention.start - c.end <= 1 for c in best)
        arranged = any(c.start == mention.end and c.kind in ("order", "group", "direction") for c in found)
        if judged or arranged or mention.end >= len(low):
            continue
        if _nested_goes_on(low[mention.end : mention.end + 2]):
            superlative = any(c.start >= mention.end for c in best)
            starts[_before(low, mention.start)] = superlative, {len(low), last, first}
    breaks = [i for i, w in enumerate(question.words) if i and set(w.before) & set(".?!;")]
    named = [m.start for m in mentions if m.candidates[0].kind in ("class", "property")]
    spans = [
        Inner(start, end, superlative)
        for start, (superlative, ends) in sorted(starts.items(), reverse=True)
        for end in sorted(ends, reverse=True)
        if any(at < start for at in named) and end > start + 1 and not any(start < b < end for b in breaks)
    ]
    return spans[:_TRIED]


def _qualifies(word: str) -> bool:
    """Return whether a word behind "most" belongs to it: "the most cited", "the most expensive"."""
    return word.endswith("ed") or word in PARTICIPLES or word in COMMON or positive(word) == word


def _superlative_behind(low: Sequence[str], end: int) -> bool:
    """Return whether a place is told by another superlative right behind a noun."""
    behind = low[end : end + 4]
    if not behind or behind[0] not in _PLACING:
        return False
    return any(is_superlative(w) or w in ("highest", "lowest", "most", "fewest") for w in behind[1:])


def _is_class(mention: NameMention) -> bool:
    return mention.candidates[0].kind == "class" and mention.candidates[0].score > 0.8


def _is_superlative(cue: Cue, low: Sequence[str]) -> bool:
    return cue.kind in ("most", "top") and low[cue.end - 1] not in ("maximum", "minimum", "max", "min")


def _before(low: Sequence[str], start: int) -> int:
    while start and low[start - 1] in _ARTICLES:
        start -= 1
    return start


def _nested_goes_on(behind: Sequence[str]) -> bool:
    """Return whether the words behind a noun begin to say which things are meant."""
    participle = behind[0].endswith(("ed", "en")) or behind[0] in PARTICIPLES
    return behind[0] in _RELATIVE or behind[0].endswith("ing") or (participle and behind[1:] == ["by"])


def outer_text(question: QuestionText, inner: Inner, word: str) -> str:
    """Return a question with a word in the place of a description."""
    start, end = _span(question, inner)
    return f"{question.text[:start]}{word}{question.text[end:]}"


def inner_text(question: QuestionText, inner: Inner) -> str:
    """Return the words of a description."""
    start, end = _span(question, inner)
    return question.text[start:end]


def _span(question: QuestionText, inner: Inner) -> tuple[int, int]:
    """Return where a description begins and ends, with the marks of a quotation at its end."""
    first, last = question.words[inner.start], question.words[inner.end - 1]
    behind = question.words[inner.end : inner.end + 1]
    closes = last.quote >= 0 and not (behind and behind[0].quote == last.quote)
    return first.token.start, last.token.end + closes


def identity(question: QuestionText, mentions: Sequence[NameMention]) -> tuple[Candidate, str] | None:
    """Return the named thing and the description of which a question asks whether they are the same.

    In "Is Texas the largest state?" these are Texas and "the largest state".

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low = question.low
    if low[0] not in BEING:
        return None
    first = next((i for i, w in enumerate(low) if i and w not in _ARTICLES), len(low))
    found = [m for m in mentions if 1 <= m.start <= first < m.end]
    named = max(found, key=lambda m: m.end, default=None)
    if named is None or named.candidates[0].kind != "entity":
        return None
    if not any(is_superlative(w) or w in ("most", "least", "fewest") for w in low[named.end :]):
        return None
    behind = low[named.end : named.end + 3]
    start = named.end + 2 if tuple(behind[:2]) in (("one", "of"), ("among", "the")) else named.end
    if not any(m.start >= start for m in mentions):
        return None
    return named.candidates[0], inner_text(question, Inner(start, len(low), True))


def identical(thing: Candidate, inner: Draft) -> Draft | None:
    """Return the plan of whether a thing is among those that a description finds.

    Args:
        thing: The thing.
        inner: The plan of the description.
    """
    single = without_ties(inner.plan)
    name = inner.shown[0]
    if len(inner.shown) > 1 + (inner.plan.limit != 1):
        return None
    same = Comparison(Unknown(name), "=", URIRef(thing.term))
    found = Plan(Block(plans=(single,), conditions=(same,)))
    return whole(found, inner, shown=(), matches=(thing.score,))


def described(draft: Draft, schema: Schema) -> str | None:
    """Return the class of the things that a plan finds, if that is all that it shows."""
    value = draft.lone_value
    if not isinstance(value, Unknown):
        return None
    patterns = list(all_patterns(draft.plan.where))
    typed = [str(p.object) for p in patterns if p.subject == value and str(p.object) in schema.classes]
    return typed[0] if typed else None


def asks_names(text: str, thing: str, outer: Draft, schema: Schema) -> bool:
    """Return whether a question asks for the names of things, and a plan of it does not tell them.

    Args:
        text: The question.
        thing: The word that stands for the things.
        outer: The plan.
        schema: The schema.
    """
    found = _NAMES_TOO.search(text)
    if found is None or not text[found.end() :].startswith(thing):
        return False
    values = set(outer.values)
    values |= {v.value for v in values if isinstance(v, Number)}
    told = (schema.properties.get(str(p.predicate)) for p in outer.plan.where.patterns if p.object in values)
    return not any("name" in n.lower().split() for info in told if info is not None for n in info.names)


def joined(outer: Draft, inner: Draft, thing: URIRef, named: bool = False) -> Draft | None:
    """Return the plan of a question with what was described in the place of a name.

    Args:
        outer: The plan of the question, in which the name stands.
        inner: The plan of the description.
        thing: The name.
        named: Whether the names of what was described are asked for, too.
    """
    plan = outer.plan
    taken = {u.name for u in _unknowns(plan)} | {c.name for c in plan.columns}
    own = {u.name for u in _unknowns(inner.plan)} | {c.name for c in inner.plan.columns}
    fresh, value = numbered("described", taken | own), inner.lone_value
    assert isinstance(value, Unknown)
    name = value.name if value.name not in taken else next(fresh)
    found = _nested_of_each(with_unknowns(plan, {thing: Unknown(name)}), Unknown(name))
    single = without_ties(inner.plan)
    if single.limit is None and not single.grouped and not single.where.plans:
        by = kept_apart(single.where, taken, fresh, {value: Unknown(name)})
        found = replace(found, where=_within(found.where, substituted(single.where, by), Unknown(name)))
    else:
        names = {c.name: name if c.name == inner.shown[0] else next(fresh) for c in single.columns}
        found = replace(found, where=merged(found.where, Block(plans=(renamed(single, names),))))
    if str(thing) in repr(found):
        return None  # it is compared with a value of its own, which no unknown can stand for
    shown = outer.shown
    if named and shown and name not in shown and not found.grouped:
        shown = (name, *shown)
        found = replace(found, columns=(Column(Unknown(name), name), *found.columns))
    return whole(found, outer, inner, shown=shown)


def _within(outer: Block, inner: Block, thing: Unknown) -> Block:
    """Return a block with what describes a thing, in what must not hold if the thing is only there."""
    if thing in reached(outer) or not any(thing in mentioned(block) for block in outer.without):
        return merged(outer, inner)
    without = tuple(merged(b, inner) if thing in mentioned(b) else b for b in outer.without)
    return replace(outer, without=without)


def _nested_of_each(plan: Plan, thing: Unknown) -> Plan:
    """Return a plan whose folds of a value of a thing fold the value of each such thing."""
    owned = {p.object for p in plan.where.patterns if p.subject == thing}

    def each(value: Expression) -> Expression:
        match value:
            case Aggregate(_, inner, of) if inner is not None and owned & {*parts(inner)} and thing not in of:
                return replace(value, of=(*of, thing))
            case Arithmetic(left, operation, right):
                return Arithmetic(each(left), operation, each(right))
            case _:
                return value

    return replace(plan, columns=tuple(Column(each(c.value), c.name) for c in plan.columns))


def _unknowns(plan: Plan) -> set[Unknown]:
    found = {u for p in all_patterns(plan.where) for u in p.places if isinstance(u, Unknown)}
    for column in plan.columns:
        if isinstance(column.value, Aggregate):
            found |= reached(column.value.where)
    return found | {Unknown(c.name) for p in plan.where.plans for c in p.columns}


def flaw(plan: Plan) -> str:
    """Return why a plan can be meant by nobody; "" if it can."""
    if falls_apart(plan.where):
        return "not connected"
    if any(_holds(block, plan.where) for block in plan.where.without):
        return "denied of itself"
    if _is_two(plan.where):
        return "one value is two"
    shown = {c.value for c in plan.columns}
    folds = [*shown, *(getattr(condition, "left", None) for condition in plan.having)]
    counts = [f for f in folds if isinstance(f, Aggregate) and f.function == "count" and f.of]
    if any(shown.issuperset(count.of) for count in counts):
        return "each thing is one"
    if any(isinstance(n, Arithmetic) and n.left == n.right for n in shown):
        return "a number beside itself"
    try:
        check(plan)
    except ConfigError as error:
        return error.message
    return ""


def _is_two(where: Block) -> bool:
    """Return whether a block wants one value to be two."""
    equal = dict[object, object]()
    for condition in where.conditions:
        if isinstance(condition, Comparison) and condition.relation == "=":
            told: object = condition.right if isinstance(condition.right, Literal) else None
            value: object = condition.left
        elif isinstance(condition, Contains) and condition.position == "whole":
            told, value = condition.text.casefold(), condition.value
        else:
            continue
        if told is not None and equal.setdefault(value, told) != told:
            return True
    return False


def _holds(block: Block, where: Block) -> bool:
    """Return whether a block denies what is said, of whatever its own unknowns may be: nothing can be so."""
    if block.conditions or block.without or block.either or block.plans or not block.patterns:
        return False
    known = mentioned(replace(where, without=()))
    told = [p for p in block.patterns if p.predicate != RDF.type or p.subject in known]
    return bool(told) and _among(told, where.patterns, {}, known)


def _among(
    told: Sequence[Pattern],
    said: Sequence[Pattern],
    meant: Mapping[object, object],
    known: Collection[Unknown],
) -> bool:
    """Return whether triples are among others, where unknowns that are not known may be any."""
    if not told:
        return True
    first, *rest = told
    for other in said:
        pairs = ((first.subject, other.subject), (first.object, other.object))
        fits = first.predicate == other.predicate and all(
            meant.get(one, two) == two if isinstance(one, Unknown) and one not in known else one == two
            for one, two in pairs
        )
        own: dict[object, object] = {
            one: two for one, two in pairs if isinstance(one, Unknown) and one not in known
        }
        if fits and _among(rest, said, {**meant, **own}, known):
            return True
    return False


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
    return any(kind not in used for kind in kinds) or _adrift(kinds, where, columns)


def _adrift(kinds: Sequence[Unknown], where: Block, columns: Sequence[Column]) -> bool:
    """Return whether one of some things has to do with what is shown only as both have to do with a name.

    Who majors in a subject and any course of that subject are not related by that.
    """
    shown = {
        u for c in columns for u in (*parts(c.value), *getattr(c.value, "of", ())) if isinstance(u, Unknown)
    }
    linked = [{p.subject, p.object} for p in where.patterns if p.predicate != RDF.type]
    linked += [set(mentioned(Block(conditions=(c,)))) for c in where.conditions]
    linked += [set().union(*(mentioned(b) for b in some)) for some in where.either]
    reached, before = set(shown), -1
    while before != len(reached):
        before = len(reached)
        for some in linked:
            unknown = {u for u in some if isinstance(u, Unknown)}
            reached |= unknown if unknown & reached else set()
    return bool(shown) and not {*kinds} <= reached


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
    return len(groups_) > 1 and any(_shapes_plain(g, where) for g in loose_)


def _is_kind(pattern: Pattern, term: object) -> bool:
    return pattern.predicate == RDF.type and term == pattern.object


def _shapes_plain(group: Collection[object], where: Block) -> bool:
    """Return whether only triples speak of unknowns."""
    others = Block((), where.conditions, (), where.either, (), where.plans)
    return not {*mentioned(others)} & {*group} and not any(
        c.name in {getattr(t, "name", "") for t in group} for plan in where.plans for c in plan.columns
    )


_EXTREMES = compile_late(
    r"(?i)^\W*(?:what (?:is|was|are) |calculate |compute |show |give )?(?:me )?(?:the )?"
    r"(?:difference|gap|spread|distance) (?:in (?P<noun>\w+(?: \w+)?) )?between (?:the )?(?P<high>[\w-]+)"
    r"(?: (?P<first>[\w -]+?))? and (?:the )?(?P<low>[\w-]+) (?P<what>.+?)\W*$"
)
_YEARS = compile_late(
    r"(?i)^\W*(?:how many|what is the number of) (?P<unit>years|days|weeks|months) "
    r"(?:(?:lie|lay|lies|are|were|passed|elapsed|pass|is|was) )?"
    r"(?:there )?between (?:the )?(?P<what>[\w-]+(?: [\w-]+)?) of (?P<x>.+?) and "
    r"(?:(?:that|those|the [\w-]+(?: [\w-]+)?) of )?(?P<y>.+?)\W*$"
)
_AFTER = compile_late(
    r"(?i)^\W*how many (?P<unit>years|days) (?:after|before) (?P<x>.+?) (?:was|were|did|is) (?P<y>.+?) "
    r"(?P<what>[\w-]+)\W*$"
)
_FIRST_AND_LAST = compile_late(
    r"(?i)^\W*(?:how many|what is the number of) (?P<unit>years|days|weeks|months) "
    r"(?:(?:lie|lay|lies|are|were|passed|elapsed|pass|is|was|went by) )?(?:there )?between (?:the )?"
    r"(?P<a>first|last|earliest|latest|oldest|newest)(?: (?P<x>.+?))? and (?:the )?"
    r"(?P<b>first|last|earliest|latest|oldest|newest) (?P<what>.+?)\W*$"
)
_TIMES = compile_late(
    r"(?i)^\W*what (?:is|was) the (?:time|gap|interval|difference) in (?P<unit>years|days|weeks|months) "
    r"between (?:the )?(?P<what>[\w-]+(?: [\w-]+)?) of (?P<x>.+?) and "
    r"(?:(?:that|those|the [\w-]+(?: [\w-]+)?) of )?(?P<y>.+?)\W*$"
)
_HIGH = frozenset("highest greatest largest biggest maximum max most".split())
_LOW = frozenset("lowest least smallest minimum min fewest".split())


_DAYS = {"day": 1, "week": 7, "month": Decimal("30.4375")}
"""How many days a unit has that is no part of a date."""


@dataclass(frozen=True)
class ValueSpread:
    """How far values lie apart.

    Attributes:
        inner: The question for the values.
        unit: `year`, `month`, `week` or `day`, which dates are counted in; "" for numbers.
    """

    inner: str
    unit: str = ""


def spread(text: str) -> ValueSpread | None:
    """Return what a question asks the greatest difference of; None for other questions.

    Example:
        >>> spread("What is the difference between the highest and the lowest price of a boat?").inner
        'What is the average price of a boat?'
        >>> spread("What is the difference between the longest and the shortest river?").inner
        'What is the average length of river?'
        >>> spread("How many years lie between the founding of Acme and Bolt?").inner
        'What is the founding of Acme and Bolt?'
        >>> spread("What is the difference in price between Acme and Bolt?")
    """
    if (match := _YEARS.match(text) or _AFTER.match(text)) is not None:
        return ValueSpread(
            f"What is the {match['what']} of {match['x']} and {match['y']}?", match["unit"][:-1].lower()
        )
    if (match := _FIRST_AND_LAST.match(text)) is not None and match["a"].lower() != match["b"].lower():
        return ValueSpread(f"When were the {match['what']}?", match["unit"][:-1].lower())
    match = _EXTREMES.match(text)
    if match is None:
        return None
    high, low, what = match["high"].lower(), match["low"].lower(), match["what"]
    if {high, low} & _HIGH and {high, low} & _LOW:
        return ValueSpread(f"What is the average {what}?")
    plain, other = positive(high), positive(low)
    opposite = (
        plain and other and plain != high and other != low and DIMENSIONS[plain][0] != DIMENSIONS[other][0]
    )
    if not (plain and opposite):
        return None
    return ValueSpread(f"What is the average {match['noun'] or DIMENSIONS[plain][1].split()[0]} of {what}?")


_SPREADS_LAST = compile_late(
    r"(?i)^\W*when (?P<verb>was|were|did|has|have|is|are) (?P<x>.+?) (?P<end>first|last) (?P<deed>[\w-]+)\W*$"
)


def end_of_time(text: str) -> tuple[str, pl.Fold] | None:
    """Return the question for all times of a deed, and which of them is asked for; None for other questions.

    Example:
        >>> end_of_time("When was the blue van last serviced?")
        ('When was the blue van serviced?', 'maximum')
    """
    match = _SPREADS_LAST.match(text)
    if match is None:
        return None
    fold: pl.Fold = "minimum" if match["end"].lower() == "first" else "maximum"
    return f"When {match['verb']} {match['x']} {match['deed']}?", fold


def end_of(times: Draft, fold: pl.Fold) -> Draft | None:
    """Return the plan of the first or the last of some times."""
    plan = times.plan
    value = plan.columns[0].value if len(plan.columns) == 1 else None
    if plan.limit is not None or plan.grouped or not isinstance(value, pl.Unknown):
        return None
    column = replace(plan.columns[0], value=pl.Aggregate(fold, value, _owners(value, plan)))
    return whole(replace(plan, columns=(column,)), times)


def as_difference(text: str) -> str | None:
    """Return the question for a difference of two times of things; None for other questions.

    Example:
        >>> as_difference("How many days lie between the arrival dates of Ada and Ben?")
        'What is the difference between the arrival dates of Ada and Ben?'
    """
    match = _YEARS.match(text) or _TIMES.match(text)
    if match is None:
        return None
    what, x, y, unit = match["what"], match["x"], match["y"], match["unit"]
    # Days are what is counted where nothing else is said; a property may be called so.
    told = "" if unit.lower() == "days" else f" in {unit}"
    return f"What is the difference{told} between the {what} of {x} and {y}?"


def apart_by(found: ValueSpread, values: Draft, schema: Schema) -> Draft | None:
    """Return the plan of how far some values lie apart.

    Args:
        found: What is asked for.
        values: The plan that finds the values, or folds them.
        schema: The schema.
    """
    plan = values.plan
    if plan.limit is not None or plan.having or plan.group_by or not values.shown:
        return None
    value = values.values[-1]
    if isinstance(value, pl.Aggregate):
        value_, of = value.value, value.of
        if len(values.shown) > 1 or not value.where.empty or value.function != "average":
            return None
    else:
        value_, of = value, _owners(value, plan)
    if value_ is None or isinstance(value_, pl.Aggregate) or not of:
        return None
    counted = _counted(value_, plan, schema, found.unit)
    if counted is None:
        return None
    high, low = (pl.Aggregate(f, counted, of) for f in ("maximum", "minimum"))
    difference: pl.Expression = pl.Arithmetic(high, "-", low)
    if found.unit in _DAYS:
        days = pl.Days(low, high)
        difference = days if found.unit == "day" else pl.Arithmetic(days, "/", Literal(_DAYS[found.unit]))
    column = pl.Column(difference, "difference")
    return whole(pl.Plan(plan.where, (column,)), values, shown=(column.name,))


def _owners(value: pl.Expression, plan: pl.Plan) -> tuple[pl.Unknown, ...]:
    """Return the things that have a value."""
    within = [*pl.parts(value)]
    owners = (p.subject for p in plan.where.patterns if p.object in within)
    return tuple(owner for owner in owners if isinstance(owner, pl.Unknown))


def counts_days(draft: Draft) -> bool:
    """Return whether a plan tells how far dates lie apart."""
    values = [c.value for c in draft.plan.columns]
    return any(isinstance(e, pl.Days) for v in values for e in (v, getattr(v, "left", None)))


def days_apart(one: Draft, other: Draft, unit: str) -> Draft:
    """Return the plan of how far two dates lie apart, whichever is the earlier.

    Args:
        one: The plan that finds the one.
        other: The plan that finds the other.
        unit: What is counted; "" for days.

    Raises:
        Unbuildable: If more is asked for.
    """
    blocks = one.plan.where, other.plan.where
    plain = all(b == pl.Block(b.patterns, b.conditions) for b in blocks)
    value, same = one.lone_value, other.lone_value
    if not plain or blocks[0] == blocks[1]:
        raise Unbuildable("a difference of dates")
    if not isinstance(value, pl.Unknown) or not isinstance(same, pl.Unknown):
        raise Unbuildable("a difference of dates")
    both = pl.Block(either=((blocks[0], substituted(blocks[1], {same: value})),))
    low, high = (pl.Aggregate(f, value, (value,)) for f in ("minimum", "maximum"))
    days: pl.Expression = pl.Days(low, high)
    if (size := _DAYS.get(unit or "day", Decimal("365.25"))) != 1:
        days = pl.Arithmetic(days, "/", Literal(size))
    return replace(
        one,
        plan=pl.Plan(both, (pl.Column(days, "difference"),)),
        shown=("difference",),
        matches=(*one.matches, *other.matches),
        joins=one.joins + other.joins,
        guesses=one.guesses + other.guesses,
        ignored=tuple(w for w in one.ignored if w in other.ignored and not (unit and unit_of([w]))),
        choices={},
    )


def _counted(value: pl.Expression, plan: pl.Plan, schema: Schema, unit: str) -> pl.Expression | None:
    """Return what is subtracted: a date as its year, a number as it is; None where neither fits."""
    plain = next((e for e in pl.parts(value) if isinstance(e, pl.Unknown)), None)
    info = next(
        (
            i
            for p in plan.where.patterns
            if p.object == plain and (i := schema.properties.get(str(p.predicate)))
        ),
        None,
    )
    if info is None or info.kind not in ("number", "date"):
        return None
    if info.kind == "number":
        # The least and the greatest of numbers are those of numbers, not of their texts.
        return None if unit in _DAYS else value if isinstance(value, pl.Number) else pl.Number(value)
    if unit in _DAYS:
        return value
    return pl.DatePart("year", value) if unit == "year" else None


_TOGETHER_ASKING: Final = (
    r"(?:(?:in|on|at|from|to|by|with|for|of) )?(?:what|when|where|who|whom|whose|which|how)(?:['’]s)?\b"
)
_NEXT: Final = compile_late(rf"(?i)(?:,? (?:and|&)(?: also)?,? |, |; )(?={_TOGETHER_ASKING})")
_PEOPLE: Final = r"he or she|she or he|he/she|she/he|his or her|his/her|him or her|he|she|him|his|her"
_THINGS: Final = r"its|it|they|their|them"
_PRONOUN: Final = compile_late(rf"(?i)\b(?:(?P<person>{_PEOPLE})|(?P<thing>{_THINGS}))(?=\W|$)(?!-)")
_OWNING: Final = frozenset("its their his her".split()) | {"his or her", "his/her"}
_BEGINS: Final = compile_late(
    rf"(?i)^\W*(?:{_TOGETHER_ASKING}|show|list|give|find|tell|name|return|the|display|get|provide)"
)
_SEVERAL: Final = compile_late(
    r"(?i)^\W*(?:(?:what|who) (?:are|were) (?:the )?\w+s\b|who (?!is\b|was\b)|(?:which|list|show|name)\b)"
)
STAND_IN: Final = "xqsame"
"""A word that no graph has, for what is spoken of again."""


@dataclass(frozen=True)
class SpokenOf:
    """Questions about one thing.

    Attributes:
        first: The first of them.
        others: The others, with `STAND_IN` where they speak of it.
        person: Whether they speak of it as of a person.
        thing: Whether they speak of it as of one thing, which is no person.
        several: Whether the first asks for several things, and the others speak of several.
    """

    first: str
    others: tuple[str, ...]
    person: bool
    thing: bool = False
    several: bool = False


def spoken_of(text: str) -> SpokenOf | None:
    """Return the questions in a question that are about one thing; None where there is but one.

    Example:
        >>> spoken = spoken_of("When did Docks Hall open and what is its capacity?")
        >>> spoken.first, spoken.others
        ('When did Docks Hall open?', ("what is xqsame's capacity?",))
        >>> spoken_of("Who wrote Emma and when was she born?").person
        True
        >>> spoken_of("Which halls are old and how many are there?")
    """
    parts = _NEXT.split(text.strip(" ?.!"))
    if len(parts) < 2 or not _BEGINS.match(parts[0]):
        return None
    found = [_PRONOUN.search(part) for part in parts[1:]]
    if not all(found):
        return None
    others = tuple(_PRONOUN.sub(_together_again, part) + "?" for part in parts[1:])
    person = any(m is not None and m["person"] for m in found)
    thing = any(m is not None and m.group().lower() in ("it", "its") for m in found)
    they = all(m is not None and m.group().lower() in ("they", "their", "them") for m in found)
    return SpokenOf(parts[0] + "?", others, person, thing, they and _SEVERAL.match(parts[0]) is not None)


def _together_again(match: re.Match[str]) -> str:
    return f"{STAND_IN}'s" if match.group().lower() in _OWNING else STAND_IN


def told_together(
    spoken: SpokenOf,
    firsts: Sequence[Draft],
    classes_of: Callable[[URIRef], Sequence[str]],
    read: ReadWith,
    schema: Schema,
) -> list[Draft]:
    """Return the plans of several questions about one thing.

    Args:
        spoken: The questions.
        firsts: Drafts of the first, best first.
        classes_of: Returns the classes of a thing that the first names.
        read: Reads one of the others, in which `STAND_IN` is what is given; best drafts first.
        schema: The schema.
    """
    found = list[Draft]()
    for number, first in enumerate(d for d in fully_read(firsts, 2) if not d.plan.yes_or_no):
        for thing in _together_things(spoken, first, classes_of, schema):
            told: Draft | None = first
            for other in spoken.others:
                drafts = [d for d in fully_read(read(other, thing), 2) if not d.plan.yes_or_no]
                joined = (_beside(told, d, URIRef(thing.term)) for d in drafts if told is not None)
                told = next((d for d in joined if d is not None), None)
            if told is not None:
                # What is likelier of the first question alone is likelier of both.
                found.append(guessed(told, number))
                break
    return found


def _together_things(
    spoken: SpokenOf, first: Draft, classes_of: Callable[[URIRef], Sequence[str]], schema: Schema
) -> list[Candidate]:
    """Return what the questions may be about, the likeliest first."""
    named = {
        place
        for p in first.plan.where.patterns
        if p.predicate != RDF.type
        for place in (p.subject, p.object)
        if isinstance(place, URIRef)
    }
    constant = [
        Candidate("entity", str(one), 1.0, STAND_IN, classes=tuple(classes_of(one))) for one in sorted(named)
    ]
    asked = [
        Candidate("entity", f"{DESCRIBED}{c.name}", 1.0, STAND_IN, classes=(cls,))
        for c in reversed(first.plan.columns)
        if c.name in first.shown and (cls := _class_of(c, first.plan, schema))
    ]
    if spoken.thing:
        asked = [c for c in asked if not _is_person(c.classes[0], schema)]
    computed = first.plan.limit is not None or bool(first.plan.where.plans)
    if spoken.person and constant and asked and not _is_person(asked[0].classes[0], schema):
        return [*constant[: len(constant) == 1], *asked[:1]]  # where Rex lives is no place with his weight
    if spoken.person or spoken.several or computed or len(constant) != 1:
        return [*asked[:1], *(constant if len(constant) == 1 else [])]
    return [*constant, *asked[:1]]


def _is_person(cls: str, schema: Schema) -> bool:
    names = schema.classes[cls].names[:1] if cls in schema.classes else ()
    return any(PERSON_WORDS & {*name.lower().split()} for name in names)


def _class_of(column: pl.Column, plan: pl.Plan, schema: Schema) -> str | None:
    """Return the class of the things that a column shows."""
    if not isinstance(column.value, pl.Unknown):
        return None
    for inner in plan.where.plans:
        for own in inner.columns:
            if own.name == column.value.name:
                return _class_of(own, inner, schema)
    patterns = list(all_patterns(plan.where))
    for p in patterns:
        if p.subject == column.value and p.predicate == RDF.type and str(p.object) in schema.classes:
            return str(p.object)
    for p in patterns:
        info = schema.properties.get(str(p.predicate))
        if info is not None and info.kind == "entity" and column.value in (p.subject, p.object):
            ends = info.ranges if p.object == column.value else info.domains
            if ends:
                return most_of(ends)
    return None


def _beside(first: Draft, other: Draft, thing: URIRef) -> Draft | None:
    """Return a draft with the columns of another beside its own, whose `thing` is what it shows or names."""
    plan, more = first.plan, other.plan
    if more.limit is not None or more.having or more.order or more.where.plans:
        return None
    if all(aggregates(c.value) for c in plan.columns if c.name in first.shown):
        return None
    spoken = str(thing).removeprefix(DESCRIBED) if thing.startswith(DESCRIBED) else ""
    flat = plan.limit is None and not plan.grouped and not plan.having
    if (ordered := _ordered_by(first, other, spoken)) is not None:
        return ordered
    taken = names_of(plan)
    fresh = numbered("also", taken, 2)
    by = kept_apart(more.where, taken, fresh, {})
    if spoken:
        value = next((c.value for c in plan.columns if c.name == spoken), None)
        if not isinstance(value, pl.Unknown):
            return None
        by[thing] = value if flat else pl.Unknown(spoken)
    elif flat:
        by |= _alike(plan.where, more.where, thing)
    moved = with_unknowns(more, {k: v for k, v in by.items() if isinstance(v, pl.Unknown)})
    shown = [c for c in moved.columns if c.name in other.shown]
    names = {c.name: c.name if c.name not in taken else next(fresh) for c in shown}
    shown = [replace(c, name=names[c.name]) for c in shown]
    if flat:
        own, where = [c for c in plan.columns if c.name in first.shown], merged(plan.where, moved.where)
    else:
        own = [pl.Column(pl.Unknown(n), n) for n in first.shown]
        where = merged(pl.Block(plans=(without_ties(plan),)), moved.where)
    known = {c.value for c in own}
    shown = [c for c in shown if c.value not in known]
    found = pl.Plan(where, (*own, *shown))
    return whole(found, first, other, shown=[c.name for c in (*own, *shown)])


def _ordered_by(first: Draft, other: Draft, spoken: str) -> Draft | None:
    """Return a draft that shows the value by which it orders, where another asks for no more than that."""
    plan, more = first.plan, other.plan.where
    value = next((c.value for c in plan.columns if c.name == spoken), None)
    asked = [p.predicate for p in more.patterns if p.subject == URIRef(DESCRIBED + spoken)]
    if value is None or plan.limit is None or len(more.patterns) != 1 or len(asked) != 1 or more.conditions:
        return None
    said = {p.object for p in plan.where.patterns if p.subject == value and p.predicate == asked[0]}
    column = next((c.name for c in plan.columns if said & {*pl.parts(c.value)}), None)
    if column is None or len(other.shown) != 1:
        return None
    return replace(first, shown=first.shown if column in first.shown else (*first.shown, column))


def _alike(one: pl.Block, other: pl.Block, thing: URIRef) -> dict[pl.Place, pl.Place]:
    """Return what unknowns of a block are called in another that says the same of a named thing."""
    said = {(p.subject, p.predicate): p.object for p in one.patterns if p.subject == thing}
    told = {(p.predicate, p.object): p.subject for p in one.patterns if p.object == thing}
    by: dict[pl.Place, pl.Place] = {}
    for p in other.patterns:
        if isinstance(p.object, pl.Unknown) and isinstance(
            known := said.get((p.subject, p.predicate)), pl.Unknown
        ):
            by[p.object] = known
        if isinstance(p.subject, pl.Unknown) and isinstance(
            back := told.get((p.predicate, p.object)), pl.Unknown
        ):
            by[p.subject] = back
    return by


_UNIONS_RELATIVE: Final = frozenset("that which who whose".split())
_WITH: Final = frozenset("with without having".split())
_VERBS: Final = frozenset(
    "have has had is are was were do does did can cost costs weigh weighs lack lacks never".split()
)
_EITHER: Final = compile_late(r"(?i)\beither ")
_ASKED: Final = frozenset("who which what list show name find give tell how".split())
_PASSED: Final = 3
"""How many small words may stand between "both" and the first name."""
_JOINT: Final = frozenset("a an the in at on to from with for by also something anything".split())
"""Words that may stand between "and" and the second name."""
_PREPOSITIONS: Final = frozenset("in at from of on".split())
_UNTIL: Final = frozenset("per for each by sorted ordered".split())
_TIME: Final = (
    r"(?:(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:the )?(?:first|second|third|fourth) quarter(?: of)?|q[1-4]|spring|summer|autumn|winter)"
    r"(?:,? (?:of )?(?:1\d|20)\d\d)?|(?:1\d|20)\d\d|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
)
_BOTH: Final = compile_late(
    rf"(?i)^(?P<head>.+ )(?P<in>in|on|during) both (?P<one>{_TIME}) and "
    rf"(?:in |on |during )?(?P<other>{_TIME})(?P<tail>\b.*)$"
)


def either_said(question: QuestionText, mentions: Sequence[NameMention]) -> tuple[str, str] | None:
    """Return a question for what is of either of two descriptions as one for each; None for others.

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low, at = question.low, question.single("or")
    behind = at + 1
    if not at or behind >= len(low) or any(map(is_superlative, low)) or _UNTIL & {*low}:
        return None
    named = behind + (low[behind] in ("a", "an", "the", "by"))
    if not (_begins(low[behind]) or _compares(low, mentions, named)):
        return None
    if _values(m for m in mentions if m.start == behind):
        return None
    things = [m for m in mentions if m.candidates[0].kind == "class" and m.end < at]
    end = 1 if low[0] == "who" else min((m.end for m in things), default=at)
    begin = next((i for i in range(end, at) if _begins(low[i]) or low[i] in {*_PREPOSITIONS, "either"}), None)
    rest = low[behind + 2 : -2 if list(low[-2:]) == ["are", "there"] else None]
    clause = begin is not None and low[begin] in _UNIONS_RELATIVE
    if begin is None or low[0] in _VERBS or (clause and any(map(_verb, rest))):
        return None  # "lamps that are red or that are blue cost …" says more of both
    head, first, second = question.said(0, begin), question.said(begin, at), question.said(behind, len(low))
    if at - begin == 1 and is_past(low[begin]):
        first = f"{first} {question.said(behind + 1, len(low))}"  # "bought or reviewed the lamp"
    relative = low[begin] in _UNIONS_RELATIVE and low[behind] not in _UNIONS_RELATIVE | _WITH
    joint = low[begin] + " " if relative else ""
    return (f"{head} {_EITHER.sub('', first)}?", f"{head} {joint}{second}?")


def either_flag(
    question: QuestionText, mentions: Sequence[NameMention], schema: Schema
) -> tuple[str, str] | None:
    """Return a question for what one of two flags holds of as one for each: "open or insured shops".

    Args:
        question: The question.
        mentions: What its words may name.
        schema: The schema.
    """
    low, at = question.low, question.single("or")
    if not at or any(map(is_superlative, low)):
        return None

    def flag(mention: NameMention) -> bool:
        infos = (schema.properties.get(c.term) for c in mention.candidates if c.score > 0.8)
        return any(i is not None and i.flag for i in infos)

    others = [m for m in mentions if m.start == at + 1]
    firsts = [m for m in mentions if m.end == at]
    if not any(map(flag, others)) and not any(map(flag, firsts)):
        return None
    if not others or not firsts:
        return None
    # "Open or insured shops": the kind belongs to both, even where it is in the name of the second flag.
    first, other = max(firsts, key=lambda m: m.end - m.start), min(others, key=lambda m: m.end - m.start)
    head, tail = _EITHER.sub("", question.before(first.start)), question.behind(other.end - 1)
    return head + question.named(first) + tail, head + question.named(other) + tail


def both_times(text: str) -> tuple[str, str] | None:
    """Return a question for what happened at each of two times as one for each; None for others.

    Example:
        >>> both_times("Who won in both 2012 and 2016?")
        ('Who won in 2012?', 'Who won in 2016?')
    """
    match = _BOTH.match(text)
    if match is None:
        return None
    parts = (f"{match['head']}{match['in']} {match[time]}{match['tail']}" for time in ("one", "other"))
    return next(parts), next(parts)


def both_named(question: QuestionText, mentions: Sequence[NameMention]) -> list[tuple[str, str]]:
    """Return a question for what both of two names are said of as one for each, likeliest first.

    What stands behind the second name belongs to both or to it alone: "both a comedy and a horror film".

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low, at = question.low, question.single("both")
    told = [m for m in mentions if m.candidates[0].kind in ("value", "entity")]
    firsts = [m for m in told if 0 <= m.start - at - 1 <= _PASSED]
    joint = next((i for i in range(at + 2, len(low)) if low[i] == "and"), 0)
    begin = next((i for i in range(joint + 1, len(low)) if low[i] not in _JOINT), 0)
    seconds = [m for m in told if begin <= m.start <= begin + 2 and "and" not in low[m.start : m.end]]
    things = [m for m in mentions if m.candidates[0].kind == "class" and m.end <= at]
    asked = low[0] == "who" or (bool(things) and (low[0] in _ASKED or any(not m.start for m in things)))
    if not at or not asked or not begin or not seconds or not any(m.end <= joint for m in firsts):
        return []
    if _VERBS & {low[at - 1]} or low[at - 1] in ("of", "for"):
        return []  # "the capacity of both A and B" is two numbers
    end = max(m.end for m in seconds)
    head, first = question.before(at), question.said(at + 1, joint)
    second, tail = question.said(begin, end), question.behind(end - 1)
    found = [(f"{head}{first}{tail}", f"{head}{second}{tail}")]
    if behind := tail.strip(" ?.!"):
        found.append((f"{head}{first}?", f"{head}{second} {behind}?"))
    return found


def _values(mentions: Iterable[NameMention]) -> bool:
    return any(m.candidates[0].kind in ("value", "entity") for m in mentions)


def _compares(low: Sequence[str], mentions: Iterable[NameMention], at: int) -> bool:
    """Return whether a property that is compared with something begins here: "earning over 2000"."""
    ends = {m.end for m in mentions if m.start == at and m.candidates[0].kind == "property"}
    return any(c.kind in ("compare", "between") and c.start in ends for c in cues(low))


def _begins(word: str) -> bool:
    """Return whether a description of things begins with a word."""
    return word in _UNIONS_RELATIVE | _WITH or _verb(word)


def _verb(word: str) -> bool:
    known = _VERBS | VERBS
    return word in known or word.removesuffix("s") in known or is_past(word)


def of_either(first: Draft, second: Draft) -> Draft | None:
    """Return the draft of what two drafts ask for, where it is of either; None if they ask for other things.

    Args:
        first: A draft that asks for things of one description.
        second: One that asks for the same things of another description.
    """
    one, other = first.plan, second.plan
    if one.yes_or_no or (one.columns, first.shown, one.order) != (other.columns, second.shown, other.order):
        return None
    if any(p.group_by or p.having or p.limit is not None for p in (one, other)):
        return None
    things = {u for column in one.columns for u in _unions_things(column.value)}
    both = common(one.where, other.where)
    a, b = less(one.where, both), less(other.where, both)
    if a.empty or b.empty or not things or not all(things <= bound(merged(both, x)) for x in (a, b)):
        return None
    found = replace(one, where=replace(both, either=(*both.either, (a, b))))
    return whole(found, first, second, joins=max, guesses=max)


def _unions_things(value: Expression) -> tuple[Unknown, ...]:
    """Return the things that a column shows or counts."""
    if isinstance(value, Aggregate):
        return value.of if value.function == "count" and value.value is None else ()
    return (value,) if isinstance(value, Unknown) else ()


_ALL: Final = (
    r"(?P<all>(?:really |actually )?(?:all|every(?: single| one)?|each(?: one)?|most|at least half"
    r"|more than half|none|no)"
    r"(?: of)?(?: the| these| those)?)"
)
_INVERTED: Final = compile_late(
    rf"(?i)^\W*(?P<verb>do|does|did|is|are|was|were|has|have|had|can) {_ALL} (?P<rest>\w.+?)\W*$"
)
_STATED: Final = compile_late(rf"(?i)^\W*is it so that {_ALL} (?P<rest>\w.+?)\W*$")
_LOOSE: Final = PREPOSITIONS | frozenset(
    "a an the and or not no that which who whose than more less very also been ever their its".split()
)
"""Words that no description of things ends with."""
_UNIVERSAL_VERBS: Final = VERBS | frozenset(
    "have own come get use cost exist drive wear teach win lose eat".split()
)
_MOST_SPLITS: Final = 6


@dataclass(frozen=True)
class UniversalClaim:
    """What a question asks whether it holds of all of some things.

    Attributes:
        quantifier: `all`, `most` or `none`.
        splits: The words for the things and those for what is claimed of them, the likeliest first.
    """

    quantifier: str
    splits: tuple[tuple[str, str], ...]


def claim_of(text: str) -> UniversalClaim | None:
    """Return what a question claims of all things, of most or of none; None for other questions.

    Example:
        >>> claim_of("Do all bands from Germany have a website?").splits[0]
        ('bands from Germany', 'have a website')
        >>> claim_of("Are all halls in Bonn heated?").splits[0]
        ('halls in Bonn', 'heated')
        >>> claim_of("Is it so that no hall in Bonn is heated?")
        UniversalClaim(quantifier='none', splits=(('hall in Bonn', 'is heated'),))
        >>> claim_of("Do any bands have a website?")
    """
    match, stated = _INVERTED.match(text), _STATED.match(text)
    if stated is not None:
        match = stated
    if match is None:
        return None
    words = match["rest"].split()
    said = match["all"].lower().split()
    quantifier = "most" if {"most", "half"} & {*said} else "none" if said[0] in ("no", "none") else "all"
    if stated is not None:
        at = [i for i, w in enumerate(words) if i and w.lower() in AUXILIARIES | {"can"}]
        at = at[:1] or _verbs(words)
    elif match["verb"].lower() in BEING:
        at = [i for i in range(len(words) - 1, 0, -1) if words[i - 1].lower() not in _LOOSE]
    else:
        at = _verbs(words)
    splits = [
        (" ".join(words[:i]), " ".join(words[i:]))
        for i in at
        if words[i - 1].lower() not in _LOOSE and not (words[i - 1][0].isupper() and words[i][0].isupper())
    ]
    return UniversalClaim(quantifier, tuple(splits[:_MOST_SPLITS]))


def _verbs(words: Sequence[str]) -> list[int]:
    """Return where the verb of a claim may stand, the likeliest first."""
    low = [w.lower() for w in words]
    verbs = [
        i for i, w in enumerate(low)
        if i and (stem(w) in {stem(v) for v in _UNIVERSAL_VERBS} or w in _UNIVERSAL_VERBS or is_past(w))
        and low[i - 1] not in ("that", "which", "who", "whose", "to", "of", "the")
    ]  # fmt: skip
    return verbs or list(range(len(words) - 1, 0, -1))


def universal(claim: UniversalClaim, best: Read) -> Iterator[Draft]:
    """Yield the plans of whether a claim holds.

    Args:
        claim: What is claimed of which things.
        best: Reads a question; best drafts first.
    """
    for things, said in claim.splits:
        base = next((d for d in best(f"Which {things} are there?")[:2] if _lists(d)), None)
        if base is None:
            continue
        # "Have all orders been shipped" asks for those that are shipped.
        held = re.sub(r"(?i)^(?:been|ever been|already been)\b", "are", said)
        for those in best(f"Which {things} {held}?")[:3]:
            if _lists(those) and (found := _compared(claim.quantifier, base, those)) is not None:
                yield found
                return


def _lists(draft: Draft) -> bool:
    """Return whether a draft lists things of some kind, all of its words read."""
    return _universal_things(draft) is not None and not draft.ignored


def _universal_things(draft: Draft) -> pl.Unknown | None:
    plan = draft.plan
    if plan.limit is not None or plan.where.plans or plan.group_by or len(plan.columns) != 1:
        return None
    return draft.lone_value if isinstance(draft.lone_value, pl.Unknown) else None


def _compared(quantifier: str, base: Draft, claimed: Draft) -> Draft | None:
    """Return the plan that compares how many things there are with of how many a claim holds."""
    every, those = _number(base, "one_"), _number(claimed, "other_")
    if every is None or those is None or every.where == _same(those):
        return None
    if len(list(all_patterns(claimed.plan.where))) < len(list(all_patterns(base.plan.where))):
        return None
    some = pl.Comparison(every, ">", Literal(0))
    if quantifier == "none":
        held = pl.Comparison(those, "=", Literal(0))
    elif quantifier == "most":
        held = pl.Comparison(pl.Arithmetic(those, "*", Literal(2)), ">", every)
    else:
        held = pl.Comparison(every, "=", those)
    found = pl.Plan(pl.Block(), having=(held, some))
    return whole(found, base, claimed, shown=(), joins=max)


def _number(draft: Draft, prefix: str) -> pl.Aggregate | None:
    """Return the number of the things that a draft lists, its unknowns apart from those of others."""
    thing, plan = _universal_things(draft), draft.plan
    if thing is None or plan.having:
        return None
    return folded_aside(pl.Aggregate("count", None, (thing,)), plan.where, prefix)


def _same(one: pl.Aggregate) -> pl.Block:
    """Return the block of a number with the unknowns of the other where these are called alike."""
    by: dict[pl.Place, pl.Place] = {
        u: pl.Unknown("one_" + u.name.removeprefix("other_")) for u in mentioned(one.where)
    }
    return substituted(one.where, by)


def apart(text: str, best: Read, schema: Schema) -> list[Draft]:
    """Return drafts of how far values lie apart, of the first or last time of something, and of the like.

    Args:
        text: The question.
        best: Reads a question that holds no other; best drafts first.
        schema: The schema.
    """
    found: Sequence[Draft | None] = ()
    if spread(text) is not None or as_difference(text) is not None:
        found = _between(text, best, schema)
    elif (ended := end_of_time(text)) is not None:
        found = [end_of(time, ended[1]) for time in fully_read(best(ended[0]), 3)]
    elif (first := also_told(text)) is not None:
        found = [with_its_number(draft) for draft in fully_read(best(first), 3)]
    elif (group := per_group(text)) is not None:
        found = list(foremost(*group, best, schema))
    return [draft for draft in found if draft is not None]


def _between(text: str, best: Read, schema: Schema) -> Sequence[Draft | None]:
    """Return drafts of how far values lie apart; years may be those of the dates alone."""
    wide, other = spread(text), as_difference(text)
    differ = [] if other is None else [d for d in fully_read(best(other), 3) if counts_days(d)]
    if wide is None or (differ and wide.unit != "year"):
        return differ
    return [d for value in fully_read(best(wide.inner), 3) if (d := apart_by(wide, value, schema))] or differ


Build = Callable[[Frame], Draft]
ReadItems = Callable[[Sequence[QuestionItem]], FrameReader]
_RATIOS_RELATIVE = frozenset(
    "that which who with whose without where having in from on at for of by not no "
    "is are was were do does have has".split()
)


_FINITE = frozenset("is are was were do does did has have had can".split())
_PRONOUNS = frozenset("that which who whose where".split())
_AMONG = ("among", "amongst")
_NOUNS = ("class", "property")
_CALLED: dict[pl.Operation, str] = {"/": "ratio", "-": "difference"}
_HALVES = compile_late(
    r"(?i)^\W*(?P<base>how many (?P<things>.+?)) (?P<verb>have|has|had|are|is|were|was) "
    r"(?P<what>.+?),? (?:and|or|versus|vs\.?) how many (?:of (?:them|those|these) |others? )?"
    r"(?P<rest>.+?)\W*$"
)
_LACKING = compile_late(
    r"(?i)(?:(?:do|does|did|are|is|were|was|have|has|had)(?: not|n['’]?t)"
    r"|(?:have|has|had) (?:none|no|never)|(?:are|is|do|have) without|lack)\b(?: have| had| been| got| any)*"
    r"(?P<again>.*)"
)
_RATIOS_ARTICLES = compile_late(r"(?i)\b(?:an?|any|the|one|some|at least one)\b")


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
    parts = (_RATIOS_ARTICLES.sub("", part) for part in (said["again"], match["what"]))
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
    question: QuestionText, items: Sequence[QuestionItem], read: ReadItems, build: Build, schema: Schema
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
        if named and (item.cue or (item.unread and question.low[item.start] in _RATIOS_RELATIVE)):
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


def _frame(read: ReadItems, items: Sequence[QuestionItem]) -> Frame:
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
