"""Questions one after the other, and answers as text: words, how they were found, and what they cite."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mrag import generation, retrieval
from mrag.cli.shared.output import say, show, show_data, show_json, show_lines
from mrag.errors import MragError

if TYPE_CHECKING:
    from mrag.generation.computed import Computed

_AGAIN = re.compile(r"reading (\d{1,3})")
_WAYS = {
    "plan": "Computed",
    "read": "Read, not computed",
    "complete": "Completed from texts",
    "images": "Answered with images",
}


def show_answer(
    given: generation.Answer,
    *,
    sparql: bool = False,
    context: bool = False,
    way: bool = False,
    as_json: bool = False,
    more: bool = False,
) -> None:
    """Print an answer.

    Args:
        given: The answer.
        sparql: Whether the query that was run is printed too.
        context: Whether all lines it was made from are printed too.
        way: Whether it is said why the answer was found otherwise than by computing it.
        as_json: Whether it is printed as JSON.
        more: Whether it is one of several: each says what it follows from, and JSON is on a line of its own.
    """
    if as_json:
        show_json(given.to_json(), indent=None if more else 2)
        return
    show_lines(given.told)
    if given.computed is not None:
        _show_reading(given.computed, sparql)
    elif given.offered:
        show("")
        for one in given.offered:
            show(f"Perhaps (--reading {one.number}): {one}")
    if given.citations:
        show("")
    for citation in given.citations:
        show(f"[{citation.line_id}] {citation.text}{citation.mark}")
    for part in given.beside():
        show("")
        show_lines(part)
    for heading, told in given.doubted().items():
        say(heading, style="yellow")
        for text in told:
            say(f"- {text}", style="yellow")
    if context:
        show()
        show_lines(given.context.text())
    if given.why and (more or (way and given.way != "plan")):
        say()
        say(f"{_WAYS[given.way]}: {given.why}.", style="dim")
    if given.notice:
        say()
        say(given.notice, style="dim")


def _show_reading(computed: Computed, sparql: bool) -> None:
    """Show how a question was read, and what other readings would give."""
    show("")
    if computed.runners_up:
        show(f"Next: {computed.next}")
    show(f"Read as: {computed.reading}")
    for other in computed.readings:
        show(f"Also (--reading {other.number}): {other}")
    if sparql:
        show("")
        show_data(computed.query)


def follow_ups(talk: retrieval.Conversation, questions: Sequence[str]) -> Iterator[generation.Answer]:
    """Yield the answers to questions; without any, to the lines of standard input.

    On a terminal there is a prompt, and an error ends its question and not the conversation.

    Args:
        talk: The conversation.
        questions: The questions.
    """
    terminal = not questions and sys.stdin.isatty()
    for line in questions or lines(terminal):
        if not (question := line.strip()):
            continue
        again = _AGAIN.fullmatch(question)
        try:
            yield talk.again(int(again[1])) if again else talk.ask(question)
        except MragError as error:
            if not terminal:
                raise
            say(str(error), style="yellow")


def lines(terminal: bool) -> Iterator[str]:
    """Yield the lines of standard input, each asked for by a prompt on a terminal."""
    while True:
        if terminal:
            sys.stderr.write("> ")
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return
        yield line
