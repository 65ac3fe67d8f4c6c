"""What the loaders of records share: bad records counted or stopped at, and N-Triples written."""

from __future__ import annotations

import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeGuard
from urllib.parse import quote

import pyoxigraph as ox

from mrag.errors import ConfigError, LoadError
from mrag.loaders.rdf import Progress, Source
from mrag.rdf.namespaces import OWL, RDF, RDFS, XSD
from mrag.storage.files import Scratch

OnBad = Literal["stop", "skip"]
"""What to do at a bad record: raise `LoadError`, or leave it out and count it."""

TYPE = f"<{RDF}type>"
LABEL = f"<{RDFS}label>"
INDIVIDUAL = f"{TYPE} <{OWL}NamedIndividual> .\n"
INTEGER = f"^^<{XSD}integer>"
_EXAMPLES = 10
_BATCH = 5000


@dataclass(frozen=True)
class Problem:
    """Something of a source that was left out.

    Attributes:
        kind: What is wrong, such as `unknown category`.
        where: The record concerned.
        what: What is wrong with it, in words.
    """

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
    """A file of records that becomes RDF, one pass at a time.

    Args:
        path: The file, gzipped or not.
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
        self,
        path: str | os.PathLike[str],
        *,
        on_bad: OnBad = "stop",
        on_progress: Progress | None = None,
    ) -> None:
        if on_bad not in ("stop", "skip"):
            raise ConfigError(f"on_bad is stop or skip, not {on_bad!r}.")
        self.path = Path(path)
        self.name = str(path)
        self.find()
        self.on_bad: OnBad = on_bad
        self.on_progress = on_progress
        self.report = RecordReport()

    def find(self) -> None:
        """Check that the source is there.

        Raises:
            LoadError: If it is not.
        """
        if not self.path.is_file():
            raise LoadError("There is no such file.", file=self.name, hint="Check the path.")

    @abstractmethod
    def statements(self) -> Iterator[str]:
        """Yield the data as lines of N-Triples, without the ontology; what a bad record has is left out."""

    def lines(self) -> Iterator[str]:
        """Yield ontology and data as lines of N-Triples.

        Raises:
            LoadError: At the first bad record, unless bad records are skipped.
        """
        self.report = RecordReport()
        yield from schema_lines(self.ontology)
        for line in self.statements():
            self.report.triples += 1
            yield line

    def triples(self) -> Iterator[ox.Triple]:
        """Yield ontology and data as triples, lazily.

        Raises:
            LoadError: At the first bad record, unless bad records are skipped.
        """
        lines = self.lines()
        while batch := list(islice(lines, _BATCH)):
            for quad in ox.parse("".join(batch), ox.RdfFormat.N_TRIPLES):
                yield quad.triple

    def write(self, path: str | os.PathLike[str]) -> RecordReport:
        """Write ontology and data as N-Triples.

        Raises:
            LoadError: At the first bad record, unless bad records are skipped; or if the disk is full.
        """
        try:
            with Path(path).open("w", encoding="utf-8", newline="\n", buffering=1 << 20) as out:
                out.writelines(self.lines())
        except OSError as error:
            raise LoadError(f"The triples could not be written: {error}.", file=str(path)) from error
        return self.report

    @contextmanager
    def ntriples(self) -> Iterator[Path]:
        """Write the triples to a temporary file, for `KnowledgeGraph.load`, and remove it afterwards.

        It is about as large as the source; the variable TMPDIR says where it goes.
        """
        with Scratch("records") as folder:
            # Named like the source, so that what is said of an interrupted load makes sense.
            path = folder / (self.path.name.removesuffix(".gz") + ".nt")
            self.write(path)
            yield path

    def bad(self, kind: str, where: str, what: str, hint: str = "", *, line: int | None = None) -> None:
        """Stop at a bad record, or count it.

        Args:
            kind: What is wrong, by which it is counted.
            where: The record concerned.
            what: What is wrong with it, in words.
            hint: What helps to mend it.
            line: Where it is in the file, if that is known.

        Raises:
            LoadError: If bad records are not skipped.
        """
        if self.on_bad == "stop":
            rest = "Nothing of this load was stored. Mend it, or leave such records out with --skip-bad."
            raise LoadError(
                f"{kind[:1].upper()}{kind[1:]}, {where}: {what}.",
                file=self.name,
                line=line,
                hint=f"{hint} {rest}" if hint else rest,
            )
        self.report.note(Problem(kind, where, what))

    def broken(self, error: LoadError) -> None:
        """Stop at JSON that breaks off, or count it.

        Raises:
            LoadError: As it is, unless `on_bad` is "skip".
        """
        if self.on_bad == "stop":
            raise error
        self.report.note(Problem("broken JSON", "the file", error.message.rstrip(".")))

    def listed(self, where: str, row: Mapping[str, Any], name: str) -> list[Any]:
        """Return a field of a record that is a list; one that is not is bad, and read as none."""
        value = row.get(name)
        if value is not None and not isinstance(value, list):
            self.bad("wrong value", where, f"{name} is not a list")
            return []
        return value or []


def schema_lines(name: str) -> Iterator[str]:
    """Yield an ontology of the package as lines of N-Triples, blank nodes as IRIs.

    Args:
        name: A file of `ontology/`; none when empty.
    """
    if name:
        with as_file(files("mrag") / "ontology" / name) as path:
            for quad in Source.of(path).quads():
                yield f"{quad.subject} {quad.predicate} {quad.object} .\n"


def text(value: Any, language: str | None = None) -> str:
    r"""Print a literal; whatever it holds, it is text.

    Example:
        >>> print(text('a "b" \n <c>'))
        "a \"b\" \n <c>"
    """
    cleaned = str(value)
    if _SURROGATE.search(cleaned):
        # Half a surrogate pair, which JSON can write and UTF-8 cannot.
        cleaned = _SURROGATE.sub("\ufffd", cleaned)
    return str(ox.Literal(cleaned, language=language) if language else ox.Literal(cleaned))


def part(value: Any) -> str:
    """Return a value as a part of an IRI: blanks as `_`, all but letters, digits and `-._~` encoded.

    Example:
        >>> part("top, t-shirt")
        'top%2C_t-shirt'
    """
    return quote(_SURROGATE.sub("\ufffd", "_".join(str(value).split())), safe="")


def whole(value: Any) -> TypeGuard[int]:
    """Return whether a value is a whole number; true and false are not."""
    return type(value) is int


def finite(value: Any) -> TypeGuard[int | float]:
    """Return whether a value is a number, and neither infinite nor what is not a number."""
    return (type(value) is int and abs(value) < 1 << 63) or (type(value) is float and math.isfinite(value))


_SURROGATE = re.compile("[\ud800-\udfff]")
