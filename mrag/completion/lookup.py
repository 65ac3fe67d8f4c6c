"""Triples of a graph that match, by whichever of their three places are known, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rdflib import BNode, Literal, URIRef

from mrag.completion.patterns import CompletedTriple
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Status, status_of
from mrag.rdf import queries
from mrag.rdf.terms import Term
from mrag.stores.base import Dataset

Known = tuple[Term | None, Term | None, Term | None]
"""What is known of a triple; None is unknown."""

KnownPlaces = tuple[bool, bool, bool]
"""Which of the three places are known."""

_BATCH = 500
_MAX_ROWS = 10_000
"""Sorted rows that any server gives at once; Virtuoso refuses more."""
_FILES: dict[KnownPlaces, str] = {
    (True, True, True): "completion/holds",
    (True, True, False): "completion/objects",
    (False, True, True): "completion/subjects",
    (True, False, True): "completion/predicates",
    (True, False, False): "completion/from-subjects",
    (False, False, True): "completion/from-objects",
    (False, True, False): "completion/from-predicates",
}


def known_places(known: Known) -> KnownPlaces:
    """Return which places are known."""
    s, p, o = (term is not None for term in known)
    return s, p, o


class TripleLookup:
    """Looks triples up in a graph and in facts that are not in it yet.

    Args:
        kg: The knowledge graph; each triple found is marked with where it comes from.
        facts: Triples read in evidence.
        limit: Most triples for one key; 10,000 is the most there is.

    Attributes:
        truncated: Whether the limit cut something off.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> from mrag.rdf.terms import Triple
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> a, p, b = URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:b")
        >>> _ = kg.insert([Triple(a, p, b)])
        >>> [(str(t.object), t.status) for t in TripleLookup(kg).find([(a, p, None)])[a, p, None]]
        [('urn:b', 'asserted')]
        >>> kg.close()
    """

    def __init__(
        self, kg: KnowledgeGraph, facts: Sequence[CompletedTriple] = (), *, limit: int = _MAX_ROWS
    ) -> None:
        self._kg = kg
        self._facts = facts
        self._limit = min(limit, _MAX_ROWS)
        self._layers = _layers(kg)
        self.truncated = False

    def find(self, keys: Iterable[Known]) -> dict[Known, list[CompletedTriple]]:
        """Return the triples for each key, in order of term; all keys have one shape.

        What stands in the graph comes once, asserted before inferred, and before the same read in evidence.
        """
        wanted = list(dict.fromkeys(keys))
        found: dict[Known, dict[tuple[Term, Term, Term], CompletedTriple]] = {key: {} for key in wanted}
        if not wanted:
            return {}
        shape = known_places(wanted[0])
        asked = [key for key in wanted if _possible(key)]
        for status, dataset in self._layers if shape in _FILES else ():
            for start in range(0, len(asked), _BATCH):
                for s, p, o in self._select(shape, asked[start : start + _BATCH], dataset):
                    triple = CompletedTriple(s, p, o, status)
                    found[_key(triple, shape)].setdefault(triple.terms, triple)
        for fact in self._facts:
            if (at := _key(fact, shape)) in found:
                found[at].setdefault(fact.terms, fact)
        return {key: [triples[t] for t in sorted(triples, key=_triple_order)] for key, triples in found.items()}

    def _select(
        self, shape: KnownPlaces, keys: Sequence[Known], dataset: Dataset
    ) -> Iterator[tuple[Term, Term, Term]]:
        query = queries.get(_FILES[shape])
        rows = [(Literal(n), *(term for term in key if term is not None)) for n, key in enumerate(keys)]
        text = query.bind(**{query.params[0]: rows}, limit=self._limit)
        found = self._kg.store.select(text, dataset).rows
        if len(found) >= self._limit and len(keys) > 1:
            half = len(keys) // 2
            yield from self._select(shape, keys[:half], dataset)
            yield from self._select(shape, keys[half:], dataset)
            return
        self.truncated = self.truncated or len(found) >= self._limit
        for n, *terms in found:
            # Virtuoso gives some numbers that were asked for in another datatype.
            s, p, o = (
                given if asked is None else asked
                for asked, given in zip(keys[int(str(n))], terms, strict=True)
            )
            if s is not None and p is not None and o is not None:
                yield s, p, o


def _layers(kg: KnowledgeGraph) -> list[tuple[Status, Dataset]]:
    """Return the graphs of each status; asserted first, so that it wins where servers give both."""
    groups: dict[Status, list[str]] = {}
    for graph in kg.dataset("asserted").default:
        groups.setdefault(status_of(graph), []).append(graph)
    if inferred := kg.dataset("inferred").default:
        groups["inferred"] = list(inferred)
    named = kg.dataset().named
    order: tuple[Status, ...] = ("asserted", "completed", "enriched", "inferred")
    return [(status, Dataset(tuple(groups[status]), named)) for status in order if status in groups]


def _possible(key: Known) -> bool:
    """Return whether RDF allows such a triple, and SPARQL such a value."""
    s, p, o = key
    if isinstance(s, Literal | BNode) or isinstance(o, BNode):
        return False
    return p is None or isinstance(p, URIRef)


def _key(triple: CompletedTriple, shape: KnownPlaces) -> Known:
    s, p, o = (term if known else None for term, known in zip(triple.terms, shape, strict=True))
    return s, p, o


def _triple_order(terms: tuple[Term, Term, Term]) -> tuple[str, ...]:
    return tuple(term.n3() for term in terms)
