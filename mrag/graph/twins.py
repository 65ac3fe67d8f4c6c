"""Things of several names: which of the names that are `owl:sameAs` each other stands for them all."""

from __future__ import annotations

from mrag.rdf import queries
from mrag.stores.base import Dataset, TripleStore


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
