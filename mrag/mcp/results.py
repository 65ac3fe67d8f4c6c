"""Results as a model reads them: a compact table, and JSON, both bounded."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rdflib import Literal, URIRef

from mrag import untrusted
from mrag.rdf.terms import XSD, Term, Triple, curie, term_to_json
from mrag.stores.base import SelectResult

_ENDS = re.compile("[\x85\u2028\u2029]")
_CELL = 200
_VALUE = 2_000
_BARE = frozenset(XSD + name for name in ("integer", "decimal", "double", "float", "boolean"))


@dataclass(frozen=True)
class Result:
    """What a tool gives.

    Attributes:
        text: For a model to read.
        data: The same for programs, in types that JSON has.
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)


def of_query(
    found: SelectResult | bool | Sequence[Triple], max_rows: int, prefixes: Mapping[str, str]
) -> Result:
    """Show what a query found.

    Args:
        found: Rows, a truth value, or triples.
        max_rows: Maximum number of rows or triples to show.
        prefixes: Prefixes for the table; the JSON has IRIs whole.

    Example:
        >>> from rdflib import Literal
        >>> print(of_query(SelectResult(("n",), [(Literal(1),), (Literal(2),)]), 1, {}).text)
        ?n
        1
        1 of 2 rows are shown.
    """
    if isinstance(found, bool):
        return Result(str(found).lower(), {"boolean": found})
    if isinstance(found, SelectResult):
        names, rows = found.variables, list(found)
        head = "\t".join("?" + name for name in names)
        bindings = [
            {v: _json(t) for v, t in zip(names, row, strict=True) if t is not None} for row in rows[:max_rows]
        ]
        data: dict[str, Any] = {"variables": list(names), "rows": bindings}
        lines = [head, *("\t".join(cell(t, prefixes) for t in row) for row in rows[:max_rows])]
        kind = "rows"
    else:
        rows = [tuple(triple) for triple in found]
        data = {"triples": [[_json(t) for t in triple] for triple in found[:max_rows]]}
        lines = [" ".join(cell(t, prefixes) for t in triple) + " ." for triple in found[:max_rows]]
        kind = "triples"
    data |= {"count": len(rows), "shown": min(max_rows, len(rows))}
    if not rows:
        lines.append(f"There are no {kind}.")
    elif len(rows) > max_rows:
        lines.append(f"{max_rows} of {len(rows)} {kind} are shown.")
    return Result("\n".join(lines), data)


def cell(term: Term | None, prefixes: Mapping[str, str]) -> str:
    """Show a term in a table: an IRI as a CURIE, a literal in one line and no longer than it must be.

    Example:
        >>> from rdflib import Literal
        >>> cell(Literal("two\\nlines", lang="en"), {})
        '"two\\\\nlines"@en'
    """
    if term is None:
        return ""
    if not isinstance(term, Literal):
        return untrusted.one_line(curie(str(term), prefixes) if isinstance(term, URIRef) else term.n3())
    if term.datatype is not None and str(term.datatype) in _BARE:
        return untrusted.one_line(str(term)[:_CELL])
    text = str(term) if len(term) <= _CELL else f"{str(term)[: _CELL - 1]}…"
    # JSON leaves these as they are, and some readers end a line there.
    shown = _ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", json.dumps(text, ensure_ascii=False))
    shown = untrusted.lines(shown)
    if term.language:
        return f"{shown}@{term.language}"
    if term.datatype is None:
        return shown
    return f"{shown}^^{untrusted.one_line(curie(str(term.datatype), prefixes))}"


def clip(text: str, max_length: int) -> str:
    """Cut a text at a line, saying so.

    Example:
        >>> print(clip("one\\ntwo\\nthree", 8))
        one
        two
        … cut: 13 characters in all. Ask for less at once.
    """
    if len(text) <= max_length:
        return text
    kept = text[:max_length].rpartition("\n")[0] or text[:max_length]
    return f"{kept}\n… cut: {len(text)} characters in all. Ask for less at once."


def _json(term: Term) -> dict[str, Any]:
    written: dict[str, Any] = term_to_json(term)
    if len(written["value"]) > _VALUE:
        return {**written, "value": written["value"][:_VALUE], "characters": len(written["value"])}
    return written
