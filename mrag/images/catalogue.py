"""All images of a graph with what is annotated in them: to page, to filter, to count, and to compare.

The catalogue is a file beside the index, brought up to date by what changed.
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
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from rdflib import Literal

from mrag.errors import DamagedIndex
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import touched_since
from mrag.images.graph import (
    ATTRIBUTES,
    CATEGORIES,
    GENERAL,
    IMAGE_OF,
    PARTS_OF,
    TYPE,
    ImageVocabulary,
    PartFeatures,
    all_features,
    features_of,
    file_names,
    property_values,
    typed,
)
from mrag.index.backends.base import home
from mrag.rdf import queries
from mrag.storage.files import make_folder, replace
from mrag.stores.oxigraph import OxigraphStore

FacetName: TypeAlias = typing.Literal["category", "attribute"]
FACETS: tuple[FacetName, ...] = ("category", "attribute")
Chosen: TypeAlias = npt.NDArray[np.bool_]
"""Of each image of a catalogue, in its order, whether it is chosen."""

_Numbers: TypeAlias = npt.NDArray[np.int64]
_Pairs: TypeAlias = tuple[_Numbers, _Numbers]
_SETS = 100
"""Sets of images by name that are held, so that memory does not grow with what is asked for."""


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
        self._of = {name: self._joined(name) for name in FACETS}
        self._sets: OrderedDict[str, Chosen] = OrderedDict()

    def _joined(self, name: FacetName) -> _Pairs:
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

    def chosen(
        self, wanted: Mapping[FacetName, Sequence[str]] | None = None, among: Sequence[Chosen] = ()
    ) -> Chosen:
        """Choose the images that have every wanted value and are in every set."""
        found = np.ones(len(self.images), np.bool_)
        for name, values in (wanted or {}).items():
            at, value = self._of[name]
            for one in values:
                number = self.values[name].index(one) if one in self.values[name] else -1
                has = np.zeros(len(self.images), np.bool_)
                has[at[value == number]] = True
                found &= has
        for each in among:
            found &= each
        return found

    def inside(self, iris: Iterable[str]) -> Chosen:
        """Return which images are among some IRIs."""
        found = np.zeros(len(self.images), np.bool_)
        found[[self._at[iri] for iri in iris if iri in self._at]] = True
        return found

    def known_set(self, name: str) -> Chosen | None:
        """Return a set of images that was noted under a name."""
        return self._sets.get(name)

    def note_set(self, name: str, found: Chosen) -> None:
        """Note a set of images under a name; those noted first are forgotten where there are many."""
        self._sets[name] = found
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
        at, found = self._at[image], set[str]()
        for name in FACETS:
            image_of, value = self._of[name]
            first, last = np.searchsorted(image_of, (at, at + 1))
            found.update(self.values[name][number] for number in value[first:last])
        return found

    # -- comparing ---------------------------------------------------------------------------------

    def alike(self, wanted: Sequence[PartFeatures], chosen: Chosen, k: int) -> list[tuple[str, float]]:
        """Return the chosen images that have parts most like those wanted, best first, ties by IRI."""
        total = np.zeros(len(self.images))
        for one in wanted:
            total += self._best(self._likeness(one)) / len(wanted)
        return self._first(total, chosen, k)

    def weighted(self, weights: Mapping[str, float], chosen: Chosen, k: int) -> list[tuple[str, float]]:
        """Return the chosen images with the part whose values weigh most together, ties by IRI."""
        of_kinds = np.zeros(self._kinds)
        for name in FACETS:
            kind, value = self._told[name]
            weigh = np.array([weights.get(iri, 0.0) for iri in self.values[name]], np.float64)
            if len(weigh):
                of_kinds += np.bincount(kind, weigh[value], self._kinds)
        return self._first(self._best(of_kinds), chosen, k)

    def _likeness(self, wanted: PartFeatures) -> npt.NDArray[np.float64]:
        """Return how alike something and each kind of part are, as `PartFeatures.likeness` says."""
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

    # -- another state, and a file -----------------------------------------------------------------

    def replaced(
        self,
        images: Collection[str],
        files: Mapping[str, str],
        features: Iterable[tuple[str, PartFeatures]],
    ) -> ImageCatalogue:
        """Return the catalogue with some images read anew."""
        some = ImageCatalogue({iri: files[iri] for iri in images if iri in files}, features)
        made = object.__new__(ImageCatalogue)
        made.files = {iri: name for iri, name in self.files.items() if iri not in images} | some.files
        made.images = tuple(sorted(made.files))
        made.files = {iri: made.files[iri] for iri in made.images}
        made._at = {iri: at for at, iri in enumerate(made.images)}
        olds = np.array([made._at.get(iri, -1) if iri not in images else -1 for iri in self.images], np.int64)
        news = np.array([made._at[iri] for iri in some.images], np.int64)
        stays = olds[self._image] >= 0 if len(self._image) else np.zeros(0, np.bool_)
        image = np.concatenate((olds[self._image[stays]], news[some._image]))
        # Kinds that nothing is of any more go, so that they do not add up.
        used, kind = np.unique(
            np.concatenate((self._kind[stays], some._kind + self._kinds)), return_inverse=True
        )
        made._image, made._kind = image, kind.astype(np.int64)
        made.values, made._told = {}, {}
        for name in FACETS:
            every = tuple(sorted({*self.values[name], *some.values[name]}))
            number = {iri: at for at, iri in enumerate(every)}
            kinds, values = [], []
            for one, further in ((self, 0), (some, self._kinds)):
                of, value = one._told[name]
                kinds.append(of + further)
                values.append(np.array([number[iri] for iri in one.values[name]], np.int64)[value])
            of, value = np.concatenate(kinds), np.concatenate(values)
            there = np.isin(of, used)
            of, value = np.searchsorted(used, of[there]), value[there]
            order = np.lexsort((value, of))
            made.values[name], made._told[name] = every, (of[order], value[order])
        made._join()
        return made

    def to_bytes(self, state: Mapping[str, object]) -> bytes:
        """Return the catalogue as a file, in NumPy's format."""
        head = {"state": dict(state), "files": self.files, "values": self.values}
        arrays = {"image": self._image, "kind": self._kind}
        for name in FACETS:
            arrays[f"{name}_kind"], arrays[f"{name}_value"] = self._told[name]
            arrays[f"{name}_image"], arrays[f"{name}_has"] = self._of[name]
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
            made._kinds = int(made._kind.max(initial=-1)) + 1
            made._told = {name: (read[f"{name}_kind"], read[f"{name}_value"]) for name in FACETS}
            made._of = {name: (read[f"{name}_image"], read[f"{name}_has"]) for name in FACETS}
            made._sets = OrderedDict()
            made.images = tuple(made.files)
            made._at = {iri: at for at, iri in enumerate(made.images)}
        except (ValueError, KeyError, IndexError, TypeError, EOFError, OSError, zipfile.BadZipFile) as error:
            raise DamagedIndex("The catalogue of images is damaged.", hint="It is read anew.") from error
        return made, head["state"]


