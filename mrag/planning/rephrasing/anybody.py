"""Words for people, and for whose graph it is, by the names that a graph has."""

from __future__ import annotations

import re
from typing import Final

from mrag.planning.asked.deeds import kinds_of_people
from mrag.planning.lexical.words import root
from mrag.planning.schema import Schema
from mrag.text.grammar import plural
from mrag.text.tokens import content

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
