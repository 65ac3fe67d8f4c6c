"""What a load reads, connects to and runs besides what it was given: nothing that it was not asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

import mrag
from mrag.errors import LoadError
from mrag.loaders.rdf import CATALOG, OUTSIDE

_ONTOLOGY = "<http://www.w3.org/2002/07/owl#Ontology>"
_IMPORTS = "<http://www.w3.org/2002/07/owl#imports>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.ttl").write_text(f"<urn:s> a {_ONTOLOGY} . <urn:s> <urn:p> 'secret' .")
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


def test_a_catalog_may_be_nested_deep(folder: Path) -> None:
    deep = 50_000
    inner = '<uri name="urn:s" uri="b.ttl"/>'
    (folder / CATALOG).write_text("<group>" * deep + inner + "</group>" * deep)
    (folder / "b.ttl").write_text(f"<urn:s> a {_ONTOLOGY} .")
    try:
        assert _count(folder) == 2
    except LoadError as error:  # the parser of a later Python may have a limit of its own
        assert "Not a catalog" in str(error)
