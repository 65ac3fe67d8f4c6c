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

from mrag.errors import ConfigError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.tables import Table, TableDialect, read_mapping
from tests.cases import beside, cases

PREFIXES = """
@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .
@prefix tab: <https://w3id.org/mrag/table#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <http://example.org/> .
"""
MAPPING = beside(__file__, "shops.rml.ttl")
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
EXPECTED = {line.removesuffix(" .") for line in beside(__file__, "shops.nt").splitlines()}


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


DEFECTS: list[tuple[str, str, dict[str, Any]]] = [
    ("no xsd:integer", "year", {**ROWS[0], "year": "MCM"}),
    ("no xsd:date", "day", {**ROWS[0], "day": "2023-02-29"}),
    ("no IRI", "url", {**ROWS[0], "url": "not an iri"}),
    ("nested value", "goods", {**ROWS[0], "goods": {"a": 1}}),
    ("wrong encoding", "goods", {**ROWS[0], "goods": "\ud800"}),
    ("wrong encoding", "name", {**ROWS[0], "name": "\ud800"}),
]
DAY = """:Shops rr:predicateObjectMap [ rr:predicate :day ;
  rr:objectMap [ rml:reference "day" ; rr:datatype xsd:date ] ] ."""


@pytest.mark.parametrize(("kind", "column", "row"), DEFECTS)
def test_a_defect_stops_or_is_counted(tmp_path: Path, kind: str, column: str, row: dict[str, Any]) -> None:
    path = table(tmp_path, "t.json", [row, {"day": "2024-02-29", **ROWS[1]}])
    mapping = mapped(tmp_path, MAPPING + DAY)
    with pytest.raises(LoadError, match=f"(?i){kind}, row 1, column '{column}'"):
        list(Table(path, mapping).triples())
    records = Table(path, mapping, on_bad="skip")
    assert {t for t in EXPECTED if "x%2Fy" in t} <= {str(t) for t in records.triples()}
    assert records.report.problems == {kind: 1}


@pytest.mark.parametrize("empty", ["", "  ", None, "absent"])
@pytest.mark.parametrize("column", ["goods", "name"])
def test_what_is_empty_costs_its_triple_alone(tmp_path: Path, column: str, empty: str | None) -> None:
    row = {**ROWS[0], column: empty}
    if empty == "absent":
        del row[column]
    records = Table(table(tmp_path, "t.json", [row, ROWS[0], ROWS[1]]), mapped(tmp_path))
    assert {str(t) for t in records.triples()} == EXPECTED
    # A row of which nothing is said is no error, and counted.
    assert records.report.problems == ({} if column == "goods" else {"no subject": 1})
    assert [p.what for p in records.report.examples] == (
        [] if column == "goods" else ["the column 'city' or 'name' is empty"]
    )


def test_a_cell_that_is_wrong_is_named_by_line_and_column(tmp_path: Path) -> None:
    path, mapping = tmp_path / "t.csv", mapped(tmp_path)
    head = b"name,city,goods,year,url\n"
    path.write_bytes(head + b'"a\nb",x,"c\nd",1,\n\nA,x,,MCM,\n')
    with pytest.raises(LoadError, match="No xsd:integer, line 6, column 'year': 'MCM'") as wrong:
        list(Table(path, mapping).triples())
    assert (wrong.value.line, wrong.value.file) == (6, str(path))
    path.write_bytes(head + b"A,x,caf\xe9,1,\nB,x,tea,1,\nC,x,y,1,,surplus\n")
    with pytest.raises(LoadError, match="Wrong encoding, line 2, column 'goods'") as wrong:
        list(Table(path, mapping).triples())
    assert wrong.value.line == 2 and "--encoding" in str(wrong.value)
    records = Table(path, mapping, on_bad="skip")
    goods = {str(t.object) for t in records.triples() if t.predicate.value == E + "sells"}
    assert goods == {'"tea"'} and records.report.problems == {"wrong encoding": 1, "wrong row": 1}
    assert records.report.examples[1].what == "it has 6 cells, and the table 5 columns"
    latin = Table(path, mapping, on_bad="skip", dialect=TableDialect(encoding="iso-8859-1"))
    assert '"café"' in {str(t.object) for t in latin.triples()}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "iso-8859-1"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_tables_are_read_however_they_are_written(
    tmp_path: Path, encoding: str, delimiter: str, end: str
) -> None:
    text = delimited(ROWS, delimiter).replace("\r\n", end)
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    dialect = TableDialect(encoding="latin-1") if encoding == "iso-8859-1" else TableDialect()
    assert {str(t) for t in Table(path, mapped(tmp_path), dialect=dialect).triples()} == EXPECTED
    named = TableDialect(delimiter="tab" if delimiter == "\t" else delimiter, encoding=dialect.encoding)
    assert {str(t) for t in Table(path, mapped(tmp_path), dialect=named).triples()} == EXPECTED


