"""How well answers that were completed match gold answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from mrag.language import tokens

_SIGN = re.compile(r"[^\w\s]|_")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalised(answer: str) -> str:
    """Reduce an answer to what is compared: no case, accents, punctuation, English articles or spare spaces.

    The order is: compatibility decomposition (NFKD) and removal of combining marks, casefold, punctuation and
    underscores to spaces, articles out, spaces joined. An answer of which nothing is left, such as `$` or
    `The The`, is only decomposed, casefolded and its spaces joined.

    Example:
        >>> normalised(" The  Café-Owner's "), normalised("The The"), normalised("$")
        ('cafe owner s', 'the the', '$')
    """
    folded = _fold(answer)
    return _bare(folded) or folded


def exact_match(found: Iterable[str], gold: Iterable[str]) -> float:
    """Return 1 if both sets are equal, else 0; two empty sets are equal.

    Example:
        >>> exact_match(["The Matrix", "Up"], ["up", "matrix"]), exact_match([], ["up"])
        (1.0, 0.0)
    """
    return float(_set(found) == _set(gold))


def set_f1(found: Iterable[str], gold: Iterable[str]) -> float:
    """Return the harmonic mean of precision and recall of a set; 1 if both are empty, 0 if one is.

    Example:
        >>> set_f1(["up", "matrix"], ["up"])
        0.6666666666666666
    """
    a, b = _set(found), _set(gold)
    if not a or not b:
        return float(a == b)
    return 2 * len(a & b) / (len(a) + len(b))


def contained(text: str, gold: Iterable[str]) -> float:
    """Return 1 if the text of an answer holds one of the gold answers, else 0: CoMuS-KG's accuracy.

    An answer is held if its words occur in the text one after another; the paper's bare substrings would find
    `man` in `command`. One that has signs or articles alone is held if it stands there as it is. Without gold
    answers it is 1 for a text without words.

    Example:
        >>> contained("It was directed by John McTiernan.", ["john mctiernan"]), contained("command", ["man"])
        (1.0, 0.0)
    """
    words = f" {normalised(text)} "
    wanted = _set(gold)
    if not wanted:
        return float(not words.strip())
    plain = _fold(text)
    return float(any(f" {a} " in words if _bare(a) else a in plain for a in wanted))


def hits_at_1(found: Sequence[str], gold: Iterable[str]) -> float:
    """Return 1 if the first answer is one of the gold answers, else 0; 1 if both are empty.

    Example:
        >>> hits_at_1(["Up", "Heat"], ["up"]), hits_at_1(["Heat", "Up"], ["up"]), hits_at_1([], ["up"])
        (1.0, 0.0, 0.0)
    """
    wanted = _set(gold)
    if not found or not wanted:
        return float(not found and not wanted)
    return float(normalised(found[0]) in wanted)


@dataclass(frozen=True)
class CompletionScores:
    """Means over questions of `hits_at_1`, `exact_match`, `set_f1` and, as accuracy, `contained`."""

    questions: int = 0
    hits_at_1: float = 0.0
    exact_match: float = 0.0
    f1: float = 0.0
    accuracy: float = 0.0

    def __str__(self) -> str:
        return (
            f"hits@1 {self.hits_at_1:.3f}  exact {self.exact_match:.3f}  F1 {self.f1:.3f}  "
            f"containment {self.accuracy:.3f}  n={self.questions}"
        )


def score(
    found: Mapping[str, Sequence[str]],
    gold: Mapping[str, Iterable[str]],
    texts: Mapping[str, str] | None = None,
) -> CompletionScores:
    """Score the answers to many questions.

    Args:
        found: Answers by question, best first; a question without counts as answered by nothing.
        gold: Gold answers by question; these questions count.
        texts: Answers in words by question, for the containment; the answers joined by commas otherwise.

    Example:
        >>> print(score({"q": ["Up"]}, {"q": ["up"], "r": ["heat"]}))
        hits@1 0.500  exact 0.500  F1 0.500  containment 0.500  n=2
    """
    rows = []
    for question, wanted in gold.items():
        right, given = list(wanted), list(found.get(question, ()))
        text = (texts or {}).get(question, ", ".join(given))
        sets = exact_match(given, right), set_f1(given, right)
        rows.append((hits_at_1(given, right), *sets, contained(text, right)))
    return CompletionScores(len(rows), *map(fmean, zip(*rows, strict=True))) if rows else CompletionScores()


def _fold(text: str) -> str:
    return " ".join(tokens.bare(text).split())


def _bare(folded: str) -> str:
    return " ".join(_ARTICLE.sub(" ", _SIGN.sub(" ", folded)).split())


def _set(answers: Iterable[str]) -> set[str]:
    return {key for answer in answers if (key := normalised(answer))}
