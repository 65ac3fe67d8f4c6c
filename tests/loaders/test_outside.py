"""What a load reads, connects to and runs besides what it was given: nothing that it was not asked for."""

from __future__ import annotations

import json
import socket
import sqlite3
import time
from pathlib import Path

import pytest

import mrag
from mrag.errors import LoadError, MragError
from mrag.loaders import tables
from mrag.loaders.rdf import CATALOG, OUTSIDE
from mrag.loaders.tables import BadCell, Table, check_reads, connected
from mrag.loaders.web import WebDatatype, read_metadata

_ONTOLOGY = "<http://www.w3.org/2002/07/owl#Ontology>"
_IMPORTS = "<http://www.w3.org/2002/07/owl#imports>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.ttl").write_text(f"<urn:s> a {_ONTOLOGY} . <urn:s> <urn:p> 'secret' .")
    (tmp_path / "secret.csv").write_text("a\nsecret\n")
    (tmp_path / "secret.json").write_text('{"columns": [{"name": "a"}]}')
    made = tmp_path / "load"
    made.mkdir()
    (made / "a.ttl").write_text(f"<urn:a> {_IMPORTS} <urn:s> .")
    return made


def _count(folder: Path) -> int:
    with mrag.connect() as kg:
        kg.load([folder / "a.ttl"], imports=True)
        return kg.count()


@pytest.mark.parametrize("place", ["../secret.ttl", "{absolute}", "file://{absolute}", "%2e%2e/secret.ttl"])
def test_a_catalog_stays_in_its_folder(folder: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = place.format(absolute=(folder.parent / "secret.ttl").as_posix())
    (folder / CATALOG).write_text(f'<catalog><uri name="urn:s" uri="{place}"/></catalog>')
    with pytest.raises(LoadError, match="outside of its folder"):
        _count(folder)
    monkeypatch.setenv(OUTSIDE, "1")
    assert _count(folder) == 3


def test_links_stay_in_the_folder_of_a_load(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "link.ttl").symlink_to(folder.parent / "secret.ttl")
    with pytest.raises(LoadError, match="no file here is that ontology"):
        _count(folder)
    with mrag.connect() as kg:
        with pytest.raises(LoadError, match="A link leads out of the folder"):
            kg.load([folder])
        report = kg.load([folder], keep_going=True)
        assert kg.count() == 1 and "link.ttl" in str(report)
        monkeypatch.setenv(OUTSIDE, "1")
        kg.load([folder])
        assert kg.count() == 3


@pytest.mark.parametrize("field", ["url", "tableSchema"])
def test_metadata_of_tables_stay_in_their_folder(folder: Path, field: str) -> None:
    (folder / "t.csv").write_text("a\n1\n")
    about = {"@context": "http://www.w3.org/ns/csvw", "url": "t.csv", "tableSchema": {"columns": []}}
    for place in ("../secret.", str(folder.parent / "secret.")):
        ending = "csv" if field == "url" else "json"
        (folder / "m.json").write_text(json.dumps({**about, field: place + ending}))
        with pytest.raises(LoadError, match="outside of its folder"):
            read_metadata(folder / "m.json")


def test_a_catalog_may_be_nested_deep(folder: Path) -> None:
    deep = 50_000
    inner = '<uri name="urn:s" uri="b.ttl"/>'
    (folder / CATALOG).write_text("<group>" * deep + inner + "</group>" * deep)
    (folder / "b.ttl").write_text(f"<urn:s> a {_ONTOLOGY} .")
    try:
        assert _count(folder) == 2
    except LoadError as error:  # the parser of a later Python may have a limit of its own
        assert "Not a catalog" in str(error)


@pytest.mark.parametrize(
    "query",
    [
        "ATTACH DATABASE '{place}' AS x",
        "/* ATTACH */ ATTACH DATABASE '{place}' AS x",
        "SELECT 1; ATTACH DATABASE '{place}' AS x",
        "VACUUM INTO '{place}'",
        "PRAGMA journal_mode = WAL",
        "SELECT load_extension('{place}')",
        "CREATE TABLE x (a)",
        "WITH a AS (SELECT 1 AS n) INSERT INTO shop SELECT n FROM a",
        "SELECT writefile('{place}', 'x')",
        "BEGIN IMMEDIATE",
    ],
)
def test_a_query_to_a_database_only_reads(tmp_path: Path, query: str) -> None:
    base = tmp_path / "a.db"
    with sqlite3.connect(base) as made:
        made.execute("CREATE TABLE shop (n INTEGER)")
    made.close()
    before, content = sorted(tmp_path.iterdir()), base.read_bytes()
    said = query.format(place=tmp_path / "made.db")
    with pytest.raises(LoadError):
        list(tables.SqlRows(f"sqlite:///{base}", "", said))
    # The database itself refuses what the look at its words would let through.
    with pytest.raises(LoadError), connected(f"sqlite:///{base}") as connection:
        connection.exec_driver_sql(said)
        connection.commit()
    assert sorted(tmp_path.iterdir()) == before and base.read_bytes() == content


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 INTO OUTFILE '/tmp/x'",
        r"SELECT '\'' INTO OUTFILE '/tmp/x' -- '",
        "SELECT 1 /*! INTO OUTFILE '/tmp/x' */",
        "/*! DELETE FROM t */ SELECT 1",
        "SELECT 1 -- '\nINTO x",
        "COPY t TO PROGRAM 'x'",
        "EXEC xp_cmdshell 'x'",
        "CALL p()",
        "",
    ],
)
def test_what_other_databases_would_write_is_refused(query: str) -> None:
    with pytest.raises(LoadError, match="can only read"):
        check_reads(query)


