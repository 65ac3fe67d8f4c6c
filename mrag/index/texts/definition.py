"""What the documents of a similarity index are made of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mrag.index.bm25 import Bm25Params
from mrag.rdf import queries
from mrag.text.analysis import AUTO, by_languages

__all__ = ["LINKED", "NAME_WEIGHT", "TEXTS", "Definition"]

NAME_WEIGHT: Final = 4
"""How often a document repeats its entity's name, so that it is found before what mentions it.

On the demo graph 236 of 264 names find their own entity first, 220 when the name comes twice.
"""

TEXTS: Final = "index/texts"
"""The query of a definition that is of all the texts of a graph."""
LINKED: Final = "index/linked-labels"


@dataclass(frozen=True)
class Definition:
    """What a similarity index is made of.

    Attributes:
        queries: Names of catalogue queries, in the order in which their texts are put together.
        languages: Language tags of the texts, "" for texts without.
        fallback: Whether entities with no text in these languages are indexed by what they have: texts in
            others, or the words of which their IRIs are made.
        length: Characters of a document after which it is cut.
        select: A SELECT query of a person's own, guarded and bounded, that gives texts too.
        analyser: How words are stemmed, see `mrag.text.analysis`; `auto` goes by the languages.
    """

    queries: tuple[str, ...] = (TEXTS, LINKED)
    languages: tuple[str, ...] = ("en", "mul", "")
    fallback: bool = True
    length: int = 4000
    select: str = ""
    analyser: str = AUTO

    @property
    def bm25(self) -> Bm25Params:
        """The knobs of BM25 for such an index.

        Raises:
            ConfigError: If its analyser cannot be used here.
        """
        auto = self.analyser == AUTO
        return Bm25Params(analyser=by_languages(self.languages) if auto else self.analyser)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Definition:
        """Read a definition that was kept as JSON."""
        return cls(
            tuple(kept["queries"]),
            tuple(kept["languages"]),
            bool(kept["fallback"]),
            int(kept["length"]),
            str(kept.get("select", "")),
            str(kept.get("analyser", AUTO)),
        )

    def digest(self) -> str:
        """Return a fingerprint of the definition and of the queries' texts."""
        parts = [*self.languages, str(self.fallback), str(self.length), str(NAME_WEIGHT)]
        parts += [queries.get(name).text for name in self.queries]
        parts += [self.select] if self.select else []
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
