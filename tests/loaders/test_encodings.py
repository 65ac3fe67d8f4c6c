"""Encodings and bounds of files: marks, one bad file of many, JSON piece by piece, what nests too deep."""

import gzip
import io
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import mrag
from mrag.cli import app
from mrag.errors import LoadError, QueryRefused
from mrag.loaders import _records, checks
from mrag.loaders._records import BrokenJson, JsonText
from mrag.loaders.checks import Brackets, Lines, LoadNotes, TooMuch, Xml, recode
from mrag.loaders.rdf import Source
from mrag.loaders.tables import Table
from tests.cases import beside, cases
from tests.commands import run
from tests.server.conftest import running

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML = (
    "<?xml version='1.0' encoding=\"{declared}\"?>\n<rdf:RDF xmlns:rdf='" + RDF + "' xmlns:x='urn:x:'>"
    "<rdf:Description rdf:about='urn:x:a'><x:b>{text}</x:b></rdf:Description></rdf:RDF>"
)
PLAIN = {
    "ttl": '@prefix x: <urn:x:> . x:a x:b "{text}" , [ x:c 1 ] .', "n3": '<urn:x:a> <urn:x:b> "{text}" .',
    "trig": '<urn:g> {{ <urn:x:a> <urn:x:b> "{text}" }}',
    "nt": '<urn:x:a> <urn:x:b> "{text}" .\n_:n <urn:x:b> <urn:x:a> .\n',
    "nq": '<urn:x:a> <urn:x:b> "{text}" <urn:g> .\n', "jsonld": '{{"@id": "urn:x:a", "urn:x:b": "{text}"}}',
    "rdf": XML.replace("{declared}", "UTF-8"),
}  # fmt: skip


def texts(path: Path) -> list[str]:
    with mrag.connect() as kg:
        kg.load([path])
        assert kg.query("ASK { ?s ?p ?o FILTER(isBlank(?s) || isBlank(?o)) }") is False
        rows = kg.query("SELECT ?o { <urn:x:a> <urn:x:b> ?o FILTER(isLiteral(?o)) }")
        return [str(o) for (o,) in rows]  # type: ignore[union-attr, misc]


@pytest.mark.parametrize("ending", ["owl", "rdf.gz"])
@pytest.mark.parametrize(("declared", "codec", "text"), cases(__file__, "DECLARED"))
def test_xml_in_the_encoding_that_it_declares(
    tmp_path: Path, declared: str, codec: str, text: str, ending: str
) -> None:
    data = XML.format(declared=declared, text=text).encode(codec)
    path = tmp_path / f"a.{ending}"
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    assert texts(path) == [text]


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("ending", PLAIN)
def test_a_mark_says_the_encoding_in_every_format(tmp_path: Path, ending: str, codec: str) -> None:
    (tmp_path / f"a.{ending}").write_bytes(PLAIN[ending].format(text="Grüße 🦊").encode(codec))
    assert texts(tmp_path / f"a.{ending}") == ["Grüße 🦊"]


