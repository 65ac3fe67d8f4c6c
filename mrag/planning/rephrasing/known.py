"""Ways of asking that are put in other words where the names of a graph allow it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from mrag.language.tokens import alike, content, stem
from mrag.planning.derived.held import HeldNumber
from mrag.planning.derived.property import words_of
from mrag.planning.lexical.english import positive, root
from mrag.planning.schema import PropertyInfo, Schema

_AS_MANY: Final = re.compile(
    r"(?i)(?<!twice )(?<!times )(?<!half )\bas (?:many|much) (?P<x>[a-z-]+(?: [a-z-]+)?) as (?=[^,;]+$)"
)
_MORE: Final = re.compile(
    r"(?i)\b(?P<more>more|fewer|less) (?P<x>[a-z-]+(?: [a-z-]+)?) than (?:the )?average\b(?! \w)"
)
_ALIVE: Final = re.compile(
    r"(?i)(?:,? (?:who|that|which))?(?: is| are| was| were)? ?\b(?P<not>no longer |not |n['’]t )?"
    r"(?:still (?:alive|living)|alive(?= today|\W*$))(?! (?:in|at|with|on)\b)(?: today)?"
)
_LIVING: Final = re.compile(r"(?i)\b(?P<how>living|dead|deceased) (?P<n>(?!was\b|is\b|does\b|has\b)[a-z]+)\b")
_WHOLE: Final = re.compile(
    r"(?i) (?:in|of|from|within) (?:the|our|your|this|that) (?:\w+ )?(?P<n>collection|catalogue|catalog"
    r"|database|dataset|data|inventory|archive|knowledge graph|graph|records)(?=\W|$)(?! (?:of|by|from)\b)"
)
_OWNED: Final = re.compile(
    r"(?i)^(?P<a>\W*how many .+?) (?:does|do|did) (?:the|your|our|this) (?P<n>\w+) (?P<v>own|possess)\W*$"
)
_PARENTS: Final = re.compile(r"(?i)(?<=['’]s )parents\b|\bparents(?= of\b)")
_STUDIED: Final = re.compile(r"(?i)\b(?P<be>(?:has |have |had )?)studied (?:with|under) (?=(?:the )?\w)")
_OPENED: Final = re.compile(r"(?i)\b(?P<v>opened|opens|opening)\b")
_WORTH: Final = re.compile(
    r"(?i)^\W*(?:how much|what) (?:is|are|was|were) (?P<x>.+?) worth"
    r"(?P<all> altogether| in total| together| combined)?\W*$"
)
_FULL: Final = re.compile(r"(?i)\b(?:full|complete) names?\b")
_FIRST: Final = ("first name", "forename", "given name", "firstname")
_LAST: Final = ("last name", "surname", "family name", "lastname")
_PARTS: Final = tuple(
    (re.compile(rf"(?i)\b(?:{'|'.join(forms)})(?P<s>s?)\b"), forms) for forms in (_FIRST, _LAST)
)
"""Words for the parts of a name, with all that are for the same."""
_BOTH: Final = re.compile(r"(?i)\bfirst(?: names?)? and last names?\b|\bfirst/last names?\b")
_CLOSED: Final = re.compile(r"(?i)\b(?P<be>is|are|was|were) closed\b|\bclosed (?P<n>[a-z]+s)\b")
_ENDED: Final = re.compile(
    r"(?i)\b(?:ended(?: up)?|ends? up) (?:being|as|with|in) (?:an? )?"
    r"(?!time\b|the\b|date\b|\d|more\b|less\b)"
)
_SHARED: Final = re.compile(
    r"(?i)\b(?:is|are|was|were) (?P<v>shared|held|possessed|spoken) by "
    r"(?=(?:more|less|fewer|at|exactly|only|the (?:most|fewest|largest|smallest|highest|lowest)"
    r"|no|two|three|four|five|\d+)\b)"
)
_ROOM: Final = re.compile(
    r"(?i)\b(?:can|could|may) (?P<v>accommodate|hold|seat|fit)"
    r"(?P<how> the (?P<most>most|fewest|least)(?: number of)?"
    r"| (?:more than|less than|fewer than|at least|at most|over|under|up to|exactly) \d[\d,.]*)"
    r"(?: [a-z]+)?(?=\W*$| and\b| in\b)"
)
_NUMBERED: Final = re.compile(
    r"(?i)\b(?P<p>[a-z]+(?: [a-z]+)?) (?P<n>\d+(?:\.\d+)?) (?P<c>(?:[a-z]+ )?[a-z]+s)\b"
)
_EXTREME: Final = re.compile(
    r"(?i)\b(?:(?P<be>is|are|was|were) )?(?:the )?(?P<more>most|least) (?P<adj>[a-z]{4,})"
    r"(?: (?P<n>(?!of\b|in\b|among\b)[a-z]+(?: (?!of\b|in\b|among\b|that\b|with\b)[a-z]+)?))?"
    r"(?=\W*$| (?:of|in|among|that|with)\b)"
)
_QUALITY: Final = ("ence", "ency", "ance", "ancy", "ity", "ness")
"""Endings of nouns for how much of an adjective something is."""
_HAVING: Final = frozenset(map(root, "own owner possess hold belong keep property".split()))


def as_known(text: str, schema: Schema) -> str:
    """Return a question in the words that a graph has names for; the same text where it needs no other.

    Args:
        text: The question.
        schema: The schema.
    """
    names = _roots(schema)
    text = _MORE.sub(lambda m: _beside_average(m, schema), text)
    text = _AS_MANY.sub(lambda m: _as_many(m, schema), text)
    if not {root("alive"), root("living")} & names and (dead := _dated(schema, "death", "died", "deceased")):
        text = _ALIVE.sub(lambda m: f" with a {dead}" if m["not"] else f" without a {dead}", text)
        text = _LIVING.sub(lambda m: _living(m, schema, dead), text)
    for match in reversed(list(_WHOLE.finditer(text))):
        if root(match["n"].split()[-1]) not in names:
            text = text[: match.start()] + text[match.end() :]
    owned = _OWNED.match(text)
    if owned is not None and not _HAVING & names:
        text = f"{owned['a']} are there?"
    if root("studied") not in names and root("student") in names:
        text = _STUDIED.sub("was a student of ", text)
    if root("opened") not in names and _dated(schema, "start", "started", "begin"):
        text = _OPENED.sub("started", text)
    if (both := _first_and_last(schema)) and {root("full"), root("complete")}.isdisjoint(names):
        text = _BOTH.sub(both, _FULL.sub(both, text))
    labels = _labels(schema)
    for pattern, forms in _PARTS:
        if len(called := {form for form in forms if form in labels}) == 1:
            text = pattern.sub(min(called) + r"\g<s>", text)
    if root("parent") not in names and {root("father"), root("mother")} <= names:
        text = _PARENTS.sub("father and mother", text)
    if root("closed") not in names and any(
        i.flag and "open" in words_of(i.names[0]) for i in schema.properties.values()
    ):
        text = _CLOSED.sub(
            lambda m: f"{m['be']} not open" if m["be"] else f"{m['n']} that are not open", text
        )
    if root("end") not in names:
        text = _ENDED.sub("were ", text)
    text = _SHARED.sub(lambda m: m[0] if root(m["v"]) in names else "have ", text)
    room = [i for i in _numbers(schema) if "capacity" in words_of(i.names[0])]
    if len(room) == 1:
        text = _ROOM.sub(lambda m: m[0] if root(m["v"]) in names else _with_room(m, room[0]), text)
    text = _EXTREME.sub(lambda m: _by_quality(m, schema), _NUMBERED.sub(lambda m: _numbered(m, schema), text))
    worth = _WORTH.match(text)
    if worth is not None and root("worth") not in names and (value := _value(schema)):
        text = f"What is the {'total ' if worth['all'] else ''}{value} of {worth['x']}?"
    return text


def _with_room(match: re.Match[str], info: PropertyInfo) -> str:
    """Return that things have a capacity, of what they "can hold"."""
    if match["most"]:
        return f"has the {'highest' if match['most'].lower() == 'most' else 'lowest'} {info.names[0]}"
    return f"have a {info.names[0]} of{match['how']}"


def _first_and_last(schema: Schema) -> str:
    """Return the names of the properties that a full name is told by; "" where there are none."""
    called = [(_label(info), info) for info in schema.properties.values()]
    lasts = [info for label, info in called if label in _LAST]
    for first in (info for label, info in called if label in _FIRST and lasts):
        for last in lasts:
            if {*first.domains} & {*last.domains}:
                return f"{first.names[0]} and {last.names[0]}"
    return ""


def _label(info: PropertyInfo) -> str:
    return info.names[0].lower().replace("_", " ")


def _labels(schema: Schema) -> set[str]:
    return {_label(info) for info in schema.properties.values()}


def _roots(schema: Schema) -> set[str]:
    """Return the roots of the words that classes and properties are called by."""
    names = [n for c in schema.classes.values() for n in c.names]
    names += [n for p in schema.properties.values() for n in p.names]
    return {root(w) for name in names for w in words_of(name)}


def _as_many(match: re.Match[str], schema: Schema) -> str:
    """Return that a number is the same, where the graph has one; things are counted elsewhere."""
    said = {root(w) for w in content(match["x"])}
    named = (
        {root(w) for w in content(name)} - {root("number")} for i in _numbers(schema) for name in i.names
    )
    return f"the same {match['x']} as " if any(said == words for words in named) else match.group()


def _beside_average(match: re.Match[str], schema: Schema) -> str:
    """Return a number that is above or below the average, unless things of a kind are counted."""
    said = {root(w) for w in content(match["x"])}
    kinds = ({root(w) for w in content(name)} for c in schema.classes.values() for name in c.names)
    if any(said == kind for kind in kinds):
        return match.group()
    return f"a {match['x']} {'above' if match['more'].lower() == 'more' else 'below'} the average"


def _numbers(schema: Schema) -> Iterable[PropertyInfo]:
    return (i for i in schema.properties.values() if i.kind == "number")


def _numbered(match: re.Match[str], schema: Schema) -> str:
    """Return things with a number that stands before them: "phase 3 trials"."""
    said = f" {match['p'].lower()}"
    for info in _numbers(schema):
        kinds = (name for c in info.domains if c in schema.classes for name in schema.classes[c].names)
        if said.endswith(f" {_label(info)}") and root(match["c"].split()[-1]) in {
            root(k.split()[-1]) for k in kinds
        }:
            before = match["p"][: len(match["p"]) - len(_label(info))]
            return f"{before}{match['c']} with {_label(info)} {match['n']}"
    return match.group()


def _by_quality(match: re.Match[str], schema: Schema) -> str:
    """Return what has most or least of a quality that a number tells: "the most prevalent disease"."""
    adjective = stem(match["adj"].lower())
    said = {adjective, adjective.removesuffix("t") + "c"}  # potent, potency
    found = [
        word for info in _numbers(schema) for name in info.names[:1] for word in words_of(name)
        if word.endswith(_QUALITY) and any(alike(stem(word), one) for one in said)
    ]  # fmt: skip
    if len(set(found)) != 1 or positive(match["adj"]) or not (match["be"] or match["n"]):
        return match.group()
    way = "highest" if match["more"].lower() == "most" else "lowest"
    if not match["n"]:
        return f"has the {way} {found[0]}"
    return f"{match['be'] or ''} the {match['n']} with the {way} {found[0]}".strip()


def _living(match: re.Match[str], schema: Schema, dead: str) -> str:
    """Return that somebody has no date of death, or has one: "living artists", "the oldest living person"."""
    kinds = {root(name) for info in schema.classes.values() for name in info.names}
    if not (match["n"].endswith("s") or root(match["n"]) in kinds):
        return match.group()
    return f"{match['n']} {'without' if match['how'].lower() == 'living' else 'with'} a {dead}"


def _dated(schema: Schema, *words: str) -> str:
    """Return the name of the only property of dates or years with one of some words; "" for none."""
    meant = {*map(root, words)}
    found = [
        i.names[0] for i in schema.properties.values()
        if (i.kind == "date" or "year" in i.names[0].lower()) and meant & {*map(root, words_of(i.names[0]))}
    ]  # fmt: skip
    return found[0] if len(found) == 1 else ""


def _value(schema: Schema) -> str:
    """Return the name of the only number that is called a value; "" if there are others, or none."""
    held = {i.number for i in schema.properties.values() if isinstance(i, HeldNumber)}
    found = [
        i.names[0] for i in _numbers(schema)
        if i.iri not in held and words_of(i.names[0])[-1] in ("value", "worth")
    ]  # fmt: skip
    return found[0] if len(found) == 1 else ""
