"""What is sent to the workers and what they reply, in plain values."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, cast

from rdflib import BNode, Literal, URIRef

from mrag.errors import QueryRefused
from mrag.rdf.terms import XSD, Term, Triple, typed_literal
from mrag.stores.base import Dataset, Limits, SelectResult
from mrag.stores.process.channel import Reply


def request(
    do: str,
    query: str,
    dataset: Dataset,
    limits: Limits,
    *,
    extra: bytes = b"",
    format: str = "",
    substitutions: Mapping[str, Any] | None = None,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
) -> dict[str, Any]:
    """Return a request for a query, in plain values.

    Args:
        do: `rows` for terms, `document` for a document in `format`.
        query: A query that the read gate has let through.
        dataset: The graphs it sees.
        limits: Its caps.
        extra: N-Triples that are in the default graph for this query alone.
        format: Of the document: `json`, `xml`, `csv`, `tsv`, `turtle`, `ntriples`, `rdfxml`, `jsonld`…
        substitutions: Terms, taken apart, that variables have from the start.
        prefixes: For documents that can abbreviate.
        base: What relative IRIs are relative to, where the query does not say.
    """
    return {
        "do": do,
        "query": query,
        "default": dataset.default,
        "named": dataset.named,
        "rows": limits.rows,
        "bytes": limits.bytes,
        "extra": extra,
        "format": format,
        "substitutions": dict(substitutions or {}),
        "prefixes": dict(prefixes or {}),
        "base": base,
    }


_CAST = re.compile(r"function <http://www\.w3\.org/2001/XMLSchema#(\w+)>")
_CASTS = "xsd:string, xsd:boolean, xsd:integer, xsd:decimal, xsd:float, xsd:double and xsd:dateTime"
_PORTABLE = {
    **dict.fromkeys(
        "int long short byte nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger "
        "unsignedInt unsignedLong unsignedShort unsignedByte".split(),
        "integer",
    ),
    **dict.fromkeys("normalizedString token language Name NCName NMTOKEN anyURI".split(), "string"),
    "dateTimeStamp": "dateTime",
}
"""Datatypes derived from others, with the cast that every engine has for their values."""


def refusal(reply: Reply, query: str, limits: Limits) -> QueryRefused | None:
    """Return the error that a reply stands for, if it stands for one."""
    if reply[0] == "large":
        return QueryRefused(
            f"The result is larger than {limits.rows} rows or {limits.bytes} bytes.",
            query=query,
            hint="Add a LIMIT, or allow more.",
        )
    if reply[0] == "refused":
        return QueryRefused(str(reply[1]), query=query)
    if reply[0] == "error" and (found := _CAST.search(str(reply[1]))):
        portable = _PORTABLE.get(found[1])
        return QueryRefused(
            f"SPARQL 1.1 has no cast to xsd:{found[1]}.",
            query=query,
            hint=f"Use xsd:{portable}, which every engine has." if portable else f"Casts are: {_CASTS}.",
        )
    if reply[0] == "error":
        return QueryRefused(f"The engine cannot answer this query: {reply[1]}.", query=query)
    return None


def unpack(reply: Reply) -> SelectResult | bool | list[Triple]:
    """Return the rows, the truth value or the triples of a reply."""
    kind, value = reply
    if kind == "select":
        names, rows = value
        terms = {cell: _term(cell) for row in rows for cell in row}
        return SelectResult(names, [tuple(map(terms.__getitem__, row)) for row in rows])
    if kind == "construct":
        return [Triple(*cast(Any, map(_term, row))) for row in cast(Collection[Any], value)]
    return bool(value)


def _term(plain: tuple[str, str, str | None, str | None] | None) -> Term | None:
    if plain is None:
        return None
    kind, value, language, datatype = plain
    if kind == "i":
        return URIRef(value)
    if kind == "b":
        return BNode(value)
    if language:
        return Literal(value, lang=language)
    if datatype is None or datatype == XSD + "string":
        return Literal(value)
    return typed_literal(value, datatype)
