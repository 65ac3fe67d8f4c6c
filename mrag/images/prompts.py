"""What is asked: of multimodal models, to describe a picture or answer with several; of us, to find images.

That the prompt for answers has three parts, the task, the images that were found, the question, is from the
source of the published graphs; its words are ours.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from mrag import untrusted
from mrag.errors import ConfigError
from mrag.language.possessive import compile_pattern

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_TEXTS: Final[dict[str, Any]] = tomllib.loads(
    files("mrag.images").joinpath("prompts.toml").read_text("utf-8")
)
PROMPTS: Final[Mapping[str, str]] = MappingProxyType(_TEXTS["descriptions"])
"""Prompts for descriptions by name."""
TASK: Final[str] = _TEXTS["task"]
"""The first part of a prompt for an answer; the images are the second, the request is the third."""


def description_prompt(name: str) -> str:
    """Return the prompt of a name, or the text itself when it is none."""
    if not name.strip():
        raise ConfigError("The prompt is empty.", hint=f"Known prompts: {', '.join(PROMPTS)}.")
    return PROMPTS.get(name, name)


def answer_messages(
    question: str,
    pictures: Sequence[tuple[str, str, Mapping[str, str] | None]],
    asked: Mapping[str, str] | None = None,
) -> list[BaseMessage]:
    """Build the messages for an answer with pictures."""
    from langchain_core.messages import HumanMessage, SystemMessage

    content: list[str | dict[Any, Any]] = []
    for number, (name, lines, block) in enumerate(pictures, start=1):
        head, facts = f"Image {number}: {untrusted.one_line(name)}", untrusted.block(lines)
        content.append({"type": "text", "text": f"{head}\n<facts>\n{facts}\n</facts>"})
        if block is not None:
            content.append(dict(block))
    if asked is not None:
        content.append({"type": "text", "text": "The request comes with this picture:"})
        content.append(dict(asked))
    request = untrusted.one_line(question) or "images like the picture"
    content.append({"type": "text", "text": f"Request: {request}"})
    return [SystemMessage(TASK), HumanMessage(content)]


_IMAGE: Final = r"(?:picture|image|photo|photograph)s?"
_SOME: Final = (
    r"(?:(?:a|an|the|some|all|any|more|few|several|every|other|of|\d+|one|two|three|four|five|ten)\s+)*+"
)
_SHOWING: Final = (
    r"(?:of|with|where|in\s+which|showing|depicting|containing|featuring|including|displaying|having|"
    r"(?:(?:that|which)\s+)?(?:shows?|depicts?|contains?|displays?|features?|includes?|has|have|is|are|looks?)"
    r"(?:\s+(?:of|with|like))?)"
)
_ASKED: Final = compile_pattern(
    r"(?:please\s+)?(?:(?:can|could|would)\s+(?:you|i|we)\s+)?(?:please\s+)?(?:i\s+(?:want|would\s+like)\s+)?"
    r"(?:to\s+)?(?:show|find|give|get|see|display|list|search|look)\s+(?:(?:me|us|for|at)\s+)*"
    rf"{_SOME}{_IMAGE}\b(?:\s+{_SHOWING}\b)?"
    rf"|(?:which|what|{_SOME})\s*{_SOME}{_IMAGE}\s+{_SHOWING}\b",
    re.IGNORECASE,
)


def wish_of(question: str) -> str | None:
    """Return what the images that a question asks for are to show, None if it does not ask for images."""
    match = _ASKED.match(question.strip())
    return None if match is None else question.strip()[match.end() :].strip(" ?.!")
