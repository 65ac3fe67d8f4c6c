"""What language models are asked: prompts in one place, and the notice for when there is no model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mrag._tables import tables

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_core.prompts import ChatPromptTemplate

_TEXTS: Mapping[str, str] = tables("generation/prompts.toml")
SYSTEM = _TEXTS["system"]
"""The system message. "Using only the given Context … Answer briefly." is the wording of the article."""
HUMAN = _TEXTS["human"]  # The human message; what fills its places is made fit by `mrag.untrusted` first
PENDING = _TEXTS["pending"]  # What an answer says while the graph is not reasoned over as it is
NAMES_APART = _TEXTS["names_apart"]  # What an answer says while things with several names are told of apart
NO_MODEL_NOTICE = _TEXTS["no_model_notice"]
"""What an answer that was made without a model says of itself."""
SLOW_NOTICE = _TEXTS["slow_notice"]  # What is added where a model is given the best facts alone
ONLY_IDS_NOTICE = _TEXTS["only_ids_notice"]  # What is added where a model answered with ids of lines alone


def prompt(system: str = SYSTEM) -> ChatPromptTemplate:
    """Build the prompt, for use in a chain of LangChain.

    Args:
        system: Another system message, taken as it is: braces in it are no variables.

    Returns:
        A template with the variables `context` and `question`, which are data whatever they hold: the
        question stays one line, and nothing in either is a tag or a control token of a chat template.

    Example:
        >>> prompt().input_variables
        ['context', 'question']
    """
    from langchain_core.messages import SystemMessage

    from mrag.generation.template import ContextPrompt

    return ContextPrompt.from_messages([SystemMessage(system), ("human", HUMAN)])


def messages(question: str, context: str, system: str = SYSTEM) -> list[BaseMessage]:
    r"""Fill in the prompt.

    Example:
        >>> messages("What is {x}?", "[t1] (a, b, {c})")[1].content
        '<context>\n[t1] (a, b, {c})\n</context>\n\nQuestion: What is {x}?'
    """
    return prompt(system).format_messages(question=question, context=context)


# In front of a mark may stand quote marks and the bullet of an item; behind it, what kind of code it is.
_BEFORE = r"(?P<before>[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?)"
_FENCE = re.compile(
    rf"{_BEFORE}(?P<mark>`{{3,}}|~{{3,}})[ \t]*+(?P<kind>[^\s`]*+)(?:[ \t]++[\w:-]++=[^`]*+)?[ \t]*+"
)
_OPENED = re.compile(rf"{_BEFORE}(?P<mark>`{{3,}}|~{{3,}})(?P<said>.*\S)")


def without_fences(text: str) -> str:
    r"""Return a text without the marks that open and close code; what stands between them stays as it is.

    A mark that is never closed goes, too. Within code, marks that could not close it are a part of it.
    """
    kept: list[str] = []
    mark = first = ""  # the mark that is open, and the first kind of code
    for row in text.splitlines(keepends=True):
        line = row.rstrip("\r\n")
        fence = _FENCE.fullmatch(line)
        if fence is None or (mark and not fence["mark"].startswith(mark)):
            if fence is None and not mark and (said := _OPENED.fullmatch(line)):
                row = said["before"] + said["said"].removesuffix(said["mark"]).strip() + row[len(line) :]
            kept.append(row)
            continue
        first = first or fence["kind"]
        if not mark and (before := fence["before"].strip(" \t>")):
            kept.append(before + " ")
        mark = "" if mark and not fence["kind"] else mark or fence["mark"]
    # Of one word between two marks it looks as if it said what kind of code it is.
    return "".join(kept).strip("\r\n") or first
