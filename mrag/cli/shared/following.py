"""Questions one after the other, from the arguments or from standard input."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mrag.cli.shared.output import say
from mrag.errors import MragError

if TYPE_CHECKING:
    from mrag.generation.result import Answer
    from mrag.retrieval.conversation import Conversation

_AGAIN = re.compile(r"reading (\d{1,3})")


def follow_ups(talk: Conversation, questions: Sequence[str]) -> Iterator[Answer]:
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
