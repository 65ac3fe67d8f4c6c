"""Images: pages of the graph's pictures, their facets, thumbnails, one with its boxes, and searches."""

from __future__ import annotations

import base64
import binascii
import logging
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillReading
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mrag.errors import ConfigError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.server.web.validation import (
    MAX_IRI,
    PageView,
    check_names,
    guarded,
    int_value,
    iri_value,
    object_value,
    reply,
    text_value,
)

if TYPE_CHECKING:
    from mrag.context.display import Display
    from mrag.images.graph import Chosen, FacetName, ImageCatalogue, ImagePart, KeptCatalogue
    from mrag.images.rankers import ImageLooksRanker, ImageTextRanker
    from mrag.index.document_index import DocumentIndex
    from mrag.retrieval.rankers import Hit
    from mrag.server.web.routes import Api
    from mrag.server.web.validation import Rankers

logger = logging.getLogger(__name__)

SHORTLY = 0.4
"""Seconds that a request waits for images that are being read, where there are few."""


class ImagesReading:
    """Gives the catalogue of images; one thread reads it, whoever asks meanwhile.

    Args:
        kg: The knowledge graph.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self._lock = threading.Lock()
        self._kept: KeptCatalogue | None = None
        self._reading: Future[ImageCatalogue] | None = None

    @property
    def kept(self) -> KeptCatalogue:
        """What the catalogue is kept by."""
        from mrag.images.graph import KeptCatalogue

        with self._lock:
            self._kept = self._kept or KeptCatalogue(self.kg)
            return self._kept

    def now(self, seconds: float | None = SHORTLY) -> tuple[ImageCatalogue | None, bool]:
        """Return the catalogue, and whether it is of the present graph.

        Args:
            seconds: How long to wait if it is being read; None for as long as it takes.

        Returns:
            The catalogue, as it was before the last changes where it is still being read; None if it is
            being read for the first time.
        """
        kept = self.kept
        if (found := kept.current()) is not None:
            return found, True
        try:
            return self._begun().result(seconds), True
        except StillReading:
            return kept.known, False

    def whole(self) -> ImageCatalogue:
        """Return the catalogue of the present graph, however long that takes."""
        found, _ = self.now(None)
        if found is None:  # pragma: no cover  # one that is waited for is there
            raise RuntimeError
        return found

    def _begun(self) -> Future[ImageCatalogue]:
        kept = self.kept
        with self._lock:
            if self._reading is None or self._reading.done():
                reading = self._reading = Future()
                threading.Thread(target=self._read, args=(kept, reading), daemon=True).start()
            return self._reading

    def _read(self, kept: KeptCatalogue, reading: Future[ImageCatalogue]) -> None:
        try:
            reading.set_result(kept.brought_up_to_date())
        except Exception as error:  # whoever waits for it gets the error
            logger.warning("The images of the graph cannot be read: %s", error)
            reading.set_exception(error)


_DEPTH = 300
"""Hits of the graph's ranker that are read; each is an image, or something annotated in one."""

_NAMES_INDEX = 12
"""Categories and attributes that the words may mean."""


