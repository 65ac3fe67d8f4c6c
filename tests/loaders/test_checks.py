"""Bounds on documents: found however the text is cut, and never where brackets are only text."""

import gzip
import io
import os
import random
from pathlib import Path

import pyoxigraph as ox
import pytest

import mrag
from mrag.errors import LoadError
from mrag.loaders import checks
from mrag.loaders.checks import Brackets, Checked, Lines, TooMuch, Xml
from mrag.loaders.rdf import Source

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "300"))
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'

TURTLE = [
    ("[ <urn:p> ", 1), ("( ", 1), ("] ", -1), (") ", -1), ('"]" ', 0), ("'([' ", 0), ('"""\n["" ]"""', 0),
    ("'''(\n'' ('''", 0), ('"" ', 0), ("'' ", 0), (r'"\"[" ', 0), ("# ([ \"'\n", 0), ("<urn:(a[> ", 0),
    ("<< ", 1), (">> ", -1), ("a:b\\(c ", 0), ("{ ", 1), ("} ", -1), ("é \n", 0), ("1.5 ", 0), ('"\\\\" ', 0),
]  # fmt: skip
JSON = [
    ("[", 1), ('{"a":', 1), ("]", -1), ("}", -1), ('"[{"', 0), (r'"\"["', 0), ('"\\\\"', 0), ("1.5e3,", 0),
    ("\n", 0), ("'", 0), ('"é"', 0),
]  # fmt: skip
XML = [
    ("<a>", 1), ('<a b="</a>">', 1), ("<a b='/>'\n>", 1), ("</a>", -1), ("<a/>", 0), ("<a>x</a>", 0),
    ("<!-- <a> -->", 0), ("<![CDATA[<a></a>]]>", 0), ("<?a <a>?>", 0), ("text ]] -- >", 0), ("<b c='>'/>", 0),
    ("<!-- - -- ->\n -->", 0),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["turtle", "json", "xml"])
def test_depth_is_counted_however_the_text_is_cut(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(kind)
    pieces = {"turtle": TURTLE, "json": JSON, "xml": XML}[kind]
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
        Checked(io.BytesIO(b"x" * (checks.LONGEST + 9)), ox.RdfFormat.N_TRIPLES)._check.feed(
            b"x" * (checks.LONGEST + 9)
        )


def owl(encoding: str = "UTF-8", entities: str = "") -> bytes:
    """An ontology as Protégé writes it, with its namespaces as entities."""
    text = f"""<?xml version="1.0" encoding="{encoding}"?>
<!DOCTYPE rdf:RDF [
    <!ENTITY owl "http://www.w3.org/2002/07/owl#" >
    <!ENTITY base "http://example.org/" >
    <!ENTITY wines "&base;wines#" >{entities}
]>
<rdf:RDF {RDF} xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="http://www.w3.org/2002/07/owl#">
    <rdf:Description rdf:about="&wines;Rosé"><rdf:type rdf:resource="&owl;Class"/>
        <rdfs:label>Rosé &amp; Rosado</rdfs:label></rdf:Description>
</rdf:RDF>"""
    return text.encode(encoding)


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1"])
@pytest.mark.parametrize("ending", ["owl", "owl.gz"])
def test_ontologies_with_namespaces_as_entities_are_loaded(
    encoding: str, ending: str, tmp_path: Path
) -> None:
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
