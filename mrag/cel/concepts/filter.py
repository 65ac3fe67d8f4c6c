"""A concept as a filter of a search."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mrag.cel.concepts.registry import concept_iri, find_concept
from mrag.cel.semantics.counting import instances_among
from mrag.cel.syntax.expressions import Expression, Named
from mrag.cel.syntax.printing import to_dl
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import curie
from mrag.retrieval.rankers import Hit, Question, Ranker


@dataclass
class ClassFilter:
    """Keeps the hits of a ranker that are in a class, in their order.

    Args:
        ranker: Whose hits are filtered.
        kg: The knowledge graph.
        concept: A class expression, or the name, IRI or CURIE of a kept concept or of any class. A kept
            concept is asked by its query, so that it is up to date without reasoning.
        depth: How deep the ranking is read at first; it is read deeper until there are enough hits.

    Raises:
        ConfigError: If `depth` is not positive.
    """

    ranker: Ranker
    kg: KnowledgeGraph
    concept: Expression | str
    depth: int = 100

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise ConfigError("depth is positive.")

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` hits, best first, each with the class among its reasons."""
        expression, name = self._wanted()
        depth = max(k, self.depth)
        while True:
            hits = self.ranker.rank(question, depth)
            inside = instances_among(self.kg, expression, [h.iri for h in hits])
            found = [h for h in hits if h.iri in inside][:k]
            if len(found) == k or len(hits) < depth:
                reason = f"Is in {name}"
                return [
                    replace(h, rank=rank, reasons=(*h.reasons, reason))
                    for rank, h in enumerate(found, start=1)
                ]
            depth *= 4

    def _wanted(self) -> tuple[Expression, str]:
        if not isinstance(self.concept, str):
            return self.concept, to_dl(self.concept, self.kg.prefixes)
        kept = find_concept(self.kg, self.concept)
        if kept is not None:
            return kept.expression, kept.label
        iri = concept_iri(self.kg, self.concept)
        return Named(iri), self.kg.labels([iri])[iri] or curie(iri, self.kg.prefixes)
