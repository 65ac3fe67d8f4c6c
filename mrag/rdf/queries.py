r"""The catalogue: every fixed query is a file of `sparql/`, and values enter it as RDF terms only.

A file runs as it stands in any SPARQL editor, because each parameter has an example value. The line
that holds it says so, and is the unit that binding replaces::

    VALUES ?entity { <http://example.org/thing> }   #+ bind: entity
    LIMIT 100                                       #+ bind: limit

Header lines begin with `#+ summary:`, `#+ params:` and `#+ source:`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from typing import Any

from rdflib import BNode
from rdflib.term import Node

from mrag.errors import ConfigError, TermError, require_known
from mrag.rdf.terms import to_ox

Value = Node | str | None
"""A term; a plain `str` is an IRI, None is UNDEF."""

COMMON = (
    "explore/classes", "explore/predicates", "explore/ontology", "explore/graphs",
    "evaluation/instances", "label/named", "label/labels",
    "context/out", "context/in", "context/superclasses",
    "image/with-category", "similarity/text",
)  # fmt: skip
"""The queries that people run by name; the others serve this package, and can be run all the same."""

_BIND = "#+ bind:"


@dataclass(frozen=True)
class Query:
    """One file of the catalogue."""

    name: str
    text: str
    summary: str
    params: tuple[str, ...]

    def bind(self, **values: int | Sequence[Value] | Sequence[Sequence[Value]]) -> str:
        """Return the query text with its parameters set."""
        require_known(values, self.params, f"The query {self.name}")
        lines = []
        for line in self.text.splitlines():
            name = _bind(line)
            lines.append(line if name is None or name not in values else _line(line, name, values[name]))
        return "\n".join(lines) + "\n"

    def batches(
        self,
        parameter: str,
        values: Sequence[Any],
        size: int = 500,
        **others: int | Sequence[Value] | Sequence[Sequence[Value]],
    ) -> Iterator[str]:
        """Yield the query text for many values of a parameter, some at a time, since servers limit VALUES."""
        for start in range(0, len(values), size):
            yield self.bind(**{parameter: values[start : start + size]}, **others)


@lru_cache(maxsize=256)
def get(name: str) -> Query:
    """Return a query of the catalogue."""
    for ending in (".rq", ".ru"):
        file = _root() / (name + ending)
        if file.is_file():
            return parse(name, file.read_text(encoding="utf-8-sig"))
    raise ConfigError(f"No query {name} in the catalogue.", hint="`names()` lists them.")


def name_of(text: str) -> str | None:
    """Return which query of the catalogue a text is, bound or not, by its header; None for any other."""
    return _headers().get(_header(text)) if text.startswith("#+") else None


@lru_cache(maxsize=1)
def _headers() -> dict[str, str]:
    return {_header(get(name).text): name for name in names()}


def _header(text: str) -> str:
    return "\n".join(takewhile(lambda line: line.startswith("#+"), text.splitlines()))


def names() -> list[str]:
    """List the names of all queries and updates of the catalogue, in order."""
    return sorted(_walk(_root(), ""))


def parse(name: str, text: str) -> Query:
    """Read a query file's header and parameters."""
    params: dict[str, None] = {}
    summary = ""
    for line in text.splitlines():
        if line.startswith("#+ summary:"):
            summary = line.removeprefix("#+ summary:").strip()
        bound = _bind(line)
        if bound is not None:
            params[bound] = None
    return Query(name, text, summary, tuple(params))


def values_block(variables: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    r"""Print a VALUES block; every term passes through a class that validates and escapes it."""
    body = " ".join("(" + " ".join(term(v) for v in row) + ")" for row in rows)
    return f"VALUES ({' '.join('?' + v for v in variables)}) {{ {body} }}"


def term(value: Value) -> str:
    """Print a term for a query, or UNDEF for None."""
    if value is None:
        return "UNDEF"
    if isinstance(value, BNode):
        raise TermError("A blank node cannot be a query parameter.", term=str(value))
    return str(to_ox(value))


def _bind(line: str) -> str | None:
    _, mark, rest = line.partition(_BIND)
    return "_".join(rest.split()) if mark else None


def _line(line: str, name: str, value: int | Sequence[Value] | Sequence[Sequence[Value]]) -> str:
    word = line.split(maxsplit=1)[0].upper()
    if word in ("LIMIT", "OFFSET"):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ConfigError(f"{name} is a whole number, not {value!r}.")
        return f"{word} {value}"
    if word != "VALUES" or isinstance(value, int | str):
        raise ConfigError(f"{name} takes a sequence of terms, not {value!r}.")
    variables = line.partition(_BIND)[2].split()
    rows = [row if isinstance(row, list | tuple) else (row,) for row in value]
    if any(len(row) != len(variables) for row in rows):
        raise ConfigError(f"{name} takes rows of {len(variables)} terms.")
    return values_block(variables, rows)


def _root() -> Traversable:
    return files("mrag") / "sparql"


def _walk(folder: Traversable, prefix: str) -> Iterable[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith((".rq", ".ru")):
            yield prefix + entry.name[:-3]
