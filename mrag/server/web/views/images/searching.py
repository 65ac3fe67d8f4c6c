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
from mrag.server.web.views.images.words import ImageWords

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
    from mrag.images.catalogue import Chosen, ImageCatalogue
    from mrag.images.rankers import ImageLooksRanker
    from mrag.retrieval.rankers import Hit
    from mrag.server.web.choice import Rankers

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
