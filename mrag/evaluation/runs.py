"""Runs, judgements and ranks of first hits, in memory and in the files of TREC and BEIR.

A run is what a ranker gave for each query; judgements (qrels) say which documents are relevant. In a run
file the scores decide: documents of one query are ordered by falling score, ties by document ID, whatever
the ranks in the file say, so that two readers of one file see one ranking. trec_eval keeps scores in binary32
and orders ties by falling document ID, so a file written here has no ties, even after that rounding.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mrag.errors import LoadError
from mrag.storage.files import saved_text

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
"""Query ID to document ID to grade; above 0 is relevant."""


class Scored(NamedTuple):
    """A document with its score."""

    doc: str
    score: float


@dataclass(frozen=True)
class Run:
    """What a ranker gave for each query, best first.

    Args:
        name: Of the ranker.
        hits: Query ID to its documents in order, each once.
    """

    name: str
    hits: Mapping[str, Sequence[Scored]]

    @classmethod
    def of_scores(cls, name: str, scores: Mapping[str, Mapping[str, float]]) -> Run:
        """Make a run of scores alone.

        Args:
            name: Of the ranker.
            scores: Query ID to document ID to score.

        Example:
            >>> [hit.doc for hit in Run.of_scores("x", {"1": {"b": 1.0, "c": 2.0, "a": 1.0}}).hits["1"]]
            ['c', 'a', 'b']
        """
        return cls(name, {query: ordered(found.items()) for query, found in scores.items()})

    @classmethod
    def of_order(cls, name: str, docs: Mapping[str, Iterable[str]]) -> Run:
        """Make a run of ordered documents; a document that comes again counts where it came first.

        Args:
            name: Of the ranker.
            docs: Query ID to documents, best first.
        """
        return cls(name, {query: by_rank(dict.fromkeys(found)) for query, found in docs.items()})

    def cut(self, k: int) -> Run:
        """Return the run with at most `k` documents a query."""
        return Run(self.name, {query: hits[:k] for query, hits in self.hits.items()})


@dataclass(frozen=True)
class FirstRanks:
    """The rank of the first relevant document of each query, counted from 1; None where none was found.

    From these alone follow the mean reciprocal rank and Hits@k, and nothing else.
    """

    name: str
    ranks: Mapping[str, int | None]


def ordered(scores: Iterable[tuple[str, float]]) -> tuple[Scored, ...]:
    """Order documents by falling score, ties by ID."""
    return tuple(Scored(d, s) for d, s in sorted(scores, key=lambda pair: (-pair[1], pair[0])))


def by_rank(docs: Iterable[str]) -> tuple[Scored, ...]:
    """Return documents scores that keep their order."""
    listed = list(docs)
    return tuple(Scored(doc, float(len(listed) - i)) for i, doc in enumerate(listed))


def falling(hits: Sequence[Scored]) -> tuple[Scored, ...]:
    """Return documents, best first, with scores that fall strictly also as binary32 numbers.

    Scores stay as they are where they do so already.

    Example:
        >>> tied = falling([Scored("a", 1.0), Scored("b", 1.0), Scored("c", 0.5)])
        >>> [hit.doc for hit in tied], tied[0].score > tied[1].score > tied[2].score
        (['a', 'b', 'c'], True)
    """
    lowest = np.float32(-np.inf)
    before, kept = np.float32(np.inf), list[Scored]()
    for doc, score in hits:
        # Beyond binary32 all is infinite, and so equal.
        with np.errstate(over="ignore"):
            read = np.float32(score)
            if read >= before or not np.isfinite(read):
                read = np.nextafter(min(before, read), lowest)
                score = float(read)
        if not np.isfinite(read):
            return by_rank(hit.doc for hit in hits)
        before = read
        kept.append(Scored(doc, score))
    return tuple(kept)


def read_run(path: Path, name: str | None = None) -> Run:
    """Read a run in TREC's form, `query Q0 document rank score tag`.

    Args:
        path: The file.
        name: What to call the run; its tag, or else the file's name, if left out.

    Raises:
        LoadError: If the file is missing, a line is not of that form, a score is not a number, or a
            document comes twice for one query.
    """
    scores: dict[str, dict[str, float]] = {}
    tags: dict[str, None] = {}
    for number, fields in _rows(path):
        if len(fields) != 6:
            raise _bad(path, number, f"a run has 6 columns, not {len(fields)}")
        query, _, doc, _, score, tag = fields
        found = scores.setdefault(query, {})
        if doc in found:
            raise _bad(path, number, f"{doc} comes twice for query {query}")
        found[doc] = _number(path, number, score)
        tags[tag] = None
    only = next(iter(tags)) if len(tags) == 1 else path.stem
    return Run.of_scores(name or only, scores)


def write_run(run: Run, path: Path) -> None:
    """Write a run in TREC's form, queries in order of ID, the scores of each strictly falling.

    A score that would tie with the one before is written a little lower: the next number of binary32, in
    which trec_eval reads them. Where a ranker's order is not that of its scores, or no such numbers are
    left, ranks are written in the place of the scores.

    Raises:
        LoadError: If an ID is empty or holds blanks, which the form cannot hold.
    """
    lines = []
    for query, hits in sorted(run.hits.items()):
        kept = falling(hits) if tuple(hits) == ordered(hits) else by_rank(hit.doc for hit in hits)
        for rank, (doc, score) in enumerate(kept, 1):
            _writable(path, query, doc)
            lines.append(f"{query} Q0 {doc} {rank} {score!r} {'_'.join(run.name.split()) or 'run'}\n")
    saved_text(path, "".join(lines))


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Read judgements, `query 0 document grade` (TREC) or `query document grade` (BEIR, with a heading).

    Raises:
        LoadError: If the file is missing, a line has another form, or a document is judged twice
            otherwise for one query.
    """
    found: dict[str, dict[str, int]] = {}
    for number, fields in _rows(path):
        if number == 1 and fields[-1] == "score":
            continue
        if len(fields) not in (3, 4):
            raise _bad(path, number, f"judgements have 3 or 4 columns, not {len(fields)}")
        query, doc, grade = fields[0], fields[-2], _number(path, number, fields[-1])
        if grade != int(grade):
            raise _bad(path, number, f"a grade is a whole number, not {fields[-1]}")
        if found.setdefault(query, {}).setdefault(doc, int(grade)) != int(grade):
            raise _bad(path, number, f"{doc} has two grades for query {query}")
    return found