@pytest.mark.parametrize(
    "query",
    ["select a from t;", "-- all\nWITH a AS (SELECT 1) SELECT * FROM a", "(SELECT 1) UNION (SELECT ';')",
     "/* of it */ VALUES (1)", "SELECT 'it''s; into' FROM t"],
)  # fmt: skip
def test_what_reads_is_let_through(query: str) -> None:
    check_reads(query)


def test_a_database_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port, began = silent.getsockname()[1], time.monotonic()
        with (
            pytest.raises(LoadError, match=r"did not answer within 0\.5 s"),
            connected(f"postgresql+psycopg://ann:secret@127.0.0.1:{port}/x"),
        ):
            pass
        assert time.monotonic() - began < 5


@pytest.mark.parametrize("format", ["(a+)+", "(a|a)*b", "[a-z]*[a-z]*[a-z]*!", "(x+x+)+y", "(.*a){20}"])
def test_a_format_takes_time_that_grows_with_the_cell(format: str) -> None:
    datatype = WebDatatype.of({"base": "string", "format": format}, "m.json")
    began = time.monotonic()
    for cell in ("a" * 5_000 + "!?", "x" * 5_000, "a" * 900 + "?"):
        with pytest.raises(BadCell):
            datatype.lexical(cell)
    assert time.monotonic() - began < 2


def test_formats_mean_what_they_say() -> None:
    for format, good, bad in (
        ("[A-Z]{2}[0-9]+", "AB12", "AB12x"),
        ("a|b", "b", "ab"),
        ("(a+)+", "aaa", "aab"),
        ("(?:[a-z]+-)+[0-9]", "ab-c-1", "ab-c-"),
    ):
        datatype = WebDatatype.of({"base": "string", "format": format}, "m.json")
        assert datatype.lexical(good) == good
        with pytest.raises(BadCell):
            datatype.lexical(bad)
    for format in ("(a", "(a+)+(?=b)", "((a{1,1000}){1,1000}){1,1000}"):
        with pytest.raises(LoadError, match="no regular expression"):
            WebDatatype.of({"base": "string", "format": format}, "m.json")


def test_a_mapping_with_such_a_query_writes_nothing(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "a.db").close()
    (tmp_path / "a.db").touch()
    made = tmp_path / "made.db"
    (tmp_path / "m.ttl").write_text(
        "@prefix rr: <http://www.w3.org/ns/r2rml#> . [] rr:logicalTable "
        f"[ rr:sqlQuery \"ATTACH DATABASE '{made}' AS x\" ] ; rr:subjectMap [ rr:template 'urn:x:{{n}}' ] ."
    )
    with pytest.raises(MragError):
        list(Table(f"sqlite:///{tmp_path}/a.db", tmp_path / "m.ttl").triples())
    assert not made.exists()
