"""Which kinds of files hold scene graphs and captions, and their records in one shape.

| file | shape |
|---|---|
| an array, or a record to a line | records as `SceneGraphs` describes them |
| GQA's scene graphs | an object: image to its graph, whose objects are an object too |
| COCO's captions | an object with the sections `images` and `annotations` |
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

from mrag.loaders._records import JsonText, whole

Shape: TypeAlias = Literal["records", "graphs", "captions", "annotations"]
"""`annotations` are those of Fashionpedia, which are no scene graphs."""

RECORD_KEYS = ("image_id", "doc_id", "region_id", "id")
_SECTIONS = ("info", "licenses", "images", "annotations", "categories", "attributes", "type")


def shape_of(path: str | Path) -> Shape:
    """Return how a file is made, by as little of it as tells.

    Raises:
        LoadError: If there is no such file, or it is not JSON.
    """
    with JsonText(path) as source:
        if source.blank() or source.peek() != "{":
            return "records"
        for name in source.fields():
            if name in RECORD_KEYS:
                return "records"
            if name == "annotations":
                first = next(source.items(), None) if source.peek() == "[" else None
                return "captions" if isinstance(first, dict) and "caption" in first else "annotations"
            if name in ("categories", "attributes"):
                return "annotations"
            if name in _SECTIONS:
                source.skip()
                continue
            value = source.value()
            return (
                "graphs"
                if isinstance(value, dict) and ("objects" in value or "width" in value)
                else "records"
            )
    return "annotations"


def rows(source: JsonText, shape: Shape) -> Iterator[Any]:
    """Yield the records of a file.

    Args:
        source: The file, at its beginning.
        shape: What `shape_of` gave.

    Raises:
        BrokenJson: If it is not JSON.
    """
    if shape in ("records", "annotations"):
        yield from source.records()
        return
    for name in source.fields():
        if shape == "graphs":
            yield _graph(name, source.value())
        elif name in ("images", "annotations") and source.peek() == "[":
            for row in source.items():
                yield _caption(row) if name == "annotations" else row
        else:
            source.skip()
    if not source.blank():
        raise source.broken("something follows the last brace")


def _caption(row: Any) -> Any:
    """Return a caption of COCO as that of a region, one for each, so that equal ones are told apart."""
    if not isinstance(row, dict) or "id" not in row:
        return row
    return {"image_id": row.get("image_id"), "region_id": row["id"], "caption": row.get("caption")}


def _graph(image: str, graph: Any) -> Any:
    """Return a graph of GQA as a record of Visual Genome."""
    if not isinstance(graph, dict):
        return graph
    found = graph.get("objects")
    things = found if isinstance(found, dict) else {}
    objects, relations = [], []
    for name, thing in things.items():
        number = _number(name)
        if not isinstance(thing, dict):
            objects.append(thing)
            continue
        objects.append({**thing, "object_id": number})
        told = thing.get("relations") or []
        # What is no relation is told as one that lacks its parts.
        for relation in told if isinstance(told, list) else [told]:
            end = relation if isinstance(relation, dict) else {}
            relations.append(
                {"predicate": end.get("name"), "subject_id": number, "object_id": _number(end.get("object"))}
            )
    return {**graph, "image_id": image, "objects": objects, "relationships": relations}


def _number(name: Any) -> int | None:
    if whole(name):
        return name
    return int(name) if isinstance(name, str) and name.isascii() and name.isdigit() else None
