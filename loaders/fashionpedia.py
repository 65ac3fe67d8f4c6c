"""Fashionpedia's annotation files to RDF, in the schema of `ontology/fashionpedia.ttl`.

The files are like those of COCO: an object of long arrays `images`, `annotations`, `categories`,
`attributes` and `licenses`, in any order. They are read as a stream, in one pass where the annotations
come last and in two where they do not; of annotations only the identifiers stay in memory. Segments
that are run lengths are not loaded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from mrag.loaders._records import (
    INDIVIDUAL,
    INTEGER,
    LABEL,
    TYPE,
    BrokenJson,
    JsonText,
    OnBad,
    Records,
    finite,
    text,
    whole,
)
from mrag.loaders.rdf import Progress
from mrag.rdf.namespaces import XSD

BASE = "http://example.org/"
"""Start of the IRIs of schema and data."""

_DOUBLE = f"^^<{XSD}double>"
_NEEDED = ("images", "categories", "annotations")

Row = dict[str, Any]


def _fashion(name: str) -> str:
    return f"<{BASE}{name}>"


class Fashionpedia(Records):
    """An annotation file of Fashionpedia, such as `instances_attributes_train2020.json`.

    Kinds of problems: `broken JSON`, `empty section`, `missing field`, `duplicate identifier`,
    `unknown image`, `unknown category`, `unknown attribute`, `unknown licence`. When bad records are
    skipped, an unknown attribute costs its annotation that attribute alone, an unknown licence nothing,
    and broken JSON what comes after the break.

    Args:
        path: The file, gzipped or not.
        on_bad: `stop` at the first problem, or `skip` it and count it.
        on_progress: Called with the bytes read and the bytes in all, in each pass anew.
        boxes: Whether bounding boxes are kept, as `hasBoundingBox "x y width height"`, in pixels.
        masks: Whether the polygons of segments are kept, as `hasSegmentation "x,y x,y x,y; …"`, in pixels.

    Raises:
        LoadError: If there is no such file.

    Example:
        >>> import json, tempfile
        >>> from pathlib import Path
        >>> data = {"images": [{"id": 7, "file_name": "7.jpg"}],
        ...         "categories": [{"id": 4, "name": "jacket", "supercategory": "upperbody"}],
        ...         "attributes": [{"id": 17, "name": "blazer", "supercategory": "nickname"}],
        ...         "annotations": [{"id": 1, "image_id": 7, "category_id": 4, "attribute_ids": [17]}]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "a.json"
        ...     _ = path.write_text(json.dumps(data))
        ...     found = {str(t) for t in Fashionpedia(path).triples()}
        >>> "<http://example.org/annotation_1> <http://example.org/hasCategory> "\
                "<http://example.org/category_4>" in found
        True
    """

    ontology = "fashionpedia.ttl"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        on_bad: OnBad = "stop",
        on_progress: Progress | None = None,
        boxes: bool = False,
        masks: bool = False,
    ) -> None:
        super().__init__(path, on_bad=on_bad, on_progress=on_progress)
        self.boxes, self.masks = boxes, masks

    def statements(self) -> Iterator[str]:
        """Yield the data as lines of N-Triples."""
        self._ids: dict[str, set[int]] = {}
        self._linked: dict[int, int] = {}
        done = False
        try:
            with JsonText(self.path, self.on_progress) as source:
                for section in source.fields():
                    read = self._SECTIONS.get(section)
                    if read is not None and source.peek() == "[":
                        yield from self._section(section, source, read)
                    elif section == "annotations" and source.peek() == "[":
                        done = all(s in self._ids for s in ("images", "categories", "attributes"))
                        if done:
                            yield from self._annotations(source)
                        else:
                            source.skip()
                    else:
                        source.skip()
                if not source.blank():
                    raise source.broken("something follows the last brace")
        except BrokenJson as error:
            self.broken(error)
        if not done:
            yield from self._second_pass()
        for section in _NEEDED:
            if not self.report.counts.get(section):
                self.bad("empty section", section, "there is nothing in it, or it is not there")
        for licence, images in sorted(self._linked.items()):
            if licence not in self._ids.get("licenses", ()):
                self.bad("unknown licence", f"licence {licence}", f"{images} images are linked to it")

    def _second_pass(self) -> Iterator[str]:
        try:
            with JsonText(self.path, self.on_progress) as source:
                for section in source.fields():
                    if section == "annotations" and source.peek() == "[":
                        yield from self._annotations(source)
                        return
                    source.skip()
        except BrokenJson as error:
            if not self.report.problems.get("broken JSON"):
                self.broken(error)

    # -- sections ----------------------------------------------------------------------------------

    def _section(
        self, section: str, source: JsonText, read: Callable[[Fashionpedia, str, Row], Iterator[str]]
    ) -> Iterator[str]:
        known = self._ids.setdefault(section, set())
        for row in source.items():
            if self._identified(row, _KINDS[section], known):
                self.report.count(section)
                yield from read(self, _KINDS[section], row)

    def _identified(self, row: Any, kind: str, known: set[int]) -> bool:
        """Return whether a record has an identifier of its own, and note it."""
        number = row.get("id") if isinstance(row, dict) else None
        if not whole(number):
            self.bad("missing field", f"a record of the {kind}s", "it has no whole number as its id")
            return False
        if number in known:
            self.bad("duplicate identifier", f"{kind} {number}", "the identifier was given before")
            return False
        known.add(number)
        return True

    def _image(self, kind: str, row: Row) -> Iterator[str]:
        s = f"<{BASE}image_{row['id']}> "
        yield f"{s}{TYPE} {_fashion('Image')} .\n"
        yield s + INDIVIDUAL
        yield from self._values(s, row, _IMAGE)
        licence = row.get("license")
        if whole(licence):
            self._linked[licence] = self._linked.get(licence, 0) + 1
            yield f"{s}{_fashion('hasLicense')} {_fashion(f'license_{licence}')} .\n"

    def _named(self, kind: str, row: Row) -> Iterator[str]:
        name = row.get("name")
        if not isinstance(name, str) or not name.strip():
            self.bad("missing field", f"{kind} {row['id']}", "it has no name")
            name = f"{kind} {row['id']}"
        s = f"<{BASE}{kind}_{row['id']}> "
        yield f"{s}{TYPE} {_fashion(kind.capitalize())} .\n"
        yield s + INDIVIDUAL
        yield f"{s}{LABEL} {text(name, 'en')} .\n"
        yield f"{s}{_fashion('hasName')} {text(name)} .\n"
        yield from self._values(s, row, _LICENSE if kind == "license" else _CONCEPT)

    def _values(self, s: str, row: Row, fields: tuple[tuple[str, str, bool], ...]) -> Iterator[str]:
        """Yield the fields that have a value; nothing, zero and the empty text are none."""
        for name, predicate, number in fields:
            value = row.get(name)
            if not value and not (name == "isstatic" and value == 0 and value is not None):
                continue
            if not number and not isinstance(value, dict | list):
                yield f"{s}{predicate} {text(value)} .\n"
            elif not number:
                self.bad("wrong value", s.strip(), f"{name} is not a text")
            elif whole(value) or isinstance(value, bool) or (isinstance(value, float) and value % 1 == 0):
                yield f'{s}{predicate} "{int(value)}"{INTEGER} .\n'
            else:
                self.bad("wrong value", s.strip(), f"{name} is not a whole number")

    def _annotations(self, source: JsonText) -> Iterator[str]:
        """Yield the annotations; three in four lines of a graph come from here, so it is kept plain."""
        images = self._ids.get("images", set())
        categories = {i: _fashion(f"category_{i}") for i in self._ids.get("categories", ())}
        attributes = {i: _fashion(f"attribute_{i}") for i in self._ids.get("attributes", ())}
        known: set[int] = set()
        kind, has_image, has_category = _fashion("Annotation"), _fashion("hasImage"), _fashion("hasCategory")
        has_attribute, has_area, is_crowd = _fashion("hasAttribute"), _fashion("hasArea"), _fashion("isCrowd")
        for row in source.items():
            if not self._identified(row, "annotation", known):
                continue
            number, image, of = row["id"], row.get("image_id"), row.get("category_id")
            if not whole(image) or image not in images:
                self.bad("unknown image", f"annotation {number}", f"there is no image {image}")
                continue
            if not whole(of) or (category := categories.get(of)) is None:
                self.bad("unknown category", f"annotation {number}", f"there is no category {of}")
                continue
            self.report.count("annotations")
            s = f"<{BASE}annotation_{number}>"
            crowd = 1 if row.get("iscrowd") else 0
            yield (
                f"{s} {TYPE} {kind} .\n{s} {INDIVIDUAL}{s} {has_image} <{BASE}image_{image}> .\n"
                f'{s} {has_category} {category} .\n{s} {is_crowd} "{crowd}"{INTEGER} .\n'
            )
            self.report.triples += 4
            for at in self.listed(f"annotation {number}", row, "attribute_ids"):
                if whole(at) and (attribute := attributes.get(at)) is not None:
                    yield f"{s} {has_attribute} {attribute} .\n"
                else:
                    self.bad("unknown attribute", f"annotation {number}", f"there is no attribute {at}")
            if area := row.get("area"):
                if finite(area):
                    yield f'{s} {has_area} "{float(area)}"{_DOUBLE} .\n'
                else:
                    self.bad("wrong value", f"annotation {number}", "area is not a number")
            yield from self._shapes(s, row)

    def _shapes(self, s: str, row: Row) -> Iterator[str]:
        if self.boxes and (box := row.get("bbox")):
            if isinstance(box, list) and len(box) == 4 and all(map(finite, box)):
                yield f'{s} {_fashion("hasBoundingBox")} "{" ".join(map(str, box))}" .\n'
            else:
                self.bad("wrong value", f"annotation {row['id']}", "bbox is not four numbers")
        segments = row.get("segmentation") if self.masks else None
        if not isinstance(segments, list) or not segments:
            return
        polygons: list[str] = []
        for one in segments:
            if not isinstance(one, list) or len(one) < 6 or len(one) % 2 or not all(map(finite, one)):
                self.bad("wrong value", f"annotation {row['id']}", "segmentation has what is no polygon")
                return
            polygons.append(" ".join(f"{x},{y}" for x, y in zip(one[::2], one[1::2], strict=True)))
        yield f'{s} {_fashion("hasSegmentation")} "{"; ".join(polygons)}" .\n'

    _SECTIONS: ClassVar[dict[str, Callable[[Fashionpedia, str, Row], Iterator[str]]]] = {
        "images": _image,
        "categories": _named,
        "attributes": _named,
        "licenses": _named,
    }


_KINDS = {"images": "image", "categories": "category", "attributes": "attribute", "licenses": "license"}

_IMAGE = (
    ("file_name", _fashion("hasFileName"), False),
    ("width", _fashion("hasWidth"), True),
    ("height", _fashion("hasHeight"), True),
    ("time_captured", _fashion("hasTimeCaptured"), False),
    ("original_url", _fashion("hasOriginalUrl"), False),
    ("isstatic", _fashion("isStatic"), True),
    ("kaggle_id", _fashion("hasKaggleId"), False),
)
_CONCEPT = (
    ("supercategory", _fashion("hasSupercategory"), False),
    ("level", _fashion("hasLevel"), True),
    ("taxonomy_id", _fashion("hasTaxonomy"), False),
)
_LICENSE = (("url", _fashion("hasUrl"), False),)
"""Fields of the records, their properties, and whether they are whole numbers."""
