"""Numbers that are asked for without their name: "how heavy are goats on average"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from mrag.language.grammar import plural
from mrag.language.tokens import content
from mrag.planning.lexical.english import DIMENSIONS, positive, root
from mrag.planning.schema import Schema

NUMBERS_OF_VERBS: Final[Mapping[str, str]] = {
    "earn": "earnings", "weigh": "weight", "last": "duration", "live": "age", "take": "duration",
    "make": "earnings", "charge": "price", "sell for": "price", "get paid": "pay", "score": "score",
    "run": "duration", "measure": "length",
}  # fmt: skip
"""What the number is called that a verb is said of, where it is not called like the verb."""
_OF_ADJECTIVES: Final[Mapping[str, str]] = {"late": "delay", "old": "age", "young": "age"}
"""What a number is called first that an adjective measures, where it is not that of what is most so."""
_DO: Final = r"(?:do|does|did)"
_BE: Final = r"(?:is|are|was|were)"
_HOW: Final = re.compile(
    rf"(?i)^\W*(?P<first>on average,? )?how (?P<adj>[a-z]+) {_BE} (?P<x>.+?)(?P<last>,? on average)?\W*$"
)
_MUCH: Final = re.compile(
    rf"(?i)^\W*(?P<first>on average,? )?how (?:much|long|many \w+) {_DO} (?P<x>.+?) "
    r"(?P<v>earn|weigh|last|live|take|make|charge|sell for|get paid|score|run|measure|cost|pay)"
    r"(?P<last>,? on average)?(?P<z> (?:in|at|for|per) .+?)?\W*$"
)
_ABOVE: Final = re.compile(
    r"(?i)\b(?P<have>has|have|had|with|whose|where the|where their|where its) (?P<a>an? |the )?"
    r"(?P<x>[a-z]+(?: [a-z]+)?) (?P<be>(?:is|are|was|were|lies|lie) )?"
    r"(?P<rel>above|below|over|under|beyond|(?:more|less|higher|lower|greater|larger|smaller|longer"
    r"|shorter) than) "
    r"(?:the )?average(?= (?:and|but|or|who|that|which|ordered|sorted)\b|,)"
)


_FURTHER: Final = re.compile(
    rf"(?i)^\W*(?:by )?how (?:much|many \w+) (?P<first>\w+er )?{_BE} the (?P<adj>\w+est) (?P<x>.+?) "
    rf"(?:\w+er )?than the "
    r"(?:\w+est)(?: ones?)?(?P<z> .+?)?\W*$"
)


def with_average_named(text: str, schema: Schema) -> str:
    """Return a question for an average with the name of the number; the same text where none is asked for.

    Args:
        text: The question.
        schema: The schema.

    Example:
        >>> with_average_named("How much do goats weigh on average?", Schema({}, {}, ()))
        'What is the average weight of goats?'
        >>> with_average_named("Who has a salary above the average and lives in Ulm?", Schema({}, {}, ()))
        'Who has a salary above the average salary and lives in Ulm?'
    """
    how, much = _HOW.match(text), _MUCH.match(text)
    if how is not None and how["adj"].lower() == "late" and _number("late", schema) == "delay":
        mean = "average " if how["first"] or how["last"] else ""
        return f"What is the {mean}delay of {how['x']}?"
    if how is not None and (how["first"] or how["last"]) and (plain := positive(how["adj"])) is not None:
        return f"What is the average {_number(plain, schema)} of {how['x']}?"
    if much is not None and (much["first"] or much["last"]):
        verb = much["v"].lower()
        where = much["z"] or ""
        return f"What is the average {NUMBERS_OF_VERBS.get(verb, verb)} of {much['x']}{where}?"
    if (apart := _FURTHER.match(text)) is not None and (plain := positive(apart["adj"])) is not None:
        number = _number(plain, schema)
        return f"What is the difference between the highest and the lowest {number} of {plural(apart['x'])}?"
    return _ABOVE.sub(lambda m: f"{m[0]} {m['x']}", text)


def _number(adjective: str, schema: Schema) -> str:
    """Return the name of the number that an adjective measures, as the graph has it."""
    nouns = [*_OF_ADJECTIVES.get(adjective, "").split(), *DIMENSIONS[adjective][1].split()]
    numbers = [i for i in schema.properties.values() if i.kind == "number"]
    for noun in nouns:
        for info in sorted(numbers, key=lambda i: i.iri):
            if any(root(noun) in {root(w) for w in content(name)} for name in info.names):
                return noun
    return nouns[0]
