"""CSV on the Web: tables by their metadata, in minimal and in standard mode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from mrag.errors import LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.importing import ImportSettings, kind_of, records
from mrag.loaders.web import WebDatatype, WebTables, is_metadata, metadata_of

CONTEXT = "http://www.w3.org/ns/csvw"
PREFIXES = """
@prefix csvw: <http://www.w3.org/ns/csvw#> . @prefix schema: <http://schema.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix dc: <http://purl.org/dc/terms/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix : <http://example.org/trees.csv#> .
"""
TREES = """\
GID,On Street,Trim,Dbh,Seen,Comments,Safe,Price
1,ADDISON  AV,Large Tree,11,10/18/2010,,,"1.200,50"
6,EMERSON ST,,29,6/1/2010,decay; bees;,YES,-
"""
COLUMNS: list[dict[str, Any]] = [
    {"name": "GID", "titles": ["GID", "Identifier"], "required": True, "suppressOutput": True},
    {"name": "street", "titles": "On Street", "datatype": "token"},
    {"name": "trim", "titles": {"en": "Trim"}, "lang": "en"},
    {"titles": "Dbh", "datatype": "integer", "propertyUrl": "schema:width"},
    {"name": "seen", "titles": "Seen", "datatype": {"base": "date", "format": "M/d/yyyy"}},
    {"name": "comments", "titles": "Comments", "separator": ";", "ordered": True},
    {"name": "safe", "titles": "Safe", "datatype": {"base": "boolean", "format": "YES|NO"}, "default": "NO"},
    {
        "name": "price",
        "titles": "Price",
        "null": ["-", ""],
        "datatype": {"base": "decimal", "format": {"decimalChar": ",", "groupChar": "."}},
    },
    {"name": "kind", "virtual": True, "propertyUrl": "rdf:type", "valueUrl": "schema:Tree"},
    {
        "name": "page",
        "virtual": True,
        "propertyUrl": "schema:url",
        "valueUrl": "http://example.org/t/{GID}{#trim}",
    },
]
ABOUT = {
    "@context": [CONTEXT, {"@language": "en"}],
    "@id": "http://example.org/trees",
    "url": "http://example.org/trees.csv",
    "dc:title": "Trees",
    "dc:modified": {"@value": "2010-12-31", "@type": "xsd:date"},
    "dc:publisher": [{"@type": "schema:Organization", "schema:name": "The town"}],
    "tableSchema": {
        "columns": COLUMNS,
        "aboutUrl": "http://example.org/trees#{GID}",
        "rowTitles": "On Street",
    },
}
MINIMAL = """
<http://example.org/trees#1> a schema:Tree ; :street "ADDISON AV"^^xsd:token ; :trim "Large Tree"@en ;
  schema:width 11 ; :seen "2010-10-18"^^xsd:date ; :safe false ; :price 1200.50 ;
  schema:url <http://example.org/t/1#Large%20Tree> .
<http://example.org/trees#6> a schema:Tree ; :street "EMERSON ST"^^xsd:token ; schema:width 29 ;
  :seen "2010-06-01"^^xsd:date ; :comments ( "decay" "bees" ) ; :safe true .
