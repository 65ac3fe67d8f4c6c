"""The catalogue's queries as a tool sees them: names, parameters and JSON schemas from their headers.

What kind of term a parameter takes is read off the example in its file, so that a new file of `sparql/`
is offered without a line of code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Literal

from rdflib import Literal as RdfLiteral
from rdflib import URIRef
from rdflib.term import Node

from mrag.errors import ConfigError, QueryRefused, TermError
from mrag.rdf import queries
from mrag.rdf.guard import ReadQuery, read_gate
from mrag.rdf.queries import Query
from mrag.rdf.terms import Term, curie, iri, to_ox

Kind = Literal["iri", "literal"]

INTERNAL = frozenset({"kg", "reasoning", "update"})  # groups that serve this package's own bookkeeping
_MOST_ROWS = 500
_MOST_NUMBER = 100_000
_MOST_TEXT = 10_000
TERM_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": ["string", "number", "boolean"]},
        {
            "type": "object",
            "properties": {
                "type": {"enum": ["uri", "literal"]},
                "value": {"type": "string"},
                "xml:lang": {"type": "string"},
                "datatype": {"type": "string"},
            },
            "required": ["type", "value"],
            "additionalProperties": False,
        },
    ]
}
"""A term: plain, or as the SPARQL 1.1 JSON results format writes it (section 3.2.2)."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a catalogue query."""

    name: str  # its name in the catalogue
    description: str  # from the header
    variables: tuple[str, ...] = ()  # the variables of its VALUES; empty for a whole number
    kinds: tuple[Kind, ...] = ()  # for each variable what its example is
    example: tuple[Node, ...] = ()  # the example's first row

    @property
    def required(self) -> bool:
        """Return whether the value in the file is only an example."""
        return bool(self.variables)

    def schema(self) -> dict[str, Any]:
        """Return its JSON schema."""
        if not self.variables:
            schema = {"type": "integer", "minimum": 0, "maximum": _MOST_NUMBER}
            return {**schema, "description": self.description}
        row = TERM_SCHEMA
        if (size := len(self.variables)) > 1:
            row = {"type": "array", "items": row, "minItems": size, "maxItems": size}
        return {
            "type": "array",
            "items": row,
            "minItems": 1,
            "maxItems": _MOST_ROWS,
            "description": self.description,
            "examples": [[self._example()]],
        }

    def read(self, value: Any, prefixes: Mapping[str, str]) -> int | list[tuple[Term, ...]]:
        """Read a JSON value as what the catalogue binds."""
        if not self.variables:
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_NUMBER:
                raise ConfigError(f"{self.name} is a whole number from 0 to {_MOST_NUMBER}.")
            return value
        rows = value if isinstance(value, list) else [value]
        size = len(self.variables)
        if size > 1 and len(rows) == size and not any(isinstance(row, list) for row in rows):
            rows = [rows]
        if not 1 <= len(rows) <= _MOST_ROWS:
            raise ConfigError(f"{self.name} takes 1 to {_MOST_ROWS} rows, not {len(rows)}.")
        read = []
        for row in rows:
            cells = row if isinstance(row, list) else [row]
            if len(cells) != size:
                raise ConfigError(
                    f"{self.name} takes rows of {size}: {', '.join(self.variables)}.",
                    hint=f"Such as {self._example()!r}.",
                )
            read.append(tuple(read_term(c, k, prefixes) for c, k in zip(cells, self.kinds, strict=True)))
        return read

    def _example(self) -> Any:
        shown = [curie(str(t)).strip("<>") if isinstance(t, URIRef) else str(t) for t in self.example]
        return shown if len(shown) > 1 else shown[0]


