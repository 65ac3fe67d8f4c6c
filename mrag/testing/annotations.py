"""Annotation files like Fashionpedia's, made from a seed: for measuring load, speed and memory.

How many images, annotations and attributes there are follows the training set: 45,623 images, 333,401
annotations, 38.1 % of these without attributes, 2.28 attributes on average, and the published totals of
attributes by group. Which category an annotation has, which garment has which attribute, the groups
without published totals and all polygons are made up, so that nothing about quality can be learnt here.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

IMAGES = 45_623
ANNOTATIONS = 333_401
BARE = 0.381
"""Share of the annotations that have no attribute."""
PER_ANNOTATION = 2.28
"""Attributes of an annotation on average."""

CATEGORY_GROUPS = {
    "upperbody": 6, "lowerbody": 3, "wholebody": 4, "head": 3, "neck": 1, "arms and hands": 2, "waist": 1,
    "legs and feet": 4, "others": 3, "garment parts": 7, "closures": 2, "decorations": 10,
}  # fmt: skip
"""Groups of categories, with how many each has."""

ATTRIBUTE_GROUPS = {
    "nickname": (153, 140),
    "silhouette": (25, 131),
    "waistline": (7, 60),
    "length": (15, 120),
    "neckline type": (25, 27),
    "opening type": (10, 45),
    "non-textile material type": (10, 71),
    "leather": (4, 5),
    "textile finishing, manufacturing techniques": (21, 78),
    "textile pattern": (18, 75),
    "animal": (6, 8),
}
"""Groups of attributes: how many each has, and how often one of it occurs, in thousands.

Of nickname, leather and animal no frequency is published; theirs is what is left of the sum.
"""

_POINTS = (6, 60)
_POLYGONS = 500


def write_annotations(
    path: str | os.PathLike[str],
    *,
    scale: float = 1.0,
    seed: int = 7,
    labels: str | os.PathLike[str] | None = None,
) -> tuple[int, int]:
    """Write an annotation file, as a stream."""
    rng = random.Random(seed)
    images = max(1, round(IMAGES * scale))
    annotations = max(images, round(ANNOTATIONS * scale))
    known = json.loads(Path(labels).read_text(encoding="utf-8-sig")) if labels is not None else _make_up()
    with _open(Path(path)) as out:
        out.write('{"info": {"year": 2020, "version": "1.0", "description": "made from a seed"},\n')
        out.write('"licenses": [{"id": 1, "name": "CC BY 4.0", "url": "https://creativecommons.org"}],\n')
        _array(out, "categories", map(json.dumps, known["categories"]))
        _array(out, "attributes", map(json.dumps, known["attributes"]))
        numbers = sorted(rng.sample(range(images * 2), images))
        _array(out, "images", (_image(rng, n) for n in numbers))
        _array(out, "annotations", _annotations(rng, numbers, annotations, known), last=True)
        out.write("}\n")
    return images, annotations


def _open(path: Path) -> IO[str]:
    if path.suffix != ".gz":
        return path.open("w", encoding="utf-8", buffering=1 << 20)
    # Without name and time, so that the same seed gives the same bytes.
    return io.TextIOWrapper(gzip.GzipFile(path, "wb", compresslevel=1, mtime=0), encoding="utf-8")


def _array(out: IO[str], name: str, records: Iterator[str], *, last: bool = False) -> None:
    out.write(f'"{name}": [')
    for number, record in enumerate(records):
        out.write((",\n" if number else "\n") + record)
    out.write("]\n" if last else "],\n")


def _make_up() -> dict[str, list[dict[str, Any]]]:
    """Return as many categories and attributes as the real ones, with gaps in the latter's identifiers."""
    categories = [g for g, count in CATEGORY_GROUPS.items() for _ in range(count)]
    attributes = [g for g, (count, _) in ATTRIBUTE_GROUPS.items() for _ in range(count)]
    gap = 341 / len(attributes)
    return {
        "categories": [
            {"id": i, "name": f"garment, {i}", "supercategory": g, "level": 2, "taxonomy_id": f"obj{i:06}"}
            for i, g in enumerate(categories)
        ],
        "attributes": [
            {
                "id": int(i * gap),
                "name": f"trait {i} ({g.split()[0].rstrip(',')})",
                "supercategory": g,
                "level": 1,
                "taxonomy_id": f"att{i:06}",
            }
            for i, g in enumerate(attributes)
        ],
    }


def _image(rng: random.Random, number: int) -> str:
    name = f"{rng.getrandbits(128):032x}"
    return json.dumps(
        {
            "id": number,
            "width": rng.randrange(300, 2000),
            "height": rng.randrange(400, 2500),
            "file_name": f"{name}.jpg",
            "license": 1,
            "time_captured": "March-August, 2018",
            "original_url": f"http://example.com/{name}.jpg",
            "isstatic": 1,
            "kaggle_id": name,
        }
    )


def _annotations(
    rng: random.Random, images: list[int], count: int, known: dict[str, list[dict[str, Any]]]
) -> Iterator[str]:
    """Yield annotations image by image; each image has one at least."""
    per_image = [1] * len(images)
    for _ in range(count - len(images)):
        per_image[rng.randrange(len(images))] += 1
    categories = [c["id"] for c in known["categories"]]
    rng.shuffle(categories)
    of_category = list(accumulate(1 / (rank + 2) for rank in range(len(categories))))
    attributes, of_attribute = _weight(rng, known["attributes"])
    # More than one, so that those with none bring the average down to the published one.
    more = PER_ANNOTATION / (1 - BARE) - 1
    polygons = [_polygon(rng) for _ in range(_POLYGONS)]
    number = 0
    for image, garments in zip(images, per_image, strict=True):
        for _ in range(garments):
            number += rng.randrange(1, 3)
            chosen: dict[int, None] = {}
            if attributes and rng.random() >= BARE:
                wanted = min(1 + sum(rng.random() < more / 8 for _ in range(8)), len(attributes))
                while len(chosen) < wanted:
                    chosen[rng.choices(attributes, cum_weights=of_attribute)[0]] = None
            category = rng.choices(categories, cum_weights=of_category)[0]
            x, y, w, h = (rng.randrange(1, 800) for _ in range(4))
            yield (
                f'{{"id": {number}, "image_id": {image}, "category_id": {category}, '
                f'"attribute_ids": {list(chosen)}, "segmentation": {rng.choice(polygons)}, '
                f'"bbox": [{x}.0, {y}.0, {w}.0, {h}.0], "area": {w * h / 2}, "iscrowd": 0}}'
            )


def _weight(rng: random.Random, attributes: list[dict[str, Any]]) -> tuple[list[int], list[float]]:
    """Return attributes with added-up weights: groups by their totals, inside a group by Zipf's law."""
    groups: dict[str, list[int]] = {}
    for attribute in attributes:
        groups.setdefault(str(attribute.get("supercategory")), []).append(attribute["id"])
    members: list[int] = []
    weights: list[float] = []
    for name in sorted(groups):
        ids = groups[name]
        rng.shuffle(ids)
        total = ATTRIBUTE_GROUPS.get(name, (0, 5))[1]
        shares = [1 / (rank + 1) for rank in range(len(ids))]
        members.extend(ids)
        weights.extend(total * share / sum(shares) for share in shares)
    return members, list(accumulate(weights))


def _polygon(rng: random.Random) -> str:
    points = [rng.randrange(0, 1500) for _ in range(2 * rng.randint(*_POINTS))]
    return json.dumps([points])