class ImageWords:
    """Ranks the images of a graph for words, among those that are chosen.

    The server's ranker finds images and what is annotated in them, by words and by meaning as the index
    allows; the names of categories and attributes are compared with the words in the same way, so that an
    image of which only these are known is found as well. Both rankings are fused.

    Args:
        kg: The knowledge graph.
        choice: Gives the server's ranker.
    """

    def __init__(self, kg: KnowledgeGraph, choice: Rankers) -> None:
        self.kg, self.choice = kg, choice
        self._making = threading.Lock()
        self._names: tuple[object, str, DocumentIndex] | None = None
        self._sentences: ImageTextRanker | None = None

    def rank(self, words: str, known: ImageCatalogue, chosen: Chosen, k: int) -> list[Hit]:
        """Return at most `k` images, best first, ties by IRI."""
        from mrag.index.fusion import reciprocal_rank_fusion
        from mrag.index.similarity import SimilarityIndexes
        from mrag.retrieval.rankers import Hit

        indexed = self.choice.settings.index in SimilarityIndexes.of(self.kg).names()
        rankings = [self._by_names(words, known, chosen, max(k, 100))]
        if indexed:
            rankings.append(self._by_ranker(words, known, chosen))
        elif self._said():
            rankings.append(self._by_sentences(words, known, chosen, k))
        reasons: dict[str, str] = {}
        for ranking in rankings:
            reasons = {**ranking, **reasons}
        fused = reciprocal_rank_fusion([list(ranking) for ranking in rankings])
        return [Hit(iri, score, at, (reasons[iri],)) for at, (iri, score) in enumerate(fused[:k], start=1)]

    def _by_ranker(self, words: str, known: ImageCatalogue, chosen: Chosen) -> dict[str, str]:
        from mrag.retrieval.rankers import Question

        hits = self.choice.ranker({}).rank(Question(words), _DEPTH)
        parts = [hit.iri for hit in hits if hit.iri not in known.files]
        of: dict[str, list[str]] = {}
        for text in queries.get("image/images-with").batches("part", parts):
            for part, image in self.kg.select(text):
                of.setdefault(str(part), []).append(str(image))
        allowed = frozenset(known.iris(chosen))
        found: dict[str, str] = {}
        for hit in hits:
            why = hit.reasons[0] if hit.reasons else ""
            for image in (hit.iri, *of.get(hit.iri, ())):
                if image in allowed:
                    found.setdefault(image, why)
        return found

    def _by_names(self, words: str, known: ImageCatalogue, chosen: Chosen, k: int) -> dict[str, str]:
        index = self._named(known)
        matches = index.search(words, _NAMES_INDEX, mode="hybrid" if index.embedder_name else "bm25")
        weights = {match.doc_id: float(match.score) for match in matches if match.score > 0}
        if not weights:
            return {}
        names = {iri: index.texts_of([iri]).get(iri, iri) for iri in weights}
        found = known.weighted(weights, chosen, k)
        return {
            image: f"shows {', '.join(names[iri] for iri in weights if iri in known.values_of(image))}"
            for image, _ in found
        }

    def _by_sentences(self, words: str, known: ImageCatalogue, chosen: Chosen, k: int) -> dict[str, str]:
        from mrag.images.rankers import ImageTextRanker
        from mrag.retrieval.rankers import Question

        allowed = None if chosen.all() else frozenset(known.iris(chosen))
        with self._making:
            texts = self._sentences = self._sentences or ImageTextRanker(self.kg, "bm25", keep=False)
            texts.allowed = None if allowed is None else lambda: allowed
            hits = texts.rank(Question(words), k)
        return {hit.iri: hit.reasons[0] for hit in hits if hit.iri in known.files}

    def _said(self) -> bool:
        """Return whether the graph has sentences about images."""
        from mrag.images.graph import ImageVocabulary, property_values

        said = ImageVocabulary()
        return any(
            next(iter(property_values(self.kg, (name,))), None) is not None
            for name in (*said.sentences, said.generated)
        )

    def _named(self, known: ImageCatalogue) -> DocumentIndex:
        """Return an index in memory of the names of all categories and attributes, some hundreds mostly."""
        from mrag.context.display import Display
        from mrag.index.document_index import DocumentIndex
        from mrag.index.embedding import embedder

        model = self._model()
        with self._making:
            if self._names is None or self._names[0] is not known or self._names[1] != model:
                display = Display(self.kg)
                iris = sorted({iri for values in known.values.values() for iri in values})
                display.prepare(iris)
                index = DocumentIndex.create(None, embedder=embedder(model))
                index.sync([(iri, display.entity(iri)) for iri in iris], extra={})
                self._names = (known, model, index)
            return self._names[2]

    def _model(self) -> str:
        """Return the model that the graph's index was built with, by name."""
        from mrag.index.similarity import SimilarityIndex, SimilarityIndexes

        name, indexes = self.choice.settings.index, SimilarityIndexes.of(self.kg)
        if name not in indexes.names():
            return "none"
        index = indexes.get(name, quiet=True)
        return str(index.files.extra.get("model") or "none") if isinstance(index, SimilarityIndex) else "none"


_EMBEDDED = 200
"""Maximum number of pictures that a request waits for; more are embedded by the command line."""

_MISSING = "Install the extra for pictures: pip install 'mrag[conse]'."
_SIDES = ("x", "y", "w", "h")


@dataclass(frozen=True)
class FoundImages:
    """What a search found.

    Attributes:
        hits: The images, best first.
        what: What they were searched by, in words.
    """

    hits: tuple[Hit, ...]
    what: str


