"""Words of English that the reader of captions knows; `english.toml` has them and says what each list is."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

_LISTS: Final = tomllib.loads((files("mrag") / "graphcodes" / "english.toml").read_text(encoding="utf-8"))

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
