"""Things, graphs and questions made in plain Python, for `made_graphs.py`."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

Asked = tuple[str, Callable[[], Any]]
"""A question and what computes its answer: a list of rows or of single values, a value, or None if there is
none in the graph."""


@dataclass
class Thing:
    """An entity with its values; those that are things are relations."""

    kind: str
    name: str
    values: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __hash__(self) -> int:
        return hash((self.kind, self.name or id(self)))


def turtle(
    space: str,
    things: Sequence[Thing],
    labels: dict[str, str],
    *,
    comments: Mapping[str, str] | None = None,
    bare: bool = False,
) -> str:
    """Return a graph of things; names of properties are split into words, or as `labels` has them.

    With `bare` only the things with a name, and what `labels` names, have a label.
    """
    comments = comments or {}
    lines = [
        f"@prefix : <http://example.org/{space}/> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
        "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .",
    ]
    ids = {one: f":{one.kind}{n}" for n, one in enumerate(things)}
    properties: dict[str, set[str]] = defaultdict(set)
    for one in things:
        for name in one.values:
            properties[name].add(one.kind)
    for kind in sorted({one.kind for one in things}):
        lines.append(f":{kind} a rdfs:Class{_said(kind, None if bare else kind.lower(), labels, comments)} .")
    for name, kinds in sorted(properties.items()):
        domain = f" ; rdfs:domain :{next(iter(kinds))}" if len(kinds) == 1 else ""
        said_ = _said(name, None if bare else name, labels, comments)
        lines.append(f":{name} a rdf:Property{said_}{domain} .")
    for one in things:
        said = [f"a :{one.kind}", *([f'rdfs:label "{one.name}"'] if one.name or not bare else [])]
        for name, value in one.values.items():
            for each in value if isinstance(value, list) else [value]:
                if each is not None:
                    said.append(f":{name} {ids[each] if isinstance(each, Thing) else term(each)}")
        lines.append(f"{ids[one]} {' ; '.join(said)} .")
    return "\n".join(lines) + "\n"


def _said(name: str, label: str | None, labels: Mapping[str, str], comments: Mapping[str, str]) -> str:
    label = labels.get(name, label)
    said = f' ; rdfs:label "{label}"' if label is not None else ""
    return said + (f' ; rdfs:comment "{comments[name]}"' if name in comments else "")


def term(value: Any) -> str:
    """Return a literal."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, datetime):
        return f'"{value.isoformat()}"^^xsd:dateTime'
    if isinstance(value, date):
        return f'"{value.isoformat()}"^^xsd:date'
    if len(value) == 10 and value[4] == value[7] == "-":
        return f'"{value}"^^xsd:date'
    return f'"{value}"'


def names(things: Iterable[Thing]) -> list[str]:
    """Return the names of things."""
    return sorted({t.name for t in things})


def most(counts: Mapping[Any, float], n: int = 1) -> list[Any]:
    """Return what has the highest numbers, those that tie with the last among them."""
    if not counts:
        return []
    least = sorted(counts.values(), reverse=True)[:n][-1]
    return [one for one, number in counts.items() if number >= least]


def day(rng: random.Random, first: int, last: int) -> str:
    """Return a date."""
    return f"{rng.randint(first, last)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
