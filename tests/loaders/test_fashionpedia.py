"""Annotation files and scene graphs to RDF: the triples of their table, each defect named and counted."""

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
from mrag.loaders.importing import kind_of
from mrag.loaders.scenes import Fashionpedia, SceneGraphs
from mrag.reasoning.run import reason
from tests.annotations import expected as annotated
from tests.cases import cases
from tests.conftest import shared_data
from tests.made import PUBLISHED, write_annotations

B = "http://example.org/"
GOOD: dict[str, Any] = cases(__file__, "GOOD")


def written(folder: Path, data: Any, name: str = "a.json") -> Path:
    """Write JSON, a list as lines where the name says so."""
    path = folder / name
    lined = isinstance(data, list) and "jsonl" in name
    text = data if isinstance(data, str) else "\n".join(map(json.dumps, data if lined else [data]))
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
@settings(max_examples=20)
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
    assert write_annotations(path, scale=0.1) == (4562, 33340)
    data = json.loads(path.read_text())
    assert len(data["images"]) == 4562 and len(data["annotations"]) == 33340
    assert {a["image_id"] for a in data["annotations"]} == {i["id"] for i in data["images"]}
    assert Counter(c["supercategory"] for c in data["categories"]) == PUBLISHED["category_groups"]
    groups = {a["id"]: a["supercategory"] for a in data["attributes"]}
    assert len(groups) == 294 and max(groups) == 339
    assert sorted(groups) != list(range(294)), "identifiers have gaps"
    counts = [len(a["attribute_ids"]) for a in data["annotations"]]
    assert counts.count(0) / len(counts) == pytest.approx(PUBLISHED["bare"], abs=0.01)
    assert sum(counts) / len(counts) == pytest.approx(PUBLISHED["per_annotation"], rel=0.03)
    shown = Counter(groups[n] for a in data["annotations"] for n in a["attribute_ids"])
    for name, (_, thousands) in PUBLISHED["attribute_groups"].items():
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


S = B + "scenes#"
ROW: dict[str, Any] = cases(__file__, "scene")


def triples_of_scenes(path: Path) -> set[str]:
    schema = {line.removesuffix(" .\n") for line in schema_lines("scenes.ttl")}
    return {str(t) for t in SceneGraphs(path).triples()} - schema


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_caption_with_triples(tmp_path: Path, name: str) -> None:
    found = triples_of_scenes(written(tmp_path, [ROW], name))
    man, coat, region = f"<{B}object_7/1/man>", f"<{B}object_7/1/coat>", f"<{B}region_7/1>"
    assert {
        f'<{B}image_7> <{B}hasDescription> "a man in a <red> coat"',
        f'{region} <{S}hasCaption> "a man in a <red> coat"', f"<{B}image_7> <{S}hasRegion> {region}",
        f"<{B}image_7> <{S}hasObject> {man}", f"{coat} <{S}inRegion> {region}",
        f"{man} <{S}relation_wear> {coat}", f"{coat} <{S}relation_passive_hang_on> {man}",
        f"{coat} <{S}hasAttribute> <{B}attribute_light_red>",
        f'<{S}relation_passive_hang_on> <http://www.w3.org/2000/01/rdf-schema#label> "hang on (passive)"@en',
        f"<{S}relation_wear> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <{S}related>",
    } <= found  # fmt: skip
    with_array = triples_of_scenes(written(tmp_path, json.dumps([ROW]), "b.json"))
    assert with_array == found


def test_names_do_not_run_together(tmp_path: Path) -> None:
    rows = [
        {"image_id": "7", "region_id": "1_a", "triples": [["b", "is", "x"]]},
        {"image_id": "7", "region_id": "1", "triples": [["a_b", "is", "y"]]},
        {"image_id": "7_1", "region_id": "a", "triples": [["b", "is", "z"]]},
        {"doc_id": "7", "triples": [["1/a/b", "is", "w"]]},
    ]
    found = triples_of_scenes(written(tmp_path, rows, "a.jsonl"))
    having = [t.split()[0] for t in found if f"<{S}hasAttribute>" in t]
    assert len(having) == len(set(having)) == 4


def test_visual_genome_in_one_file_or_in_several(tmp_path: Path, kg: KnowledgeGraph) -> None:
    objects = [
        {"object_id": 1, "names": ["man"], "x": 1, "y": 2, "w": 3, "h": 4, "attributes": ["tall"]},
        {"object_id": 2, "name": "coat", "attributes": None},
    ]
    relation = {"relationship_id": 5, "predicate": "WEARS", "subject_id": 1, "object_id": 2}
    region = {"region_id": 8, "phrase": "a tall man", "x": 0, "y": 0, "width": 9, "height": 9}
    whole = [{"image_id": 3, "relationships": [relation], "objects": objects, "regions": [region]}]
    found = triples_of_scenes(written(tmp_path, json.dumps(whole), "scene_graphs.json"))
    assert {
        f"<{B}object_1> <{S}relation_WEARS> <{B}object_2>",
        f"<{B}object_1> <{S}hasAttribute> <{B}attribute_tall>",
        f'<{B}object_1> <{S}hasBoundingBox> "1 2 3 4"',
        f'<{B}region_8> <{S}hasBoundingBox> "0 0 9 9"',
        f'<{B}image_3> <{B}hasDescription> "a tall man"',
    } <= found
    nested = {"predicate": "WEARS", "subject": objects[0], "object": objects[1]}
    rows = (
        {"image_id": 3, "objects": objects}, {"image_id": 3, "attributes": objects},
        {"image_id": 3, "relationships": [nested]}, {"id": 3, "regions": [region]},
    )  # fmt: skip
    parts = [triples_of_scenes(written(tmp_path, json.dumps([row]), "part.json")) for row in rows]
    assert set().union(*parts) == found


