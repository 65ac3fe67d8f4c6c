"""RDF files to triples: Turtle, N-Triples, N-Quads, TriG, RDF/XML and JSON-LD, plain or gzipped.

Ontologies in notations without triples (OWL in XML and other syntaxes, OBO) are converted to N-Triples.

Blank nodes become IRIs while loading, because no SPARQL store lets a later query name a blank node
that an earlier one returned. Their IRIs come from the file's content and the order of first
occurrence, so that loading a file twice adds nothing (RDF 1.1 Concepts, section 3.5).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast
from urllib.parse import unquote

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError
from mrag.loaders import checks
from mrag.loaders.checks import recode
from mrag.rdf.namespaces import OWL, RDF, SKOLEM

if TYPE_CHECKING:
    from pyhornedowl import PyIndexedOntology

NAMES: Final = {
    "ofn": "OWL functional syntax", "owx": "OWL/XML", "omn": "Manchester syntax", "obo": "OBO",
}  # fmt: skip
"""What the notations are called."""

_PLACE: Final = re.compile(r"line_col: (?:Pos\(|Span\(\()\((\d+)|line_col: \w+\(\(?(\d+)")
_BYTE: Final = re.compile(r"Byte(?:Span|Position)\((\d+)")
_ROOT: Final = re.compile(
    rb"""(?:\xef\xbb\xbf)?(?>\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*+
    <(?:\w+:)?Ontology(?![^>]*\brdf:(?:about|ID)\b)[\s>]""",
    re.DOTALL | re.VERBOSE,
)
_BLANK: Final = rb"(?:\xef\xbb\xbf)?(?>\s|#[^\n]*\n)*+"
_BEGINNINGS: Final = {
    "ofn": re.compile(_BLANK + rb"(?:Prefix|Ontology)\s*\("),
    "omn": re.compile(_BLANK + rb"(?:Prefix|Ontology):\s"),
    "obo": re.compile(rb"(?:\xef\xbb\xbf)?\s*format-version:"),
    "owx": _ROOT,
}
_FIRST_BYTES: Final = 1 << 14


def owl_syntax(head: bytes) -> str:
    """Return the notation that a file begins in: `owx`, `ofn`, `omn`, `obo`, or nothing for others."""
    return next((name for name, pattern in _BEGINNINGS.items() if pattern.match(head[:_FIRST_BYTES])), "")


def convert_owl(text: str, syntax: str, file: str) -> bytes:
    """Return an ontology as N-Triples. Imported ontologies are named, and not read."""
    try:
        from pyhornedowl import open_ontology_from_string
    except ImportError as error:
        what = f"{NAMES[syntax]} is read by py-horned-owl, which is not installed."
        hint = "pip install mrag[owl], or save the ontology as RDF/XML or Turtle, in Protégé for example."
        raise LoadError(what, file=file, hint=hint) from error
    try:
        ontology = open_ontology_from_string(text, cast(Any, syntax))
        rest = _disjoint(ontology)
        document = ontology.save_to_string("owl")
    except ValueError as error:
        raise _refusal(str(error), text, syntax, file) from error
    triples = (quad.triple for quad in ox.parse(document.encode(), ox.RdfFormat.RDF_XML))
    return (ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) or b"") + rest


def functional(document: str) -> str:
    """Return an ontology of RDF/XML in OWL's functional syntax."""
    try:
        from pyhornedowl import open_ontology_from_string
    except ImportError as error:
        what = f"{NAMES['ofn']} is written by py-horned-owl, which is not installed."
        raise ConfigError(what, hint="pip install mrag[owl], or use the format rdfxml.") from error
    try:
        ontology = open_ontology_from_string(document, "owl")
        read, text = ontology.save_to_string("owl"), ontology.save_to_string("ofn")
    except ValueError as error:
        raise ConfigError(
            f"The ontology cannot be written in {NAMES['ofn']}.", hint="Use the format rdfxml."
        ) from error
    if lost := max(0, _triples(document) - _triples(read)):
        hint = "Use the format rdfxml."
        raise ConfigError(f"py-horned-owl has no axioms for {lost:,} triples of this ontology.", hint=hint)
    return text


def _triples(document: str) -> int:
    return len({quad.triple for quad in ox.parse(document.encode(), ox.RdfFormat.RDF_XML)})


def _disjoint(ontology: PyIndexedOntology) -> bytes:
    """Take axioms that several classes are disjoint out of an ontology, and return them as N-Triples.

    The library writes only the pairs of the first class. Axioms with annotations, or with classes that have
    no names, become one axiom for each pair.
    """
    from pyhornedowl.model import Class, DisjointClasses
    from rdflib import OWL, RDF, BNode, Graph, URIRef  # which each process for queries would import otherwise
    from rdflib.collection import Collection

    several: list[list[str]] = []
    for component in ontology.get_components():
        axiom = component.component
        if not isinstance(axiom, DisjointClasses) or len(axiom.first) < 3:
            continue
        ontology.remove_component(axiom)
        names = [str(c.first) for c in axiom.first if isinstance(c, Class)]
        if len(names) == len(axiom.first) and not component.ann:
            several.append(names)
            continue
        for pair in combinations(axiom.first, 2):
            ontology.add_component(DisjointClasses(list(pair)), component.ann)
    graph = Graph()
    for names in sorted(several):
        members, node = BNode(), BNode()
        Collection(graph, members, [URIRef(name) for name in names])
        graph.add((node, OWL.members, members))
        graph.add((node, RDF.type, OWL.AllDisjointClasses))
    return graph.serialize(format="nt", encoding="utf-8")


def _refusal(reason: str, text: str, syntax: str, file: str) -> LoadError:
    line = None
    if place := _PLACE.search(reason):
        line = int(place[1] or place[2])
    elif byte := _BYTE.search(reason):
        line = text.encode()[: int(byte[1])].count(b"\n") + 1
    expected = re.search(r"positives: \[([^\]]{0,500})\]", reason)
    words = f"expected {expected[1]}" if expected else re.sub("^Failed to open ontology: ", "", reason)[:200]
    hint = "Nothing of this load was stored. Mend it there, or save it as Turtle, in Protégé for example."
    return LoadError(f"Not valid {NAMES[syntax]}: {words}.", file=file, line=line, hint=hint)


SYNTAXES: Final[Mapping[str, str]] = {
    "ofn": "ofn", "fss": "ofn", "owx": "owx", "omn": "omn", "obo": "obo",
}  # fmt: skip
"""Notation by file ending."""

_AMBIGUOUS: Final = ("owl", "xml", "rdf")  # Endings of RDF/XML that other notations of OWL have as well


def syntax_of(path: Path, ending: str, *, gzipped: bool = False) -> str:
    """Return the notation of an ontology that is not RDF, by its ending or how it begins; empty for RDF."""
    if ending not in _AMBIGUOUS:
        return SYNTAXES.get(ending, "")
    try:
        with gzip.open(path) if gzipped else path.open("rb") as stream:
            return owl_syntax(stream.read(1 << 14))
    except (OSError, EOFError):
        return ""


def convert(path: Path, syntax: str, *, gzipped: bool = False) -> bytes:
    """Return an ontology as N-Triples; the last one is kept, because loading reads a file several times."""
    try:
        status = path.stat()
        return _convert(path, syntax, gzipped, (status.st_mtime_ns, status.st_size))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise LoadError(f"The file cannot be read: {error}.", file=str(path)) from error


@lru_cache(maxsize=1)
def _convert(path: Path, syntax: str, gzipped: bool, _: tuple[int, int]) -> bytes:
    content = gzip.decompress(path.read_bytes()) if gzipped else path.read_bytes()
    return convert_owl(content.decode("utf-8-sig"), syntax, str(path))


OUTSIDE: Final = "MRAG_LOAD_OUTSIDE"
"""The variable of the environment that lets a load read what lies elsewhere, if it is `1`."""


def leads_out(path: Path, folder: Path) -> bool:
    """Return whether a path leads out of a folder, by its parts or by a link, and may not."""
    if os.environ.get(OUTSIDE) == "1":
        return False
    try:
        return not path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        return True


Progress = Callable[[int, int | None], None]
"""Called with the bytes read so far and the bytes there are (None when not known)."""

_FORMATS: dict[str, ox.RdfFormat] = {
    "ttl": ox.RdfFormat.TURTLE, "turtle": ox.RdfFormat.TURTLE,
    "nt": ox.RdfFormat.N_TRIPLES, "ntriples": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS, "nquads": ox.RdfFormat.N_QUADS,
    "trig": ox.RdfFormat.TRIG, "n3": ox.RdfFormat.N3,
    "rdf": ox.RdfFormat.RDF_XML, "owl": ox.RdfFormat.RDF_XML, "xml": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD, "json-ld": ox.RdfFormat.JSON_LD, "json": ox.RdfFormat.JSON_LD,
}  # fmt: skip
_ENDINGS = {*_FORMATS, *SYNTAXES}
_NOT_IN_FOLDERS = {"json", "xml"}  # Endings too common to be taken for RDF where only a folder was named
_NAMING = (ox.RdfFormat.N_QUADS, ox.RdfFormat.TRIG, ox.RdfFormat.JSON_LD)
_LINE_BASED = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Source:
    """An RDF file to be read.

    Attributes:
        base_iri: What relative IRIs are resolved against.
        syntax: The notation of an ontology that is converted to its format first; empty for RDF.
    """

    path: Path
    format: ox.RdfFormat
    gzipped: bool
    base_iri: str
    syntax: str = ""

    def __reduce__(self) -> tuple[object, ...]:
        # The engine's formats do not go from process to process, their names do.
        return _again, (self.path, self.format.media_type, self.gzipped, self.base_iri, self.syntax)

    @classmethod
    def of(cls, path: str | os.PathLike[str], *, format: str | None = None) -> Source:
        """Describe a file, guessing its format from the name."""
        p = Path(path)
        if not p.is_file():
            raise LoadError("There is no such file.", file=str(p), hint="Check the path.")
        gzipped = p.suffix.lower() == ".gz"
        name = format.lower().lstrip(".") if format else _suffix(p)
        syntax = syntax_of(p, name, gzipped=gzipped)
        syntax_of_name = ox.RdfFormat.N_TRIPLES if syntax else _FORMATS.get(name)
        if syntax_of_name is None:
            hint = f"Name it with format= or --format, one of: {', '.join(sorted(_ENDINGS))}."
            raise LoadError("The RDF format cannot be told from the file name.", file=str(p), hint=hint)
        return cls(p, syntax_of_name, gzipped, p.resolve().as_uri(), syntax)

    def size(self) -> int:
        """Return the bytes on disk."""
        return self.path.stat().st_size

    def open(self, on_read: Callable[[int], None] | None = None) -> IO[bytes]:
        """Open the decompressed content; `on_read` gets the bytes consumed on disk, each time anew."""
        if self.syntax:
            return io.BytesIO(convert(self.path, self.syntax, gzipped=self.gzipped))
        raw = checks.Counting(self.path, on_read)
        return checks.Gunzipped(raw) if self.gzipped else raw  # type: ignore[return-value]

    def checked(
        self, on_read: Callable[[int], None] | None = None, seconds: float | None = None
    ) -> IO[bytes]:
        """Open the content so that reading it stops where it passes a bound."""
        until = None if seconds is None else time.monotonic() + seconds
        packed = self.size() if self.gzipped and not self.syntax else None
        stream = checks.checked(self.open(on_read), self.format, str(self.path), packed=packed, until=until)
        return stream  # type: ignore[return-value]

    @property
    def names_graphs(self) -> bool:
        """Return whether files of this format can name graphs."""
        return self.format in _NAMING

    @property
    def line_based(self) -> bool:
        """Return whether each line is a statement of its own."""
        return self.format in _LINE_BASED and not self.syntax

    @property
    def declares(self) -> bool:
        """Return whether files of this format can declare prefixes."""
        return self.format not in (*_LINE_BASED, ox.RdfFormat.JSON_LD)

    def prefixes(self) -> dict[str, str]:
        """Return the prefixes declared before the first statement; none if it cannot be read."""
        if not self.declares:
            return {}
        with self.checked() as stream:
            parser = ox.parse(stream, self.format, base_iri=self.base_iri, lenient=True)
            try:
                next(parser, None)
            except (SyntaxError, ValueError, OSError, EOFError, MemoryError):
                return {}
            return dict(parser.prefixes)

    def may_hold_blank_nodes(self) -> bool:
        """Return whether the file could hold a blank node; a false alarm only costs speed."""
        if self.format in _LINE_BASED:
            marks: tuple[bytes, ...] = (b"_:", b"<<")
        elif self.format in (ox.RdfFormat.TURTLE, ox.RdfFormat.TRIG, ox.RdfFormat.N3):
            marks = (b"_:", b"[", b"(", b"<<")
        else:
            return True
        with self.open() as stream:
            return _holds(recode(stream, self.format, str(self.path)), marks)

    def quads(
        self, on_read: Callable[[int], None] | None = None, notes: checks.LoadNotes | None = None
    ) -> Iterator[ox.Quad]:
        """Parse the file, with blank nodes turned into IRIs.

        An ill-formed language tag, such as `zh-classical`, starts the file anew: statements may come twice.
        """
        try:
            yield from self._parse(on_read, lenient=False)
        except SyntaxError as strict:
            tags = notes.tags if notes is not None else set()
            try:
                for quad in self._parse(on_read, lenient=True):
                    checks.check_terms(quad, tags)
                    yield quad
            except (SyntaxError, ValueError):
                raise self.error(strict) from strict
            except MemoryError as error:
                raise self.error(error) from error
        except (ValueError, OSError, EOFError, MemoryError) as error:
            raise self.error(error) from error

    def _parse(self, on_read: Callable[[int], None] | None, *, lenient: bool) -> Iterator[ox.Quad]:
        names: dict[str, ox.NamedNode] = {}
        with self.path.open("rb") as whole:
            digest = hashlib.file_digest(whole, lambda: hashlib.blake2b(digest_size=8)).hexdigest()

        def skolem(term: Any) -> Any:
            if not isinstance(term, ox.BlankNode):
                return term
            known = names.get(term.value)
            if known is None:
                known = names[term.value] = ox.NamedNode(f"{SKOLEM}{digest}:{len(names)}")
            return known

        plain = not self.may_hold_blank_nodes()
        with self.checked(on_read) as stream:
            parsed = ox.parse(stream, self.format, base_iri=self.base_iri, lenient=lenient)
            if plain:
                # Half the time of the loop below.
                yield from parsed
                return
            for quad in chain.from_iterable(map(_describe, parsed)):
                s, o, g = quad.subject, quad.object, quad.graph_name
                if any(isinstance(term, ox.BlankNode) for term in (s, o, g)):
                    quad = ox.Quad(skolem(s), quad.predicate, skolem(o), skolem(g))
                yield quad

    def quads_skipping(
        self, notes: checks.LoadNotes, on_read: Callable[[int], None] | None = None
    ) -> Iterator[ox.Quad]:
        """Parse a line-based file, noting bad lines in `notes` instead of stopping there."""
        if not self.line_based:
            what = "Only N-Triples and N-Quads can be read past a bad line."
            hint = "Mend the line that the strict load names, or convert the file."
            raise LoadError(what, file=str(self.path), hint=hint)
        with self.checked(on_read) as stream:
            for number, line in enumerate(io.BufferedReader(stream, _CHUNK), start=1):  # type: ignore[type-var]
                try:
                    yield from chain.from_iterable(map(_describe, ox.parse(line, self.format)))
                except (SyntaxError, ValueError) as error:
                    notes.rejected.append(checks.RejectedLine(str(self.path), number, _reason(error)))

    def error(self, error: Exception) -> LoadError:
        """Turn what a parser raised into an error that names file and line."""
        if isinstance(error, EOFError | gzip.BadGzipFile):
            return LoadError(
                "The file ends early or is not gzip.", file=str(self.path), hint="Fetch or pack it again."
            )
        if isinstance(error, MemoryError):
            return checks.too_long(self.format, str(self.path))
        if isinstance(error, SyntaxError):
            what, mend = _reason(error), "Mend that line."
            if "utf-8" in what.lower():
                what, mend = "its bytes are not UTF-8", "Convert it, as with iconv -f ISO-8859-1 -t UTF-8."
            elif self.format in _LINE_BASED:
                mend = "Mend that line, or skip bad lines with --skip-bad-lines."
            what = f"Not valid {self.format.name}: {what}."
            hint = f"Nothing of this load was stored. {mend}"
            return LoadError(what, file=str(self.path), line=error.lineno, hint=hint)
        return LoadError(
            f"The file cannot be read: {error}.", file=str(self.path), hint="Check disk and rights."
        )


def _describe(quad: ox.Quad) -> tuple[ox.Quad, ...]:
    """Return a statement; where its object is a triple (RDF 1.2, RDF-star), as RDF 1.1 describes that one.

    Servers write such triples in ways of their own, or know none.
    """
    o, g = quad.object, quad.graph_name
    if not isinstance(o, ox.Triple):
        return (quad,)
    node, parts = quad.subject, ("subject", "predicate", "object")
    quads = [ox.Quad(node, ox.NamedNode(RDF + "type"), ox.NamedNode(RDF + "Statement"), g)]
    if quad.predicate.value != RDF + "reifies":
        node = ox.BlankNode(hashlib.blake2b(str(o).encode(), digest_size=8).hexdigest())
        quads = [ox.Quad(quad.subject, quad.predicate, node, g)]
    for part, term in zip(parts, (o.subject, o.predicate, o.object), strict=True):
        quads += _describe(ox.Quad(node, ox.NamedNode(RDF + part), term, g))
    return tuple(quads)


def _holds(chunks: Iterable[bytes], marks: tuple[bytes, ...]) -> bool:
    """Return whether one of some marks is in a text that comes in pieces."""
    last = b""
    for chunk in chunks:
        if any(mark in last + chunk for mark in marks):
            return True
        last = chunk[-8:]
    return False


def _again(path: Path, media: str, gzipped: bool, base_iri: str, syntax: str) -> Source:
    format = ox.RdfFormat.from_media_type(media) or ox.RdfFormat.N_TRIPLES
    return Source(path, format, gzipped, base_iri, syntax)


def sources(paths: Iterable[str | os.PathLike[str]], *, format: str | None = None) -> list[Source]:
    """Describe several files; a folder stands for the RDF files below it, in order of name.

    `format` is an ending that overrides those of the paths.

    Raises:
        LoadError: If one is missing, a folder holds none, or a format cannot be told.
    """
    files: list[Source] = []
    for path in paths:
        p = Path(path)
        if not p.is_dir():
            files.append(Source.of(p, format=format))
            continue
        endings = _ENDINGS - _NOT_IN_FOLDERS
        inside = [f for f in sorted(p.rglob("*")) if f.is_file() and _suffix(f) in endings]
        for file in inside:
            if leads_out(file, p):
                hint = f"Name its target, or set {OUTSIDE}=1 to follow links."
                raise LoadError(f"A link leads out of the folder: {file.name!r}.", file=str(p), hint=hint)
        if not inside:
            what = "No RDF file in this folder."
            raise LoadError(what, file=str(p), hint="Files are told by their endings.")
        files.extend(map(Source.of, inside))
    return files


def _suffix(path: Path) -> str:
    names = [s.lstrip(".").lower() for s in path.suffixes]
    return "".join((names[:-1] if names[-1:] == ["gz"] else names)[-1:])


def _reason(error: Exception) -> str:
    text = str(error.args[0]) if error.args else str(error)
    _, _, reason = text.partition(": ")
    return (reason if text.startswith("Parser error at") else text).rstrip(".")


_HEAD: Final = 20_000  # So many statements of a file may stand before it says which ontology it is

_IMPORTS: Final = ox.NamedNode(OWL + "imports")
_NAMING_IMPORTS: Final = {ox.NamedNode(OWL + "versionIRI")}
_TYPE, _ONTOLOGY = ox.NamedNode(RDF + "type"), ox.NamedNode(OWL + "Ontology")


def with_imports(files: Iterable[Source]) -> list[Source]:
    """Return files with those of their folders that they import, directly or not, each once."""
    chosen = {source.path.resolve(): source for source in files}
    waiting = list(chosen.values())
    here: set[str] = {name for source in waiting for name in _imports(source)[1]}
    while waiting:
        source = waiting.pop(0)
        for iri in _imports(source)[0]:
            if iri in here:
                continue
            place = _place(iri, source.path.resolve().parent)
            if place is None:
                hint = "Put it into the same folder; nothing is fetched."
                what = f"It imports <{iri}>, and no file here is that ontology."
                raise LoadError(what, file=str(source.path), hint=hint)
            if place.resolve() not in chosen:
                waiting.append(Source.of(place))
                chosen[place.resolve()] = waiting[-1]
            here.add(iri)
    return list(chosen.values())


def _imports(source: Source) -> tuple[list[str], set[str]]:
    """Return what a file imports, and as which ontologies it is known."""
    with source.open() as stream:
        if not _holds(iter(lambda: stream.read(_CHUNK), b""), (b"imports",)):
            return [], _names(source)
    imported, names = dict[str, None](), set[str]()
    for quad in source.quads():
        if quad.predicate == _IMPORTS and isinstance(quad.object, ox.NamedNode):
            imported[quad.object.value] = None
        names |= _names_in(quad)
    return list(imported), names


def _names(source: Source) -> set[str]:
    return {name for quad in islice(source.quads(), _HEAD) for name in _names_in(quad)}


def _names_in(quad: ox.Quad) -> set[str]:
    s, o = quad.subject, quad.object
    if quad.predicate == _TYPE and o == _ONTOLOGY and isinstance(s, ox.NamedNode):
        return {s.value}
    return {o.value} if quad.predicate in _NAMING_IMPORTS and isinstance(o, ox.NamedNode) else set()


def _place(iri: str, folder: Path) -> Path | None:
    """Return the local file of an ontology."""
    last = unquote(iri.rstrip("/#").replace("#", "/").rpartition("/")[2])
    files = [f for f in sorted(folder.iterdir()) if f.is_file() and not leads_out(f, folder)]
    # A file of that name is read before others.
    for file in sorted(files, key=lambda f: not f.name.startswith(last)):
        try:
            if iri in _names(Source.of(file)):
                return file
        except LoadError:
            continue
    return None
