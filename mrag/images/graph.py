"""What a graph says of its images: files, sentences, what is annotated in them, and a catalogue of it all.

The catalogue, in which images are paged, filtered, counted and compared, is a file beside the index.
"""

from __future__ import annotations

import io
import json
import logging
import threading
import typing
import zipfile
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox
from rdflib import Literal

from mrag.errors import ConfigError, DamagedIndex, LoadError
from mrag.graph.kg import KnowledgeGraph, home
from mrag.images.files import Box, file_in
from mrag.rdf import patterns, queries
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import OWL, RDF
from mrag.storage.files import make_folder, replace
from mrag.stores.base import Limits, SelectResult

EX = "http://example.org/"
_DCTERMS = "http://purl.org/dc/terms/"
_PROV = "http://www.w3.org/ns/prov#"

Allowed = Callable[[], Collection[str]]  # Gives the IRIs of the only images that may be found


FILE: Final = EX + "hasFileName"
SENTENCE: Final = EX + "hasDescription"
GENERATED: Final = EX + "hasLLMDescription"  # What a model said of an image
_BOX: Final = EX + "hasBoundingBox"
_BOX_IMAGE: Final = EX + "hasImage"

_LENGTH: Final = 4000  # Characters after which each text of a model is cut


@dataclass(frozen=True)
class ImageTexts:
    """The sentences about an image."""

    image: str
    sentences: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    regions: tuple[tuple[str, str], ...] = ()

    def document(self) -> str:
        """Put the sentences together to one text, those of the graph first."""
        said = (*self.generated, *(text for _, text in self.regions))
        return "\n".join((*self.sentences, *(text[:_LENGTH] for text in said))).strip()


def file_names(kg: KnowledgeGraph, images: Collection[str] | None = None) -> dict[str, str]:
    """Return the name of the file of each image, in order of IRI; the first where there are several."""
    if images is None:
        rows = [(value.subject, value.text) for value in property_values(kg, [FILE])]
    else:
        of = kg.select(queries.get("image/of").bind(image=sorted(images))) if images else ()
        rows = [(str(i), str(value)) for i, p, value in of if str(p) == FILE]
    names: dict[str, str] = {}
    for image, name in sorted(rows):
        names.setdefault(image, name)
    return names


def files_of(
    kg: KnowledgeGraph, folder: Path, images: Collection[str] | None = None
) -> tuple[dict[str, Path], dict[str, str]]:
    """Find the files of a graph's images."""
    files: dict[str, Path] = {}
    missing: dict[str, str] = {}
    folder = folder.resolve()
    for image, name in file_names(kg, images).items():
        try:
            files[image] = file_in(folder, name)
        except LoadError as error:
            missing[image] = str(error)
    return files, missing


def image_texts(kg: KnowledgeGraph) -> list[ImageTexts]:
    """Return what a graph says of each image, in order of IRI, whatever the order of its triples."""
    texts: dict[str, tuple[set[str], set[str], set[tuple[str, str]]]] = {
        image: (set(), set(), set()) for image in file_names(kg)
    }
    for value in property_values(kg, [SENTENCE, GENERATED]):
        if value.literal:
            sentences, generated, _ = texts.setdefault(value.subject, (set(), set(), set()))
            (generated if value.property == GENERATED else sentences).add(_line(value.text))
    for whole, region, text in _of_regions(kg):
        fragment = "xywh=" + region.rpartition("xywh=")[2]
        texts.setdefault(whole, (set(), set(), set()))[2].add((fragment, _line(text)))
    return [
        ImageTexts(image, tuple(sorted(sentences)), tuple(sorted(generated)), tuple(sorted(regions)))
        for image, (sentences, generated, regions) in sorted(texts.items())
    ]


def described_images(kg: KnowledgeGraph) -> set[str]:
    """Return the IRIs of the images, and of the parts of images, that a model has described."""
    whole = {value.subject for value in property_values(kg, (GENERATED,))}
    return whole | {region for _, region, _ in _of_regions(kg)}