@pytest.mark.parametrize(
    ("name", "value"),
    [("delimiter", "ab"), ("delimiter", "\n"), ("encoding", "klingon"), ("encoding", "hex")],
)
def test_what_cannot_be_between_cells_or_an_encoding_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot stand between|no encoding"):
        TableDialect(**{name: value})  # type: ignore[arg-type]


def test_broken_and_empty_tables(tmp_path: Path) -> None:
    mapping = mapped(tmp_path)
    path = tmp_path / "t.csv"
    for text, message in (
        ("name,city,goods,year,url\n", "no row"),
        ("", "no row"),
        ("nmae,city\n1,2\n", "no column 'name'.*nearest first: 'nmae', 'city'"),
        ("name,name,city\n1,2,3\n", "Two columns are called 'name'"),
    ):
        path.write_text(text)
        with pytest.raises(LoadError, match=message):
            list(Table(path, mapping).triples())
    path.write_text('name,city\n"a"b,c\n')
    with pytest.raises(LoadError, match="Not a valid table") as broken:
        list(Table(path, mapping, dialect=TableDialect(delimiter=",")).triples())
    assert broken.value.line == 2 and type(broken.value) is LoadError
    path.write_bytes(b"name,caf\xe9\na,c\n")
    with pytest.raises(LoadError, match="not UTF-8") as broken:
        list(Table(path, mapping).triples())
    assert broken.value.line == 1


def test_a_wrong_column_says_which_there_are(tmp_path: Path) -> None:
    mapping = mapped(tmp_path)
    path = tmp_path / "t.csv"
    path.write_text("name,city,year,url,good,Ort\na,b,1,,x,y\n")
    with pytest.raises(LoadError, match=r"no column 'goods'.*nearest first: 'good', ") as wrong:
        list(Table(path, mapping).triples())
    assert wrong.value.line == 1 and "'Ort'" in str(wrong.value)
    records = Table(path, mapping, on_bad="skip")
    assert len(list(records.triples())) == 7 and records.report.problems == {"missing column": 1}
    rows = [{"name": "a", "city": "b", "good": "x", "year": 1}]
    with pytest.raises(LoadError, match=r"no row has a column 'goods'.*nearest first: 'good', "):
        list(Table(table(tmp_path, "t.json", rows), mapping).triples())


def test_each_file_has_its_own_maps(tmp_path: Path) -> None:
    mapping = mapped(
        tmp_path,
        """[] rml:logicalSource [ rml:source "data/a.csv" ] ;
             rr:subjectMap [ rr:template "urn:a:{x}" ; rr:class :A ] .
           [] rml:logicalSource [ rml:source "b.csv" ] ;
             rr:subjectMap [ rr:template "urn:b:{y}/{_row}" ; rr:class :B ] .""",
    )
    for name, column in (("a.csv", "x"), ("b.csv", "y"), ("c.csv", "z")):
        (tmp_path / name).write_text(f"{column}\n1\n1\n")
    assert {str(t.subject) for t in Table(tmp_path / "a.csv", mapping).triples()} == {"<urn:a:1>"}
    numbered = {str(t.subject) for t in Table(tmp_path / "b.csv", mapping).triples()}
    assert numbered == {"<urn:b:1/1>", "<urn:b:1/2>"}
    with pytest.raises(LoadError, match=r"nothing for 'c.csv'.*'b.csv', 'data/a.csv'"):
        Table(tmp_path / "c.csv", mapping)


@pytest.mark.parametrize(("text", "message"), cases(__file__, "a_mapping_that_cannot_be_followed_is_refused"))
def test_a_mapping_that_cannot_be_followed_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LoadError, match=message) as refused:
        read_mapping(mapped(tmp_path, text))
    assert refused.value.file == str(tmp_path / "m.ttl")


def test_a_table_is_loaded_like_any_other_file(tmp_path: Path, kg: KnowledgeGraph) -> None:
    with Table(table(tmp_path, "t.csv", ROWS), mapped(tmp_path)).ntriples() as file:
        assert kg.load([file]).triples == len(EXPECTED)