@pytest.mark.parametrize("ending", PLAIN)
def test_bytes_of_another_encoding_are_an_error_that_says_so(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(PLAIN[ending].format(text="Grüße").encode("latin-1"))
    with mrag.connect() as kg, pytest.raises(LoadError, match="not UTF-8") as caught:
        kg.load([path])
    assert caught.value.file == str(path)


@pytest.mark.parametrize("declared", ["x-none", "hex", "utf-7"])
def test_encodings_that_are_not_read(tmp_path: Path, declared: str) -> None:
    path = tmp_path / "a.owl"
    path.write_text(XML.format(declared=declared, text="a"), "utf-8")
    with mrag.connect() as kg, pytest.raises(LoadError, match=f"{declared}, which is not known"):
        kg.load([path])


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff\xfe \0\n\0"])
@pytest.mark.parametrize("ending", [*PLAIN, *(f"{ending}.gz" for ending in PLAIN)])
def test_files_without_a_statement_are_alike(tmp_path: Path, ending: str, content: bytes) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    with mrag.connect() as kg:
        report = kg.load([path])
        assert (report.triples, report.empty) == (0, (str(path),))


@settings(max_examples=60)
# What begins with a zero in UTF-16 begins as a text in UTF-32 does.
@given(
    st.text(max_size=3000).filter(lambda text: text[:1] != "\0"),
    st.sampled_from(["utf-16", "utf-32", "utf-8-sig"]),
    st.integers(1, 9000),
)
def test_text_survives_in_any_pieces(text: str, codec: str, size: int) -> None:
    class Small(io.BytesIO):
        def read(self, _: int | None = -1, /) -> bytes:
            return super().read(size)

    pieces = recode(Small(text.encode(codec)), ox.RdfFormat.TURTLE)
    assert b"".join(pieces).decode() == text


def folder(tmp_path: Path) -> Path:
    path = tmp_path / "many"
    path.mkdir()
    (path / "a.ttl").write_text("<urn:x:a> <urn:x:b> <urn:x:c> .", "utf-8")
    lines = "".join(f"<urn:x:n{i}> <urn:x:b> <urn:x:c> .\n" for i in range(20_000))
    (path / "bad.nt").write_text(lines + "<urn:x:a> <urn:x:b \n", "utf-8")
    (path / "latin.ttl").write_bytes('<urn:x:a> <urn:x:b> "ü" .'.encode("latin-1"))
    (path / "z.rdf").write_text("", "utf-8")
    return path


def test_one_bad_file_is_named_and_nothing_loaded(tmp_path: Path) -> None:
    path = folder(tmp_path)
    with mrag.connect() as kg:
        with pytest.raises(LoadError) as caught:
            kg.load([path])
        assert (caught.value.file, caught.value.line) == (str(path / "bad.nt"), 20_001)
        assert kg.count() == 0
        with pytest.raises(LoadError, match="not UTF-8"):
            kg.load([path / "latin.ttl"])
        assert kg.load([path / "a.ttl", path / "z.rdf"]).empty == (str(path / "z.rdf"),)
        assert kg.load([path / "bad.nt"], skip_bad_lines=True).triples == 20_000


def test_the_command_names_the_bad_line_and_the_empty_file(tmp_path: Path) -> None:
    path = folder(tmp_path)
    assert "bad.nt, line 20001" in run("load", "many", cwd=tmp_path).stderr
    assert "Nothing is stated in" in run("load", str(path / "z.rdf"), cwd=tmp_path).stderr


MARK = b"\xef\xbb\xbf"
FILES = {kind: text.format(text="c").encode() for kind, text in PLAIN.items()}
MEDIA = {
    "ttl": "text/turtle", "nt": "application/n-triples", "nq": "application/n-quads",
    "trig": "application/trig", "rdf": "application/rdf+xml", "jsonld": "application/ld+json",
}  # fmt: skip
PACKED: dict[str, Callable[[bytes], bytes]] = {"plain": bytes, "gz": gzip.compress}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("kind", FILES)
def test_an_rdf_file_with_a_mark_says_what_it_says_without(tmp_path: Path, kind: str, packed: str) -> None:
    found: list[object] = []
    for mark in (b"", MARK):
        file = tmp_path / f"{len(mark)}.{kind}{'.gz' if packed == 'gz' else ''}"
        file.write_bytes(PACKED[packed](mark + FILES[kind]))
        with mrag.connect() as kg:
            found.append(kg.load([file]).triples)
            rows = kg.query("SELECT ?s ?p ?o { ?s ?p ?o FILTER(isLiteral(?o)) }")
            found.append(sorted((str(p), str(o)) for _, p, o in rows))  # type: ignore[union-attr, misc]
            found.append(Source.of(file).prefixes())  # type: ignore[arg-type]
    assert found[:3] == found[3:] and found[0] and found[1]


@pytest.mark.parametrize("packed", PACKED)
def test_bad_lines_are_left_out_as_without_a_mark(tmp_path: Path, packed: str) -> None:
    file = tmp_path / f"a.nt{'.gz' if packed == 'gz' else ''}"
    file.write_bytes(PACKED[packed](MARK + FILES["nt"] + b"nonsense\n" + FILES["nt"]))
    notes = LoadNotes()
    assert len(list(Source.of(file).quads_skipping(notes))) == 4
    assert [line.line for line in notes.rejected] == [3]


@pytest.mark.parametrize("content", [b"", MARK, MARK[:2], MARK + MARK, b"\xff\xfe<\0"])
def test_a_file_of_marks_alone_holds_nothing_or_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.ttl"
    file.write_bytes(content)
    if content in (b"", MARK):
        assert list(Source.of(file).quads()) == []
    else:
        with pytest.raises(LoadError, match=r"a\.ttl"):
            list(Source.of(file).quads())


@pytest.mark.parametrize("size", [1, 2, 3, 4, -1])
@pytest.mark.parametrize("packed", PACKED)
def test_reading_in_pieces_gives_the_same(tmp_path: Path, packed: str, size: int) -> None:
    file = tmp_path / ("a.ttl.gz" if packed == "gz" else "a.ttl")
    file.write_bytes(PACKED[packed](MARK + FILES["ttl"]))
    done: list[int] = []
    with Source.of(file).checked(done.append) as stream:
        parts = []
        while part := stream.read(size):
            parts.append(part)
    assert b"".join(parts) == FILES["ttl"]


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "jsonl"])
def test_a_table_with_a_mark_is_read(tmp_path: Path, kind: str) -> None:
    mapping = tmp_path / "m.ttl"
    mapping.write_bytes(
        MARK
        + b"@prefix rr: <http://www.w3.org/ns/r2rml#> . @prefix rml: <http://semweb.mmlab.be/ns/rml#> .\n"
        + b'[] rr:subjectMap [ rr:template "http://example.org/{name}" ] ; rr:predicateObjectMap ['
        + b" rr:predicate <urn:sells> ; rr:objectMap [ rml:reference 'goods' ] ] ."
    )
    row = {"name": "a", "goods": "b"}
    texts = {
        "csv": "name,goods\na,b\n", "tsv": "name\tgoods\na\tb\n", "json": json.dumps([row]),
        "jsonl": json.dumps(row),
    }  # fmt: skip
    file = tmp_path / f"t.{kind}"
    file.write_bytes(MARK + texts[kind].encode())
    assert [str(t) for t in Table(file, mapping).triples()] == ['<http://example.org/a> <urn:sells> "b"']


