"""What a graph says of its images: their files, the sentences about them, and what is annotated in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import pyoxigraph as ox
from rdflib import Literal

from mrag.errors import ConfigError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.images.files import Box, file_in
from mrag.rdf import patterns, queries
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import OWL, RDF
from mrag.stores.base import Limits, SelectResult

EX = "http://example.org/"
_DCTERMS = "http://purl.org/dc/terms/"
_PROV = "http://www.w3.org/ns/prov#"

Allowed = Callable[[], Collection[str]]
"""Gives the IRIs of the only images that may be found."""


@dataclass(frozen=True)
class ImageVocabulary:
    """The properties by which a graph speaks of images; by default those of `fashionpedia-images.ttl`.

    Attributes:
        files: Their values name files.
        sentences: Their values are sentences about an image.
        generated: Its values are what a model said of an image.
        box: Its values are boxes, `left top width height` in pixels.
        box_image: Leads from what has a box to the image.
    """

    files: tuple[str, ...] = (EX + "hasFileName",)
    sentences: tuple[str, ...] = (EX + "hasDescription",)
    generated: str = EX + "hasLLMDescription"
    box: str = EX + "hasBoundingBox"
    box_image: str = EX + "hasImage"


@dataclass(frozen=True)
class ImageTexts:
    """The sentences about an image."""

    image: str
    sentences: tuple[str, ...] = ()
    generated: tuple[str, ...] = ()
    regions: tuple[tuple[str, str], ...] = ()

    def document(self, length: int = 4000) -> str:
        """Put the sentences together to one text, those of the graph first."""
        said = (*self.generated, *(text for _, text in self.regions))
        return "\n".join((*self.sentences, *(text[:length] for text in said)))


def file_names(
    kg: KnowledgeGraph, vocabulary: ImageVocabulary | None = None, images: Collection[str] | None = None
) -> dict[str, str]:
    """Return the name of the file of each image, in order of IRI; the first where there are several."""
    vocabulary = vocabulary or ImageVocabulary()
    if images is None:
        rows = [(value.subject, value.text) for value in property_values(kg, vocabulary.files)]
    else:
        of = kg.select(queries.get("image/of").bind(image=sorted(images))) if images else ()
        rows = [(str(i), str(value)) for i, p, value in of if str(p) in vocabulary.files]
    found: dict[str, str] = {}
    for image, name in sorted(rows):
        found.setdefault(image, name)
    return found


def files_of(
    kg: KnowledgeGraph,
    folder: Path,
    vocabulary: ImageVocabulary | None = None,
    images: Collection[str] | None = None,
) -> tuple[dict[str, Path], dict[str, str]]:
    """Find the files of a graph's images."""
    found: dict[str, Path] = {}
    missing: dict[str, str] = {}
    folder = folder.resolve()
    for image, name in file_names(kg, vocabulary, images).items():
        try:
            found[image] = file_in(folder, name)
        except LoadError as error:
            missing[image] = str(error)
    return found, missing


def image_texts(kg: KnowledgeGraph, vocabulary: ImageVocabulary | None = None) -> list[ImageTexts]:
    """Return what a graph says of each image, in order of IRI, whatever the order of its triples."""
    vocabulary = vocabulary or ImageVocabulary()
    texts: dict[str, tuple[set[str], set[str], set[tuple[str, str]]]] = {
        image: (set(), set(), set()) for image in file_names(kg, vocabulary)
    }
    for value in property_values(kg, [*vocabulary.sentences, vocabulary.generated]):
        if value.literal:
            sentences, generated, _ = texts.setdefault(value.subject, (set(), set(), set()))
            (generated if value.property == vocabulary.generated else sentences).add(_line(value.text))
    for whole, region, text in _of_regions(kg):
        fragment = "xywh=" + region.rpartition("xywh=")[2]
        texts.setdefault(whole, (set(), set(), set()))[2].add((fragment, _line(text)))
    return [
        ImageTexts(image, tuple(sorted(sentences)), tuple(sorted(generated)), tuple(sorted(regions)))
        for image, (sentences, generated, regions) in sorted(texts.items())
    ]


def described(kg: KnowledgeGraph, vocabulary: ImageVocabulary | None = None) -> set[str]:
    """Return the IRIs of the images, and of the parts of images, that a model has described."""
    vocabulary = vocabulary or ImageVocabulary()
    whole = {value.subject for value in property_values(kg, (vocabulary.generated,))}
    return whole | {region for _, region, _ in _of_regions(kg)}


def described_by(kg: KnowledgeGraph, activity: str) -> set[str]:
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
    found: dict[str, set[str]] = {}
    rows = kg.select(queries.get("image/regions-of").bind(image=sorted(images))) if images else ()
    for image, region in rows:
        found.setdefault(str(image), set()).add(str(region))
    return {image: sorted(regions) for image, regions in found.items()}


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


