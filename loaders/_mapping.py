"""Mappings of tables to RDF, read from Turtle in the vocabularies of R2RML and RML.

Source:
    R2RML (W3C recommendation, 2012), sections 5 to 7; RML for sources other than databases.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders.rdf import Source
from mrag.rdf.terms import RDF, XSD

RR = "http://www.w3.org/ns/r2rml#"
RML = "http://semweb.mmlab.be/ns/rml#"
TAB = "https://w3id.org/mrag/table#"
"""Namespace of `tab:separator` and `tab:null`."""

_IGNORED = {RML + "logicalSource", RR + "logicalTable", RDF + "type"}
_KNOWN = {
    *(RR + n for n in ("subjectMap", "subject", "predicateObjectMap", "predicate", "objectMap", "object")),
    *(RR + n for n in ("template", "constant", "class", "termType", "datatype", "language")),
    *(RML + "reference", TAB + "separator", TAB + "null"),
}
_COLUMN = re.compile(r"\\([\\{}])|\{((?:[^\\{}]|\\.)+)\}|([{}\\])")
_LEXICAL = {
    XSD + name: re.compile(form)
    for name, form in (
        ("integer", r"[+-]?[0-9]+"),
        ("decimal", r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"),
        ("double", r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN"),
        ("boolean", r"true|false|0|1"),
        ("date", r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})?"),
        (
            "dateTime",
            r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?",
        ),
        ("gYear", r"-?[0-9]{4,}"),
    )
}
"""Lexical forms of the datatypes that are checked (XML Schema 1.1, part 2); values of others pass."""

Cells = Mapping[str, Any]


@dataclass(frozen=True)
class TermMap:
    """How terms are made of a row.

    Attributes:
        constant: The term itself, or None.
        pieces: A template: texts and names of columns in turn.
        column: A column whose values are taken as they are.
        iri: Whether the terms are IRIs.
        datatype: Of literals.
        language: Of literals.
        separator: Splits a cell.
        null: Texts that stand for no value, beside the empty one.
    """

    constant: ox.NamedNode | ox.Literal | None = None
    pieces: tuple[str, ...] = ()
    column: str = ""
    iri: bool = False
    datatype: str = ""
    language: str = ""
    separator: str = ""
    null: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns it needs."""
        return self.pieces[1::2] if self.pieces else ((self.column,) if self.column else ())

    def terms(self, row: Cells) -> Iterator[str]:
        """Yield the terms for a row, as N-Triples; none where a value is missing.

        Raises:
            ValueError: If a cell is no well-formed IRI, or a number or date its datatype does not know.
        """
        if self.constant is not None:
            yield str(self.constant)
            return
        if not self.pieces:
            for value in self._values(row.get(self.column)):
                yield self._term(value)
            return
        made = [self.pieces[0]]
        for name, rest in zip(self.pieces[1::2], self.pieces[2::2], strict=True):
            values = self._values(row.get(name))
            made = [m + self._spelt(v) + rest for v in values for m in made]
        for value in made:
            yield self._term(value)

    def _values(self, cell: Any) -> list[str]:
        cells = cell if isinstance(cell, list) else [cell]
        values = [_written(c) for c in cells if c is not None]
        if self.separator:
            values = [v for value in values for v in value.split(self.separator)]
        stripped = (value.strip() for value in values)
        return [value for value in stripped if value and value not in self.null]

    def _spelt(self, value: str) -> str:
        return quote(value, safe="") if self.iri else value

    def _term(self, value: str) -> str:
        if self.iri:
            return str(ox.NamedNode(value))
        if self.language:
            return str(ox.Literal(value, language=self.language))
        if self.datatype:
            if (known := _LEXICAL.get(self.datatype)) is not None and not known.fullmatch(value):
                raise ValueError(f"{value[:80]!r} is no {self.datatype.removeprefix(XSD)}")
            return str(ox.Literal(value, datatype=ox.NamedNode(self.datatype)))
        return str(ox.Literal(value))


@dataclass(frozen=True)
class TriplesMap:
    """How triples are made of a row: subjects, their classes, and predicates with objects."""

    subject: TermMap
    classes: tuple[str, ...]
    rest: tuple[tuple[str, TermMap], ...]


def read_mapping(path: str | os.PathLike[str]) -> tuple[TriplesMap, ...]:
    """Read a mapping.

    Args:
        path: A file of Turtle.

    Raises:
        LoadError: If it is not Turtle, has no triples map, or says what is not supported here.
    """
    graph: dict[str, list[tuple[str, Any]]] = {}
    for quad in Source.of(path, format="ttl").quads():
        graph.setdefault(str(quad.subject), []).append((quad.predicate.value, quad.object))
    return _Reader(Path(path), graph).maps()


