"""What is known of a graph, kept beside its similarity index for the next process.

It belongs to one state of the graph: for another it is not read. What is damaged counts as not there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.errors import IndexError_
from mrag.graph.kg import KnowledgeGraph
from mrag.index.backends.base import home
from mrag.planning.schema import ClassEdge, ClassInfo, PropertyInfo, Schema
from mrag.storage.arrays import Arrays
from mrag.storage.folder import Committed, Folder, Kind

_KIND: Final = Kind("lexicon", 7, "It is built anew when a question is next asked; or delete its folder.")


def kept(kg: KnowledgeGraph) -> Arrays | None:
    """Return the arrays that were kept for the present state of a graph, None if there are none."""
    found = _read(kg, lambda about: about == _state(kg))
    return None if found is None else found[1]


def kept_before(kg: KnowledgeGraph) -> tuple[int, Arrays] | None:
    """Return the arrays that were kept for an earlier state of a graph, with its revision; None for none."""
    now = _state(kg)

    def earlier(about: Mapping[str, Any]) -> bool:
        revision = about.get("revision")
        return isinstance(revision, int) and revision < kg.revision and {**now, "revision": revision} == about

    return _read(kg, earlier)


def _read(kg: KnowledgeGraph, fits: Callable[[Mapping[str, Any]], bool]) -> tuple[int, Arrays] | None:
    if (folder := _folder(kg)) is None:
        return None
    with suppress(IndexError_):

        def read(found: Committed) -> tuple[int, Arrays] | None:
            if not fits(found.about):
                return None
            (name,) = found.files
            # All of it is read now, so that what is damaged is found before it is used.
            return found.about["revision"], dict(folder.opened(name, found))

        return folder.load(read)
    return None


def keep(kg: KnowledgeGraph, arrays: Arrays, revision: int) -> None:
    """Keep arrays for a state of a graph, unless it has changed meanwhile or cannot be written beside.

    Args:
        kg: The knowledge graph.
        arrays: The arrays.
        revision: The revision of the graph that they were made from.
    """
    folder = _folder(kg)
    if folder is None or not kg.keeps_counts or kg.revision != revision:
        return
    # It is kept for the next time only: a question can be answered where nothing can be written.
    with suppress(IndexError_), folder.locked(), folder.refusals():
        generation = folder.next_generation()
        name = f"segment-{generation:08d}.seg"
        files = {name: folder.write(name, arrays)}
        folder.commit(Committed(generation, files, _state(kg)))
        folder.sweep(files)


def schema_array(schema: Schema) -> npt.NDArray[np.uint8]:
    """Return a schema as an array to keep."""
    return np.frombuffer(json.dumps(asdict(schema), sort_keys=True).encode(), np.uint8)


def schema_of_array(array: npt.NDArray[np.uint8]) -> Schema:
    """Return the schema in an array of `schema_array`.

    Example:
        >>> edges = (ClassEdge("urn:c", "p", "", 1),)
        >>> schema = Schema({"urn:c": ClassInfo("urn:c", ("c",), count=2)}, {}, edges)
        >>> schema_of_array(schema_array(schema)) == schema
        True
    """
    found: dict[str, Any] = json.loads(array.tobytes())
    return Schema(
        {c: ClassInfo(**_tuples(info)) for c, info in found["classes"].items()},
        {p: PropertyInfo(**_tuples(info)) for p, info in found["properties"].items()},
        tuple(ClassEdge(**edge) for edge in found["edges"]),
        tuple(found["label_properties"]),
        found["triples"],
        found["exact"],
    )


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: _tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def _tuple(values: list[Any]) -> tuple[Any, ...]:
    return tuple(_tuple(value) if isinstance(value, list) else value for value in values)


def _folder(kg: KnowledgeGraph) -> Folder | None:
    place = home(kg)
    # Of a graph without a record of its own nobody can tell whether it is what it was.
    return Folder(place.parent / "lexicon", _KIND) if place is not None and kg.record.kept else None


def _state(kg: KnowledgeGraph) -> dict[str, Any]:
    return {"kg": kg.iri, "revision": kg.revision, "languages": list(kg.languages)}
