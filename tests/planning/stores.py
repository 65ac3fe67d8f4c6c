"""The stores that plans are compared on, each with the three graphs, and how rows are compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rdflib import Literal
from rdflib.namespace import XSD

from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.algebra.cells import Cell, Cells
from mrag.planning.interpreter import evaluate
from mrag.planning.plan import Plan
from mrag.planning.run import run
from mrag.planning.schema import PropertyInfo, Schema
from tests.planning.graphs import GRAPHS, SIZE
from tests.servers import oxigraph_server, virtuoso_server

SCHEMA = Schema(
    {}, {str(SIZE): PropertyInfo(str(SIZE), ("size",), kind="number", datatype=str(XSD.integer))}, ()
)
"""What is known of the clean graph."""

_NUMERIC = {XSD.integer, XSD.decimal, XSD.double, XSD.float}


@contextmanager
def graphs(kind: str, folder: Path) -> Iterator[dict[str, KnowledgeGraph]]:
    """Give the three graphs in a store of a kind."""
    with ExitStack() as stack:
        url = "oxigraph:"
        if kind == "oxigraph server":
            url = stack.enter_context(oxigraph_server(folder, memory=True, seconds=20))
        elif kind == "virtuoso":
            address = stack.enter_context(virtuoso_server(folder)).removeprefix("virtuoso:http://")
            url = f"virtuoso:http://dba:dba@{address}"
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
    found = run(kg, plan, schema=SCHEMA if name == "clean" else None)
    if plan.yes_or_no:
        assert found.holds == bool(wanted), found.query
        return
    assert not found.truncated

    def values(rows: tuple[Cells, ...] | list[Cells]) -> list[tuple[object, ...]]:
        return [tuple(map(value, row)) for row in rows]

    assert values(found.rows) == values(wanted), (found.rows, found.query)
