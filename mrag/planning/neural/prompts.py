"""What language models are asked of plans, as `prompts.toml` has it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

_FOLDER = files("mrag") / "planning" / "neural"
PROMPTS: Final[Mapping[str, str]] = tomllib.loads((_FOLDER / "prompts.toml").read_text(encoding="utf-8"))
"""What is said to a model, by what it does."""
RULES: Final = (_FOLDER / "statements.gbnf").read_text(encoding="utf-8")
"""The rules of the grammar of statements that are the same for every card."""
