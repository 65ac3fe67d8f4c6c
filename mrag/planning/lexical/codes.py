"""Values that stand for words: "M" for men, "GK" for goalkeepers, as initials and comments tell."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexical.gathering import NamedThings
from mrag.planning.lexical.synonyms import positive
from mrag.planning.reading.question import QuestionText
from mrag.planning.schema import PropertyInfo, Schema
from mrag.text.tokens import content, is_stopword, stem

_MOST: Final = 12
"""Distinct values that a property of codes has at most."""
_SEXES: Final = {
    **dict.fromkeys("male males man men boy boys gentleman gentlemen".split(), "male"),
    **dict.fromkeys("female females woman women girl girls lady ladies".split(), "female"),
}
_INITIALS: Final = tuple(
    frozenset(group.split())
    for group in (
        "male female", "left right", "single married divorced widowed", "north south east west",
        "small medium large", "home away", "day night", "active inactive", "open closed", "internal external",
        "public private", "full part", "domestic international", "pass fail", "win loss draw", "buy sell",
        "credit debit", "approved rejected pending", "passed failed",
    )
)  # fmt: skip
"""Words of which one letter stands for each, where a property has letters alone."""
_SAYS = r"\s*(?:=|:|->|—|–|\bis\b|\bfor\b|\bmeans\b|\bstands for\b)\s*(?:an?\s+|the\s+)?"
_PHRASE = r"([^\W\d_][\w -]*?)(?=\s*(?:[,;.()/|]|\bor\b|\band\b|$))"


class CodeWords:
    """What the codes of a graph stand for.

    Args:
        schema: The schema.
        things: The names, which hold the values.
    """

    def __init__(self, schema: Schema, things: NamedThings) -> None:
        self._phrases: dict[tuple[str, ...], dict[str, list[str]]] = {}
        self._before: dict[tuple[str, ...], dict[str, dict[str, list[str]]]] = {}
        self._written = set[str]()
        for iri, values in _values(schema, things).items():
            for phrase, value in _told(schema.properties[iri], values):
                words = tuple(content(phrase))
                # "5 (best)" is no word for five: what is best is asked for with it.
                plain = all(positive(word) in (None, word) for word in phrase.lower().split())
                if words and plain:
                    self._written.add(phrase.lower())
                    self._phrases.setdefault(words, {}).setdefault(value, []).append(iri)
                if len(words) > 1 and plain and words[-1] in _heads(schema.properties[iri], schema):
                    # Of a "high school" the school is told by its class.
                    found = self._before.setdefault(words[:-1], {}).setdefault(words[-1], {})
                    found.setdefault(value, []).append(iri)

    def mentions(self, question: QuestionText, clear: set[int], exact: set[int]) -> Iterator[NameMention]:
        """Yield what words of a question are written as codes.

        Args:
            question: The question.
            clear: Places of words that name something as they stand, or in another form of the word.
            exact: Those of words that name something as they stand; what a code stands for word for word is
                rather meant than another form of a name: "delayed" than a delay.
        """
        if not self._phrases:
            return
        stems = [stem(_SEXES.get(w.low, w.low)) for w in question.words]
        for start in range(len(stems)):
            for end in range(min(len(stems), start + 3), start, -1):
                found = self._phrases.get(tuple(stems[start:end]))
                if end < len(stems) and (before := self._before.get(tuple(stems[start:end]))):
                    found = before.get(stems[end], found)
                said = " ".join(question.low[start:end])
                if not found or (exact if said in self._written else clear).intersection(range(start, end)):
                    continue
                if end - start == 1 and is_stopword(question.words[start].token.key):
                    continue
                yield NameMention(
                    start,
                    end,
                    tuple(
                        Candidate("value", value, 0.9, said, "synonym", tuple(iris))
                        for value, iris in sorted(found.items())
                    ),
                )
                break


def _heads(info: PropertyInfo, schema: Schema) -> set[str]:
    """Return the stems of the last words of the names of the classes that have a property."""
    kinds = (schema.classes[c] for c in info.domains if c in schema.classes)
    return {stem(name.lower().split()[-1]) for kind in kinds for name in kind.names[:1]}


def _values(schema: Schema, things: NamedThings) -> Mapping[str, list[str]]:
    """Return the values of the properties that have few."""
    few = [
        n for n, p in enumerate(things.predicates)
        if (i := schema.properties.get(p)) is not None
        and 1 < i.objects <= _MOST and i.kind == "text" and not i.flag
    ]  # fmt: skip
    found: dict[str, list[str]] = defaultdict(list)
    for at in np.flatnonzero(np.isin(things.properties, np.array(few, things.properties.dtype))):
        owner = int(np.searchsorted(things.starts, at, side="right")) - 1
        found[things.predicates[int(things.properties[at])]].append(things.terms[things.entities + owner])
    for iri, info in schema.properties.items():
        if info.kind == "number" and 1 < info.objects <= _MOST and not info.flag:
            # "1 = new, 2 = shipped": what numbers mean is only said there.
            found[iri] = list(dict.fromkeys(re.findall(r"(?<![\w.])(\d{1,3})\s*[=:–]\s*[a-z]", info.comment)))
    return found


def _told(info: PropertyInfo, values: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield phrases with the values that stand for them."""
    low = {v.strip().casefold(): v for v in values}
    for sex in ("male", "female"):
        if sex in low:
            yield sex, low[sex]
    # "E economy, B business": only where each value has a word beside it, else it is a sentence.
    beside = all(
        re.search(rf"(?<!\w){re.escape(v)} [a-z][\w-]*\s*(?:[,;.(]|$)", info.comment) for v in values
    )
    for value in values:
        if not 0 < len(value) <= 4:
            continue
        said = re.escape(value)
        for pattern in (
            rf"(?<![\w]){said}(?![\w]){_SAYS}{_PHRASE}",
            rf"\b([^\W\d_][\w-]*) \({said}\)",
            rf"(?<![\w]){said} \(([^\W\d_][\w -]*)\)",
            *((rf"(?<![\w]){said} ([^\W\d_][\w-]*)(?=\s*(?:[,;.()/|]|\bor\b|\band\b|$))",) * beside),
            *((rf"(?<![\w]){said} [^\W\d_][\w-]* \(([^\W\d_][\w -]*)\)",) * beside),
        ):
            for match in re.finditer(pattern, info.comment):
                if len(match[1]) > len(value):
                    yield match[1], value
    letters = {v: low[v] for v in low if len(v) == 1 and v.isalpha()}
    if len(letters) == len(low) > 1:
        for group in _INITIALS:
            of = {word[0]: word for word in sorted(group)}
            # Beside women and men there may be others, with a letter that says nothing by itself.
            known = set(letters) <= set(of) or ("male" in group and set(of) <= set(letters))
            if len(of) == len(group) and known and _fits(info, group):
                yield from ((of[letter], value) for letter, value in letters.items() if letter in of)


def _fits(info: PropertyInfo, group: frozenset[str]) -> bool:
    """Return whether letters of a property may be those of a group of words: "M" and "F" of a gender."""
    names = {w for name in info.names for w in name.lower().split()}
    comment = {w.lower() for w in re.findall(r"[^\W\d_]+", info.comment)}
    sexes = {"gender", "sex"} & names
    return bool(sexes) if "male" in group else bool((names | comment) & (group | _TELLING))


_TELLING: Final = frozenset(
    "status state hand handed foot footed side size result outcome type marital direction".split()
)
