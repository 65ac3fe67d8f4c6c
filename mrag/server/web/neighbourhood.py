"""An entity for the page: its triples both ways, and its neighbourhood as nodes and edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import pyoxigraph as ox
from rdflib import URIRef

from mrag.context import ContextSettings, expand
from mrag.context.display import Display
from mrag.context.neighbourhood import Direction, Statement, read
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Status, status_of
from mrag.rdf.terms import (
    RDF,
    RDFS,
    SKOLEM,
    OxTerm,
    Term,
    Triple,
    curie,
    from_ox,
    term_to_json,
    triple_to_json,
)
from mrag.reasoning.proofs import Proof

SCAN = 400
"""Edges of an entity up to which it is shown whole."""

SHARE = 40
"""Maximum number of edges of one predicate of an entity with more."""

_DESCRIPTIONS = (
    "http://purl.org/dc/terms/description",
    "http://schema.org/description",
    "https://schema.org/description",
    "http://www.w3.org/2004/02/skos/core#definition",
    RDFS + "comment",
    "http://dbpedia.org/ontology/abstract",
)


class DrawnLine(Protocol):
    """What a drawing needs of a line of context."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def triple(self) -> Triple:
        """The triple."""

    @property
    def status(self) -> Status:
        """Where it comes from."""

    @property
    def labels(self) -> tuple[str, str, str]:
        """Subject, predicate and object as shown."""


def status(inferred: bool) -> str:
    """Return the word for where a triple comes from.

    Example:
        >>> status(True)
        'inferred'
    """
    return "inferred" if inferred else "asserted"


def drawing(lines: Iterable[DrawnLine], centre: str, label: str) -> dict[str, Any]:
    """Return lines as nodes and edges, the entity in the middle first; literals are left out.

    Args:
        lines: The lines of the entity, best first.
        centre: IRI of the entity.
        label: Its label.
    """
    nodes: dict[str, dict[str, Any]] = {centre: {"id": centre, "label": label, "kind": "centre"}}
    edges: list[dict[str, Any]] = []
    for line in lines:
        s, p, o = line.triple
        if not isinstance(o, URIRef) or str(s) == str(o):
            continue
        for end, name in ((str(s), line.labels[0]), (str(o), line.labels[2])):
            if end not in nodes:
                kind = "anonymous" if end.startswith(SKOLEM) else "entity"
                if end == str(o) and str(p) in (RDF + "type", RDFS + "subClassOf"):
                    kind = "class" if kind == "entity" else kind
                nodes[end] = {"id": end, "label": name, "kind": kind}
        edges.append(
            {
                "line": line.id,
                "s": str(s),
                "p": str(p),
                "o": str(o),
                "label": line.labels[1],
                "status": line.status,
            }
        )
    return {"centre": centre, "nodes": list(nodes.values()), "edges": edges}


def neighbourhood(kg: KnowledgeGraph, iri: str, hops: int) -> dict[str, Any]:
    """Return the neighbourhood of an entity as nodes and edges, bounded as a context is.

    Args:
        kg: The knowledge graph.
        iri: The entity.
        hops: How far, 1 or 2.
    """
    settings = ContextSettings(hops=hops, schema=False, max_triples=160, token_budget=8_000, scan=SCAN)
    context = expand(kg, [(iri, 1.0)], settings)
    lines = sorted(context.lines, key=lambda line: (line.hop, -line.score, line.text))
    return drawing(lines, iri, context.names[0])


def exists(kg: KnowledgeGraph, iri: str) -> bool:
    """Return whether an entity is the subject or object of any triple."""
    return any(read(kg, iri, way, scan=1, share=1).statements for way in ("out", "in"))


def triples(
    kg: KnowledgeGraph, iri: str, direction: Direction, display: Display
) -> tuple[list[Statement], dict[str, Any]]:
    """Read the triples that begin or end at an entity.

    Args:
        kg: The knowledge graph.
        iri: The entity.
        direction: `out` or `in`.
        display: Shows the terms.

    Returns:
        The statements, and their JSON: the triples, types first and then by predicate and label, and the
        predicates of which there are more.
    """
    edges = read(kg, iri, direction, scan=SCAN, share=SHARE)
    display.prepare(sorted({end for st in edges.statements for end in _iris(st)}))
    rows = [statement_json(kg, st, display) for st in edges.statements]
    rows.sort(key=lambda r: _order(r, direction))
    more = sorted(display.predicate(p) for p in edges.cut)
    return list(edges.statements), {"triples": rows, "more": more}


def statement_json(kg: KnowledgeGraph, statement: Statement, display: Display) -> dict[str, Any]:
    """Return a triple with its labels and its status."""
    s, p, o, graph = statement
    return {
        "triple": {"s": _term(ox.NamedNode(s)), "p": _term(ox.NamedNode(p)), "o": _term(o)},
        "labels": [display.entity(s), display.predicate(p), display.term(o, 2_000)],
        "graph": graph,
        "status": status_of(graph, inferred=kg.is_inferred(graph)),
    }


def head(kg: KnowledgeGraph, iri: str, out: Iterable[Statement], display: Display) -> dict[str, Any]:
    """Return the head of an entity's page: label, types, description.

    Args:
        kg: The knowledge graph.
        iri: The entity.
        out: The triples that begin at it.
        display: Shows the terms.
    """
    types: dict[str, bool] = {}
    texts: list[tuple[int, int, str]] = []
    for _, p, o, graph in out:
        if p == RDF + "type" and isinstance(o, ox.NamedNode) and not o.value.startswith(SKOLEM):
            types[o.value] = types.get(o.value, True) and kg.is_inferred(graph)
        elif p in _DESCRIPTIONS and isinstance(o, ox.Literal):
            texts.append((kg.language_rank(o.language or ""), _DESCRIPTIONS.index(p), o.value))
    return {
        "iri": iri,
        "label": display.entity(iri),
        "curie": curie(iri, kg.prefixes).strip("<>"),
        "types": [
            {"iri": t, "label": display.entity(t), "status": status(types[t])}
            for t in sorted(types, key=lambda t: (types[t], display.entity(t), t))
        ],
        "description": min(texts)[2] if texts else None,
    }


def proof_json(proof: Proof, display: Display) -> dict[str, Any]:
    """Return a proof as a tree with labels.

    Args:
        proof: The proof.
        display: Shows the terms.
    """

    def shown(term: Term) -> str:
        if isinstance(term, URIRef):
            return display.name(str(term))
        return str(term)

    def tree(step: Proof) -> dict[str, Any]:
        s, p, o = step.triple
        return {
            "triple": triple_to_json(step.triple),
            "labels": [shown(s), display.predicate(p), shown(o)],
            "status": status(not step.asserted),
            "rule": step.rule,
            "axiom": step.axiom,
            "premises": [tree(premise) for premise in step.premises],
        }

    return tree(proof)


def _order(row: dict[str, Any], direction: Direction) -> tuple[bool, str, str, str]:
    terms, labels = row["triple"], row["labels"]
    other = 2 if direction == "out" else 0
    last = terms["o" if direction == "out" else "s"]["value"]
    return terms["p"]["value"] != RDF + "type", labels[1], labels[other].casefold(), last


def _iris(statement: Statement) -> Iterable[str]:
    s, p, o, _ = statement
    yield s
    yield p
    if isinstance(o, ox.NamedNode):
        yield o.value


def _term(term: OxTerm) -> dict[str, str]:
    return term_to_json(from_ox(term))