def images_described_by(kg: KnowledgeGraph, activity: str) -> set[str]:
    """Return the IRIs of what an activity of enrichment has described."""
    generated: set[str] = set()
    derived: list[tuple[str, str]] = []
    for value in property_values(kg, (_PROV + "wasGeneratedBy", _PROV + "wasDerivedFrom")):
        if value.property == _PROV + "wasDerivedFrom":
            derived.append((value.subject, value.text))
        elif value.text == activity:
            generated.add(value.subject)
    return {subject for description, subject in derived if description in generated}


def regions_of(kg: KnowledgeGraph, images: Collection[str]) -> dict[str, list[str]]:
    """Return the IRIs of the parts of images that a model has described, sorted."""
    regions: dict[str, set[str]] = {}
    rows = kg.select(queries.get("image/regions-of").bind(image=sorted(images))) if images else ()
    for image, region in rows:
        regions.setdefault(str(image), set()).add(str(region))
    return {image: sorted(regions) for image, regions in regions.items()}


def _of_regions(kg: KnowledgeGraph) -> Iterator[tuple[str, str, str]]:
    """Yield image, part and text of all that models said of parts."""
    image_of: dict[str, str] = {}
    texts: list[tuple[str, str]] = []
    for value in property_values(kg, (_DCTERMS + "isPartOf", _DCTERMS + "description")):
        if "xywh=" not in value.subject:
            continue
        if value.literal:
            texts.append((value.subject, value.text))
        else:
            image_of[value.subject] = value.text
    yield from ((image_of[region], region, text) for region, text in sorted(texts) if region in image_of)


def boxes(kg: KnowledgeGraph) -> tuple[dict[str, list[tuple[Box, str]]], dict[str, str]]:
    """Return the boxes of each image with the IRI of what has it, and why others cannot be used."""
    labels: dict[str, dict[Box, str]] = {}
    bad: dict[str, str] = {}
    image_of: dict[str, str] = {}
    texts: list[tuple[str, str]] = []
    for value in property_values(kg, (_BOX, _BOX_IMAGE)):
        if value.property == _BOX:
            texts.append((value.subject, value.text))
        else:
            image_of[value.subject] = min(value.text, image_of.get(value.subject, value.text))
    for annotation, text in sorted(texts):
        if annotation not in image_of:
            continue
        try:
            labels.setdefault(image_of[annotation], {}).setdefault(Box.read(text), annotation)
        except LoadError as error:
            bad[annotation] = error.message
    return {image: list(one.items()) for image, one in sorted(labels.items())}, bad


# -- filters ---------------------------------------------------------------------------------------


def of_class(kg: KnowledgeGraph, iri: str) -> Allowed:
    """Allow the instances of a class, inferred ones too.

    Raises:
        ReasoningError: If the IRI is not well formed.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> sorted(of_class(KnowledgeGraph(OxigraphStore()), "urn:Coat")())
        []
    """
    x = patterns.var("x")
    group = patterns.Group((patterns.TriplePattern(x, patterns.iri(RDF + "type"), patterns.iri(iri)),))
    text = to_sparql(patterns.Select((x,), group, distinct=True))
    return lambda: {str(member) for (member,) in kg.select(text)}


def of_query(kg: KnowledgeGraph, select: str) -> Allowed:
    """Allow what a SELECT query of a person's own gives as its first variable, guarded and bounded.

    Raises:
        QueryRefused: When it is called, if the read gate or a cap refuses the query.
        ConfigError: When it is called, if it is no SELECT query.
    """

    def allowed() -> set[str]:
        result = kg.query(select, limits=Limits(seconds=60.0, rows=2_000_000, bytes=1 << 30))
        if not isinstance(result, SelectResult) or not result.variables:
            raise ConfigError("A filter is a SELECT query.", query=select)
        return {str(row[0]) for row in result if row[0] is not None}

    return allowed


def names_of(kg: KnowledgeGraph, images: Iterable[str], files: Mapping[str, str]) -> dict[str, str]:
    """Return what to call each image: its label, else its file's name, else its IRI."""
    wanted = list(images)
    labels = kg.labels(wanted)
    return {image: labels[image] or files.get(image) or image for image in wanted}


