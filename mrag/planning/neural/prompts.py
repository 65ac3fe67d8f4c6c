"""What language models are asked of plans, as `prompts.toml` has it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from mrag.generation.models import Told, bounded, told

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_FOLDER = files("mrag") / "planning" / "neural"
PROMPTS: Final[Mapping[str, str]] = tomllib.loads((_FOLDER / "prompts.toml").read_text(encoding="utf-8"))
"""What is said to a model, by what it does."""
RULES: Final = (_FOLDER / "statements.gbnf").read_text(encoding="utf-8")
"""The rules of the grammar of statements that are the same for every card."""


def answer_of(
    model: BaseChatModel, system: str, asked: str, grammar: str, tokens: int, *, afresh: bool = False
) -> Told:
    """Return what a model answers by a grammar, with the probabilities of its tokens where it tells them.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    from langchain_core.messages import HumanMessage, SystemMessage

    messages = [SystemMessage(system), HumanMessage(asked)]
    return told(bounded(model, tokens), messages, grammar, afresh=afresh)
