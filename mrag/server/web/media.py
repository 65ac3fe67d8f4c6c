"""Images that a graph names: which values are images, and which files of a media folder may be shown.

Nothing is fetched from the web: a link to an image there is given as a link. A file is served only if
the graph names it, and only from below the media folder.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pyoxigraph as ox

from mrag.context.neighbourhood import Statement

PROPERTIES = frozenset(
    {
        "http://xmlns.com/foaf/0.1/depiction",
        "http://xmlns.com/foaf/0.1/img",
        "http://xmlns.com/foaf/0.1/thumbnail",
        "http://schema.org/image",
        "https://schema.org/image",
        "http://schema.org/thumbnailUrl",
        "https://schema.org/thumbnailUrl",
        "http://dbpedia.org/ontology/thumbnail",
        "http://www.wikidata.org/prop/direct/P18",
    }
)
"""Properties whose values are images, whatever they end in."""

KINDS = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
"""Endings of files that are served. SVG is not among them, because it can hold scripts."""

_ENDINGS = (*KINDS, ".svg", ".tif", ".tiff")
_MOST = 1_024


@dataclass(frozen=True)
class Image:
    """An image that the graph names.

    Attributes:
        entity: IRI of what it shows.
        value: The IRI or text that names it.
        web: Whether it lies on the web, so that only a person may fetch it.
    """

    entity: str
    value: str
    web: bool

    @property
    def name(self) -> str:
        """Return the name of the file, for people.

        Example:
            >>> Image("urn:a", "http://example.org/x/Han%20Solo.jpg", True).name
            'Han Solo.jpg'
        """
        path = unquote(urlsplit(self.value).path) if _scheme(self.value) else self.value
        return path.rsplit("/", 1)[-1]


def images(statements: Iterable[Statement]) -> list[Image]:
    """Find the images among triples, in order of entity and value, each once.

    Example:
        >>> a, depiction = "http://example.org/a", "http://xmlns.com/foaf/0.1/depiction"
        >>> found = images([(a, depiction, ox.NamedNode("http://example.org/a.png"), "urn:g")])
        >>> found[0].web, found[0].name
        (True, 'a.png')
    """
    found: set[tuple[str, str]] = set()
    for s, p, o, _ in statements:
        if isinstance(o, ox.BlankNode):
            continue
        value = o.value
        if len(value) > _MOST or (isinstance(o, ox.Literal) and any(c.isspace() for c in value)):
            continue
        path = urlsplit(value).path if _scheme(value) else value
        if p in PROPERTIES or path.lower().endswith(_ENDINGS):
            found.add((s, value))
    kept = [Image(s, v, _scheme(v) in ("http", "https")) for s, v in sorted(found)]
    return [image for image in kept if image.web or _scheme(image.value) in ("", "file")]


def file_of(image: Image, folder: Path | None) -> Path | None:
    """Return the file of an image, None if it may not or cannot be served.

    Args:
        image: An image that the graph names.
        folder: The media folder; nothing is served without one.
    """
    if folder is None or image.web:
        return None
    named = unquote(urlsplit(image.value).path) if _scheme(image.value) == "file" else image.value
    if "\0" in named or urlsplit(image.value).netloc not in ("", "localhost"):
        return None
    root = folder.resolve()
    try:
        # An absolute path stays as it is; links are followed before the folder is compared.
        file = (root / named).resolve()
    except (OSError, RuntimeError, ValueError):
        return None
    if not file.is_relative_to(root) or file.suffix.lower() not in KINDS or not file.is_file():
        return None
    return file


def address(image: Image) -> str:
    """Return where the API serves an image.

    Example:
        >>> address(Image("urn:a b", "a.png", False))
        '/api/image?entity=urn%3Aa%20b&value=a.png'
    """
    return f"/api/image?entity={quote(image.entity, safe='')}&value={quote(image.value, safe='')}"


def _scheme(value: str) -> str:
    try:
        return urlsplit(value).scheme.lower()
    except ValueError:
        return "invalid"