class PropertyValue(NamedTuple):
    """A triple about an image, its terms as plain text."""

    subject: str
    property: str
    text: str
    literal: bool


def property_values(kg: KnowledgeGraph, properties: Iterable[str]) -> Iterator[PropertyValue]:
    """Yield what has values of some properties, in any order."""
    wanted = list(properties)
    if not kg.store.capabilities.edges:
        for s, p, o in kg.select(queries.get("image/values").bind(property=wanted)):
            yield PropertyValue(str(s), str(p), str(o), isinstance(o, Literal))
        return
    # To sort hundreds of thousands of rows, as the query does, takes ten times as long as to find them.
    for graph in kg.dataset().default:
        for name in wanted:
            for quad in kg.store.edges(graph, p=name):
                subject, value = quad.subject, quad.object
                if isinstance(subject, ox.NamedNode) and isinstance(value, ox.NamedNode | ox.Literal):
                    yield PropertyValue(subject.value, name, value.value, isinstance(value, ox.Literal))


def _line(text: str) -> str:
    return " ".join(text.split())


_GARMENTS = EX + "garments#"
_SCENES = EX + "scenes#"
IMAGE_OF = (EX + "hasImage",)
PARTS_OF = (_SCENES + "hasObject", _GARMENTS + "hasGarment")
CATEGORIES = (EX + "hasCategory", EX + "hasAnnotationCategory")
"""Properties whose values are categories, of an image or of something annotated in it."""

ATTRIBUTES = (EX + "hasAttribute", _SCENES + "hasAttribute", _GARMENTS + "hasAttribute")
"""Properties whose values are attributes, of an image or of something annotated in it."""

TYPE = RDF + "type"
GENERAL = frozenset(
    (OWL + "NamedIndividual", OWL + "Thing", EX + "Annotation", EX + "Image", _SCENES + "Object",
     _GARMENTS + "Garment")
)  # fmt: skip
_PARTS = 200
_MASK = EX + "hasSegmentation"
_MASK_LENGTH = 100_000


@dataclass(frozen=True)
class PartFeatures:
    """What is known of something annotated in an image."""

    categories: frozenset[str]
    attributes: frozenset[str]


@dataclass(frozen=True)
class ImagePart:
    """Something annotated in an image."""

    iri: str
    boxes: tuple[Box, ...]
    features: PartFeatures
    masks: tuple[tuple[float, ...], ...] = ()


def parts_of(kg: KnowledgeGraph, image: str) -> list[ImagePart]:
    """Return what is annotated in an image, in order of IRI, 200 things at most."""
    boxes: dict[str, list[Box]] = {}
    for _, part, text in kg.select(queries.get("image/parts").bind(image=[image])):
        places = boxes.setdefault(str(part), [])
        if text is not None:
            try:
                places.append(Box.read(str(text)))
            except LoadError:
                continue  # a box that cannot be read is not drawn
    names = sorted(boxes)[:_PARTS]
    rows = kg.select(queries.get("image/of").bind(image=names)) if names else ()
    values = _group((str(part), str(p), str(value)) for part, p, value in rows)
    found_parts: list[ImagePart] = []
    for one in names:
        features = values.get(one, {})
        masks = [mask for text in sorted(features.get(_MASK, ())) for mask in polygons(text)]
        found_parts.append(ImagePart(one, tuple(boxes[one]), features_of(features), tuple(masks)))
    return found_parts


def polygons(text: str) -> list[tuple[float, ...]]:
    """Read polygons as `hasSegmentation` has them, but for what is none or has too many points."""
    shapes: list[tuple[float, ...]] = []
    for one in text[:_MASK_LENGTH].split(";"):
        points = [point.split(",") for point in one.split()]
        if len(points) < 3 or any(len(point) != 2 for point in points):
            continue
        try:
            numbers = tuple(float(number) for point in points for number in point)
        except ValueError:
            continue
        if all(map(isfinite, numbers)):
            shapes.append(numbers)
    return shapes