class _Reader:
    def __init__(self, path: Path, graph: Mapping[str, list[tuple[str, Any]]]) -> None:
        self.path, self.graph = path, graph

    def maps(self) -> tuple[TriplesMap, ...]:
        """Return the triples maps in the order of the file."""
        heads = [node for node, rows in self.graph.items() if any(p in _SUBJECT for p, _ in rows)]
        if not heads:
            raise self.error("The mapping has no rr:subjectMap.")
        return tuple(self._map(head) for head in heads)

    def _map(self, head: str) -> TriplesMap:
        self._check(head)
        given = self._all(head, "subjectMap")
        subject = (
            self._term_map(str(given[0]), subject=True)
            if given
            else TermMap(constant=self._all(head, "subject")[0], iri=True)
        )
        if len(given) > 1 or not subject.iri:
            raise self.error("A triples map has one subject, and it is an IRI.")
        classes = [str(c) for node in given for c in self._all(str(node), "class")]
        rest: list[tuple[str, TermMap]] = []
        for node in self._all(head, "predicateObjectMap"):
            self._check(str(node))
            objects = [TermMap(constant=o) for o in self._all(str(node), "object")]
            objects += [self._term_map(str(o)) for o in self._all(str(node), "objectMap")]
            predicates = self._all(str(node), "predicate")
            if not predicates or not objects:
                raise self.error("A predicate-object map needs rr:predicate, and rr:objectMap or rr:object.")
            rest += [(str(p), o) for p in predicates for o in objects]
        return TriplesMap(subject, tuple(classes), tuple(rest))

    def _term_map(self, node: str, *, subject: bool = False) -> TermMap:
        self._check(node)
        constant, template = self._one(node, RR + "constant"), self._text(node, RR + "template")
        column, language = self._text(node, RML + "reference"), self._text(node, RR + "language")
        datatype = self._one(node, RR + "datatype")
        if sum((constant is not None, bool(template), bool(column))) != 1:
            raise self.error("A term map has one of rr:template, rml:reference and rr:constant.")
        kind = getattr(self._one(node, RR + "termType"), "value", "")
        if kind not in ("", RR + "IRI", RR + "Literal"):
            raise self.error(f"The term type {kind} is not supported; use rr:IRI or rr:Literal.")
        plain = not language and datatype is None
        is_iri = kind == RR + "IRI" or (not kind and plain and (subject or bool(template)))
        null = (o.value for p, o in self.graph.get(node, ()) if p == TAB + "null")
        if language:
            try:
                ox.Literal("", language=language)
            except ValueError as error:
                raise self.error(f"{language!r} is no language tag.") from error
        return TermMap(
            constant=constant,
            pieces=self._pieces(template) if template else (),
            column=column,
            iri=is_iri or isinstance(constant, ox.NamedNode),
            datatype=getattr(datatype, "value", ""),
            language=language,
            separator=self._text(node, TAB + "separator"),
            null=frozenset(null),
        )

    def _pieces(self, template: str) -> tuple[str, ...]:
        """Split a template into texts and columns in turn (R2RML, section 7.3)."""
        pieces, end = [""], 0
        for found in _COLUMN.finditer(template):
            pieces[-1] += template[end : found.start()]
            end = found.end()
            if found[3]:
                raise self.error(f"The template {template!r} has a brace or backslash that stands alone.")
            if found[1]:
                pieces[-1] += found[1]
            else:
                pieces += [re.sub(r"\\(.)", r"\1", found[2]), ""]
        pieces[-1] += template[end:]
        return tuple(pieces)

    def _check(self, node: str) -> None:
        for predicate, _ in self.graph.get(node, ()):
            if predicate not in _KNOWN | _IGNORED:
                raise self.error(f"The mapping says {predicate}, which is not supported here.")

    def _all(self, node: str, name: str) -> list[Any]:
        return [o for p, o in self.graph.get(node, ()) if p == RR + name]

    def _one(self, node: str, predicate: str) -> Any:
        found = [o for p, o in self.graph.get(node, ()) if p == predicate]
        if len(found) > 1:
            raise self.error(f"A term map has {predicate} twice.")
        return found[0] if found else None

    def _text(self, node: str, predicate: str) -> str:
        found = self._one(node, predicate)
        if found is None:
            return ""
        if not isinstance(found, ox.Literal):
            raise self.error(f"{predicate} takes a text.")
        return found.value

    def error(self, message: str) -> LoadError:
        return LoadError(message, file=str(self.path), hint="docs/images.md shows a mapping.")


_SUBJECT = (RR + "subjectMap", RR + "subject")


def _written(value: Any) -> str:
    """Return the lexical form of a cell; JSON has numbers and truth values too."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise ValueError("a value is an object or a list of lists")
    return json.dumps(value)
