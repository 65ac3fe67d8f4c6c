"""Texts in folders to passages: each a piece of a file, with where it stands and a digest of what it says.

A passage is `text[start:end]` of its file to the letter, so that a quote can be found again. Paragraphs
stay whole where they fit; longer ones are cut behind sentences. As RDF a passage is a `mrag:Passage`, part of
its document:

    <urn:mrag:passage:…>   prov:value text; mrag:startOffset, mrag:endOffset; dcterms:isPartOf its document
    <urn:mrag:document:…>  dcterms:title; dcterms:source, its path in the folder; dcterms:identifier, SHA-256
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mrag.errors import ConfigError, LoadError
from mrag.language.tokens import paragraph_spans, sentence_spans, trim
from mrag.loaders._records import INTEGER, TYPE, Problem, RecordReport, text
from mrag.loaders.rdf import Progress
from mrag.rdf.terms import MRAG

ENDINGS = (".txt", ".text", ".md", ".markdown", ".rst")  # Endings of the files that are read

_DCTERMS = "http://purl.org/dc/terms/"
_PROV = "http://www.w3.org/ns/prov#"
_ENTITY = f"{TYPE} <{_PROV}Entity> .\n"


@dataclass(frozen=True)
class Cutting:
    """How texts are cut."""

    most: int = 800
    overlap: bool = True

    def __post_init__(self) -> None:
        if self.most < 40:
            raise ConfigError(f"Passages of {self.most} characters say nothing.", hint="Use 40 or more.")


@dataclass(frozen=True)
class Document:
    """A text with what it is called."""

    source: str
    title: str
    text: str

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def iri(self) -> str:
        """Return the IRI of this text under this source; another text there is another document."""
        named = hashlib.sha256(f"{self.source}\n{self.digest}".encode("utf-8", "surrogatepass")).hexdigest()
        return f"urn:mrag:document:{named[:32]}"


@dataclass(frozen=True)
class Snippet:
    """A passage of a document: `document.text[start:end]`."""

    document: Document
    start: int
    end: int

    @property
    def text(self) -> str:
        """Return what it says."""
        return self.document.text[self.start : self.end]

    @property
    def iri(self) -> str:
        """Return its IRI, which follows from its document and its place."""
        return f"{self.document.iri.replace('document', 'passage')}-{self.start}-{self.end}"


@dataclass
class Snippets:
    """The texts of a folder and of those below it, as passages.

    Files are read in order of name. Links that lead out of the folder, files that are not text and files
    larger than `max_bytes` are left out and counted in the report.

    Raises:
        LoadError: If there is no such folder.
    """

    folder: Path
    cutting: Cutting = field(default_factory=Cutting)
    max_bytes: int = 20 << 20
    on_progress: Progress | None = None
    report: RecordReport = field(default_factory=RecordReport, init=False)

    def __post_init__(self) -> None:
        self.folder = Path(self.folder)
        if not self.folder.exists():
            raise LoadError("There is no such folder.", file=str(self.folder), hint="Check the path.")

    def documents(self) -> Iterator[Document]:
        """Yield the texts, in order of their paths."""
        self.report = RecordReport()
        files = self._files()
        total, done = sum(size for _, size in files), 0
        for path, size in files:
            if (content := self._read(path, size)) is not None:
                self.report.count("documents")
                yield content
            done += size
            if self.on_progress is not None:
                self.on_progress(done, total)

    def snippets(self) -> Iterator[Snippet]:
        """Yield the passages of all texts, in order of path and place."""
        for document in self.documents():
            for snippet in cut(document, self.cutting):
                self.report.count("passages")
                yield snippet

    def lines(self) -> Iterator[str]:
        """Yield documents and passages as lines of N-Triples."""
        last = ""
        for snippet in self.snippets():
            if snippet.document.iri != last:
                last = snippet.document.iri
                yield from document_lines(snippet.document)
            for line in passage_lines(snippet):
                self.report.triples += 1
                yield line

    def _files(self) -> list[tuple[Path, int]]:
        if self.folder.is_file():
            return [(self.folder, self.folder.stat().st_size)]
        root = self.folder.resolve()
        files: list[tuple[Path, int]] = []
        for at, folders, names in os.walk(self.folder):
            folders.sort()
            for name in sorted(names):
                path = Path(at) / name
                if not name.lower().endswith(ENDINGS):
                    continue
                if not path.resolve().is_relative_to(root) or not path.is_file():
                    why = "it leads out of the folder, or nowhere"
                    self.report.note(Problem("link", str(path), why))
                else:
                    files.append((path, path.stat().st_size))
        return sorted(files)

    def _read(self, path: Path, size: int) -> Document | None:
        name = path.relative_to(self.folder).as_posix() if path != self.folder else path.name
        said, kind, why = "", "empty", "it says nothing"
        try:
            if size > self.max_bytes:
                kind, why = "size", f"it has more than {self.max_bytes:,} bytes"
            else:
                said = path.read_bytes().decode("utf-8-sig")
        except OSError as error:
            kind, why = "file", f"it cannot be read: {error.strerror or error}"
        except UnicodeDecodeError:
            kind, why = "encoding", "it is not text in UTF-8"
        if "\x00" in said:
            said, kind, why = "", "encoding", "it is not text"
        if said.strip():
            return Document(name, title_of(said, Path(name).stem), said)
        self.report.note(Problem(kind, str(path), why))
        return None


def cut(document: Document, cutting: Cutting | None = None) -> Iterator[Snippet]:
    """Cut a text into passages."""
    cutting = cutting or Cutting()
    start = end = -1
    for first, last in paragraph_spans(document.text):
        if start >= 0 and last - start <= cutting.most:
            end = last
            continue
        if start >= 0:
            yield Snippet(document, start, end)
            start = -1
        if last - first <= cutting.most:
            start, end = first, last
            continue
        yield from (Snippet(document, a, b) for a, b in _pieces(document.text, first, last, cutting))
    if start >= 0:
        yield Snippet(document, start, end)


def title_of(said: str, name: str) -> str:
    """Return what a text is called: a heading in its first line, else the name of its file in words."""
    first = said.lstrip().splitlines()[0].strip()
    if first.startswith("#") and first.strip("# "):
        return first.strip("# ")[:200]
    return " ".join(re.split(r"[_\-\s]+", name)).strip()[:200]


def document_lines(document: Document) -> Iterator[str]:
    """Yield a document as lines of N-Triples."""
    node = f"<{document.iri}>"
    yield f"{node} {_ENTITY}"
    yield f"{node} <{_DCTERMS}title> {verbatim(document.title)} .\n"
    yield f"{node} <{_DCTERMS}source> {verbatim(document.source)} .\n"
    yield f'{node} <{_DCTERMS}identifier> "{document.digest}" .\n'


def passage_lines(snippet: Snippet) -> Iterator[str]:
    """Yield a passage as lines of N-Triples."""
    node = f"<{snippet.iri}>"
    yield f"{node} {TYPE} <{MRAG}Passage> .\n"
    yield f"{node} {_ENTITY}"
    yield f"{node} <{_PROV}value> {verbatim(snippet.text)} .\n"
    yield f'{node} <{MRAG}startOffset> "{snippet.start}"{INTEGER} .\n'
    yield f'{node} <{MRAG}endOffset> "{snippet.end}"{INTEGER} .\n'
    yield f"{node} <{_DCTERMS}isPartOf> <{snippet.document.iri}> .\n"


def verbatim(value: str) -> str:
    """Print a text as a literal that indexes of words leave out."""
    return f"{text(value)}^^<{MRAG}verbatim>"


def _pieces(said: str, start: int, end: int, cutting: Cutting) -> Iterator[tuple[int, int]]:
    """Cut a paragraph that is too long behind sentences, and a sentence that is too long at its spaces."""
    sentences: list[tuple[int, int]] = []
    for first, last in sentence_spans(said, start, end):
        while last - first > cutting.most:
            space = said.rfind(" ", first + 1, first + cutting.most)
            stop = space if space > first else first + cutting.most
            sentences.append((first, stop))
            first = trim(said, stop, last)[0]
        sentences.append((first, last))
    at = 0
    while at < len(sentences):
        upto = at + 1
        while upto < len(sentences) and sentences[upto][1] - sentences[at][0] <= cutting.most:
            upto += 1
        yield sentences[at][0], sentences[upto - 1][1]
        again = cutting.overlap and upto < len(sentences) and upto - at > 1
        fits = again and sentences[upto][1] - sentences[upto - 1][0] <= cutting.most
        at = upto - 1 if fits else upto
