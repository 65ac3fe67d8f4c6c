"""Annotation files made from a seed: the published statistics, and the same file from the same seed."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from mrag.loaders.scenes import Fashionpedia
from mrag.testing.annotations import (
    ANNOTATIONS,
    ATTRIBUTE_GROUPS,
    BARE,
    CATEGORY_GROUPS,
    IMAGES,
    PER_ANNOTATION,
    write_annotations,
)
from tests.conftest import shared_data


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
