"""Encodings: as XML declares them, by marks, empty files, and one bad file of many."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mrag
from mrag.errors import LoadError
from mrag.loaders.checks import recoded
from tests.cases import cases
from tests.commands import run

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML = (
    "<?xml version='1.0' encoding=\"{declared}\"?>\n<rdf:RDF xmlns:rdf='" + RDF + "' xmlns:x='urn:x:'>"
    "<rdf:Description rdf:about='urn:x:a'><x:b>{text}</x:b></rdf:Description></rdf:RDF>"
)
PLAIN = {
    "ttl": '<urn:x:a> <urn:x:b> "{text}" , [ <urn:x:c> 1 ] .',
    "n3": '<urn:x:a> <urn:x:b> "{text}" .',
    "trig": '<urn:g> {{ <urn:x:a> <urn:x:b> "{text}" }}',
    "nt": '<urn:x:a> <urn:x:b> "{text}" .\n_:n <urn:x:b> <urn:x:a> .\n',
    "nq": '<urn:x:a> <urn:x:b> "{text}" <urn:g> .\n',
    "jsonld": '{{"@id": "urn:x:a", "urn:x:b": "{text}"}}',
    "rdf": XML.replace("{declared}", "UTF-8"),
}


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


@pytest.mark.parametrize(
    ("declared", "codec", "message"),
    [("x-none", "utf-8", "x-none, which is not known"), ("hex", "utf-8", "hex"), ("utf-7", "utf-8", "utf-7")],
)
def test_encodings_that_are_not_read(tmp_path: Path, declared: str, codec: str, message: str) -> None:
    path = tmp_path / "a.owl"
    path.write_bytes(XML.format(declared=declared, text="a").encode(codec))
    with mrag.connect() as kg, pytest.raises(LoadError, match=message):
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

    pieces = recoded(Small(text.encode(codec)), ox.RdfFormat.TURTLE)
    assert b"".join(pieces).decode() == text


def folder(tmp_path: Path) -> Path:
    path = tmp_path / "many"
    path.mkdir()
    (path / "a.ttl").write_text("<urn:x:a> <urn:x:b> <urn:x:c> .", encoding="utf-8")
    lines = "".join(f"<urn:x:n{i}> <urn:x:b> <urn:x:c> .\n" for i in range(20_000))
    (path / "bad.nt").write_text(lines + "<urn:x:a> <urn:x:b \n", encoding="utf-8")
    (path / "latin.ttl").write_bytes('<urn:x:a> <urn:x:b> "ü" .'.encode("latin-1"))
    (path / "z.rdf").write_text("", encoding="utf-8")
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
