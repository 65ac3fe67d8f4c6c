"""Annotation files to RDF: the triples of their table, each defect named and counted; and files by a seed."""

import copy
import gzip
import json
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders import _records
from mrag.loaders._records import schema_lines
from mrag.loaders.scenes import Fashionpedia
from mrag.reasoning.run import reason
from mrag.testing.annotations import (
    ANNOTATIONS,
    ATTRIBUTE_GROUPS,
    BARE,
    CATEGORY_GROUPS,
    IMAGES,
    PER_ANNOTATION,
    write_annotations,
)
from tests.annotations import expected as annotated
from tests.cases import cases
from tests.conftest import shared_data

B = "http://example.org/"
GOOD: dict[str, Any] = cases(__file__, "GOOD")


def written(folder: Path, data: object, name: str = "a.json") -> Path:
    path = folder / name
    text = data if isinstance(data, str) else json.dumps(data)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def triples(path: Path, **options: Any) -> set[str]:
    """The triples without those of the ontology."""
    schema = {line.removesuffix(" .\n") for line in schema_lines(Fashionpedia.ontology)}
    return {str(t) for t in Fashionpedia(path, **options).triples()} - schema


def expected(data: dict[str, Any]) -> set[str]:
    """The same by hand."""
    return set(map(str, annotated(data, "plain")))


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_the_triples_are_those_of_a_plain_program(tmp_path: Path, name: str) -> None:
    assert triples(written(tmp_path, GOOD, name)) == expected(GOOD)


@given(st.permutations(sorted(GOOD)))
@settings(max_examples=20, deadline=None)
def test_sections_may_come_in_any_order(tmp_path_factory: pytest.TempPathFactory, order: list[str]) -> None:
    path = written(tmp_path_factory.mktemp("order"), {name: GOOD[name] for name in order})
    assert triples(path) == expected(GOOD)


def test_the_real_sample_of_the_older_ontology() -> None:
    path = shared_data("fashionpedia_labels") / "sample.json"
    records = Fashionpedia(path)
    found = {str(t) for t in records.triples()}
    data = json.loads(path.read_text())
    assert expected(data) <= found
    assert records.report.counts == {"images": 2, "annotations": 12, "categories": 48, "attributes": 320}
    assert records.report.problems == {}


def test_boxes_and_masks_are_kept_where_asked_for(tmp_path: Path) -> None:
    path, first, second = written(tmp_path, GOOD), f"<{B}annotation_5> <{B}", f"<{B}annotation_6> <{B}"
    boxes = {f'{first}hasBoundingBox> "1 2.5 3 4"', f'{second}hasBoundingBox> "0 0 1 1"'}
    assert triples(path, boxes=True) - expected(GOOD) == boxes
    # The other segment is a run length.
    assert triples(path, masks=True) - expected(GOOD) == {f'{first}hasSegmentation> "1,2 3,4 5,6"'}


@pytest.mark.parametrize(
    "segments", [[[1, 2, 3, 4]], [[1, 2, 3, 4, 5, 6, 7]], [["a"] * 6], [1], [[1] * 6, None]]
)
def test_a_segment_that_is_no_polygon_is_named(tmp_path: Path, segments: list[Any]) -> None:
    data = json.loads(json.dumps(GOOD))
    data["annotations"][0]["segmentation"] = segments
    records = Fashionpedia(written(tmp_path, data), on_bad="skip", masks=True)
    assert not any("_5> <http://example.org/hasSegmentation>" in str(t) for t in records.triples())
    assert "wrong value" in records.report.problems


def test_what_is_written_twice_is_the_same(tmp_path: Path, kg: KnowledgeGraph) -> None:
    path = written(tmp_path, GOOD)
    Fashionpedia(path).write(tmp_path / "1.nt")
    Fashionpedia(path).write(tmp_path / "2.nt")
    assert (tmp_path / "1.nt").read_bytes() == (tmp_path / "2.nt").read_bytes()
    assert kg.load([tmp_path / "1.nt"]).triples > 0
    assert kg.load([tmp_path / "2.nt"]).triples == 0


def test_the_schema_makes_no_attribute_a_licence(tmp_path: Path, kg: KnowledgeGraph) -> None:
    with Fashionpedia(written(tmp_path, GOOD)).ntriples() as path:
        kg.load([path])
    reason(kg)
    for wrong in ("Attribute>, :License", "Annotation>, :Image", "Image>, :License"):
        first, second = wrong.split(">, :")
        assert not kg.query(f"ASK {{ ?x a <{B}{first}>, <{B}{second}> }}")


def changed(data: Any, where: str, how: str, value: Any) -> None:
    """Change a file of annotations at one place."""
    for step in filter(None, where.split(".")):
        data = data[int(step) if step.isdigit() else step]
    match how:
        case "update":
            data.update(value)
        case "drop":
            del data[value]
        case "add":
            data.append(value)
        case "repeat":
            data.append(data[value])


