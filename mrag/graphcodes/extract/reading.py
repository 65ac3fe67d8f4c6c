"""What a model wrote, read as a graph code: tolerant of form, strict about substance."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mrag.errors import ModelError, MragError
from mrag.generation.models import json_values
from mrag.graphcodes.code import Edge, GraphCode, Node, term

SCHEMA: Final[dict[str, Any]] = {
    "title": "GraphCode",
    "description": "The things that are spoken of or seen, and how they are related.",
    "type": "object",
    "properties": {
        "nodes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "types": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["name"],
            },
        },
        "edges": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "source": {"type": "string"},
                    "relation": {"type": "string"},
                    "target": {"type": "string"},
                },
                "required": ["source", "relation", "target"],
            },
        },
    },
    "required": ["nodes", "edges"],
}
"""The form of a code, for models whose servers can be held to one."""

_MOST: Final = 200
_LONGEST: Final = 120
_NAMES: Final = ("name", "id", "label", "node", "object")
_SOURCES: Final = ("source", "subject", "from", "head", "s")
_RELATIONS: Final = ("relation", "predicate", "type", "label", "verb", "p")
_TARGETS: Final = ("target", "object", "to", "tail", "o")
_FORM: Final = (
    'Write {"nodes": [{"name": "dog"}], "edges": [{"source": "dog", "relation": "chase", "target": "cat"}]}.'
)
_LINE: Final = re.compile(r"^\s*+(?:(?:[-*•]|\d+[.)])\s*+)?[(\[<]([^()\[\]<>]+)[)\]>]\W*$")


def read_code(text: str) -> GraphCode:
    """Read a code wherever it stands in a text: as JSON, or as lines of triples in brackets.

    Raises:
        ModelError: If there is none, with what is wrong in words that a model can act on.

    Example:
        >>> said = 'Sure!  1. (a dog, chases, a Cat)'
        >>> [edge.key for edge in read_code(said.replace("!  ", "!" + chr(10))).edges]
        [('dog', 'chases', 'cat')]
        >>> read_code("I see a dog.")
        Traceback (most recent call last):
        mrag.errors.ModelError: There is no JSON object in the answer. Write {...}.
    """
    problem: ModelError | None = None
    for value in json_values(text):
        if value == []:
            continue
        try:
            return code_of(value)
        except ModelError as error:
            problem = problem or error
    rows = [[part.strip() for part in m[1].split(",")] for m in map(_LINE.match, text.splitlines()) if m]
    triples = [row for row in rows if len(row) == 3]
    if triples:
        return code_of(triples)
    raise problem or ModelError("There is no JSON object in the answer.", hint=_FORM)


def code_of(value: Any) -> GraphCode:
    """Read a code from parsed JSON: an object with `nodes` and `edges`, or a list of triples.

    Articles before names are dropped. Types of nodes are kept.

    Raises:
        ModelError: If it is neither, is empty, or has more than 200 edges.

    Example:
        >>> code_of([["A dog", "chases", "the cat"]]).dictionary
        ('cat', 'dog')
    """
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = {"edges": value}
    if not isinstance(value, Mapping):
        raise ModelError("The answer is not a JSON object.", hint=_FORM)
    nodes = _listed(value, ("nodes", "objects", "entities", "dictionary"))
    edges = _listed(value, ("edges", "relations", "relationships", "triples"))
    if len(nodes) > _MOST or len(edges) > _MOST:
        raise ModelError(
            f"There are more than {_MOST} nodes or edges.", hint="Give the most important ones once."
        )
    try:
        code = GraphCode.of([_node(n) for n in nodes], [_edge(e) for e in edges])
    except ModelError:
        raise
    except MragError as error:
        raise ModelError(f"A node or an edge cannot be used: {error.message}", hint=_FORM) from error
    if not code:
        raise ModelError("The code is empty.", hint=_FORM)
    return code


def _listed(value: Mapping[str, Any], keys: Sequence[str]) -> list[Any]:
    found = next((value[key] for key in keys if key in value), None)
    if found is None:
        return []
    if not isinstance(found, list):
        raise ModelError(f"{keys[0]!r} is not a list.", hint=_FORM)
    return found


def _name(value: Any, what: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        raise ModelError(f"{what} is not a text: {str(value)[:60]!r}.", hint=_FORM)
    text = str(value)
    if len(text) > _LONGEST:
        raise ModelError(f"{what} is a whole sentence: {text[:60]!r}…", hint="Use short names.")
    bare = term(text)
    for article in ("a ", "an ", "the "):
        if bare.startswith(article) and bare != article.strip():
            return bare[len(article) :]
    return bare


def _node(value: Any) -> Node:
    if not isinstance(value, Mapping):
        return Node(_name(value, "The name of a node"))
    name = next((value[key] for key in _NAMES if key in value), None)
    types = value.get("types", value.get("type")) or []
    types = [types] if isinstance(types, str) else types
    if not isinstance(types, list):
        raise ModelError("The types of a node are not a list.", hint=_FORM)
    kinds = frozenset(_name(kind, "The type of a node") for kind in types if kind)
    return Node(_name(name, "The name of a node"), "", kinds)


def _edge(value: Any) -> Edge:
    if isinstance(value, Mapping):
        keys = (_SOURCES, _RELATIONS, _TARGETS)
        parts = [next((value[key] for key in names if key in value), None) for names in keys]
    elif isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 3:
        parts = list(value)
    else:
        raise ModelError(f"An edge is not a source, a relation and a target: {str(value)[:60]}.", hint=_FORM)
    source, relation, target = parts
    return Edge(
        _name(source, "The source of an edge"),
        _name(relation, "The relation of an edge"),
        _name(target, "The target of an edge"),
    )
