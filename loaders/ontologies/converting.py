"""Files of ontologies as N-Triples, whatever notation they are in."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from mrag.errors import LoadError
from mrag.loaders.ontologies.owl import owl_syntax

SYNTAXES: Final[Mapping[str, str]] = {
    "kb": "kb", "ofn": "ofn", "fss": "ofn", "owx": "owx", "omn": "omn", "obo": "obo",
}  # fmt: skip
"""Notation by file ending."""

_AMBIGUOUS: Final = ("owl", "xml", "rdf")
"""Endings of RDF/XML that other notations of OWL have as well."""


def syntax_of(path: Path, ending: str, *, gzipped: bool = False) -> str:
    """Return the notation of an ontology that is not RDF, by its ending or how it begins; empty for RDF.

    Args:
        path: The file.
        ending: Its ending, or the format that was named, without a dot.
        gzipped: Whether it is compressed.
    """
    if ending not in _AMBIGUOUS:
        return SYNTAXES.get(ending, "")
    try:
        with gzip.open(path) if gzipped else path.open("rb") as stream:
            return owl_syntax(stream.read(1 << 14))
    except (OSError, EOFError):
        return ""


def converted(path: Path, syntax: str, *, gzipped: bool = False) -> bytes:
    """Return an ontology as N-Triples; the last one is kept, because loading reads a file several times.

    Args:
        path: The file.
        syntax: Its notation, one of `SYNTAXES`.
        gzipped: Whether it is compressed.

    Raises:
        LoadError: If it is not well formed, or what reads it is not installed.
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


def _owl(syntax: str, content: bytes, file: str) -> bytes:
    from mrag.loaders.ontologies.owl import convert_owl

    return convert_owl(content.decode("utf-8-sig"), syntax, file)


_READERS: Final[Mapping[str, Callable[[bytes, str], bytes]]] = {
    "kb": _kb,
    **{syntax: partial(_owl, syntax) for syntax in ("ofn", "owx", "omn", "obo")},
}
