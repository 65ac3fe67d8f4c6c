"""Sentences that need no grammar: the product's own wordings, quotations of texts, and labels put in a row.

What `verbalise` makes of lines says what they say, in any language, and a quotation says that it is one. A
text in another language than English is held to its lines word by word: the subject, the label and the object
must stand in it, in this order, with nothing else but function words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from mrag.context.render import Line, by_subject
from mrag.generation.support.mentions import ContextNames
from mrag.generation.verbalise import PHRASES, describes, fill, value, verbalise
from mrag.language.names import split_identifier
from mrag.language.tokens import FUNCTION_WORDS, NEGATIONS, fold, keys, tokens, words
from mrag.rdf.terms import OWL, Term

_QUOTED: Final = re.compile(r"[“„«]\s?([^“”„«»]*?)\s?[”“»]")
_OPENS: Final = words("that which who and but whereas while")
_CLOSES: Final = words("that which who and but whereas while with")
_SMALL: Final = words("a an the is are was were it they this he she")
_MOST: Final = 40
"""Lines of one sentence that are put in words again."""


def is_own(text: str, lines: Sequence[Line]) -> bool:
    """Return whether a sentence is what the product makes of some lines."""
    if not lines or len(lines) > _MOST:
        return False
    quoted = {part: x for part in _QUOTED.findall(text) for x in lines if describes(x) and quotes(part, x)}
    shown = {x.id: replace(x, labels=(*x.labels[:2], part)) for part, x in quoted.items()}
    given = [shown.get(line.id, line) for line in lines]
    for language in ("en", *(name for name in PHRASES if name != "en"), "und"):
        for person, kind in ((False, False), (True, False), (False, True))[: None if language == "en" else 1]:
            told = verbalise(given, language=language, person=person, kind=kind)
            if len(told) == 1 and told[0].text == text:
                return True
    names = [
        f"{own[0].labels[0]} ({', '.join(dict.fromkeys(map(value, own)))})"
        for own in by_subject(lines).values()
    ]
    return any(text == fill(p.also, names=p.join(names)) for p in PHRASES.values())


def quotes(part: str, line: Line) -> bool:
    """Return whether a text is a passage of what a line says, which may break off."""
    whole = " ".join(str(line.triple.o).split()).replace("“", "‘").replace("”", "’")
    bare = part.removesuffix(" …").strip()
    return len(bare) > 1 and (bare in whole or bare in " ".join(line.labels[2].split()))


def describe(text: str, subjects: Collection[frozenset[Term]], lines: Sequence[Line]) -> list[Line]:
    """Return lines with prose that has a predicate as one of its own clauses, for each of some subjects."""
    wanted = keys(text)
    # What a text says is so is not said to have been so.
    while wanted and wanted[0] in (_SMALL - {"was", "were"}) | {"describ", "described", "as"}:
        wanted = wanted[1:]
    if len(wanted) < 2 or (len(wanted) < 3 and not text.strip()[:1].isalpha()):
        return []
    every = frozenset().union(*subjects)
    having = [x for x in lines if x.triple.s in every and describes(x) and _has_clause(x, wanted)]
    evidence = [next((x for x in having if x.triple.s in subject), None) for subject in subjects]
    return [x for x in evidence if x is not None] if all(evidence) else []


def _has_clause(line: Line, wanted: tuple[str, ...]) -> bool:
    whole = str(line.triple.o)
    told = tokens(whole)
    form = tuple(word.key for word in told)
    size, name = len(wanted), keys(line.labels[0])

    def is_broken(at: int) -> bool:
        """Return whether a clause may begin or end before a word: a mark stands there, or nothing."""
        if not 0 < at < len(told):
            return True
        return any(c in ",;:.!?()—–" for c in whole[told[at - 1].end : told[at].start])

    for at in range(len(form) - size + 1):
        if form[at : at + size] != wanted:
            continue
        start, last = at, at + size
        while not is_broken(start) and form[start - 1] in _SMALL:
            start -= 1
        sentence = re.split(r"[.!?;:]", whole[: told[at].start])[-1]
        if {fold(word) for word in re.findall(r"\w+(?:['’]\w+)?", sentence)} & NEGATIONS or "n't" in sentence:
            continue
        opens = is_broken(start) or form[start - 1] in _OPENS
        names_it = name == form[max(0, start - len(name)) : start]
        if (opens or names_it) and (is_broken(last) or form[last] in _CLOSES):
            return True
    return False


def disjoint(text: str, lines: Sequence[Line], names: ContextNames) -> list[Line]:
    """Return the lines that two classes have nothing in common, where that is all a sentence says.

    Example: "No product is a vendor", "Nothing is both a product and a vendor".
    """
    match = re.fullmatch(
        r"(?:no (?P<a>.+?) (?:is|are|can be) (?:an? )?(?P<b>.+?)"
        r"|nothing is both (?:an? )?(?P<c>.+?) and (?:an? )?(?P<d>.+?))\.?",
        text.strip(),
        re.IGNORECASE,
    )
    if match is None:
        return []
    one, other = keys(match["a"] or match["c"]), keys(match["b"] or match["d"])
    ends = {one, other}
    return [
        line
        for line in lines
        if str(line.triple.p) == OWL + "disjointWith"
        and {keys(split_identifier(line.labels[0])), keys(split_identifier(line.labels[2]))} == ends
        and line.triple.s in names.classes
    ]


def in_a_row(text: str, language: str, lines: Sequence[Line]) -> list[Line]:
    """Return the line that a sentence in another language puts in a row: subject, label, object."""
    said = keys(text)
    small = frozenset(map(fold, FUNCTION_WORDS.get(language, frozenset()))) - frozenset(map(fold, NEGATIONS))
    for line in lines:
        parts = [keys(part) for part in (line.labels[0], split_identifier(line.labels[1]), line.labels[2])]
        last = 0
        used: set[int] = set()
        for part in parts:
            starts = (i for i in range(last, len(said) - len(part) + 1) if said[i : i + len(part)] == part)
            at = next(starts, len(said))
            last = at + len(part)
            used.update(range(at, last))
        in_row = all(parts) and last <= len(said)
        if in_row and all(i in used or word in small for i, word in enumerate(said)):
            return [line]
    return []
