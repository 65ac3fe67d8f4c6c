"""Questions that compare things with others, with the average, or with each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from typing import Literal as OneOf

from rdflib import RDF, Literal, URIRef

from mrag.language.grammar import plural
from mrag.language.possessive import compile_late
from mrag.planning import plan as pl
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexical.english import AUXILIARIES, DIMENSIONS, is_past, positive
from mrag.planning.plan import (
    Block,
    Comparison,
    Condition,
    Expression,
    Number,
    Pattern,
    Relation,
    Unknown,
    parts,
)
from mrag.planning.reading.composing import described, folded
from mrag.planning.reading.drafts import (
    Draft,
    Named,
    Read,
    ReadWith,
    also_holding,
    folded_by,
    fully_read,
    leads_to_things,
    whole,
)
from mrag.planning.reading.frame import DESCRIBED
from mrag.planning.reading.graph import identifier
from mrag.planning.reading.question import NUMBERS, QuestionText
from mrag.planning.reading.rephrasing import NUMBERS_OF_VERBS, OF_OTHERS
from mrag.planning.schema import Schema, by_number
from mrag.planning.scopes import (
    all_patterns,
    folded_aside,
    mentioned,
    merged,
    names_of,
    numbered,
    set_aside,
    substituted,
    unused,
    with_unknowns,
)

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


_FORM: Final = compile_late(
    r"(?i)^(?P<head>.+?) (?:their|its|his or her|his|her) own (?P<what>[\w-]+(?: [\w-]+)?)(?P<rest>\W*)$"
)
OWN: Final = "xqown"
"""A word that no graph has, for what is their own."""


@dataclass(frozen=True)
class Owned:
    """A question that says something of what things have.

    Attributes:
        text: The question with a word in the place of what they have.
        what: The words for that.
    """

    text: str
    what: str


def owned_of(text: str) -> Owned | None:
    """Return what a question says of things and what is their own; None for other questions.

    Example:
        >>> owned_of("Which students are taught by their own advisor?")
        Owned(text='Which students are taught by xqown?', what='advisor')
        >>> owned_of("Which students have an advisor of their own?")
    """
    match = _FORM.match(text)
    return None if match is None else Owned(f"{match['head']} {OWN}{match['rest']}", match["what"].lower())


def with_their_own(owned: Owned, read: ReadWith, named: Named, schema: Schema) -> Iterator[Draft]:
    """Yield drafts of a question that says something of things and what is their own.

    Args:
        owned: What it says.
        read: Reads a question in which `OWN` is what is given; best drafts first.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    for found in [c for c in named(owned.what)[:3] if c.kind == "property" and not c.inverse]:
        info = schema.properties[found.term]
        ends = by_number(info.ranges)[:2] if info.kind == "entity" else ()
        for end in ends:
            thing = Candidate("entity", DESCRIBED + OWN, 1.0, OWN, classes=(end,))
            for draft in fully_read(read(owned.text, thing), 3):
                if (whole := _owned_joined(draft, found, {*info.domains}, schema)) is not None:
                    yield whole
                    return


def _owned_joined(draft: Draft, own: Candidate, owners: set[str], schema: Schema) -> Draft | None:
    """Return a draft in which what stands for their own is what the things that it shows have."""
    plan, shown = draft.plan, draft.lone_value
    if isinstance(shown, pl.Aggregate) and shown.value is None and len(shown.of) == 1:
        shown = shown.of[0]
    used = any(own.term == str(p.predicate) for p in plan.where.patterns)
    if not isinstance(shown, pl.Unknown) or not owners & _kinds(shown, plan, schema) or used:
        return None
    other = unused(identifier(own.name), names_of(plan))
    moved = replace(draft, plan=with_unknowns(plan, {URIRef(DESCRIBED + OWN): other}))
    said = pl.Block((pl.Pattern(shown, URIRef(own.term), other),))
    return also_holding(moved, said, matches=(own.score,))


def _kinds(thing: pl.Unknown, plan: pl.Plan, schema: Schema) -> set[str]:
    """Return what the things may be that an unknown stands for."""
    found = set[str]()
    for p in plan.where.patterns:
        info = schema.properties.get(str(p.predicate))
        if p.predicate == RDF.type and p.subject == thing:
            found |= {str(p.object), *schema.above(str(p.object))}
        elif info is not None and thing in (p.subject, p.object):
            found |= {*(info.domains if p.subject == thing else info.ranges)}
    return found


Told = OneOf["each", "which", "whether", "difference"]

_BE: Final = r"(?:is|are|was|were)"
_DO: Final = r"(?:do|does|did)"
_IN: Final = r"(?:of|in|for|at|by|from|on|among|amongst|across|with|to)"
_AND: Final = r"(?:and|with|to|vs\.?|versus|against|or)"
_MORE: Final = r"(?:more|less|fewer)"
_ER: Final = (
    rf"(?:{_MORE}|higher|lower|greater|larger|bigger|smaller|longer|shorter|better|worse|older|younger"
    rf"|earlier"
    r"|later|heavier|lighter|cheaper)"
)
_LESS: Final = frozenset(
    "less fewer lower smaller shorter worse younger earlier lighter cheaper first sooner".split()
)
_MEAN: Final = r"(?: on average| in total| overall| altogether)?"
_QUANTITY: Final = r"(?:average|mean|total|number|sum|minimum|maximum|lowest|highest|median|count|amount)"
_EACH: Final = r",? (?:respectively|separately|individually|each)"
_LONGEST: Final = 40
"""Words of the longest question that is cut; ways to cut it grow faster than its words."""
_COUNTED: Final = (
    r"(?:are there|were there|do we have|did we have|exist|have been|are (?!there)|were (?!there)|have |had "
    r"|has |work |live |play |study |took |take |do |did |does |in |on |at |with |who |that )"
)


@dataclass(frozen=True)
class Sides:
    """Two things set side by side.

    Attributes:
        told: What is asked: the number of each, which has more, whether one has more, or by how much.
        relation: How the first is compared with the second, where that is asked.
        pairs: Ways to cut the question: for each, questions for the number of the first and the second, the
            likelier ones before others.
        only_all: Whether the numbers of both are told only where there are no others, for else the question
            may be for what both have together.
    """

    told: Told
    relation: Relation | None
    pairs: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    only_all: bool = False


