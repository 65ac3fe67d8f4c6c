"""Literals whose datatype is not the declared one and whose characters are: the datatype is put right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import GraphChange
from mrag.rdf import queries
from mrag.rdf.patterns import Filter, Graph, Group, Select, TriplePattern, iri, to_data, to_sparql, var
from mrag.rdf.terms import RDFS, XSD, Triple
from mrag.reasoning.rules import Plain, TBox, outside
from mrag.stores.base import Dataset

_S, _O, _G = var("s"), var("o"), var("g")
_INTEGER, _DECIMAL = r"[+-]?\d+", r"[+-]?(\d+(\.\d*)?|\.\d+)"
_DOUBLE = rf"({_DECIMAL}([eE][+-]?\d+)?|[+-]?INF|NaN)"
_ZONE = r"(Z|[+-]\d\d:\d\d)?"
_DAY, _TIME = r"-?\d{4,}-\d\d-\d\d", r"\d\d:\d\d:\d\d(\.\d+)?"
_FORMS: dict[str, str] = {
    "decimal": _DECIMAL, "double": _DOUBLE, "float": _DOUBLE, "boolean": "true|false|0|1",
    "date": _DAY + _ZONE, "time": _TIME + _ZONE, "dateTime": f"{_DAY}T{_TIME}{_ZONE}",
    "gYear": r"-?\d{4,}" + _ZONE, "string": r"[\s\S]*", "anyURI": r"\S*",
    **dict.fromkeys(("integer", "long", "int", "short", "byte"), _INTEGER),
    **dict.fromkeys(("nonNegativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
                    r"\+?\d+"),
    "positiveInteger": r"\+?0*[1-9]\d*", "negativeInteger": r"-0*[1-9]\d*", "nonPositiveInteger": r"-\d+|0",
}  # fmt: skip
_CALENDAR = {"date", "time", "dateTime", "gYear"}


@dataclass(frozen=True)
class Repair:
    """Literals of one property that were given the declared datatype."""

    property: str
    found: str
    declared: str
    count: int
    example: str


def repair_datatypes(kg: KnowledgeGraph) -> list[Repair]:
    """Give literals the datatype that is declared for their property, where their characters fit it.

    Literals with a language tag, and those that do not fit, stay as they are. The triples as they were go to
    a graph that no query sees, and `originals` returns them.
    """
    if not kg.store.capabilities.edges:
        raise ConfigError("Datatypes are repaired in an embedded store only.", endpoint=kg.store.url)
    kg.require_writable()
    box = TBox.read(kg.store, kg.dataset("asserted"))
    out: dict[ox.Quad, None] = {}
    into: dict[ox.Quad, None] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    examples: dict[tuple[str, str, str], str] = {}
    for prop, declared in _declared(box):
        for quad, value in _misfits(kg, prop, declared):
            if quad in out:
                continue
            key = (prop.value, quad.object.datatype.value, declared.value)  # type: ignore[union-attr]  # literals
            counts[key] += 1
            examples.setdefault(key, quad.object.value)  # type: ignore[union-attr]
            out[quad] = None
            into[ox.Quad(quad.subject, prop, value, quad.graph_name)] = None
    if out:
        _land(kg, list(out), list(into))
    found = [Repair(*key, count, examples[key]) for key, count in counts.items()]
    return sorted(found, key=lambda r: (r.property, r.found, r.declared))


def fits(text: str, datatype: str) -> bool:
    """Return whether a text is in the lexical space of a datatype (XML Schema 1.1 Datatypes, section 3)."""
    name = datatype.removeprefix(XSD)
    form = _FORMS.get(name)
    if form is None or not re.fullmatch(form, text.strip()):
        return False
    if name in _CALENDAR:
        return Literal(text.strip(), datatype=URIRef(datatype)).value is not None
    return True


def originals(kg: KnowledgeGraph) -> list[Triple]:
    """Return the repaired triples as they were before, in order."""
    return sorted(kg.store.construct(queries.get("kg/graph").text, Dataset((kg.originals,))))


# -- inside --------------------------------------------------------------------------------------------


def _declared(box: TBox) -> Iterator[tuple[ox.NamedNode, ox.NamedNode]]:
    """Yield properties with the datatype that is declared for them, or for one that they are a kind of."""
    ranges = [(s, o) for s, o in box.triples.get(RDFS + "range", []) if isinstance(o, ox.NamedNode)]
    below: dict[Plain, list[ox.NamedNode]] = {}
    for s, o in box.triples.get(RDFS + "subPropertyOf", []):
        below.setdefault(o, []).append(s)
    for start, datatype in ranges:
        if datatype.value.removeprefix(XSD) not in _FORMS or not datatype.value.startswith(XSD):
            continue
        todo, seen = [start], {start}
        while todo:
            prop = todo.pop()
            yield prop, datatype
            fresh = [p for p in below.get(prop, []) if p not in seen]
            seen.update(fresh)
            todo += fresh


def _misfits(
    kg: KnowledgeGraph, prop: ox.NamedNode, declared: ox.NamedNode
) -> Iterator[tuple[ox.Quad, ox.Literal]]:
    """Yield the quads whose literal is of another datatype, and the literal that it should be."""
    test = outside(declared, _O)
    if test is None:
        return
    # What named graphs of clients hold is theirs.
    graphs = tuple(g for g in kg.record.asserted if g != kg.record.merged)
    atom = Graph(_G, TriplePattern(_S, prop, _O))
    text = to_sparql(Select((_S, _O, _G), Group((atom, Filter(test))), order_by=(_G, _S, _O)))
    for s, o, g in kg.store.select(text, Dataset((), graphs)):
        if isinstance(o, Literal) and not o.language and fits(str(o), declared.value):
            old = ox.Literal(str(o), datatype=iri(str(o.datatype or XSD + "string")))
            white = str(o) if declared.value == XSD + "string" else str(o).strip()
            yield ox.Quad(iri(str(s)), prop, old, iri(str(g))), ox.Literal(white, datatype=declared)


def _land(kg: KnowledgeGraph, out: list[ox.Quad], into: list[ox.Quad]) -> None:
    """Exchange the literals in one transaction, and keep the triples as they were."""
    kept = iri(kg.originals)
    record = kg.record
    copies = [ox.Quad(q.subject, q.predicate, q.object, kept) for q in out]
    if record.followed:
        revision = record.revision + 1
        came = record.came or (f"{kg.iri}:came:{revision}",)
        removed = record.removed or (f"{kg.iri}:removed:{revision}",)
        copies += [ox.Quad(q.subject, q.predicate, q.object, iri(came[-1])) for q in into]
        copies += [ox.Quad(q.subject, q.predicate, q.object, iri(removed[-1])) for q in out]
        record = replace(record, came=came, removed=removed)
    elif record.inferred:
        record = record.without_inferences()
    out += [
        ox.Quad(q.subject, q.predicate, q.object, iri(g))
        for q in into
        for g in (*record.inferred, *(a for a in record.asserted if a != str(q.graph_name.value)))  # type: ignore[union-attr]
    ]
    after = replace(record, revision=kg.record.revision + 1, pending="")
    kg.commit(after, to_data(out, [*into, *copies]), change=GraphChange("repair"))
    kg.commit(replace(kg.record, triples=kg.counted(), inferences=-1), changed=False)
