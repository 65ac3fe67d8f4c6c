"""Annotated images to RDF: scene graphs (`scenes.ttl`) and Fashionpedia (`fashionpedia.ttl`).

Scene graphs are read in two shapes, as an array or with a record to a line. One has the caption of a region
with its triples: `{"image_id": …, "region_id": …, "caption": …, "triples": [["man", "v:wear", "shirt"], …]}`;
the relation `is` gives an attribute, `v:` marks a verb and `pv:` one in the passive. The other is that of
Visual Genome's files (objects, attributes, relationships, regions with phrases, image data), in which the
captions of COCO are read too.

Fashionpedia's files are like those of COCO: an object of long arrays `images`, `annotations`, `categories`,
`attributes` and `licenses`, in any order. They are read as a stream, in one pass where the annotations
come last and in two where they do not; of annotations only the identifiers stay in memory. Segments
that are run lengths are not loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

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
    part,
    text,
    whole,
)
from mrag.loaders.rdf import Progress
from mrag.rdf.namespaces import OWL, RDFS, XSD

Shape: TypeAlias = Literal["records", "captions", "annotations"]
"""`annotations` are those of Fashionpedia, which are no scene graphs."""

RECORD_KEYS = ("image_id", "doc_id", "region_id", "id")
_SECTIONS = ("info", "licenses", "images", "annotations", "categories", "attributes", "type")


def shape_of(path: str | Path) -> Shape:
    """Return how a file is made, by as little of it as tells."""
    with JsonText(path) as source:
        if source.blank() or source.peek() != "{":
            return "records"
        for name in source.fields():
            if name in RECORD_KEYS:
                return "records"
            if name == "annotations":
                first = next(source.items(), None) if source.peek() == "[" else None
                return "captions" if isinstance(first, dict) and "caption" in first else "annotations"
            if name in ("categories", "attributes"):
                return "annotations"
            if name in _SECTIONS:
                source.skip()
                continue
            return "records"
    return "annotations"


def rows(source: JsonText, shape: Shape) -> Iterator[Any]:
    """Yield the records of a file."""
    if shape in ("records", "annotations"):
        yield from source.records()
        return
    for name in source.fields():
        if name in ("images", "annotations") and source.peek() == "[":
            for row in source.items():
                yield _caption(row) if name == "annotations" else row
        else:
            source.skip()
    if not source.blank():
        raise source.broken("something follows the last brace")


def _caption(row: Any) -> Any:
    """Return a caption of COCO as that of a region, one for each, so that equal ones are told apart."""
    if not isinstance(row, dict) or "id" not in row:
        return row
    return {"image_id": row.get("image_id"), "region_id": row["id"], "caption": row.get("caption")}


BASE = "http://example.org/"  # Start of the IRIs of the data
SCENES = BASE + "scenes#"
"""Start of the IRIs of the schema, and of the classes and properties made from the data."""

_IMAGE_KEYS = ("image_id", "doc_id", "id")
_BOX_KEYS = (("x", "y", "w", "h"), ("x", "y", "width", "height"))
_CONTENT = (
    "triples", "caption", "captions", "objects", "attributes", "relationships", "regions", "width", "url",
    "image_url", "coco_url", "file_name",
)  # fmt: skip
_URL_KEYS = ("url", "image_url", "coco_url", "flickr_url")

Row = dict[str, Any]


def _p(name: str) -> str:
    return f"<{SCENES}{name}>"


def _says(value: Any) -> bool:
    """Return whether a value is a text that says something."""
    return isinstance(value, str) and bool(value.strip())


def _label(name: str) -> str:
    return text(" ".join(name.split()), "en")


def _id_of(row: Any, key: str) -> Any:
    """Return the identifier of a record of Visual Genome, if there is one."""
    return row.get(key, row.get("id")) if isinstance(row, dict) else None


_DESCRIPTION = f"<{BASE}hasDescription>"


class SceneGraphs(Records):
    """A file of scene graphs.

    Kinds of problems: `broken JSON`, `missing field`, `duplicate identifier`, `unknown object`,
    `wrong value`, `empty record`, `empty file`. When bad records are skipped, a bad triple, attribute or
    relation costs that alone, and broken JSON what comes after the break.

    Raises:
        LoadError: If there is no such file.

    Example:
        >>> import json, tempfile
        >>> from pathlib import Path
        >>> row = {"image_id": 1, "region_id": 2, "caption": "a man in a red coat",
        ...        "triples": [["man", "v:wear", "coat"], ["coat", "is", "red"]]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "a.jsonl"
        ...     _ = path.write_text(json.dumps(row))
        ...     found = {str(t) for t in SceneGraphs(path).triples()}
        >>> sum("scenes#hasAttribute> <http://example.org/attribute_red>" in triple for triple in found)
        1
    """

    ontology = "scenes.ttl"

    def statements(self) -> Iterator[str]:
        """Yield the data as lines of N-Triples."""
        self._said: set[str] = set()
        self._regions: set[str] = set()
        self._objects: set[str] = set()
        number = 0
        try:
            with JsonText(self.path, self.on_progress) as source:
                for number, row in enumerate(rows(source, shape_of(self.path)), 1):
                    yield from self._record(number, row)
        except BrokenJson as error:
            self.broken(error)
        if not number:
            self.bad("empty file", "the file", "there is no record in it")

    def _record(self, number: int, row: Any) -> Iterator[str]:
        where = f"record {number}"
        key = next((k for k in _IMAGE_KEYS if k in row), None) if isinstance(row, dict) else None
        if key is None or not (whole(row[key]) or _says(row[key])):
            self.bad("missing field", where, "it has no image_id, doc_id or id")
            return
        if not any(row.get(name) for name in _CONTENT):
            self.bad("empty record", where, "there is nothing in it")
        self.report.count("records")
        image = f"{BASE}image_{part(row[key])}"
        if image not in self._said:
            self.report.count("images")
        yield from self._once(image, f"<{BASE}Image>")
        yield from self._image_data(image, row)
        if "triples" in row or "caption" in row or "captions" in row:
            yield from self._caption(where, image, part(row[key]), row)
        # Objects come first, whatever the order of the keys: relations and attributes point at them.
        named: dict[int, str] = {}
        for thing in self.list_field(where, row, "objects"):
            yield from self._object(where, image, thing, named)
        for thing in self.list_field(where, row, "attributes"):
            # The file of attributes repeats each object, with its attributes.
            inner = thing.get("attribute", thing) if isinstance(thing, dict) else thing
            yield from self._object(where, image, inner, named)
        for relation in self.list_field(where, row, "relationships"):
            yield from self._relationship(where, image, relation, named)
        for region in self.list_field(where, row, "regions"):
            yield from self._visual_region(where, image, region, named)

    def _image_data(self, image: str, row: Row) -> Iterator[str]:
        for key, name in (("width", "hasWidth"), ("height", "hasHeight")):
            if whole(row.get(key)) and row[key]:
                yield f'<{image}> <{BASE}{name}> "{row[key]}"{INTEGER} .\n'
        for url in [row[key] for key in _URL_KEYS if isinstance(row.get(key), str) and row[key]][:1]:
            yield f"<{image}> <{BASE}hasOriginalUrl> {text(url)} .\n"
        if _says(row.get("file_name")):
            yield f"<{image}> <{BASE}hasFileName> {text(row['file_name'])} .\n"

    def _caption(self, where: str, image: str, name: str, row: Row) -> Iterator[str]:
        # A slash is encoded in names, so that no two of them run together.
        region_name = f"{name}/{part(row['region_id']) if row.get('region_id') is not None else 0}"
        captions = [row["caption"]] if row.get("caption") else self.list_field(where, row, "captions")
        yield from self._region(where, image, region_name, captions)
        region = f"{BASE}region_{region_name}"
        for triple in self.list_field(where, row, "triples"):
            if not (isinstance(triple, list) and len(triple) == 3 and all(map(_says, triple))):
                self.bad("wrong value", where, f"{str(triple)[:80]} is not three texts")
                continue
            s, relation, o = (" ".join(word.split()) for word in triple)
            subject = f"{BASE}object_{region_name}/{part(s)}"
            yield from self._thing(image, subject, [s], region)
            if relation == "is":
                yield from self._attribute(subject, o)
            else:
                other = f"{BASE}object_{region_name}/{part(o)}"
                yield from self._thing(image, other, [o], region)
                yield from self._relation(subject, relation, other)

    def _object(self, where: str, image: str, thing: Any, named: dict[int, str]) -> Iterator[str]:
        number = _id_of(thing, "object_id")
        if not whole(number):
            self.bad("missing field", where, "an object has no object_id")
            return
        iri = named[number] = f"{BASE}object_{number}"
        names = self.list_field(where, thing, "names") or [thing.get("name")]
        yield from self._thing(image, iri, [*filter(_says, names)])
        yield from self._box(iri, thing)
        for attribute in self.list_field(where, thing, "attributes"):
            if _says(attribute):
                yield from self._attribute(iri, attribute)
            else:
                self.bad("wrong value", where, f"{str(attribute)[:80]} is not the text of an attribute")

    def _relationship(self, where: str, image: str, row: Any, named: dict[int, str]) -> Iterator[str]:
        predicate = row.get("predicate") if isinstance(row, dict) else None
        if not isinstance(predicate, str) or not predicate.strip():
            self.bad("missing field", where, "a relationship has no predicate")
            return
        ends = []
        for key in ("subject", "object"):
            end, number = row.get(key), row.get(f"{key}_id")
            if isinstance(end, dict):
                yield from self._object(where, image, end, named)
                number = _id_of(end, "object_id")
            if not whole(number) or number not in named:
                self.bad("unknown object", where, f"there is no object {number}")
                return
            ends.append(named[number])
        yield from self._relation(ends[0], predicate, ends[1])

    def _visual_region(self, where: str, image: str, row: Any, named: dict[int, str]) -> Iterator[str]:
        number = _id_of(row, "region_id")
        if not whole(number):
            self.bad("missing field", where, "a region has no region_id")
            return
        phrase = row.get("phrase")
        yield from self._region(where, image, str(number), [phrase] if phrase else [])
        yield from self._box(f"{BASE}region_{number}", row)
        inside = dict(named)
        for thing in self.list_field(where, row, "objects"):
            yield from self._object(where, image, thing, inside)
            if whole(number_of := _id_of(thing, "object_id")) and (iri := inside.get(number_of)):
                yield f"<{iri}> {_p('inRegion')} <{BASE}region_{number}> .\n"
        for relation in self.list_field(where, row, "relationships"):
            yield from self._relationship(where, image, relation, inside)

    def _region(self, where: str, image: str, name: str, captions: Iterable[Any]) -> Iterator[str]:
        if name in self._regions:
            self.bad("duplicate identifier", where, f"the region {name} was given before")
        self._regions.add(name)
        self.report.count("regions")
        iri = f"{BASE}region_{name}"
        yield from self._once(iri, _p("Region"))
        yield f"<{image}> {_p('hasRegion')} <{iri}> .\n"
        for caption in captions:
            if _says(caption):
                said = text(" ".join(caption.split()))
                yield f"<{iri}> {_p('hasCaption')} {said} .\n<{image}> {_DESCRIPTION} {said} .\n"
                self.report.triples += 1
            else:
                self.bad("wrong value", where, "a caption is not a text")

    def _thing(self, image: str, iri: str, names: list[str], region: str = "") -> Iterator[str]:
        if iri not in self._objects:
            self.report.count("objects")
            self._objects.add(iri)
            yield f"<{iri}> {INDIVIDUAL}"
            yield f"<{image}> {_p('hasObject')} <{iri}> .\n"
            if region:
                yield f"<{iri}> {_p('inRegion')} <{region}> .\n"
        for name in names or ["thing"]:
            kind = f"{SCENES}kind_{part(name)}"
            yield from self._class(kind, name, "Object")
            yield f"<{iri}> {TYPE} <{kind}> .\n"
            yield f"<{iri}> {LABEL} {_label(name)} .\n"

    def _attribute(self, iri: str, name: str) -> Iterator[str]:
        own, kind = f"{BASE}attribute_{part(name)}", f"{SCENES}attribute_{part(name)}"
        yield from self._class(kind, name, "Attribute")
        if own not in self._said:
            yield from self._once(own, f"<{kind}>")
            yield f"<{own}> {LABEL} {_label(name)} .\n"
        yield f"<{iri}> {_p('hasAttribute')} <{own}> .\n"
        self.report.count("attributes")

    def _relation(self, s: str, name: str, o: str) -> Iterator[str]:
        mark, colon, rest = name.partition(":")
        passive = bool(colon) and mark == "pv"
        words = rest if colon and mark in ("v", "pv") else name
        iri = f"{SCENES}relation_{'passive_' if passive else ''}{part(words)}"
        if iri not in self._said:
            self._said.add(iri)
            yield f"<{iri}> {TYPE} <{OWL}ObjectProperty> .\n"
            yield f"<{iri}> <{RDFS}subPropertyOf> {_p('related')} .\n"
            yield f"<{iri}> {LABEL} {_label(words + ' (passive)' * passive)} .\n"
        yield f"<{s}> <{iri}> <{o}> .\n"
        self.report.count("relations")

    def _once(self, iri: str, kind: str) -> Iterator[str]:
        if iri not in self._said:
            self._said.add(iri)
            yield f"<{iri}> {TYPE} {kind} .\n"
            yield f"<{iri}> {INDIVIDUAL}"

    def _class(self, iri: str, name: str, above: str) -> Iterator[str]:
        if iri not in self._said:
            self._said.add(iri)
            yield f"<{iri}> {TYPE} <{OWL}Class> .\n"
            yield f"<{iri}> <{RDFS}subClassOf> {_p(above)} .\n"
            yield f"<{iri}> {LABEL} {_label(name)} .\n"

    def _box(self, iri: str, row: Row) -> Iterator[str]:
        for keys in _BOX_KEYS:
            sides = [row.get(key) for key in keys]
            if all(map(finite, sides)):
                yield f'<{iri}> {_p("hasBoundingBox")} "{" ".join(map(str, sides))}" .\n'
                return


_DOUBLE = f"^^<{XSD}double>"
_NEEDED = ("images", "categories", "annotations")


def _fashion(name: str) -> str:
    return f"<{BASE}{name}>"


class Fashionpedia(Records):
    """An annotation file of Fashionpedia, such as `instances_attributes_train2020.json`.

    Kinds of problems: `broken JSON`, `empty section`, `missing field`, `duplicate identifier`,
    `unknown image`, `unknown category`, `unknown attribute`, `unknown licence`. When bad records are
    skipped, an unknown attribute costs its annotation that attribute alone, an unknown licence nothing,
    and broken JSON what comes after the break. With `boxes`, bounding boxes are kept as `hasBoundingBox "x y
    width height"`, with `masks` the polygons of segments as `hasSegmentation "x,y x,y x,y; …"`, in pixels.

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
        >>> sum("hasCategory> <http://example.org/category_4>" in triple for triple in found)
        1
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
                    listed = source.peek() == "["
                    if listed and section in _KINDS:
                        yield from self._section(section, source)
                    elif listed and section == "annotations" and self._ids.keys() >= _BEFORE:
                        done = True
                        yield from self._annotations(source)
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

    def _section(self, section: str, source: JsonText) -> Iterator[str]:
        kind, known = _KINDS[section], self._ids.setdefault(section, set())
        for row in source.items():
            if self._is_identified(row, kind, known):
                self.report.count(section)
                yield from self._image(row) if kind == "image" else self._name(kind, row)

    def _is_identified(self, row: Any, kind: str, known: set[int]) -> bool:
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

    def _image(self, row: Row) -> Iterator[str]:
        s = f"<{BASE}image_{row['id']}> "
        yield f"{s}{TYPE} {_fashion('Image')} .\n"
        yield s + INDIVIDUAL
        yield from self._values(s, row, _IMAGE)
        if whole(licence := row.get("license")):
            self._linked[licence] = self._linked.get(licence, 0) + 1
            yield f"{s}{_fashion('hasLicense')} {_fashion(f'license_{licence}')} .\n"

    def _name(self, kind: str, row: Row) -> Iterator[str]:
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
            if not self._is_identified(row, "annotation", known):
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
            for at in self.list_field(f"annotation {number}", row, "attribute_ids"):
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


_BEFORE = {"images", "categories", "attributes"}
"""Sections that must be known before the annotations are read."""
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
