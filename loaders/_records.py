"""What the loaders of records share: bad records counted or stopped at, and N-Triples written."""

from __future__ import annotations

import codecs
import gzip
import json
import math
import os
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeGuard
from urllib.parse import quote

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError
from mrag.loaders.checks import end_of
from mrag.loaders.rdf import Progress, Source
from mrag.rdf.namespaces import OWL, RDF, RDFS, XSD
from mrag.storage.files import Scratch

SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = re.compile(r"[ \t\n\r]*")
_CHUNK = 1 << 20
_NUMBER = 4  # Characters that tell whether a number goes on
_LARGEST = 256 << 20  # Characters of one record after which a file is taken for broken


class BrokenJson(LoadError):
    """The text ended, or broke, before the JSON did."""


class JsonStream:
    """JSON text that comes piece by piece.

    Args:
        read: Returns the next bytes, as many as asked for or more if there are so many; none at the end.
        broken: Makes the error for JSON that is not well formed.
        strict: Whether control characters in texts are refused.
    """

    def __init__(
        self, read: Callable[[int], bytes], broken: Callable[[str], Exception], *, strict: bool = True
    ) -> None:
        self._read, self.broken = read, broken
        self._decode = json.JSONDecoder(strict=strict).raw_decode
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer = ""
        self._at = 0
        self._ended = False

    def items(self) -> Iterator[Any]:
        """Yield the members of an array."""
        return self._members("[", "]")

    def _members(self, begin: str, end: str) -> Iterator[Any]:
        """Yield the values between two brackets; of an object the keys, whose values are read in between."""
        self.expect(begin)
        if self.peek() != end:
            yield self.value()
            while self.peek() != end:
                self.expect(",")
                yield self.value()
        self.expect(end)

    def blank(self) -> bool:
        """Return whether nothing but blanks follows."""
        while True:
            self._at = end_of(_BLANK, self._buffer, self._at)
            if self._at < len(self._buffer):
                return False
            if self._ended:
                return True
            self._more()

    def peek(self) -> str:
        """Return the next character that is not blank."""
        if self.blank():
            raise self.broken("it ends early")
        return self._buffer[self._at]

    def expect(self, mark: str) -> None:
        """Read over a character that must come next."""
        if not self.accept(mark):
            raise self.broken(f"{mark!r} was expected where {self.peek()!r} stands")

    def accept(self, mark: str) -> bool:
        """Read over a character if it comes next, and return whether it did."""
        there = self.peek() == mark
        self._at += there
        return there

    def value(self) -> Any:
        """Read a value whole."""
        self.peek()
        while True:
            try:
                value, end = self._decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                # What the end of the buffer cuts off shows near that end, or as a text without one.
                cut = error.msg.startswith("Unterminated") or error.pos > len(self._buffer) - 16
                if not cut or len(self._buffer) - self._at > _LARGEST:
                    raise self.broken(error.msg[:1].lower() + error.msg[1:]) from error
                if self._ended:
                    raise self.broken("it ends early") from error
                self._more()
                continue
            except (ValueError, RecursionError) as error:
                raise self.broken("a number is too long or the nesting too deep") from error
            # A number may go on in the next piece, and `1.` and `1e+` are its beginnings, too.
            rest = self._buffer[end : end + _NUMBER]
            cut = not rest or (rest[0] in ".eE" and len(rest) < _NUMBER)
            if self._ended or self._buffer[end - 1] in '"}]el' or not cut:
                self._at = end
                return value
            self._more()

    def _more(self) -> None:
        # Twice as much each time, so that one very long record is not scanned over and over.
        data = self._read(len(self._buffer) - self._at)
        try:
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise self.broken("the text is not UTF-8") from error
        self._ended = not data
        self._buffer, self._at = self._buffer[self._at :] + text, 0


