"""Tables to RDF by a mapping: every value becomes text or an encoded part of an IRI, and never syntax."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders._mapping import read_mapping
from mrag.loaders.tabular import Table

PREFIXES = """
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix tab: <https://w3id.org/mrag/table#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <http://example.org/> .
"""
MAPPING = """
:Shops a rr:TriplesMap ;
  rml:logicalSource [ rml:source "shops.csv" ] ;
  rr:subjectMap [ rr:template "http://example.org/shop/{city}/{name}" ; rr:class :Shop , :Place ] ;
  rr:predicateObjectMap [ rr:predicate :name ; rr:objectMap [ rml:reference "name" ; rr:language "en" ] ] ;
  rr:predicateObjectMap [ rr:predicate :sells ; rr:objectMap [ rml:reference "goods" ; tab:separator ";" ] ] ;
  rr:predicateObjectMap [ rr:predicate :founded ;
    rr:objectMap [ rml:reference "year" ; rr:datatype xsd:integer ; tab:null "n/a" , "?" ] ] ;
  rr:predicateObjectMap [ rr:predicate :site ; rr:objectMap [ rml:reference "url" ; rr:termType rr:IRI ] ] ;
  rr:predicateObjectMap [ rr:predicate :says ;
    rr:objectMap [ rr:template "{name} in {city} \\\\{x\\\\}" ; rr:termType rr:Literal ] ] ;
  rr:predicateObjectMap [ rr:predicate :kind ; rr:object "shop" , :Thing ] .
