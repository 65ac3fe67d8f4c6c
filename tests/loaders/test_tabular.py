"""Tables to RDF by a mapping, or a sketch of one; and the command that imports them and annotations."""

import csv
import gzip
import io
import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.sketch import sketch
from mrag.loaders.tables import Table, TableDialect, read_mapping
from tests.cases import beside, cases
from tests.commands import run
from tests.made import write_annotations

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
        ".csv": lambda: "\ufeff" + delimited(rows, ","), ".tsv": lambda: delimited(rows, "\t"),
        ".json": lambda: json.dumps(rows), ".jsonl": lambda: "\n".join(map(json.dumps, rows)),
    }[Path(plain).suffix]()  # fmt: skip
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name != plain else text.encode())
    return path


E = "http://example.org/"
EXPECTED = {line.removesuffix(" .") for line in beside(__file__, "shops.nt").splitlines()}


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.json", "t.jsonl", "t.csv.gz", "t.jsonl.gz"])
def test_all_formats_give_one_graph(tmp_path: Path, name: str) -> None:
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
@settings(max_examples=100)
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
def test_tables_are_read_however_written(tmp_path: Path, encoding: str, delimiter: str, end: str) -> None:
    text = delimited(ROWS, delimiter).replace("\r\n", end)
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    dialect = TableDialect(encoding="latin-1") if encoding == "iso-8859-1" else TableDialect()
    assert {str(t) for t in Table(path, mapped(tmp_path), dialect=dialect).triples()} == EXPECTED
    named = TableDialect(delimiter="tab" if delimiter == "\t" else delimiter, encoding=dialect.encoding)
    assert {str(t) for t in Table(path, mapped(tmp_path), dialect=named).triples()} == EXPECTED


@pytest.mark.parametrize(("name", "value"), cases(__file__, "between_cells"))
def test_what_cannot_be_between_cells_or_an_encoding_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot stand between|no encoding"):
        TableDialect(**{name: value})  # type: ignore[arg-type]


def test_broken_and_empty_tables(tmp_path: Path) -> None:
    mapping = mapped(tmp_path)
    path = tmp_path / "t.csv"
    for text, message in cases(__file__, "broken_and_empty_tables"):
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


SHOPS = '''\
shop_id,Shop Name,city_id,opened,site,rating,Symptom_1,Symptom_2,Symptom_3,Q1,Q2,zip,open
7,"Coats & ""Co""",3,2001-02-03,http://a.example/,4.5,itch,cough,,1,2,01234,true
8,Hats,4,NA,http://b.example/x,N/A,cough,,,3,4,99999,false
'''
CITIES = "id;name;mayor\n3;Köln;\n4;Paris;8\n"


def text(folder: Path, **files: str) -> list[str]:
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content, "utf-8")
    return [str(folder / f"{name}.csv") for name in files]


def loaded(files: list[str], mapping: str, folder: Path) -> set[tuple[str, str, str]]:
    (folder / "mapping.ttl").write_text(mapping, "utf-8")
    found = set()
    for file in files:
        records = Table(file, folder / "mapping.ttl")
        found |= {(str(t.subject), t.predicate.value, str(t.object)) for t in records.triples()}
        assert not records.report.problems
    return found


def test_a_sketch_says_what_the_tables_show(tmp_path: Path) -> None:
    files = text(tmp_path, shops=SHOPS, cities=CITIES)
    found = {(s, p.removeprefix(E), o) for s, p, o in loaded(files, sketch(files), tmp_path)}
    shop = f"<{E}shop/7>"
    xsd = "http://www.w3.org/2001/XMLSchema#"
    assert {(p, o) for s, p, o in found if s == shop} == {
        ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", f"<{E}Shop>"),
        ("http://www.w3.org/2000/01/rdf-schema#label", '"Coats & \\"Co\\""'),
        ("shopName", '"Coats & \\"Co\\""'), ("shopId", f'"7"^^<{xsd}integer>'), ("city", f"<{E}city/3>"),
        ("opened", f'"2001-02-03"^^<{xsd}date>'), ("site", "<http://a.example/>"),
        ("rating", f'"4.5"^^<{xsd}decimal>'), ("symptom", '"itch"'), ("symptom", '"cough"'),
        ("q1", f'"1"^^<{xsd}integer>'), ("q2", f'"2"^^<{xsd}integer>'), ("zip", '"01234"'),
        ("open", f'"true"^^<{xsd}boolean>'),
    }  # fmt: skip
    assert (f"<{E}city/3>", "name", '"Köln"') in found
    # A number that happens to be a key somewhere names nothing.
    assert (f"<{E}city/4>", "mayor", f'"8"^^<{xsd}integer>') in found
    assert not [row for row in found if "N/A" in row[2] or '"NA"' in row[2]]


