"""Scene graphs to RDF: captions with triples, Visual Genome's own files, and their defects."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mrag.errors import LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders._records import schema_lines
from mrag.loaders.importing import kind_of
from mrag.loaders.scenes import SceneGraphs
from mrag.reasoning.run import reason
from tests.cases import cases
from tests.conftest import shared_data

B = "http://example.org/"
S = B + "scenes#"
ROW: dict[str, Any] = {
    "image_id": "7",
    "region_id": "1",
    "caption": "a man  in a <red> coat",
    "triples": [["man", "v:wear", "coat"], ["coat", "is", "light red"], ["coat", "pv:hang on", "man"]],
}


def written(folder: Path, rows: list[Any] | str, name: str = "a.jsonl") -> Path:
    path = folder / name
    text = rows if isinstance(rows, str) else "\n".join(json.dumps(row) for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def triples(path: Path) -> set[str]:
    schema = {line.removesuffix(" .\n") for line in schema_lines("scenes.ttl")}
    return {str(t) for t in SceneGraphs(path).triples()} - schema


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_caption_with_triples(tmp_path: Path, name: str) -> None:
    found = triples(written(tmp_path, [ROW], name))
    man, coat, region = f"<{B}object_7/1/man>", f"<{B}object_7/1/coat>", f"<{B}region_7/1>"
    assert {
        f'<{B}image_7> <{B}hasDescription> "a man in a <red> coat"',
        f'{region} <{S}hasCaption> "a man in a <red> coat"',
        f"<{B}image_7> <{S}hasRegion> {region}",
        f"<{B}image_7> <{S}hasObject> {man}",
        f"{coat} <{S}inRegion> {region}",
        f"{man} <{S}relation_wear> {coat}",
        f"{coat} <{S}relation_passive_hang_on> {man}",
        f"{coat} <{S}hasAttribute> <{B}attribute_light_red>",
        f'<{S}relation_passive_hang_on> <http://www.w3.org/2000/01/rdf-schema#label> "hang on (passive)"@en',
        f"<{S}relation_wear> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <{S}related>",
    } <= found
    with_array = triples(written(tmp_path, json.dumps([ROW]), "b.json"))
    assert with_array == found


def test_names_do_not_run_together(tmp_path: Path) -> None:
    rows = [
        {"image_id": "7", "region_id": "1_a", "triples": [["b", "is", "x"]]},
        {"image_id": "7", "region_id": "1", "triples": [["a_b", "is", "y"]]},
        {"image_id": "7_1", "region_id": "a", "triples": [["b", "is", "z"]]},
        {"doc_id": "7", "triples": [["1/a/b", "is", "w"]]},
    ]
    found = triples(written(tmp_path, rows))
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
    found = triples(written(tmp_path, json.dumps(whole), "scene_graphs.json"))
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
    parts = [triples(written(tmp_path, json.dumps([row]), "part.json")) for row in rows]
    assert set().union(*parts) == found


DEFECTS: list[tuple[str, Any]] = [
    ("missing field", {"caption": "no image"}),
    ("missing field", ["no", "object"]),
    ("missing field", {**ROW, "image_id": None}),
    ("missing field", {"image_id": 1, "objects": [{"names": ["x"]}]}),
    ("missing field", {"image_id": 1, "objects": [{"object_id": 1}], "relationships": [{"subject_id": 1}]}),
    ("wrong value", {**ROW, "image_id": 9, "triples": [["man", "v:wear"]]}),
    ("wrong value", {**ROW, "image_id": 9, "triples": [["man", "v:wear", 3]]}),
    ("wrong value", {**ROW, "image_id": 9, "triples": "man wears coat"}),
    ("wrong value", {**ROW, "image_id": 9, "caption": 7}),
    ("wrong value", {"image_id": 1, "objects": [{"object_id": 1, "attributes": [None]}]}),
    (
        "unknown object",
        {"image_id": 1, "relationships": [{"predicate": "on", "subject_id": 1, "object_id": 2}]},
    ),
    ("duplicate identifier", ROW),
    ("empty record", {"image_id": 1, "triples": []}),
]


@pytest.mark.parametrize(("kind", "row"), DEFECTS, ids=lambda v: v if isinstance(v, str) else "")
def test_a_defect_stops_or_is_counted(tmp_path: Path, kind: str, row: Any) -> None:
    path = written(tmp_path, [ROW, row, {**ROW, "image_id": "8"}])
    with pytest.raises(LoadError, match=f"(?i){kind}") as stopped:
        list(SceneGraphs(path).triples())
    assert stopped.value.file == str(path)
    records = SceneGraphs(path, on_bad="skip")
    found = {str(t) for t in records.triples()}
    assert records.report.problems == {kind: 1}
    assert f"<{B}object_8/1/man> <{S}relation_wear> <{B}object_8/1/coat>" in found


def test_broken_and_empty_files(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(ROW) + '\n{"image_id": 3, "capt')
    with pytest.raises(LoadError, match="ends early"):
        list(SceneGraphs(path).triples())
    records = SceneGraphs(path, on_bad="skip")
    assert len(list(records.triples())) > 10 and records.report.problems == {"broken JSON": 1}
    with pytest.raises(LoadError, match="no record"):
        list(SceneGraphs(written(tmp_path, "[]")).triples())


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
    found = triples(path)
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
    assert triples(written(tmp_path, turned, "b.json")) == found


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
    assert f'<{B}image_1> <{B}hasOriginalUrl> "http://x.example/1.jpg"' in triples(written(tmp_path, rows))
