"""The catalogue of images as it is kept: a file beside the index, brought up to date by what changed."""

from __future__ import annotations

import logging
import threading
from bisect import bisect_right
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from rdflib import Literal

from mrag.errors import DamagedIndex
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import touched_since
from mrag.images.catalogue import ImageCatalogue
from mrag.images.graph import ImageVocabulary, file_names, property_values
from mrag.images.parts import ATTRIBUTES, CATEGORIES, GENERAL, IMAGE_OF, PARTS_OF, TYPE, features_of, typed
from mrag.index.similarity import home
from mrag.rdf import queries
from mrag.storage.files import make_folder, replace
from mrag.stores.oxigraph import OxigraphStore

logger = logging.getLogger(__name__)

_FORMAT: Final = 1
_MOST: Final = 5_000
"""Images from which on all are read, which is then hardly slower."""
_READ: Final = (*ImageVocabulary().files, *CATEGORIES, *ATTRIBUTES, *IMAGE_OF, *PARTS_OF)


class KeptCatalogue:
    """The images of a graph, read from it whole only where nothing else leads to its present state.

    Args:
        kg: The knowledge graph.

    Example:
        >>> import mrag
        >>> from rdflib import Literal, URIRef
        >>> from mrag.images.graph import EX
        >>> with mrag.connect() as kg:
        ...     kept = KeptCatalogue(kg)
        ...     named = URIRef(EX + "hasFileName")
        ...     _ = kg.insert([mrag.Triple(URIRef("urn:i1"), named, Literal("1.png"))])
        ...     before = kept.current(), kept.brought_up_to_date().images
        ...     _ = kg.insert([mrag.Triple(URIRef("urn:i2"), named, Literal("2.png"))])
        ...     before, kept.current().images
        ((None, ('urn:i1',)), ('urn:i1', 'urn:i2'))
    """

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
        """Return the images that follow one, with their files, and how many there are, without a catalogue.

        Args:
            after: IRI of an image; empty for the beginning.
            limit: Maximum number of images.
        """
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
