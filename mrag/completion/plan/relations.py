"""The relations of a graph: their names, what is said of them, and what they mean to an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, cast

import numpy as np
from rdflib import URIRef

from mrag.completion.plan.names import ALTERNATIVE, NEARLY, ranked
from mrag.completion.plan.patterns import TermCandidate
from mrag.context.display import Display
from mrag.generation.verbalise import DESCRIBING
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.index.embedding import Embedder
from mrag.rdf import queries
from mrag.text.names import split_identifier
from mrag.text.tokens import normalised

_DESCRIBING = tuple(sorted(DESCRIBING))


@dataclass(frozen=True)
class NamedRelation:
    """A predicate of the graph in words.

    Attributes:
        iri: The predicate.
        label: Its best label, or the words of its local name.
        names: Every label in every language, the best first, and the words of its local name.
        descriptions: What is said of it.
    """

    iri: URIRef
    label: str
    names: tuple[str, ...]
    descriptions: tuple[str, ...] = ()


class Relations:
    """The predicates of a knowledge graph, in order of IRI.

    Args:
        relations: The predicates.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> from mrag.rdf.terms import Triple
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> _ = kg.insert([Triple(URIRef("urn:x:a"), URIRef("urn:x:directedBy"), URIRef("urn:x:b"))])
        >>> [(c.label, c.score) for c in Relations.of(kg).named("Directed_by")]
        [('directed by', 0.98)]
        >>> kg.close()
    """

    def __init__(self, relations: Sequence[NamedRelation]) -> None:
        self.all = tuple(sorted(relations, key=lambda r: str(r.iri)))
        self._vectors: dict[str, Any] = {}

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> Relations:
        """Return the relations of a knowledge graph, read once for each state of it."""
        return kg.cached("completion relations", lambda: cls(_read(kg)))

    def named(self, text: str) -> list[TermCandidate]:
        """Return the relations that a text names, as written or as normalised."""
        return [c for c in self.similar(text, NEARLY) if c.found == "exact"]

    def similar(self, text: str, min_score: float) -> list[TermCandidate]:
        """Return the relations with a name similar to a text in writing, most similar first.

        Args:
            text: What a planner called a relation.
            min_score: Least similarity, from 0 to 1.
        """
        key = normalised(split_identifier(text))
        best: dict[str, TermCandidate] = {}
        for relation in self.all:
            for name in relation.names:
                candidate = _compared(relation, name, text, key)
                known = best.get(relation.iri)
                if candidate.score >= min_score and (known is None or candidate.score > known.score):
                    best[relation.iri] = candidate
        return ranked(best)

    def meaning(self, text: str, min_score: float, model: Embedder) -> list[TermCandidate]:
        """Return the relations with a name or description near a text in meaning, nearest first.

        Args:
            text: What a planner called a relation.
            min_score: Least cosine.
            model: The embedding model.
        """
        if not self.all:
            return []
        owners, texts, vectors = self._embedded(model)
        cosines = vectors @ model.embed_query(split_identifier(text))
        best: dict[str, TermCandidate] = {}
        for at in np.flatnonzero(cosines >= min_score):
            relation, score = self.all[owners[at]], float(min(cosines[at], NEARLY))
            if relation.iri not in best or score > best[relation.iri].score:
                best[relation.iri] = TermCandidate(relation.iri, score, texts[at], "dense")
        return ranked(best)

    def vectors(self, model: Embedder) -> np.ndarray:
        """Return one vector for each relation's label, in order of `all`; shape (relations, dim)."""
        if ("labels " + model.name) not in self._vectors:
            self._vectors["labels " + model.name] = model.embed_documents([r.label for r in self.all])
        return cast(np.ndarray, self._vectors["labels " + model.name])

    def _embedded(self, model: Embedder) -> tuple[list[int], list[str], np.ndarray]:
        if model.name not in self._vectors:
            pairs = [(at, text) for at, r in enumerate(self.all) for text in (*r.names, *r.descriptions)]
            texts = [text for _, text in pairs]
            self._vectors[model.name] = ([at for at, _ in pairs], texts, model.embed_documents(texts))
        return cast("tuple[list[int], list[str], np.ndarray]", self._vectors[model.name])


def _compared(relation: NamedRelation, name: str, text: str, key: str) -> TermCandidate:
    other = normalised(split_identifier(name))
    if name.strip() == text.strip() or key == other:
        return TermCandidate(relation.iri, 1.0 if name.strip() == text.strip() else NEARLY, name, "exact")
    score = SequenceMatcher(None, key, other, autojunk=False).ratio()
    return TermCandidate(relation.iri, min(score, NEARLY), name, "fuzzy")


def _read(kg: KnowledgeGraph) -> list[NamedRelation]:
    iris = sorted(kg.profile().predicates)
    said: dict[str, list[tuple[str, str]]] = {iri: [] for iri in iris}
    pairs = [(iri, p) for iri in iris for p in (*LABELS, *ALTERNATIVE, *_DESCRIBING)]
    for query in queries.get("label/labels").batches("entity_property", pairs):
        for entity, p, text in kg.select(query):
            said[str(entity)].append((str(p), str(text)))
    kg.labels(iris)  # all at once
    display = Display(kg)
    found = []
    for iri in iris:
        label = display.predicate(iri)
        local = split_identifier(iri.rstrip("/#").replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1])
        names = [text for p, text in said[iri] if p not in _DESCRIBING]
        descriptions = [text for p, text in said[iri] if p in _DESCRIBING]
        kept = tuple(dict.fromkeys([label, *names, local]))
        found.append(NamedRelation(URIRef(iri), label, kept, tuple(descriptions)))
    return found
