"""Analysis of text, shared by ranking, matching and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.language import analysis  # noqa: F401 - for `mrag.language.…`
    from mrag.language.analysis import Analyser
    from mrag.language.names import iri_words, is_place, local_words, name_parts, split_identifier
    from mrag.language.tokens import (
        FUNCTION_WORDS,
        STOP_WORDS,
        TextToken,
        content,
        fold,
        keys,
        language_of,
        normalise,
        singular,
        stem,
    )

__all__ = [
    "FUNCTION_WORDS", "STOP_WORDS", "Analyser", "TextToken", "content", "fold", "iri_words",
    "is_place", "keys", "language_of", "local_words", "name_parts", "normalise", "singular",
    "split_identifier", "stem",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
