"""A byte order mark before a text says nothing: files and bodies with one are read as those without."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pyoxigraph as ox
import pytest
from typer.testing import CliRunner

import mrag
from mrag.cli import app
from mrag.errors import LoadError
from mrag.loaders.checks import LoadNotes
from mrag.loaders.rdf import Source
from mrag.loaders.tables import Table
from tests.server.conftest import running

MARK = b"\xef\xbb\xbf"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FILES = {
    "ttl": b"@prefix ex: <urn:ex:> . ex:a ex:b 'c', [ ex:d 'e' ] .",
    "n3": b"@prefix ex: <urn:ex:> . ex:a ex:b 'c', [ ex:d 'e' ] .",
    "nt": b'<urn:ex:a> <urn:ex:b> "c" .\n',
    "nq": b'<urn:ex:a> <urn:ex:b> "c" <urn:g> .\n',
    "trig": b"@prefix ex: <urn:ex:> . <urn:g> { ex:a ex:b 'c' }",
    "rdf": f"<?xml version='1.0'?><rdf:RDF xmlns:rdf='{RDF}' xmlns:x='urn:ex:'>"
    "<rdf:Description rdf:about='urn:ex:a'><x:b>c</x:b></rdf:Description></rdf:RDF>".encode(),
    "jsonld": b'{"@id": "urn:ex:a", "urn:ex:b": "c"}',
}
MEDIA = {
    "ttl": "text/turtle",
    "nt": "application/n-triples",
    "nq": "application/n-quads",
    "trig": "application/trig",
    "rdf": "application/rdf+xml",
    "jsonld": "application/ld+json",
}
PACKED: dict[str, Callable[[bytes], bytes]] = {"plain": bytes, "gz": gzip.compress}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("kind", FILES)
def test_an_rdf_file_with_a_mark_says_what_it_says_without(tmp_path: Path, kind: str, packed: str) -> None:
    found = []
    for mark in (b"", MARK):
        file = tmp_path / f"{len(mark)}.{kind}{'.gz' if packed == 'gz' else ''}"
        file.write_bytes(PACKED[packed](mark + FILES[kind]))
        with mrag.connect() as kg:
            assert kg.load([file]).triples == (3 if kind in ("ttl", "n3") else 1)
            rows = kg.query("SELECT ?s ?p ?o { ?s ?p ?o FILTER(isLiteral(?o)) }")
            found.append(sorted((str(p), str(o)) for _, p, o in rows))  # type: ignore[union-attr, misc]
            found.append(Source.of(file).prefixes())  # type: ignore[arg-type]
    assert found[:2] == found[2:] and found[0]


@pytest.mark.parametrize("packed", PACKED)
def test_bad_lines_are_left_out_as_without_a_mark(tmp_path: Path, packed: str) -> None:
    file = tmp_path / f"a.nt{'.gz' if packed == 'gz' else ''}"
    file.write_bytes(PACKED[packed](MARK + FILES["nt"] + b"nonsense\n" + FILES["nt"]))
    notes = LoadNotes()
    assert len(list(Source.of(file).quads_skipping(notes))) == 2
    assert [line.line for line in notes.rejected] == [2]


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
        "csv": "name,goods\na,b\n",
        "tsv": "name\tgoods\na\tb\n",
        "json": json.dumps([row]),
        "jsonl": json.dumps(row),
    }
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
