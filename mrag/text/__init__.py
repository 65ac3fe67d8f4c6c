"""Analysis of text, shared by ranking, matching and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mrag._lazy import lazy

if TYPE_CHECKING:
    from mrag.text.analysis import Analyser
    from mrag.text.folding import normalised
    from mrag.text.names import iri_words, is_place, local_words, name_parts, split_identifier
    from mrag.text.plurals import singular
    from mrag.text.stopwords import FUNCTION_WORDS, STOP_WORDS, content_words
    from mrag.text.tokens import TextToken, content, fold, keys, language_of, stem

__all__ = [
    "FUNCTION_WORDS", "STOP_WORDS", "Analyser", "TextToken", "content", "content_words", "fold", "iri_words",
    "is_place", "keys", "language_of", "local_words", "name_parts", "normalised", "singular",
    "split_identifier", "stem",
]  # fmt: skip

__getattr__, __dir__ = lazy(__name__)
