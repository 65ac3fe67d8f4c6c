"""Rankers of other packages, held to what a ranker promises."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from rdflib import URIRef

from mrag.errors import MragError, RankerError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import iri
from mrag.redaction import brief
from mrag.retrieval.rankers import Hit, Question, Ranker

logger = logging.getLogger(__name__)

_MOST = 100_000
"""Hits after which a ranker that does not end is left alone."""
_SHOWN = 300
"""Characters of another package's error that are shown."""


@dataclass
class GuardedRanker:
    """Ranks by a ranker that may not keep its promises.

    What can be put right is: hits beyond `k`, entities that come twice, ranks that do not count from 1, and
    an iterator in the place of a list. Entities that the graph does not have are left out, with a warning.
    The rest is an error that names the ranker.

    Args:
        name: What the ranker is called.
        ranker: The ranker.
        kg: The knowledge graph.
        hint: What to do about it if it fails.

    Example:
        >>> import mrag
        >>> class Careless:
        ...     def rank(self, question, k):
        ...         yield Hit("urn:not-here", 2.0, 0)
        ...         yield Hit("https://w3id.org/mrag/demo/products#RDFox", 1.0, 0)
        >>> with mrag.demo(model="none") as kg:
        ...     [hit] = GuardedRanker("careless", Careless(), kg).rank(Question("reasoner"), 5)
        >>> hit.rank, hit.iri
        (1, 'https://w3id.org/mrag/demo/products#RDFox')
    """

    name: str
    ranker: Ranker
    kg: KnowledgeGraph
    hint: str | None = None

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first.

        Raises:
            RankerError: If the ranker fails, or gives what are no hits or scores that are no numbers.
        """
        found: dict[str, Hit] = {}
        try:
            for hit in islice(self.ranker.rank(question, k), _MOST):
                if len(found) >= k:
                    break
                checked = self._checked(hit)
                found.setdefault(checked.iri, checked)
        except MragError:
            raise
        except Exception as error:  # another package raises what it likes
            said = brief(str(error), _SHOWN)
            told = f"{type(error).__name__}: {said}" if said else type(error).__name__
            raise RankerError(f"The ranker {self.name} failed: {told}.", hint=self.hint) from error
        there = self._there(list(found))
        kept = [hit for name, hit in found.items() if name in there]
        if len(kept) < len(found):
            missing = min(name for name in found if name not in there)
            logger.warning(
                "The ranker %s found %s that the graph does not have, such as %r; left out.",
                self.name,
                "an entity" if len(found) == len(kept) + 1 else f"{len(found) - len(kept)} entities",
                missing,
            )
        return [Hit(hit.iri, hit.score, rank, hit.reasons) for rank, hit in enumerate(kept, start=1)]

    def _checked(self, hit: object) -> Hit:
        """Return a hit with plain values."""
        iri: object = getattr(hit, "iri", None)
        if not isinstance(hit, Hit) or not isinstance(iri, str):
            raise self._wrong(f"gave {type(hit).__name__} {str(hit)[:80]!r}, which is no hit")
        score = float(hit.score)
        if not math.isfinite(score):
            raise self._wrong(f"gave {hit.iri[:200]} the score {score}")
        given: object = hit.reasons
        reasons: Iterable[object] = (given,) if isinstance(given, str) else hit.reasons
        return Hit(str(hit.iri), score, 0, tuple(map(str, reasons)))

    def _wrong(self, what: str) -> RankerError:
        return RankerError(f"The ranker {self.name} {what}.", hint=self.hint)

    def _there(self, names: Sequence[str]) -> set[str]:
        """Return those of some IRIs that the graph says something of."""
        query = queries.get("completion/present")
        rows = (row for text in query.batches("term", list(_iris(names))) for row in self.kg.select(text))
        return {str(term) for (term,) in rows}


def _iris(names: Iterable[str]) -> Iterator[URIRef]:
    """Yield those texts that are IRIs."""
    for name in names:
        try:
            yield iri(name)
        except TermError:
            continue
