"""What an update changes, worked out triple by triple before anything is written.

Clients see a default graph and named graphs of their own. Inside, a knowledge graph keeps asserted
graphs that share no triple, a graph of what only the clients' named graphs assert, and those named
graphs themselves (`Layout`). `Changes` turns changes of the first kind into changes of the second and
keeps the net of them, so that a whole request can be written in one transaction.

Only the standard library and the engine are imported here: worker processes start in a few hundredths
of a second because of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias, cast
from uuid import uuid4

import pyoxigraph as ox

_STRING = "http://www.w3.org/2001/XMLSchema#string"
RESERVED = "urn:mrag:"  # Start of the names of graphs that clients cannot write

SIMILARITY = "http://www.ontotext.com/graphdb/similarity/"
"""The vocabulary in which GraphDB is told to make an index."""

NIL = ("http://rdf4j.org/schema/rdf4j#nil", "http://www.openrdf.org/schema/sesame#nil")
"""RDF4J's names for the unnamed graph alone."""

Wanted: TypeAlias = tuple[Any, Any, Any]  # Subject, predicate and object of the engine; None for any


class Refused(Exception):
    """A change that is not allowed, or not possible."""


@dataclass(frozen=True)
class Layout:
    """The graphs of a knowledge graph, as far as an update needs them."""

    asserted: tuple[str, ...]
    target: str
    merged: str
    contexts: tuple[str, ...] = ()
    inferred: tuple[str, ...] = ()
    foreign: frozenset[str] = frozenset()
    union: bool = True
    max_changes: int = 1_000_000
    max_contexts: int = 10_000

    def default(self) -> tuple[str, ...]:
        """Return the graphs whose union is the clients' default graph."""
        merged = (self.merged,) if self.union else ()
        return tuple(dict.fromkeys((*self.asserted, self.target, *merged, *self.inferred)))


@dataclass
class UpdateOutcome:
    """The net of an update."""

    added: list[ox.Quad] = field(default_factory=list)
    removed: list[ox.Quad] = field(default_factory=list)
    contexts: tuple[str, ...] = ()
    lost: bool = False
    gained: bool = False

    def pack(self) -> dict[str, Any]:
        """Return this as plain values that can go from process to process."""
        return {**vars(self), "added": _nquads(self.added), "removed": _nquads(self.removed)}

    @classmethod
    def unpack(cls, values: dict[str, Any]) -> UpdateOutcome:
        """Return what `packed` packed."""
        quads = {name: _parse(values[name]) for name in ("added", "removed")}
        return cls(**{**values, **quads})