def test_a_body_with_a_mark_is_read() -> None:
    with mrag.connect() as kg, running(kg, update=True) as server:

        def post(path: str, body: bytes, media: str) -> httpx.Response:
            return server.client.post(path, content=MARK + body, headers={"Content-Type": media})

        for kind, media in MEDIA.items():
            reply = post("/graphs?default", FILES[kind], media)
            assert reply.status_code == 204, (kind, reply.text)
            reply = post("/sparql", b"ASK { ?s ?p 'c' }", "application/sparql-query")
            assert reply.json()["boolean"] is True, (kind, reply.text)
            reply = post("/update", b"DELETE WHERE { ?s ?p ?o }", "application/sparql-update")
            assert reply.status_code == 204, (kind, reply.text)


def test_a_query_in_a_file_with_a_mark_is_answered(tmp_path: Path) -> None:
    file, data = tmp_path / "q.rq", tmp_path / "a.nt"
    file.write_bytes(MARK + b"ASK { ?s ?p 'c' }")
    data.write_bytes(MARK + FILES["nt"])
    store = str(tmp_path / "store")
    assert CliRunner().invoke(app, ["load", "--store", store, "--no-reason", str(data)]).exit_code == 0
    done = CliRunner().invoke(app, ["query", "--store", store, str(file)])
    assert done.exit_code == 0 and done.stdout == "true\n"


def test_the_engine_itself_stops_at_a_mark() -> None:
    with pytest.raises(SyntaxError):
        list(ox.parse(MARK + FILES["ttl"], ox.RdfFormat.TURTLE))


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=20),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.fixture(params=[1, 5, 1 << 20], scope="module")
def piece(request: pytest.FixtureRequest) -> Any:
    """Sizes of the pieces, small ones so that every token is cut somewhere."""
    known = _records._CHUNK
    _records._CHUNK = request.param
    yield request.param
    _records._CHUNK = known