@dataclass(frozen=True)
class CatalogueEntry:
    """A catalogue query that may be run by name."""

    query: Query  # the file
    parameters: tuple[Parameter, ...]  # its parameters

    @property
    def signature(self) -> str:
        """Return the name with the parameters, those that may be left out with a question mark."""
        names = (p.name + ("" if p.required else "?") for p in self.parameters)
        return f"{self.query.name}({', '.join(names)})"

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of its parameters."""
        return {
            "type": "object",
            "properties": {p.name: p.schema() for p in self.parameters},
            "required": [p.name for p in self.parameters if p.required],
            "additionalProperties": False,
        }

    def bind(self, values: Mapping[str, Any], prefixes: Mapping[str, str]) -> str:
        """Return the query with these parameters set."""
        known = {p.name: p for p in self.parameters}
        missing = [p.name for p in self.parameters if p.required and p.name not in values]
        unknown = sorted(set(values) - set(known))
        if missing or unknown:
            raise ConfigError(
                f"{self.query.name} needs the parameter {missing[0]}."
                if missing
                else f"{self.query.name} has no parameter {unknown[0]}.",
                hint=f"Call it as {self.signature}.",
            )
        return self.query.bind(**{name: known[name].read(value, prefixes) for name, value in values.items()})


def read_term(value: Any, kind: Kind, prefixes: Mapping[str, str] | None = None) -> Term:
    """Read a term from JSON."""
    if isinstance(value, bool | int | float):
        return RdfLiteral(value)
    given = value
    if isinstance(value, str):
        given = {"type": "uri" if kind == "iri" else "literal", "value": value}
    if (
        not isinstance(given, dict)
        or not all(isinstance(part, str) for part in given.values())
        or not {"type", "value"} <= set(given) <= {"type", "value", "xml:lang", "datatype"}
        or given["type"] not in ("uri", "literal")
        or len(given["value"]) > _MOST_TEXT
    ):
        raise TermError(
            "Not a term.",
            term=str(value)[:200],
            hint='Give an IRI, a CURIE, a text, or {"type": "uri" or "literal", "value": …} with "xml:lang" '
            'or "datatype" where it has one.',
        )
    if given["type"] == "uri":
        return iri(given["value"], prefixes)
    language = given.get("xml:lang") or None
    datatype = URIRef(given["datatype"]) if given.get("datatype") and language is None else None
    try:
        literal = RdfLiteral(given["value"], lang=language, datatype=datatype, normalize=False)
    except ValueError as error:
        raise TermError("Not a well-formed literal.", term=str(value)[:200], hint=str(error)) from error
    to_ox(literal)
    return literal


@lru_cache(maxsize=1)
def entries() -> Mapping[str, CatalogueEntry]:
    """Return the queries that may be run by name, in order of name."""
    found: dict[str, CatalogueEntry] = {}
    for name in queries.names():
        query = queries.get(name)
        if name.partition("/")[0] in INTERNAL:
            continue
        try:
            read = read_gate(query.text)
        except QueryRefused:
            continue  # An update, or a query of graphs that are not visible.
        found[name] = CatalogueEntry(query, tuple(_parameter(query, param, read) for param in query.params))
    return found


def nearest(name: str) -> list[str]:
    """Return the three names of queries that are most like a name, the nearest first."""

    def likeness(other: str) -> float:
        # A name without its folder is often all that is remembered.
        short = other.rpartition("/")[2]
        pairs = ((name, other), (name.rpartition("/")[2], short))
        return max(SequenceMatcher(None, *pair, autojunk=False).ratio() for pair in pairs)

    return sorted(entries(), key=lambda other: (-likeness(other), other))[:3]


def listing() -> str:
    """Return a line for each query that a model is told of at once: its signature and what it answers."""
    found = [entries()[name] for name in queries.COMMON]
    described = dict.fromkeys((p.name, p.description) for entry in found for p in entry.parameters)
    lines = [f"{entry.signature}: {entry.query.summary}" for entry in found]
    return "\n".join([*lines, "Of these, " + "; ".join(f"{name}: {text}" for name, text in described)])


def _parameter(query: Query, name: str, read: ReadQuery) -> Parameter:
    described = dict(
        line.removeprefix("#+ params:").strip().partition(" ")[::2]
        for line in query.text.splitlines()
        if line.startswith("#+ params:")
    )
    variables = _variables(name, read)
    example = tuple(read.values[v][0] for v in variables)
    kinds: tuple[Kind, ...] = tuple("iri" if isinstance(term, URIRef) else "literal" for term in example)
    return Parameter(name, described.get(name, name), variables, kinds, example)


def _variables(name: str, read: ReadQuery) -> tuple[str, ...]:
    """Return the variables of a parameter's name that its file has examples of."""
    if name in read.values:
        return (name,)
    parts = tuple(name.split("_"))
    return parts if len(parts) > 1 and all(part in read.values for part in parts) else ()
