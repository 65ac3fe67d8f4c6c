"""What is annotated in an image: its boxes, masks, categories and attributes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite

from mrag.errors import LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.images.files.folder import Box
from mrag.images.graph import EX, property_values
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF

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
    """What is known of something annotated in an image.

    Attributes:
        categories: IRIs of its categories; of its classes where it has none.
        attributes: IRIs of its attributes.

    Example:
        >>> coat = PartFeatures(frozenset(["coat"]), frozenset(["plain", "long"]))
        >>> coat.likeness(PartFeatures(frozenset(["coat"]), frozenset(["plain"])))
        0.75
    """

    categories: frozenset[str]
    attributes: frozenset[str]

    def likeness(self, other: PartFeatures) -> float:
        """Return how alike two are, from 0 to 1: half for a shared category, half for shared attributes.

        Attributes count by the share of those of either that both have (Jaccard's index).
        """
        either = self.attributes | other.attributes
        shared = len(self.attributes & other.attributes) / len(either) if either else 1.0
        if self.categories and not self.categories & other.categories:
            return 0.5 * shared if either else 0.0
        return 0.5 * bool(self.categories) + (0.5 if self.categories else 1.0) * shared


@dataclass(frozen=True)
class ImagePart:
    """Something annotated in an image.

    Attributes:
        iri: Its IRI.
        boxes: Where it is; none if that is not said, or not so that it can be read.
        masks: The polygons that it fills, each as x, y, x, y and so on, in pixels.
        features: What is known of it.
    """

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
    """Read polygons as `hasSegmentation` has them; what is none is left out, as is what has too many points.

    Example:
        >>> polygons("1,2 3,4 5,6; 1,2 3; nan,1 2,2 3,3")
        [(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]
    """
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
    """Return the parts that lie in a box by half or more; where none does, the smallest that the box lies in.

    Example:
        >>> nothing = PartFeatures(frozenset(), frozenset())
        >>> hat, coat = (ImagePart(f"urn:{n}", (Box(*b),), nothing)
        ...              for n, b in (("hat", (10, 10, 20, 20)), ("coat", (0, 40, 80, 90))))
        >>> [part.iri for part in inside([hat, coat], Box(0, 0, 90, 50))]
        ['urn:hat']
        >>> [part.iri for part in inside([hat, coat], Box(30, 60, 9, 9))]
        ['urn:coat']
    """
    found: list[ImagePart] = []
    around: list[tuple[int, str, ImagePart]] = []
    for part in parts:
        for one in part.boxes:
            shared = _shared(one, box)
            if shared and 2 * shared >= one.w * one.h:
                found.append(part)
                break
            if shared and 2 * shared >= box.w * box.h:
                around.append((one.w * one.h, part.iri, part))
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
    """Yield each image with what is known of each of its parts, itself among them.

    Args:
        kg: The knowledge graph.
        images: IRIs of the images.
    """
    parts = _images_of_all(kg, images)
    for part, one in _features_of_all(kg, parts):
        yield from ((image, one) for image in parts[part])


def _images_of_all(kg: KnowledgeGraph, images: Collection[str]) -> dict[str, list[str]]:
    """Return the images that each part is of; an image is a part of itself."""
    found: dict[str, list[str]] = {iri: [iri] for iri in images}
    for value in property_values(kg, (*IMAGE_OF, *PARTS_OF)):
        ends = (value.subject, value.text)
        part, image = ends if value.property in IMAGE_OF else ends[::-1]
        if image in images and not value.literal:
            found.setdefault(part, []).append(image)
    return found


def _features_of_all(
    kg: KnowledgeGraph, parts: Mapping[str, list[str]]
) -> Iterable[tuple[str, PartFeatures]]:
    """Yield what is known of each part, of those of which something is."""
    values: dict[str, dict[str, set[str]]] = {}
    for value in property_values(kg, (*CATEGORIES, *ATTRIBUTES)):
        if value.subject in parts and not value.literal:
            values.setdefault(value.subject, {}).setdefault(value.property, set()).add(value.text)
    if typed(kg):
        for value in property_values(kg, (TYPE,)):
            if value.subject in parts and value.text not in GENERAL:
                values.setdefault(value.subject, {}).setdefault(TYPE, set()).add(value.text)
    yield from ((part, features_of(found)) for part, found in values.items())


def typed(kg: KnowledgeGraph) -> bool:
    """Return whether parts may have classes for categories, as those of scene graphs have."""
    return any(next(iter(property_values(kg, (name,))), None) is not None for name in PARTS_OF)