class ImageSearches:
    """Searches the images of a graph; indexes that are not there yet are made in memory.

    Args:
        kg: The knowledge graph.
        folder: Folder of the pictures; None for none.
        choice: Gives the server's ranker.
    """

    def __init__(self, kg: KnowledgeGraph, folder: Path | None, choice: Rankers) -> None:
        self.kg, self.folder = kg, folder
        self.words = ImageWords(kg, choice)
        self._making = threading.Lock()
        self._looks: ImageLooksRanker | None = None

    def without_pictures(self) -> str | None:
        """Return why pictures cannot be compared here; None if they can."""
        if self.folder is None:
            return "The server was started without --media FOLDER."
        return None if find_spec("onnxruntime") and find_spec("PIL") else _MISSING

    def find(self, values: Mapping[str, Any], known: ImageCatalogue, chosen: Chosen, k: int) -> FoundImages:
        """Find images for a request.

        Args:
            values: What is asked: `q`, `picture` in base64, or `region` of an image.
            known: The images.
            chosen: The only ones that may be found.
            k: Maximum number.

        Raises:
            ConfigError: If nothing is asked, or it cannot be searched by.
            LoadError: If the picture cannot be used.
        """
        if (region := object_value(values, "region", "iri", *_SIDES)) is not None:
            if values.get("q") or values.get("picture"):
                raise ConfigError("A part of an image is searched by without words and without a picture.")
            return self._by_region(region, known, chosen, k)
        words = text_value(values, "q") if values.get("q") else ""
        data = _picture(values)
        if not words and data is None:
            raise ConfigError("The search is empty.", hint="Give words, a picture, or both.")
        return self._by_question(words, data, known, chosen, k)

    def _by_region(
        self, region: Mapping[str, Any], known: ImageCatalogue, chosen: Chosen, k: int
    ) -> FoundImages:
        from mrag.context.display import Display
        from mrag.images.files import Box
        from mrag.images.graph import inside, parts_of
        from mrag.retrieval.rankers import Hit

        image = str(iri_value(region, "iri", self.kg.prefixes))
        x, y, w, h = (int_value(region, side, -1, 0 if side in "xy" else 1, 1 << 20) for side in _SIDES)
        parts = inside(parts_of(self.kg, image), Box(x, y, w, h))
        features = [p.features for p in parts if p.features.categories or p.features.attributes]
        if not features:
            raise ConfigError(
                "Nothing is annotated in this part of the image.",
                hint="Draw a box around one of those that are shown.",
            )
        display = Display(self.kg)
        named = [
            " with ".join(
                ", ".join(sorted(display.entity(one) for one in some))
                for some in (one.categories, one.attributes)
                if some
            )
            for one in features
        ]
        what = "; ".join(dict.fromkeys(named))
        chosen = chosen & ~known.inside([image])
        hits = [
            Hit(iri, score, rank, (f"{round(100 * score)} % like what is in the box",))
            for rank, (iri, score) in enumerate(known.alike(features, chosen, k), start=1)
        ]
        return FoundImages(tuple(hits), what)

    def _by_question(
        self, words: str, data: bytes | None, known: ImageCatalogue, chosen: Chosen, k: int
    ) -> FoundImages:
        from mrag.index.fusion import reciprocal_rank_fusion
        from mrag.retrieval.rankers import Hit

        depth = k if data is None else max(k, 100)
        rankings = [self.words.rank(words, known, chosen, depth)] if words else []
        if data is not None:
            rankings.append(self._alike(data, words, known, chosen, depth))
        hits = rankings[0][:k]
        if len(rankings) > 1:
            fused = reciprocal_rank_fusion([[hit.iri for hit in ranking] for ranking in rankings])
            reasons: dict[str, tuple[str, ...]] = {}
            for hit in (hit for ranking in rankings for hit in ranking):
                reasons[hit.iri] = (*reasons.get(hit.iri, ()), *hit.reasons)
            hits = [Hit(iri, score, at, reasons[iri]) for at, (iri, score) in enumerate(fused[:k], start=1)]
        what = " and ".join(one for one in (words and f"“{words}”", data and "the picture") if one)
        return FoundImages(tuple(hits), what)

    def _alike(self, data: bytes, words: str, known: ImageCatalogue, chosen: Chosen, k: int) -> list[Hit]:
        """Return the images whose pictures are like one, and like words if there are any."""
        from mrag.retrieval.rankers import Question
        from mrag.storage.files import Scratch

        allowed = None if chosen.all() else frozenset(known.iris(chosen))
        with self._making, Scratch("upload") as folder:
            file = folder / "picture"
            file.write_bytes(data)
            looks = self._by_looks()
            looks.allowed = None if allowed is None else lambda: allowed
            return [hit for hit in looks.rank(Question(words, file), k) if hit.iri in known.files]

    def _by_looks(self) -> ImageLooksRanker:
        from mrag.images.rankers import ImageLooksRanker

        if (why := self.without_pictures()) is not None:
            raise ConfigError("Pictures cannot be compared here.", hint=why)
        if self._looks is None:
            self._looks = ImageLooksRanker(self.kg, self.folder or "", keep=False)
        new = self._looks.lacking()
        if new > _EMBEDDED:
            raise ConfigError(
                f"{new:,} pictures have no vectors yet, and a request waits for {_EMBEDDED} at most.",
                hint="Stop the server, run mrag search --image FILE --media FOLDER once, and start it again.",
            )
        return self._looks


