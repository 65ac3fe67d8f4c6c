"""What ontologies import (`owl:imports`), found among local files; nothing is fetched.

An imported ontology is the file that a catalog in the same folder names for it, as Protégé keeps one, else
a file of that folder that states it is this ontology.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree  # entities are bounded by expat, and a catalog is small

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders._inside import inside, leads_out
from mrag.loaders.checks import LeftOutFile
from mrag.loaders.rdf import Source, sources
from mrag.rdf.namespaces import OWL, RDF

CATALOG: Final = "catalog-v001.xml"
"""What Protégé calls the file that says where imported ontologies are."""

_CATALOG_BYTES: Final = 1 << 20
_HEAD: Final = 20_000
"""So many statements of a file may stand before it says which ontology it is."""

_IMPORTS: Final = ox.NamedNode(OWL + "imports")
_NAMING_IMPORTS: Final = {ox.NamedNode(OWL + "versionIRI")}
_TYPE, _ONTOLOGY = ox.NamedNode(RDF + "type"), ox.NamedNode(OWL + "Ontology")


def with_imports(found: Iterable[Source], left_out: list[LeftOutFile] | None = None) -> list[Source]:
    """Return files with those that they import, directly or not, each once.

    Args:
        found: The files.
        left_out: Receives the ontologies that are not found, instead of an error.

    Raises:
        LoadError: If a file cannot be read, or no local file is an ontology that one imports.

    Source:
        OWL 2 Structural Specification, section 3.4 (imports); OASIS XML Catalogs 1.1, section 6.5.3 (`uri`).

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     a, b = Path(folder, "a.ttl"), Path(folder, "b.ttl")
        ...     _ = a.write_text("<urn:a> <http://www.w3.org/2002/07/owl#imports> <urn:b> .")
        ...     _ = b.write_text("<urn:b> a <http://www.w3.org/2002/07/owl#Ontology> .")
        ...     [source.path.name for source in with_imports([Source.of(a)])]
        ['a.ttl', 'b.ttl']
    """
    chosen = {source.path.resolve(): source for source in found}
    waiting, missing = list(chosen.values()), set[str]()
    here: set[str] = {name for source in waiting for name in _imported_or_named(source)[1]}
    while waiting:
        source = waiting.pop(0)
        for iri in _imported_or_named(source)[0]:
            if iri in here or iri in missing:
                continue
            place = _place(iri, source.path.resolve().parent)
            if place is None:
                missing.add(iri)
                _miss(iri, source, left_out)
            elif place.resolve() not in chosen:
                waiting.append(Source.of(place))
                chosen[place.resolve()] = waiting[-1]
            here.add(iri)
    return list(chosen.values())


def _miss(iri: str, source: Source, left_out: list[LeftOutFile] | None) -> None:
    if left_out is None:
        raise LoadError(
            f"It imports <{iri}>, and no file here is that ontology.",
            file=str(source.path),
            hint=f"Put it into the same folder, or name it in {CATALOG} there; nothing is fetched.",
        )
    left_out.append(LeftOutFile(f"<{iri}>", f"{source.path} imports it, and no file here is that ontology."))


def _imported_or_named(source: Source) -> tuple[list[str], set[str]]:
    """Return what a file imports, and as which ontologies it is known."""
    if not _speaks_of_imports(source):
        return [], _names(source)
    imported, names = dict[str, None](), set[str]()
    for quad in source.quads():
        if quad.predicate == _IMPORTS and isinstance(quad.object, ox.NamedNode):
            imported[quad.object.value] = None
        names |= _named_by(quad)
    return list(imported), names


def _speaks_of_imports(source: Source) -> bool:
    last = b""
    with source.open() as stream:
        while chunk := stream.read(1 << 20):
            if b"imports" in last + chunk:
                return True
            last = chunk[-8:]
    return False


def _names(source: Source) -> set[str]:
    return {name for quad in islice(source.quads(), _HEAD) for name in _named_by(quad)}


def _named_by(quad: ox.Quad) -> set[str]:
    s, o = quad.subject, quad.object
    if quad.predicate == _TYPE and o == _ONTOLOGY and isinstance(s, ox.NamedNode):
        return {s.value}
    return {o.value} if quad.predicate in _NAMING_IMPORTS and isinstance(o, ox.NamedNode) else set()


def _place(iri: str, folder: Path) -> Path | None:
    """Return the local file of an ontology."""
    known = _catalog(folder).get(iri)
    if known is not None and known.is_file():
        return inside(known, folder, folder / CATALOG)
    last = unquote(iri.rstrip("/#").replace("#", "/").rpartition("/")[2])
    files = [f for f in sorted(folder.iterdir()) if f.is_file() and not leads_out(f, folder)]
    # A file of that name is read before others.
    for file in sorted(files, key=lambda f: not f.name.startswith(last)):
        try:
            if iri in _names(sources([file])[0]):
                return file
        except LoadError:
            continue
    return None


def _catalog(folder: Path) -> dict[str, Path]:
    """Return the local files that a catalog names."""
    path = folder / CATALOG
    if not path.is_file() or path.stat().st_size > _CATALOG_BYTES:
        return {}
    try:
        root = ElementTree.parse(path).getroot()  # noqa: S314 # see above
    except ElementTree.ParseError as error:
        raise LoadError(f"Not a catalog of XML: {error}.", file=str(path)) from error
    return dict(_entries(root, folder))


def _entries(root: ElementTree.Element, folder: Path) -> Iterator[tuple[str, Path]]:
    # Without recursion: groups may be nested as deep as a file is long.
    waiting = [(root, folder)]
    while waiting:
        element, folder = waiting.pop()
        base = _local(element.get("{http://www.w3.org/XML/1998/namespace}base", ""), folder)
        name, place = element.get("name"), element.get("uri")
        if element.tag.rpartition("}")[2] == "uri" and name and place is not None and base is not None:
            file = _local(place, base)
            if file is not None:
                yield name, file
        waiting += [(part, base or folder) for part in reversed(element)]


def _local(place: str, folder: Path) -> Path | None:
    """Return what a reference means in a folder; None for an address."""
    parts = urlsplit(place)
    return folder / unquote(parts.path) if parts.scheme in ("", "file") else None