@given(rows=st.lists(VALUES, max_size=6), ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
@settings(max_examples=40)
def test_arrays_and_lines(
    piece: int,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[Any],
    ascii_only: bool,
    indent: int | None,
) -> None:
    folder = tmp_path_factory.mktemp("json")
    (folder / "a.json").write_text(json.dumps(rows, ensure_ascii=ascii_only, indent=indent), "utf-8")
    with JsonText(folder / "a.json") as text:
        assert list(text.records()) == rows
    lines = "".join(json.dumps(r, ensure_ascii=ascii_only) + "\n" for r in rows if not isinstance(r, list))
    (folder / "a.jsonl").write_text(lines, "utf-8")
    with JsonText(folder / "a.jsonl") as text:
        assert list(text.records()) == [row for row in rows if not isinstance(row, list)]


@given(data=st.dictionaries(st.text(max_size=5), VALUES, max_size=5))
@settings(max_examples=40)
def test_objects(piece: int, tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text("\ufeff" + json.dumps(data), "utf-8")
    with JsonText(path) as text:
        assert {key: text.value() for key in text.fields()} == data
    with JsonText(path) as text:
        for _ in text.fields():
            text.skip()
        assert text.blank()


@pytest.mark.parametrize("text", cases(__file__, "broken_text_is_refused"))
def test_broken_text_is_refused(piece: int, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(BrokenJson) as broken, JsonText(tmp_path / "a.json") as source:
        list(source.records())
    assert broken.value.file == str(tmp_path / "a.json")


def test_bytes_that_are_no_text_are_refused(piece: int, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'["caf\xe9"]')
    with pytest.raises(BrokenJson, match="not UTF-8"), JsonText(tmp_path / "a.json") as source:
        list(source.records())


def test_what_is_too_deep_or_too_long_is_refused(tmp_path: Path) -> None:
    for text in ("[" * 100_000, f"[{'9' * 5000}]"):
        (tmp_path / "a.json").write_text(text)
        with pytest.raises(LoadError, match=r"too deep|ends early"), JsonText(tmp_path / "a.json") as source:
            list(source.records())


TRIES = int(os.environ.get("MRAG_TEST_TRIES", "300"))
NESTED = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
TURTLE = [
    ("[ <urn:p> ", 1), ("( ", 1), ("] ", -1), (") ", -1), ('"]" ', 0), ("'([' ", 0), ('"""\n["" ]"""', 0),
    ("'''(\n'' ('''", 0), ('"" ', 0), ("'' ", 0), (r'"\"[" ', 0), ("# ([ \"'\n", 0), ("<urn:(a[> ", 0),
    ("<< ", 1), (">> ", -1), ("a:b\\(c ", 0), ("{ ", 1), ("} ", -1), ("é \n", 0), ("1.5 ", 0), ('"\\\\" ', 0),
]  # fmt: skip
JSON = [
    ("[", 1), ('{"a":', 1), ("]", -1), ("}", -1), ('"[{"', 0), (r'"\"["', 0), ('"\\\\"', 0), ("1.5e3,", 0),
    ("\n", 0), ("'", 0), ('"é"', 0),
]  # fmt: skip
ENTITIES = [
    ("<a>", 1), ('<a b="</a>">', 1), ("<a b='/>'\n>", 1), ("</a>", -1), ("<a/>", 0), ("<a>x</a>", 0),
    ("<!-- <a> -->", 0), ("<![CDATA[<a></a>]]>", 0), ("<?a <a>?>", 0), ("text ]] -- >", 0), ("<b c='>'/>", 0),
    ("<!-- - -- ->\n -->", 0),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["turtle", "json", "xml"])
def test_depth_is_counted_however_the_text_is_cut(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(kind)
    pieces = {"turtle": TURTLE, "json": JSON, "xml": ENTITIES}[kind]
    for _ in range(TRIES):
        chosen = [pieces[dice.randrange(len(pieces))] for _ in range(dice.randrange(60))]
        deepest = depth = 0
        for _, step in chosen:
            depth = max(0, depth + step)
            deepest = max(deepest, depth)
        # Behind the end stands enough to tell that the last token has ended.
        text = ("".join(text for text, _ in chosen) + " \n \n").encode()
        # An element without others in it is counted only where a piece ends in it.
        leaf = kind == "xml"
        for bound, fits in ((deepest + leaf, True), (deepest - 1 - leaf, False)):
            if bound < 0:
                continue
            monkeypatch.setattr(checks, "DEEPEST", bound)
            monkeypatch.setattr("mrag.loaders.checks.DEEPEST_XML", bound)
            check = Xml() if kind == "xml" else Brackets(json=kind == "json")
            passed, at = True, 0
            try:
                while at < len(text):
                    size = dice.choice((1, 2, 3, 7, 40, 1000))
                    check.feed(text[at : at + size])
                    at += size
            except TooMuch:
                passed = False
            assert passed == fits, (text, deepest, bound)


def test_quoted_triples_and_long_lines_are_counted_however_the_text_is_cut() -> None:
    dice = random.Random(2)
    line = b"<urn:a> <urn:b> " + b"<<( <urn:a> <urn:b> " * 600 + b"<urn:c>" + b" )>>" * 600 + b" .\n"
    deep = line.replace(b"<<(", b"<<(<<(")
    for text, fits in ((line * 3, True), (b"<urn:a> <urn:b> <urn:c> .\n" * 2000, True), (line + deep, False)):
        for _ in range(20):
            check, at, passed = Lines(), 0, True
            try:
                while at < len(text):
                    size = dice.choice((100, 5_000, 8_192, 100_000))
                    check.feed(text[at : at + size])
                    at += size
            except TooMuch:
                passed = False
            assert passed == fits
    with pytest.raises(TooMuch, match="a line has more than"):
        checks.check_of(ox.RdfFormat.N_TRIPLES).feed(b"x" * (checks.LONGEST + 9))


def owl(encoding: str = "UTF-8", entities: str = "") -> bytes:
    """An ontology as Protégé writes it, with its namespaces as entities."""
    text = beside(__file__, "protege.owl").format(encoding=encoding, entities=entities, nested=NESTED)
    return text.encode(encoding)


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1"])
@pytest.mark.parametrize("ending", ["owl", "owl.gz"])
def test_ontologies_with_namespaces_as_entities_load(encoding: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"wines.{ending}"
    path.write_bytes(gzip.compress(owl(encoding)) if ending.endswith("gz") else owl(encoding))
    with mrag.connect() as kg:
        assert kg.load([path]).triples == 2
        name = kg.labels(["http://example.org/wines#Rosé"])
        assert name == {"http://example.org/wines#Rosé": "Rosé & Rosado"}


@pytest.mark.parametrize(
    ("entities", "why"),
    [
        ('<!ENTITY a "x&b;">' + "".join(f'<!ENTITY b{i} "{"&a;" * 5000}">' for i in range(2)), "stands for"),
        ('<!ENTITY a SYSTEM "file:///etc/passwd">', "external"),
        ('<!ENTITY a PUBLIC "a" "http://127.0.0.1:9/">', "external"),
        ('<!ENTITY % a "x">%a;', "parameter"),
        (f'<!ENTITY a "{"x" * 20_000}">', "stands for more than 10,000 bytes"),
        (f'<!ENTITY a "{"x" * 200_000}">', "too long"),
        ("".join(f'<!ENTITY a{i} "x">' for i in range(10_001)), "more than 10,000 entities"),
    ],
)
def test_other_entities_are_refused(entities: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "a.owl"
    path.write_bytes(owl(entities=entities))
    with pytest.raises(LoadError, match=why) as caught:
        list(Source.of(path).quads())
    assert caught.value.file == str(path)


def test_references_that_add_up_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.owl"
    many = b"&long;" * 20_000
    long = '<!ENTITY long "' + "x" * 9_000 + '">'
    path.write_bytes(owl(entities=long).replace(b"&amp;", many))
    with pytest.raises(LoadError, match="64 times its length"):
        list(Source.of(path).quads())


def test_errors_say_file_line_and_bound(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_bytes(b"@prefix e: <urn:e> .\n\n<urn:a> <urn:b> " + b"[ e:p\n" * 1_001)
    with pytest.raises(LoadError) as caught:
        list(Source.of(path).quads())
    error = caught.value
    assert (error.file, error.line) == (str(path), 1_003)
    assert "more than 1000 brackets" in error.message and error.hint


@pytest.mark.parametrize(
    "name,text",
    [
        ("a.ttl", "@prefix : <urn:x:> . :a :b :c . << :a :b :c >> :sure 0.9 ."),
        (
            "a.nt",
            "<urn:x:a> <urn:x:b> <urn:x:c> .\n"
            f"_:r <{RDF}reifies> <<( <urn:x:a> <urn:x:b> <urn:x:c> )>> .\n"
            f'_:r <urn:x:sure> "0.9"^^<http://www.w3.org/2001/XMLSchema#decimal> .\n',
        ),
        ("b.ttl", "@prefix : <urn:x:> . :a :b :c . :d :says <<( :a :b :c )>> . :d :sure 0.9 ."),
    ],
)
def test_triples_inside_triples_are_described_by_their_parts(tmp_path: Path, name: str, text: str) -> None:
    """Servers have ways of their own to write them, and queries over them are refused by name."""
    (tmp_path / name).write_text(text, "utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / name])
        ends = "?r rdf:subject <urn:x:a> ; rdf:predicate <urn:x:b> ; rdf:object <urn:x:c>"
        assert kg.holds(f"PREFIX rdf: <{RDF}> ASK {{ {ends} . <urn:x:a> <urn:x:b> <urn:x:c> }}")
        assert [str(n) for (n,) in kg.query("SELECT ?n { ?r <urn:x:sure> ?n }")] == ["0.9"]  # type: ignore[union-attr]
        with pytest.raises(QueryRefused, match="Triples inside triples"):
            kg.query("SELECT * { << <urn:x:a> ?p ?o >> <urn:x:sure> ?n }")