"""
ROWS = [
    {"name": "A & B", "city": "Köln", "goods": "coats; hats ;;", "year": "1999", "url": "http://a.example/"},
    {"name": 'C "d"', "city": "x/y", "goods": "", "year": "n/a", "url": ""},
]


def mapped(folder: Path, text: str = MAPPING) -> Path:
    path = folder / "m.ttl"
    path.write_text(PREFIXES + text)
    return path


def delimited(rows: list[dict[str, Any]], delimiter: str) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def table(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    plain = name.removesuffix(".gz")
    text = {
        ".csv": lambda: "\ufeff" + delimited(rows, ","),
        ".tsv": lambda: delimited(rows, "\t"),
        ".json": lambda: json.dumps(rows),
        ".jsonl": lambda: "\n".join(map(json.dumps, rows)),
    }[Path(plain).suffix]()
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name != plain else text.encode())
    return path


E = "http://example.org/"
EXPECTED = {
    f"<{E}shop/K%C3%B6ln/A%20%26%20B> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{E}Shop>",
    f"<{E}shop/K%C3%B6ln/A%20%26%20B> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{E}Place>",
    f'<{E}shop/K%C3%B6ln/A%20%26%20B> <{E}name> "A & B"@en',
    f'<{E}shop/K%C3%B6ln/A%20%26%20B> <{E}sells> "coats"',
    f'<{E}shop/K%C3%B6ln/A%20%26%20B> <{E}sells> "hats"',
    f'<{E}shop/K%C3%B6ln/A%20%26%20B> <{E}founded> "1999"^^<http://www.w3.org/2001/XMLSchema#integer>',
    f"<{E}shop/K%C3%B6ln/A%20%26%20B> <{E}site> <http://a.example/>",
    f'<{E}shop/K%C3%B6ln/A%20%26%20B> <{E}says> "A & B in Köln {{x}}"',
    f'<{E}shop/K%C3%B6ln/A%20%26%20B> <{E}kind> "shop"',
    f"<{E}shop/K%C3%B6ln/A%20%26%20B> <{E}kind> <{E}Thing>",
    f"<{E}shop/x%2Fy/C%20%22d%22> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{E}Shop>",
    f"<{E}shop/x%2Fy/C%20%22d%22> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{E}Place>",
    f'<{E}shop/x%2Fy/C%20%22d%22> <{E}name> "C \\"d\\""@en',
    f'<{E}shop/x%2Fy/C%20%22d%22> <{E}says> "C \\"d\\" in x/y {{x}}"',
    f'<{E}shop/x%2Fy/C%20%22d%22> <{E}kind> "shop"',
    f"<{E}shop/x%2Fy/C%20%22d%22> <{E}kind> <{E}Thing>",
}


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.json", "t.jsonl", "t.csv.gz", "t.jsonl.gz"])
def test_every_format_gives_the_same_triples(tmp_path: Path, name: str) -> None:
    records = Table(table(tmp_path, name, ROWS), mapped(tmp_path))
    assert {str(t) for t in records.triples()} == EXPECTED
    assert records.report.counts == {"rows": 2} and records.report.triples == len(EXPECTED)


def test_json_values_keep_their_kind(tmp_path: Path) -> None:
    mapping = mapped(
        tmp_path,
        """[] rr:subjectMap [ rr:template "http://example.org/{id}" ] ;
           rr:predicateObjectMap [ rr:predicate :v ; rr:objectMap [ rml:reference "v" ] ] .""",
    )
    rows = [{"id": 1, "v": [1, 2.5, True, None, "x", ""]}, {"id": 2, "v": None}]
    found = {str(t.object) for t in Table(table(tmp_path, "t.json", rows), mapping).triples()}
    assert found == {'"1"', '"2.5"', '"true"', '"x"'}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(
    lambda t: t.strip() and "\x00" not in t
)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
@settings(max_examples=100, deadline=None)
def test_no_text_of_a_cell_becomes_syntax(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("cells")
    mapping = mapped(
        folder,
        """[] rr:subjectMap [ rr:template "http://example.org/{a}" ] ;
           rr:predicateObjectMap [ rr:predicate :p ; rr:objectMap [ rml:reference "b" ] ] ;
           rr:predicateObjectMap [ rr:predicate :q ; rr:objectMap [ rr:template "urn:x:{b}" ] ] .""",
    )
    rows = [{"a": a, "b": b} for a, b in cells]
    for name in ("t.csv", "t.jsonl"):
        found = list(Table(table(folder, name, rows), mapping).triples())
        assert len(found) == 2 * len(rows)
        values = [t.object.value for t in found if isinstance(t.object, ox.Literal)]
        assert values == [b.strip() for _, b in cells]
        assert all(t.predicate.value in (E + "p", E + "q") for t in found)


DEFECTS: list[tuple[str, dict[str, Any]]] = [
    ("wrong value", {**ROWS[0], "year": "MCM"}),
    ("wrong value", {**ROWS[0], "url": "not an iri"}),
    ("wrong value", {**ROWS[0], "goods": {"a": 1}}),
    ("missing subject", {**ROWS[0], "name": " "}),
    ("missing subject", {**ROWS[0], "city": None}),
]


@pytest.mark.parametrize(("kind", "row"), DEFECTS)
def test_a_defect_stops_or_is_counted(tmp_path: Path, kind: str, row: dict[str, Any]) -> None:
    path = table(tmp_path, "t.json", [row, ROWS[1]])
    with pytest.raises(LoadError, match=f"(?i){kind}, row 1"):
        list(Table(path, mapped(tmp_path)).triples())
    records = Table(path, mapped(tmp_path), on_bad="skip")
    assert {t for t in EXPECTED if "x%2Fy" in t} <= {str(t) for t in records.triples()}
    assert records.report.problems == {kind: 1}


def test_broken_and_empty_tables(tmp_path: Path) -> None:
    mapping = mapped(tmp_path)
    path = tmp_path / "t.csv"
    for text, kind in (
        ("name,city,goods,year,url\n", "no row"),
        ("", "no row"),
        ("x,y\n1,2\n", "missing subject"),
    ):
        path.write_text(text)
        with pytest.raises(LoadError, match=f"(?i){kind}"):
            list(Table(path, mapping).triples())
    path.write_text('name,city\n"a"b,c\n')
    with pytest.raises(LoadError, match="Not a valid table") as broken:
        list(Table(path, mapping).triples())
    assert broken.value.line == 2
    path.write_bytes(b"name,city\ncaf\xe9,c\n")
    with pytest.raises(LoadError, match="not UTF-8"):
        list(Table(path, mapping).triples())
    path.write_text("name,city\na,b\n")
    with pytest.raises(LoadError, match=r"(?i)missing column.*'goods'"):
        list(Table(path, mapping).triples())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (":a :b :c .", "no rr:subjectMap"),
        ("[] rr:subjectMap [ rr:template 'http://x/{a' ] .", "stands alone"),
        ("[] rr:subjectMap [ rr:class :A ] .", "one of rr:template"),
        ("[] rr:subjectMap [ rr:template 'http://x/{a}' ; rr:termType rr:BlankNode ] .", "not supported"),
        ("[] rr:subjectMap [ rr:template 'http://x/{a}' ; rr:graph :G ] .", "graph, which is not supported"),
        ("[] rr:subjectMap [ rml:reference 'a' ; rr:language 'en' ] .", "one subject, and it is an IRI"),
        (
            "[] rr:subjectMap [ rr:template 'http://x/{a}' ] ; rr:predicateObjectMap [ rr:object 1 ] .",
            "needs rr:predicate",
        ),
        (
            "[] rr:subjectMap [ rr:template 'http://x/{a}' ] ; rr:predicateObjectMap [ rr:predicate :p ;"
            " rr:objectMap [ rml:reference 'b' ; rr:language 'no language' ] ] .",
            "no language tag",
        ),
        (
            "[] rr:subjectMap [ rr:template 'http://x/{a}' ] ; rr:predicateObjectMap [ rr:predicate :p ;"
            " rr:objectMap [ rr:parentTriplesMap :o ; rml:reference 'b' ] ] .",
            "parentTriplesMap, which is not supported",
        ),
        ("nonsense", "Not valid Turtle"),
    ],
)
def test_a_mapping_that_cannot_be_followed_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LoadError, match=message) as refused:
        read_mapping(mapped(tmp_path, text))
    assert refused.value.file == str(tmp_path / "m.ttl")


def test_a_table_is_loaded_like_any_other_file(tmp_path: Path, kg: KnowledgeGraph) -> None:
    with Table(table(tmp_path, "t.csv", ROWS), mapped(tmp_path)).ntriples() as file:
        assert kg.load([file]).triples == len(EXPECTED)
