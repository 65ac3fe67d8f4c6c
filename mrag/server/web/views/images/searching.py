"""Searches of images: by words, by a picture that is sent, by both, and by a part of another image."""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag.errors import ConfigError
from mrag.server.web.validation import int_value, iri_value, object_value, text_value

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
    from mrag.images.catalogue import Chosen, ImageCatalogue
    from mrag.images.rankers import ImageLooksRanker, ImageTextRanker
    from mrag.retrieval.rankers import Hit

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
    """

    def __init__(self, kg: KnowledgeGraph, folder: Path | None) -> None:
        self.kg, self.folder = kg, folder
        self._making = threading.Lock()
        self._words: tuple[int, ImageTextRanker] | None = None
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
        from mrag.images.catalogue import inside, parts_of
        from mrag.images.files.folder import Box
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
        chosen = chosen.copy()
        if image in known.files:
            chosen[known.images.index(image)] = False
        hits = [
            Hit(iri, score, rank, (f"{round(100 * score)} % like what is in the box",))
            for rank, (iri, score) in enumerate(known.alike(features, chosen, k), start=1)
        ]
        return FoundImages(tuple(hits), what)

    def _by_question(
        self, words: str, data: bytes | None, known: ImageCatalogue, chosen: Chosen, k: int
    ) -> FoundImages:
        from mrag.retrieval.rankers import FusedRanker, Question, Ranker
        from mrag.storage.scratch import Scratch

        allowed = None if chosen.all() else frozenset(known.iris(chosen))
        rankers: list[Ranker] = []
        with self._making, Scratch("upload") as folder:
            file = None
            if data is not None:
                file = folder / "picture"
                file.write_bytes(data)
                looks = self._by_looks()
                looks.allowed = None if allowed is None else lambda: allowed
                rankers.append(looks)
            if words:
                texts = self._by_words(known)
                texts.allowed = None if allowed is None else lambda: allowed
                rankers.append(texts)
            ranker = rankers[0] if len(rankers) == 1 else FusedRanker(tuple(rankers))
            hits = [hit for hit in ranker.rank(Question(words, file), k) if hit.iri in known.files]
        what = " and ".join(one for one in (words and f"“{words}”", data and "the picture") if one)
        return FoundImages(tuple(hits), what)

    def _by_words(self, known: ImageCatalogue) -> ImageTextRanker:
        """Return what ranks by sentences about images, and where there are none by what is annotated."""
        from mrag.context.display import Display
        from mrag.images.graph import image_texts
        from mrag.images.rankers import ImageTextRanker

        if self._words is not None and self._words[0] == self.kg.revision:
            return self._words[1]

        def more() -> dict[str, str]:
            display = Display(self.kg)
            iris = [iri for values in known.values.values() for iri in values]
            display.prepare(iris)
            return known.words({iri: display.entity(iri) for iri in iris})

        said = any(one.sentences or one.generated or one.regions for one in image_texts(self.kg))
        made = ImageTextRanker(self.kg, "bm25", keep=False, more=None if said else more)
        self._words = (self.kg.revision, made)
        return made

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
