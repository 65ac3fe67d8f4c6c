"""Mappings of tables to RDF, read from Turtle in the vocabularies of R2RML and RML.

Source:
    R2RML (W3C recommendation, 2012), sections 5 to 7; RML for sources other than databases.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders.rdf import Source
from mrag.loaders.tables.terms import TermMap, TriplesMap
from mrag.rdf.namespaces import RDF

RR = "http://www.w3.org/ns/r2rml#"
RML = "http://semweb.mmlab.be/ns/rml#"
TAB = "https://w3id.org/mrag/table#"
"""Namespace of `tab:separator` and `tab:null`."""

_IGNORED = {
    *(RML + n for n in ("logicalSource", "referenceFormulation", "iterator")),
    *(RR + n for n in ("logicalTable", "sqlVersion")),
    RDF + "type",
}
_KNOWN_TERMS = {
    *(RR + n for n in ("subjectMap", "subject", "predicateObjectMap", "predicate", "objectMap", "object")),
    *(RR + n for n in ("template", "constant", "class", "termType", "datatype", "language", "column")),
    *(RR + "tableName", RR + "sqlQuery", RML + "source"),
    *(RML + "reference", TAB + "separator", TAB + "null"),
}
_COLUMN = re.compile(r"\\([\\{}])|\{((?:[^\\{}]|\\.)+)\}|([{}\\])")


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
        source, query = self._source(head)
        return TriplesMap(subject, tuple(classes), tuple(rest), source, query)

    def _source(self, head: str) -> tuple[str, str]:
        """Return the name of the file or table that a map is for, and the query in place of a table."""
        for _, node in (r for r in self.graph[head] if r[0] in (RML + "logicalSource", RR + "logicalTable")):
            self._check(str(node))
            source = self._text(str(node), RML + "source") or self._text(str(node), RR + "tableName")
            return source, self._text(str(node), RR + "sqlQuery")
        return "", ""

    def _term_map(self, node: str, *, subject: bool = False) -> TermMap:
        self._check(node)
        constant, template = self._one(node, RR + "constant"), self._text(node, RR + "template")
        column = self._text(node, RML + "reference") or self._text(node, RR + "column")
        language = self._text(node, RR + "language")
        datatype = self._one(node, RR + "datatype")
        if sum((constant is not None, bool(template), bool(column))) != 1:
            raise self.error("A term map has one of rr:template, rml:reference, rr:column and rr:constant.")
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
            if predicate not in _KNOWN_TERMS | _IGNORED:
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
        return LoadError(message, file=str(self.path), hint="docs/tables.md shows a mapping.")


_SUBJECT = (RR + "subjectMap", RR + "subject")


def maps_for(
    maps: Sequence[TriplesMap], name: str, mapping: str | os.PathLike[str]
) -> tuple[TriplesMap, ...]:
    """Return the maps for the rows of a file.

    A map that names no source is for every file. Where all name the same source, it does not matter which,
    since the file is named when it is imported.

    Args:
        maps: Those of a mapping.
        name: The name of the file.
        mapping: The file of the mapping, for errors.

    Raises:
        LoadError: If the mapping is for other files.
    """
    sources = {m.source for m in maps}
    if len(sources) == 1:
        return tuple(maps)
    plain = name.removesuffix(".gz")
    found = tuple(m for m in maps if not m.source or Path(m.source).name.removesuffix(".gz") == plain)
    if not found:
        named = ", ".join(sorted(repr(source) for source in sources))
        raise LoadError(
            f"The mapping has nothing for {name!r}.", file=str(mapping), hint=f"It is for: {named}."
        )
    return found