@pytest.mark.parametrize(("kind", "row"), cases(__file__, "scene_defects"))
def test_a_defect_of_scenes_stops_or_is_counted(tmp_path: Path, kind: str, row: Any) -> None:
    path = written(tmp_path, [ROW, row, {**ROW, "image_id": "8"}], "a.jsonl")
    with pytest.raises(LoadError, match=f"(?i){kind}") as stopped:
        list(SceneGraphs(path).triples())
    assert stopped.value.file == str(path)
    records = SceneGraphs(path, on_bad="skip")
    found = {str(t) for t in records.triples()}
    assert records.report.problems == {kind: 1}
    assert f"<{B}object_8/1/man> <{S}relation_wear> <{B}object_8/1/coat>" in found


def test_broken_and_empty_files(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(ROW) + '\n{"image_id": 3, "capt', "a.jsonl")
    with pytest.raises(LoadError, match="ends early"):
        list(SceneGraphs(path).triples())
    records = SceneGraphs(path, on_bad="skip")
    assert len(list(records.triples())) > 10 and records.report.problems == {"broken JSON": 1}
    with pytest.raises(LoadError, match="no record"):
        list(SceneGraphs(written(tmp_path, "[]", "a.jsonl")).triples())


def test_the_real_garment_regions(kg: KnowledgeGraph) -> None:
    path = shared_data("vg_apparel/share.jsonl")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    records = SceneGraphs(path)
    with records.ntriples() as file:
        kg.load([file])
    pairs = {(f"{B}image_{r['image_id']}", " ".join(r["caption"].split())) for r in rows}
    said = kg.query(f"SELECT ?i ?d {{ ?i <{B}hasDescription> ?d }}")
    assert {(str(i), str(d)) for i, d in said} == pairs  # type: ignore[union-attr, misc]
    wearing = {r["image_id"] for r in rows for t in r["triples"] if t[1:] == ["v:wear", "shirt"]}
    asked = f"SELECT DISTINCT ?i {{ ?i <{S}hasObject> ?o . ?o <{S}relation_wear> [ a <{S}kind_shirt> ] }}"
    assert {str(i) for (i,) in kg.query(asked)} == {f"{B}image_{n}" for n in wearing}  # type: ignore[union-attr, misc]
    assert not reason(kg).clashes
    related = f"ASK {{ ?a <{S}related> ?b . ?a a <{S}Object> . ?b a <{S}Object> }}"
    assert kg.query(related)


@pytest.mark.parametrize("name", ["docs.jsonl", "pairs_caption_graph.jsonl.gz"])
def test_the_real_scenes_are_read_without_a_problem(name: str) -> None:
    path = shared_data("scenes_factual/share") / name
    records = SceneGraphs(path)
    for _ in records.lines():
        pass
    assert records.report.problems == {} and records.report.counts["records"] > 5000


COCO: dict[str, Any] = cases(__file__, "COCO")


def test_the_captions_of_coco(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(COCO), "captions_train2017.json")
    assert kind_of(path) == "scenes"
    found = triples_of_scenes(path)
    assert {
        f'<{B}image_9> <{B}hasFileName> "9.jpg"',
        f'<{B}image_9> <{B}hasOriginalUrl> "http://x.example/9.jpg"',
        f'<{B}image_9> <{B}hasDescription> "A dog on a bench."',
        f'<{B}region_9/1> <{S}hasCaption> "A dog on a bench."',
        f'<{B}region_9/2> <{S}hasCaption> "A dog on a bench."',
        f"<{B}image_10> <{S}hasRegion> <{B}region_10/3>",
    } <= found
    # Whatever the order of the sections.
    turned = json.dumps(dict(reversed(COCO.items())))
    assert triples_of_scenes(written(tmp_path, turned, "b.json")) == found


@pytest.mark.parametrize(
    "rows,kind",
    [
        ({**COCO, "annotations": [{"id": 1, "image_id": 9, "caption": 5}]}, "wrong value"),
        ({**COCO, "annotations": [{"id": 1, "caption": "x"}, {"caption": "y"}]}, "missing field"),
    ],
)
def test_defects_of_coco_are_named(tmp_path: Path, rows: Any, kind: str) -> None:
    path = written(tmp_path, json.dumps(rows), "a.json")
    assert kind_of(path) == "scenes"
    with pytest.raises(LoadError):
        list(SceneGraphs(path).triples())
    skipping = SceneGraphs(path, on_bad="skip")
    list(skipping.triples())
    assert skipping.report.problems.get(kind), skipping.report.problems


def test_addresses_of_images_are_kept(tmp_path: Path) -> None:
    rows = [{"image_id": 1, "image_url": "http://x.example/1.jpg", "objects": []}]
    assert f'<{B}image_1> <{B}hasOriginalUrl> "http://x.example/1.jpg"' in triples_of_scenes(
        written(tmp_path, rows, "a.jsonl")
    )