class Changes:
    """Changes of a knowledge graph's triples, kept apart from the store or also carried out on it."""

    def __init__(
        self, store: ox.Store, layout: Layout, *, apply: bool = False, until: float | None = None
    ) -> None:
        self.layout = layout
        self._until, self._steps = until, 0
        self._store = store
        self._apply = apply
        self._log: dict[ox.Quad, bool] = {}
        self._names: dict[str, ox.NamedNode] = {}
        self._base = tuple(dict.fromkeys((*layout.asserted, layout.target)))
        self._contexts = dict.fromkeys(layout.contexts)

    def insert(self, t: ox.Triple, graph: str | None) -> None:
        """Assert a triple in the default graph or in a client's named graph."""
        t = self.kept(t)
        if t.predicate.value.startswith(SIMILARITY):
            raise Refused("Updates make no similarity indexes here, as GraphDB's do: `mrag index` does.")
        if graph is None:
            if not any(self._has(t, g) for g in self._base):
                self._put(t, self.layout.target)
                self._drop(t, self.layout.merged)
                self._no_longer_inferred(t)
            return
        self.check(graph)
        if graph not in self._contexts and len(self._contexts) >= self.layout.max_contexts:
            raise Refused(f"There would be more than {self.layout.max_contexts} named graphs.")
        self._contexts[graph] = None
        if self._put(t, graph) and not any(self._has(t, g) for g in self._base):
            self._put(t, self.layout.merged)
            self._no_longer_inferred(t)

    def delete(self, t: ox.Triple, graph: str | None) -> None:
        """Take a triple out of a named graph, or out of what clients see as the default graph.

        Where that holds the named graphs' triples, it goes out of those too.
        """
        if graph in NIL:
            self.discard(t, None)
            return
        t = self.kept(t)
        if graph is None and self.layout.union:
            for name in self._contexts:
                self._drop(t, name)
        self.discard(t, graph)

    def discard(self, t: ox.Triple, graph: str | None) -> None:
        """Take a triple out of a named graph, or out of the unnamed one; others keep it."""
        t = self.kept(t)
        if graph is not None:
            self.check(graph)
            if self._drop(t, graph) and not self._is_named_elsewhere(t):
                self._drop(t, self.layout.merged)
            return
        here = [self._drop(t, g) for g in self._base]
        if not self._is_named_elsewhere(t):
            self._drop(t, self.layout.merged)
        elif any(here):
            self._put(t, self.layout.merged)

    def triples(self, graph: str | None, wanted: Wanted = (None, None, None)) -> list[ox.Triple]:
        """Return the asserted triples of a named graph, or of the unnamed one, that match a pattern."""
        return [t for name in (self._base if graph is None else (graph,)) for t in self._of(name, wanted)]

    def clear(self, graph: str | None) -> None:
        """Take all triples out of a named graph, or out of the unnamed one."""
        triples = self.triples(graph)
        self.expect(triples)
        for t in triples:
            self.discard(t, graph)

    def expect(self, triples: Iterable[ox.Triple]) -> None:
        """Take note of triples that will be changed; a store that is far away looks them up together."""

    def kept(self, t: ox.Triple) -> ox.Triple:
        """Return a triple as the store keeps it; the engine stores numbers and times by their value."""
        o = t.object
        if not isinstance(o, ox.Literal) or o.language or o.datatype.value == _STRING:
            return t
        return ox.Triple(t.subject, t.predicate, _keep(o))

    def contexts(self) -> list[str]:
        """Return the clients' named graphs that hold a triple."""
        return [name for name in self._contexts if self._any(name)]

    def solutions(self, query: str, default: Iterable[str], named: Iterable[str]) -> list[dict[str, Any]]:
        """Answer a SELECT query on the store as it is now."""
        solutions: Any = self._store.query(
            query, default_graph=[self._node(g) for g in default], named_graphs=[self._node(g) for g in named]
        )
        names = [v.value for v in solutions.variables]
        return [{name: row[name] for name in names} for row in solutions]

    def outcome(self) -> UpdateOutcome:
        """Return the net of all changes."""
        base = {*self._base, self.layout.merged}
        added = [quad for quad, there in self._log.items() if there]
        removed = [quad for quad, there in self._log.items() if not there]
        gone = {q.triple for q in removed if _graph(q) in base}
        come = {q.triple for q in added if _graph(q) in base}
        return UpdateOutcome(
            added, removed, tuple(sorted(self.contexts())), lost=bool(gone - come), gained=bool(come - gone)
        )

    def known(self, graph: str) -> bool:
        """Return whether a client's named graph holds a triple."""
        return graph in self._contexts and self._any(graph)

    def _is_named_elsewhere(self, t: ox.Triple) -> bool:
        return any(self._has(t, name) for name in self._contexts)

    def check(self, graph: str) -> None:
        """Refuse to write a graph that is not the client's."""
        if graph.startswith(RESERVED):
            raise Refused(f"The names of graphs that begin with {RESERVED} are kept for mrag itself.")
        if graph in self.layout.foreign:
            raise Refused(f"The graph <{graph}> belongs to another knowledge graph of this store.")

    def _node(self, graph: str) -> ox.NamedNode:
        node = self._names.get(graph)
        if node is None:
            try:
                node = self._names[graph] = ox.NamedNode(graph)
            except ValueError as error:
                raise Refused(f"Not the IRI of a graph: {graph}") from error
        return node

    def _quad(self, t: ox.Triple, graph: str) -> ox.Quad:
        self._steps += 1
        if self._until is not None and not self._steps % 1024 and time.monotonic() > self._until:
            raise TimeoutError
        return ox.Quad(t.subject, t.predicate, t.object, self._node(graph))

    def _has(self, t: ox.Triple, graph: str) -> bool:
        quad = self._quad(t, graph)
        there = self._log.get(quad)
        return quad in self._store if there is None else there

    def _put(self, t: ox.Triple, graph: str) -> bool:
        return self._set(self._quad(t, graph), True)

    def _drop(self, t: ox.Triple, graph: str) -> bool:
        return self._set(self._quad(t, graph), False)

    def _set(self, quad: ox.Quad, there: bool) -> bool:
        logged = self._log.get(quad)
        before = quad in self._store if logged is None else logged
        if before == there:
            return False
        if logged is None:
            if len(self._log) >= self.layout.max_changes:
                raise Refused(f"The update changes more than {self.layout.max_changes} triples.")
            self._log[quad] = there
        else:
            del self._log[quad]  # it is again as it was at first
        if self._apply:
            (self._store.add if there else self._store.remove)(quad)
        return True

    def _no_longer_inferred(self, t: ox.Triple) -> None:
        for graph in self.layout.inferred:
            self._drop(t, graph)

    def _of(self, graph: str, wanted: Wanted) -> Iterator[ox.Triple]:
        node = self._node(graph)
        # Not `list(…)`: that would hold the interpreter until the whole graph has been read.
        stored = [q for q in self._store.quads_for_pattern(*wanted, node)]  # noqa: C416
        if self._apply:
            yield from (q.triple for q in stored)
            return
        yield from (q.triple for q in stored if self._log.get(q, True))
        come = [q for q, there in self._log.items() if there and q.graph_name == node]
        yield from (
            q.triple
            for q in come
            if all(w is None or w == given for w, given in zip(wanted, q.triple, strict=True))
        )

    def _any(self, graph: str) -> bool:
        return next(self._of_lazily(graph), None) is not None

    def _of_lazily(self, graph: str) -> Iterator[ox.Quad]:
        node = self._node(graph)
        for quad in self._store.quads_for_pattern(None, None, None, node):
            if self._apply or self._log.get(quad, True):
                yield quad
        if not self._apply:
            yield from (q for q, there in self._log.items() if there and q.graph_name == node)


