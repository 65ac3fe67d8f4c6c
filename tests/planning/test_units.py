"""Numbers in texts: with units, with currencies, and in several of them."""

from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rdflib import Literal, URIRef

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.planning.compiler import to_sparql
from mrag.planning.plan import Block, Column, Number, Pattern, Plan, Unknown
from mrag.planning.profiling import schema_of
from mrag.rdf.terms import Triple
from tests.planning.interpreter import number_in
from tests.planning.questions import loaded

SPACE = "http://shop.example/"


@pytest.fixture(scope="module")
def shop() -> Iterator[KnowledgeGraph]:
    with loaded("parcels") as kg:
        yield kg


@pytest.mark.parametrize(
    ("question", "units"),
    [
        ("What is the total weight of the parcels?", "g, kg"),
        ("What is the average duty?", "EUR, USD"),
        ("Which parcel has the highest duty?", "EUR, USD"),
    ],
)
def test_several_units_are_neither_added_nor_compared(
    shop: KnowledgeGraph, question: str, units: str
) -> None:
    attempt = compute(shop, question)
    assert not attempt.sure and attempt.answer is None
    assert attempt.why.endswith(f"is told in several units, which are not converted: {units}")


def test_a_unit_that_comes_is_noticed(tmp_path: Path) -> None:
    place = f"oxigraph:{tmp_path / 'store'}"
    with mrag.connect(place) as kg:
        kg.insert(
            Triple(URIRef(f"{SPACE}p{n}"), URIRef(f"{SPACE}load"), Literal(f"{n} kg")) for n in range(1, 5)
        )
        assert schema_of(kg).properties[f"{SPACE}load"].units == ("kg",)
        kg.insert([Triple(URIRef(f"{SPACE}p9"), URIRef(f"{SPACE}load"), Literal("9 g"))])
        info = schema_of(kg).properties[f"{SPACE}load"]
        assert (info.kind, info.units) == ("text", ("g", "kg"))


@given(
    st.from_regex(
        r"\A\s?[-+]?(US)?[$€£]?\s?[0-9]{0,4}([.,][0-9]{0,4}){0,2}(e[-+]?[0-9])?\s?[a-z°/%-]{0,3}[0-9]?\Z"
    )
    | st.from_regex(r"\AP([0-9]{1,2}D)?(T([0-9]{1,2}H)?([0-9]{1,2}M)?([0-9]{1,2}(\.[0-9])?S)?)?\Z")
)
@example("0\x1f")
@example("5\u00a0kg")
@settings(max_examples=300, deadline=None)
def test_numbers_are_read_alike_by_query_and_interpreter(text: str) -> None:
    thing, size, p = Unknown("thing"), Unknown("size"), URIRef(f"{SPACE}load")
    store = ox.Store()
    store.add(ox.Quad(ox.NamedNode(f"{SPACE}x"), ox.NamedNode(str(p)), ox.Literal(text)))
    query = to_sparql(Plan(Block((Pattern(thing, p, size),)), (Column(Number(size), "n"),)))
    values = [row["n"] for row in store.query(query)]  # type: ignore[union-attr, attr-defined]
    assert [float(v.value) for v in values if v is not None] == [
        n for n in [number_in(text)] if n is not None
    ]
