"""Words of questions that mean what words of predicates mean, by their stems."""

from __future__ import annotations

from mrag.text.english import SYNONYMS
from mrag.text.tokens import stem

OTHERS: dict[str, frozenset[str]] = {}
"""Stem of a word that is asked with, to the stems of words that predicates are named with."""

for _asked, _said in SYNONYMS:
    for _word in _asked:
        OTHERS[stem(_word)] = OTHERS.get(stem(_word), frozenset()) | {stem(word) for word in _said}
