"""Things of several names: which of the names that are `owl:sameAs` each other stands for them all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mrag.rdf import queries
from mrag.rdf.terms import OWL
from mrag.stores.base import Dataset, TripleStore

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph

_MOST: Final = 1000
"""Names of a thing that are looked at, at most."""


@dataclass(frozen=True)
class Twins:
    """What is known of the things of a graph that are `owl:sameAs` others.

    Attributes:
        home: How the IRIs begin of which the graph itself says most; such names stand for the others.
        closed: Whether the store says of every name all that it says of one, or at least of that which
            stands for the others.
    """

    home: str
    closed: bool


def home_of(store: TripleStore, asserted: Dataset) -> str:
    """Return the beginning of the IRIs of which a graph itself says most, among those with twins; "" if none.

    Args:
        store: The store.
        asserted: The asserted graphs.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> store = OxigraphStore()
        >>> store.update('''INSERT DATA { GRAPH <urn:g> { <http://my.org/a> <urn:p> 1 ;
        ...     <http://www.w3.org/2002/07/owl#sameAs> <http://its.org/a> } }''')
        >>> home_of(store, Dataset(("urn:g",)))
        'http://my.org/'
        >>> store.close()
    """
    rows = store.select(queries.get("reasoning/home").text, asserted)
    return next((str(space) for space, _ in rows), "")


def preference(iri: str, home: str) -> str:
    """Return the key by which a thing's name is chosen, the least first: those at home before others.

    Example:
        >>> min(["http://a.org/x", "http://my.org/x"], key=lambda iri: preference(iri, "http://my.org/"))
        'http://my.org/x'
    """
    return f"{0 if iri.startswith(home) else 1}{iri}"


def twins_of(kg: KnowledgeGraph) -> Twins | None:
    """Return which names of things stand for others, None where nothing is `owl:sameAs` anything.

    Args:
        kg: The knowledge graph.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> twins_of(kg) is None
        True
        >>> kg.close()
    """

    def made() -> Twins | None:
        if f"{OWL}sameAs" not in kg.profile().predicates:
            return None
        record = kg.record
        closed = bool(record.inferred) and not record.outdated
        if kg.store.capabilities.reasoning:
            closed = not kg.holds(queries.get("planning/twins-open").text)
        return Twins(home_of(kg.store, kg.dataset("asserted")), closed)

    return kg.cached("planning twins", made)


def names_beside(kg: KnowledgeGraph, things: Iterable[str]) -> dict[str, str]:
    """Return, of things that have several names, the one that stands for them; others are left out.

    Args:
        kg: The knowledge graph.
        things: IRIs.
    """
    twins, wanted = twins_of(kg), sorted(set(things))
    if twins is None or not wanted:
        return {}
    found: dict[str, str] = {}
    sets: dict[str, set[str]] = {thing: {thing} for thing in wanted}
    level = {thing: {thing} for thing in wanted}
    while level:
        asked, level = level, {}
        for text in queries.get("reasoning/same-near").batches("thing", sorted(asked)):
            for name, other, _ in kg.select(text):
                for start in asked[str(name)]:
                    if str(other) not in sets[start] and len(sets[start]) < _MOST:
                        sets[start].add(str(other))
                        if not twins.closed:
                            level.setdefault(str(other), set()).add(start)
    for thing, names in sets.items():
        if len(names) > 1:
            found[thing] = min(names, key=lambda name: preference(name, twins.home))
    return found
