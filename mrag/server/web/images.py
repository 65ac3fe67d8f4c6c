"""Images: pages of the graph's pictures, their facets, thumbnails, one with its boxes, and searches."""

from __future__ import annotations

import base64
import binascii
import logging
import threading
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillReading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mrag.cel.concepts import list_concepts
from mrag.context.display import Display
from mrag.errors import ConfigError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.images.answer import ImageLooksRanker, ImageTextRanker
from mrag.images.files import Box, PictureLimits, open_picture, sniff
from mrag.images.graph import (
    FACETS,
    GENERATED,
    SENTENCE,
    Chosen,
    FacetName,
    ImageCatalogue,
    ImagePart,
    KeptCatalogue,
    file_names,
    files_of,
    inside,
    names_of,
    of_class,
    parts_of,
    property_values,
)
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import embedder
from mrag.index.fusion import reciprocal_rank_fusion
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.rdf import queries
from mrag.retrieval.rankers import Hit, Question
from mrag.server.queries import SizedCache
from mrag.server.web.api import (
    MAX_IRI,
    Api,
    PageView,
    Rankers,
    Values,
    int_value,
    iri_value,
    object_value,
    text_value,
)
from mrag.server.web.entities import IMAGE_HEADERS, triples
from mrag.server.web.events import ranked
from mrag.storage.files import Scratch

logger = logging.getLogger(__name__)

PAGE = 200  # number of images of a page
FILTERS = ("category", "attribute", "class")
SHORTLY = 0.4  # seconds that a request waits for images that are being read, where there are few
_FEW = 5_000  # images that are read before a request gets impatient
_WAIT = 60
_VALUES = 400
_FILTERS = 10
_CLASSES = 50
UPLOAD = 16 << 20  # maximum number of bytes of a body with a picture, where the settings allow more
_DEPTH = 300  # hits of the graph's ranker that are read; each is an image, or something annotated in one
_NAMES_INDEX = 12  # categories and attributes that the words may mean
_EMBEDDED = 200  # maximum number of pictures that a request waits for; more take the command line
_SIDES = ("x", "y", "w", "h")
_KEPT_PICTURES = 48 << 20  # maximum number of bytes of the thumbnails that are kept
_HEAD = 1 << 20  # bytes within which a file says how large its picture is