class JsonText(JsonStream):
    """A file of JSON that is read piece by piece, gzipped or not."""

    def __init__(self, path: str | os.PathLike[str], on_progress: Progress | None = None) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise LoadError("There is no such file.", file=str(self.path), hint="Check the path.")
        source = Source(self.path, ox.RdfFormat.JSON_LD, self.path.suffix.lower() == ".gz", "")
        total = source.size()
        self._stream = source.open((lambda done: on_progress(done, total)) if on_progress else None)
        self._where = "at the beginning"
        super().__init__(self._piece, self._error)

    def __enter__(self) -> JsonText:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stream.close()

    def fields(self) -> Iterator[str]:
        """Yield the keys of an object, each to be followed by a read of its value."""
        for key in self._members("{", "}"):
            if not isinstance(key, str):
                raise self.broken(f"{key!r} stands where a key should")
            self.expect(":")
            self._where = f"in {key!r}"
            yield key

    def records(self) -> Iterator[Any]:
        """Yield the records of a file that is an array, or that has one to a line (JSON Lines)."""
        if self.blank():
            return
        if self.peek() == "[":
            yield from self.items()
            if not self.blank():
                raise self.broken("something follows the array")
            return
        while not self.blank():
            yield self.value()

    def skip(self) -> None:
        """Read over a value."""
        if self.peek() == "[":
            for _ in self.items():
                pass
        else:
            self.value()

    def _error(self, what: str) -> BrokenJson:
        return BrokenJson(
            f"Not valid JSON {self._where}: {what}.",
            file=str(self.path),
            hint="Fetch the file again, or keep what comes before with --skip-bad.",
        )

    def _piece(self, wanted: int) -> bytes:
        try:
            return self._stream.read(max(_CHUNK, wanted))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise self.broken("it ends early or is not gzip") from error
        except OSError as error:
            raise LoadError(f"The file cannot be read: {error}.", file=str(self.path)) from error


OnBad = Literal["stop", "skip"]  # What to do at a bad record: raise `LoadError`, or leave it out and count it

TYPE = f"<{RDF}type>"
LABEL = f"<{RDFS}label>"
INDIVIDUAL = f"{TYPE} <{OWL}NamedIndividual> .\n"
INTEGER = f"^^<{XSD}integer>"
_EXAMPLES = 10
_BATCH = 5000


@dataclass(frozen=True)
class Problem:
    """Something of a source that was left out."""

    kind: str
    where: str
    what: str


@dataclass
class RecordReport:
    """What a loader read and what it left out.

    Attributes:
        counts: Records read by kind, such as `images`.
        triples: Statements of the data, without the ontology; one that comes twice counts twice.
        problems: What was left out, counted by kind.
        examples: The first problems of each kind.
    """

    counts: dict[str, int] = field(default_factory=dict)
    triples: int = 0
    problems: dict[str, int] = field(default_factory=dict)
    examples: list[Problem] = field(default_factory=list)

    def count(self, kind: str, more: int = 1) -> None:
        """Count records."""
        self.counts[kind] = self.counts.get(kind, 0) + more

    def note(self, problem: Problem) -> None:
        """Count a problem, and keep it if it is among the first of its kind."""
        known = self.problems.get(problem.kind, 0)
        self.problems[problem.kind] = known + 1
        if known < _EXAMPLES:
            self.examples.append(problem)


