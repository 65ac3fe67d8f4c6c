"""The units of a question: names of the graph, quantities, times, adjectives that measure, and cue words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias
from typing import Literal as OneOf

from mrag.graph.record import LABELS
from mrag.language.english import AUXILIARIES, DIMENSIONS, is_empty, positive, root
from mrag.language.tokens import TextToken, fold, is_stopword, tokens
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Relation
from mrag.planning.reader.quantities import Amount, amounts_in
from mrag.planning.reader.times import times_in
from mrag.planning.schema import PropertyInfo

Kind: TypeAlias = OneOf[
    "class", "property", "entity", "value", "quantity", "time", "adjective", "cue", "text"
]
_NAMED: Final[tuple[Kind, ...]] = ("class", "property", "entity", "value")
_MOST: Final = 8  # Candidates of a unit at most
_MOST_PROPERTIES: Final = 40
"""Properties that are: many classes have a name, and which is meant the other words tell."""
_LEAST: Final = 0.3  # How like a name is at least
_SURE: Final = 0.9  # How like a name words are that surely mean it
_MOST_TERMS: Final = 4  # Terms that are kinds of things at most
_OF_TERMS: Final = ("direct", "deep")
"""Cues that say something only where terms are above and below each other."""
_OF_TRUTH: Final = ("every", "half")  # Cues that say something only where yes or no is asked for
_LONGEST: Final = 6  # Words of a cue at most


@dataclass(frozen=True)
class Unit:
    """Words of a question and what they may be."""

    kind: Kind  # What they are
    start: int  # Index of the first token
    end: int  # Index behind the last token
    # What of the graph they may name, best first; of an adjective the properties that it measures, `inverse`
    # where it wants the least
    options: tuple[Candidate, ...] = ()
    # What a cue word does; of an adjective its form: "positive", "comparative", "superlative" or, with the
    # words around it, "order"
    cue: str = ""
    op: Relation = "="  # How a quantity or a time compares; of an adjective ">" or "<"
    values: tuple[str, ...] = ()  # The number, the two ends, or a date or a text
    # Of a time, what is given: year, month, year-month, date or moment; "rank" of places in an order
    part: str = ""
    unit: str = ""  # The word for the unit of a quantity
    word: str = ""  # The words of a cue; the plain form of an adjective
    score: float = 1.0  # How much they explain
    gloss: str = ""  # The words in English, of a question in another language


@cache
def meanings(name: str) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return a table of this package: what phrases mean, by their words."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        if line and line[0] != "#":
            meaning, phrases = line.split("\t")
            for phrase in phrases.split("|"):
                words = tuple(t.raw.lower() for t in tokens(phrase))
                found[words] = (*found.get(words, ()), meaning)
    return found


def units_of(
    lexicon: Lexicon,
    question: str,
    words: Sequence[TextToken],
    names: Sequence[NameMention] | None = None,
) -> list[Unit]:
    """Return the units that a question may have.

    Args:
        lexicon: The names of the graph.
        question: The question.
        words: Its tokens.
        names: What they may name; by default what the lexicon says.
    """
    low = [t.raw.lower().replace("\u2019", "'") for t in words]
    found = list(_names(lexicon, lexicon.match(words, question) if names is None else names, words))
    # Whoever says the whole name of a class does not mean the classes that its words name.
    whole = [u for u in found if u.kind == "class" and _is_whole(u)]
    found = [u for u in found if u.kind != "class" or not any(map(partial(_is_within, u), whole))]
    found += _elided(lexicon, words, found)
    found += _usual(lexicon, low)
    found = [one for u in found if (one := _other_names(lexicon, u, low)) is not None]
    found += [replace(u, end=u.end + 1, score=u.score - 0.05) for u in found if _is_longer(u, low)]
    found += _quantities(words, low)
    found += _ranks(low)
    found += _times(question, words, low)
    found += _texts(question, words, low, found)
    stated = [u for u in found if u.kind == "text" and u.options]
    found = [u for u in found if not any(_is_within(u, text) for text in stated)]
    found += _adjectives(lexicon, low)
    terms, ladders = lexicon.schema.tree is not None, bool(lexicon.schema.ladders)
    cues = (u for u in cues_in(low) if terms or u.cue[:5] != "lang:")
    cues = (u for u in cues if ladders or u.cue not in _OF_TERMS)
    said = [u for u in cues if u.cue not in _OF_TRUTH or not AUXILIARIES.isdisjoint(low[:1])]
    # What is the most frequent is measured by nothing but how often it is there.
    counted = {(u.start, u.end) for u in said if u.cue in ("common", "uncommon")}
    kept = (u for u in found if u.options or u.kind != "adjective" or (u.start, u.end) not in counted)
    return [*kept, *said]


def cues_in(low: Sequence[str]) -> Iterator[Unit]:
    """Yield what the cue words among words in lower case may say."""
    for i in range(len(low)):
        for j in range(i + 1, min(len(low), i + _LONGEST) + 1):
            for cue in meanings("cues.tsv").get(tuple(low[i:j]), ()):
                if cue == "many":
                    yield Unit("quantity", i, j, values=("1",), op=">")
                else:
                    yield Unit("cue", i, j, cue=cue, word=" ".join(low[i:j]))


def is_free(word: str) -> bool:
    """Return whether a word may be passed over without loss."""
    key = fold(word)
    return not key or is_empty(key) or is_stopword(key) or not any(c.isalnum() for c in word)


def key_of(word: str) -> str:
    """Return the form of a word by which the model knows it."""
    return root(word)


# Names


def _names(lexicon: Lexicon, names: Sequence[NameMention], words: Sequence[TextToken]) -> Iterator[Unit]:
    for m in names:
        digits = all(t.raw.isdigit() for t in words[m.start : m.end])
        for kind in _NAMED:
            most = _MOST if kind != "property" else _MOST_PROPERTIES
            some = tuple(c for c in m.candidates if c.kind == kind and c.score >= _LEAST)
            if kind == "property" and any(c.kind == "class" for c in m.candidates):
                # An "item" is what an item name names, not its name.
                naming = lexicon.schema.label_properties
                some = tuple(c for c in some if c.way != "tokens" or c.term not in naming)
            some = some[:most]
            # A number is the value of a property before it is a name.
            if kind == "entity" and some and some[0].term in lexicon.broad and _is_of_kind(words, m, some[0]):
                pass  # "List trees" asks for those below "Tree"
            elif some and not (
                digits and (kind == "entity" or (kind == "value" and not _is_text(lexicon, some)))
            ):
                plural = kind == "entity" and _is_plural(words[m.start : m.end], some[0])
                yield Unit(kind, m.start, m.end, some, "plural" * plural, score=some[0].score)
            broad = tuple(c for c in some if kind == "entity" and c.term in lexicon.broad)[:_MOST_TERMS]
            if broad and _is_of_kind(words, m, broad[0]) is not False:
                # What is below a term are things of a kind as well.
                kinds = tuple(replace(c, kind="class") for c in broad)
                yield Unit("class", m.start, m.end, kinds, score=round(0.95 * broad[0].score, 4))


_ASKING: Final = frozenset(
    "which what list show many all every each give find display name some any are".split()
)
"""Words before a kind of things that is asked for."""


def _is_of_kind(words: Sequence[TextToken], m: NameMention, one: Candidate) -> bool | None:
    """Return whether a broad term is said as a kind of things, or as itself; None where it may be either."""
    asked = not m.start or words[m.start - 1].raw.lower() in _ASKING
    if _is_plural(words[m.start : m.end], one):
        return asked or None
    before = [t.raw.lower() for t in words[max(0, m.start - 2) : m.start]]
    return False if before[:1] in (["say"], ["call"], ["called"]) or before[-1:] == ["say"] else None


def _is_plural(said: Sequence[TextToken], one: Candidate) -> bool:
    """Return whether a name is said in the plural: "graph databases" are of that kind."""
    own = one.name.lower().split()
    some = (t.raw for t in said if t.raw.islower() and t.raw.endswith("s"))
    return any(word not in own and root(word) in map(root, own) for word in some)


def _is_text(lexicon: Lexicon, values: Sequence[Candidate]) -> bool:
    properties = lexicon.schema.properties
    return {properties[p].kind for c in values for p in c.properties if p in properties} == {"text"}


_EXACT: Final = ("exact", "inflected")


def _is_whole(unit: Unit) -> bool:
    """Return whether the whole name of a class is said, in several words."""
    first, size = unit.options[0], unit.end - unit.start
    named = first.way in _EXACT and len(first.name.split()) == size > 1
    return named and not first.term.startswith("urn:mrag:way:")


def _is_within(unit: Unit, other: Unit) -> bool:
    return (
        other.start <= unit.start
        and unit.end <= other.end
        and unit.end - unit.start < other.end - other.start
    )


def _is_longer(unit: Unit, low: Sequence[str]) -> bool:
    """Return whether a word behind a property belongs to its name: the "phone number" is the phone."""
    if unit.kind != "property" or unit.score < 0.85 or unit.end >= len(low):
        return False
    return "ending" in meanings("words.tsv").get((low[unit.end],), ())


def _elided(lexicon: Lexicon, words: Sequence[TextToken], found: Sequence[Unit]) -> Iterator[Unit]:
    """Yield what a word stands for whose head comes behind "and": "first and last name"."""
    for u in found:
        if u.kind != "property" or u.end - u.start < 2 or u.score < 0.9:
            continue
        head, at = words[u.end - 1], u.start
        while (back := _joined(words, at)) is not None:
            names = lexicon.words.candidates([words[back], head])
            some = tuple(c for c in names if c.kind == "property" and c.score >= 0.85)
            if not some:
                break
            yield Unit("property", back, back + 1, some, score=0.95)
            at = back


def _joined(words: Sequence[TextToken], at: int) -> int | None:
    """Return the word that "and", "or" or a comma joins with the one at a place."""
    if at >= 2 and words[at - 1].raw.lower() in ("and", "or"):
        return at - 2
    return at - 1 if at and words[at - 1].after.strip() == "," and words[at - 1].raw.isalpha() else None


_USUAL: Final[Mapping[str, str]] = {
    "where": "location city place address country venue site town region hometown",
    "much": "price cost amount fee salary rent total fare value",
}
"""What a property is called that question words ask for, the likeliest first."""
_SEXES: Final[Mapping[str, tuple[str, str]]] = {"male": ("M", "Male"), "female": ("F", "Female")}
"""How a sex is written."""


def _usual(lexicon: Lexicon, low: Sequence[str]) -> Iterator[Unit]:
    """Yield what question words and a few everyday words stand for."""
    for at, word in enumerate(low):
        some = sorted(_asked_for(lexicon, low, at), key=lambda c: (-c.score, c.term))[:_MOST_PROPERTIES]
        if some:
            yield Unit("property", at, at + 1, tuple(some), score=some[0].score)
        texts = [t for m in meanings("words.tsv").get((word,), ()) for t in _SEXES.get(m, ())]
        for iri, p in lexicon.schema.properties.items() if texts else ():
            if {"sex", "gender"} & {w for n in p.names for w in n.lower().split()}:
                written = [t for t in texts if _is_value(lexicon, t, iri)] or texts[:1]
                both = (Candidate("value", text, 0.9, text, "synonym", (iri,)) for text in written)
                yield Unit("value", at, at + 1, tuple(both), score=0.9)


def _is_value(lexicon: Lexicon, text: str, iri: str) -> bool:
    """Return whether a property is known to have a value."""
    found = lexicon.words.candidates(tokens(text))
    return any(c.kind == "value" and c.term == text and iri in c.properties for c in found)


_OTHER: Final = frozenset("other another alternative different else additional".split())
"""Words before "names" that do not want the one by which a thing goes."""


def _is_other_name(low: Sequence[str], at: int) -> bool:
    other = not _OTHER.isdisjoint(low[max(0, at - 2) : at])
    return other and low[at].rstrip("s") in ("name", "title", "term", "word")


def _other_names(lexicon: Lexicon, unit: Unit, low: Sequence[str]) -> Unit | None:
    """Return a unit, where other names are asked for, without what gives the first one."""
    if unit.kind != "property" or not _is_other_name(low, unit.end - 1):
        return unit
    known = lexicon.schema.properties
    some = tuple(c for c in unit.options if c.term in known and "other name" in known[c.term].names)
    return replace(unit, options=some) if some else None


def _asked_for(lexicon: Lexicon, low: Sequence[str], at: int) -> Iterator[Candidate]:
    word, properties = low[at], lexicon.schema.properties
    if word == "when":
        for iri, p in properties.items():
            if p.kind == "date" or "year" in p.names[-1].lower():
                yield Candidate("property", iri, 0.55, p.names[0], "synonym")
    elif word == "where" or (word == "much" and low[at - 1 : at] == ["how"]):
        for rank, name in enumerate(_USUAL[word].split()):
            for iri, p in properties.items():
                if any(name in n.lower().split() for n in p.names):
                    yield Candidate("property", iri, round(0.55 - 0.01 * rank, 3), p.names[0], "synonym")
    else:
        yield from _naming(properties, low, at)


def _naming(properties: Mapping[str, PropertyInfo], low: Sequence[str], at: int) -> Iterator[Candidate]:
    """Yield the properties of names and codes that a word like these asks for."""
    word, other = low[at].rstrip("s"), _is_other_name(low, at)
    for iri, p in properties.items():
        ending = p.names[-1].lower()
        if other and "other name" in p.names:
            yield Candidate("property", iri, 1.0, p.names[0], "synonym")
        elif word in ("name", "title") and not other:
            if p.kind == "text" and (ending.split()[-1] == word or iri in LABELS):  # of terms alone
                yield Candidate("property", iri, 0.6, p.names[0], "tokens")
        elif word in ("id", "identifier", "code", "number"):
            once = p.triples == p.objects == p.subjects and p.kind != "entity"
            if once and ending.replace(" ", "").endswith("id" if word == "identifier" else word):
                yield Candidate("property", iri, 0.6, p.names[0], "tokens")


# Quantities and times

_WEAK: Final = frozenset("a the of is for in on by at from".split())
"""Words before a number that say nothing of how it compares, unless it is a date."""
_PASSED: Final = frozenset(
    "year the years number value month months beginning start end of date time".split()
)
"""Words that may stand between how a number compares and the number."""
_SIGNS: Final[Mapping[str, Relation]] = {">": ">", "<": "<", ">=": ">=", "≥": ">=", "<=": "<=", "≤": "<="}
"""Signs before a number that tell how it compares."""
_SPANNING: Final = ("between", "from", "in the range", "within", "range", "in", "during", "on", "over")
"""Words before two ends of a range that say nothing more."""


def _opener(low: Sequence[str], at: int) -> tuple[int, Relation]:
    """Return where the words before a number begin that tell how it compares."""
    openers = meanings("comparisons.tsv")
    first = at
    while first and low[first - 1] in _PASSED:
        first -= 1
    found: list[tuple[int, Relation]] = []
    for end in dict.fromkeys((at, first)):
        for size in range(min(_LONGEST, end), 0, -1):
            op = openers.get(tuple(low[end - size : end]), ("~",))[0]
            if op[0] != "~":
                found.append((end - size, op))  # type: ignore[arg-type]
                break
    # "Since the beginning of July" begins before "of July".
    return next((one for one in found if one[1] != "="), found[0] if found else (at, "="))


def _closer(low: Sequence[str], end: int, op: Relation) -> tuple[int, Relation]:
    """Return where the words behind a number end that tell how it compares: "or more"."""
    for size in (2, 1):
        said = meanings("comparisons.tsv").get(tuple(low[end : end + size]), ("",))[0]
        if said[:1] == "~":
            return end + size, said[1:]  # type: ignore[return-value]
    return end, op


def _range_start(low: Sequence[str], at: int, openings: Sequence[str] = _SPANNING[:5]) -> int | None:
    """Return where the words begin that open a range whose first number is at a place."""
    for opening in (o.split() for o in openings):
        for gap in range(4):
            start = at - gap - len(opening)
            between = {*low[start + len(opening) : at]}
            opens = start >= 0 and list(low[start : start + len(opening)]) == opening
            if opens and between <= {"the", "of", "range", "from", "between", "period", "years", "year"}:
                return start
    return None


def _quantities(words: Sequence[TextToken], low: Sequence[str]) -> Iterator[Unit]:
    before: Amount | None = None
    for one in amounts_in(words, low):
        values = (_plain(one.value),)
        if before is not None and low[before.behind : one.start] in (["and"], ["to"], ["-"], []):
            ends, opened = (_plain(before.value), *values), _range_start(low, before.start)
            dashed = before.behind == one.start and words[one.start - 1].after.strip() in ("-", "\u2013")
            if opened is not None or low[one.start - 1] == "to" or dashed:
                start = before.start if opened is None else opened
                yield Unit("quantity", start, one.behind, values=ends, op="=", unit=one.unit)
        before = one
        start, op = _opener(low, one.start)
        weak = start == one.start or (start == one.start - 1 and low[start] in _WEAK)
        if weak and low[one.start : one.behind] == ["one"]:
            continue
        start, op = (one.start, "=") if weak else (start, op)
        op = _SIGNS.get(words[one.start - 1].after.strip(), op) if one.start else op
        for stop in dict.fromkeys(
            (one.behind,) if low[one.start : one.end] == ["a"] else (one.end, one.behind)
        ):
            closed, compares = _closer(low, stop, op)
            yield Unit("quantity", start, closed, values=values, op=compares, unit=one.unit)
    for i, (one_, other) in enumerate(pairwise(low)):
        times = {"once": "1", "twice": "2", "a": "1"}.get(low[i + 2]) if i + 2 < len(low) else None
        if low[i + 2 : i + 3] == ["a"] and any(a.start == i + 2 for a in amounts_in(words, low)):
            continue  # "more than a year", "more than a million"
        if times is not None and (one_, other) in (("more", "than"), ("at", "least")):
            yield Unit("quantity", i, i + 3, values=(times,), op=">" if one_ == "more" else ">=")


_ORDINALS: Final[Mapping[str, int]] = {
    word: n
    for n, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
}


def _ranks(low: Sequence[str]) -> Iterator[Unit]:
    """Yield places in an order: "second", "3rd", "fourth to sixth"."""
    places = [_ORDINALS.get(w) or (int(w[:-2]) if re.fullmatch(r"\d+(st|nd|rd|th)", w) else 0) for w in low]
    for i, place in enumerate(places):
        if not place:
            continue
        if place > 1:
            yield Unit("quantity", i, i + 1, values=(str(place),), part="rank")
        for j in range(i + 1, min(i + 4, len(low))):
            if places[j] == place + 1 or (places[j] > place and low[j - 1] not in ("and", ",")):
                yield Unit("quantity", i, j + 1, values=(str(place), str(places[j])), part="rank", score=1.2)


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"


def _times(question: str, words: Sequence[TextToken], low: Sequence[str]) -> Iterator[Unit]:
    """Yield times and spans of time, with and without the words before them."""
    for span in times_in(question):
        inside = [at for at, t in enumerate(words) if span.start <= t.start and t.end <= span.end]
        if not inside or not span.part:
            continue
        i, end = inside[0], inside[-1] + 1
        start, op = _opener(low, i)
        text = question[span.start : span.end]
        if start == i and text in ("may", "march", "fall", "spring"):
            continue
        closed, op = _closer(low, end, op)
        if low[end : end + 1] == ["on"] and "from" in low[max(0, i - 2) : i]:
            closed, op = end + 1, ">="
        score = 1.6 if span.part in ("date", "moment") else 1.0
        if span.range and (opened := _range_start(low, i, _SPANNING)) is not None:
            yield Unit("time", opened, end, values=span.values, part=span.part, score=score)
        elif start < i and low[start:i] not in (["a"], ["the"], ["is"]):
            yield Unit("time", start, closed, values=span.values, op=op, part=span.part, score=score)
        op = op if start < i or end < closed else "="
        yield Unit("time", i, closed, values=span.values, op=op, part=span.part, score=score)


# Texts and adjectives

_QUOTED: Final = re.compile(
    r"[\"\u201c\u201e\u00ab](?P<double>[^\"\u201c\u201d\u201e\u00ab\u00bb]+)[\"\u201d\u201c\u00bb]"
    r"|(?<!\w)['\u2018](?P<single>[^'\u2018\u2019]+)['\u2019](?!\w)"
)


def quoted_in(question: str, words: Sequence[TextToken]) -> frozenset[int]:
    """Return which words of a question stand in quotes."""
    spans = [m.span() for m in _QUOTED.finditer(question)]
    return frozenset(at for at, t in enumerate(words) if any(a < t.start and t.end < b for a, b in spans))


_ENDING: Final = frozenset("and or which that who with in but whose where if ?".split())
"""Words at which a text without quotes ends."""


def _contents(
    question: str, words: Sequence[TextToken], low: Sequence[str], found: Sequence[Unit]
) -> Iterator[Unit]:
    """Yield texts behind "contain" or "mention", with the property that is named to have them, if any is."""
    quoted = {u.start: u.end for u in found if u.kind == "text" and u.score == _QUOTE}
    for at in sorted({c.end for c in cues_in(low) if c.cue == "contain" and not c.word.startswith("in ")}):
        while low[at : at + 1] and low[at] in ("a", "an", "the", "word", "term", "words"):
            at += 1
        end = quoted.get(at) or next((n for n in range(at, len(low)) if low[n] in _ENDING), len(low))
        text = question[words[at].start : words[end - 1].end] if at < end <= at + 5 else ""
        text = text.strip("\"'\u201c\u201d\u2018\u2019")
        place = end + 1 + (low[end + 1 : end + 2] in (["its"], ["their"], ["the"], ["his"], ["her"]))
        named = (
            u for u in found if u.kind == "property" and u.start == place and low[end : end + 1] == ["in"]
        )
        for u in sorted(named, key=lambda u: -u.score)[:1] if text else ():
            yield Unit("text", at, u.end, u.options, values=(text,), score=0.9)
        if text and end > at + 1 and at not in quoted:
            yield Unit("text", at, end, values=(text,), score=0.5)


_QUOTE: Final = 0.7  # The score of what stands in quotes


def _texts(
    question: str, words: Sequence[TextToken], low: Sequence[str], found: Sequence[Unit]
) -> Iterator[Unit]:
    """Yield what stands in quotes, single letters, and what names and other texts are to contain."""
    some = list(_quotes(question, words))
    yield from some
    yield from _contents(question, words, low, [*found, *some])


def _quotes(question: str, words: Sequence[TextToken]) -> Iterator[Unit]:
    """Yield what stands in quotes, and single letters."""
    for m in _QUOTED.finditer(question):
        group = "double" if m["double"] else "single"
        inside = [at for at, t in enumerate(words) if m.start(group) <= t.start and t.end <= m.end(group)]
        if inside:
            yield Unit("text", inside[0], inside[-1] + 1, values=(m[group].strip(),), score=_QUOTE)
    for at, (before, word) in enumerate(pairwise(words), 1):
        if len(word.raw) == 1 and word.raw.isupper() and before.raw.lower() in ("with", "letter", "by"):
            yield Unit("text", at, at + 1, values=(word.raw,), score=0.7)
    # "Starts with S", "with S in its name".
    matching = [c for c in cues_in([t.raw.lower() for t in words]) if c.cue in ("start", "end", "contain")]
    places = {c.start - 1 if c.word.startswith("in ") else c.end for c in matching}
    articles = {at for at, word in enumerate(words[:-1]) if word.raw in ("a", "an", "the")}
    places = {at + (at in articles) for at in places}  # "mention a rose"
    for at in sorted({*range(len(words))} & places - quoted_in(question, words)):
        # With signs before it: what ends in ".com".
        begins = question.rfind(" ", 0, words[at].start) + 1
        yield Unit("text", at, at + 1, values=(question[begins : words[at].end].lstrip("(["),), score=0.6)


def _adjectives(lexicon: Lexicon, low: Sequence[str]) -> Iterator[Unit]:
    """Yield adjectives that measure, alone or behind "most", "least", "more" or "less"."""
    for i, word in enumerate(low):
        for size in (1, 2):
            degree = word if size == 2 else ""
            if i + size > len(low) or (degree and degree not in ("most", "least", "more", "less")):
                continue
            text = low[i + size - 1]
            plain = positive(text)
            if plain is None or text in ("most", "least", "more", "less"):
                continue
            turn = degree in ("least", "less")
            options = tuple(
                Candidate("property", d.property, d.score, d.name, inverse=(d.direction == "least") != turn)
                for d in lexicon.dimension(text)[:_MOST]
            )
            greatest = (DIMENSIONS[plain][0] == "greatest") != turn
            form = _form(text, plain, degree)
            op: Relation = ">" if greatest else "<"
            yield Unit("adjective", i, i + size, options, cue=form, op=op, word=plain, score=0.9)
            start, end = _ordering(low, i, i + size)
            if form == "superlative" and end > i + size:
                yield Unit("adjective", start, end, options, cue="order", op=op, word=plain, score=1.1)


def _ordering(low: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Return the words around a superlative that order: "longest first", "from longest to shortest"."""
    if low[end : end + 1] == ["first"]:
        return start, end + 1
    if low[start - 1 : start] == ["from"] and "to" in low[end : end + 2]:
        to = low.index("to", end)
        return start - 1, min(len(low), to + 3 if low[to + 1 : to + 2] == ["the"] else to + 2)
    return start, end


def _form(text: str, plain: str, degree: str) -> str:
    if degree:
        return "superlative" if degree in ("most", "least") else "comparative"
    if text in ("first", "last", "worst", "best", "latest") or (
        text != plain and text.endswith(("est", "most"))
    ):
        return "superlative"
    return "comparative" if text != plain and text.endswith(("er", "ier", "re", "se")) else "positive"
