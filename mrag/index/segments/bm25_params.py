"""The knobs of BM25."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from mrag.errors import ConfigError
from mrag.text.analysis import DEFAULT, Analyser, checked

Idf: TypeAlias = Literal["lucene", "plain"]


@dataclass(frozen=True)
class Bm25Params:
    """The knobs of BM25.

    Args:
        k1: How slowly repetition of a term saturates, 0 or more.
        b: How much long documents are held back, from 0 (not) to 1 (fully).
        fold_accents: Take `é` for `e`.
        analyser: How words are stemmed, see `mrag.text.analysis`.
        idf: How rare terms are weighed: `lucene` as in `Bm25Index`, or `plain`, ln(N / df), under which
            a term that every document has finds nothing.
        min_chars: Shortest token that is indexed, in characters.
        stop_words: Pass over the English function words of a query that has other words.

    Raises:
        ConfigError: If a knob is outside of its range.

    Example:
        >>> Bm25Params(b=2)
        Traceback (most recent call last):
        mrag.errors.ConfigError: BM25 cannot use b=2. b lies between 0 and 1; 0.75 is usual.
    """

    k1: float = 1.2
    b: float = 0.75
    fold_accents: bool = True
    analyser: str = DEFAULT
    idf: Idf = "lucene"
    min_chars: int = 1
    stop_words: bool = True

    def __post_init__(self) -> None:
        if self.idf not in get_args(Idf):
            raise ConfigError(f"BM25 knows no idf {self.idf!r}.", hint=f"Known: {', '.join(get_args(Idf))}.")
        if not (math.isfinite(self.k1) and self.k1 >= 0):
            raise ConfigError(f"BM25 cannot use k1={self.k1}.", hint="k1 is 0 or more; 1.2 is usual.")
        if not 0 <= self.b <= 1:
            raise ConfigError(f"BM25 cannot use b={self.b}.", hint="b lies between 0 and 1; 0.75 is usual.")
        object.__setattr__(self, "analyser", checked(self.analyser))

    @property
    def analysis(self) -> Analyser:
        """How texts and queries become terms."""
        return Analyser(fold_accents=self.fold_accents, name=self.analyser, min_chars=self.min_chars)


THESIS: Final = Bm25Params(
    k1=1.6, b=0.75, fold_accents=False, analyser="none", idf="plain", min_chars=2, stop_words=False
)
"""BM25 as in the thesis that this package builds on: ln(N / df), words of two letters or more as they are."""
