"""A question as a row of items: names of the graph, cues, numbers, times, quotations, and words unread."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mrag.language.tokens import VERBS, is_stopword
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexical.english import positive
from mrag.planning.reading.cues import Cue, cues
from mrag.planning.reading.periods import Period, Word
from mrag.planning.reading.question import Quantity, QuestionText
from mrag.planning.schema import Schema

_NOISE = frozenset(
    "distinct unique different various respective respectively corresponding available associated related "
    "given existing exist exists there database data graph dataset table record records information info "
    "detail details value values result results please overall entire whole individual specific particular "
    "certain involved include includes included including contain belong belongs belonging have has had "
    "having be is are was were been being do does did done make makes made take takes taken took get gets "
    "thing things one ones total totals kind kinds sort sorts type types list lists listed also only "
    "just ever currently current present presented shown show shows together want wanted know need "
    "found find become becomes became "
    "use uses used using based come comes came located locate lie lies situated belonged called named name "
    "names known respect regarding concerning entry entries item items instance instances all any each both "
    "their its his her them they it he she we you i me my our your us some much many more than who whom "
    "whose that which what where when how why the a an of in on at by for from to with within into "
    "onto and or as "
    "so if then this these those such same other others another every no not s t can could would should will "
    "shall may might must please number numbers count counts amount amounts per via between during "
    "over under "
    "order ordered sort sorted descending ascending inclusive start end annual annually new live "
    "lives living "
    "combination combinations pair pairs offer offers offered offering provides feature features "
    "convert converted integer share shares sharing "
    "receive received earn earns earned obtain obtained gain gained got gotten achieve achieved acquired "
    "recorded registered actually really already still yet "
    "occur occurred happen happened relevant correspond belongs did done hold holds held host hosts "
    "showing shows "
    "among amongst anything anyone anybody someone somebody something everyone everybody "
    "place places go went going give gave given provide provided say says said tell".split()
)
"""Words that a reading may leave aside: they say nothing that the graph could answer otherwise."""


_BETWEEN = frozenset("in at on for from to with the a an".split())
_JOINING = frozenset("in at on for from to with and or".split())
_GRAMMAR = frozenset(
    "each every both whose all per no not with who that which how many most least than where when "
    "any have has had is are was were by but".split()
)
"""Words that join names: a name that was matched across one is two names."""


_COUNTED = frozenset("number count amount quantity".split())
"""Words that begin the name of a property whose values are counts: "number of pages"."""


_ALONE = VERBS | frozenset("first second third last next".split())
"""Words that name nothing by themselves, though names have them."""


@dataclass(frozen=True)
class QuestionItem:
    """Words of a question that are read together.

    Exactly one of the fields behind `end` is given; none for a word that is not read.
    """

    start: int
    end: int
    cue: Cue | None = None
    mention: NameMention | None = None
    quantity: Quantity | None = None
    period: Period | None = None
    text: str = ""

    @property
    def cue_kind(self) -> str:
        """Return the kind of its cue; "" if it is none."""
        return self.cue.kind if self.cue is not None else ""

    @property
    def named_kind(self) -> str:
        """Return the kind of what it likeliest names; "" if it names nothing."""
        return self.mention.candidates[0].kind if self.mention is not None else ""

    @property
    def unread(self) -> bool:
        """Return whether it is a word without a reading."""
        return not (self.cue or self.mention or self.quantity or self.period or self.text)


@dataclass(frozen=True)
class Segmentation:
    """One way of cutting a question into items.

    Attributes:
        items: The items in order.
        score: How well they cover it.
        ignored: The words that carry meaning and are in none of them.
    """

    items: tuple[QuestionItem, ...]
    score: float
    ignored: tuple[int, ...]


def meaningful(word: Word) -> bool:
    """Return whether a reading must account for a word."""
    raw = word.token.raw
    if raw.isupper() and len(raw) > 1 and raw.isalpha():
        return True  # "US" is no pronoun
    return not (word.low in _NOISE or word.token.key in _NOISE or is_stopword(word.token.key))


def segmentations(
    question: QuestionText, mentions: Iterable[NameMention], schema: Schema, k: int = 6
) -> list[Segmentation]:
    """Return the best ways of cutting a question into items, best first.

    Args:
        question: The question.
        mentions: What its words may name.
        schema: The schema of the graph.
        k: Maximum number of ways.
    """
    words = question.words
    mentions = list(mentions)
    needed = _parts_of_names(question, mentions)
    starting: list[list[tuple[float, QuestionItem]]] = [[] for _ in words]
    for item, weight in _weighed(question, mentions, schema):
        starting[item.start].append((weight, item))
    best: list[list[tuple[float, tuple[QuestionItem, ...]]]] = [[] for _ in range(len(words) + 1)]
    best[0] = [(0.0, ())]
    for at in range(len(words)):
        ways = best[at]
        for weight, item in starting[at]:
            best[item.end].extend((score + weight, (*items, item)) for score, items in ways)
        skipped = -0.6 if meaningful(words[at]) or at in needed else 0.02
        best[at + 1].extend((score + skipped, (*items, QuestionItem(at, at + 1))) for score, items in ways)
        for later in range(at + 1, len(words) + 1):
            if len(best[later]) > 4 * k:
                best[later] = heapq.nlargest(k, best[later], key=_key)
        best[at + 1] = heapq.nlargest(k, best[at + 1], key=_key)
    found = heapq.nlargest(k, best[len(words)], key=_key)
    return [
        Segmentation(
            items,
            score,
            tuple(i.start for i in items if i.unread and (meaningful(words[i.start]) or i.start in needed)),
        )
        for score, items in found
    ]


def _parts_of_names(question: QuestionText, mentions: Sequence[NameMention]) -> set[int]:
    """Return the places of words that name a thing, or a class or a property together with those beside them.

    Without them less is said: graph databases are not all databases, and orders in May are not all orders.
    """
    return (
        {p.start for p in question.periods}
        | {
            at
            for m in mentions
            if (m.end - m.start > 1 and m.candidates[0].kind in ("class", "property"))
            or (m.candidates[0].kind in ("class", "entity") and m.candidates[0].way == "exact")
            if m.candidates[0].score > 0.94
            for at in range(m.start, m.end)
            if not is_stopword(question.words[at].token.key)
        }
        | {m.start for m in mentions if m.end - m.start == 1 and question.words[m.start].token.raw == "A"}
    )


def _key(way: tuple[float, tuple[QuestionItem, ...]]) -> tuple[float, int, tuple[int, ...]]:
    # Equal scores: fewer items first, then the earlier long one.
    return round(way[0], 6), -len(way[1]), tuple(i.end for i in way[1])


def _weighed(
    question: QuestionText, mentions: Iterable[NameMention], schema: Schema
) -> Iterable[tuple[QuestionItem, float]]:
    quoted = question.quotations
    mentions = list(mentions)
    classes = {
        (m.start, m.end) for m in mentions if m.candidates[0].kind == "class" and m.candidates[0].score > 0.85
    }
    for a, b, text in quoted:
        yield QuestionItem(a, b, text=text), 1.0 + 1.2 * (b - a)
    for mention in mentions:
        if _cuts(mention.start, mention.end, quoted):
            continue
        size, score = mention.end - mention.start, mention.candidates[0].score
        inner = question.low[mention.start : mention.end]
        if mention.candidates[0].way != "exact" and _accidental(mention.candidates[0], inner):
            continue
        best = mention.candidates[0]
        counted = inner[0] in _COUNTED and best.way == "exact" and best.kind == "property"
        if (
            size > 1
            and _leads_on(mention.candidates[0], schema)
            and (mention.end - 1, mention.end) in classes
            and not counted
        ):
            # "published in journals" is a verb and its object; "journal name" is a name of its own.
            score -= 0.25
        if size == 1 and re.fullmatch(r"\d{1,3}(?:[.,]\d+)?", inner[0]):
            # A number first of all; what has it for a name is found by its number.
            score -= 0.3
        inside = any((a, b) == (mention.start, mention.end) for a, b, _ in quoted)
        beside = any(m.end <= mention.start or m.start >= mention.end for m in mentions)
        if size > 1 and best.way == "exact" and best.kind == "property" and _extreme(inner[0]):
            score += 0.9 / size  # the "highest point" is called so
        if counted and beside:
            score += 0.3 if size > 1 else 1.2
        weight = size * score + 0.15 * (size - 1) + (1.5 + 0.5 * size if inside and score > 0.8 else 0.0)
        yield QuestionItem(mention.start, mention.end, mention=mention), weight - (0.35 if score < 0.6 else 0)
    for cue in cues(question.low):
        if _cuts(cue.start, cue.end, quoted) or any(a <= cue.start < b for a, b, _ in quoted):
            continue
        size = cue.end - cue.start
        first = 0.3 if cue.start == 0 else 0.0
        yield QuestionItem(cue.start, cue.end, cue=cue), 0.9 * size + 0.2 * (size - 1) + first
    for quantity in question.quantities:
        yield (
            QuestionItem(quantity.start, quantity.end, quantity=quantity),
            0.95 * (quantity.end - quantity.start),
        )
    for period in question.periods:
        yield QuestionItem(period.start, period.end, period=period), 1.05 * (period.end - period.start)


def _extreme(word: str) -> bool:
    plain = positive(word)
    return plain is not None and plain != word


def _leads_on(found: Candidate, schema: Schema) -> bool:
    """Return whether a name is of a property that leads to things; the "aircraft code" is all one name."""
    info = schema.properties.get(found.term) if found.kind == "property" else None
    return info is not None and info.kind == "entity"


def _accidental(found: Candidate, words: Sequence[str]) -> bool:
    """Return whether words are like a name only by accident: they join two names, or are a verb."""
    if not _GRAMMAR.isdisjoint(words):
        return True
    if found.kind not in ("entity", "value"):
        # "Publications in the year" are no "year of publication".
        return len(words) > 2 and bool(_JOINING & {*words[1:-1]} - {*found.name.lower().split()})
    return not _BETWEEN.isdisjoint(words[1:]) or (len(words) == 1 and words[0] in _ALONE)


def _cuts(start: int, end: int, quoted: Sequence[tuple[int, int, str]]) -> bool:
    return any((start < a < end) or (start < b < end) for a, b, _ in quoted)