def test_rows_without_a_key_are_told_by_two_columns_or_numbered(tmp_path: Path) -> None:
    files = text(tmp_path, sales="day,item\n1,a\n1,b\n2,a\n", diseases="Disease,S_1\nFlu,itch\nFlu,itch\n")
    mapping = sketch(files)
    assert "/sale/{day}/{item}" in mapping and "/disease/{_row}" in mapping and "rows apart" in mapping
    subjects = {s for s, _, _ in loaded(files, mapping, tmp_path)}
    assert subjects == {f"<{E}{x}>" for x in ("sale/1/a", "sale/1/b", "sale/2/a", "disease/1", "disease/2")}


def test_names_of_files_and_texts_that_are_keys_make_links(tmp_path: Path) -> None:
    files = text(
        tmp_path,
        **{"2024 film-directors": "name\nAda Lin\nBo Qu\n", "films": "title,Directed by\nX,Ada Lin\nY,\n"},
    )
    mapping = sketch(files)
    assert ":FilmDirector" in mapping and "film-director/{Directed by}" in mapping
    assert (f"<{E}film/X>", f"{E}directedBy", f"<{E}film-director/Ada%20Lin>") in loaded(
        files, mapping, tmp_path
    )


SIGNS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
USUAL = cases(__file__, "USUAL")
CELL = st.text(SIGNS, max_size=12) | st.sampled_from(USUAL)
NAMED = st.text(SIGNS, min_size=1, max_size=8).filter(lambda x: x == x.strip() != "" and x != "_row")


