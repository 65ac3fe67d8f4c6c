"""What an answer stands on: the lines of a context, and the same lines as an answer records them.

The context itself is made elsewhere (`mrag.context`); here is only the shape that generation needs of
it, so that any object of that shape will do. An answer keeps its own copy, which survives JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rdflib import BNode, Literal, URIRef

from mrag import untrusted
from mrag.errors import ModelError
from mrag.graph.record import status_of
from mrag.rdf.terms import Term, Triple


class Line(Protocol):
    """One line of a context: one triple, rendered."""

    @property
    def id(self) -> str:
        """`t1`, `t2` and so on: unique in the context, in the order of the prompt."""

    @property
    def text(self) -> str:
        """The triple as the prompt shows it, such as `(GraphDB, has feature, RDF storage)`."""

    @property
    def triple(self) -> Triple:
        """The triple itself."""

    @property
    def graph(self) -> str:
        """IRI of the named graph that holds it."""

    @property
    def inferred(self) -> bool:
        """Whether reasoning made it."""

    @property
    def labels(self) -> tuple[str, str, str]:
        """Subject, predicate and object as a person reads them."""

    @property
    def entity(self) -> str:
        """IRI of the hit that the line belongs to."""

    @property
    def score(self) -> float:
        """How much the line has to do with the question; higher is more."""


class ContextLike(Protocol):
    """The bounded neighbourhood of the hits of a question."""

    @property
    def lines(self) -> Sequence[Line]:
        """The lines, in the order of the prompt."""

    @property
    def entities(self) -> Sequence[str]:
        """IRIs of the hits, best first."""

    def text(self) -> str:
        """The lines for the prompt, each beginning with its id in square brackets."""


def term_to_json(term: Term) -> dict[str, str]:
    """Write a term as the SPARQL 1.1 JSON results format does (section 3.2.2).

    Example:
        >>> term_to_json(Literal("Wien", lang="de"))
        {'type': 'literal', 'value': 'Wien', 'xml:lang': 'de'}
    """
    if isinstance(term, Literal):
        found = {"type": "literal", "value": str(term)}
        if term.language:
            found["xml:lang"] = term.language
        elif term.datatype is not None:
            found["datatype"] = str(term.datatype)
        return found
    return {"type": "bnode" if isinstance(term, BNode) else "uri", "value": str(term)}


def term_from_json(value: Mapping[str, Any]) -> Term:
    """Read a term written by `term_to_json`, keeping its lexical form.

    Raises:
        ModelError: If it is no such term.

    Example:
        >>> term_from_json({"type": "uri", "value": "http://example.org/a"})
        rdflib.term.URIRef('http://example.org/a')
    """
    try:
        kind, text = value["type"], value["value"]
        if not isinstance(text, str):
            raise TypeError(text)
        if kind == "uri":
            return URIRef(text)
        if kind == "bnode":
            return BNode(text)
        if kind == "literal":
            datatype = value.get("datatype")
            kept = URIRef(datatype) if datatype else None
            return Literal(text, lang=value.get("xml:lang"), datatype=kept, normalize=False)
        raise KeyError(kind)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ModelError("Not an RDF term in SPARQL JSON form.", term=repr(value)) from error


@dataclass(frozen=True, slots=True)
class RecordedLine:
    """A line as an answer keeps it; see `Line` for the meaning of each field."""

    id: str
    text: str
    triple: Triple
    graph: str
    inferred: bool
    labels: tuple[str, str, str]
    entity: str = ""
    score: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Give the line in types that JSON has."""
        s, p, o = self.triple
        return {
            "id": self.id,
            "text": self.text,
            "triple": {"s": term_to_json(s), "p": term_to_json(p), "o": term_to_json(o)},
            "graph": self.graph,
            "inferred": self.inferred,
            "labels": list(self.labels),
            "entity": self.entity,
            "score": self.score,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RecordedLine:
        """Read a line back.

        Raises:
            ModelError: If a field is missing or of another type.
        """
        try:
            s, p, o = (str(label) for label in value["labels"])
            return cls(
                id=str(value["id"]),
                text=str(value["text"]),
                triple=triple_from_json(value["triple"]),
                graph=str(value["graph"]),
                inferred=bool(value["inferred"]),
                labels=(s, p, o),
                entity=str(value.get("entity", "")),
                score=float(value.get("score", 0.0)),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError("Not a line of a recorded answer.", term=repr(value)[:200]) from error


def triple_from_json(value: Mapping[str, Any]) -> Triple:
    """Read a triple from its three terms under `s`, `p` and `o`.

    Raises:
        ModelError: If a term is missing, malformed or in a place where RDF does not allow it.
    """
    try:
        s, p, o = (term_from_json(value[place]) for place in "spo")
    except (KeyError, TypeError) as error:
        raise ModelError("Not a triple of a recorded answer.", term=repr(value)[:200]) from error
    if isinstance(s, Literal) or not isinstance(p, URIRef):
        raise ModelError("Literals are no subjects, and only IRIs are predicates.", term=repr(value)[:200])
    return Triple(s, p, o)


def prompt_line(line: Line) -> str:
    """Give a line as a prompt shows it, and nothing that its labels hold as more than data.

    Example:
        >>> t, graph = Triple(URIRef("urn:a"), URIRef("urn:b"), URIRef("urn:c")), "urn:mrag:kg:x:enriched:2"
        >>> prompt_line(RecordedLine("t1", "(a, b, c)", t, graph, False, ("a", "b", "c")))
        '[t1] (a, b, c) enriched'
    """
    status = status_of(line.graph, inferred=line.inferred)
    return untrusted.line(line.id, line.text, "" if status == "asserted" else status)


@dataclass(frozen=True, slots=True)
class RecordedContext:
    """A context as an answer keeps it: lines and hits, nothing that needs a store."""

    lines: tuple[RecordedLine, ...]
    entities: tuple[str, ...]

    def text(self) -> str:
        """Give the lines for a prompt, each with its id and its mark.

        Example:
            >>> RecordedContext((), ()).text()
            ''
        """
        return "\n".join(prompt_line(line) for line in self.lines)

    @classmethod
    def of(cls, context: ContextLike) -> RecordedContext:
        """Copy a context into the form that an answer keeps, each text made fit for its one line."""
        if isinstance(context, RecordedContext) and all(
            untrusted.shown(line.text) == line.text for line in context.lines
        ):
            return context
        kept = tuple(
            RecordedLine(
                line.id,
                untrusted.shown(line.text),
                Triple(*line.triple),
                str(line.graph),
                bool(line.inferred),
                (str(line.labels[0]), str(line.labels[1]), str(line.labels[2])),
                str(line.entity),
                float(line.score) if math.isfinite(line.score) else 0.0,  # JSON has no NaN
            )
            for line in context.lines
        )
        return cls(kept, tuple(str(entity) for entity in context.entities))
