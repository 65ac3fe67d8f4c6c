"""What a plan tells: all that is asked for, of the kind that is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rdflib import RDF

from mrag.planning.accounting.sides import BothSides, Gap, roots_in
from mrag.planning.accounting.used import class_of, folds
from mrag.planning.accounting.words import (
    ASKING,
    AVERAGES,
    EMPTY,
    ENDING,
    GREATEST,
    HEADS,
    IMPERATIVES,
    LEADING,
    LEAST,
    OPERATING,
    PERSONAL,
    PLACES,
    QUESTION_WORDS,
    TELLING,
    TIMES,
    is_superlative,
)
from mrag.planning.following.editing import walk
from mrag.planning.lexical.synonyms import positive
from mrag.planning.lexical.words import is_role, root
from mrag.planning.plan import DatePart, Days, Expression, Unknown
from mrag.planning.reading.numbers import number_of
from mrag.text.tokens import AGENTS, PERSON_WORDS, VERBS, words_in

_VERBS: Final = frozenset("give show provide need have include want return get".split())
_NAMING: Final = frozenset(map(root, "name title label id code number description detail".split()))
_TIMES: Final = frozenset(map(root, TIMES))
_PLACES: Final = frozenset(map(root, PLACES))
_PERSONAL: Final = frozenset(map(root, PERSONAL))
_VERB_ROOTS: Final = frozenset(map(root, VERBS))
_ENDS: Final = frozenset(".?!;:(")
_LATER: Final = re.compile(r"[.?;] *(show|list|give|return|what)\b")
_COUNT: Final = re.compile(r"\b(number|count)s? of\b|\bthe counts?\b|\bcount$")
_BY_COUNT: Final = re.compile(
    r"(order|sort|most|least|largest|smallest|greatest|highest|lowest|fewest|same|maximum|minimum|by|with|top|more|than)"
    r" .*(number|count)"
)
_ASKS_COUNT: Final = re.compile(
    r"(\band |^ ?)(show |return |give |list |find )?(the |total )*(number|count)s?\b"
)
_FOLD_OF_TWO: Final = re.compile(
    r"\b(average|maximum|minimum|max|min|mean|total) (number of )?(\w+ )?(\w+) and (\w+)"
)


class AskedNoun(NamedTuple):
    """A noun that is asked for: where it stands, whether it is counted, whether a later sentence asks."""

    places: list[int]
    counted: bool
    later: bool


def told(sides: BothSides) -> Iterator[Gap]:
    """Yield what is asked for and not told, and what is told that is not of the kind that is asked for."""
    if sides.use.plan.yes_or_no or not sides.low:
        return
    wanted = list(_wanted(sides))
    yield from _kinds(sides)
    yield from _unshown(sides, wanted)
    yield from _columns(sides, wanted)


def _kinds(sides: BothSides) -> Iterator[Gap]:
    use, low = sides.use, sides.low
    classes = [class_of(use, v, sides.schema) for v in use.shown]
    numbers = [use.is_number(v, sides.schema) for v in use.shown]
    for at, word in enumerate(low):
        if word == "how" and low[at + 1 : at + 2] in (["many"], ["much"]) and not any(numbers):
            yield Gap(" ".join(low[at : at + 2]), "number told")
        if at and low[at - 1] not in ("and", "about"):
            continue
        if word == "who" and not _tells_people(sides, classes):
            yield Gap(word, "people")
        if word == "where" and not _tells_place(sides, classes, numbers):
            yield Gap(word, "place")
        if word == "when" and not _tells_time(sides):
            yield Gap(word, "time")
    asks = [at for at, word in enumerate(low) if word in QUESTION_WORDS and _begins(sides, at)]
    if len(asks) > 1 and len(use.shown) < 2 and "if" not in low:
        yield Gap(low[asks[-1]], "second question")


def _begins(sides: BothSides, at: int) -> bool:
    """Return whether a question begins at a word."""
    return not at or sides.low[at - 1] in ("and", "about", "or") or sides.between(at)[-1:] in tuple(",-;–—")


def _is_of_people(sides: BothSides, cls: str) -> bool:
    names = [name for c in (cls, *sides.schema.above(cls)) for name in sides.named(c)]
    has = (iri for iri, info in sides.schema.properties.items() if cls in info.domains)
    if sides.roots_of(has) & _PERSONAL:
        return True
    heads = {word.lower() for name in names for word in words_in(name)[-1:]}
    return any(not {w, w.removesuffix("s")}.isdisjoint(PERSON_WORDS | AGENTS) or _does(w) for w in heads)


def _does(word: str) -> bool:
    """Return whether a noun is for who does something: a "sorter", and no "order"."""
    return is_role(word) and (root(word) in _VERB_ROOTS or word.endswith(("ist", "ian", "ee", "eur")))


def _tells_people(sides: BothSides, classes: Sequence[str]) -> bool:
    use, properties = sides.use, sides.schema.properties
    if any(cls and _is_of_people(sides, cls) for cls in classes):
        return True
    told_by = {p for value in use.shown for u in use.unknowns(value) for p in use.told_by(u)}
    if any(p in properties and properties[p].kind == "text" for p in told_by):
        return True
    if not any(classes):
        return not all(use.is_number(value, sides.schema) for value in use.shown)
    return not any(_is_of_people(sides, cls) for cls in sides.schema.classes)


def _tells_place(sides: BothSides, classes: Sequence[str], numbers: Sequence[bool]) -> bool:
    """Return whether something else is told than the very thing of which the place is asked for."""
    use = sides.use
    for value, cls, number in zip(use.shown, classes, numbers, strict=True):
        if number:
            continue
        told_by = {p for u in use.unknowns(value) for p in use.told_by(u)}
        kinds = {cls, *sides.schema.above(cls)} if cls else set()
        if sides.roots_of(told_by | kinds) & _PLACES or not (cls or told_by):
            return True
        said = bool(sides.roots_of(kinds) & set(sides.roots)) or (cls and _is_of_people(sides, cls))
        if told_by and not said:
            return True
    return False


def _tells_time(sides: BothSides) -> bool:
    use, properties = sides.use, sides.schema.properties
    for value in use.shown:
        if any(isinstance(part, DatePart) for part in walk(value)):
            return True
        infos = [properties[p] for u in use.unknowns(value) for p in use.told_by(u) if p in properties]
        if any(info.kind == "date" or roots_in(info.names) & _TIMES for info in infos):
            return True
        cls = class_of(use, value, sides.schema)
        if cls and sides.roots_of([cls]) & _TIMES:
            return True
    return False


# -- the nouns that are asked for ------------------------------------------------------------------


def _wanted(sides: BothSides) -> Iterator[AskedNoun]:
    """Yield the nouns that are asked for, "name" and "age" of "list the name and age of all players"."""
    low, at = sides.low, 0
    while at < len(low):
        start, word = at, low[at]
        counted = word == "how" and low[at + 1 : at + 2] in (["many"], ["much"])
        begins = (
            not at
            or low[at - 1] in ("and", "also", "then", "please")
            or sides.between(at)[:1] in tuple(".?!;,")
        )
        at += 1 + counted
        if not (counted or (begins and (word in ("what", "which") or word in IMPERATIVES))):
            continue
        if word == "state" and start and sides.between(start)[-1:] not in tuple(".?!"):
            continue
        several = word in IMPERATIVES or low[at : at + 1] in (["is"], ["are"], ["was"], ["were"], ["s"])
        later = start > 1 and sides.between(start)[:1] in tuple(".?!;") and word in IMPERATIVES
        while at < len(low) and low[at] in LEADING:
            at += 1
        places: list[int] = []
        while at < len(low):
            joint = "," in sides.between(at) or low[at] == "and"
            ends = (
                low[at] in ENDING
                or (bool(places) and low[at] in _VERBS)
                or (bool(places) and sides.between(at)[:1] in _ENDS)
            )
            if (joint or ends) and places:
                yield AskedNoun(places, counted, later)
                places = []
            following = low[at + (low[at] == "and") :][:1]
            if ends or (joint and (counted or not several or not QUESTION_WORDS.isdisjoint(following))):
                break
            if _is_wanted(sides, at):
                places.append(at)
            at += 1
        if places:
            yield AskedNoun(places, counted, later)


def _is_wanted(sides: BothSides, at: int) -> bool:
    word = sides.low[at]
    if word in HEADS:
        return True
    says_how = (word in OPERATING and not sides.is_own(at)) or is_superlative(word)
    says_how = says_how or positive(word) is not None or number_of(word) is not None
    return not (word in EMPTY or word in ASKING or says_how)


def _shown_as(sides: BothSides, value: Expression, depth: int = 3) -> set[str]:
    """Return the classes and properties by which what a column tells is called."""
    use, found = sides.use, set[str]()
    for u in use.unknowns(value):
        kinds, told_by = use.kinds(u, sides.schema), use.told_by(u)
        found |= kinds | told_by | {above for cls in kinds for above in sides.schema.above(cls)}
        found |= set() if kinds else {str(p.predicate) for p in use.patterns if p.subject == u}
        if sides.roots_of(told_by) & _NAMING:
            # "Airport names" are names of airports.
            found.update(*(use.kinds(p.subject, sides.schema) for p in use.patterns if p.object == u))
        for p in use.patterns:
            kinds = use.kinds(p.subject, sides.schema)
            if (
                p.object == u
                and isinstance(p.subject, Unknown)
                and not sides.roots_of(kinds) & set(sides.roots)
            ):
                # A number may stand in a thing of its own, which is called like the number.
                found |= use.told_by(p.subject)
        for inner in use.inner(u) if depth else ():
            found |= _shown_as(sides, inner, depth - 1)
    return found


def _unshown(sides: BothSides, wanted: Sequence[AskedNoun]) -> Iterator[Gap]:
    use, properties = sides.use, sides.schema.properties
    shown = set[str]().union(*(_shown_as(sides, value) for value in use.shown))
    # What is the subject of a relation may be called by it: those that flow into a river are tributaries.
    subjects = {u for value in use.shown for u in use.unknowns(value)}
    relations = {str(p.predicate) for p in use.patterns if p.subject in subjects and p.predicate != RDF.type}
    inverse = [n for p in relations if p in properties for n in properties[p].inverse_names]
    names = sides.roots_of(shown) | roots_in(inverse)
    spans = any(isinstance(part, Days | DatePart) for value in use.shown for part in walk(value))
    later = any(one.later for one in wanted) or bool(_LATER.search(sides.text.lower()))
    kinds = set[str]().union(*(use.kinds(u, sides.schema) for u in subjects))
    values = roots_in(sides.labels)
    for places, counted, of_later in wanted:
        if spans or (later and not of_later):
            continue
        head = places[-1]
        if sides.low[head] in HEADS:
            own = sides.roots[head]
            has = any(
                own in roots_in(info.names) for info in properties.values() if kinds & info.domains.keys()
            )
            alone = len(places) == 1 and sides.low[head] in ("number", "numbers")
            beside = sides.low[head] not in TELLING and any(sides.is_in(at, names) for at in places[:-1])
            if has and own not in names and not alone and not beside:
                yield Gap(sides.words[head].raw, "told")
                continue
        places = [at for at in places if sides.low[at] not in HEADS]
        covered = [at for at in places if sides.is_in(at, sides.vocabulary) or at in sides.read]
        if (
            not covered
            or covered[0] != places[0]
            or any(sides.is_in(at, names) for at in places)
            or all(sides.roots[at] in values for at in covered)
        ):
            continue
        if counted and _is_room(sides, places[-1]):
            continue
        if set(places) & (sides.read_as(shown) | _inverted(sides, relations)):
            continue
        yield Gap(" ".join(sides.words[at].raw for at in covered), "told")


def _is_room(sides: BothSides, at: int) -> bool:
    """Return whether a number of things is asked for that something could hold: it is told by a number."""
    return sides.low[at + 1 : at + 2] in (["can"], ["could"])


def _inverted(sides: BothSides, relations: set[str]) -> set[int]:
    """Return the places of words that read a relation from its object to its subject."""
    return {
        at
        for m in sides.matches
        if any(c.term in relations and c.way != "tokens" for c in m.candidates)
        for at in range(m.start, m.end)
    }


def _columns(sides: BothSides, wanted: Sequence[AskedNoun]) -> Iterator[Gap]:
    """Yield what is asked for beside what is told: a number, a further noun, another fold."""
    use, text, values = sides.use, sides.text.lower(), roots_in(sides.labels)
    if not any(use.is_number(value, sides.schema) for value in use.shown) and _COUNT.search(text):
        own = any(sides.is_own(at) for at, w in enumerate(sides.low) if root(w) in ("number", "count"))
        asks = any(
            _ASKS_COUNT.search(part) and not _BY_COUNT.search(part) for part in re.split("[.?;]", text)
        )
        if asks and not own:
            yield Gap("number", "number told")
    later = any(one.later for one in wanted)
    parts = [
        o
        for o in wanted
        if o.later == later and not o.counted and not all(sides.roots[at] in values for at in o.places)
    ]
    if 1 < len(parts) > len(use.shown) and (sides.low[0] in IMPERATIVES or sides.low[0] == "what"):
        yield Gap(sides.words[parts[-1].places[-1]].raw, "told")
    match = _FOLD_OF_TWO.search(text)
    if match is None or match[5] in GREATEST | LEAST | AVERAGES | {"total"}:
        return
    for value in use.shown if use.folds & {"average", "maximum", "minimum", "sum"} else ():
        told_by = {p for u in use.unknowns(value) for p in use.told_by(u)}
        if (
            not folds(value)
            and use.is_number(value, sides.schema)
            and root(match[5]) in sides.roots_of(told_by)
        ):
            yield Gap(f"{match[1]} … {match[5]}", "told")