def _columns(rows: Sequence[tuple[int, int]]) -> _Pairs:
    table = np.array(rows, np.int64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


def _of_facet(features: PartFeatures, name: FacetName) -> frozenset[str]:
    return features.categories if name == "category" else features.attributes


logger = logging.getLogger(__name__)

_FORMAT: Final = 1
_MOST: Final = 5_000
"""Images from which on all are read, which is then hardly slower."""
_READ: Final = (*ImageVocabulary().files, *CATEGORIES, *ATTRIBUTES, *IMAGE_OF, *PARTS_OF)


class KeptCatalogue:
    """The images of a graph, read from it whole only where nothing else leads to its present state."""

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
            if self._known is None or not self.kg.record.kept:
                return None
            state, known = self._known
            if state != now:
                followed = self._followed(state, now, known)
                if followed is None:
                    return None
                self._keep(now, followed)
            self._cache = cache
            return self._known[1]

    def brought_up_to_date(self) -> ImageCatalogue:
        """Return the catalogue of the present graph, read whole if need be."""
        while (found := self.current()) is None:
            cache, now = self.kg.cache, _state(self.kg)
            made = ImageCatalogue.read(self.kg)
            with self._lock:
                self._keep(now, made)
                self._cache = cache
            if self.kg.cache is cache:
                return made
        return found

    def page(self, after: str, limit: int) -> tuple[dict[str, str], int]:
        """Return the images that follow one, with their files, and how many there are."""
        if self.kg.store.capabilities.edges:
            # To sort all of them, as the query does, takes ten times as long as to look through them.
            iris, files = self._named()
            at = bisect_right(iris, after)
            return {iri: files[iri] for iri in iris[at : at + limit]}, len(iris)
        rows = self.kg.select(queries.get("image/page").bind(after=[Literal(after)], limit=limit))
        (count,) = self.kg.select(queries.get("image/count").text)
        return {str(image): str(file) for image, file in rows}, int(str(count[0]))

    # -- inside ------------------------------------------------------------------------------------

    def _named(self) -> tuple[list[str], dict[str, str]]:
        """Return all images and their files, which are held until the catalogue is there."""
        found, cache = self._files, self.kg.cache
        if found is None or found[0] is not cache:
            files: dict[str, str] = {}
            for value in property_values(self.kg, ImageVocabulary().files):
                files[value.subject] = min(value.text, files.get(value.subject, value.text))
            found = self._files = (cache, sorted(files), files)
        return found[1:]

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

    def _followed(
        self, state: dict[str, Any], now: dict[str, Any], known: ImageCatalogue
    ) -> ImageCatalogue | None:
        """Return the catalogue brought up to date by what changed alone; None if that is not known."""
        kg, since = self.kg, int(state["revision"])
        if not isinstance(kg.store, OxigraphStore) or since > now["revision"]:
            return None
        if {**state, "revision": 0} != {**now, "revision": 0}:
            return None
        touched = touched_since(kg.store, kg.iri, since, now["revision"])
        if touched is None:
            return None
        images = set(touched.entities)
        for text in queries.get("image/images-with").batches("part", sorted(touched.entities)):
            images.update(str(image) for _, image in kg.select(text))
        if len(images) > _MOST:
            return None
        features = [
            (image, features_of(told))
            for image, told in _told(kg, sorted(images), typed=now["typed"])
            if told
        ]
        return known.replaced(images, file_names(kg, images=images), features)


def keep_catalogue(kg: KnowledgeGraph) -> None:
    """Bring the catalogue of a graph that names image files up to date, so that no request waits for it."""
    if next(iter(property_values(kg, ImageVocabulary().files)), None) is not None:
        KeptCatalogue(kg).brought_up_to_date()


def _told(
    kg: KnowledgeGraph, images: Collection[str], *, typed: bool
) -> list[tuple[str, dict[str, set[str]]]]:
    """Return, for each part of some images, themselves among them, the values that tell its features."""
    of: dict[str, set[str]] = {image: {image} for image in images}
    for text in queries.get("image/parts").batches("image", sorted(images)):
        for image, part, _ in kg.select(text):
            of.setdefault(str(part), set()).add(str(image))
    wanted = {*CATEGORIES, *ATTRIBUTES, *((TYPE,) if typed else ())}
    values: dict[str, dict[str, set[str]]] = {}
    for text in queries.get("image/iris-of").batches("image", sorted(of)):
        for part, p, value in kg.select(text):
            if str(p) in wanted and str(value) not in GENERAL:
                values.setdefault(str(part), {}).setdefault(str(p), set()).add(str(value))
    return [(image, told) for part, told in values.items() for image in sorted(of[part])]


def _state(kg: KnowledgeGraph) -> dict[str, Any]:
    """Return what the catalogue depends on, as JSON."""
    record, inferred = kg.record, kg.dataset("inferred").default
    types = typed(kg)
    # Most inferences are none of those that are read; then it does not matter that they are others.
    matters = True
    if kg.store.capabilities.edges:
        names = (*_READ, *((TYPE,) if types else ()))
        matters = any(next(kg.store.edges(g, p=name), None) is not None for g in inferred for name in names)
    return {
        "format": _FORMAT,
        "kg": kg.iri,
        "within": kg.within,
        "revision": kg.revision,
        "typed": types,
        "inferred": [*inferred, record.inferences] if matters and inferred else [],
    }
