"""The operations of an update, worked out on `Changes` (SPARQL 1.1 Update, section 3).

Only the standard library and the engine are imported here, as in `mrag.stores.changes`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias
from uuid import uuid4

import pyoxigraph as ox

from mrag.stores.changes import Changes, Refused

_SKOLEM = "urn:mrag:genid:"

TermTuple: TypeAlias = tuple[str, ...]
"""A term of a template: ("v", name), ("b", label), ("i", IRI) or ("l", text, language, datatype)."""
Template: TypeAlias = tuple[TermTuple | None, TermTuple, TermTuple, TermTuple]
"""Graph (None for the default graph), subject, predicate and object."""
Operation: TypeAlias = tuple[Any, ...]
"""One step of an update, as `mrag.graph.updates` writes it: its kind and what the kind needs."""


def carry_out(changes: Changes, operations: Iterable[Operation]) -> None:
    """Work out the operations of an update, one after the other (SPARQL 1.1 Update, section 3).

    Args:
        changes: Where they are noted. It must carry changes out if any but the first is a `modify`.
        operations: As `mrag.graph.updates` writes them.

    Raises:
        Refused: If one is not allowed or not possible.
    """
    for operation in operations:
        _OPERATIONS[operation[0]](changes, *operation[1:])


def needs_queries(operations: Iterable[Operation]) -> bool:
    """Return whether an operation has a WHERE clause, so that a worker process must bound it."""
    return any(operation[0] == "modify" for operation in operations)


def _quads(changes: Changes, inserting: bool, pieces: Iterable[bytes]) -> None:
    """Insert or delete statements that `mrag.stores.process.documents` has read."""
    act = changes.insert if inserting else changes.delete
    for piece in pieces:
        quads = [
            (quad.triple, quad.graph_name.value if isinstance(quad.graph_name, ox.NamedNode) else None)
            for quad in ox.parse(piece, ox.RdfFormat.N_QUADS, lenient=True)
        ]
        changes.expect(t for t, _ in quads)
        for t, graph in quads:
            act(t, graph)


def _modify(
    changes: Changes,
    where: str,
    default: tuple[str, ...] | None,
    named: tuple[str, ...] | None,
    deletes: tuple[Template, ...],
    inserts: tuple[Template, ...],
) -> None:
    """Find the solutions of the WHERE clause, then delete, then insert (section 3.1.3)."""
    layout = changes.layout
    seen = layout.default() if default is None else default
    try:
        rows = changes.solutions(where, seen, changes.contexts() if named is None else named)
    except (SyntaxError, ValueError, RuntimeError) as error:
        raise Refused(f"The engine cannot answer the WHERE clause: {error.args[0]}") from error
    known: dict[str, ox.NamedNode] = {}
    for template, act in ((deletes, changes.delete), (inserts, changes.insert)):
        found: list[tuple[ox.Triple, str | None]] = []
        for row in rows:
            fresh: dict[str, ox.NamedNode] = {}
            for graph, *terms in template:
                s, p, o = (_instance(term, row, fresh, known) for term in terms)
                g = _instance(graph, row, fresh, known) if graph is not None else None
                if s is None or isinstance(s, ox.Literal) or not isinstance(p, ox.NamedNode) or o is None:
                    continue
                if graph is not None and not isinstance(g, ox.NamedNode):
                    continue
                found.append((ox.Triple(s, p, o), g.value if isinstance(g, ox.NamedNode) else None))
        changes.expect(t for t, _ in found)
        for t, name in found:
            act(t, name)


def _clear(changes: Changes, which: str, graph: str | None = None) -> None:
    """Carry out CLEAR and DROP; a graph without triples does not exist here, so both are the same."""
    if which in ("named", "all"):
        for name in changes.contexts():
            changes.clear(name)
    if which in ("default", "all"):
        changes.clear(None)
    if which == "graph" and graph is not None:
        changes.check(graph)
        changes.clear(graph)


def _transfer(changes: Changes, kind: str, source: str | None, target: str | None, silent: bool) -> None:
    """Carry out ADD, COPY and MOVE (sections 3.2.3 to 3.2.5)."""
    if source is not None and not changes.known(source):
        if silent:
            return
        raise Refused(f"There is no graph <{source}>.")
    if source == target:
        return
    triples = changes.triples(source)
    changes.expect(triples)
    if kind != "add":
        changes.clear(target)
    for t in triples:
        changes.insert(t, target)
    if kind == "move":
        for t in triples:
            changes.discard(t, source)


def _create(changes: Changes, graph: str, silent: bool) -> None:
    """Carry out CREATE, which has nothing to do: graphs without triples are not kept."""
    changes.check(graph)
    if changes.known(graph) and not silent:
        raise Refused(f"The graph <{graph}> is there already.")


def _match(
    changes: Changes,
    s: TermTuple | None,
    p: TermTuple | None,
    o: TermTuple | None,
    graphs: tuple[str | None, ...],
) -> None:
    """Delete the triples that match, from some graphs or from all."""
    wanted = _wanted(s), _wanted(p), _wanted(o)
    for graph in graphs or (None, *changes.contexts()):
        for t in changes.triples(graph, wanted):
            changes.discard(t, graph)


def _wanted(term: TermTuple | None) -> Any:
    return None if term is None else _instance(term, {}, {}, {})


def _nothing(_changes: Changes) -> None:
    """Do nothing."""


_OPERATIONS: dict[str, Any] = {
    "nothing": _nothing,
    "quads": _quads,
    "modify": _modify,
    "clear": _clear,
    "transfer": _transfer,
    "create": _create,
    "match": _match,
}


def _instance(
    term: TermTuple | None,
    row: dict[str, Any],
    fresh: dict[str, ox.NamedNode],
    known: dict[str, ox.NamedNode],
) -> Any:
    if term is None:
        return None
    kind, value = term[0], term[1]
    if kind == "v":
        found = row.get(value)
        return _named(found, known) if isinstance(found, ox.BlankNode) else found
    if kind == "b":
        return fresh.setdefault(value, _skolem())
    if kind == "i":
        return ox.NamedNode(value)
    if term[2]:
        return ox.Literal(value, language=term[2])
    return ox.Literal(value, datatype=ox.NamedNode(term[3])) if term[3] else ox.Literal(value)


def _named(term: Any, names: dict[str, ox.NamedNode]) -> Any:
    """Give a blank node a name of its own, so that later requests can speak of it."""
    if isinstance(term, ox.Triple):
        raise Refused("Triple terms (RDF 1.2) cannot be stored.")
    if not isinstance(term, ox.BlankNode):
        return term
    if term.value not in names:
        names[term.value] = _skolem()
    return names[term.value]


def _skolem() -> ox.NamedNode:
    return ox.NamedNode(_SKOLEM + uuid4().hex)