@given(st.data())
@settings(max_examples=60)
def test_a_sketch_loads_for_any_table(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("sketch")
    names = data.draw(st.lists(NAMED, min_size=1, max_size=5, unique=True))
    rows = data.draw(st.lists(st.tuples(*(CELL for _ in names)), min_size=1, max_size=6))
    delimiter = data.draw(st.sampled_from(",;\t|"))
    file = folder / "odd {things}.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerow(names)
        writer.writerows(rows)
    dialect = TableDialect(delimiter=delimiter)
    mapping = sketch([str(file)], dialect)
    (folder / "m.ttl").write_text(mapping, "utf-8")
    records = Table(file, folder / "m.ttl", dialect=dialect)
    found = list(records.triples())
    assert records.report.counts == {"rows": len(rows)} and not records.report.problems
    assert len({t.subject for t in found}) <= len(rows)
    assert mapping == sketch([str(file)], dialect)


def test_json_and_encodings_are_sketched_too(tmp_path: Path) -> None:
    rows = [{"id": "a", "tags": ["x", "y"], "size": {"w": 1}, "n": 1}, {"id": "b", "n": None}]
    (tmp_path / "things.json").write_text(json.dumps(rows))
    mapping = sketch([str(tmp_path / "things.json")])
    assert '"size"' in mapping and 'rml:reference "size"' not in mapping and "ql:JSONPath" in mapping
    found = loaded([str(tmp_path / "things.json")], mapping, tmp_path)
    assert {o for _, p, o in found if p == E + "tags"} == {'"x"', '"y"'}
    (tmp_path / "orte.csv").write_bytes("id,name\n1,Köln\n".encode("latin-1"))
    with pytest.raises(LoadError, match="Wrong encoding, column 'name'") as wrong:
        sketch([str(tmp_path / "orte.csv")])
    assert wrong.value.line == 2
    assert ":Orte" in sketch([str(tmp_path / "orte.csv")], TableDialect(encoding="latin-1"))
    assert ":City" in sketch(text(tmp_path, cities="id,name\n"))
    (tmp_path / "b").mkdir()
    with pytest.raises(ConfigError, match="Two files are called"):
        sketch(text(tmp_path, cities="id\n1\n") + text(tmp_path / "b", cities="id\n1\n"))
    with pytest.raises(LoadError, match="no such file"):
        sketch([str(tmp_path / "none.csv")])


class Command:
    """The command line with the store of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.store = folder, folder / "store"

    def __call__(self, *arguments: str | Path) -> CompletedProcess[str]:
        place = ("--store", f"oxigraph:{self.store}")
        return run(*map(str, arguments), *place, cwd=self.folder, COLUMNS="200")

    def json(self, *arguments: str | Path) -> Any:
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def mrag(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    path = tmp_path / "annotations.json"
    write_annotations(path, scale=0.0005)
    return path


def test_annotations_become_four_graphs(mrag: Command, tmp_path: Path, annotations: Path) -> None:
    done = mrag.json("import", annotations)
    assert done["records"][0]["counts"] == {
        "licenses": 1, "categories": 46, "attributes": 294, "images": 23, "annotations": 167,
    }  # fmt: skip
    assert [s["step"] for s in done["steps"]][:2] == ["read annotations.json", "load"]
    assert "reason over main" in {s["step"] for s in done["steps"]}
    assert done["steps"][-1]["views"] == ["main-cel", "main-garments", "main-images"]
    ask = "SELECT (COUNT(*) AS ?n) { ?i <http://example.org/hasDescription> ?d }"
    found = mrag.json("query", ask, "--kg", "main-images")
    # Equal sentences about an image are one.
    assert int(found["results"]["bindings"][0]["n"]["value"]) == 164
    # Nothing changed, so nothing is made anew.
    shown = mrag("views")
    assert (shown.returncode, shown.stdout) == (0, "All views are up to date.\n")
    again = mrag.json("import", annotations, "--no-reason")
    assert again["steps"][1]["triples"] == 0
    indexed = mrag.json("index", "--kg", "main-images", "--query", "kg/sentences", "--embedder", "none")
    assert indexed["documents"] == 23


def test_a_defect_stops_the_import_or_is_told(mrag: Command, tmp_path: Path, annotations: Path) -> None:
    data = json.loads(annotations.read_text())
    data["annotations"][0]["category_id"] = 999
    annotations.write_text(json.dumps(data))
    done = mrag("import", annotations)
    assert done.returncode == 1 and "no category 999" in done.stderr and "--skip-bad" in done.stderr
    kept = tmp_path / "kept.nt"
    kept.write_text("<urn:a> <urn:b> <urn:c> .\n")
    assert mrag.json("load", kept)["triples"] == 1
    assert mrag("import", annotations, "--replace").returncode == 1
    there = mrag.json("query", "SELECT ?o { <urn:a> <urn:b> ?o }")
    assert "urn:c" in json.dumps(there), "what was there is kept until all has been read"
    none = mrag("views")
    assert none.returncode == 1 and "holds no annotated images" in none.stderr
    shown = mrag("import", annotations, "--skip-bad", "--no-views", "--no-reason")
    assert shown.returncode == 0
    assert "unknown category, skipped 1 time" in shown.stderr
    assert shown.stdout.splitlines()[1].startswith("load")


def test_what_a_file_holds_is_told_by_its_content(mrag: Command, tmp_path: Path) -> None:
    rows = [{"image_id": 1, "region_id": 2, "caption": "a man", "triples": [["man", "is", "tall"]]}]
    (tmp_path / "rows.jsonl").write_text(json.dumps(rows[0]))
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "shops.csv").write_text("name\nA\n")
    (tmp_path / "shops.ttl").write_text(
        '[] <http://www.w3.org/ns/r2rml#subjectMap> [ <http://www.w3.org/ns/r2rml#template> "urn:{name}" ;'
        " <http://www.w3.org/ns/r2rml#class> <urn:Shop> ] ."
    )
    both = mrag.json("import", tmp_path / "rows.jsonl", tmp_path / "rows.json", "--kg", "scenes")
    assert [r["counts"]["regions"] for r in both["records"]] == [1, 1]
    assert not any("views" in step for step in both["steps"])
    done = mrag.json("import", tmp_path / "shops.csv", "--mapping", tmp_path / "shops.ttl", "--kg", "shops")
    assert done["records"][0]["counts"] == {"rows": 1}
    for arguments, message in cases(__file__, "what_a_file_holds_is_told_by_its_content"):
        failed = mrag("import", tmp_path / arguments[0], *arguments[1:])
        assert failed.returncode == 1 and message in failed.stderr


def test_tables_are_sketched_imported_and_what_was_skipped_is_said(mrag: Command, tmp_path: Path) -> None:
    shops, cities = tmp_path / "shops.csv", tmp_path / "cities {x}.csv"
    shops.write_bytes('id;name;city;year\n1;Hüte;3;1999\n2;"A\n""B""";4;2001\n'.encode("iso-8859-1"))
    cities.write_text("\ufeffid,name\n3,Köln\n4,Paris\n", "utf-8")
    wrong = mrag("import", "--sketch", shops, cities)
    assert wrong.returncode == 1 and "column 'name'" in wrong.stderr and "--encoding" in wrong.stderr
    (tmp_path / "other.csv").write_bytes(shops.read_bytes())
    sketched = mrag("import", "--sketch", "--encoding", "iso-8859-1", shops)
    assert sketched.returncode == 0 and not (mrag.store).exists()
    mapping = tmp_path / "m.ttl"
    mapping.write_text(sketched.stdout)
    done = mrag.json("import", shops, "--mapping", mapping, "--encoding", "iso-8859-1")
    assert done["skipped"] == {} and done["records"][0]["counts"] == {"rows": 2}
    names = mrag.json("query", "SELECT ?o { ?s <http://example.org/name> ?o }")["results"]["bindings"]
    assert {row["o"]["value"] for row in names} == {"Hüte", 'A\n"B"'}
    shops.write_text("id;name;city;year\n1;Hats;3;MCM\n;X;3;1\n3;Y;3;MM\n4;Z;3;1;5\n")
    failed = mrag("import", shops, "--mapping", mapping)
    assert failed.returncode == 1 and "line 2, column 'year': 'MCM' is no xsd:integer" in failed.stderr
    skipped = {"no xsd:integer": 2, "no subject": 1, "wrong row": 1}
    assert mrag.json("import", shops, "--mapping", mapping, "--skip-bad", "--no-reason")["skipped"] == skipped
    said = mrag("import", shops, "--mapping", mapping, "--skip-bad", "--no-reason").stderr
    assert "shops.csv: no xsd:integer, skipped 2 times." in said and "line 4, column 'year'" in said
    failed = mrag("import", cities, "--mapping", mapping)
    assert "no column 'city'" in failed.stderr and "nearest first: 'id', 'name'" in failed.stderr