def write_qrels(qrels: Qrels, path: Path) -> None:
    """Write judgements in BEIR's form, in order of the IDs.

    Raises:
        LoadError: If an ID is empty or holds blanks, which the form cannot hold.
    """
    lines = ["query-id\tcorpus-id\tscore\n"]
    for query, grades in sorted(qrels.items()):
        for doc, grade in sorted(grades.items()):
            _writable(path, query, doc)
            lines.append(f"{query}\t{doc}\t{grade}\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    saved_text(path, "".join(lines))


def read_ranks(path: Path, name: str | None = None, *, first: int = 0) -> FirstRanks:
    """Read the ranks of first relevant documents: a JSON object of query to rank.

    This is the form of the files published with the thesis, which count from 0 and put the number of
    all images where nothing was found.

    Args:
        path: The file.
        name: What to call the system; the file's name if left out.
        first: What the best rank is called in the file, 0 or 1.

    Raises:
        LoadError: If the file is missing or is not such an object.
    """
    try:
        given: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise LoadError(f"Not a file of ranks: {error}.", file=str(path)) from error
    if not isinstance(given, dict) or not given:
        raise LoadError("A file of ranks is a JSON object of query to rank.", file=str(path))
    for query, rank in given.items():
        if rank is not None and (not isinstance(rank, int) or isinstance(rank, bool) or rank < first):
            hint = f"Ranks are whole numbers from {first}, or null; say with `first` how they are counted."
            raise LoadError(f"{rank!r} is not a rank.", file=str(path), term=str(query), hint=hint)
    ranks = {query: None if rank is None else rank - first + 1 for query, rank in given.items()}
    return FirstRanks(name or path.stem, ranks)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if fields := line.split():
                    yield number, fields
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(f"The file cannot be read: {error}.", file=str(path)) from error


def _number(path: Path, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _bad(path, line, f"{text!r} is not a number")
    return value


def _bad(path: Path, line: int, what: str) -> LoadError:
    return LoadError(f"The file is not well formed: {what}.", file=str(path), line=line)


def _writable(path: Path, *ids: str) -> None:
    for name in ids:
        if name.split() != [name]:
            raise LoadError(
                f"{name!r} cannot stand in this file.", file=str(path), hint="Blanks separate columns."
            )