_Cut = Mapping[str, str]


def side_by_side(text: str) -> Sides | None:
    """Return the numbers that a question sets side by side; None for other questions.

    Example:
        >>> found = side_by_side("Is the average fare to Oslo higher than that to Rome?")
        >>> found.told, found.relation, found.pairs[0][1]
        ('whether', '>', ('What is the average fare to Rome?',))
        >>> side_by_side("Compare the number of cats and dogs").pairs[0][0]
        ('What is the number of cats?',)
        >>> side_by_side("How many cats are there?") is None
        True
    """
    if len(text.split()) > _LONGEST or OF_OTHERS.search(text):
        return None
    plain = _turned(re.sub(r"\s+", " ", text).strip(" ?.!"))
    for pattern, told in _SIDES_FORMS:
        match = pattern.match(plain)
        if match is None:
            continue
        part = {k: v.strip(" ,") for k, v in match.groupdict().items() if v is not None}
        pairs = tuple(
            (tuple(_questions(part, one)), tuple(_questions(part, other)))
            for one, other in _sides(part["a"], part["b"])
        )
        return Sides(told, _relation(part, told), pairs, "all" in part)
    return None


def _turned(text: str) -> str:
    """Return a question with what is chosen from at its end: "of cats and dogs, which …"."""
    match = re.match(
        r"(?i)^(?:between|of|among|out of|comparing)? ?"
        r"(?P<ab>(?!which|who|what)[^,:;?]+? (?:and|or) [^,:;?]+?)[,:;?] "
        r"(?P<q>(?:which|who|what)\b.+)$",
        text,
    )
    if match is None:
        return text
    return f"{match['q']}, {re.sub(r' and (?!.* and )', ' or ', match['ab'])}"


def _relation(part: _Cut, told: Told) -> Relation | None:
    if told == "each":
        return None
    if "same" in part:
        return "="
    if (plain := positive(part.get("adj", ""))) is not None and "mean" not in part and "mean2" not in part:
        return ">" if DIMENSIONS[plain][0] == "greatest" else "<"  # who is older was born before
    return "<" if part.get("rel", "more").lower() in _LESS else ">"


def _sides(one: str, other: str) -> Iterator[tuple[str, str]]:
    """Yield ways to share the words that stand with one side only."""
    first, second = one.split(), other.split()
    if len(second) > len(first):
        yield f"{one} {' '.join(second[len(first) :])}", other
    heads = [n for n, w in enumerate(first) if re.fullmatch(rf"(?i){_IN}", w)]
    for at in reversed(heads):
        behind = second[1:] if second[0].lower() == first[at].lower() else second
        yield one, " ".join([*first[: at + 1], *behind])
    yield one, other
    if len(first) > 1 and len(second) < len(first):
        yield one, " ".join([*second, *first[len(second) :]])


def _questions(part: _Cut, side: str) -> Iterator[str]:
    """Yield questions for the number of one side."""
    where = f" {part['z']}" if part.get("z") else ""
    mean = "average " if any("average" in v for k, v in part.items() if k.startswith("mean")) else ""
    if part.get("n"):  # things are counted
        things, verb = part["n"], part.get("v", "have")
        if part.get("p"):
            yield f"How many {things} {part['p']} {side}{where}?"
        else:
            yield f"How many {things} does {side} {verb}{where}?"
            yield f"Number of {things} of {side}{where}"
    elif part.get("q"):
        what = re.sub(r"(?i)^(?:the|a|an) ", "", part["q"])
        if re.match(r"(?i)how many\b", what):
            yield f"{what} {part.get('p', '')} {side}{where}?"
            return
        what = re.sub(
            r"(?i)^(?:what|which) (?:is|are|was|were) (?:the )?|^(?:show|give|list)(?: me)?(?: the)? ",
            "",
            what,
        )
        place = part.get("p", "of").lower()
        yield f"What is the {mean}{what} {'of' if place == 'between' else place} {side}{where}?"
    elif part.get("adj") and (plain := positive(part["adj"])) is not None:
        for noun in DIMENSIONS[plain][1].split():
            yield f"What is the {mean}{noun} of {side}{where}?"
    elif part.get("when"):
        yield f"When was {side} {part['when']}?"
    elif part.get("v"):
        noun = NUMBERS_OF_VERBS.get(part["v"].lower().removesuffix("s"), part["v"])
        yield f"What is the {mean}{noun} of {side}{where}?"
        yield f"What is the average {noun} of {side}{where}?"
    else:
        yield f"How many {side} are there{where}?"


