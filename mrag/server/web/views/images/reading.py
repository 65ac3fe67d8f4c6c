"""The images of a graph for requests: at once where they are known, and read meanwhile where they are not."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillReading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
    from mrag.images.catalogue import ImageCatalogue, KeptCatalogue

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
        from mrag.images.catalogue import KeptCatalogue

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
