"""What was measured: "the average temperature", where that is what records with a value are of.

Sensors, laboratories and statistics state a value with what it is a value of beside it, as in the W3C's
Semantic Sensor Network ontology (`sosa:hasSimpleResult` and `sosa:observedProperty`). A question speaks of
the latter as if it were the number itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.reading.question import QuestionText, cut
from mrag.planning.schema import PropertyInfo, Schema

_VALUE: Final = "xqvalue"
"""A word that no graph has, for the value that was measured."""
_FOLDED: Final = frozenset(
    "average mean highest lowest maximum minimum max min total greatest smallest".split()
)
_LAST: Final = frozenset("latest last current newest".split())


def observed(
    text: str, mentions: Callable[[QuestionText], Sequence[NameMention]], schema: Schema
) -> tuple[str, dict[str, Candidate]] | None:
    """Return a question for values that were measured with one word for them; None for other questions.

    Args:
        text: The question.
        mentions: Returns what the words of a question may name.
        schema: The schema.

    Returns:
        The question, and what the word stands for.
    """
    question = cut(text)
    folds = {n + 1 for n, word in enumerate(question.low) if word in _FOLDED | _LAST}
    named = [m for m in mentions(question) if m.start in folds] if folds else []
    best = max(named, key=lambda m: m.end, default=None)
    if best is None or best.candidates[0].kind != "entity" or best.candidates[0].score < 0.9:
        return None
    info = _measured(best.candidates[0].classes, schema)
    if info is None:
        return None
    at = best.start - 1
    words, (start, end) = question.words, (question.words[at].token.start, question.words[at].token.end)
    rest = text[words[best.start].token.start :]
    if question.low[at] in _LAST:
        record = schema.classes[next(iter(sorted(info.domains)))].names[0].lower()
        text = f"{text[:start]}{_VALUE} of the last {record} of {rest}"
    else:
        text = f"{text[:end]} {_VALUE} of {rest}"
    return text, {_VALUE: Candidate("property", info.iri, 1.0, info.names[0].removeprefix("has "), "exact")}


def _measured(classes: Sequence[str], schema: Schema) -> PropertyInfo | None:
    """Return the one number that most records of things of some classes state; None if there is not one."""
    infos = schema.properties.values()
    numbers = [i for i in infos if i.kind == "number"]
    if any({*classes} & {*i.domains} for i in numbers):
        return None  # they have numbers themselves
    links = [i for i in infos if i.kind == "entity" and i.functional and {*classes} & {*i.ranges}]
    found = [
        (-link.triples, own[0].iri)
        for link in links
        if link.objects < link.triples
        if len(own := [i for i in numbers if {*i.domains} & {*link.domains}]) == 1 and own[0].functional
    ]
    found.sort()
    clear = len(found) == 1 or (len(found) > 1 and found[0][0] < 2 * found[1][0])
    return schema.properties[found[0][1]] if clear else None
