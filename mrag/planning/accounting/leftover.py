"""Words, names and numbers of a question that its plan does not have, and names that only the plan has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mrag.context.display import Display
from mrag.planning.accounting.sides import BothSides, Gap, roots_in
from mrag.planning.accounting.words import (
    ASKING,
    BEFORE_DEEDS,
    CURRENCIES,
    EMPTY,
    FACTORS,
    GREATEST,
    LEAST,
    LIGHT,
    MADE,
    MONTHS,
    NEGATIONS,
    OPERATING,
    QUANTITIES,
    ROOM,
    SEXES,
    SHARES,
    TIMELY,
)
from mrag.planning.lexical.synonyms import positive
from mrag.planning.lexical.words import is_done, root
from mrag.planning.reading.numbers import NUMBERS, SCALE, UNITS, number_of, rank_of
from mrag.text.tokens import VERBS, stem, words_in

_VERB_ROOTS: Final = frozenset(map(root, VERBS))
_TIMELY: Final = ("dai", "week", "month", "year", "quarter", "hour")
_LIGHT_ROOTS: Final = frozenset(map(root, LIGHT))
_MADE_ROOTS: Final = frozenset(map(root, MADE))
_ROOM_ROOTS: Final = frozenset(map(root, ROOM))
_QUOTED: Final = re.compile(r"\"([^\"]{1,80})\"|“([^”]{1,80})”|(?<!\w)'([^']{1,80})'(?!\w)")
_YEARS: Final = range(1000, 2200)
_CLEAR: Final = 0.6
_SURE: Final = 0.9


def left_over(sides: BothSides) -> Iterator[Gap]:
    """Yield the words that carry meaning and have no counterpart in the plan, with quotations and numbers."""
    yield from _words(sides)
    yield from _quotations(sides)
    yield from _numbers(sides)


def _words(sides: BothSides) -> Iterator[Gap]:
    at_all = range(len(sides.words))
    open_ = [at for at in at_all if _carries(sides, at) and not sides.is_in(at, sides.vocabulary)]
    open_ = [at for at in open_ if not _is_code(sides, at)]
    if not open_:
        return
    comments = set[str]()
    if sides.use.texts or sides.use.numbers:
        # What codes stand for is only said in comments.
        used = sides.use.properties & sides.schema.properties.keys()
        comments = roots_in((sides.schema.properties[p].comment for p in used), 200)
    passed = {at for at in open_ if at in sides.read or sides.roots[at] in comments}
    for at in open_:
        if at in passed or _is_passed(sides, at):
            passed.add(at)
        elif not (
            sides.low[at] in QUANTITIES and (at - 1 in passed or sides.is_in(at - 1, sides.vocabulary))
        ):
            yield Gap(sides.words[at].raw, "word")


def _carries(sides: BothSides, at: int) -> bool:
    """Return whether a word needs a counterpart of its own."""
    word, raw = sides.low[at], sides.words[at].raw
    if len(word) < 2 or "n't" in word or "n’t" in word or number_of(sides.words[at].key) is not None:
        return False
    if word in MONTHS and (sides.use.operations or sides.use.numbers):
        return False
    if raw[0].isupper() and at and word not in ASKING and sides.between(at)[-1:] not in tuple(".?!"):
        return not raw[1:].islower() or word not in EMPTY
    if word in EMPTY or word in ASKING or word in NEGATIONS or word in SHARES:
        return word == "us" and sides.low[at - 1 : at] == ["the"]
    says_how = word in OPERATING or word in GREATEST or word in LEAST or positive(word) is not None
    counts = word in NUMBERS or word in SCALE or bool(rank_of(word))
    return not (says_how or counts or word in UNITS or word.removesuffix("s") in UNITS)


def _is_code(sides: BothSides, at: int) -> bool:
    """Return whether the plan has a short code that a word begins with: "M" for men."""
    word = sides.low[at]
    codes = [text.lower() for text in sides.use.texts if 0 < len(text) < 4]
    return any(word.startswith(code) or word in SEXES.get(code, ()) for code in codes)


def _is_passed(sides: BothSides, at: int) -> bool:
    """Return whether a word that nothing in the plan is called like may be left aside."""
    word = sides.low[at]
    called = any(
        c.kind in ("class", "property") and c.way in ("exact", "inflected") and c.score > _SURE
        for c in sides.found(at)
    )
    if (word in LIGHT or sides.roots[at] in _LIGHT_ROOTS) and not called:
        return True
    dated = any(text[:4].isdigit() for text in sides.use.texts)
    if word in TIMELY and (sides.use.operations or dated):
        return True
    if sides.roots[at] in _MADE_ROOTS and ("when" in sides.low or dated):
        return True
    if at and (sides.low[at - 1][0].isdigit() and not called and (word in CURRENCIES or not word.isalpha())):
        return True
    if sides.between(at) == "-" and (at - 1 in sides.read or sides.is_in(at - 1, sides.vocabulary)):
        return True  # "check-ins"
    if ["or", "other"] in (sides.low[at + 1 : at + 3], sides.low[at + 2 : at + 4]):
        return True  # "captain, mate or other sailor"
    if not called and "per" in (
        sides.low[at - 1 : at] + (sides.low[at - 3 : at - 2] if sides.low[at - 1] == "and" else [])
    ):
        return True  # a unit, or what one costs
    if not _ROOM_ROOTS.isdisjoint(sides.roots) and not _ROOM_ROOTS.isdisjoint(sides.own):
        return True  # how many can be had is told by a number
    if _is_apposed(sides, at):
        return True
    common = sides.words[at].raw.islower()
    if any(
        c.way == "exact" and (c.kind == "entity" or (c.kind == "value" and not common))
        for c in sides.covering(at)
    ):
        return False  # a name is never left aside
    if common and _is_deed(sides, at) and sides.reasoned:
        return True  # a verb says no more than the relation that other words name
    known = any(
        m.start <= at < m.end
        and m.candidates[0].way in ("exact", "inflected", "synonym")
        and m.candidates[0].score > _CLEAR
        for m in sides.matches
    )
    if not known and common:
        # On a graph without classes nothing is called a song, or a club.
        if sides.classless and sides.reasoned and not _is_deed(sides, at):
            return True
        two = sides.low[max(0, at - 2) : at]
        if (
            not word.endswith("s")
            and len(two) == 2
            and two[1] in ("the", "our", "this")
            and two[0] in ("in", "at", "of", "on", "does", "from")
        ):
            return True  # all that the graph is about: "in the league"
    return sides.is_near(at)


def _is_deed(sides: BothSides, at: int) -> bool:
    """Return whether a word is rather a verb or an adverb than a noun."""
    word = sides.low[at]
    if word.endswith("ly") and not word.startswith(_TIMELY):
        return True
    done = is_done(word) or (word.endswith("ing") and len(word) > 5) or sides.roots[at] in _VERB_ROOTS
    return done or bool(set(sides.low[max(0, at - 1) : at]) & BEFORE_DEEDS)


def _is_apposed(sides: BothSides, at: int) -> bool:
    """Return whether a name is told again by what stands in brackets behind it: "Chicago (ORD)"."""
    end = at + 1
    while end < len(sides.words) and sides.words[end].raw[0].isupper() and "(" not in sides.between(end):
        end += 1
    return (
        end < len(sides.words)
        and "(" in sides.between(end)
        and (end in sides.read or sides.is_in(end, sides.vocabulary))
    )


def _quotations(sides: BothSides) -> Iterator[Gap]:
    names = [n for iri in sides.use.properties | sides.use.classes for n in sides.named(iri)]
    said = " ".join((*sides.labels, *names)).lower()
    for match in _QUOTED.finditer(sides.text):
        text = next(group for group in match.groups() if group).strip()
        inside = {at for at, w in enumerate(sides.words) if match.start() < w.start < match.end()}
        if text.lower() in said or roots_in([text]) <= roots_in([said]):
            continue
        if not inside or not all(at in sides.read or sides.words[at].key[:1].isdigit() for at in inside):
            yield Gap(text, "quotation")


def _numbers(sides: BothSides) -> Iterator[Gap]:
    names = [n for iri in sides.use.properties | sides.use.classes for n in sides.named(iri)]
    digits = set(re.findall(r"\d+", " ".join((*sides.labels, *sides.use.things, *names))))
    dated = not MONTHS.isdisjoint(sides.low)
    said = [UNITS[w] for word in sides.low for w in {word, word.removesuffix("s")} & UNITS.keys()]
    for at, token in enumerate(sides.words):
        word, value = sides.low[at], number_of(token.key)
        if value is None and word in NUMBERS and word not in ("one", "zero"):
            value = float(NUMBERS[word])
        if (
            value is None
            or token.raw in digits
            or sides.is_own(at)
            or sides.low[max(0, at - 2) : at] == ["of", "the"]
        ):
            continue
        behind = sides.low[at + 1] if at + 1 < len(sides.low) else ""
        value *= SCALE.get(behind, 1)
        wanted = {value * f for f in FACTORS} | {value / f for f in FACTORS}
        if value in _YEARS or (dated and value <= 31):
            wanted |= {value - 1, value + 1}  # after 2020 is from 2021 on
        wanted |= {
            value * size / other for kind, size in said for name, other in UNITS.values() if name == kind
        }
        if value <= 12 and behind in ("pm", "p"):
            wanted.add(value + 12)
        if not any(abs(w - n) < 1e-6 * max(1.0, abs(w)) for w in wanted for n in sides.use.numbers):
            yield Gap(token.raw, "number")


def unasked_names(sides: BothSides) -> Iterator[Gap]:
    """Yield names of things and values in the plan that the question does not say, or says only in part."""
    show, said = Display(sides.lexicon.kg), set(sides.roots) | set(map(stem, sides.low))
    for term in sorted(sides.use.things | sides.use.texts):
        found = [(m, c) for m in sides.matches for c in m.candidates if c.term == term]
        if not found:
            name = show.entity(term) if term in sides.use.things else ""
            if name and not roots_in([name]) & said:
                yield Gap(name, "name")
            continue
        if any(c.way not in ("tokens", "spelling") for _, c in found):
            continue
        mention, best = max(found, key=lambda f: f[1].score)
        words, own = sides.words[mention.start : mention.end], words_in(best.name)
        left = roots_in(own) - {root(w.raw) for w in words} - set(map(root, EMPTY))
        if len(left) < len(words):
            continue
        # Who writes with capitals calls nobody by a common word: "health insurance" is not Unita Health.
        common = (
            sides.text[:1].isupper()
            and all(w.raw.islower() for w in words)
            and any(w[0].isupper() for w in own)
        )
        kinds = not {root(w.raw) for w in words}.isdisjoint(sides.everything) or not NEGATIONS.isdisjoint(
            sides.low
        )
        other = any(c.way == "exact" for c in mention.candidates)
        if other or (common and kinds):
            yield Gap(best.name, "name")
