"""Updates that a client writes: read, worked out triple by triple, and written in one transaction.

The text is parsed by rdflib's grammar, which tells the operations and where their parts stand. What
they change is worked out before anything is written (`mrag.stores.changes`), in a worker process where
a WHERE clause has to be answered. So an update lands whole or not at all, within its deadline, and only
in the graphs of its knowledge graph: the default graph is its asserted triples, and a graph that the
client names becomes one of its `contexts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from rdflib import BNode, Literal, URIRef
from rdflib.term import Node, Variable

from mrag.errors import QueryRefused
from mrag.guard import EXPLICIT, IMPLICIT, unescape, uses, walk
from mrag.patterns import as_insert_data, as_select
from mrag.queries import term
from mrag.terms import DEFAULT_PREFIXES, from_ox

if TYPE_CHECKING:
    import pyoxigraph as ox

    from mrag.kg import KnowledgeGraph
    from mrag.record import Record
    from mrag.stores.changes import Layout, Outcome
    from mrag.stores.operations import Operation, Template, TermTuple

_LOCK = Lock()
NIL = ("http://rdf4j.org/schema/rdf4j#nil", "http://www.openrdf.org/schema/sesame#nil")
"""RDF4J's names for the unnamed graph alone."""


@dataclass(frozen=True)
class UpdateReport:
    """What an update did.

    Attributes:
        added: Statements more, those of named graphs counted in each of them.
        removed: Statements fewer.
        inferred: What became of the inferred triples: `none` if there were none, `kept` if they still
            hold, `dropped` if they went out of sight, to be inferred again.
    """

    added: int = 0
    removed: int = 0
    inferred: str = "none"


def update(
    kg: KnowledgeGraph,
    text: str,
    *,
    union: bool = True,
    seconds: float = 30.0,
    most: int = 1_000_000,
) -> UpdateReport:
    """Carry out a SPARQL 1.1 Update on a knowledge graph, whole or not at all.

    Args:
        kg: The knowledge graph, in an embedded store.
        text: The update. `LOAD` and `SERVICE` are refused.
        union: Whether the default graph holds the triples of named graphs too.
        seconds: Deadline of the whole.
        most: Most triples that may change.

    Raises:
        QueryRefused: If it does not parse, or asks for what is not allowed.
        QueryTimeout: At the deadline; nothing has changed.

    Example:
        >>> import mrag
        >>> kg = mrag.connect()
        >>> update(kg, "INSERT DATA { <urn:a> <urn:b> 1 . GRAPH <urn:g> { <urn:a> <urn:b> 2 } }").added
        2
        >>> update(kg, "DELETE { ?s ?p ?o } INSERT { ?s ?p 3 } WHERE { ?s ?p ?o FILTER (?o = 1) }").removed
        1
        >>> sorted(int(o) for _, _, o in kg.query("SELECT * { ?a ?b ?o }"))
        [2, 3]
        >>> kg.close()
    """
    return apply(kg, parse(text, kg.query_prefixes), union=union, seconds=seconds, most=most)


def parse(
    text: str,
    prefixes: Mapping[str, str] | None = None,
    *,
    using: Sequence[str] = (),
    using_named: Sequence[str] = (),
    base: str | None = None,
) -> tuple[Operation, ...]:
    """Read an update.

    Args:
        text: A SPARQL 1.1 Update request.
        prefixes: Prefixes that need no declaration, beside the well-known ones.
        using: Graphs that the protocol's `using-graph-uri` names.
        using_named: Graphs that `using-named-graph-uri` names.
        base: What relative IRIs are relative to, where the text does not say.

    Returns:
        Its operations, in plain values.

    Raises:
        QueryRefused: If it does not parse, or asks for what is not allowed.

    Example:
        >>> parse("CLEAR GRAPH <urn:g> ; CREATE SILENT GRAPH <urn:h>")
        (('clear', 'graph', 'urn:g'), ('create', 'urn:h', True))
    """
    text = unescape(text)
    known = {p: iri for p, iri in sorted({**DEFAULT_PREFIXES, **(prefixes or {})}.items()) if uses(text, p)}
    prologue = "".join(f"PREFIX {prefix}: {term(iri)}\n" for prefix, iri in known.items())
    if base is not None:
        prologue = f"BASE {term(base)}\n{prologue}"
    algebra, spans = _read(text, prologue, known, base)
    _check_labels(algebra, text)
    found: list[Operation] = []
    for operation, (prologue, span) in zip(algebra, spans, strict=True):
        if (
            (using or using_named)
            and operation.name == "Modify"
            and (operation.using or operation.withClause)
        ):
            raise QueryRefused(
                "The update names its graphs by USING or WITH, and so does the request.",
                query=text,
                hint="Use one of the two (SPARQL 1.1 Protocol, section 2.2.3).",
            )
        graphs = (tuple(using), tuple(using_named)) if using or using_named else (None, None)
        found.append(_operation(operation, prologue, span, graphs, text))
    return tuple(found)


