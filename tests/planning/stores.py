"""The stores that plans are compared on, each with the three graphs, and how rows are compared."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rdflib import RDF, XSD, Literal

from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Plan
from mrag.planning.run import run
from mrag.planning.schema import ClassInfo, PropertyInfo, Schema
from mrag.planning.values import Cell, Cells
from mrag.rdf.terms import Term, Triple
from tests.planning.graphs import CLASSES, GRAPHS
from tests.planning.interpreter import evaluate
from tests.servers import server_of

_PLAIN = {str(XSD.date): r"\d{4}-\d\d-\d\d", str(XSD.dateTime): r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"}


_TOLD = 100_000
"""How much larger the graphs are said to be than they are, so that large ones are compared, too."""


def known(triples: frozenset[Triple]) -> Schema:
    """Tell what holds of all triples of each property."""
    types, said = defaultdict[Term, set[str]](set), defaultdict[str, list[Triple]](list)
    for triple in triples:
        if triple.p == RDF.type:
            types[triple.s].add(str(triple.o))
        said[str(triple.p)].append(triple)
    sets = [(str(c),) for c in CLASSES] + [tuple(map(str, CLASSES))]

    def hold(things: list[Term]) -> tuple[tuple[str, ...], ...]:
        return tuple(some for some in sets if all(types[thing] & {*some} for thing in things))

    def about(p: str, mine: list[Triple]) -> PropertyInfo:
        texts = [t.o for t in mine if isinstance(t.o, Literal)]
        kinds = {str(o.datatype or XSD.string) for o in texts} | {"" for t in mine if t.o not in texts}
        plain = _PLAIN.get(min(kinds)) if len(kinds) == 1 else None
        return PropertyInfo(
            p, (p,), triples=_TOLD * len(mine), subjects=_TOLD * len({t.s for t in mine}),
            objects=_TOLD * len({t.o for t in mine}), datatype=min(kinds), datatypes=tuple(sorted(kinds)),
            plain_dates=plain is not None and all(re.fullmatch(plain, str(o)) for o in texts),
            subjects_in=hold([t.s for t in mine]), objects_in=hold([t.o for t in mine]),
        )  # fmt: skip

    members = Counter(c for some in types.values() for c in some)
    classes = {c: ClassInfo(c, (c,), count=_TOLD * n) for c, n in members.items()}
    return Schema(
        classes, {p: about(p, mine) for p, mine in said.items()}, (), triples=_TOLD * len(triples), exact=True
    )


SCHEMAS = {name: known(triples) for name, triples in GRAPHS.items()}  # What is known of each graph
_NUMERIC = {XSD.integer, XSD.decimal, XSD.double, XSD.float}


@contextmanager
def graphs(kind: str, folder: Path) -> Iterator[dict[str, KnowledgeGraph]]:
    """Give the three graphs in a store of a kind."""
    with ExitStack() as stack:
        url = "oxigraph:" if kind == "embedded" else stack.enter_context(server_of(kind.split()[0], folder))
        found = {}
        for name, triples in GRAPHS.items():
            store, _ = open_store(url)
            found[name] = stack.enter_context(KnowledgeGraph(store, name))
            found[name].insert(triples)
        yield found


def value(cell: Cell) -> object:
    """What a cell says, however a store spells it."""
    if not isinstance(cell, Literal):
        return cell
    if cell.datatype in _NUMERIC:
        return float(f"{float(cell):.9g}")
    return (str(cell), cell.language or "", str(cell.datatype or XSD.string))


def agree(kg: KnowledgeGraph, name: str, plan: Plan) -> None:
    """Hold a store to the interpreter."""
    wanted = evaluate(plan, GRAPHS[name])
    found = run(kg, plan, schema=SCHEMAS[name])
    if plan.yes_or_no:
        assert found.holds == bool(wanted), found.query
        return
    assert not found.truncated

    def values(rows: tuple[Cells, ...] | list[Cells]) -> list[tuple[object, ...]]:
        return [tuple(map(value, row)) for row in rows]

    assert values(found.rows) == values(wanted), (found.rows, found.query)