class Records(ABC):
    """A file of records, gzipped or not, that becomes RDF, one pass at a time.

    Args:
        path: The file.
        on_bad: `stop` at the first bad record, or `skip` it and count it.
        on_progress: Called with the bytes read and the bytes in all.

    Attributes:
        name: The source, as errors call it.
        report: What the last pass read and left out.

    Raises:
        LoadError: If there is no such file.
        ConfigError: If `on_bad` is neither.
    """

    ontology: str = ""
    """File of `ontology/` that is loaded with the data."""

    def __init__(
        self, path: str | os.PathLike[str], *, on_bad: OnBad = "stop", on_progress: Progress | None = None
    ) -> None:
        if on_bad not in ("stop", "skip"):
            raise ConfigError(f"on_bad is stop or skip, not {on_bad!r}.")
        self.path = Path(path)
        self.name = str(path)
        if not self.path.is_file():
            raise LoadError("There is no such file.", file=self.name, hint="Check the path.")
        self.on_bad: OnBad = on_bad
        self.on_progress = on_progress
        self.report = RecordReport()

    @abstractmethod
    def statements(self) -> Iterator[str]:
        """Yield the data as lines of N-Triples, without the ontology; what a bad record has is left out."""

    def lines(self) -> Iterator[str]:
        """Yield ontology and data as lines of N-Triples."""
        self.report = RecordReport()
        yield from schema_lines(self.ontology)
        for line in self.statements():
            self.report.triples += 1
            yield line

    def triples(self) -> Iterator[ox.Triple]:
        """Yield ontology and data as triples, lazily."""
        lines = self.lines()
        while batch := list(islice(lines, _BATCH)):
            for quad in ox.parse("".join(batch), ox.RdfFormat.N_TRIPLES):
                yield quad.triple

    def write(self, path: str | os.PathLike[str]) -> RecordReport:
        """Write ontology and data as N-Triples."""
        try:
            with Path(path).open("w", encoding="utf-8", newline="\n", buffering=1 << 20) as out:
                out.writelines(self.lines())
        except OSError as error:
            raise LoadError(f"The triples could not be written: {error}.", file=str(path)) from error
        return self.report

    @contextmanager
    def ntriples(self) -> Iterator[Path]:
        """Write the triples to a temporary file, for `KnowledgeGraph.load`, and remove it afterwards."""
        with Scratch("records") as folder:
            # Named like the source, so that what is said of an interrupted load makes sense.
            path = folder / (self.path.name.removesuffix(".gz") + ".nt")
            self.write(path)
            yield path

    def bad(self, kind: str, where: str, what: str, hint: str = "", *, line: int | None = None) -> None:
        """Stop at a bad record, or count it."""
        if self.on_bad == "stop":
            rest = "Nothing of this load was stored. Mend it, or leave such records out with --skip-bad."
            what = f"{kind[:1].upper()}{kind[1:]}, {where}: {what}."
            raise LoadError(what, file=self.name, line=line, hint=f"{hint} {rest}" if hint else rest)
        self.report.note(Problem(kind, where, what))

    def broken(self, error: LoadError) -> None:
        """Stop at JSON that breaks off, or count it."""
        if self.on_bad == "stop":
            raise error
        self.report.note(Problem("broken JSON", "the file", error.message.rstrip(".")))

    def list_field(self, where: str, row: Mapping[str, Any], name: str) -> list[Any]:
        """Return a field of a record that is a list; one that is not is bad, and read as none."""
        value = row.get(name)
        if value is not None and not isinstance(value, list):
            self.bad("wrong value", where, f"{name} is not a list")
            return []
        return value or []


def schema_lines(name: str) -> Iterator[str]:
    """Yield an ontology of the package as lines of N-Triples, blank nodes as IRIs."""
    if name:
        with as_file(files("mrag") / "ontology" / name) as path:
            for quad in Source.of(path).quads():
                yield f"{quad.subject} {quad.predicate} {quad.object} .\n"


def text(value: Any, language: str | None = None) -> str:
    """Print a literal; whatever it holds, it is text."""
    cleaned = str(value)
    if SURROGATE.search(cleaned):
        # Half a surrogate pair, which JSON can write and UTF-8 cannot.
        cleaned = SURROGATE.sub("\ufffd", cleaned)
    return str(ox.Literal(cleaned, language=language) if language else ox.Literal(cleaned))


def part(value: Any) -> str:
    """Return a value as a part of an IRI: blanks as `_`, all but letters, digits and `-._~` encoded."""
    return quote(SURROGATE.sub("\ufffd", "_".join(str(value).split())), safe="")


def whole(value: Any) -> TypeGuard[int]:
    """Return whether a value is a whole number; true and false are not."""
    return type(value) is int


def finite(value: Any) -> TypeGuard[int | float]:
    """Return whether a value is a number, and neither infinite nor what is not a number."""
    return (type(value) is int and abs(value) < 1 << 63) or (type(value) is float and math.isfinite(value))
