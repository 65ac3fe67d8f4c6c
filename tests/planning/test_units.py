"""Numbers in texts: with units, with currencies, and in several of them."""

from __future__ import annotations

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
from mrag.planning.values import number_in
from mrag.rdf.terms import Triple

SPACE = "http://shop.example/"
SHOP = f"""
@prefix : <{SPACE}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Parcel a rdfs:Class ; rdfs:label "parcel" .
:Ash a :Parcel ; rdfs:label "Ash" ; :handlingTime "PT15M" ;
  :weight "500 g" ; :fee "$9.99" ; :load "2 kg" ; :duty "5 EUR" .
:Birch a :Parcel ; rdfs:label "Birch" ; :handlingTime "PT2H" ;
  :weight "2 kg" ; :fee "$12.50" ; :load "0.4 kg" ; :duty "4 USD" .
:Cedar a :Parcel ; rdfs:label "Cedar" ; :handlingTime "PT1H" ;
  :weight "1.2 kg" ; :fee "$ 7" ; :load ".5 kg" ; :duty "9 EUR" .
:Elm a :Parcel ; rdfs:label "Elm" ; :handlingTime "PT0M" ;
  :weight "750 g" ; :fee "$1,100.00" ; :load "1 kg" ; :duty "1 EUR" .
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path = tmp_path_factory.mktemp("shop") / "shop.ttl"
    path.write_text(SHOP, encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the average fee?", ["$282.3725"]),
        ("Which parcels have a fee below 10?", ["Ash", "Cedar"]),
        ("Which parcel has the highest fee?", ["Elm"]),
        ("What is the total load?", ["3.9 kg"]),
        ("What is the load of Ash?", ["2 kg"]),
        ("How much more load does Ash have than Elm?", ["1 kg"]),
        ("How many parcels are there?", ["4"]),
        ("Which parcel has the longest handling time?", ["Birch"]),
        ("Which parcels have a handling time below 20 minutes?", ["Ash", "Elm"]),
        ("What is the average handling time?", ["48 min 45 s"]),
        ("What is the handling time of Birch?", ["2 h"]),
        ("Which parcels have a load of more than 450 g?", ["Ash", "Cedar", "Elm"]),
        ("Which parcels have a load of less than 1 kg?", ["Birch", "Cedar"]),
        ("What is the weight of Ash?", ["500 g"]),
    ],
)
def test_one_unit_is_computed_with(shop: KnowledgeGraph, question: str, expected: list[str]) -> None:
    answer = compute(shop, question).answer
    assert answer is not None and answer.computed is not None
    assert sorted(row[0].label or row[0].value for row in answer.computed.rows) == expected


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
