"""The names of a graph's entities: found by how they are written, exactly or nearly.

They are read once and kept until the triples change. Looking a name up takes microseconds; a name that is
nearly right is found by the trigrams it shares and by its edit similarity.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from rdflib import URIRef

from mrag.completion.patterns import TermCandidate
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import SKOLEM
from mrag.text.tokens import normalised

ALTERNATIVE: tuple[str, ...] = (
    "http://www.w3.org/2004/02/skos/core#altLabel",
    "http://www.w3.org/2004/02/skos/core#hiddenLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
    "http://purl.org/dc/terms/alternative",
    "http://xmlns.com/foaf/0.1/nick",
)
"""Properties of other names, beside those of `mrag.graph.record.LABELS`."""

NEARLY = 0.98
"""Score of a name that differs in case, accents or punctuation alone."""

_POOL = 50


class EntityNames:
    """Names and what they name.

    Args:
        pairs: IRI and name of each.

    Example:
        >>> names = EntityNames([("urn:x", "Beau Geste"), ("urn:y", "beau geste")])
        >>> [(str(c.term), c.score) for c in names.exact("Beau Geste")]
        [('urn:x', 1.0), ('urn:y', 0.98)]
        >>> [(str(c.term), c.found) for c in names.fuzzy("Bau Geste", 1)]
        [('urn:x', 'fuzzy')]
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._names: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)
        for entity, name in pairs:
            if key := normalised(name):
                self._names[key][entity, name] = None
        self.longest = max((len(key.split()) for key in self._names), default=0)
        self._trigrams: dict[str, list[int]] | None = None
        self._keys: list[str] = []
        self._sizes: list[int] = []

    @classmethod
    def of(cls, kg: KnowledgeGraph) -> EntityNames:
        """Return the names of a knowledge graph, read once for each state of it."""
        return kg.cached("completion names", lambda: cls(_read(kg)))

    def __len__(self) -> int:
        return len(self._names)

    def has(self, key: str) -> bool:
        """Return whether a normalised text is a name."""
        return key in self._names

    def exact(self, text: str) -> list[TermCandidate]:
        """Return what a text names, as written first, then as normalised; ties in order of IRI."""
        best: dict[str, TermCandidate] = {}
        for entity, name in self._names.get(normalised(text), ()):
            score = 1.0 if name.strip() == text.strip() else NEARLY
            if entity not in best or score > best[entity].score:
                best[entity] = TermCandidate(URIRef(entity), score, name, "exact")
        return ranked(best)

    def fuzzy(self, text: str, k: int, min_score: float = 0.0) -> list[TermCandidate]:
        """Return what names similar to a text name, most similar first, ties in order of IRI.

        Args:
            text: A name, perhaps misspelt.
            k: Most candidates.
            min_score: Least similarity, from 0 to 1: twice the characters in matching blocks, in order, over
                those of both (Ratcliff and Obershelp, 1988).
        """
        key = normalised(text)
        grams = _grams(key)
        if not grams:
            return []
        postings = self._postings()
        shared = Counter(at for gram in grams for at in postings.get(gram, ()))
        pool = sorted(shared, key=lambda at: (-shared[at] / (len(grams) + self._sizes[at]), at))[:_POOL]
        best: dict[str, TermCandidate] = {}
        for at in pool:
            score = SequenceMatcher(None, key, self._keys[at], autojunk=False).ratio()
            if score < min_score:
                continue
            for entity, name in self._names[self._keys[at]]:
                if entity not in best or score > best[entity].score:
                    best[entity] = TermCandidate(URIRef(entity), min(score, NEARLY), name, "fuzzy")
        return ranked(best)[:k]

    def _postings(self) -> Mapping[str, list[int]]:
        if self._trigrams is None:
            self._keys = sorted(self._names)
            postings: defaultdict[str, list[int]] = defaultdict(list)
            for at, key in enumerate(self._keys):
                grams = _grams(key)
                self._sizes.append(len(grams))
                for gram in grams:
                    postings[gram].append(at)
            self._trigrams = postings
        return self._trigrams


def ranked(best: Mapping[str, TermCandidate]) -> list[TermCandidate]:
    """Return candidates best first, ties in order of IRI."""
    return sorted(best.values(), key=lambda c: (-c.score, str(c.term)))


def _read(kg: KnowledgeGraph) -> Iterable[tuple[str, str]]:
    properties = [p for p in (*kg.profile().labels, *ALTERNATIVE) if p in kg.profile().predicates]
    if not properties:
        return
    for entity, name in kg.select(queries.get("completion/names").bind(property=properties)):
        if not str(entity).startswith(SKOLEM):
            yield str(entity), str(name)


def _grams(key: str) -> set[str]:
    padded = f"  {key} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)} if key else set()
