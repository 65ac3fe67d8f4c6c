"""SHACL shapes that must hold for what is written back, checked by pySHACL (extra `completion`).

Of a large graph only the part that the statements touch is checked: the entities that they speak of with
their triples, and the classes above those. What the shapes find fault with there before is no fault of
theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import rdflib
from rdflib import SH, Graph, URIRef

from mrag.completion.writeback.runs import Statement
from mrag.completion.writeback.schema import SchemaFacts
from mrag.errors import ConfigError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.redaction import brief

_MAX_TRIPLES: Final = 20_000
Key = tuple[str, str, str]


def read_shapes(path: Path) -> Graph:
    """Read a file of shapes in Turtle or another format that rdflib knows by its ending.

    Raises:
        ConfigError: If pySHACL is not installed.
        LoadError: If the file cannot be read, or is not well formed.
    """
    if find_spec("pyshacl") is None:
        raise ConfigError("Shapes need pySHACL.", hint="Install it with: pip install 'mrag[completion]'")
    try:
        return Graph().parse(path)
    except Exception as error:  # each parser has its own errors
        what = brief(str(error), 200)
        raise LoadError(f"The shapes cannot be read: {what}.", file=str(path)) from error


def all_shapes(path: Path | None, texts: Sequence[str] = ()) -> Graph:
    """Return the shapes of a file and of some texts in Turtle together.

    Raises:
        ConfigError: If pySHACL is not installed.
        LoadError: If they cannot be read.
    """
    if find_spec("pyshacl") is None:
        raise ConfigError("Shapes need pySHACL.", hint="Install it with: pip install 'mrag[completion]'")
    shapes = read_shapes(path) if path is not None else Graph()
    for text in texts:
        # Parsed apart: blank nodes of two texts are not the same.
        shapes += Graph().parse(data=text, format="turtle")
    return shapes


def violations(kg: KnowledgeGraph, statements: Sequence[Statement], shapes: Graph) -> dict[Key, str]:
    """Return which statements break a shape, and how, by what they are sorted by.

    Args:
        kg: The knowledge graph.
        statements: What would be written.
        shapes: The shapes.

    Raises:
        ConfigError: If pySHACL is not installed.
    """
    entities = sorted({t for one in statements for t in (one.subject, one.object) if isinstance(t, URIRef)})
    data = _around(kg, entities)
    before = results(data, shapes)
    faults: dict[Key, str] = {}
    for one in sorted(statements, key=lambda s: (-s.confidence, s.key)):
        data.add(one.triple)
        fresh = sorted(results(data, shapes) - before)
        if fresh:
            faults[one.key] = f"it breaks a shape: {fresh[0][1]}"
            data.remove(one.triple)
    return faults


def results(data: Graph, shapes: Graph) -> set[tuple[str, str]]:
    """Return the violations of some shapes in some data: focus node and message.

    Raises:
        ConfigError: If pySHACL is not installed.
    """
    if find_spec("pyshacl") is None:
        raise ConfigError("Shapes need pySHACL.", hint="Install it with: pip install 'mrag[completion]'")
    from pyshacl import validate

    report: Any
    _, report, _ = validate(data, shacl_graph=shapes, inference="none", advanced=False)
    found = set()
    for result in report.subjects(rdflib.RDF.type, SH.ValidationResult):
        if report.value(result, SH.resultSeverity) == SH.Violation:
            messages = sorted(str(m) for m in report.objects(result, SH.resultMessage))
            focus = report.value(result, SH.focusNode)
            found.add((str(focus), f"{'; '.join(messages) or 'a constraint is violated'}"))
    return found


def _around(kg: KnowledgeGraph, entities: Sequence[str]) -> Graph:
    data = Graph()
    for text in queries.get("completion/check-about").batches("entity", entities, 100, limit=_MAX_TRIPLES):
        for s, p, o in kg.select(text):
            if s is not None and p is not None and o is not None:
                data.add((s, p, o))
    classes = sorted({str(c) for c in data.objects(None, rdflib.RDF.type) if isinstance(c, URIRef)})
    for low, highs in SchemaFacts(kg).read_above(classes).items():
        for high in sorted(highs - {low}):
            data.add((URIRef(low), rdflib.RDFS.subClassOf, URIRef(high)))
    return data
