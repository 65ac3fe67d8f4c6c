"""The commands `mrag import` and `mrag views`, as a person runs them."""

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from mrag.testing.annotations import write_annotations
from tests.commands import run


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
    for arguments, message in (
        (["shops.csv"], "needs a mapping"),
        (["shops.csv", "--as", "nothing"], "Nothing is imported as 'nothing'"),
        (["none.json"], "no such file"),
    ):
        failed = mrag("import", tmp_path / arguments[0], *arguments[1:])
        assert failed.returncode == 1 and message in failed.stderr


def test_tables_are_sketched_imported_and_what_was_skipped_is_said(mrag: Command, tmp_path: Path) -> None:
    shops, cities = tmp_path / "shops.csv", tmp_path / "cities {x}.csv"
    shops.write_bytes('id;name;city;year\n1;Hüte;3;1999\n2;"A\n""B""";4;2001\n'.encode("iso-8859-1"))
    cities.write_text("\ufeffid,name\n3,Köln\n4,Paris\n", encoding="utf-8")
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
