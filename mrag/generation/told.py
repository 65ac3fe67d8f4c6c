"""An answer as lines, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mrag.generation.result import Answer, Computed
from mrag.terminal import inline

_WAYS: Final = {
    "plan": "Computed", "read": "Read, not computed", "complete": "Completed from texts",
    "images": "Answered with images",
}  # fmt: skip


def lines_of(
    given: Answer,
    *,
    sparql: bool = False,
    context: bool = False,
    way: bool = False,
    more: bool = False,
    words: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield the lines of an answer, each with its kind.

    Args:
        given: The answer.
        sparql: Whether its query is told, too.
        context: Whether all lines that it was made from are told, not only those that it cites.
        way: Whether it is told why it was read.
        more: Whether it is told why it took whichever way it did.
        words: Whether it is told what each word of the question became.

    Yields:
        `text`, `data` (SPARQL), or the style in which what is no part of the answer is said: `dim`, `yellow`.
    """
    yield "text", given.told
    if given.computed is not None:
        yield from _reading(given.computed, sparql, given.why if words else None)
    elif given.offered:
        yield "text", ""
        yield from (("text", inline(f"Perhaps (--reading {one.number}): {one}")) for one in given.offered)
    if given.citations:
        yield "text", ""
    yield from (("text", inline(f"[{c.line_id}] {c.text}{c.mark}")) for c in given.citations)
    yield from (("text", text) for part in given.beside() for text in ("", part))
    for heading, told in given.doubts().items():
        yield from (("yellow", text) for text in (heading, *(f"- {one}" for one in told)))
    if context:
        yield from (("text", text) for text in ("", given.context.text()))
    if given.why and (more or (way and given.way != "plan")):
        yield from (("dim", text) for text in ("", f"{_WAYS[given.way]}: {given.why}."))
    if given.notice:
        yield from (("dim", text) for text in ("", given.notice))


def _reading(computed: Computed, sparql: bool, why: str | None) -> Iterator[tuple[str, str]]:
    """Yield how a question was read, and what other readings would give.

    Args:
        computed: How the answer was computed.
        sparql: Whether the query is told too.
        why: Why, where what the words became is told too.
    """
    parts = ["", *([f"Next: {computed.next}"] if computed.runners_up else []), f"Read as: {computed.reading}"]
    if why is not None:
        said = [(one.said or "(no words)", one) for one in computed.words]
        width = max((len(words) for words, _ in said), default=0)
        parts += [f"  {words:<{width}}  {one}" for words, one in said] or [f"  {why}"]
        if computed.ignored:
            parts.append(f"  Not understood: {', '.join(computed.ignored)}")
    parts += [f"Also (--reading {other.number}): {other}" for other in computed.readings]
    yield from (("text", inline(text)) for text in parts)
    if sparql:
        yield from (("text", ""), ("data", computed.query))