"""
STANDARD = """
[] a csvw:TableGroup ; csvw:table <http://example.org/trees> .
<http://example.org/trees> a csvw:Table ; csvw:url <http://example.org/trees.csv> ; dc:title "Trees"@en ;
  dc:modified "2010-12-31"^^xsd:date ; dc:publisher [ a schema:Organization ; schema:name "The town"@en ] ;
  csvw:row [ a csvw:Row ; csvw:rownum 1 ; csvw:url <http://example.org/trees.csv#row=2> ;
             csvw:describes <http://example.org/trees#1> ; csvw:title "ADDISON  AV" ] ,
           [ a csvw:Row ; csvw:rownum 2 ; csvw:url <http://example.org/trees.csv#row=3> ;
             csvw:describes <http://example.org/trees#6> ; csvw:title "EMERSON ST" ] .
"""


def laid(
    folder: Path, about: Any = ABOUT, text: str | bytes = TREES, name: str = "trees.csv-metadata.json"
) -> Path:
    (folder / "trees.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    (folder / name).write_text(json.dumps(about), encoding="utf-8")
    return folder / "trees.csv"


def canonical(triples: Any) -> set[str]:
    data = ox.Dataset(ox.Quad(t.subject, t.predicate, t.object) for t in triples)
    data.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in data}


def wanted(text: str) -> set[str]:
    return canonical(ox.parse((PREFIXES + text).encode(), ox.RdfFormat.TURTLE))


def with_columns(**changed: Any) -> dict[str, Any]:
    columns = [{**c, **changed.get(c.get("name", "Dbh"), {})} for c in COLUMNS]
    return {**ABOUT, "tableSchema": {**ABOUT["tableSchema"], "columns": columns}}  # type: ignore[dict-item]


def test_a_table_is_what_its_metadata_say(tmp_path: Path, kg: KnowledgeGraph) -> None:
    file = laid(tmp_path)
    found = records(file, ImportSettings())
    assert isinstance(found, WebTables) and canonical(found.triples()) == wanted(MINIMAL)
    assert found.report.counts == {"rows": 2} and not found.report.problems
    standard = records(file, ImportSettings(standard=True))
    assert canonical(standard.triples()) == wanted(MINIMAL + STANDARD)
    with standard.ntriples() as triples:
        assert kg.load([triples]).triples == len(wanted(MINIMAL + STANDARD))


def test_metadata_are_found_named_or_imported_themselves(tmp_path: Path) -> None:
    file = laid(tmp_path)
    assert metadata_of(file) == tmp_path / "trees.csv-metadata.json"
    (tmp_path / "trees.csv-metadata.json").rename(tmp_path / "other.json")
    assert metadata_of(file) is None
    named = records(file, ImportSettings(mapping=tmp_path / "other.json"))
    assert canonical(named.triples()) == wanted(MINIMAL)
    whole = tmp_path / "csv-metadata.json"
    tables = [
        {k: v for k, v in ABOUT.items() if k != "@context"},
        {"url": "more.csv", "suppressOutput": True},
    ]
    whole.write_text(json.dumps({"@context": ABOUT["@context"], "tables": tables}))
    assert metadata_of(file) == whole and is_metadata(whole) and kind_of(whole) == "table"
    assert canonical(records(whole, ImportSettings()).triples()) == wanted(MINIMAL)
    (tmp_path / "none.csv").write_text("a\n1\n")
    with pytest.raises(LoadError, match=r"nothing for 'none.csv'"):
        records(tmp_path / "none.csv", ImportSettings(mapping=whole))
    tables[1] = {"url": "absent.csv"}
    whole.write_text(json.dumps({"@context": CONTEXT, "tables": tables}))
    with pytest.raises(LoadError, match=r"not here: 'absent.csv'"):
        records(whole, ImportSettings())


def test_what_is_not_described_has_the_names_of_the_header(tmp_path: Path) -> None:
    about = {"@context": CONTEXT, "url": "http://example.org/trees.csv"}
    file = laid(tmp_path, about, 'a b,"c\n""{d}"\nx,"y\nz"\n')
    found = list(records(file, ImportSettings()).triples())
    assert {t.predicate.value for t in found} == {
        "http://example.org/trees.csv#a%20b",
        "http://example.org/trees.csv#c%0A%22%7Bd%7D",
    }
    assert {str(t.object) for t in found} == {'"x"', '"y\\nz"'} or {str(t.object) for t in found} == {
        '"x"',
        '"y\\nz"',
    }
    # Rows without an aboutUrl are blank nodes.
    assert len({t.subject for t in found}) == 1 and isinstance(found[0].subject, ox.BlankNode)
    dialect = {
        "header": False,
        "delimiter": ";",
        "encoding": "iso-8859-1",
        "skipRows": 1,
        "commentPrefix": "#",
    }
    file = laid(tmp_path, {**about, "dialect": dialect}, "ignored\n#no\né;2\n".encode("latin-1"))
    found = list(records(file, ImportSettings()).triples())
    named = {(t.predicate.value.rpartition("#")[2], str(t.object)) for t in found}
    assert named == {
        ("_col.1", '"é"'),
        ("_col.2", '"2"'),
    }


@pytest.mark.parametrize(
    ("text", "kind", "column", "line"),
    [
        (TREES.replace("29", "2x"), "no integer", "Dbh", 3),
        (TREES.replace("6/1/2010", "13/1/2010"), "no date", "seen", 3),
        (TREES.replace("YES", "yes"), "no boolean", "safe", 3),
        (TREES.replace('"1.200,50"', "1.2.x"), "no decimal", "price", 2),
        (TREES.replace("\n6,", "\n,"), "missing value", "GID", 3),
        (TREES.replace("EMERSON ST", '"a\nb"').replace(",-", ",x"), "no decimal", "price", 3),
        (TREES.encode().replace(b"EMERSON", b"\xe9"), "wrong encoding", "street", 3),
        (TREES.replace("bees;,", "bees;,,,,"), "wrong row", "", 3),
    ],
)  # fmt: skip
def test_a_wrong_cell_is_named_or_counted(
    tmp_path: Path, text: str | bytes, kind: str, column: str, line: int
) -> None:
    file = laid(tmp_path, text=text)
    place = f", column '{column}'" if column else ""
    with pytest.raises(LoadError, match=f"(?i){kind}, line {line}{place}") as wrong:
        list(records(file, ImportSettings()).triples())
    assert (wrong.value.line, wrong.value.file) == (line, str(file))
    found = records(file, ImportSettings(on_bad="skip"))
    list(found.triples())
    assert found.report.problems == {kind: 1}


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({**ABOUT, "@context": "http://example.org/"}, "no metadata of CSV on the Web"),
        ({k: v for k, v in ABOUT.items() if k != "url"}, "no `url`"),
        ({**ABOUT, "tableSchema": {"columns": 1}}, "`columns` is a list"),
        ({**ABOUT, "tableSchema": "absent.json"}, "no such file"),
        ({**ABOUT, "dialect": {"headerRowCount": 2}}, "not supported"),
        ({**ABOUT, "tables": 1}, "`tables` is a list"),
        (
            with_columns(street={"titles": "Street"}),
            "Column 2 is called 'On Street', and 'Street' in the metadata",
        ),
        (with_columns(street={"datatype": "strng"}), "no datatype 'strng'"),
        (with_columns(street={"datatype": {"base": "string", "format": "("}}), "no regular expression"),
        ({**ABOUT, "tableSchema": {"columns": [{"name": str(n)} for n in range(9)]}}, "describe 9 columns"),
        ([], "are an object"),
    ],
)
def test_metadata_that_cannot_be_followed_are_refused(tmp_path: Path, about: Any, message: str) -> None:
    file = laid(tmp_path, about)
    with pytest.raises(LoadError, match=message):
        list(WebTables(file, tmp_path / "trees.csv-metadata.json").triples())
    (tmp_path / "trees.csv-metadata.json").write_text('{\n"a": }')
    with pytest.raises(LoadError, match="Not valid JSON") as wrong:
        WebTables(file, tmp_path / "trees.csv-metadata.json")
    assert wrong.value.line == 2


@pytest.mark.parametrize(
    ("datatype", "format", "text", "lexical"),
    [
        ("date", "yyyyMMdd", "20240229", "2024-02-29"),
        ("date", "dd.MM.yyyy", "29.02.2024", "2024-02-29"),
        ("datetime", "yyyy-MM-ddTHH:mm:ss.SSS X", "2024-02-29T01:02:03.5 +01", "2024-02-29T01:02:03.5+01:00"),
        ("datetime", "d/M/yyyy HH:mm", "1/2/2024 03:04", "2024-02-01T03:04:00"),
        ("time", "HHmm", "0304", "03:04:00"),
        ("number", "", "1e5", "1e5"),
        ("number", "#0.0%", "12.5%", "0.125"),
        ("integer", "#,##0", "1,200", "1200"),
        ("boolean", "1|0", "0", "false"),
        ("string", "[a-z]+", "abc", "abc"),
    ],
)
def test_formats(datatype: str, format: str, text: str, lexical: str) -> None:
    found = WebDatatype.of({"base": datatype, "format": format}, "m.json")
    assert found.lexical(text) == lexical
