"""Somebody and anybody in questions for yes or no, by the name that the graph has for people."""

from __future__ import annotations

import re
from typing import Final

from mrag.planning.asked.deeds import kinds_of_people
from mrag.planning.schema import Schema

_ANYBODY: Final = re.compile(
    r"(?i)^(?P<a>\W*(?:is|are|was|were|does|do|did|has|have|had|can|could)(?: there)?) "
    r"(?:anyone|anybody|someone|somebody)(?: else)?\b(?P<b>.*)$"
)
_DOING: Final = re.compile(
    r"(?i)^(?P<a>\W*)(?:is|are|was|were)(?P<b> any .+?) (?P<v>[a-z]{2,})ing\b(?P<z>.*)$"
)


def with_people(text: str, schema: Schema) -> str:
    """Return a question for whether anybody did something, asked of the people of a graph.

    Questions of other forms are returned as they are, and so are all where there are several kinds of people.

    Args:
        text: The question.
        schema: The schema.
    """
    match = _ANYBODY.match(text)
    people = kinds_of_people(schema) if match is not None else []
    known = [c for c in people if not {*people} & schema.above(c)]
    if match is None or len(known) != 1:
        return text
    found = f"{match['a']} any {schema.classes[known[0]].names[0].lower()}{match['b']}"
    doing = _DOING.match(found)
    return found if doing is None else f"{doing['a']}Does{doing['b']} {doing['v']}{doing['z']}"
