"""What ontologies import is found in local files, and never fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

import mrag
from mrag.errors import LoadError
from mrag.loaders.rdf import CATALOG, Source, with_imports

HEAD = "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://e.org/> .\n"


def ontology(path: Path, iri: str, *imported: str, more: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"<{iri}> a owl:Ontology .", *(f"<{iri}> owl:imports <{other}> ." for other in imported), more]
    path.write_text(HEAD + "\n".join(lines), encoding="utf-8")
    return path


def names(*paths: Path) -> list[str]:
    return [source.path.name for source in with_imports([Source.of(path) for path in paths])]


def test_imports_of_imports_are_found_in_the_folder_whatever_their_files_are_called(tmp_path: Path) -> None:
    first = ontology(tmp_path / "first.ttl", "http://e.org/1", "http://e.org/2")
    ontology(tmp_path / "zzz.ttl", "http://e.org/2", "http://e.org/3", "http://e.org/1")
    ontology(tmp_path / "3.ttl", "http://e.org/other")
    ontology(tmp_path / "aaa.ttl", "http://e.org/3", "http://e.org/3")
    (tmp_path / "broken.ttl").write_text("no turtle", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("http://e.org/3", encoding="utf-8")
    assert names(first) == ["first.ttl", "zzz.ttl", "aaa.ttl"]
    assert names(first, tmp_path / "aaa.ttl") == ["first.ttl", "aaa.ttl", "zzz.ttl"], "each once"


def test_a_catalog_says_where_an_ontology_is(tmp_path: Path) -> None:
    first = ontology(tmp_path / "first.ttl", "http://e.org/1", "http://e.org/2", "http://e.org/3")
    ontology(tmp_path / "sub" / "two.ttl", "http://e.org/elsewhere")
    ontology(tmp_path / "sub" / "deep er" / "3.ttl", "http://e.org/3")
    (tmp_path / CATALOG).write_text(
        '<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">'
        '<uri name="http://e.org/2" uri="sub/two.ttl"/>'
        '<group xml:base="sub/"><uri name="http://e.org/3" uri="deep%20er/3.ttl"/></group>'
        '<uri name="http://e.org/4" uri="http://e.org/4.ttl"/></catalog>',
        encoding="utf-8",
    )
    assert names(first) == ["first.ttl", "two.ttl", "3.ttl"]
    with pytest.raises(LoadError, match=r"imports <http://e\.org/4>"):
        names(ontology(tmp_path / "fourth.ttl", "http://e.org/0", "http://e.org/4"))
    (tmp_path / CATALOG).write_text("<catalog>", encoding="utf-8")
    with pytest.raises(LoadError, match="Not a catalog"):
        names(first)


def test_a_graph_has_what_was_imported_only_if_that_was_asked_for(tmp_path: Path) -> None:
    cats = ontology(tmp_path / "cats.ttl", "http://e.org/cats", "http://e.org/pets", more=":tom a :Cat .")
    ontology(tmp_path / "pets.ttl", "http://e.org/pets", more=":Cat a owl:Class .")
    asked = "ASK { <http://e.org/Cat> a owl:Class }"
    with mrag.connect() as kg:
        kg.load([cats])
        assert not kg.query(asked)
        kg.load([cats], imports=True)
        assert kg.query(asked)


def test_an_import_that_is_not_here_is_refused_or_named(tmp_path: Path) -> None:
    cats = ontology(tmp_path / "cats.ttl", "http://e.org/cats", "http://e.org/pets", more=":tom a :Cat .")
    with mrag.connect() as kg:
        with pytest.raises(LoadError, match="no file here is that ontology") as refused:
            kg.load([cats], imports=True)
        assert refused.value.hint and "nothing is fetched" in refused.value.hint
        assert kg.count() == 0
        report = kg.load([cats], imports=True, keep_going=True)
        assert [left.file for left in report.left_out] == ["<http://e.org/pets>"]
        assert kg.count() == 3