class ImagesReading:
    """Gives the catalogue of images; one thread reads it, whoever asks meanwhile."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kept = KeptCatalogue(kg)
        self._lock = threading.Lock()
        self._reading: Future[ImageCatalogue] | None = None

    def now(self, seconds: float | None = SHORTLY) -> tuple[ImageCatalogue | None, bool]:
        """Return the catalogue, and whether it is of the present graph.

        While it is read, which is waited for so many seconds or for as long as it takes, it is the one before
        the last changes; None where it is read for the first time.
        """
        if (catalogue := self.kept.current()) is not None:
            return catalogue, True
        with self._lock:
            if self._reading is None or self._reading.done():
                self._reading = Future()
                threading.Thread(target=self._read, args=(self._reading,), daemon=True).start()
            reading = self._reading
        try:
            return reading.result(seconds), True
        except StillReading:
            return self.kept.known, False

    def _read(self, reading: Future[ImageCatalogue]) -> None:
        try:
            reading.set_result(self.kept.bring_up_to_date())
        except Exception as error:  # whoever waits for it gets the error
            logger.warning("The images of the graph cannot be read: %s", error)
            reading.set_exception(error)


class ImageSearches:
    """Searches the images of a graph; indexes that are not there yet are made in memory."""

    def __init__(self, kg: KnowledgeGraph, folder: Path | None, choice: Rankers) -> None:
        self.kg, self.folder, self.choice = kg, folder, choice
        self._making = threading.Lock()
        self._names: tuple[object, str, DocumentIndex] | None = None
        self._sentences: ImageTextRanker | None = None
        self._looks: ImageLooksRanker | None = None

    def without_pictures(self) -> str | None:
        """Return why pictures cannot be compared here; None if they can."""
        if self.folder is None:
            return "The server was started without --media FOLDER."
        if find_spec("onnxruntime") and find_spec("PIL"):
            return None
        return "Install the extra for pictures: pip install 'mrag[conse]'."

    def find(self, values: Values, known: ImageCatalogue, chosen: Chosen, k: int) -> tuple[list[Hit], str]:
        """Find images among the chosen ones by words, a picture or both, or by a `region` of an image.

        Returns the best first, and what they were searched by, in words.
        """
        if (region := object_value(values, "region", "iri", *_SIDES)) is not None:
            if values.get("q") or values.get("picture"):
                raise ConfigError("A part of an image is searched by without words and without a picture.")
            return self._by_region(region, known, chosen, k)
        words = text_value(values, "q") if values.get("q") else ""
        data = _picture(values)
        if not words and data is None:
            raise ConfigError("The search is empty.", hint="Give words, a picture, or both.")
        depth = k if data is None else max(k, 100)
        rankings = [self._by_words(words, known, chosen, depth)] if words else []
        if data is not None:
            rankings.append(self._by_picture(data, words, known, chosen, depth))
        hits = rankings[0][:k]
        if len(rankings) > 1:
            reasons: dict[str, tuple[str, ...]] = {}
            for hit in (hit for ranking in rankings for hit in ranking):
                reasons[hit.iri] = (*reasons.get(hit.iri, ()), *hit.reasons)
            hits = _fuse([[hit.iri for hit in ranking] for ranking in rankings], reasons, k)
        return hits, " and ".join(one for one in (words and f"“{words}”", data and "the picture") if one)

    def _by_region(
        self, region: Mapping[str, Any], known: ImageCatalogue, chosen: Chosen, k: int
    ) -> tuple[list[Hit], str]:
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
                ", ".join(sorted(map(display.entity, some)))
                for some in (one.categories, one.attributes)
                if some
            )
            for one in features
        ]
        hits = [
            Hit(iri, score, rank, (f"{round(100 * score)} % like what is in the box",))
            for rank, (iri, score) in enumerate(
                known.alike(features, chosen & ~known.inside([image]), k), start=1
            )
        ]
        return hits, "; ".join(dict.fromkeys(named))

    def _by_picture(
        self, data: bytes, words: str, known: ImageCatalogue, chosen: Chosen, k: int
    ) -> list[Hit]:
        """Return the images whose pictures are like one, and like words if there are any."""
        if (why := self.without_pictures()) is not None:
            raise ConfigError("Pictures cannot be compared here.", hint=why)
        with self._making, Scratch("upload") as folder:
            file = folder / "picture"
            file.write_bytes(data)
            looks = self._looks = self._looks or ImageLooksRanker(self.kg, self.folder or "", keep=False)
            if (new := looks.lacking()) > _EMBEDDED:
                raise ConfigError(
                    f"{new:,} pictures have no vectors yet, and a request waits for {_EMBEDDED} at most.",
                    hint="Stop the server, run mrag search --image FILE --media FOLDER once, "
                    "and start it again.",
                )
            _narrow(looks, known, chosen)
            return [hit for hit in looks.rank(Question(words, file), k) if hit.iri in known.files]

    def _by_words(self, words: str, known: ImageCatalogue, chosen: Chosen, k: int) -> list[Hit]:
        """Rank images for words, ties by IRI.

        The server's ranker finds images and what is annotated in them, by words and by meaning as the index
        allows; the names of categories and attributes are compared with the words in the same way, so that
        an image of which only these are known is found as well. Both rankings are fused.
        """
        rankings = [self._by_names(words, known, chosen, max(k, 100))]
        if self.choice.settings.index in SimilarityIndexes.of(self.kg).names():
            rankings.append(self._by_ranker(words, known, chosen))
        elif self._has_sentences():
            with self._making:
                texts = self._sentences = self._sentences or ImageTextRanker(self.kg, "bm25", keep=False)
                _narrow(texts, known, chosen)
                hits = texts.rank(Question(words), k)
            rankings.append({hit.iri: hit.reasons[0] for hit in hits if hit.iri in known.files})
        reasons = {iri: (why,) for ranking in reversed(rankings) for iri, why in ranking.items()}
        return _fuse([list(ranking) for ranking in rankings], reasons, k)

    def _by_ranker(self, words: str, known: ImageCatalogue, chosen: Chosen) -> dict[str, str]:
        hits = self.choice.ranker({}).rank(Question(words), _DEPTH)
        parts = [hit.iri for hit in hits if hit.iri not in known.files]
        of: dict[str, list[str]] = {}
        for text in queries.get("image/images-with").batches("part", parts):
            for part, image in self.kg.select(text):
                of.setdefault(str(part), []).append(str(image))
        allowed = frozenset(known.iris(chosen))
        reasons: dict[str, str] = {}
        for hit in hits:
            for image in (hit.iri, *of.get(hit.iri, ())):
                if image in allowed:
                    reasons.setdefault(image, hit.reasons[0] if hit.reasons else "")
        return reasons

    def _by_names(self, words: str, known: ImageCatalogue, chosen: Chosen, k: int) -> dict[str, str]:
        index = self._name_index(known)
        matches = index.search(words, _NAMES_INDEX, mode="hybrid" if index.embedder_name else "bm25")
        weights = {match.doc_id: float(match.score) for match in matches if match.score > 0}
        if not weights:
            return {}
        names = {iri: index.texts_of([iri]).get(iri, iri) for iri in weights}
        return {
            image: f"shows {', '.join(names[iri] for iri in weights if iri in known.values_of(image))}"
            for image, _ in known.weigh(weights, chosen, k)
        }

    def _has_sentences(self) -> bool:
        """Return whether the graph has sentences about images."""
        return any(
            next(iter(property_values(self.kg, (name,))), None) is not None for name in (SENTENCE, GENERATED)
        )

    def _name_index(self, known: ImageCatalogue) -> DocumentIndex:
        """Return an index in memory of the names of all categories and attributes, some hundreds mostly."""
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
        name, indexes = self.choice.settings.index, SimilarityIndexes.of(self.kg)
        index = indexes.get(name, quiet=True) if name in indexes.names() else None
        return str(index.files.extra.get("model") or "none") if isinstance(index, SimilarityIndex) else "none"


def _fuse(rankings: list[list[str]], reasons: Mapping[str, tuple[str, ...]], k: int) -> list[Hit]:
    fused = reciprocal_rank_fusion(rankings)[:k]
    return [Hit(iri, score, at, reasons[iri]) for at, (iri, score) in enumerate(fused, start=1)]


def _narrow(ranker: ImageTextRanker | ImageLooksRanker, known: ImageCatalogue, chosen: Chosen) -> None:
    """Let a ranker find the chosen images alone."""
    allowed = None if chosen.all() else frozenset(known.iris(chosen))
    ranker.allowed = None if allowed is None else lambda: allowed


def _picture(values: Values) -> bytes | None:
    given = values.get("picture")
    if given is None:
        return None
    try:
        if not isinstance(given, str):
            raise TypeError
        return base64.b64decode(given, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise ConfigError("picture must be a file in base64.") from error


class Thumbnails:
    """Makes pictures small, and keeps what it made last."""

    def __init__(self, kg: KnowledgeGraph, folder: Path | None) -> None:
        self.kg, self.folder = kg, folder
        self._kept: SizedCache[tuple[str, int, int, int], tuple[bytes, str]] = SizedCache(_KEPT_PICTURES)
        self._lock = threading.Lock()

    def files(self, images: Sequence[str]) -> dict[str, Path]:
        """Return the file of each image that has one which may be shown."""
        return {} if self.folder is None else files_of(self.kg, self.folder, images=images)[0]

    def size(self, image: str) -> tuple[int, int] | None:
        """Return width and height of a picture in pixels, as its file says; None if there is none."""
        file = self.files([image]).get(image)
        try:
            if file is None:
                return None
            with file.open("rb") as stream:
                return sniff(stream.read(_HEAD))[1:]
        except (LoadError, OSError):
            return None

    def of(self, image: str, side: int) -> tuple[bytes, str] | None:
        """Return a picture made small enough, with its type; None if there is none."""
        file = self.files([image]).get(image)
        if file is None:
            return None
        try:
            state = file.stat()
            key = (str(file), state.st_size, state.st_mtime_ns, side)
            with self._lock:
                if (kept := self._kept.get(key)) is not None:
                    return kept
            picture = open_picture(file, PictureLimits(max_side=side))
        except (LoadError, OSError):
            return None
        small = (picture.data, picture.mime)
        with self._lock:
            self._kept.put(key, small, len(small[0]))
        return small


class ImagesView(PageView):
    """Answers the requests of the view Images."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.slots = api.slots(6, "requests for images")
        self.thumbnails = Thumbnails(self.kg, api.media)
        self.reading = ImagesReading(self.kg)
        self.searches = ImageSearches(self.kg, api.media, api.choice)

    def gallery(self, values: Values) -> dict[str, Any]:
        """Return how many images there are, the IRI before each page of them, and the facets with counts.

        Where all images must be read from the graph first, that begins; `reading` says so, and until it is
        done there are the first of them, and no facets. With `wait` it is waited for.
        """
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
            none: dict[str, list[object]] = {name: [] for name in FILTERS}
            return {**about, "images": number, "total": len(first), "before": [""], "facets": none}
        chosen = self._choose(values, known)
        iris = known.iris(chosen)
        return {
            **about,
            "images": len(known.images),
            "total": len(iris),
            "before": ["", *(iris[at - 1] for at in range(PAGE, len(iris), PAGE))],
            "facets": self._facets(values, known, chosen),
        }

    def page(self, values: Values) -> list[dict[str, Any]]:
        """Return the images that follow an IRI in order, a page of them."""
        after = values.get("after", "")
        if len(after) > MAX_IRI:
            raise ConfigError(f"after has at most {MAX_IRI} characters.")
        known, _ = self.reading.now(None if any(values.get(name) for name in FILTERS) else 0)
        if known is None:
            files, _ = self.reading.kept.page(after, PAGE)
        else:
            iris = known.iris(self._choose(values, known))
            begin = bisect_right(iris, after)
            files = {iri: known.files[iri] for iri in iris[begin : begin + PAGE]}
        return ranked(self.kg, self._show(files))

    def one(self, values: Values) -> dict[str, Any]:
        """Return an image: its triples, and what is annotated in it, each with its boxes and triples."""
        name, file = self._image(values)
        display = Display(self.kg)
        _, out = triples(self.kg, name, "out", display)
        (image,) = self._show({name: file})
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

    async def thumbnail(self, _request: Request, values: Values) -> Response:
        """Serve an image file made small, from below the media folder."""

        def find() -> tuple[bytes, str] | None:
            return self.thumbnails.of(self._image(values)[0], int_value(values, "side", 240, 32, 1_600))

        file = await self.api.run(self.slots, find)
        if file is None:
            raise HTTPException(404, "The file of this image is not in the media folder.")
        headers = {**IMAGE_HEADERS, "Cache-Control": "private, max-age=300"}
        return Response(file[0], media_type=file[1], headers=headers)

    def search(self, values: Values) -> dict[str, Any]:
        """Find images by words, by a picture, by both, or by what is annotated in a part of an image."""
        k = int_value(values, "k", 60, 1, 200)
        known, _ = self.reading.now(None)
        assert known is not None  # it was waited for
        images, what = self.searches.find(values, known, self._choose(values, known), k)
        shown = {one["iri"]: one for one in self._show({hit.iri: known.files[hit.iri] for hit in images})}
        hits = [{**shown[hit.iri], "score": hit.score, "reasons": list(hit.reasons)} for hit in images]
        return {"hits": ranked(self.kg, hits), "what": what}

    def _show(self, files: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return images, given with their files, as a gallery shows them."""
        names, there = names_of(self.kg, files, files), self.thumbnails.files(list(files))
        return [
            {"iri": iri, "label": names[iri], "file": file, "there": iri in there}
            for iri, file in files.items()
        ]

    def _image(self, values: Values) -> tuple[str, str]:
        """Return the IRI of an image and the name of its file."""
        name = str(iri_value(values, "iri", self.kg.prefixes))
        file = file_names(self.kg, images=[name]).get(name)
        if file is None:
            raise HTTPException(404, "The graph names no file for this image.")
        return name, file

    def _part(self, part: ImagePart, display: Display) -> dict[str, Any]:
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

    def _wishes(self, values: Values, name: str) -> list[str]:
        """Return the IRIs of a filter, which stand side by side with blanks between them."""
        given = values.get(name, "")
        if not isinstance(given, str) or len(given) > _FILTERS * MAX_IRI:
            raise ConfigError(f"{name} must be IRIs with blanks between them.")
        if len(words := given.split()) > _FILTERS:
            raise ConfigError(f"{name} has at most {_FILTERS} IRIs.")
        return [str(iri_value({name: word}, name, self.kg.prefixes)) for word in words]

    def _choose(self, values: Values, known: ImageCatalogue) -> Chosen:
        wanted: dict[FacetName, list[str]] = {name: self._wishes(values, name) for name in FACETS}
        return known.choose(wanted, [self._members(c, known) for c in self._wishes(values, "class")])

    def _members(self, name: str, known: ImageCatalogue) -> Chosen:
        # What is inferred may have changed where the catalogue has not.
        key = f"{self.kg.revision} {self.kg.record.inferred} {name}"
        if (mask := known.find_set(key)) is None:
            mask = known.inside(of_class(self.kg, name)())
            known.note_set(key, mask)
        return mask

    def _facets(
        self, values: Values, known: ImageCatalogue, chosen: Chosen
    ) -> dict[str, list[dict[str, Any]]]:
        display = Display(self.kg)
        lists: dict[str, list[dict[str, Any]]] = {}
        for name in FACETS:
            counts = known.counts(name, chosen)
            counts |= {one: 0 for one in self._wishes(values, name) if one not in counts}
            shown = list(counts.items())[:_VALUES]
            display.prepare([iri for iri, _ in shown])
            lists[name] = [{"iri": iri, "label": display.entity(iri), "count": n} for iri, n in shown]
        lists["class"] = []
        kept = {one.iri: one.label for one in list_concepts(self.kg)[:_CLASSES]}
        for iri in dict.fromkeys([*kept, *self._wishes(values, "class")]):
            count = int((chosen & self._members(iri, known)).sum())
            lists["class"].append({"iri": iri, "label": kept.get(iri) or display.entity(iri), "count": count})
        return lists