def boxes(
    kg: KnowledgeGraph, vocabulary: ImageVocabulary | None = None
) -> tuple[dict[str, list[tuple[Box, str]]], dict[str, str]]:
    """Return the boxes of each image with the IRI of what has it, and why others cannot be used."""
    vocabulary = vocabulary or ImageVocabulary()
    found: dict[str, dict[Box, str]] = {}
    bad: dict[str, str] = {}
    image_of: dict[str, str] = {}
    texts: list[tuple[str, str]] = []
    for value in property_values(kg, (vocabulary.box, vocabulary.box_image)):
        if value.property == vocabulary.box:
            texts.append((value.subject, value.text))
        else:
            image_of[value.subject] = min(value.text, image_of.get(value.subject, value.text))
    for annotation, text in sorted(texts):
        if annotation not in image_of:
            continue
        try:
            found.setdefault(image_of[annotation], {}).setdefault(Box.read(text), annotation)
        except LoadError as error:
            bad[annotation] = error.message
    return {image: list(one.items()) for image, one in sorted(found.items())}, bad


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
    typed = patterns.TriplePattern(x, patterns.iri(RDF + "type"), patterns.iri(iri))
    return of_pattern(kg, (typed,), x)


def of_pattern(
    kg: KnowledgeGraph, pattern: Iterable[patterns.TriplePattern], image: ox.Variable | None = None
) -> Allowed:
    """Allow what stands for a variable in a typed pattern."""
    variable = image or patterns.var("image")
    group = patterns.Group(tuple(pattern))
    text = to_sparql(patterns.Select((variable,), group, distinct=True))
    return lambda: {str(found) for (found,) in kg.select(text)}


def of_query(kg: KnowledgeGraph, select: str) -> Allowed:
    """Allow what a SELECT query of a person's own gives as its first variable, guarded and bounded.

    Raises:
        QueryRefused: When it is called, if the read gate or a cap refuses the query.
        ConfigError: When it is called, if it is no SELECT query.
    """

    def allowed() -> set[str]:
        result = kg.query(select, limits=Limits(seconds=60.0, rows=2_000_000, bytes=1 << 30))
        if not isinstance(result, SelectResult) or not result.variables:
            raise ConfigError("A filter of images is a SELECT query.", query=select)
        return {str(row[0]) for row in result if row[0] is not None}

    return allowed


def with_category(kg: KnowledgeGraph, names: Iterable[str]) -> Allowed:
    """Allow the images with an annotation of one of some categories, as `fashionpedia.ttl` has them."""
    text = queries.get("image/with-category").bind(name=[Literal(name) for name in names])
    return lambda: {str(image) for (image,) in kg.select(text)}


def all_of(*filters: Allowed) -> Allowed:
    """Allow what every filter allows."""
    return lambda: set.intersection(*(set(one()) for one in filters)) if filters else set()


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

    def likeness(self, other: PartFeatures) -> float:
        """Return how alike two are, from 0 to 1: half for a shared category, half for shared attributes."""
        either = self.attributes | other.attributes
        shared = len(self.attributes & other.attributes) / len(either) if either else 1.0
        if self.categories and not self.categories & other.categories:
            return 0.5 * shared if either else 0.0
        return 0.5 * bool(self.categories) + (0.5 if self.categories else 1.0) * shared


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
        found = boxes.setdefault(str(part), [])
        if text is not None:
            try:
                found.append(Box.read(str(text)))
            except LoadError:
                continue  # a box that cannot be read is not drawn
    names = sorted(boxes)[:_PARTS]
    values: dict[str, dict[str, set[str]]] = {}
    rows = kg.select(queries.get("image/of").bind(image=names)) if names else ()
    for part, p, value in rows:
        values.setdefault(str(part), {}).setdefault(str(p), set()).add(str(value))
    found_parts: list[ImagePart] = []
    for one in names:
        told = values.get(one, {})
        masks = [mask for text in sorted(told.get(_MASK, ())) for mask in polygons(text)]
        found_parts.append(ImagePart(one, tuple(boxes[one]), features_of(told), tuple(masks)))
    return found_parts


def polygons(text: str) -> list[tuple[float, ...]]:
    """Read polygons as `hasSegmentation` has them, but for what is none or has too many points."""
    found: list[tuple[float, ...]] = []
    for one in text[:_MASK_LENGTH].split(";"):
        points = [point.split(",") for point in one.split()]
        if len(points) < 3 or any(len(point) != 2 for point in points):
            continue
        try:
            numbers = tuple(float(number) for point in points for number in point)
        except ValueError:
            continue
        if all(map(isfinite, numbers)):
            found.append(numbers)
    return found


def inside(parts: Iterable[ImagePart], box: Box) -> list[ImagePart]:
    """Return the parts that are in a box by half or more; if none is, the smallest that the box is in."""
    found: list[ImagePart] = []
    around: list[tuple[int, str, ImagePart]] = []
    for part in parts:
        shared = [(_shared(one, box), one.w * one.h) for one in part.boxes]
        if any(common and 2 * common >= size for common, size in shared):
            found.append(part)
            continue
        sizes = [size for common, size in shared if common and 2 * common >= box.w * box.h]
        around += [(size, part.iri, part) for size in sizes]
    return found or [part for _, _, part in sorted(around, key=lambda one: one[:2])[:1]]


def _shared(one: Box, other: Box) -> int:
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
    values: dict[str, dict[str, set[str]]] = {}
    for value in property_values(kg, (*CATEGORIES, *ATTRIBUTES, *((TYPE,) if typed(kg) else ()))):
        if value.subject in of and not value.literal and value.text not in GENERAL:
            values.setdefault(value.subject, {}).setdefault(value.property, set()).add(value.text)
    for part, found in values.items():
        features = features_of(found)
        yield from ((image, features) for image in of[part])


def typed(kg: KnowledgeGraph) -> bool:
    """Return whether parts may have classes for categories, as those of scene graphs have."""
    return any(next(iter(property_values(kg, (name,))), None) is not None for name in PARTS_OF)
