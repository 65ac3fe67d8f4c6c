"""Images by words: by the graph's own ranker, and by the names of what is annotated in them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from mrag.rdf import queries

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
    from mrag.images.catalogue import Chosen, ImageCatalogue
    from mrag.images.rankers import ImageTextRanker
    from mrag.index.document_index import DocumentIndex
    from mrag.retrieval.rankers import Hit
    from mrag.server.web.choice import Rankers

_DEPTH = 300
"""Hits of the graph's ranker that are read; each is an image, or something annotated in one."""

_NAMES = 12
"""Categories and attributes that the words may mean."""


class ImageWords:
    """Ranks the images of a graph for words, among those that are chosen.

    The server's ranker finds images and what is annotated in them, by words and by meaning as the index
    allows; the names of categories and attributes are compared with the words in the same way, so that an
    image of which only these are known is found as well. Both rankings are fused.

    Args:
        kg: The knowledge graph.
        choice: Gives the server's ranker.
    """

    def __init__(self, kg: KnowledgeGraph, choice: Rankers) -> None:
        self.kg, self.choice = kg, choice
        self._making = threading.Lock()
        self._names: tuple[object, str, DocumentIndex] | None = None
        self._sentences: ImageTextRanker | None = None

    def rank(self, words: str, known: ImageCatalogue, chosen: Chosen, k: int) -> list[Hit]:
        """Return at most `k` images, best first, ties by IRI."""
        from mrag.index.fusion import reciprocal_rank_fusion
        from mrag.index.similarity import SimilarityIndexes
        from mrag.retrieval.rankers import Hit

        indexed = self.choice.settings.index in SimilarityIndexes.of(self.kg).names()
        rankings = [self._by_names(words, known, chosen, max(k, 100))]
        if indexed:
            rankings.append(self._by_ranker(words, known, chosen))
        elif self._said():
            rankings.append(self._by_sentences(words, known, chosen, k))
        reasons: dict[str, str] = {}
        for ranking in rankings:
            reasons = {**ranking, **reasons}
        fused = reciprocal_rank_fusion([list(ranking) for ranking in rankings])
        return [Hit(iri, score, at, (reasons[iri],)) for at, (iri, score) in enumerate(fused[:k], start=1)]

    def _by_ranker(self, words: str, known: ImageCatalogue, chosen: Chosen) -> dict[str, str]:
        from mrag.retrieval.rankers import Question

        hits = self.choice.ranker({}).rank(Question(words), _DEPTH)
        parts = [hit.iri for hit in hits if hit.iri not in known.files]
        of: dict[str, list[str]] = {}
        for text in queries.get("image/images-with").batches("part", parts):
            for part, image in self.kg.select(text):
                of.setdefault(str(part), []).append(str(image))
        allowed = frozenset(known.iris(chosen))
        found: dict[str, str] = {}
        for hit in hits:
            why = hit.reasons[0] if hit.reasons else ""
            for image in (hit.iri, *of.get(hit.iri, ())):
                if image in allowed:
                    found.setdefault(image, why)
        return found

    def _by_names(self, words: str, known: ImageCatalogue, chosen: Chosen, k: int) -> dict[str, str]:
        index = self._named(known)
        matches = index.search(words, _NAMES, mode="hybrid" if index.embedder_name else "bm25")
        weights = {match.doc_id: float(match.score) for match in matches if match.score > 0}
        if not weights:
            return {}
        names = {iri: index.texts_of([iri]).get(iri, iri) for iri in weights}
        found = known.weighted(weights, chosen, k)
        return {
            image: f"shows {', '.join(names[iri] for iri in weights if iri in known.values_of(image))}"
            for image, _ in found
        }

    def _by_sentences(self, words: str, known: ImageCatalogue, chosen: Chosen, k: int) -> dict[str, str]:
        from mrag.images.rankers import ImageTextRanker
        from mrag.retrieval.rankers import Question

        allowed = None if chosen.all() else frozenset(known.iris(chosen))
        with self._making:
            texts = self._sentences = self._sentences or ImageTextRanker(self.kg, "bm25", keep=False)
            texts.allowed = None if allowed is None else lambda: allowed
            hits = texts.rank(Question(words), k)
        return {hit.iri: hit.reasons[0] for hit in hits if hit.iri in known.files}

    def _said(self) -> bool:
        """Return whether the graph has sentences about images."""
        from mrag.images.graph import ImageVocabulary, property_values

        said = ImageVocabulary()
        return any(
            next(iter(property_values(self.kg, (name,))), None) is not None
            for name in (*said.sentences, said.generated)
        )

    def _named(self, known: ImageCatalogue) -> DocumentIndex:
        """Return an index in memory of the names of all categories and attributes, some hundreds mostly."""
        from mrag.context.display import Display
        from mrag.index.document_index import DocumentIndex
        from mrag.index.embedding import embedder

        model = self._model()
        with self._making:
            if self._names is None or self._names[0] is not known or self._names[1] != model:
                display = Display(self.kg)
                iris = sorted({iri for values in known.values.values() for iri in values})
                display.prepare(iris)
                index = DocumentIndex.create(None, embedder=embedder(model))
                index.sync([(iri, display.entity(iri)) for iri in iris], extra={})
                self._names = (known, model, index)
            return self._names[2]

    def _model(self) -> str:
        """Return the model that the graph's index was built with, by name."""
        from mrag.index.similarity import SimilarityIndex, SimilarityIndexes

        name, indexes = self.choice.settings.index, SimilarityIndexes.of(self.kg)
        if name not in indexes.names():
            return "none"
        index = indexes.get(name, quiet=True)
        return str(index.files.extra.get("model") or "none") if isinstance(index, SimilarityIndex) else "none"