_PATTERNS: Final[tuple[tuple[str, Told], ...]] = (
    (
        rf"(?:please )?compare (?:the )?(?P<q>.+?) (?P<p>{_IN}|between) (?P<a>.+?) {_AND} (?P<b>.+)",
        "each",
    ),
    (
        rf"(?P<q>(?:how many|what {_BE}|show|give|list|number|average|total)\b.+?) (?P<p>{_IN}) "
        rf"(?P<a>[^,]+?),? and (?:how many |what )?(?:{_BE} )?(?P=p) (?P<b>[^,]+)",
        "each",
    ),
    (rf"how many (?P<a>.+?),? and how many (?P<b>.+?) (?P<z>{_COUNTED}.*)", "each"),
    (
        rf"(?P<q>(?:how many|what {_BE}|show|give|list|average|total|number)\b.+?) (?P<p>{_IN}) (?P<a>.+?) "
        rf"and "
        rf"(?P<b>.+?){_EACH}",
        "each",
    ),
    (rf"how many (?P<n>.+?) {_DO} (?P<a>.+?) and (?P<b>.+?) (?P<v>\w+){_EACH}", "each"),
    (rf"how many (?P<a>.+?) and (?P<b>.+?) (?P<z>{_COUNTED}.*?){_EACH}", "each"),
    (
        rf"(?:what (?:is|are|was|were) )?(?:the )?(?P<q>{_QUANTITY}\b.*?) (?P<p>{_IN}) (?P<a>.+?)"
        r" (?:vs\.?|versus) (?P<b>.+)",
        "each",
    ),
    (rf"how many (?P<a>.+?) (?:vs\.?|versus) (?P<b>.+?)(?: (?P<z>{_COUNTED}.*))?", "each"),
    (
        rf"(?:what (?:is|are|was|were) )?(?:the )?(?P<all>)(?P<q>{_QUANTITY}\b.*?) (?P<p>{_IN}) "
        rf"(?P<a>[^,]+?)"
        r" and (?P<b>[^,]+)",
        "each",
    ),
    (rf"(?P<all>)how many (?P<a>[^,]+?) and (?P<b>[^,]+?) (?P<z>{_COUNTED}[^,]*)", "each"),
    (
        rf"(?:which|who|what)(?: of (?:them|these|the two)| one| \w+){{0,2}}? (?:has|have|had) (?:the "
        rf"|a |an )?"
        rf"(?P<rel>{_MORE})(?: of)? (?P<n>(?!than\b).+?)[,:]* (?P<a>[^,:]+?),? or (?P<b>.+)",
        "which",
    ),
    (
        rf"(?:which|who|what)(?: of (?:them|these|the two)| one| \w+){{0,2}}? (?:has|have|had) (?:the "
        rf"|a |an )?"
        rf"(?P<rel>{_ER}) (?P<q>(?!than\b)[^,:]+?){_MEAN}[,:] (?P<a>[^,:]+?),? or (?P<b>.+)",
        "which",
    ),
    (
        r"(?:which|who|what)(?: of (?:them|these|the two)| one| \w+){0,2}? (?P<v>\w+) "
        rf"(?P<rel>{_MORE})(?P<mean>{_MEAN})[,:] (?P<a>[^,:]+?),? or (?P<b>.+)",
        "which",
    ),
    (
        r"(?:which|who|what)(?: of (?:them|these|the two)| one| \w+){0,2}? (?:is|are|was|were) "
        r"(?P<rel>(?P<adj>\w+er))(?P<mean> on average)?[,:] (?P<a>[^,:]+?),? or (?P<b>.+)",
        "which",
    ),
    (
        r"(?:which|who|what)(?: of (?:them|these|the two)| one| \w+){0,2}? (?:is|are|was|were) (?P<when>\w+) "
        r"(?P<rel>first|earlier|sooner|last|later)[,:] (?P<a>[^,:]+?),? or (?P<b>.+)",
        "which",
    ),
    (
        rf"{_BE} the (?P<q>{_QUANTITY}\b.*?) (?P<p>{_IN}) (?P<a>.+?) (?P<rel>{_ER}) than "
        rf"(?:(?:that|those|the one|the (?P=q)) (?:{_IN} )?)?(?P<b>.+)",
        "whether",
    ),
    (
        rf"{_DO} (?P<a>.+?) (?P<v>\w+) (?P<rel>{_MORE})(?P<mean>{_MEAN}) than (?P<b>.+?)"
        rf"(?P<mean2>{_MEAN})(?: {_DO})?",
        "whether",
    ),
    (
        rf"{_BE} there (?P<rel>{_MORE}) (?P<a>.+?) than (?P<b>.+?)(?: (?P<z>(?:in|at|on|with|who|that) "
        rf".+))?",
        "whether",
    ),
    (
        rf"(?:{_BE}|{_DO}|have|has) (?P<rel>{_MORE}) (?P<n>.+?) (?P<p>(?:\w+ )?{_IN}) (?P<a>.+?) than "
        rf"(?:{_IN} )?(?P<b>.+)",
        "whether",
    ),
    (
        rf"{_BE} (?P<a>.+?) (?P<rel>(?P<adj>\w+er))(?P<mean2>{_MEAN}) than (?P<b>.+?)(?P<mean> on "
        rf"average)",
        "whether",
    ),
    (
        rf"{_DO} (?P<a>.+?) and (?P<b>.+?) have the (?P<same>same|equal) (?P<q>{_QUANTITY}\b.*)",
        "whether",
    ),
    (
        rf"{_DO} (?P<a>.+?) have (?P<same>as many) (?P<n>.+?) as (?P<b>.+)",
        "whether",
    ),
    (
        rf"how much more (?:money )?{_DO} (?P<a>.+?) (?P<v>\w+)(?P<mean>{_MEAN}) than "
        rf"(?P<b>.+?)(?P<mean2>{_MEAN})"
        rf"(?: {_DO})?",
        "difference",
    ),
    (
        rf"how much (?P<rel>higher|lower|greater|larger|bigger|smaller) {_BE} the "
        rf"(?P<q>{_QUANTITY}\b.*?) "
        rf"(?P<p>{_IN}) (?P<a>.+?) than (?:(?:that|those|the one|the (?P=q)) (?:{_IN} )?)?(?P<b>.+)",
        "difference",
    ),
    (
        rf"(?:(?:what|how (?:much|big|large)) {_BE} |calculate |compute |find |give |show )?(?:the )?"
        rf"difference (?:in|of) (?:the )?(?P<q>{_QUANTITY}\b.*?) between (?:the )?(?P<a>.+?) and (?:the )?"
        r"(?P<b>.+)",
        "difference",
    ),
    (
        rf"how many (?P<rel>{_MORE}) (?P<a>.+?) than (?P<b>.+?) (?P<z>{_COUNTED}.*)",
        "difference",
    ),
    (
        rf"how many (?P<rel>{_MORE}) (?P<n>.+?) (?P<p>(?:\w+ )?(?:\w+ )?{_IN}) (?P<a>.+?) than "
        rf"(?:{_IN} )?(?P<b>.+)",
        "difference",
    ),
)
_SIDES_FORMS: Final = tuple((compile_late(f"(?i)^{pattern}$"), told) for pattern, told in _PATTERNS)


NUMBER: Final = "13571"
YEAR: Final = "1357"
_YEARS: Final = (YEAR, "1358")
"""How what stands for another begins, and the year behind it."""


def stands_in(condition: Condition) -> bool:
    """Return whether a condition is one on what stands for something else."""
    right = condition.right if isinstance(condition, Comparison) else None
    return isinstance(right, Literal) and str(right)[:4] in _YEARS