def apply(
    kg: KnowledgeGraph,
    operations: Sequence[Operation],
    *,
    union: bool = True,
    seconds: float = 30.0,
    most: int = 1_000_000,
    commit: AbstractContextManager[Any] | None = None,
) -> UpdateReport:
    """Carry out operations that `parse` read, whole or not at all.

    Args:
        kg: The knowledge graph, in an embedded store.
        operations: The operations.
        union: Whether the default graph holds the triples of named graphs too.
        seconds: Deadline of the whole.
        most: Most triples that may change.
        commit: Held while triples and record are not of the same state.

    Raises:
        QueryRefused: If one is not allowed, or the store cannot be updated.
        QueryTimeout: At the deadline; nothing has changed.
    """
    from mrag.stores.oxigraph import OxigraphStore

    store = kg.store
    if not isinstance(store, OxigraphStore):
        raise QueryRefused(
            "Only a graph in an embedded store can be updated here.",
            hint="Send the update to the server that holds it.",
        )
    layout = layout_of(kg, union=union, most=most)
    steps = [_placed(operation, kg, layout) for operation in operations]
    outcome = store.work_out(layout, steps, seconds)
    if not outcome.added and not outcome.removed:
        return UpdateReport(inferred="kept" if kg.record.inferred else "none")
    record = _record_after(kg.record, layout, outcome)
    with commit or nullcontext():
        before = kg.record.contexts
        _write(kg, outcome, record)
        kg.written(record)
        for graph in before:
            if graph not in record.contexts:
                kg.store.clear(graph)  # the engine would go on listing its name
    here = {layout.merged, *layout.inferred}
    inferred = (
        "none" if not kg.record.inferred and not layout.inferred else "kept" if record.inferred else "dropped"
    )
    kg.written(record)
    return UpdateReport(
        sum(_graph(q) not in here for q in outcome.added),
        sum(_graph(q) not in here for q in outcome.removed),
        inferred,
    )


def layout_of(kg: KnowledgeGraph, *, union: bool = True, most: int = 1_000_000) -> Layout:
    """Return the graphs of a knowledge graph as an update sees them.

    What is inserted into the default graph after reasoning goes to a graph of its own, so that the next
    reasoning can start from it.

    Args:
        kg: The knowledge graph.
        union: Whether the default graph holds the triples of named graphs too.
        most: Most triples that may change.
    """
    from mrag.stores.changes import Layout

    record = kg.record
    merged = record.merged if record.merged in record.asserted else ""
    asserted = tuple(g for g in record.asserted if g != merged)
    number = record.revision + 1
    target = asserted[0] if asserted else f"{kg.iri}:asserted:{number}"
    if record.inferred:
        target = record.added[-1] if record.added else f"{kg.iri}:asserted:{number}"
    mine = {*record.asserted, *record.inferred, *record.contexts}
    return Layout(
        asserted,
        target,
        merged or f"{kg.iri}:asserted:{number}:0",
        record.contexts,
        record.inferred,
        frozenset(g for g in kg.store.graphs() if g not in mine and any(kg.store.edges(g))),
        union,
        most,
    )


# -- reading ---------------------------------------------------------------------------------------


def _read(
    text: str, prologue: str, known: Mapping[str, str], base: str | None
) -> tuple[list[Any], list[tuple[str, str]]]:
    """Return the algebra of each operation, with its prologue and its last braces as they are written."""
    from rdflib.plugins.sparql import parser
    from rdflib.plugins.sparql.algebra import translateUpdate

    try:
        with _LOCK:
            tree = parser.UpdateUnit.copy().parse_with_tabs().parse_string(text, parse_all=True)[0]
            if any(node.name == "ServiceGraphPattern" for node in walk(tree)):
                raise QueryRefused("SERVICE is not allowed: nothing may call other servers.", query=text)
            placed = _grammar().parse_string(text, parse_all=True)
            translated: Any = translateUpdate(tree, base, known)
    except QueryRefused:
        raise
    except Exception as error:
        message = " ".join(str(error).split())[:200]
        raise QueryRefused(f"Not a SPARQL update: {message}", query=text) from error
    spans: list[tuple[str, str]] = []
    for part in placed:
        if part.name == "prologue":
            prologue += text[part.start : part.end] + "\n"
        else:
            spans.append((prologue, text[part.start : part.end]))
    return list(getattr(translated, "algebra", translated)), spans


