"""Reads the statements that decide class expressions: the types of things, and what links them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import pyoxigraph as ox

from mrag.cel.semantics.sparql import batches
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS, OxTerm, Term, from_ox
from mrag.stores.base import Row

Types: TypeAlias = list[tuple[Term, str]]
Edges: TypeAlias = list[tuple[Term, str, Term]]

_TYPE = RDF + "type"
_ROWS = 5_000
_OFTEN = 1_000
"""After so many statements it is asked whether to go on."""
_BATCH = 500
"""Most statements of a batch of properties, if there is more than one, and most properties."""


class OutOfTime(Exception):  # no error: a smaller world is made
    """Ends the reading of statements at its time limit."""


def stopping_at(end: float, on_step: Callable[[], None] | None = None) -> Callable[[], None]:
    """Return what to call now and then, so that it ends the reading at a time.

    Args:
        end: When, by `time.monotonic`.
        on_step: Called each time.
    """

    def check() -> None:
        if on_step is not None:
            on_step()
        if time.monotonic() > end:
            raise OutOfTime

    return check


def statements(
    kg: KnowledgeGraph,
    subjects: Sequence[str] | None = None,
    made: dict[OxTerm, Term] | None = None,
    check: Callable[[], None] | None = None,
) -> tuple[Types, Edges]:
    """Read the types and the statements that are not of the schema.

    Where the store can be scanned in process that is done, else there are two queries for each batch, of
    entities or else of properties, which keeps answers below what servers cut.

    Args:
        kg: The knowledge graph.
        subjects: IRIs of whose statements to read; None for all.
        made: Terms that were made before, to be used again; those made here are added.
        check: Called now and then; what it raises ends the reading.

    Returns:
        Pairs of a term and a class, and triples.
    """
    check = check or _unchecked
    if kg.store.capabilities.edges:
        return _scanned(kg, subjects, {} if made is None else made, check)
    types: Types = []
    edges: Edges = []

    def read(query: str) -> Iterator[Row]:
        check()
        for at, row in enumerate(kg.select(query)):
            if at % _OFTEN == _OFTEN - 1:
                check()
            yield row

    if subjects is None:
        types.extend(_typed(read(queries.get("cel/types").text)))
        for properties in _properties(kg):
            edges.extend(_linked(read(queries.get("cel/edges").bind(p=properties))))
        return types, edges
    for batch in batches(subjects):
        types.extend(_typed(read(queries.get("cel/types-of").bind(entity=batch))))
        edges.extend(_linked(read(queries.get("cel/edges-of").bind(entity=batch))))
    return types, edges


def _unchecked() -> None:
    """Let the reading go on."""


def _properties(kg: KnowledgeGraph) -> Iterator[list[str]]:
    """Yield the properties that are not of the schema, as many at once as have few statements."""
    counts = ((str(p), int(str(n))) for p, n in kg.select(queries.get("reasoning/predicates").text))
    batch: list[str] = []
    held = 0
    for p, n in sorted((p, n) for p, n in counts if not p.startswith((RDF, RDFS, OWL))):
        if batch and (held + n > _ROWS or len(batch) == _BATCH):
            yield batch
            batch, held = [], 0
        batch.append(p)
        held += n
    if batch:
        yield batch


def _scanned(
    kg: KnowledgeGraph, subjects: Sequence[str] | None, made: dict[OxTerm, Term], check: Callable[[], None]
) -> tuple[Types, Edges]:
    types: Types = []
    edges: Edges = []
    schema: dict[str, bool] = {}

    def term(found: OxTerm) -> Term:
        made[found] = new = from_ox(found)
        return new

    for graph in kg.dataset().default:
        for number, subject in enumerate((None,) if subjects is None else subjects):
            if number % 100 == 0:
                check()
            for at, (s, p, o, _) in enumerate(kg.store.edges(graph, s=subject)):
                if at % _OFTEN == _OFTEN - 1:
                    check()
                name = p.value
                if name == _TYPE:
                    if isinstance(o, ox.NamedNode) and not isinstance(s, ox.Triple):
                        types.append((made.get(s) or term(s), o.value))
                    continue
                of_schema = schema.get(name)
                if of_schema is None:
                    of_schema = schema[name] = name.startswith((RDF, RDFS, OWL))
                if of_schema or isinstance(o, ox.Triple) or isinstance(s, ox.Triple):
                    continue
                value = made.get(o)
                # An empty text is false.
                edges.append((made.get(s) or term(s), name, term(o) if value is None else value))
    return types, edges


def _typed(rows: Iterable[Row]) -> Types:
    return [(x, str(c)) for x, c in rows if x is not None]


def _linked(rows: Iterable[Row]) -> Edges:
    return [(s, str(p), o) for s, p, o in rows if s is not None and o is not None]
