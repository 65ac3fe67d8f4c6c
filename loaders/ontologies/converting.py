"""Files of ontologies as N-Triples, whatever notation they are in."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from mrag.errors import LoadError

SYNTAXES: Final[Mapping[str, str]] = {"kb": "kb"}
"""Notation by file ending."""


def converted(path: Path, syntax: str, *, gzipped: bool = False) -> bytes:
    """Return an ontology as N-Triples; the last one is kept, because loading reads a file several times.

    Args:
        path: The file.
        syntax: Its notation: `kb`.
        gzipped: Whether it is compressed.

    Raises:
        LoadError: If it is not well formed.
    """
    try:
        found = path.stat()
        return _converted(path, syntax, gzipped, (found.st_mtime_ns, found.st_size))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise LoadError(f"The file cannot be read: {error}.", file=str(path)) from error


@lru_cache(maxsize=1)
def _converted(path: Path, syntax: str, gzipped: bool, _: tuple[int, int]) -> bytes:
    content = path.read_bytes()
    return _READERS[syntax](gzip.decompress(content) if gzipped else content, str(path))


def _kb(content: bytes, file: str) -> bytes:
    from mrag.loaders.ontologies.kb import convert_kb

    return convert_kb(content.decode("utf-8-sig"), file)


_READERS: Final[Mapping[str, Callable[[bytes, str], bytes]]] = {"kb": _kb}
