"""RDF files to triples: Turtle, N-Triples, N-Quads, TriG, RDF/XML and JSON-LD, plain or gzipped.

Ontologies in other notations are read as the N-Triples that `mrag.loaders.ontologies` makes of them.

Blank nodes become IRIs while loading, because no SPARQL store lets a later query name a blank node
that an earlier one returned. Their IRIs come from the file's content and the order of first
occurrence, so that loading a file twice adds nothing (RDF 1.1 Concepts, section 3.5).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders import checks
from mrag.loaders._inside import OUTSIDE, leads_out
from mrag.loaders.checks import recoded
from mrag.loaders.ontologies.converting import SYNTAXES, converted, syntax_of
from mrag.rdf.namespaces import SKOLEM

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
_NOT_IN_FOLDERS = {"json", "xml"}
"""Endings too common to be taken for RDF where only a folder was named."""
_NAMING = (ox.RdfFormat.N_QUADS, ox.RdfFormat.TRIG, ox.RdfFormat.JSON_LD)
_LINE_BASED = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Source:
    """An RDF file to be read.

    Attributes:
        path: Where it is.
        format: Its serialisation.
        gzipped: Whether it is compressed.
        base_iri: What relative IRIs are resolved against.
        syntax: The notation of an ontology that is converted to that serialisation first; empty for RDF.
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
    def of(
        cls, path: str | os.PathLike[str], *, format: str | None = None, base_iri: str | None = None
    ) -> Source:
        """Describe a file, guessing its format from the name.

        Args:
            path: The file; `.gz` at the end means gzip.
            format: A file extension that overrides the guess, such as `ttl`.
            base_iri: Base for relative IRIs; the file's own `file:` IRI by default.

        Raises:
            LoadError: If the file is not there or its format cannot be told.

        Example:
            >>> from pathlib import Path
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     _ = (Path(folder) / "a.ttl").write_text("<urn:a> <urn:b> <urn:c> .")
            ...     Source.of(Path(folder) / "a.ttl").format.name
            'Turtle'
        """
        p = Path(path)
        if not p.is_file():
            raise LoadError("There is no such file.", file=str(p), hint="Check the path.")
        suffixes = [s.lstrip(".").lower() for s in p.suffixes]
        gzipped = bool(suffixes) and suffixes[-1] == "gz"
        key = format.lower().lstrip(".") if format else (suffixes[:-1] if gzipped else suffixes)[-1:]
        name = "".join(key)
        syntax = syntax_of(p, name, gzipped=gzipped)
        found = ox.RdfFormat.N_TRIPLES if syntax else _FORMATS.get(name)
        if found is None:
            raise LoadError(
                "The RDF format cannot be told from the file name.",
                file=str(p),
                hint=f"Name it with format= or --format, one of: {', '.join(sorted(_ENDINGS))}.",
            )
        return cls(p, found, gzipped, base_iri or p.resolve().as_uri(), syntax)

    def size(self) -> int:
        """Return the bytes on disk."""
        return self.path.stat().st_size

    def open(self, on_read: Callable[[int], None] | None = None) -> IO[bytes]:
        """Open the decompressed content; `on_read` gets the bytes consumed on disk, each time anew."""
        if self.syntax:
            return io.BytesIO(converted(self.path, self.syntax, gzipped=self.gzipped))
        raw = checks.Counting(self.path.open("rb", buffering=0), on_read)
        if self.gzipped:
            return checks.Gunzipped(raw)  # type: ignore[return-value]
        return raw  # type: ignore[return-value]

    def checked(
        self, on_read: Callable[[int], None] | None = None, seconds: float | None = None
    ) -> IO[bytes]:
        """Open the content so that reading it stops where it passes a bound.

        Args:
            on_read: Called with the bytes consumed on disk so far.
            seconds: After which it stops as well.
        """
        until = None if seconds is None else time.monotonic() + seconds
        packed = self.size() if self.gzipped and not self.syntax else None
        found = checks.Checked(self.open(on_read), self.format, str(self.path), packed=packed, until=until)
        return found  # type: ignore[return-value]

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
            marks: tuple[bytes, ...] = (b"_:",)
        elif self.format in (ox.RdfFormat.TURTLE, ox.RdfFormat.TRIG, ox.RdfFormat.N3):
            marks = (b"_:", b"[", b"(")
        else:
            return True
        last = b""
        with self.open() as stream:
            for chunk in recoded(stream, self.format, str(self.path)):
                if any(mark in last + chunk for mark in marks):
                    return True
                last = chunk[-1:]
        return False

    def quads(
        self, on_read: Callable[[int], None] | None = None, notes: checks.LoadNotes | None = None
    ) -> Iterator[ox.Quad]:
        """Parse the file, with blank nodes turned into IRIs.

        Ill-formed language tags such as `zh-classical` are kept and noted. Finding one starts the file anew,
        so statements may come twice.

        Args:
            on_read: Called with the bytes consumed on disk so far.
            notes: Receives the ill-formed language tags.

        Raises:
            LoadError: At the first statement that is not well formed, with its line.
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
        digest = self._digest()

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
            for quad in parsed:
                s, o, g = quad.subject, quad.object, quad.graph_name
                if any(isinstance(term, ox.BlankNode) for term in (s, o, g)):
                    quad = ox.Quad(skolem(s), quad.predicate, skolem(o), skolem(g))
                yield quad

    def quads_skipping(
        self, notes: checks.LoadNotes, on_read: Callable[[int], None] | None = None
    ) -> Iterator[ox.Quad]:
        """Parse a line-based file, noting bad lines in `notes` instead of stopping there.

        Raises:
            LoadError: If the format is not one statement to a line.
        """
        if not self.line_based:
            raise LoadError(
                "Only N-Triples and N-Quads can be read past a bad line.",
                file=str(self.path),
                hint="Mend the line that the strict load names, or convert the file.",
            )
        with self.checked(on_read) as stream:
            for number, line in enumerate(io.BufferedReader(stream, _CHUNK), start=1):  # type: ignore[type-var]
                try:
                    yield from ox.parse(line, self.format)
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
        if isinstance(error, SyntaxError) and "utf-8" in _reason(error).lower():
            return LoadError(
                f"Not valid {self.format.name}: its bytes are not UTF-8.",
                file=str(self.path),
                line=error.lineno,
                hint="Nothing of this load was stored. Convert it, as with iconv -f ISO-8859-1 -t UTF-8.",
            )
        if isinstance(error, SyntaxError):
            return LoadError(
                f"Not valid {self.format.name}: {_reason(error)}.",
                file=str(self.path),
                line=error.lineno,
                hint="Nothing of this load was stored. Mend that line"
                + (", or skip bad lines with --skip-bad-lines." if self.format in _LINE_BASED else "."),
            )
        return LoadError(
            f"The file cannot be read: {error}.", file=str(self.path), hint="Check disk and rights."
        )

    def _digest(self) -> str:
        with self.path.open("rb") as stream:
            return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


def _again(path: Path, media: str, gzipped: bool, base_iri: str, syntax: str) -> Source:
    format = ox.RdfFormat.from_media_type(media) or ox.RdfFormat.N_TRIPLES
    return Source(path, format, gzipped, base_iri, syntax)


def sources(
    paths: Iterable[str | os.PathLike[str]],
    *,
    format: str | None = None,
    left_out: list[checks.LeftOutFile] | None = None,
) -> list[Source]:
    """Describe several files; a folder stands for the RDF files below it, in order of name.

    Args:
        paths: The files and folders.
        format: A file ending that overrides those of the paths.
        left_out: Receives the files that cannot be described, instead of an error.

    Raises:
        LoadError: If one is missing, a folder holds none, or a format cannot be told.
    """
    found: list[Source] = []
    for path in paths:
        p = Path(path)
        if not p.is_dir():
            try:
                found.append(Source.of(p, format=format))
            except LoadError as error:
                if left_out is None:
                    raise
                left_out.append(checks.LeftOutFile(str(p), error.message))
            continue
        endings = _ENDINGS - _NOT_IN_FOLDERS
        inside = [f for f in sorted(p.rglob("*")) if f.is_file() and _suffix(f) in endings]
        for file in [f for f in inside if leads_out(f, p)]:
            message = f"A link leads out of the folder: {file.name!r}."
            if left_out is None:
                raise LoadError(
                    message, file=str(p), hint=f"Name its target, or set {OUTSIDE}=1 to follow links."
                )
            left_out.append(checks.LeftOutFile(str(file), message))
            inside.remove(file)
        if not inside:
            raise LoadError(
                "No RDF file in this folder.", file=str(p), hint="Files are told by their endings."
            )
        found.extend(Source.of(f) for f in inside)
    return found


def _suffix(path: Path) -> str:
    names = [s.lstrip(".").lower() for s in path.suffixes]
    return "" if not names else names[-2] if names[-1] == "gz" and len(names) > 1 else names[-1]


def _reason(error: Exception) -> str:
    text = str(error.args[0]) if error.args else str(error)
    _, _, reason = text.partition(": ")
    return (reason if text.startswith("Parser error at") else text).rstrip(".")
