"""A fashion-like graph of some four million triples, made from a seed.

Its size and shape follow Fashionpedia's training set: 45,623 images, 310,927 annotations, 46 categories
and 294 attributes, with category frequencies that fall off as Zipf's law has it.
"""

from __future__ import annotations

import random
from pathlib import Path

BASE = "http://example.org/fashion#"
IMAGES = 45_623
ANNOTATIONS = 310_927
CATEGORIES = 46
ATTRIBUTES = 294

_RDF = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
_INT = "^^<http://www.w3.org/2001/XMLSchema#integer>"
TBOX = Path(__file__).with_name("fashion.ttl").read_text()
"""Hierarchy, domains and ranges, an inverse, a property chain and a defined class."""


def write_graph(path: Path, scale: float = 1.0, seed: int = 7) -> int:
    """Write the data as N-Triples, a share of the images and annotations; return the number of statements."""
    rng = random.Random(seed)
    images, annotations = int(IMAGES * scale), int(ANNOTATIONS * scale)
    weights = [1 / (rank + 1) for rank in range(CATEGORIES)]
    categories = rng.choices(range(CATEGORIES), weights, k=annotations)
    count = 0
    with path.open("w", encoding="ascii") as out:

        def put(s: str, p: str, o: str) -> None:
            nonlocal count
            count += 1
            out.write(f"<{BASE}{s}> {p} {o} .\n")

        kinds = ("Upper", "Lower", "Whole", "Accessory")
        for c in range(CATEGORIES):
            put(f"category_{c}", _RDF, f"<{BASE}{kinds[c % 4]}>")
            put(f"category_{c}", _LABEL, f'"category {c}"')
        for a in range(ATTRIBUTES):
            put(f"attribute_{a}", _RDF, f"<{BASE}Attribute>")
            put(f"attribute_{a}", _LABEL, f'"attribute {a}"')
        for i in range(images):
            name = f"image_{i}"
            put(name, _RDF, f"<{BASE}Image>")
            put(name, _LABEL, f'"image {i}"')
            put(name, f"<{BASE}fileName>", f'"{rng.getrandbits(64):016x}.jpg"')
            for key in ("width", "height", "license"):
                put(name, f"<{BASE}{key}>", f'"{rng.randrange(400, 4000)}"{_INT}')
        for a in range(annotations):
            name = f"annotation_{a}"
            put(name, _RDF, f"<{BASE}Annotation>")
            put(name, f"<{BASE}hasImage>", f"<{BASE}image_{rng.randrange(images)}>")
            put(name, f"<{BASE}hasCategory>", f"<{BASE}category_{categories[a]}>")
            for _ in range(rng.choice((0, 0, 1, 2, 3))):
                put(name, f"<{BASE}hasAttribute>", f"<{BASE}attribute_{rng.randrange(ATTRIBUTES)}>")
            for key in ("area", "left", "top", "width", "height", "score", "isCrowd", "order"):
                put(name, f"<{BASE}{key}>", f'"{rng.randrange(100_000)}"{_INT}')
    return count
