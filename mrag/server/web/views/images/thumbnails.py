"""Small versions of the pictures that a graph names, made when asked for and kept for a while."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from mrag.errors import LoadError
from mrag.graph.kg import KnowledgeGraph

_KEPT = 48 << 20
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
            if key not in self._kept and len(made[0]) <= _KEPT:
                self._kept[key] = made
                self._bytes += len(made[0])
            while self._bytes > _KEPT:
                self._bytes -= len(self._kept.popitem(last=False)[1][0])
        return made
