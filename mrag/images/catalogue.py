"""All images of a graph with what is annotated in them: to page, to filter, to count, and to compare."""

from __future__ import annotations

import io
import json
import zipfile
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import DamagedIndex
from mrag.graph.kg import KnowledgeGraph
from mrag.images.graph import file_names
from mrag.images.parts import PartFeatures, all_features

FacetName: TypeAlias = Literal["category", "attribute"]
FACETS: tuple[FacetName, ...] = ("category", "attribute")
Chosen: TypeAlias = npt.NDArray[np.bool_]
"""Of each image of a catalogue, in its order, whether it is chosen."""

_Numbers: TypeAlias = npt.NDArray[np.int64]
_Pairs: TypeAlias = tuple[_Numbers, _Numbers]
_SETS = 100
"""Sets of images by name that are held, so that memory does not grow with what is asked for."""


class ImageCatalogue:
    """The images of a graph that have a file, in order of IRI, with what is annotated in them.

    Args:
        files: Name of the file of each image.
        features: What is known of each part of each image, the image itself among its parts.

    Attributes:
        images: IRIs of the images.
        files: Names of their files.
        values: Of each facet the IRIs of its values.

    Example:
        >>> coat = PartFeatures(frozenset(["urn:coat"]), frozenset(["urn:red"]))
        >>> found = ImageCatalogue({"urn:i1": "1.png", "urn:i2": "2.png"}, [("urn:i2", coat)])
        >>> found.counts("category", found.chosen())
        {'urn:coat': 1}
        >>> found.iris(found.chosen({"attribute": ["urn:red"]}))
        ['urn:i2']
    """

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
        """Choose the images that have every wanted value and are in every set.

        Args:
            wanted: IRIs of values by facet.
            among: Sets of images, as `inside` gives them.
        """
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
        """Return the chosen images that have parts most like those wanted, best first, ties by IRI.

        Args:
            wanted: What the parts shall be like; an image counts by its best part for each, on average.
            chosen: The only images that may be found.
            k: Maximum number of images.
        """
        total = np.zeros(len(self.images))
        for one in wanted:
            total += self._best(self._likeness(one)) / len(wanted)
        return self._first(total, chosen, k)

    def weighted(self, weights: Mapping[str, float], chosen: Chosen, k: int) -> list[tuple[str, float]]:
        """Return the chosen images with the part whose values weigh most together, ties by IRI.

        Args:
            weights: Weight by IRI of a category or attribute.
            chosen: The only images that may be found.
            k: Maximum number of images.
        """
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
        """Return the catalogue with some images read anew.

        Args:
            images: IRIs of those images, also of such as are none now.
            files: Names of the files of those among them that are images.
            features: What is known of their parts.
        """
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
        """Return the catalogue as a file, in NumPy's format.

        Args:
            state: What to know it by when it is read again, as JSON.
        """
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
        """Read what `to_bytes` wrote; return the catalogue and its state.

        Raises:
            DamagedIndex: If it is no such file, or not whole.
        """
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
