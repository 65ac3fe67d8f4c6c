"""Words of English that the reader of captions knows; `english.toml` has them and says what each list is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mrag._tables import tables

_LISTS: Final = tables("graphcodes/english.toml")

WORDS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words.split() if isinstance(words, str) else words)
    for name, words in _LISTS.items()
    if not isinstance(words, dict)
}
"""Sets of words and phrases by name."""

INSTEAD: Final[Mapping[str, Mapping[str, str]]] = {
    name: words for name, words in _LISTS.items() if isinstance(words, dict)
}
"""What is written instead of what, by name."""
