"""Scene graphs to RDF, in the schema of `ontology/scenes.ttl`: objects, attributes, relations, captions.

Two shapes are read, as an array or with a record to a line. One has the caption of a region with its
triples: `{"image_id": …, "region_id": …, "caption": …, "triples": [["man", "v:wear", "shirt"], …]}`; the
relation `is` gives an attribute, `v:` marks a verb and `pv:` one in the passive. The other is that of
Visual Genome's files (objects, attributes, relationships, regions with phrases, image data), in which those
of GQA and the captions of COCO are read too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mrag.loaders._records import (
    INDIVIDUAL,
    INTEGER,
    LABEL,
    TYPE,
    BrokenJson,
    JsonText,
    Records,
    finite,
    part,
    text,
    whole,
)
from mrag.loaders._scene_files import rows as rows_of
from mrag.loaders._scene_files import shape_of
from mrag.rdf.namespaces import OWL, RDFS

BASE = "http://example.org/"
"""Start of the IRIs of the data."""
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


_DESCRIPTION = f"<{BASE}hasDescription>"


class SceneGraphs(Records):
    """A file of scene graphs.

    Kinds of problems: `broken JSON`, `missing field`, `duplicate identifier`, `unknown object`,
    `wrong value`, `empty record`, `empty file`. When bad records are skipped, a bad triple, attribute or
    relation costs that alone, and broken JSON what comes after the break.

    Args:
        path: The file, gzipped or not.
        on_bad: `stop` at the first problem, or `skip` it and count it.
        on_progress: Called with the bytes read and the bytes in all.

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
        >>> "<http://example.org/object_1/2/coat> <http://example.org/scenes#hasAttribute> "\
                "<http://example.org/attribute_red>" in found
        True
    """

    ontology = "scenes.ttl"

    def statements(self) -> Iterator[str]:
        """Yield the data as lines of N-Triples."""
        self._said: set[str] = set()
        self._regions: set[str] = set()
        self._objects: set[str] = set()
        rows = 0
        try:
            with JsonText(self.path, self.on_progress) as source:
                for row in rows_of(source, shape_of(self.path)):
                    rows += 1
                    yield from self._record(rows, row)
        except BrokenJson as error:
            self.broken(error)
        if not rows:
            self.bad("empty file", "the file", "there is no record in it")

    def _record(self, number: int, row: Any) -> Iterator[str]:
        where = f"record {number}"
        key = next((k for k in _IMAGE_KEYS if k in row), None) if isinstance(row, dict) else None
        if key is None or not (whole(row[key]) or (isinstance(row[key], str) and row[key].strip())):
            self.bad("missing field", where, "it has no image_id, doc_id or id")
            return
        if not any(row.get(name) for name in _CONTENT):
            self.bad("empty record", where, "there is nothing in it")
        self.report.count("records")
        image = f"{BASE}image_{part(row[key])}"
        if image not in self._said:
            self.report.count("images")
        yield from self._once(image, "Image", base=BASE)
        yield from self._image_data(image, row)
        if "triples" in row or "caption" in row or "captions" in row:
            yield from self._captioned(where, image, part(row[key]), row)
        # Objects come first, whatever the order of the keys: relations and attributes point at them.
        named: dict[int, str] = {}
        for thing in self.listed(where, row, "objects"):
            yield from self._object(where, image, thing, named)
        for thing in self.listed(where, row, "attributes"):
            # The file of attributes repeats each object, with its attributes.
            inner = thing.get("attribute", thing) if isinstance(thing, dict) else thing
            yield from self._object(where, image, inner, named)
        for relation in self.listed(where, row, "relationships"):
            yield from self._relationship(where, image, relation, named)
        for region in self.listed(where, row, "regions"):
            yield from self._visual_region(where, image, region, named)

    def _image_data(self, image: str, row: Row) -> Iterator[str]:
        for key, name in (("width", "hasWidth"), ("height", "hasHeight")):
            if whole(row.get(key)) and row[key]:
                yield f'<{image}> <{BASE}{name}> "{row[key]}"{INTEGER} .\n'
        for url in [row[key] for key in _URL_KEYS if isinstance(row.get(key), str) and row[key]][:1]:
            yield f"<{image}> <{BASE}hasOriginalUrl> {text(url)} .\n"
        if isinstance(row.get("file_name"), str) and row["file_name"].strip():
            yield f"<{image}> <{BASE}hasFileName> {text(row['file_name'])} .\n"

    # -- captions with triples ---------------------------------------------------------------------

    def _captioned(self, where: str, image: str, name: str, row: Row) -> Iterator[str]:
        # A slash is encoded in names, so that no two of them run together.
        region_name = f"{name}/{part(row['region_id']) if row.get('region_id') is not None else 0}"
        captions = [row["caption"]] if row.get("caption") else self.listed(where, row, "captions")
        yield from self._region(where, image, region_name, captions)
        region = f"{BASE}region_{region_name}"
        for triple in self.listed(where, row, "triples"):
            if not self._is_triple(triple):
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

    @staticmethod
    def _is_triple(triple: Any) -> bool:
        return (
            isinstance(triple, list)
            and len(triple) == 3
            and all(isinstance(word, str) and word.strip() for word in triple)
        )

    # -- Visual Genome -----------------------------------------------------------------------------

    def _object(self, where: str, image: str, thing: Any, named: dict[int, str]) -> Iterator[str]:
        number = thing.get("object_id", thing.get("id")) if isinstance(thing, dict) else None
        if not whole(number):
            self.bad("missing field", where, "an object has no object_id")
            return
        iri = named[number] = f"{BASE}object_{number}"
        names = self.listed(where, thing, "names") or [thing.get("name")]
        yield from self._thing(image, iri, [n for n in names if isinstance(n, str) and n.strip()])
        yield from self._box(iri, thing)
        for attribute in self.listed(where, thing, "attributes"):
            if isinstance(attribute, str) and attribute.strip():
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
                number = end.get("object_id", end.get("id"))
            if not whole(number) or number not in named:
                self.bad("unknown object", where, f"there is no object {number}")
                return
            ends.append(named[number])
        yield from self._relation(ends[0], predicate, ends[1])

    def _visual_region(self, where: str, image: str, row: Any, named: dict[int, str]) -> Iterator[str]:
        number = row.get("region_id", row.get("id")) if isinstance(row, dict) else None
        if not whole(number):
            self.bad("missing field", where, "a region has no region_id")
            return
        phrase = row.get("phrase")
        yield from self._region(where, image, str(number), [phrase] if phrase else [])
        yield from self._box(f"{BASE}region_{number}", row)
        inside = dict(named)
        for thing in self.listed(where, row, "objects"):
            yield from self._object(where, image, thing, inside)
            number_of = thing.get("object_id", thing.get("id")) if isinstance(thing, dict) else None
            if whole(number_of) and (iri := inside.get(number_of)):
                yield f"<{iri}> {_p('inRegion')} <{BASE}region_{number}> .\n"
        for relation in self.listed(where, row, "relationships"):
            yield from self._relationship(where, image, relation, inside)

    # -- what both say -----------------------------------------------------------------------------

    def _region(self, where: str, image: str, name: str, captions: Iterable[Any]) -> Iterator[str]:
        if name in self._regions:
            self.bad("duplicate identifier", where, f"the region {name} was given before")
        self._regions.add(name)
        self.report.count("regions")
        iri = f"{BASE}region_{name}"
        yield from self._once(iri, "Region")
        yield f"<{image}> {_p('hasRegion')} <{iri}> .\n"
        for caption in captions:
            if isinstance(caption, str) and caption.strip():
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
            yield f"<{iri}> {LABEL} {text(' '.join(name.split()), 'en')} .\n"

    def _attribute(self, iri: str, name: str) -> Iterator[str]:
        own, kind = f"{BASE}attribute_{part(name)}", f"{SCENES}attribute_{part(name)}"
        yield from self._class(kind, name, "Attribute")
        if own not in self._said:
            self._said.add(own)
            yield f"<{own}> {TYPE} <{kind}> .\n"
            yield f"<{own}> {INDIVIDUAL}"
            yield f"<{own}> {LABEL} {text(' '.join(name.split()), 'en')} .\n"
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
            label = " ".join(words.split()) + (" (passive)" if passive else "")
            yield f"<{iri}> {LABEL} {text(label, 'en')} .\n"
        yield f"<{s}> <{iri}> <{o}> .\n"
        self.report.count("relations")

    def _once(self, iri: str, kind: str, base: str = SCENES) -> Iterator[str]:
        if iri not in self._said:
            self._said.add(iri)
            yield f"<{iri}> {TYPE} <{base}{kind}> .\n"
            yield f"<{iri}> {INDIVIDUAL}"

    def _class(self, iri: str, name: str, above: str) -> Iterator[str]:
        if iri not in self._said:
            self._said.add(iri)
            yield f"<{iri}> {TYPE} <{OWL}Class> .\n"
            yield f"<{iri}> <{RDFS}subClassOf> {_p(above)} .\n"
            yield f"<{iri}> {LABEL} {text(' '.join(name.split()), 'en')} .\n"

    def _box(self, iri: str, row: Row) -> Iterator[str]:
        for keys in _BOX_KEYS:
            sides = [row.get(key) for key in keys]
            if all(map(finite, sides)):
                yield f'<{iri}> {_p("hasBoundingBox")} "{" ".join(map(str, sides))}" .\n'
                return