def _picture(values: Mapping[str, Any]) -> bytes | None:
    given = values.get("picture")
    if given is None:
        return None
    try:
        if not isinstance(given, str):
            raise TypeError
        return base64.b64decode(given, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise ConfigError("picture must be a file in base64.") from error


_KEPT_PICTURES = 48 << 20
"""Maximum number of bytes of the versions that are kept."""

_HEAD = 1 << 20
"""Bytes within which a file says how large its picture is."""


class Thumbnails:
    """Makes pictures small, and keeps what it made last.

    Args:
        kg: The knowledge graph that names the files.
        folder: The only folder, with those below, that pictures are taken from; None for none.
    """

    def __init__(self, kg: KnowledgeGraph, folder: Path | None) -> None:
        self.kg, self.folder = kg, folder
        self._kept: OrderedDict[tuple[str, int, int, int], tuple[bytes, str]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def files(self, images: Sequence[str]) -> dict[str, Path]:
        """Return the file of each image that has one which may be shown."""
        from mrag.images.graph import files_of

        return {} if self.folder is None else files_of(self.kg, self.folder, images=images)[0]

    def size(self, image: str) -> tuple[int, int] | None:
        """Return width and height of a picture in pixels, as its file says; None if there is none."""
        from mrag.images.files import sniff

        file = self.files([image]).get(image)
        try:
            if file is None:
                return None
            with file.open("rb") as stream:
                return sniff(stream.read(_HEAD))[1:]
        except (LoadError, OSError):
            return None

    def of(self, image: str, side: int) -> tuple[bytes, str] | None:
        """Return a picture made small enough, with its type; None if there is none.

        Args:
            image: IRI of the image.
            side: Maximum number of pixels of its longer side.
        """
        from mrag.images.files import PictureLimits, open_picture

        file = self.files([image]).get(image)
        if file is None:
            return None
        try:
            state = file.stat()
            key = (str(file), state.st_size, state.st_mtime_ns, side)
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key]
            picture = open_picture(file, PictureLimits(max_side=side))
        except (LoadError, OSError):
            return None
        made = (picture.data, picture.mime)
        with self._lock:
            if key not in self._kept and len(made[0]) <= _KEPT_PICTURES:
                self._kept[key] = made
                self._bytes += len(made[0])
            while self._bytes > _KEPT_PICTURES:
                self._bytes -= len(self._kept.popitem(last=False)[1][0])
        return made


PAGE = 200
"""Number of images of a page."""

FILTERS = ("category", "attribute", "class")
_VALUES = 400
_READERS = 6
_FILTERS = 10
_CLASSES = 50
_WAIT = 60
_FEW = 5_000
"""Images that are read before a request gets impatient."""
_NONE: dict[str, list[object]] = {"category": [], "attribute": [], "class": []}
_UPLOAD = 16 << 20
"""Maximum number of bytes of a body with a picture, where the settings allow more."""


def routes(api: Api) -> list[BaseRoute]:
    """Return the routes below `/api/images`."""
    view = ImagesView(api)
    works = {"": view.gallery, "/page": view.page, "/one": view.one}
    found: list[BaseRoute] = [
        Route(f"/api/images{name}", api.on_thread(work, view.slots), methods=["GET"])
        for name, work in works.items()
    ]
    token = api.settings.token
    found.append(Route("/api/images/thumbnail", guarded(view.thumbnail, token), methods=["GET"]))
    found.append(Route("/api/images/search", guarded(view.search, token), methods=["POST"]))
    return found


class ImagesView(PageView):
    """Answers the requests of the view Images.

    Args:
        api: The API that these requests belong to.
    """

    most = _UPLOAD

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.thumbnails = Thumbnails(self.kg, api.media)
        self.reading = ImagesReading(self.kg)
        self.searches = ImageSearches(self.kg, api.media, api.choice)
        self.slots = api.slots(_READERS, "requests for images")

    def gallery(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return how many images there are, the IRI before each page of them, and the facets with counts.

        Where all images must be read from the graph first, that begins; `reading` says so, and until it is
        done there are the first of them, and no facets. With `wait` it is waited for.
        """
        check_names(values, "wait", *FILTERS)
        seconds = int_value(values, "wait", 0, 0, _WAIT)
        kept, first, number = self.reading.kept, dict[str, str](), 0
        if kept.current() is None and kept.known is None:
            # Before all are read, which would slow it down.
            first, number = kept.page("", PAGE)
        known, current = self.reading.now(seconds or (SHORTLY if number <= _FEW else 0))
        about = {
            "page": PAGE,
            "media": self.api.media is not None,
            "pictures": self.searches.without_pictures(),
            "reading": not current,
        }
        if known is None:
            return {**about, "images": number, "total": len(first), "before": [""], "facets": _NONE}
        chosen = self._chosen(values, known)
        iris = known.iris(chosen)
        return {
            **about,
            "images": len(known.images),
            "total": len(iris),
            "before": ["", *(iris[at - 1] for at in range(PAGE, len(iris), PAGE))],
            "facets": self._facets(values, known, chosen),
        }

    def page(self, values: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the images that follow an IRI in order, a page of them."""
        from mrag.server.web.events import ranked

        check_names(values, "after", *FILTERS)
        after = values.get("after", "")
        if len(after) > MAX_IRI:
            raise ConfigError(f"after has at most {MAX_IRI} characters.")
        known, _ = self.reading.now(None if any(values.get(name) for name in FILTERS) else 0)
        if known is None:
            files, _ = self.reading.kept.page(after, PAGE)
            return ranked(self.kg, self.shown(files))
        iris = known.iris(self._chosen(values, known))
        begin = bisect_right(iris, after)
        return ranked(self.kg, self.shown({iri: known.files[iri] for iri in iris[begin : begin + PAGE]}))

    def shown(self, files: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return images, given with their files, as a gallery shows them."""
        from mrag.images.graph import names_of

        names, there = names_of(self.kg, files, files), self.thumbnails.files(list(files))
        return [
            {"iri": iri, "label": names[iri], "file": file, "there": iri in there}
            for iri, file in files.items()
        ]

    def one(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return an image: its triples, and what is annotated in it, each with its boxes and triples."""
        from mrag.context.display import Display
        from mrag.images.graph import parts_of
        from mrag.server.web.entities import triples

        check_names(values, "iri")
        name, file = self._image(values)
        display = Display(self.kg)
        _, out = triples(self.kg, name, "out", display)
        (image,) = self.shown({name: file})
        known, _ = self.reading.now(0)
        iris = known.images if known is not None else ()
        at = bisect_right(iris, name)
        return {
            **image,
            "out": out,
            "size": self.thumbnails.size(name),
            "parts": [self._part(part, display) for part in parts_of(self.kg, name)],
            "before": iris[at - 2] if at > 1 else None,
            "after": iris[at] if at < len(iris) else None,
        }

    async def thumbnail(self, request: Request) -> Response:
        """Serve an image file made small, from below the media folder."""

        def find() -> tuple[bytes, str] | None:
            values = dict(request.query_params)
            check_names(values, "iri", "side")
            return self.thumbnails.of(self._image(values)[0], int_value(values, "side", 240, 32, 1_600))

        found = await self.api.run(self.slots, find)
        if found is None:
            raise HTTPException(404, "The file of this image is not in the media folder.")
        headers = {
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'",
            "Cache-Control": "private, max-age=300",
        }
        return Response(found[0], media_type=found[1], headers=headers)

    async def search(self, request: Request) -> Response:
        """Find images by words, by a picture, by both, or by what is annotated in a part of an image."""
        values = await self.body(request, "q", "k", "picture", "region", *FILTERS)

        def work() -> dict[str, Any]:
            from mrag.server.web.events import ranked

            k = int_value(values, "k", 60, 1, 200)
            known = self.reading.whole()
            found = self.searches.find(values, known, self._chosen(values, known), k)
            shown = {
                one["iri"]: one for one in self.shown({hit.iri: known.files[hit.iri] for hit in found.hits})
            }
            hits = [
                {**shown[hit.iri], "score": hit.score, "reasons": list(hit.reasons)} for hit in found.hits
            ]
            return {"hits": ranked(self.kg, hits), "what": found.what}

        return reply(await self.api.run(self.slots, work))

    # -- shared ------------------------------------------------------------------------------------

    def _image(self, values: Mapping[str, Any]) -> tuple[str, str]:
        """Return the IRI of an image and the name of its file."""
        from mrag.images.graph import file_names

        name = str(iri_value(values, "iri", self.kg.prefixes))
        file = file_names(self.kg, images=[name]).get(name)
        if file is None:
            raise HTTPException(404, "The graph names no file for this image.")
        return name, file

    def _part(self, part: ImagePart, display: Display) -> dict[str, Any]:
        from mrag.server.web.entities import triples

        _, out = triples(self.kg, part.iri, "out", display)
        features = part.features
        return {
            "iri": part.iri,
            "label": ", ".join(sorted(display.entity(c) for c in features.categories))
            or display.entity(part.iri),
            "attributes": sorted(display.entity(a) for a in features.attributes),
            "boxes": [[box.x, box.y, box.w, box.h] for box in part.boxes],
            "masks": part.masks,
            "out": out,
        }

    def _wanted(self, values: Mapping[str, Any], name: str) -> list[str]:
        """Return the IRIs of a filter, which stand side by side with blanks between them."""
        given = values.get(name, "")
        if not isinstance(given, str) or len(given) > _FILTERS * MAX_IRI:
            raise ConfigError(f"{name} must be IRIs with blanks between them.")
        if len(words := given.split()) > _FILTERS:
            raise ConfigError(f"{name} has at most {_FILTERS} IRIs.")
        return [str(iri_value({name: word}, name, self.kg.prefixes)) for word in words]

    def _chosen(self, values: Mapping[str, Any], known: ImageCatalogue) -> Chosen:
        from mrag.images.graph import FACETS

        wanted: dict[FacetName, list[str]] = {name: self._wanted(values, name) for name in FACETS}
        return known.chosen(wanted, [self._members(c, known) for c in self._wanted(values, "class")])

    def _members(self, name: str, known: ImageCatalogue) -> Chosen:
        from mrag.images.graph import of_class

        # What is inferred may have changed where the catalogue has not.
        key = f"{self.kg.revision} {self.kg.record.inferred} {name}"
        if (found := known.known_set(key)) is None:
            found = known.inside(of_class(self.kg, name)())
            known.note_set(key, found)
        return found

    def _facets(
        self, values: Mapping[str, str], known: ImageCatalogue, chosen: Chosen
    ) -> dict[str, list[dict[str, Any]]]:
        from mrag.cel.concepts import list_concepts
        from mrag.context.display import Display
        from mrag.images.graph import FACETS

        display = Display(self.kg)
        found: dict[str, list[dict[str, Any]]] = {}
        for name in FACETS:
            counts = known.counts(name, chosen)
            counts |= {one: 0 for one in self._wanted(values, name) if one not in counts}
            shown = list(counts.items())[:_VALUES]
            display.prepare([iri for iri, _ in shown])
            found[name] = [{"iri": iri, "label": display.entity(iri), "count": n} for iri, n in shown]
        found["class"] = []
        kept = {one.iri: one.label for one in list_concepts(self.kg)[:_CLASSES]}
        for iri in dict.fromkeys([*kept, *self._wanted(values, "class")]):
            count = int((chosen & self._members(iri, known)).sum())
            found["class"].append({"iri": iri, "label": kept.get(iri) or display.entity(iri), "count": count})
        return found
