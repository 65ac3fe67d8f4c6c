"""Comfort of queries and proofs: columns in order, plain numbers, portable casts, names in place of IRIs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mrag
from mrag.errors import QueryRefused
from mrag.stores.base import SelectResult
from tests.cases import cases
from tests.commands import run

E = "http://e.example/"
DATA = f"""
@prefix e: <{E}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
e:Chair rdfs:subClassOf e:Seat .
e:throne a e:Chair ; rdfs:label "Iron Throne" ; e:price 10 ; e:weight 12.50 ; e:old true ;
  e:made "1200-01-01"^^xsd:date ; e:bad "ten"^^xsd:integer .
e:stool a e:Seat ; rdfs:label "Milking Stool" . e:other a e:Seat ; rdfs:label "milking stool" .
e:BarStool a e:Chair .
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comfort")
    (folder / "a.ttl").write_text(DATA, encoding="utf-8")
    assert run("load", "a.ttl", cwd=folder).returncode == 0
    return folder


@pytest.mark.parametrize(("pattern", "columns"), cases(__file__, "a_star_keeps_the_order_of_the_query"))
def test_a_star_keeps_the_order_of_the_query(pattern: str, columns: str) -> None:
    with mrag.connect() as kg:
        found = kg.query(f"SELECT * {{ {pattern} }}")
        assert isinstance(found, SelectResult) and list(found.variables) == columns.split()


@settings(deadline=None, max_examples=20)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=3, unique=True))
def test_the_columns_are_those_of_the_triple(names: list[str]) -> None:
    with mrag.connect() as kg:
        found = kg.query(
            f"SELECT DISTINCT * {{ {' '.join('?' + name for name in names)} }} ORDER BY ?{names[2]}"
        )
        assert isinstance(found, SelectResult) and list(found.variables) == names


def test_numbers_are_printed_as_numbers(home: Path) -> None:
    rows = run(
        "query", f"SELECT * {{ <{E}throne> ?p ?o FILTER(isLiteral(?o)) }} ORDER BY ?p", cwd=home
    ).stdout
    cells = dict(line.split("\t") for line in rows.splitlines()[1:])
    assert cells["e:price"] == "10" and cells["e:weight"] in ("12.5", "12.50")
    assert cells["e:bad"].startswith('"ten"^^') and cells["e:made"].startswith('"1200-01-01"^^')


@pytest.mark.parametrize(("cast", "portable"), [("int", "integer"), ("byte", "integer"), ("token", "string")])
def test_a_cast_that_is_missing_names_the_portable_one(cast: str, portable: str) -> None:
    with mrag.connect() as kg, pytest.raises(QueryRefused, match=f"no cast to xsd:{cast}") as caught:
        kg.query(f'SELECT (xsd:{cast}("3") AS ?i) {{}}')
    assert f"xsd:{portable}" in str(caught.value)


@pytest.mark.parametrize(
    "text", cases(__file__, "a_query_that_cannot_be_read_is_told_in_a_sentence_with_its_place")
)
def test_a_query_that_cannot_be_read_is_told_in_a_sentence_with_its_place(text: str) -> None:
    with mrag.connect() as kg, pytest.raises(QueryRefused, match=r"at line 1, column \d+\.") as caught:
        kg.query(text)
    assert "Exception" not in caught.value.message and "Parse" not in caught.value.message


@pytest.mark.parametrize("name", ["Iron Throne", "iron throne", "e:throne", f"{E}throne"])
def test_things_are_explained_by_label_curie_and_iri(home: Path, name: str) -> None:
    done = run("explain", name, cwd=home)
    assert done.returncode == 0 and "Seat" in done.stdout


def test_proofs_of_triples_by_name(home: Path) -> None:
    assert run("explain", "Iron Throne", "rdf:type", "Seat", cwd=home).returncode == 0
    assert "Seat" in run("explain", "BarStool", cwd=home).stdout
    assert "Seat" in run("explain", "Bar Stool", cwd=home).stdout


@pytest.mark.parametrize(("name", "said"), cases(__file__, "what_cannot_be_explained_is_told_apart"))
def test_what_cannot_be_explained_is_told_apart(home: Path, name: str, said: str) -> None:
    done = run("explain", name, cwd=home)
    assert done.returncode == 1 and said in done.stderr
