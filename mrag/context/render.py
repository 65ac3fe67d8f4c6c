"""What an expansion yields: lines with ids, their text for a prompt, and a report of what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from mrag import html, untrusted
from mrag.graph.record import Status, status_of
from mrag.rdf.terms import Term, Triple, ntriples_terms


@dataclass(frozen=True)
class Line:
    """One triple as a line of context."""

    id: str  # `t1`, `t2`, … in the order of the prompt
    text: str  # The triple in words, such as `(GraphDB, has feature, RDF storage)`
    triple: Triple
    graph: str  # IRI of the graph that holds it
    inferred: bool  # Whether reasoning put it there
    labels: tuple[str, str, str]  # Subject, predicate and object as shown
    entity: str = ""  # IRI of the hit whose neighbourhood it belongs to; of its subject for a schema line
    score: float = 0.0  # How relevant it is, higher is better; comparable within one context
    hop: int = 1  # Steps from the hit, counted from 1; 0 for a schema line
    path: tuple[str, ...] = ()  # IRIs of the entities between the hit and this triple, the hit first
    named: tuple[str, ...] = ()  # IRIs of the named graphs that state it, where the data has named graphs

    @property
    def status(self) -> Status:
        """Where the triple comes from."""
        return status_of(self.graph, inferred=self.inferred)


@dataclass(frozen=True)
class Dropped:
    """Triples that an expansion saw and left out."""

    reason: str  # Why, in words
    count: int  # How many; at least so many where `more` is set
    more: bool = False  # Whether a hub's further triples were not even counted


@dataclass(frozen=True)
class CutList:
    """Triples of one entity and predicate of which a context has the first only."""

    entity: str  # IRI of the entity
    predicate: str  # IRI of the predicate
    direction: str  # `out` where the entity is the subject, `in` where it is the object
    total: int  # How many there are; at least so many where `more` is set
    more: bool = False  # Whether a hub's further triples were not even counted


@dataclass(frozen=True)
class Context:
    """The bounded neighbourhood of hits."""

    lines: tuple[Line, ...]  # The triples, grouped by hit in rank order, the schema last
    entities: tuple[str, ...]  # IRIs of the hits in rank order
    names: tuple[str, ...] = ()  # Their labels
    dropped: tuple[Dropped, ...] = ()  # What was left out, and why
    tokens: int = 0  # Estimated tokens of `text()`
    cut: tuple[CutList, ...] = ()  # Lists of which there is more in the graph

    def text(self) -> str:
        """Return the lines for a prompt, each led by its id."""
        return "\n".join(render(line) for line in self.lines)

    def within(self, tokens: int) -> Context:
        """Return the context with the most relevant of its lines, as many as have room in so many tokens."""
        left, kept = tokens, set()
        for at, line in sorted(enumerate(self.lines), key=lambda one: (-one[1].score, one[0])):
            left -= cost(line.text)
            if left < 0:
                break
            kept.add(at)
        return replace(self, lines=tuple(line for at, line in enumerate(self.lines) if at in kept))

    def of(self, entity: str) -> tuple[Line, ...]:
        """Return the lines of one hit."""
        return tuple(line for line in self.lines if line.entity == entity)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """Return the context as HTML for a notebook: a table for each hit, and what was left out."""
        groups = [(iri, name, self.of(iri)) for iri, name in zip(self.entities, self.names, strict=False)]
        shown = {line.id for _, _, lines in groups for line in lines}
        groups.append(("", "Schema", tuple(line for line in self.lines if line.id not in shown)))
        parts = [
            html.table(
                ("", "triple", "layer"),
                [(line.id, line.text, html.badge(line.status)) for line in lines],
                caption=name,
            )
            for _, name, lines in groups
            if lines
        ]
        if self.dropped:
            left = [f"{d.count}{'+' if d.more else ''} {d.reason}" for d in self.dropped]
            parts.append(html.details("Left out", html.bullets(left)))
        return html.tag("div", *parts, class_="mrag-context")

    def to_json(self) -> dict[str, Any]:
        """Return the context as JSON values."""
        return {
            "entities": [{"iri": i, "label": n} for i, n in zip(self.entities, self.names, strict=True)],
            "lines": [
                {
                    "id": line.id,
                    "text": line.text,
                    "triple": triple_json(line),
                    "entity": line.entity,
                    "score": round(line.score, 6),
                    "hop": line.hop,
                    "path": list(line.path),
                    "named_graphs": list(line.named),
                }
                for line in self.lines
            ],
            "dropped": [{"reason": d.reason, "count": d.count, "more": d.more} for d in self.dropped],
            "tokens": self.tokens,
        }


def render(line: Line) -> str:
    """Return a line as it stands in a prompt.

    Example:
        >>> from rdflib import URIRef
        >>> t = Triple(URIRef("urn:a"), URIRef("urn:b"), URIRef("urn:c"))
        >>> render(Line("t1", "(a, b, c)", t, "urn:g", True, ("a", "b", "c")))
        '[t1] (a, b, c) inferred'
        >>> render(Line("t2", "(a, b, c)", t, "urn:mrag:kg:x:enriched:2", False, ("a", "b", "c")))
        '[t2] (a, b, c) enriched'
    """
    return untrusted.line(line.id, line.text, "" if line.status == "asserted" else line.status)


def by_subject(lines: Iterable[Line]) -> dict[Term, list[Line]]:
    """Return lines by the subjects of their triples."""
    groups: dict[Term, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.triple.s, []).append(line)
    return groups


def triple_json(line: Line) -> list[str]:
    """Return `[s, p, o, graph, status]`, the terms in N-Triples form."""
    return [*ntriples_terms(line.triple), line.graph, line.status]


def cost(text: str) -> int:
    """Estimate the tokens of a fact: four characters each, which errs on the high side for English.

    The id, the brackets and the mark of an inferred line are paid for as well.
    """
    return -(-len(text) // 4) + 4