def inside(parts: Iterable[ImagePart], box: Box) -> list[ImagePart]:
    """Return the parts that are in a box by half or more; if none is, the smallest that the box is in."""
    contained: list[ImagePart] = []
    around: list[tuple[int, str, ImagePart]] = []
    for part in parts:
        shared = [(_share(one, box), one.w * one.h) for one in part.boxes]
        if any(common and 2 * common >= size for common, size in shared):
            contained.append(part)
            continue
        sizes = [size for common, size in shared if common and 2 * common >= box.w * box.h]
        around += [(size, part.iri, part) for size in sizes]
    return contained or [part for _, _, part in sorted(around, key=lambda one: one[:2])[:1]]


def _share(one: Box, other: Box) -> int:
    w = min(one.x + one.w, other.x + other.w) - max(one.x, other.x)
    h = min(one.y + one.h, other.y + other.h) - max(one.y, other.y)
    return max(w, 0) * max(h, 0)


def features_of(values: Mapping[str, Collection[str]]) -> PartFeatures:
    """Return what is known of something, from its values by property."""
    categories = {v for p in CATEGORIES for v in values.get(p, ())}
    classes = {v for v in values.get(TYPE, ()) if v not in GENERAL}
    attributes = {v for p in ATTRIBUTES for v in values.get(p, ())}
    return PartFeatures(frozenset(categories or classes), frozenset(attributes))


def all_features(kg: KnowledgeGraph, images: Collection[str]) -> Iterator[tuple[str, PartFeatures]]:
    """Yield each image with what is known of each of its parts, itself among them."""
    of: dict[str, list[str]] = {iri: [iri] for iri in images}
    for value in property_values(kg, (*IMAGE_OF, *PARTS_OF)):
        ends = (value.subject, value.text)
        part, image = ends if value.property in IMAGE_OF else ends[::-1]
        if image in images and not value.literal:
            of.setdefault(part, []).append(image)
    values = property_values(kg, (*CATEGORIES, *ATTRIBUTES, *((TYPE,) if has_types(kg) else ())))
    rows = (one[:3] for one in values if one.subject in of and not one.literal and one.text not in GENERAL)
    for part, described in _group(rows).items():
        features = features_of(described)
        yield from ((image, features) for image in of[part])


def _group(rows: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, set[str]]]:
    """Return the values of things by property."""
    values: dict[str, dict[str, set[str]]] = {}
    for thing, name, value in rows:
        values.setdefault(thing, {}).setdefault(name, set()).add(value)
    return values


def has_types(kg: KnowledgeGraph) -> bool:
    """Return whether parts may have classes for categories, as those of scene graphs have."""
    return any(next(iter(property_values(kg, (name,))), None) is not None for name in PARTS_OF)


FacetName: TypeAlias = typing.Literal["category", "attribute"]
FACETS: tuple[FacetName, ...] = ("category", "attribute")
Chosen: TypeAlias = npt.NDArray[np.bool_]  # Of each image of a catalogue, in its order, whether it is chosen

_Numbers: TypeAlias = npt.NDArray[np.int64]
_Pairs: TypeAlias = tuple[_Numbers, _Numbers]
_SETS = 100  # Sets of images by name that are held, so that memory does not grow with what is asked for