@pytest.mark.parametrize(("kind", "where", "how", "value", "left"), cases(__file__, "DEFECTS"))
def test_a_defect_stops_or_is_counted(
    tmp_path: Path, kind: str, where: str, how: str, value: Any, left: int
) -> None:
    data = copy.deepcopy(GOOD)
    changed(data, where, how, value)
    path = written(tmp_path, data)
    with pytest.raises(LoadError) as stopped:
        list(Fashionpedia(path).triples())
    assert stopped.value.file == str(path)
    assert kind in stopped.value.message.lower()
    assert "--skip-bad" in str(stopped.value)
    records = Fashionpedia(path, on_bad="skip")
    found = {str(t) for t in records.triples()}
    assert records.report.problems.get(kind, 0) >= 1
    assert [p.kind for p in records.report.examples].count(kind) >= 1
    assert records.report.counts.get("annotations", 0) == left
    assert left == 0 or f"<{B}annotation_6> <{B}hasCategory> <{B}category_0>" in found


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9, 0.999])
def test_a_file_that_ends_early_is_named(tmp_path: Path, cut: float) -> None:
    text = json.dumps(GOOD)
    path = written(tmp_path, text[: int(len(text) * cut)])
    with pytest.raises(LoadError, match="ends early") as stopped:
        list(Fashionpedia(path).triples())
    assert stopped.value.file == str(path)
    records = Fashionpedia(path, on_bad="skip")
    found = {str(t) for t in records.triples()}
    assert records.report.problems["broken JSON"] == 1
    assert found - {line.removesuffix(" .\n") for line in schema_lines("fashionpedia.ttl")} <= expected(GOOD)


@pytest.mark.parametrize("text", ["", "[]", "nonsense", '{"images": 1} x', "{'images': []}"])
def test_what_is_no_annotation_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(LoadError):
        list(Fashionpedia(written(tmp_path, text)).triples())


def test_a_gzip_file_that_ends_early_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps(GOOD).encode())[:-20])
    with pytest.raises(LoadError, match="ends early or is not gzip"):
        list(Fashionpedia(path).triples())
    path.write_bytes(b"plain")
    with pytest.raises(LoadError, match="not gzip"):
        list(Fashionpedia(path).triples())


def test_a_stopped_load_stores_nothing(tmp_path: Path, any_kg: KnowledgeGraph) -> None:
    path = written(tmp_path, {**GOOD, "annotations": [*GOOD["annotations"], {"id": 1}]})
    with pytest.raises(LoadError), Fashionpedia(path).ntriples() as file:
        any_kg.load([file])
    assert any_kg.count() == 0


def test_wrong_calls_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no such file"):
        Fashionpedia(tmp_path / "none.json")
    with pytest.raises(ConfigError, match="stop or skip"):
        Fashionpedia(written(tmp_path, GOOD), on_bad="ignore")  # type: ignore[arg-type]


@pytest.mark.slow
def test_memory_does_not_grow_with_the_polygons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    write_annotations(path, scale=0.02)
    monkeypatch.setattr(_records, "_CHUNK", 1 << 15)
    tracemalloc.start()
    try:
        for _ in Fashionpedia(path).lines():
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The ontology is read in pieces of a megabyte.
    assert peak < 1_500_000 < 3_000_000 < path.stat().st_size


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    seen: list[tuple[int, int | None]] = []
    list(Fashionpedia(path, on_progress=lambda done, total: seen.append((done, total))).triples())
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_the_statistics_are_the_published_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert write_annotations(path, scale=0.1) == (round(IMAGES / 10), round(ANNOTATIONS / 10))
    data = json.loads(path.read_text())
    assert len(data["images"]) == 4562 and len(data["annotations"]) == 33340
    assert {a["image_id"] for a in data["annotations"]} == {i["id"] for i in data["images"]}
    assert Counter(c["supercategory"] for c in data["categories"]) == CATEGORY_GROUPS
    groups = {a["id"]: a["supercategory"] for a in data["attributes"]}
    assert len(groups) == 294 and max(groups) == 339
    assert sorted(groups) != list(range(294)), "identifiers have gaps"
    counts = [len(a["attribute_ids"]) for a in data["annotations"]]
    assert counts.count(0) / len(counts) == pytest.approx(BARE, abs=0.01)
    assert sum(counts) / len(counts) == pytest.approx(PER_ANNOTATION, rel=0.03)
    shown = Counter(groups[n] for a in data["annotations"] for n in a["attribute_ids"])
    for name, (_, thousands) in ATTRIBUTE_GROUPS.items():
        # Attributes of an annotation differ, which pushes the most frequent ones down a little.
        assert shown[name] * 10 / 1000 == pytest.approx(thousands, rel=0.15), name
    assert not any(a["iscrowd"] for a in data["annotations"])


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    one, two, other = (tmp_path / f"{n}.json" for n in "abc")
    write_annotations(one, scale=0.002, seed=3)
    write_annotations(two, scale=0.002, seed=3)
    write_annotations(other, scale=0.002, seed=4)
    assert one.read_bytes() == two.read_bytes() != other.read_bytes()
    write_annotations(tmp_path / "a.json.gz", scale=0.002, seed=3)
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == one.read_bytes()


def test_what_is_made_can_be_read_and_real_names_are_kept(tmp_path: Path) -> None:
    labels = shared_data("fashionpedia_labels") / "category_attributes_descriptions.json"
    write_annotations(tmp_path / "a.json", scale=0.002, labels=labels)
    records = Fashionpedia(tmp_path / "a.json")
    found = {str(t) for t in records.triples()}
    assert records.report.problems == {}
    assert records.report.counts["categories"] == 46 and records.report.counts["attributes"] == 294
    assert '<http://example.org/category_0> <http://example.org/hasName> "shirt, blouse"' in found
