"""Words for people, and for whose graph it is, by the names that a graph has."""

from __future__ import annotations

import re
from typing import Final

from mrag.language.grammar import is_participle, plural
from mrag.language.tokens import content
from mrag.planning.asked.deeds import kinds_of_people
from mrag.planning.derived.property import words_of
from mrag.planning.lexical.english import root
from mrag.planning.reading.state import is_superlative
from mrag.planning.schema import Schema

_ANYBODY: Final = re.compile(
    r"(?i)^(?P<a>\W*(?:is|are|was|were|does|do|did|has|have|had|can|could)(?: there)?) "
    r"(?:anyone|anybody|someone|somebody)(?: else)?\b(?P<b>.*)$"
)
_DOING: Final = re.compile(
    r"(?i)^(?P<a>\W*)(?:is|are|was|were)(?P<b> any .+?) (?P<v>[a-z]{2,})ing\b(?P<z>.*)$"
)
_EARNERS: Final = re.compile(
    r"(?i)^\W*(?:(?:who|what) are |list |show |name |give me |find )?(?:the )?top (?P<n>\w+) earners?\b"
    r"(?P<rest>.*)$"
)
_THOSE: Final = re.compile(
    r"(?i)\b(?:everyone|everybody|anyone|anybody|all people|all the people|all those|those|people|persons) "
    r"(?=(?:who|that)\b)"
)
_HOUSE: Final = re.compile(
    r"(?i)(?P<before>\w) (?:(?:in|at|with|for|from|of) )?(?:the|our|this) "
    r"(?P<n>company|firm|organi[sz]ation|business|enterprise|league|system|shop|store|school|hospital"
    r"|university|college|library|museum|bank|hotel|office|factory|portfolio|registry)"
    r"(?=\W*$| (?:in|since|before|after|on|during)\b)"
)
_WHOSE: Final = re.compile(
    r"(?i)^\W*whose (?P<p>[\w -]+?) (?:is|are|was|were) (?P<n>(?!an?\b|of\b|in\b|more\b|less\b|not\b).+?)\W*$"
)
_HAVING: Final = re.compile(
    r"(?i)^\W*who (?:has|have|had) (?:(?:the|an?) )?(?P<p>[\w-]+(?: [\w-]+)??) "
    r"(?P<n>(?!of\b|in\b|with\b|and\b|than\b|who\b|that\b|called\b|named\b).+?)\W*$"
)
_WITH: Final = re.compile(
    r"(?i)^\W*who (?:(?:has|have|had) (?:an?|(?P<no>no))"
    r"|(?P<not>(?:does|did)(?: not|n['’]t)) have (?:an?|any)) (?P<p>[\w-]+(?: [\w-]+)?)\W*$"
)
_HAS: Final = {root("has"), root("of")}


def with_people(text: str, schema: Schema) -> str:
    """Return a question for whether anybody did something, asked of the people of a graph.

    Questions of other forms are returned as they are, and so are all where there are several kinds of people.

    Args:
        text: The question.
        schema: The schema.
    """
    anybody, earners = _ANYBODY.match(text), _EARNERS.match(text)
    those = _THOSE.search(text)
    people = kinds_of_people(schema) if anybody or earners or those else []
    known = [c for c in people if not {*people} & schema.above(c)]
    if len(known) != 1:
        return text
    name = schema.classes[known[0]].names[0].lower()
    if anybody is None and those is not None:
        return f"{text[: those.start()]}{plural(name)} {text[those.end() :]}"
    if anybody is None:
        return (
            text
            if earners is None
            else f"Who are the {earners['n']} highest paid {plural(name)}{earners['rest']}"
        )
    found = f"{anybody['a']} any {name}{anybody['b']}"
    doing = _DOING.match(found)
    return found if doing is None else f"{doing['a']}Does{doing['b']} {doing['v']}{doing['z']}"


def with_those_who_have(text: str, schema: Schema) -> str:
    """Return a question for a kind of things that have something: "whose boss is Ada".

    Where people have people for something, the other end could be meant as well: the boss of Ada.

    Args:
        text: The question.
        schema: The schema.
    """
    held = _WITH.match(text)
    match = held or _WHOSE.match(text) or _HAVING.match(text)
    if match is None:
        return text
    what = ["some"] if held else match["n"].lower().split()
    if is_superlative(what[-1]) or is_participle(what[0]):
        return text
    said = {*map(root, match["p"].lower().split())}
    for info in schema.properties.values():
        named = any({*map(root, words_of(name))} - _HAS == said for name in info.names)
        if named and info.domains and info.kind in ("entity", "text"):
            kinds = set.intersection(*({c, *schema.above(c)} for c in info.domains))
            known = [schema.classes[c] for c in sorted(kinds) if c in schema.classes]
            ends = {up for c in info.ranges for up in (c, *schema.above(c))}
            if known and (info.kind == "text" or kinds & ends):
                kind = plural(min(known, key=lambda kind: kind.count).names[0].lower())
                if held is not None:
                    return f"Which {kind} have {'no' if held['no'] or held['not'] else 'a'} {match['p']}?"
                return f"Which {kind} have the {match['p']} {match['n']}?"
    return text


def without_house(text: str, schema: Schema) -> str:
    """Return a question without the firm whose graph it is, if that has no firms: "who left the company".

    Args:
        text: The question.
        schema: The schema.
    """
    match = _HOUSE.search(text)
    if match is None:
        return text
    infos = [n for i in schema.properties.values() for n in i.names]
    names = (*infos, *(n for c in schema.classes.values() for n in c.names))
    if any(root(match["n"]) in {root(w) for w in content(name)} for name in names):
        return text
    return text[: match.end("before")] + text[match.end() :]
