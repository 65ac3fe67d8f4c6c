"""Counts that the graph states as numbers: "how many people does the hall hold" is its capacity.

No thing of the graph is counted there: what is counted is not in it. The number's own name is put in the
place of the words for it, and the question is read on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from mrag.language.grammar import plural
from mrag.language.tokens import content
from mrag.planning.lexical.english import root
from mrag.planning.reading.numbers import rank_of
from mrag.planning.schema import PropertyInfo, Schema

_PEOPLE: Final = (
    r"people|persons|guests|visitors|spectators|passengers|viewers|attendees|fans|travellers|travelers"
    r"|customers"
)
_HOLDING: Final = (
    r"hold|seat|fit|accommodate|sleep|take|carry|contain|host|handle|welcome|admit|house|transport"
)
_ROOM: Final = r"(?:have|has|with|offers?|provides?|having) (?:room|space|seats|seating|places|beds) for"
_COMING: Final = (
    r"attend|visit|come to|came to|go to|went to|watch|see|saw|turned up at|turn up at|show up at"
)
_NUMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "held": ("capacity", "seats", "seating", "places", "beds", "passengers"),
    "come": ("attendance", "visitors", "spectators", "audience", "attendees", "turnout", "viewers"),
}
"""What the numbers of people are called that something holds, and of those who come."""

_HOLDS: Final = re.compile(
    rf"(?i)^(?P<a>\W*(?:.*\b)?)how many (?P<n>(?:{_PEOPLE})|\w+) "
    r"(?P<may>can|could|does|do|did|will|would|may) (?P<x>(?:(?!\b(?:than)\b).)+?) "
    rf"(?:{_HOLDING})(?P<z>\W*| at most\W*| (?:in total|altogether|together)\W*)$"
)
_FITS: Final = re.compile(
    rf"(?i)^(?P<a>\W*(?:.*\b)?)how many (?P<n>{_PEOPLE}) (?:can |could |will )?(?:be )?(?:fit|go|sit"
    rf"|stay|sleep|live|travel"
    r"|seated|accommodated|housed|carried|placed)(?:s)?(?: in| into| inside| on| at| aboard| by)+"
    r" (?P<x>.+?)(?P<z>\W*)$"
)
_CAME: Final = re.compile(
    rf"(?i)^(?P<a>\W*(?:.*\b)?)how many (?P<n>{_PEOPLE}) (?:have |had )?(?:(?:{_COMING})(?:ed)?|were"
    rf" (?:at|in)|came to) "
    r"(?P<x>.+?)(?P<z>\W*)$"
)
_MOST: Final = re.compile(
    rf"(?i)^(?P<a>\W*(?:which|what|in which|the) .+?) (?:that )?(?:(?:can |could )?(?P<held>{_HOLDING})s?"
    rf"|(?:is|was|were|are) (?P<come>attended|visited|watched|seen) by) (?:the )?(?P<most>most|fewest|least) "
    rf"(?:number of )?(?:{_PEOPLE})(?P<z>.*)$"
)
_MORE: Final = re.compile(
    rf"(?i)^(?P<a>\W*how many (?:more|fewer)) (?:{_PEOPLE}) (?P<b>(?:can|could|does|do|did) .+?)"
    rf" (?:{_HOLDING})"
    rf"(?P<z>\s+than\b.+)$"
)
_THAN: Final = re.compile(
    rf"(?i)^(?P<a>.+?) (?P<that>that |which |who )?(?:can |could )?(?:(?:{_HOLDING})s?|{_ROOM}) "
    rf"(?P<b>(?:more than"
    rf"|less than"
    rf"|fewer than|at least|at most|over|under|up to|exactly) [\d,.]+(?: thousand| million)?)"
    rf" (?:{_PEOPLE})(?P<z>.*)$"
)
_DREW: Final = re.compile(
    r"(?i)^(?P<a>.+?) (?P<that>that |which |who )?(?:drew|draws?|attract(?:s|ed)?|pull(?:s|ed)? in) "
    r"(?:(?:the )?(?P<most>most|fewest|least)|(?P<b>(?:more than|less than|fewer than|at least|at most|over"
    r"|under"
    rf"|exactly) (?:[\d,.]+|[a-z]+)(?: thousand| million)?)) (?:{_PEOPLE})(?P<z>.*)$"
)
_DONE: Final = re.compile(
    r"(?i)^(?P<a>\W*(?:.*\b)?)(?:how many|(?:total )?number of) (?P<n>[a-z-]+(?: [a-z-]+)?) (?:were"
    r"|was|are|is|have been|has been|got)?"
    r" ?(?P<v>[a-z]+(?:ed|en|old|ought|ent))\b(?P<z>.*)$"
)
_BY: Final = re.compile(
    r"(?i)^(?P<a>\W*(?:list|show|give|display|return|print|rank|sort|order)\b(?: me)?(?: all)?(?: the| our)? "
    r"\w+(?: \w+){0,5}?),? by (?:their |its |the )?(?P<y>\w+(?: \w+)?)(?P<z>\W*)$"
)
_RANK: Final = re.compile(
    r"(?i)\b(?:is |are )?(?:on|in|at|of|from) the (?P<n>[a-z]+|\d+(?:st|nd|rd|th)) (?P<x>[a-z]+)\b"
)
_COUNTING: Final = frozenset(map(root, "quantity number amount count total units copies volume".split()))
_UNITS: Final = frozenset("units items copies pieces things".split())


def measured(text: str, schema: Schema) -> str | None:
    """Return a question with the name of a number in the place of words that count what it is of.

    Other questions are None.

    Args:
        text: The question.
        schema: The schema.
    """
    if (match := _MORE.match(text)) is not None and (held := _called(schema, "held")) is not None:
        return f"{match['a']} {held.names[0]} {match['b']} have{match['z']}"
    for pattern, kind in ((_HOLDS, "held"), (_FITS, "held"), (_CAME, "come")):
        match = pattern.match(text)
        if match is None:
            continue
        # How many it can hold is no number of those that it does.
        may = match.groupdict().get("may") in ("can", "could")
        if (_is_kind(match["n"], schema) and not may) or (info := _called(schema, kind)) is None:
            continue
        return f"{match['a']}what is the total {info.names[0]} of {match['x']}{match['z']}"
    if (match := _MOST.match(text)) is not None:
        info = _called(schema, "held" if match["held"] else "come")
        if info is not None:
            way = "highest" if match["most"].lower() == "most" else "lowest"
            return f"{match['a']} has the {way} {info.names[0]}{match['z']}"
    if (match := _DREW.match(text)) is not None and (come := _called(schema, "come")) is not None:
        if match["most"]:
            way = "highest" if match["most"].lower() == "most" else "lowest"
            return f"{match['a']} has the {way} {come.names[0]}{match['z']}"
        return f"{match['a']} {match['that'] or ''}have a {come.names[0]} of {match['b']}{match['z']}"
    if (match := _THAN.match(text)) is not None and (held := _called(schema, "held")) is not None:
        return f"{match['a']} {match['that'] or ''}have a {held.names[0]} of {match['b']}{match['z']}"
    return _listed_by(text, schema) or _ranked(text, schema) or _done(text, schema)


def _ranked(text: str, schema: Schema) -> str | None:
    """Return the question with a number in the place of a rank: "on the first floor" has the floor 1."""
    match = _RANK.search(text)
    rank = rank_of(match["n"].lower()) if match is not None else 0
    numbers = {n.lower() for i in schema.properties.values() if i.kind == "number" for n in i.names}
    if match is None or not rank or match["x"].lower() not in numbers:
        return None
    return f"{text[: match.start()]}with a {match['x']} of {rank}{text[match.end() :]}"


def _listed_by(text: str, schema: Schema) -> str | None:
    """Return the question for a list in the order of numbers or dates: "list the products by price"."""
    match = _BY.match(text)
    said = {root(w) for w in content(match["y"])} if match is not None else set()
    infos = [i for i in schema.properties.values() if i.kind in ("number", "date")]
    if match is None or not any(said <= {root(w) for w in content(n)} for i in infos for n in i.names):
        return None
    return f"{match['a']}, ordered by {match['y']}{match['z']}"


def _done(text: str, schema: Schema) -> str | None:
    """Return the question for how much was done, where that is a number of what happened: "tickets sold"."""
    match = _DONE.match(text)
    if match is None:
        return None
    noun, verb = {root(w) for w in content(match["n"])}, root(match["v"])
    for info in schema.properties.values():
        words = {root(w) for w in content(info.names[0])}
        if info.kind != "number" or verb not in words or not words & _COUNTING:
            continue
        for cls in sorted(info.domains):
            kind = schema.classes.get(cls)
            own = {root(w) for w in content(kind.names[0])} if kind is not None else set()
            if kind is not None and ((noun & own and noun != own) or match["n"].lower() in _UNITS):
                return f"{match['a']}What is the total {info.names[0]} of {plural(kind.names[0])}{match['z']}"
    return None


def _called(schema: Schema, kind: str) -> PropertyInfo | None:
    """Return the one number that is called as those of a kind are; None where that is not one."""
    for word in _NUMBERS[kind]:
        found = [i for i in _numbers(schema) if root(word) in {root(w) for n in i.names for w in content(n)}]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _numbers(schema: Schema) -> Iterator[PropertyInfo]:
    return (i for i in schema.properties.values() if i.kind == "number")


def _is_kind(noun: str, schema: Schema) -> bool:
    """Return whether a noun names things of the graph, which are counted themselves."""
    if not re.fullmatch(rf"(?i){_PEOPLE}", noun):
        return True
    said = {root(w) for w in content(noun)}
    return any(said == {root(w) for w in content(name)} for c in schema.classes.values() for name in c.names)