@lru_cache(maxsize=4096)
def _keep(literal: ox.Literal) -> ox.Literal:
    store, node = ox.Store(), ox.NamedNode(RESERVED + "kept")
    store.add(ox.Quad(node, node, literal))
    return cast(ox.Literal, next(iter(store)).object)


def _graph(quad: ox.Quad) -> str:
    return quad.graph_name.value if isinstance(quad.graph_name, ox.NamedNode) else ""


def _nquads(quads: Iterable[ox.Quad]) -> bytes:
    return ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b""


def _parse(data: bytes) -> list[ox.Quad]:
    return list(ox.parse(data, ox.RdfFormat.N_QUADS, lenient=True))


_SKOLEM = "urn:mrag:genid:"

TermTuple: TypeAlias = tuple[str, ...]
"""A term of a template: ("v", name), ("b", label), ("i", IRI) or ("l", text, language, datatype)."""
Template: TypeAlias = tuple[TermTuple | None, TermTuple, TermTuple, TermTuple]
"""Graph (None for the default graph), subject, predicate and object."""
Operation: TypeAlias = tuple[Any, ...]
"""One step of an update, as `mrag.graph.updates` writes it: its kind and what the kind needs."""


def carry_out(changes: Changes, operations: Iterable[Operation]) -> None:
    """Work out the operations of an update, one after the other (SPARQL 1.1 Update, section 3)."""
    for operation in operations:
        _OPERATIONS[operation[0]](changes, *operation[1:])


def needs_queries(operations: Iterable[Operation]) -> bool:
    """Return whether an operation has a WHERE clause, so that a worker process must bound it."""
    return any(operation[0] == "modify" for operation in operations)


def _quads(changes: Changes, inserting: bool, pieces: Iterable[bytes]) -> None:
    """Insert or delete statements that `mrag.stores.process.parsing` has read."""
    act = changes.insert if inserting else changes.delete
    for piece in pieces:
        quads = [(quad.triple, _graph(quad) or None) for quad in _parse(piece)]
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
        solutions: list[tuple[ox.Triple, str | None]] = []
        for row in rows:
            fresh: dict[str, ox.NamedNode] = {}
            for graph, *terms in template:
                s, p, o = (_instance(term, row, fresh, known) for term in terms)
                g = _instance(graph, row, fresh, known)
                if s is None or isinstance(s, ox.Literal) or not isinstance(p, ox.NamedNode) or o is None:
                    continue
                if graph is not None and not isinstance(g, ox.NamedNode):
                    continue
                solutions.append((ox.Triple(s, p, o), g.value if isinstance(g, ox.NamedNode) else None))
        changes.expect(t for t, _ in solutions)
        for t, name in solutions:
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


def _match(changes: Changes, s: Any, p: Any, o: Any, graphs: tuple[str | None, ...]) -> None:
    """Delete the triples that match, from some graphs or from all."""
    wanted = tuple(_instance(term, {}, {}, {}) for term in (s, p, o))
    for graph in graphs or (None, *changes.contexts()):
        for t in changes.triples(graph, cast(Wanted, wanted)):
            changes.discard(t, graph)


_OPERATIONS: dict[str, Any] = {
    "nothing": lambda changes: None,
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
        bound = row.get(value)
        return skolemise(bound, known) if isinstance(bound, ox.BlankNode) else bound
    if kind == "b":
        return fresh.setdefault(value, _skolem())
    if kind == "i":
        return ox.NamedNode(value)
    if term[2]:
        return ox.Literal(value, language=term[2])
    return ox.Literal(value, datatype=ox.NamedNode(term[3])) if term[3] else ox.Literal(value)


def skolemise(term: Any, names: dict[str, ox.NamedNode]) -> Any:
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
