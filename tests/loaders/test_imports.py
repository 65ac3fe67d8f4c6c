"""What ontologies import is found in local files, and never fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

import mrag
from mrag.errors import LoadError
from mrag.loaders.rdf import OUTSIDE, Source, with_imports

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


def test_links_stay_in_the_folder_of_a_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = ontology(tmp_path / "secret.ttl", "urn:s", more="<urn:s> <urn:p> 'secret' .")
    first = ontology(tmp_path / "load" / "a.ttl", "urn:a", "urn:s")
    (first.parent / "link.ttl").symlink_to(secret)
    with mrag.connect() as kg:
        with pytest.raises(LoadError, match="no file here is that ontology"):
            kg.load([first], imports=True)
        with pytest.raises(LoadError, match="A link leads out of the folder"):
            kg.load([first.parent])
        monkeypatch.setenv(OUTSIDE, "1")
        kg.load([first.parent])
        assert kg.count() == 4
