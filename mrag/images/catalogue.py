"""All images of a graph with what is annotated in them: to page, to filter, to count, and to compare."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.images.files.folder import Box
from mrag.images.graph import EX, file_names, property_values
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF

_GARMENTS = EX + "garments#"
_SCENES = EX + "scenes#"
_IMAGE_OF = (EX + "hasImage",)
_PARTS_OF = (_SCENES + "hasObject", _GARMENTS + "hasGarment")
CATEGORIES = (EX + "hasCategory", EX + "hasAnnotationCategory")
"""Properties whose values are categories, of an image or of something annotated in it."""

ATTRIBUTES = (EX + "hasAttribute", _SCENES + "hasAttribute", _GARMENTS + "hasAttribute")
"""Properties whose values are attributes, of an image or of something annotated in it."""

_TYPE = RDF + "type"
_GENERAL = frozenset(
    (OWL + "NamedIndividual", OWL + "Thing", EX + "Annotation", EX + "Image", _SCENES + "Object",
     _GARMENTS + "Garment")
)  # fmt: skip
_PARTS = 200
_MASK = EX + "hasSegmentation"
_MASK_LENGTH = 100_000

FacetName: TypeAlias = Literal["category", "attribute"]
FACETS: tuple[FacetName, ...] = ("category", "attribute")
Chosen: TypeAlias = npt.NDArray[np.bool_]
"""Of each image of a catalogue, in its order, whether it is chosen."""

_Numbers: TypeAlias = npt.NDArray[np.int64]


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


class ImageCatalogue:
    """The images of a graph that have a file, in order of IRI, with what is annotated in them.

    Args:
        kg: The knowledge graph, as it is now.

    Attributes:
        images: IRIs of the images.
        files: Names of their files.
        values: Of each facet the IRIs of its values.

    Example:
        >>> from rdflib import Literal, URIRef
        >>> from mrag.rdf.terms import Triple
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> image, coat = URIRef(EX + "image_1"), URIRef(EX + "coat")
        >>> _ = kg.insert([Triple(image, URIRef(EX + "hasFileName"), Literal("1.png")),
        ...                Triple(image, URIRef(EX + "hasAnnotationCategory"), coat)])
        >>> found = ImageCatalogue(kg)
        >>> found.counts("category", found.chosen())
        {'http://example.org/coat': 1}
        >>> kg.close()
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.files = file_names(kg)
        self.images = tuple(sorted(self.files))
        self._at = {iri: at for at, iri in enumerate(self.images)}
        parts = _parts_of_all(kg, self._at)
        features = _features_of_all(kg, parts)
        kinds: dict[PartFeatures, int] = {}
        seen: set[tuple[int, int]] = set()
        for part, one in features.items():
            kind = kinds.setdefault(one, len(kinds))
            seen.update((at, kind) for at in parts[part])
        rows = sorted(seen)
        self._kinds = tuple(kinds)
        self._image = np.array([at for at, _ in rows], np.int64)
        self._kind = np.array([kind for _, kind in rows], np.int64)
        self.values: dict[FacetName, tuple[str, ...]] = {}
        self._of: dict[FacetName, tuple[_Numbers, _Numbers]] = {}
        for name in FACETS:
            values = tuple(sorted({v for kind in self._kinds for v in _of_facet(kind, name)}))
            number = {value: at for at, value in enumerate(values)}
            by_kind = [[number[v] for v in _of_facet(kind, name)] for kind in self._kinds]
            pairs = sorted({(at, value) for at, kind in rows for value in by_kind[kind]})
            self.values[name] = values
            self._of[name] = (
                np.array([at for at, _ in pairs], np.int64),
                np.array([value for _, value in pairs], np.int64),
            )

    def chosen(
        self, wanted: Mapping[FacetName, Sequence[str]] | None = None, among: Iterable[Collection[str]] = ()
    ) -> Chosen:
        """Choose the images that have every wanted value and are in every set of IRIs.

        Args:
            wanted: IRIs of values by facet.
            among: Sets of IRIs.
        """
        found = np.ones(len(self.images), np.bool_)
        for name, values in (wanted or {}).items():
            at, value = self._of[name]
            for one in values:
                number = self.values[name].index(one) if one in self.values[name] else -1
                has = np.zeros(len(self.images), np.bool_)
                has[at[value == number]] = True
                found &= has
        for iris in among:
            inside = np.zeros(len(self.images), np.bool_)
            inside[[self._at[iri] for iri in iris if iri in self._at]] = True
            found &= inside
        return found

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

    def alike(self, wanted: Sequence[PartFeatures], chosen: Chosen, k: int) -> list[tuple[str, float]]:
        """Return the chosen images that have parts most like those wanted, best first, ties by IRI.

        Args:
            wanted: What the parts shall be like; an image counts by its best part for each, on average.
            chosen: The only images that may be found.
            k: Maximum number of images.
        """
        total = np.zeros(len(self.images))
        for one in wanted:
            likeness = np.array([one.likeness(kind) for kind in self._kinds])
            best = np.zeros(len(self.images))
            if len(self._kind):
                np.maximum.at(best, self._image, likeness[self._kind])
            total += best / len(wanted)
        total[~chosen] = 0.0
        order = np.lexsort((np.arange(len(total)), -total))[:k]
        return [(self.images[at], float(total[at])) for at in order if total[at] > 0]

    def words(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return of each image the names of all that is annotated in it, as a text.

        Args:
            names: Name by IRI of a category or attribute.
        """
        texts = [" ".join(names[v] for f in FACETS for v in sorted(_of_facet(k, f))) for k in self._kinds]
        found: dict[str, list[str]] = defaultdict(list)
        for at, kind in zip(self._image.tolist(), self._kind.tolist(), strict=True):
            found[self.images[at]].append(texts[kind])
        return {image: "\n".join(lines) for image, lines in found.items()}


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
        found_parts.append(ImagePart(one, tuple(boxes[one]), _features(told), tuple(masks)))
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


def _of_facet(features: PartFeatures, name: FacetName) -> frozenset[str]:
    return features.categories if name == "category" else features.attributes


def _features(values: Mapping[str, Collection[str]]) -> PartFeatures:
    categories = {v for p in CATEGORIES for v in values.get(p, ())}
    classes = {v for v in values.get(_TYPE, ()) if v not in _GENERAL}
    attributes = {v for p in ATTRIBUTES for v in values.get(p, ())}
    return PartFeatures(frozenset(categories or classes), frozenset(attributes))


def _parts_of_all(kg: KnowledgeGraph, images: Mapping[str, int]) -> dict[str, list[int]]:
    """Return the numbers of the images that each part is of; an image is a part of itself."""
    found: dict[str, list[int]] = {iri: [at] for iri, at in images.items()}
    for value in property_values(kg, (*_IMAGE_OF, *_PARTS_OF)):
        ends = (value.subject, value.text)
        part, image = ends if value.property in _IMAGE_OF else ends[::-1]
        if image in images:
            found.setdefault(part, []).append(images[image])
    return found


def _features_of_all(kg: KnowledgeGraph, parts: Mapping[str, list[int]]) -> dict[str, PartFeatures]:
    """Return what is known of each part, of those of which something is."""
    values: dict[str, dict[str, set[str]]] = {}
    told = (*CATEGORIES, *ATTRIBUTES)
    for value in property_values(kg, told):
        if value.subject in parts and not value.literal:
            values.setdefault(value.subject, {}).setdefault(value.property, set()).add(value.text)
    bare = [p for p in _PARTS_OF if any(True for _ in property_values(kg, (p,)))]
    for value in property_values(kg, (_TYPE,)) if bare else ():
        if value.subject in parts and value.text not in _GENERAL:
            values.setdefault(value.subject, {}).setdefault(_TYPE, set()).add(value.text)
    return {part: _features(found) for part, found in sorted(values.items())}
