"""The lines of a context as an answer records them, in JSON and made fit to be cited."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mrag import untrusted
from mrag.context.render import Context, Line
from mrag.errors import ModelError, TermError
from mrag.rdf.terms import Triple, triple_from_json, triple_to_json


def recorded(context: Context) -> Context:
    """Return a context as an answer records it: what is cited, each text made fit for its one line."""
    kept = tuple(
        Line(
            line.id,
            untrusted.shown(line.text),
            Triple(*line.triple),
            str(line.graph),
            bool(line.inferred),
            (str(line.labels[0]), str(line.labels[1]), str(line.labels[2])),
            str(line.entity),
            float(line.score) if math.isfinite(line.score) else 0.0,  # JSON has no NaN
            named=tuple(map(str, line.named)),
        )
        for line in context.lines
    )
    return Context(kept, tuple(str(entity) for entity in context.entities), cut=context.cut)


def line_to_json(line: Line) -> dict[str, Any]:
    """Return a recorded line as JSON values."""
    return {
        "id": line.id,
        "text": line.text,
        "triple": triple_to_json(line.triple),
        "graph": line.graph,
        "inferred": line.inferred,
        "labels": list(line.labels),
        "entity": line.entity,
        "score": line.score,
        "named_graphs": list(line.named),
    }


def context_to_json(context: Context) -> dict[str, Any]:
    """Return a recorded context as JSON values."""
    return {"entities": list(context.entities), "lines": [line_to_json(line) for line in context.lines]}


def context_from_json(value: Mapping[str, Any]) -> Context:
    """Read a context written by `context_to_json`.

    Raises:
        ModelError: If a field is missing or of another type.
    """
    try:
        lines = tuple(line_from_json(line) for line in value["lines"])
        return Context(lines, tuple(str(entity) for entity in value["entities"]))
    except (KeyError, TypeError, ValueError, AttributeError, TermError) as error:
        raise ModelError("Not the context of a recorded answer.", term=repr(value)[:200]) from error


def line_from_json(value: Mapping[str, Any]) -> Line:
    """Read a line written by `line_to_json`; what is wrong with it is an error of several kinds."""
    s, p, o = (str(label) for label in value["labels"])
    return Line(
        id=str(value["id"]),
        text=str(value["text"]),
        triple=triple_from_json(value["triple"]),
        graph=str(value["graph"]),
        inferred=bool(value["inferred"]),
        labels=(s, p, o),
        entity=str(value.get("entity", "")),
        score=float(value.get("score", 0.0)),
        named=tuple(map(str, value.get("named_graphs", ()))),
    )
