"""Annotation files like Fashionpedia's, made from a seed: for measuring load, speed and memory.

How many images, annotations and attributes there are follows the training set, with the published totals of
attributes by group: `made.json` has for each how many it has, and how often one of it occurs, in thousands
(of nickname, leather and animal none is published; theirs is what is left of the sum). Which category an
annotation has, which garment has which attribute and all polygons are made up, so that nothing about quality
can be learnt here.
"""

import gzip
import io
import json
import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

PUBLISHED: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
Labels = dict[str, list[dict[str, Any]]]


def write_annotations(
    path: Path, *, scale: float = 1.0, seed: int = 7, labels: Path | None = None
) -> tuple[int, int]:
    """Write an annotation file, as a stream."""
    rng = random.Random(seed)
    images = max(1, round(PUBLISHED["images"] * scale))
    annotations = max(images, round(PUBLISHED["annotations"] * scale))
    known = made_up() if labels is None else json.loads(labels.read_text("utf-8-sig"))
    with opened(path) as out:
        out.write('{"info": {"year": 2020, "version": "1.0", "description": "made from a seed"},\n')
        out.write('"licenses": [{"id": 1, "name": "CC BY 4.0", "url": "https://creativecommons.org"}]')
        numbers = sorted(rng.sample(range(images * 2), images))
        sections = {
            "categories": map(json.dumps, known["categories"]),
            "attributes": map(json.dumps, known["attributes"]),
            "images": (image(rng, number) for number in numbers),
            "annotations": annotated(rng, numbers, annotations, known),
        }
        for name, records in sections.items():
            out.write(f',\n"{name}": [')
            out.writelines((",\n" if at else "\n") + record for at, record in enumerate(records))
            out.write("]")
        out.write("\n}\n")
    return images, annotations


def opened(path: Path) -> IO[str]:
    """Open a file for writing, compressed without time, so that a seed always gives the same bytes."""
    if path.suffix != ".gz":
        return path.open("w", encoding="utf-8", buffering=1 << 20)
    return io.TextIOWrapper(gzip.GzipFile(path, "wb", compresslevel=1, mtime=0), encoding="utf-8")


def made_up() -> Labels:
    """Return as many categories and attributes as the real ones, with gaps in the latter's identifiers."""
    categories = [g for g, count in PUBLISHED["category_groups"].items() for _ in range(count)]
    attributes = [g for g, (count, _) in PUBLISHED["attribute_groups"].items() for _ in range(count)]
    gap = 341 / len(attributes)
    rows = {
        "categories": [(i, f"garment, {i}", g, 2, f"obj{i:06}") for i, g in enumerate(categories)],
        "attributes": [
            (int(i * gap), f"trait {i} ({g.split()[0].rstrip(',')})", g, 1, f"att{i:06}")
            for i, g in enumerate(attributes)
        ],
    }
    names = ("id", "name", "supercategory", "level", "taxonomy_id")
    return {section: [dict(zip(names, row, strict=True)) for row in some] for section, some in rows.items()}


def image(rng: random.Random, number: int) -> str:
    """Return an image as it is written."""
    name = f"{rng.getrandbits(128):032x}"
    fields = {
        "id": number, "width": rng.randrange(300, 2000), "height": rng.randrange(400, 2500),
        "file_name": f"{name}.jpg", "license": 1, "time_captured": "March-August, 2018",
        "original_url": f"http://example.com/{name}.jpg", "isstatic": 1, "kaggle_id": name,
    }  # fmt: skip
    return json.dumps(fields)


def annotated(rng: random.Random, images: list[int], count: int, known: Labels) -> Iterator[str]:
    """Yield annotations image by image; each image has one at least."""
    per_image = [1] * len(images)
    for _ in range(count - len(images)):
        per_image[rng.randrange(len(images))] += 1
    categories = [c["id"] for c in known["categories"]]
    rng.shuffle(categories)
    of_category = list(accumulate(1 / (rank + 2) for rank in range(len(categories))))
    attributes, of_attribute = weighted(rng, known["attributes"])
    # More than one, so that those with none bring the average down to the published one.
    more = PUBLISHED["per_annotation"] / (1 - PUBLISHED["bare"]) - 1
    points = [[rng.randrange(0, 1500) for _ in range(2 * rng.randint(6, 60))] for _ in range(500)]
    polygons = [json.dumps([some]) for some in points]
    number = 0
    for one, garments in zip(images, per_image, strict=True):
        for _ in range(garments):
            number += rng.randrange(1, 3)
            chosen: dict[int, None] = {}
            if attributes and rng.random() >= PUBLISHED["bare"]:
                wanted = min(1 + sum(rng.random() < more / 8 for _ in range(8)), len(attributes))
                while len(chosen) < wanted:
                    chosen[rng.choices(attributes, cum_weights=of_attribute)[0]] = None
            category = rng.choices(categories, cum_weights=of_category)[0]
            x, y, w, h = (rng.randrange(1, 800) for _ in range(4))
            yield (
                f'{{"id": {number}, "image_id": {one}, "category_id": {category}, '
                f'"attribute_ids": {list(chosen)}, "segmentation": {rng.choice(polygons)}, '
                f'"bbox": [{x}.0, {y}.0, {w}.0, {h}.0], "area": {w * h / 2}, "iscrowd": 0}}'
            )


def weighted(rng: random.Random, attributes: list[dict[str, Any]]) -> tuple[list[int], list[float]]:
    """Return attributes with added-up weights: groups by their totals, inside a group by Zipf's law."""
    groups: dict[str, list[int]] = {}
    for attribute in attributes:
        groups.setdefault(str(attribute.get("supercategory")), []).append(attribute["id"])
    members: list[int] = []
    weights: list[float] = []
    for name, ids in sorted(groups.items()):
        rng.shuffle(ids)
        shares = [1 / (rank + 1) for rank in range(len(ids))]
        total = PUBLISHED["attribute_groups"].get(name, (0, 5))[1]
        members.extend(ids)
        weights.extend(total * share / sum(shares) for share in shares)
    return members, list(accumulate(weights))