class ImageCatalogue:
    """The images of a graph that have a file, in order of IRI, with what is annotated in them."""

    def __init__(self, files: Mapping[str, str], features: Iterable[tuple[str, PartFeatures]] = ()) -> None:
        self.images = tuple(sorted(files))
        self.files = {iri: files[iri] for iri in self.images}
        self._at = {iri: at for at, iri in enumerate(self.images)}
        kinds: dict[PartFeatures, int] = {}
        seen = {
            (self._at[image], kinds.setdefault(one, len(kinds)))
            for image, one in features
            if image in self._at
        }
        self._image, self._kind = _columns(sorted(seen))
        self.values: dict[FacetName, tuple[str, ...]] = {}
        self._told: dict[FacetName, _Pairs] = {}
        for name in FACETS:
            values = tuple(sorted({value for kind in kinds for value in _of_facet(kind, name)}))
            number = {value: at for at, value in enumerate(values)}
            self.values[name] = values
            self._told[name] = _columns(
                [(at, number[v]) for kind, at in kinds.items() for v in sorted(_of_facet(kind, name))]
            )
        self._join()

    @classmethod
    def read(cls, kg: KnowledgeGraph) -> ImageCatalogue:
        """Read the images of a graph, all of them."""
        files = file_names(kg)
        return cls(files, all_features(kg, files))

    def _join(self) -> None:
        """Note which values each image has."""
        self._kinds = int(self._kind.max(initial=-1)) + 1
        self._of = {name: self._pairs(name) for name in FACETS}
        self._sets: OrderedDict[str, Chosen] = OrderedDict()

    def _pairs(self, name: FacetName) -> _Pairs:
        kind, value = self._told[name]
        many = np.bincount(kind, minlength=self._kinds)
        starts = np.cumsum(many) - many
        each = many[self._kind]
        at = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
        width = len(self.values[name]) or 1
        pairs = np.unique(
            np.repeat(self._image, each) * width + value[np.repeat(starts[self._kind], each) + at]
        )
        return pairs // width, pairs % width

    # -- choosing and counting ---------------------------------------------------------------------

    def choose(
        self, wanted: Mapping[FacetName, Sequence[str]] | None = None, among: Sequence[Chosen] = ()
    ) -> Chosen:
        """Choose the images that have every wanted value and are in every set."""
        mask = np.ones(len(self.images), np.bool_)
        for name, values in (wanted or {}).items():
            at, value = self._of[name]
            for one in values:
                number = self.values[name].index(one) if one in self.values[name] else -1
                has = np.zeros(len(self.images), np.bool_)
                has[at[value == number]] = True
                mask &= has
        for each in among:
            mask &= each
        return mask

    def inside(self, iris: Iterable[str]) -> Chosen:
        """Return which images are among some IRIs."""
        mask = np.zeros(len(self.images), np.bool_)
        mask[[self._at[iri] for iri in iris if iri in self._at]] = True
        return mask

    def find_set(self, name: str) -> Chosen | None:
        """Return a set of images that was noted under a name."""
        return self._sets.get(name)

    def note_set(self, name: str, mask: Chosen) -> None:
        """Note a set of images under a name; those noted first are forgotten where there are many."""
        self._sets[name] = mask
        while len(self._sets) > _SETS:
            self._sets.popitem(last=False)

    def counts(self, name: FacetName, chosen: Chosen) -> dict[str, int]:
        """Count of each value of a facet the chosen images that have it, most first, ties by IRI."""
        at, value = self._of[name]
        values = self.values[name]
        numbers = np.bincount(value[chosen[at]], minlength=len(values)).tolist()
        pairs = [(number, one) for number, one in zip(numbers, values, strict=True) if number]
        return {one: number for number, one in sorted(pairs, key=lambda pair: (-pair[0], pair[1]))}

    def iris(self, chosen: Chosen) -> list[str]:
        """Return the IRIs of the chosen images, in order."""
        return [self.images[at] for at in np.flatnonzero(chosen)]

    def values_of(self, image: str) -> set[str]:
        """Return the IRIs of all categories and attributes of an image."""
        at, values = self._at[image], set[str]()
        for name in FACETS:
            image_of, value = self._of[name]
            first, last = np.searchsorted(image_of, (at, at + 1))
            values.update(self.values[name][number] for number in value[first:last])
        return values

    # -- comparing ---------------------------------------------------------------------------------

    def alike(self, wanted: Sequence[PartFeatures], chosen: Chosen, k: int) -> list[tuple[str, float]]:
        """Return the chosen images that have parts most like those wanted, best first, ties by IRI."""
        total = np.zeros(len(self.images))
        for one in wanted:
            total += self._best(self._likeness(one)) / len(wanted)
        return self._first(total, chosen, k)

    def weigh(self, weights: Mapping[str, float], chosen: Chosen, k: int) -> list[tuple[str, float]]:
        """Return the chosen images with the part whose values weigh most together, ties by IRI."""
        of_kinds = np.zeros(self._kinds)
        for name in FACETS:
            kind, value = self._told[name]
            weigh = np.array([weights.get(iri, 0.0) for iri in self.values[name]], np.float64)
            if len(weigh):
                of_kinds += np.bincount(kind, weigh[value], self._kinds)
        return self._first(self._best(of_kinds), chosen, k)

    def _likeness(self, wanted: PartFeatures) -> npt.NDArray[np.float64]:
        """Return how alike something and each kind of part are, from 0 to 1.

        A shared category counts half, and half the share of the attributes of either that both have.
        """
        sizes, shared = {}, {}
        for name in FACETS:
            kind, value = self._told[name]
            there = {iri: at for at, iri in enumerate(self.values[name])}
            numbers = [there[iri] for iri in sorted(_of_facet(wanted, name)) if iri in there]
            sizes[name] = np.bincount(kind, minlength=self._kinds)
            shared[name] = np.bincount(kind[np.isin(value, numbers)], minlength=self._kinds)
        either = sizes["attribute"] + len(wanted.attributes) - shared["attribute"]
        share = np.where(either > 0, shared["attribute"] / np.maximum(either, 1), 1.0)
        if not wanted.categories:
            return np.asarray(share)
        same = shared["category"] > 0
        return np.where(same, 0.5 + 0.5 * share, np.where(either > 0, 0.5 * share, 0.0))

    def _best(self, of_kinds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        best = np.zeros(len(self.images))
        if len(self._kind):
            np.maximum.at(best, self._image, of_kinds[self._kind])
        return best

    def _first(self, scores: npt.NDArray[np.float64], chosen: Chosen, k: int) -> list[tuple[str, float]]:
        scores = np.where(chosen, scores, 0.0)
        order = np.lexsort((np.arange(len(scores)), -scores))[:k]
        return [(self.images[at], float(scores[at])) for at in order if scores[at] > 0]

    # -- a file ------------------------------------------------------------------------------------

    def to_bytes(self, state: Mapping[str, object]) -> bytes:
        """Return the catalogue as a file, in NumPy's format."""
        head = {"state": dict(state), "files": self.files, "values": self.values}
        arrays = {"image": self._image, "kind": self._kind}
        for name in FACETS:
            arrays[f"{name}_kind"], arrays[f"{name}_value"] = self._told[name]
        written = io.BytesIO()
        text = np.frombuffer(json.dumps(head).encode(), np.uint8)
        whole: dict[str, Any] = {name: one.astype(np.int32) for name, one in arrays.items()}
        np.savez(written, head=text, **whole)
        return written.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> tuple[ImageCatalogue, dict[str, object]]:
        """Read what `to_bytes` wrote; return the catalogue and its state."""
        made = object.__new__(cls)
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                head = json.loads(arrays["head"].tobytes())
                made.files = head["files"]
                made.values = {name: tuple(head["values"][name]) for name in FACETS}
                read = {name: arrays[name].astype(np.int64) for name in arrays.files if name != "head"}
            made._image, made._kind = read["image"], read["kind"]
            made._told = {name: (read[f"{name}_kind"], read[f"{name}_value"]) for name in FACETS}
            made.images = tuple(made.files)
            made._at = {iri: at for at, iri in enumerate(made.images)}
            made._join()
        except (ValueError, KeyError, IndexError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise DamagedIndex("The catalogue of images is damaged.", hint="It is read anew.") from error
        return made, head["state"]


def _columns(rows: Sequence[tuple[int, int]]) -> _Pairs:
    table = np.array(rows, np.int64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


def _of_facet(features: PartFeatures, name: FacetName) -> frozenset[str]:
    return features.categories if name == "category" else features.attributes


logger = logging.getLogger(__name__)

_FORMAT: Final = 2


class KeptCatalogue:
    """The images of a graph, read from it only where what was kept is not of its present state."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self._lock = threading.RLock()
        self._known: tuple[dict[str, Any], ImageCatalogue] | None = None
        self._cache: object = None
        self._looked = False
        self._files: tuple[object, list[str], dict[str, str]] | None = None

    @property
    def known(self) -> ImageCatalogue | None:
        """The catalogue as it was last, which may be older than the graph."""
        return None if self._known is None else self._known[1]

    def current(self) -> ImageCatalogue | None:
        """Return the catalogue of the present graph, if that takes no reading of all of it."""
        with self._lock:
            if self._known is not None and self._cache is self.kg.cache:
                return self._known[1]
            cache, now = self.kg.cache, _state(self.kg)
            if not self._looked:
                self._looked = True
                self._known = self._read_file()
            if self._known is None or not self.kg.record.kept or self._known[0] != now:
                return None
            self._cache = cache
            return self._known[1]

    def bring_up_to_date(self) -> ImageCatalogue:
        """Return the catalogue of the present graph, read whole if need be."""
        while (catalogue := self.current()) is None:
            cache, now = self.kg.cache, _state(self.kg)
            made = ImageCatalogue.read(self.kg)
            with self._lock:
                self._keep(now, made)
                self._cache = cache
            if self.kg.cache is cache:
                return made
        return catalogue

    def page(self, after: str, limit: int) -> tuple[dict[str, str], int]:
        """Return the images that follow one, with their files, and how many there are."""
        if self.kg.store.capabilities.edges:
            # To sort all of them, as the query does, takes ten times as long as to look through them.
            iris, files = self._name()
            at = bisect_right(iris, after)
            return {iri: files[iri] for iri in iris[at : at + limit]}, len(iris)
        rows = self.kg.select(queries.get("image/page").bind(after=[Literal(after)], limit=limit))
        (count,) = self.kg.select(queries.get("image/count").text)
        return {str(image): str(file) for image, file in rows}, int(str(count[0]))

    # -- inside ------------------------------------------------------------------------------------

    def _name(self) -> tuple[list[str], dict[str, str]]:
        """Return all images and their files, which are held until the catalogue is there."""
        entry, cache = self._files, self.kg.cache
        if entry is None or entry[0] is not cache:
            files: dict[str, str] = {}
            for value in property_values(self.kg, [FILE]):
                files[value.subject] = min(value.text, files.get(value.subject, value.text))
            entry = self._files = (cache, sorted(files), files)
        return entry[1:]

    def _keep(self, state: dict[str, Any], made: ImageCatalogue) -> None:
        self._known, self._files = (state, made), None
        file = self._file()
        if file is None:
            return
        try:
            make_folder(file.parent)
            replace(file, made.to_bytes(state))
        except OSError as error:
            logger.warning("The catalogue of images is not kept: %s", error)

    def _file(self) -> Path | None:
        folder = home(self.kg) if self.kg.record.kept and not self.kg.within else None
        return None if folder is None else folder.parent / "images" / "catalogue.npz"

    def _read_file(self) -> tuple[dict[str, Any], ImageCatalogue] | None:
        file = self._file()
        if file is None:
            return None
        try:
            made, state = ImageCatalogue.from_bytes(file.read_bytes())
        except OSError:
            return None
        except DamagedIndex as error:
            logger.warning("%s It is made anew.", error.message)
            return None
        return state, made


def keep_catalogue(kg: KnowledgeGraph) -> None:
    """Bring the catalogue of a graph that names image files up to date, so that no request waits for it."""
    if next(iter(property_values(kg, [FILE])), None) is not None:
        KeptCatalogue(kg).bring_up_to_date()


def _state(kg: KnowledgeGraph) -> dict[str, Any]:
    """Return what the catalogue depends on, as JSON."""
    inferred = [*kg.dataset("inferred").default, kg.record.inferences]
    about = {"kg": kg.iri, "within": kg.within, "revision": kg.revision, "inferred": inferred}
    return {"format": _FORMAT, **about}