def _check_labels(algebra: Iterable[Any], text: str) -> None:
    """Refuse a blank node's label that two INSERT DATA use (SPARQL 1.1 Query, section 19.6)."""
    seen: set[BNode] = set()
    for operation in algebra:
        if operation.name == "InsertData":
            here = {t for quad in _quads(operation) for t in quad if isinstance(t, BNode)}
            if shared := here & seen:
                raise QueryRefused(f"Two operations use the blank node _:{min(shared)}.", query=text)
            seen |= here


@dataclass(frozen=True)
class _Part:
    name: str
    start: int
    end: int


@lru_cache(maxsize=1)
def _grammar() -> Any:
    """Return a grammar of updates that says where prologues and the last braces of operations stand.

    Its leaves are rdflib's, so that it reads just what rdflib reads.
    """
    from pyparsing import (
        Forward,
        Keyword,
        Located,
        Optional,
        ParserElement,
        Suppress,
        ZeroOrMore,
        rest_of_line,
    )
    from rdflib.plugins.sparql import parser as p

    def part(name: str, element: Any) -> ParserElement:
        located = Located(element)
        located.set_parse_action(lambda found: _Part(name, found[0], found[2]))
        return located

    def skip(*words: str) -> Any:
        expression: Any = Suppress(Keyword(words[0], caseless=True))
        for word in words[1:]:
            expression = expression + Suppress(Keyword(word, caseless=True))
        return expression

    clauses = Suppress(p.DeleteClause) + Optional(Suppress(p.InsertClause)) | Suppress(p.InsertClause)
    using = ZeroOrMore(Suppress(p.UsingClause))
    modify = (
        Optional(skip("WITH") + Suppress(p.iri))
        + clauses
        + using
        + skip("WHERE")
        + part("where", p.GroupGraphPattern)
    )
    other = p.Load | p.Clear | p.Drop | p.Add | p.Move | p.Copy | p.Create
    operation = (
        part("other", other)
        | skip("INSERT", "DATA") + part("data", p.QuadData)
        | skip("DELETE", "DATA") + part("data", p.QuadData)
        | skip("DELETE", "WHERE") + part("where", p.QuadPattern)
        | modify
    )
    request = Forward()
    request <<= part("prologue", p.Prologue) + Optional(operation + Optional(Suppress(";") + request))
    request.ignore("#" + rest_of_line)
    return request.parse_with_tabs()


def _operation(
    found: Any,
    prologue: str,
    span: str,
    using: tuple[tuple[str, ...] | None, tuple[str, ...] | None],
    text: str,
) -> Operation:
    """Turn one operation of rdflib's algebra into plain values."""
    name, silent = found.name, bool(found.silent)
    if name == "Load" and silent:
        return ("nothing",)  # it fails in silence
    if name == "Load":
        raise QueryRefused(
            "LOAD is not allowed: nothing is fetched from the web.",
            query=text,
            hint="Send the document itself, by POST or PUT to the graph store.",
        )
    if name in ("InsertData", "DeleteData"):
        if name == "DeleteData" and _blank(_quads(found)):
            raise QueryRefused("Blank nodes cannot be deleted as data.", query=text)
        return "data", name == "InsertData", as_insert_data(prologue, span)
    if name in ("Clear", "Drop"):
        which = str(found.graphiri)
        if not isinstance(found.graphiri, URIRef):
            return "clear", which.lower()
        return "clear", "graph", which
    if name == "Create":
        return "create", str(found.graphiri), silent
    if name in ("Add", "Copy", "Move"):
        source, target = (str(g) if isinstance(g, URIRef) else None for g in found.graph)
        return "transfer", name.lower(), source, target, silent
    where = as_select(prologue, span)
    if name == "DeleteWhere":
        deletes, inserts = _quads(found), []
    else:
        outer = str(found.withClause) if found.withClause else None
        deletes = _quads(found.delete, outer) if found.delete else []
        inserts = _quads(found.insert, outer) if found.insert else []
        if found.using:
            using = (
                tuple(str(u.default) for u in found.using if u.default),
                tuple(str(u.named) for u in found.using if u.named),
            )
        elif outer is not None:
            using = ((outer,), None)
    if _blank(deletes):
        raise QueryRefused("What DELETE names cannot have blank nodes.", query=text, hint="Use variables.")
    return "modify", where, *using, tuple(map(_template, deletes)), tuple(map(_template, inserts))