def without_stand_in(draft: Draft) -> tuple[Draft, list[Comparison]]:
    """Return a draft without its conditions on what stands for something else, and these."""
    where = draft.plan.where
    bounds = [c for c in where.conditions if isinstance(c, Comparison) and stands_in(c)]
    kept = replace(where, conditions=tuple(c for c in where.conditions if c not in bounds))
    return replace(draft, plan=replace(draft.plan, where=kept)), bounds


def compared_value(draft: Draft) -> tuple[Draft, Comparison, Pattern] | None:
    """Return a draft without its comparison with a stand-in, that, and the triple of what is compared.

    Returns:
        None if there are several such comparisons, or if what is compared is no value of something.
    """
    kept, bounds = without_stand_in(draft)
    values = {u for c in bounds for u in parts(c.left) if isinstance(u, Unknown)}
    said = [p for p in kept.plan.where.patterns if p.object in values]
    if len(bounds) != 1 or len(said) != 1 or not isinstance(said[0].subject, Unknown):
        return None
    return kept, bounds[0], said[0]


_OWN: Final = r"(?:(?:its|their|his or her|his|her|the) (?:(?:own|same|respective) )?|that )"
_ABOVE: Final = (
    r"(?:more|less|fewer|\w+er)(?: (?!than\b)[\w-]+){0,3} than|above|below|over|under|exceeds?|exceeding"
)
_AVERAGES: Final = compile_late(
    rf"(?i)^(?P<head>.+?\b(?:{_ABOVE})) (?:the |an )?(?:average|mean)(?P<what>(?: (?!of\b)[\w-]+){{0,3}}?)"
    rf" (?:of|in|for|at|within|among)(?: the)?(?: others?| all)?(?: of| in)? {_OWN}"
    r"(?P<group>[\w-]+(?: [\w-]+){0,2}?)\W*$"
)


@dataclass(frozen=True)
class Level:
    """A question that compares things with the average of their group.

    Attributes:
        text: The question with a number in the place of the average.
        what: The words for what is averaged, or for the things; "" where it says neither.
        group: The words for the group.
    """

    text: str
    what: str
    group: str


def level_of(text: str) -> Level | None:
    """Return what a question compares with the average of a group; None for other questions.

    Example:
        >>> level_of("Which films run longer than the average film of the same genre?")
        Level(text='Which films run longer than 13571?', what='film', group='genre')
        >>> level_of("Who earns more than the average of their town?")
        Level(text='Who earns more than 13571?', what='', group='town')
        >>> level_of("Which films run longer than the average?")
    """
    match = _AVERAGES.match(text) if len(text.split()) <= _LONGEST else None
    if match is None:
        return None
    return Level(f"{match['head']} {NUMBER}?", match["what"].strip(), match["group"].lower())


