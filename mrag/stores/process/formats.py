"""The formats of answers, by the names that the rest of mrag has for them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, cast

import pyoxigraph as ox

RESULTS = {
    "json": ox.QueryResultsFormat.JSON,
    "xml": ox.QueryResultsFormat.XML,
    "csv": ox.QueryResultsFormat.CSV,
    "tsv": ox.QueryResultsFormat.TSV,
}
GRAPHS = {
    "turtle": ox.RdfFormat.TURTLE,
    "ntriples": ox.RdfFormat.N_TRIPLES,
    "rdfxml": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
    "nquads": ox.RdfFormat.N_QUADS,
    "trig": ox.RdfFormat.TRIG,
    "n3": ox.RdfFormat.N3,
}
"""What the engine writes; `rdfjson` is written here."""

_STRING = "http://www.w3.org/2001/XMLSchema#string"


def serialize(
    statements: Iterable[Any], out: BinaryIO, name: str, prefixes: Mapping[str, str] | None = None
) -> None:
    """Write triples or quads.

    Args:
        statements: Triples, or quads for a format that has graphs.
        out: Where to write them.
        name: Of the format: one of `GRAPHS`, or `rdfjson` (RDF 1.1 JSON Alternate Serialization), which
            holds them all until they are written.
        prefixes: Namespaces by their prefixes, for formats that have them.

    Example:
        >>> import io
        >>> out = io.BytesIO()
        >>> apple = ox.Literal("Apfel", language="de")
        >>> serialize([ox.Triple(ox.NamedNode("urn:a"), ox.NamedNode("urn:p"), apple)], out, "rdfjson")
        >>> out.getvalue()
        b'{"urn:a":{"urn:p":[{"value":"Apfel","type":"literal","lang":"de"}]}}'
    """
    if name != "rdfjson":
        ox.serialize(
            statements, cast(Any, out), format=GRAPHS[name], prefixes=dict(prefixes) if prefixes else None
        )
        return
    found: dict[str, dict[str, list[dict[str, str]]]] = {}
    for statement in statements:
        about = found.setdefault(_name(statement.subject), {})
        about.setdefault(statement.predicate.value, []).append(_object(statement.object))
    out.write(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode())


def serialized(statements: Iterable[Any], name: str, prefixes: Mapping[str, str] | None = None) -> bytes:
    """Return triples or quads as a document, see `serialize`."""
    out = io.BytesIO()
    serialize(statements, out, name, prefixes)
    return out.getvalue()


def _name(term: Any) -> str:
    if isinstance(term, ox.Triple):
        raise ValueError("triple terms are not supported in RDF/JSON")
    return f"_:{term.value}" if isinstance(term, ox.BlankNode) else str(term.value)


def _object(term: Any) -> dict[str, str]:
    if not isinstance(term, ox.Literal):
        return {"value": _name(term), "type": "bnode" if isinstance(term, ox.BlankNode) else "uri"}
    found = {"value": term.value, "type": "literal"}
    if term.language:
        return {**found, "lang": term.language}
    return found if term.datatype.value == _STRING else {**found, "datatype": term.datatype.value}
