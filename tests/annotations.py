"""The triples that a file of annotations stands for, in each graph, by templates of Turtle in a table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyoxigraph as ox

Data = dict[str, list[dict[str, Any]]]
HEAD = """@base <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
ROWS = [row.split("\t") for row in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()[1:]]
FORMS: dict[str, Callable[[Any], object]] = {
    "": lambda value: value, "text": ox.Literal, "en": lambda value: ox.Literal(value, language="en"),
    "double": lambda value: f'"{float(value)}"^^xsd:double',
    "name": lambda value: quote(value.replace(" ", "_"), safe=",()"),
}  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """A value, written in a template as `{value:form}`, or `{value[key]:form}` of a row."""

    value: Any

    def __format__(self, form: str) -> str:
        return str(FORMS[form](self.value))

    def __getitem__(self, key: str) -> "Shown":
        return Shown(self.value[key])


def rows_of(data: Data, section: str) -> Iterator[dict[str, Any]]:
    """Give the rows of a section: annotations with their category, and as pairs with each attribute."""
    if section not in ("annotations", "pairs"):
        yield from data.get(section) or ()
        return
    categories, attributes = ({row["id"]: row for row in data[s]} for s in ("categories", "attributes"))
    for row in data["annotations"]:
        whole = {**row, "category": categories[row["category_id"]]}
        numbers = row.get("attribute_ids", []) if section == "pairs" else [None]
        yield from ({**whole, "attribute": attributes.get(number)} for number in numbers)


def holds(row: dict[str, Any], condition: str) -> bool:
    """Tell whether a row has a field, lacks it, was given it, or its category or attribute has it."""
    match condition.split():
        case ["no", field]:
            return not row.get(field)
        case [field, "given"]:
            return row.get(field) is not None
        case [part, field]:
            return bool(row[part].get(field))
        case [field]:
            return bool(row.get(field))
    return True


def expected(data: Data, graph: str) -> set[ox.Triple]:
    """Return the triples of a graph: `plain` as they are loaded, or a view without its sentences."""
    lines = [HEAD]
    for of, section, condition, template in ROWS:
        rows = [row for row in rows_of(data, section) if of == graph and holds(row, condition)]
        lines += [template.format_map({key: Shown(value) for key, value in row.items()}) for row in rows]
    return {quad.triple for quad in ox.parse("\n".join(lines), ox.RdfFormat.TURTLE)}
