"""Small tables and answers of stores without workers, as SPARQL results in the four formats.

The embedded store's own answers never come through here: its workers write them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from rdflib import BNode, Literal, URIRef

from mrag.rdf.queries import term
from mrag.rdf.terms import XSD, Term, term_to_json

Rows = Iterable[Sequence[Term | None]]
_SPARQL = "http://www.w3.org/2005/sparql-results#"


def table(variables: Sequence[str], rows: Rows, format: str) -> bytes:
    r"""Write rows as SPARQL 1.1 Query Results in JSON, XML, CSV or TSV.

    Args:
        variables: Names of the columns.
        rows: Terms; None where a variable has no value.
        format: `json`, `xml`, `csv` or `tsv`.

    Example:
        >>> table(["a", "b"], [[URIRef("urn:x"), Literal("one, two")]], "csv")
        b'a,b\r\nurn:x,"one, two"\r\n'
    """
    if format == "json":
        bindings = [
            {v: term_to_json(t) for v, t in zip(variables, row, strict=True) if t is not None} for row in rows
        ]
        return _dumped({"head": {"vars": list(variables)}, "results": {"bindings": bindings}})
    if format == "xml":
        head = "".join(f"<variable name={quoteattr(v)}/>" for v in variables)
        cells = (
            "".join(_xml(v, t) for v, t in zip(variables, row, strict=True) if t is not None) for row in rows
        )
        body = "".join(f"<result>{row}</result>" for row in cells)
        return _xml_document(f"<head>{head}</head><results>{body}</results>")
    if format == "csv":
        lines = [",".join(variables), *(",".join(map(_csv, row)) for row in rows)]
        return "".join(line + "\r\n" for line in lines).encode()
    lines = ["\t".join("?" + v for v in variables), *("\t".join(map(_tsv, row)) for row in rows)]
    return "".join(line + "\n" for line in lines).encode()


def answer(value: bool, format: str) -> bytes:
    """Write the answer of an ASK query.

    Example:
        >>> answer(True, "json")
        b'{"head":{},"boolean":true}'
    """
    word = "true" if value else "false"
    if format == "json":
        return _dumped({"head": {}, "boolean": value})
    if format == "xml":
        return _xml_document(f"<head></head><boolean>{word}</boolean>")
    return word.encode()


def _dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _xml_document(body: str) -> bytes:
    return f'<?xml version="1.0"?><sparql xmlns="{_SPARQL}">{body}</sparql>'.encode()


def _xml(variable: str, t: Term) -> str:
    text = escape(str(t), {"\r": "&#13;"})
    if isinstance(t, Literal):
        kind = ""
        if t.language:
            kind = f" xml:lang={quoteattr(t.language)}"
        elif t.datatype is not None and str(t.datatype) != XSD + "string":
            kind = f" datatype={quoteattr(str(t.datatype))}"
        value = f"<literal{kind}>{text}</literal>"
    else:
        value = f"<bnode>{text}</bnode>" if isinstance(t, BNode) else f"<uri>{text}</uri>"
    return f"<binding name={quoteattr(variable)}>{value}</binding>"


def _csv(t: Term | None) -> str:
    text = "" if t is None else f"_:{t}" if isinstance(t, BNode) else str(t)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in '",\r\n') else text


def _tsv(t: Term | None) -> str:
    if t is None:
        return ""
    written = f"_:{t}" if isinstance(t, BNode) else term(URIRef(t) if isinstance(t, URIRef) else t)
    return written.replace("\t", "\\t")