_Quad = tuple[Node | None, Node, Node, Node]


def _quads(found: Any, outer: str | None = None) -> list[_Quad]:
    default = URIRef(outer) if outer is not None else None
    quads: list[_Quad] = [(default, *t) for t in found.triples or ()]
    for graph, triples in (found.quads or {}).items():
        quads += [(graph, *t) for t in triples]
    return quads


def _blank(quads: Iterable[_Quad]) -> bool:
    return any(isinstance(term, BNode) for quad in quads for term in quad)


def _template(quad: _Quad) -> Template:
    graph, s, p, o = quad
    return (_plain(graph) if graph is not None else None, _plain(s), _plain(p), _plain(o))


def _plain(term: Node) -> TermTuple:
    if isinstance(term, Variable):
        return "v", str(term)
    if isinstance(term, BNode):
        return "b", str(term)
    if isinstance(term, Literal):
        return "l", str(term), term.language or "", str(term.datatype or "")
    return "i", str(term)


# -- writing ---------------------------------------------------------------------------------------


def _placed(operation: Operation, kg: KnowledgeGraph, layout: Layout) -> Operation:
    """Put the names that graphs have inside where USING and WITH name GraphDB's pseudo-graphs."""
    if operation[0] != "modify":
        return operation
    kind, where, default, named, deletes, inserts = operation

    def inside(graphs: Sequence[str]) -> tuple[str, ...]:
        found: list[str] = []
        for graph in graphs:
            if graph == EXPLICIT:
                found += [*layout.asserted, layout.target, layout.merged]
            elif graph == IMPLICIT:
                found += layout.inferred
            elif graph in NIL:
                found += [*layout.asserted, layout.target]
            elif graph in layout.foreign or graph.startswith("urn:mrag:"):
                raise QueryRefused(f"The graph <{graph}> cannot be read from here.", query=where)
            else:
                found.append(graph)
        return tuple(dict.fromkeys(found))

    return (
        kind,
        where,
        None if default is None else inside(default),
        None if named is None else inside(named),
        deletes,
        inserts,
    )


def _record_after(before: Record, layout: Layout, outcome: Outcome) -> Record:
    asserted = [*before.asserted]
    written = {_graph(quad) for quad in outcome.added}
    asserted += [g for g in (layout.target, layout.merged) if g in written and g not in asserted]
    base = {*asserted, layout.target, layout.merged}
    count = sum(_graph(q) in base for q in outcome.added) - sum(_graph(q) in base for q in outcome.removed)
    # What was inferred still holds when something has been added, and goes out of sight otherwise. The
    # next reasoning can start from additions alone only if it finds them in a graph of their own.
    keep = bool(before.inferred) and not outcome.lost
    added: tuple[str, ...] = ()
    if keep and not outcome.merged and (before.added or before.reasoned == before.revision):
        added = tuple(dict.fromkeys((*before.added, *(g for g in (layout.target,) if g in written))))
    revision = before.revision + 1
    untouched = keep and not outcome.gained and before.reasoned == before.revision
    return replace(
        before,
        asserted=tuple(asserted),
        inferred=before.inferred if keep else (),
        added=added,
        revision=revision,
        reasoned=revision if untouched else before.reasoned,
        triples=before.triples + count,
        contexts=outcome.contexts,
        merged=layout.merged if layout.merged in asserted else "",
        pending="",
        kept=True,
    )


def _write(kg: KnowledgeGraph, outcome: Outcome, record: Record) -> None:
    """Write the triples and the record in one transaction."""
    from mrag import queries
    from mrag.record import record_update

    change = queries.get("update/change").bind(
        graph_subject_predicate_object=[_row(q) for q in outcome.removed],
        g_s_p_o=[_row(q) for q in outcome.added],
    )
    # The engine reads prefixes only where a request begins, and the first of these has some.
    kg.store.update(f"{record_update(kg.iri, record)};\n{change}")


def _row(quad: ox.Quad) -> list[Node]:
    return [URIRef(_graph(quad)), *(from_ox(cast(Any, term)) for term in quad.triple)]


def _graph(quad: ox.Quad) -> str:
    return str(cast(Any, quad.graph_name).value)