def above_level(level: Level, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    """Yield drafts of a question that compares things with the average of their group.

    Args:
        level: What is compared.
        read: Reads a question; best drafts first.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    for draft in fully_read(read(level.text), 2):
        if (found := compared_value(draft)) is None:
            continue
        kept, bound, said = found
        if bound.left != pl.Number(said.object):
            continue
        if level.what and not _is_of(level.what, said, named, schema):
            continue
        for kind in sorted(schema.properties[str(said.predicate)].domains):
            called = schema.classes[kind].names[0] if kind in schema.classes else ""
            for split in fully_read(read(f"number of {called} for each {level.group}"), 2):
                if called and (whole := _averages_compared(kept, bound, said, split)) is not None:
                    yield whole
                    return


def _is_of(what: str, said: pl.Pattern, named: Named, schema: Schema) -> bool:
    """Return whether words name the number that is compared, or the things that have it."""
    info = schema.properties[str(said.predicate)]
    return any(c.term == info.iri or c.term in info.domains for c in named(what)[:3])


def _averages_compared(kept: Draft, bound: pl.Comparison, said: pl.Pattern, split: Draft) -> Draft | None:
    """Return a draft of what is compared, with the average of each group in the place of a number."""
    folded, thing, value = folded_by(split), said.subject, said.object
    if folded is None or not isinstance(thing, pl.Unknown) or not isinstance(value, pl.Unknown):
        return None
    key, fold = folded
    taken = names_of(kept.plan)
    by: dict[pl.Place, pl.Place] = {
        u: thing if u == fold.of[0] else unused(f"its_{u.name}", taken)
        for u in sorted(mentioned(split.plan.where))
    }
    group, level = by[key], unused(f"average_{value.name}", taken)
    if not isinstance(group, pl.Unknown) or group == thing:
        return None
    of_each = substituted(split.plan.where, by)
    average = pl.Aggregate("average", pl.Number(value), (thing,))
    peers = pl.Plan(
        merged(pl.Block((said,)), of_each), (pl.Column(group, group.name), pl.Column(average, level.name))
    )
    above = pl.Comparison(pl.Number(value), bound.relation, pl.Number(level))
    linked = tuple(p for p in of_each.patterns if p.predicate != RDF.type)
    grouped = merged(replace(of_each, patterns=linked), pl.Block(conditions=(above,), plans=(peers,)))
    return also_holding(kept, grouped, split)


_BEYOND_MORE: Final = r"(?:more|less|fewer|\w+er)(?: (?!than\b)[\w-]+){0,3} than"
_BEYOND_FORM: Final = compile_late(
    rf"(?i)^(?P<head>.+?\b{_BEYOND_MORE}) (?:(?:that|those|the one|the ones) (?:of|in|for) )?"
    r"(?P<how>all(?: of)?|every|each(?: of)?|any|some|at least one)(?: the)? "
    r"(?P<others>(?!others?\b|one\b|else\b|of\b)[a-z].+?)(?: (?:does|do|did|has|have|is|are))?\W*$"
)
_SOME: Final = ("some", "at least one")


@dataclass(frozen=True)
class Beyond:
    """A question that compares things with all of some others, or with some of them.

    Attributes:
        text: The question with a number in the place of theirs.
        others: The words for the others.
        some: Whether it is enough that it holds of one of them.
    """

    text: str
    others: str
    some: bool


def beyond_of(text: str) -> Beyond | None:
    """Return what a question compares with all of some others; None for other questions.

    Example:
        >>> beyond_of("Which lakes are deeper than all lakes in Bern?")
        Beyond(text='Which lakes are deeper than 13571?', others='lakes in Bern', some=False)
        >>> beyond_of("Which lakes are deeper than the Thun?")
    """
    match = _BEYOND_FORM.match(text)
    if match is None:
        return None
    return Beyond(f"{match['head']} {NUMBER}?", match["others"], match["how"].lower() in _SOME)


def compared_with_all(beyond: Beyond, read: Read, schema: Schema) -> Iterator[Draft]:
    """Yield the draft of a question that compares things with all of some others.

    Args:
        beyond: What is compared.
        read: Reads a question; best drafts first.
        schema: The schema.
    """
    for draft in fully_read(read(beyond.text), 2):
        found = compared_value(draft)
        if found is None or found[1].relation not in (">", "<"):
            continue
        kept, bound, said = found
        info = schema.properties[str(said.predicate)]
        fold: pl.Fold = "maximum" if (bound.relation == ">") is not beyond.some else "minimum"
        for other in fully_read(read(f"What is the {fold} {info.names[0]} of all {beyond.others}?"), 2):
            plan = other.plan
            value = plan.columns[0].value if len(plan.columns) == 1 else None
            extreme = isinstance(value, pl.Aggregate) and value.function == fold
            own = any(p.predicate == said.predicate for p in plan.where.patterns)
            if not (extreme and own) or plan.limit is not None or plan.having:
                continue
            block = pl.Block(conditions=(pl.Comparison(bound.left, bound.relation, pl.Scalar(plan)),))
            if (whole := also_holding(kept, block, other)) is not None:
                yield whole
                return


def set_side_by_side(sides: Sides, best: Read, schema: Schema) -> list[Draft]:
    """Return the plan of two numbers that a question sets side by side; none if either cannot be read.

    Args:
        sides: What it sets side by side.
        best: Reads a question that holds no other; best drafts first.
        schema: The schema.
    """
    for first, second in sides.pairs:
        one = _pairs_number(first, best, schema)
        other = _pairs_number(second, best, schema) if one is not None else None
        if one is None or other is None or not _alike(one, other):
            continue
        if (found := _told(one, other, sides, schema)) is not None:
            return [found]
    return []


def _pairs_number(texts: Sequence[str], best: Read, schema: Schema) -> Draft | None:
    """Return the first draft of some questions that finds one number."""
    for draft in (d for text in texts for d in fully_read(best(text), 2)):
        plan = draft.plan
        lone = len(plan.columns) == 1 and not (plan.group_by or plan.having or plan.order)
        if lone and plan.limit is None and _is_number(plan, schema):
            return draft
    return None


def _is_number(plan: pl.Plan, schema: Schema) -> bool:
    """Return whether a plan with one column shows one number: a fold, or what one thing has."""
    value = plan.columns[0].value
    if isinstance(value, pl.Aggregate | pl.Arithmetic):
        return all(not isinstance(e, pl.Unknown) or isinstance(value, pl.Aggregate) for e in pl.parts(value))
    plain = value.value if isinstance(value, pl.Number) else value
    if plan.where.either or plan.where.plans or not isinstance(plain, pl.Unknown):
        return False
    infos = [schema.properties.get(str(p.predicate)) for p in plan.where.patterns if p.object == plain]
    named = any(isinstance(p.subject, URIRef) for p in plan.where.patterns)
    return named and any(info is not None and info.kind in ("number", "date") for info in infos)


def _alike(one: Draft, other: Draft) -> bool:
    """Return whether two drafts find the same kind of number of different things."""
    a, b = one.plan.columns[0].value, other.plan.columns[0].value
    if one.plan.where == other.plan.where:
        return False
    if isinstance(a, pl.Aggregate) and isinstance(b, pl.Aggregate):
        same = a.function == b.function and (a.value is None) == (b.value is None)
        return same and (a.value is None or _folded(one) == _folded(other))
    return type(a) is type(b) and _folded(one) == _folded(other)


def _folded(draft: Draft) -> set[str]:
    """Return the properties of the values that a draft shows or folds."""
    values = set(pl.parts(draft.plan.columns[0].value))
    return {str(p.predicate) for p in all_patterns(draft.plan.where) if p.object in values}


def _told(one: Draft, other: Draft, sides: Sides, schema: Schema) -> Draft | None:
    if sides.told in ("each", "which"):
        rows = _rows(one, other, schema)
        if rows is None:
            return None if sides.told == "which" or sides.only_all else _columns(one, other)
        key, where, value = rows
        if sides.only_all and not _no_others(key, where, schema):
            return None
        name = one.plan.columns[0].name
        number = pl.Column(value, name if name != key.name else f"{name}_value")
        plan = pl.Plan(where, (pl.Column(key, key.name), number))
        shown: tuple[str, ...] = (key.name, number.name)
        if sides.told == "which":
            order = (pl.Order(number.name, descending=sides.relation == ">"),)
            plan, shown = replace(plan, order=order, limit=1, ties=True), shown[:1]
        return _of_both(plan, one, other, shown)
    apart = _apart(one, other)
    if sides.relation is None or apart is None:
        return None
    where, left, right = apart
    if sides.told == "whether":
        compared = pl.Comparison(left, sides.relation, right)
        if isinstance(left, pl.Aggregate):
            return _of_both(pl.Plan(where, having=(compared,)), one, other, ())
        where = replace(where, conditions=(*where.conditions, compared))
        return _of_both(pl.Plan(where), one, other, ())
    minus = pl.Arithmetic(left, "-", right) if sides.relation == ">" else pl.Arithmetic(right, "-", left)
    columns = (pl.Column(minus, "difference"),)
    return _of_both(pl.Plan(where, columns), one, other, ("difference",))


def _no_others(key: pl.Unknown, where: pl.Block, schema: Schema) -> bool:
    """Return whether what is set side by side is all there is, so that both together need no naming."""
    infos = (schema.properties.get(str(p.predicate)) for p in where.patterns if p.object == key)
    return any(info is not None and info.objects == 2 for info in infos)


def _columns(one: Draft, other: Draft) -> Draft | None:
    """Return the draft of two numbers in one row, where they are of things of different kinds."""
    apart = _apart(one, other)
    names = (one.plan.columns[0].name, other.plan.columns[0].name)
    if apart is None or names[0] == names[1]:
        return None
    where, *values = apart
    return _of_both(pl.Plan(where, tuple(map(pl.Column, values, names))), one, other, names)


def _apart(one: Draft, other: Draft) -> tuple[pl.Block, pl.Expression, pl.Expression] | None:
    """Return the block that two numbers need, and both, each with unknowns of its own."""
    first, second = one.plan.columns[0].value, other.plan.columns[0].value
    if isinstance(first, pl.Arithmetic) or isinstance(second, pl.Arithmetic):
        return None  # the folds in it are of one block
    a, left = set_aside(first, one.plan.where, "one_")
    b, right = set_aside(second, other.plan.where, "other_")
    return merged(a, b), left, right


def _rows(one: Draft, other: Draft, schema: Schema) -> tuple[pl.Unknown, pl.Block, pl.Expression] | None:
    """Return what differs between two plans as an unknown, the block that both are, and the number.

    None if they differ in more than one thing or value.
    """
    a, b, value = one.plan.where, other.plan.where, one.plan.columns[0].value
    if value != other.plan.columns[0].value:
        return None
    lone = [([c for c in x.conditions if c not in y.conditions], y) for x, y in ((a, b), (b, a))]
    (mine, _), (theirs, _) = lone
    if len(mine) == len(theirs) == 1 and set(a.patterns) == set(b.patterns):
        left, right = mine[0], theirs[0]
        key = left.left if isinstance(left, pl.Comparison) else left.value
        same = key == (right.left if isinstance(right, pl.Comparison) else right.value)
        rest = [
            replace(x, conditions=tuple(c for c in x.conditions if c not in (left, right))) for x in (a, b)
        ]
        if not same or not isinstance(key, pl.Unknown) or rest[0] != rest[1]:
            return None
        either = (pl.Block(conditions=(left,)), pl.Block(conditions=(right,)))
        return key, replace(rest[0], either=(*rest[0].either, either)), value
    mine_, theirs_ = (_constants(x) - _constants(y) for x, y in ((a, b), (b, a)))
    if len(mine_) != 1 or len(theirs_) != 1:
        return None
    (first,), (second,) = mine_, theirs_
    key = pl.Unknown(_called(a, first, schema))
    told = [substituted(x, {c: key}) for x, c in ((a, first), (b, second))]
    if set(told[0].patterns) != set(told[1].patterns) or replace(told[0], patterns=()) != replace(
        told[1], patterns=()
    ):
        return None
    either_thing = tuple(pl.Block(conditions=(pl.Comparison(key, "=", c),)) for c in (first, second))
    return key, replace(told[0], either=(*told[0].either, either_thing)), value


def _constants(block: pl.Block) -> set[URIRef | Literal]:
    """Return the things and values that the patterns of a block name; classes are none."""
    places = (
        place for p in all_patterns(block) for place in (p.subject, p.object) if p.predicate != RDF.type
    )
    return {p for p in places if isinstance(p, URIRef | Literal)}


def _called(block: pl.Block, constant: URIRef | Literal, schema: Schema) -> str:
    """Return a name for what stands in the place of a thing or a value."""
    taken = {u.name for p in all_patterns(block) for u in (p.subject, p.object) if isinstance(u, pl.Unknown)}
    name = "thing"
    for p in block.patterns:
        info = schema.properties.get(str(p.predicate))
        ends = (info.ranges if p.object == constant else info.domains) if info is not None else ()
        classes = [c for c in ends if c in schema.classes]
        if constant in (p.subject, p.object) and classes:
            name = identifier(schema.classes[classes[0]].names[0])
    while name in taken:
        name += "_too"
    return name


def _of_both(plan: pl.Plan, one: Draft, other: Draft, shown: Sequence[str]) -> Draft | None:
    return whole(plan, one, other, shown=shown, joins=max, guesses=max)


_RELATIVES_FORM: Final = compile_late(
    r"(?i)^(?P<head>.+?\b(?:more|less|fewer|\w+er|before|after)(?: \w+)?)"
    r"(?P<than> than|(?<=before)|(?<=after)) (?:their|its|his or her|his|her)(?: own)? "
    r"(?P<whose>[a-z]+(?: [a-z]+)?)(?: (?:does|do|did|is|are|was|were|has|have))?\W*$"
)


@dataclass(frozen=True)
class Relative:
    """A question that compares things with what they are related to.

    Attributes:
        text: The question with a number in the place of the other thing, or with a year.
        whose: The words for how they are related.
    """

    text: str
    whose: str


def relative_of(text: str) -> Relative | None:
    """Return what a question compares with a relative of the same kind; None for other questions.

    Example:
        >>> relative_of("Who earns more than their manager?")
        Relative(text='Who earns more than 13571?', whose='manager')
    """
    match = _RELATIVES_FORM.match(text)
    if match is None:
        return None
    stand_in = NUMBER if match["than"].strip() else YEAR
    return Relative(f"{match['head']}{match['than']} {stand_in}?", match["whose"].lower())


def compared_with(relative: Relative, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    """Yield drafts of a question that compares things with what they are related to.

    Args:
        relative: What is compared.
        read: Reads a question; best drafts first.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    for draft in fully_read(read(relative.text), 2):
        if (found := compared_value(draft)) is None:
            continue
        kept, bound, said = found
        for link, score in _links(relative, said, named, schema):
            other, value = (unused(name, names_of(draft.plan)) for name in ("other", "its_value"))
            number = isinstance(bound.left, Number)
            left: Expression = bound.left if number else said.object
            right: Expression = Number(value) if number else value
            block = Block(
                (Pattern(said.subject, URIRef(link), other), Pattern(other, said.predicate, value)),
                (Comparison(left, bound.relation, right),),
            )
            if (whole := also_holding(kept, block, matches=(score,))) is not None:
                yield whole
                return


def _links(relative: Relative, said: Pattern, named: Named, schema: Schema) -> Iterator[tuple[str, float]]:
    """Yield the properties that lead from a thing to its relative, of which the same is said."""
    info = schema.properties.get(str(said.predicate))
    kinds = {*info.domains} if info is not None else set()
    for found in named(relative.whose):
        link = schema.properties.get(found.term) if found.kind == "property" else None
        if link is not None and link.kind == "entity" and kinds & {*link.domains} and kinds & {*link.ranges}:
            yield found.term, found.score
            return
    own = [
        i.iri
        for i in schema.properties.values()
        if i.kind == "entity" and i.functional and kinds & {*i.domains} and kinds & {*i.ranges}
    ]
    if len(own) == 1:
        yield own[0], 0.75


_UNITS: dict[str, pl.Part] = {"year": "year", "month": "year-month", "day": "date", "date": "date"}
_SAMES_IN = r"(?:in|on|during|within|at) (?:exactly )?"
_WITH = r"(?:(?:that |which |who )?(?:share|shares|have|has|with|of|having|in|from|at) )?(?:exactly )?"
_SAME = compile_late(
    rf"(?i)^(?P<outer>.+?) (?:{_SAMES_IN}(?:the|that) (?:very )?same (?P<unit>{'|'.join(_UNITS)})"
    rf" (?P<as>as|that|in which|on which|when)|{_SAMES_IN}the (?P<one>{'|'.join(_UNITS)})"
    rf" (?P<rel>that|in which|on which|when)|{_WITH}the (?:very )?same (?P<what>\w+(?: \w+){{0,3}}?) as"
    r"|(?:that |which |who )?(?:share|shares|shared|sharing) (?:an?|the(?: same)?|their|its|his|her)"
    r" (?P<shared>\w+(?: \w+){0,3}?) with)"
    r" (?P<rest>.+?)\W*$"
)
_AFTER = compile_late(
    r"(?i)^(?P<head>.+? (?P<way>before|after|since)) (?:the (?:day|time|moment) (?:that |when )?)?"
    r"(?P<clause>(?!\d)\w.*? \w+)\W*$"
)
_CLAUSE = compile_late(
    r"(?i)^(?P<subject>.+?) (?P<verb>was|were|is|are|did|has been|have been|had been)(?P<more>(?: .+)?)$"
)
_WHO = compile_late(r"(?i)^\W*who(?: else| all)?(?: is| are| was| were| has| have)?$")


@dataclass(frozen=True)
class SharedValue:
    """What a question says is shared.

    Attributes:
        outer: The question without it.
        part: The part of a date that is shared; None for the value of a property.
        what: The words for the property.
        other: The words for what it is shared with.
        same: Whether it is said that the value is the same, so that the other thing is left out.
        shares: Whether it says so by a verb, which says nothing where the value is not found.
    """

    outer: str
    part: pl.Part | None
    what: str
    other: str
    same: bool
    shares: bool = False


def shared_value(text: str) -> SharedValue | None:
    """Return what a question says two things share; None if it says nothing of the kind.

    Example:
        >>> shared = shared_value("Which nurses were hired in the same year as Ada?")
        >>> shared.outer, shared.part, shared.other
        ('Which nurses were hired', 'year', 'Ada')
    """
    match = _SAME.match(text)
    if match is None:
        return None
    unit = (match["unit"] or match["one"] or "").lower()
    return SharedValue(
        match["outer"],
        _UNITS.get(unit),
        match["what"] or match["shared"] or "",
        match["rest"],
        match["one"] is None,
        match["shared"] is not None,
    )


def sharing(shared: SharedValue, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    """Yield drafts of a question for things that share a value with another.

    Args:
        shared: What they share.
        read: Reads a question; best drafts first.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    if shared.part is not None:
        yield from _at_the_same_time(shared, shared.part, read, named, schema)
    else:
        yield from _sames_alike(shared, read, named, schema)


def _at_the_same_time(
    shared: SharedValue, part: pl.Part, read: Read, named: Named, schema: Schema
) -> Iterator[Draft]:
    things = [c for c in named(shared.other) if c.kind == "entity"]
    for outer, time in _at_a_time(f"{shared.outer} in {YEAR}", read):
        said = [p for p in outer.plan.where.patterns if p.object == time]
        # "In the same year as Ada" is the year of Ada in the same respect.
        for pattern in said[:1] if things else ():
            info = schema.properties.get(str(pattern.predicate))
            thing = next((c for c in things if info and set(c.classes) & set(info.domains)), None)
            if thing is not None and isinstance(pattern.predicate, URIRef):
                own, other = URIRef(thing.term), unused("its_time", names_of(outer.plan))
                block = pl.Block(
                    (pl.Pattern(own, pattern.predicate, other),), (_same_part(part, time, other),)
                )
                found = also_holding(outer, block, matches=(thing.score,))
                if found is not None:
                    yield _without(found, pattern.subject, own) if shared.same else found
                return
        if (told := _time_told(shared.other, read)) is not None:
            inner, value = told
            block, other = _renamed(inner.plan.where, value, outer.plan)
            same = replace(block, conditions=(*block.conditions, _same_part(part, time, other)))
            alike = {p.subject for p in block.patterns if p.predicate in {q.predicate for q in said}}
            named_ = next((s for s in alike if isinstance(s, URIRef)), None) if shared.same else None
            if (found := also_holding(outer, same, inner)) is not None:
                yield found if named_ is None else _without(found, said[0].subject, named_)
            return


def after_event(text: str) -> tuple[str, pl.Relation, str] | None:
    """Return a question up to a time, how that compares, and what happened then; None for other questions.

    Example:
        >>> after_event("Which projects started after Apollo ended?")
        ('Which projects started after', '>', 'Apollo ended')
    """
    match = _AFTER.match(text)
    if match is None or not is_past(match["clause"].split()[-1].lower()):
        return None
    return match["head"], ">" if match["way"].lower() in ("after", "since") else "<", match["clause"]


def compared_with_event(event: tuple[str, pl.Relation, str], read: Read) -> Iterator[Draft]:
    """Yield drafts of a question for what was before or after something happened.

    Args:
        event: What `after_event` returns.
        read: Reads a question; best drafts first.
    """
    head, relation, clause = event
    for outer, time in _at_a_time(f"{head} {YEAR}?", read):
        if (told := _time_told(clause, read)) is not None:
            inner, value = told
            block, other = _renamed(inner.plan.where, value, outer.plan)
            bound = pl.Comparison(pl.DatePart("date", time), relation, pl.DatePart("date", other))
            if found := also_holding(outer, replace(block, conditions=(*block.conditions, bound)), inner):
                yield found
            return


def _sames_alike(shared: SharedValue, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    things = [c for c in named(shared.other) if c.kind == "entity"]
    properties = [c for c in named(shared.what) if c.kind == "property"]
    who = [schema.classes[c] for t in things for c in t.classes if c in schema.classes]
    outer_text = (
        f"Which {plural(who[0].names[0])} are there?" if _WHO.match(shared.outer) and who else shared.outer
    )
    for outer in fully_read(read(outer_text), 1):
        cls = _kind(outer, schema)
        if cls is None:
            continue
        kinds = {cls, *schema.above(cls)}
        for found in [*properties[:3], *_leading_to(shared.what, kinds, named, schema)]:
            info = schema.properties.get(found.term)
            thing = next((c for c in things if {*c.classes} & {cls} or kinds & {*c.classes}), None)
            if info is None or thing is None or not kinds & {*info.domains}:
                continue
            place = next(p.subject for p in outer.plan.where.patterns if str(p.object) == cls)
            own, link = URIRef(thing.term), URIRef(info.iri)
            value = unused(identifier(info.names[0] if info.names else "value"), names_of(outer.plan))
            block = pl.Block((pl.Pattern(place, link, value), pl.Pattern(own, link, value)))
            if (alike := also_holding(outer, block, matches=(found.score, thing.score))) is not None:
                yield _without(alike, place, own)
            return


def _leading_to(what: str, kinds: set[str], named: Named, schema: Schema) -> list[Candidate]:
    """Return the one property by which things have something of a class that is named: "share a stadium"."""
    classes = {c.term for c in named(what) if c.kind == "class" and c.score > 0.9}
    infos = [i for i in schema.properties.values() if kinds & {*i.domains} and classes & {*i.ranges}]
    return [Candidate("property", i.iri, 0.85, i.names[0], "meaning") for i in infos if len(infos) == 1]


def _kind(draft: Draft, schema: Schema) -> str | None:
    """Return the class of the things that a plan lists or counts."""
    listed = described(draft, schema)
    if listed is not None:
        return listed
    typed = [str(p.object) for p in draft.plan.where.patterns if str(p.object) in schema.classes]
    return typed[0] if len(typed) == 1 else None


def _at_a_time(text: str, read: Read) -> Iterator[tuple[Draft, pl.Unknown]]:
    """Yield drafts of a question with a year in it, without that year, and the one time that it bounds."""
    for draft in fully_read(read(text), 2):
        kept, bounds = without_stand_in(draft)
        times = {time for bound in bounds if (time := _plain(bound.left)) is not None}
        if len(times) == 1:
            yield kept, times.pop()


def _time_told(clause: str, read: Read) -> tuple[Draft, pl.Unknown] | None:
    """Return the draft that finds the one time of what a clause tells, and that: "Ada was hired"."""
    match = _CLAUSE.match(clause)
    told = f"did {clause}"
    if match is not None:
        told = f"{match['verb'].split()[0]} {match['subject']}{match['more']}"
    for draft in fully_read(read(f"When {told}?"), 1):
        time = None if draft.lone_value is None else _plain(draft.lone_value)
        if time is not None and not draft.plan.grouped and draft.plan.limit is None:
            return draft, time
    return None


def _plain(value: pl.Expression) -> pl.Unknown | None:
    """Return the unknown of which a value is a part or the number."""
    while isinstance(value, pl.DatePart | pl.Number):
        value = value.value
    return value if isinstance(value, pl.Unknown) else None


def _same_part(part: pl.Part, one: pl.Unknown, other: pl.Unknown) -> pl.Comparison:
    return pl.Comparison(pl.DatePart(part, one), "=", pl.DatePart(part, other))


def _renamed(block: pl.Block, value: pl.Unknown, plan: pl.Plan) -> tuple[pl.Block, pl.Unknown]:
    """Return a block with names that a plan has not, and what one of its unknowns is called then."""
    taken = names_of(plan)
    by: dict[pl.Place, pl.Place] = {
        u: pl.Unknown(next(numbered(f"its_{u.name}", taken))) for u in sorted(mentioned(block))
    }
    found = by[value]
    assert isinstance(found, pl.Unknown)
    return substituted(block, by), found


def _without(draft: Draft, place: pl.Place, thing: URIRef) -> Draft:
    """Return a draft that leaves out the thing that others are compared with, if that is one of them."""
    if not isinstance(place, pl.Unknown):
        return draft
    apart = pl.Block(conditions=(pl.Comparison(place, "!=", thing),))
    return also_holding(draft, apart) or draft


def beside_others(
    text: str, read: Read, read_with: ReadWith, named: Named, schema: Schema
) -> list[Draft] | None:
    """Return drafts of a question that sets things beside others; None for one that is read otherwise.

    Args:
        text: The question.
        read: Reads a question; best drafts first.
        read_with: Reads one with what a word in it stands for.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    if (level := level_of(text)) is not None:
        return list(above_level(level, read, named, schema))  # the average of all will not do
    if (beyond := beyond_of(text)) is not None and (more := list(compared_with_all(beyond, read, schema))):
        return more
    if (relative := relative_of(text)) is not None:
        return list(compared_with(relative, read, named, schema)) or None
    if (owned := owned_of(text)) is not None:
        return list(with_their_own(owned, read_with, named, schema))
    event = after_event(text)
    if event is not None and (later := list(compared_with_event(event, read))):
        return later
    if (shared := shared_value(text)) is not None:
        alike = list(sharing(shared, read, named, schema))
        return alike if alike or shared.shares else None
    return None
