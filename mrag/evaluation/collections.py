"""Test collections: documents, queries and judgements, in the folders of BEIR and TREC.

BEIR: `corpus.jsonl` with `_id`, `title`, `text`; `queries.jsonl` with `_id`, `text`; `qrels/NAME.tsv`.
TREC: one file of topics, one of judgements, and files of documents in `<doc>` elements; which is which is
told by their content. A collection without documents is for the entities of a knowledge graph.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mrag.errors import ConfigError, LoadError
from mrag.evaluation.runs import Qrels, read_qrels
from mrag.text.possessive import compiled

_NUMBER = re.compile(r"<num>\s*+(?:Number:\s*+)?([^\s<]++)(?=[^\S\n]*+[\n<])", re.I)
_TAG = re.compile(r"<[^<>]*>")
_HEAD = 4096


def _between(name: str) -> re.Pattern[str]:
    """Return what matches an element of this name, in which there is no other of it."""
    return compiled(rf"<{name}>([^<]*+(?:<(?!/?{name}>)[^<]*+)*+)</{name}>", re.I)


_DOC, _DOCNO, _TOP = _between("doc"), _between("docno"), _between("top")


@dataclass(frozen=True)
class Collection:
    """Queries with judgements, and the documents to be found.

    Args:
        name: What to call it.
        queries: Query ID to its words.
        qrels: The judgements.
        documents: Document ID to its text; empty where the documents are those of a knowledge graph.
        notes: What was assumed while reading.
    """

    name: str
    queries: Mapping[str, str]
    qrels: Qrels
    documents: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_collection(
    folder: Path, *, split: str | None = None, queries: Path | None = None, qrels: Path | None = None
) -> Collection:
    """Read a folder in BEIR's or TREC's form.

    Args:
        folder: The folder.
        split: Which `qrels/NAME.tsv` to take; `test`, or the only one there is, if left out.
        queries: A file of queries in the place of the folder's.
        qrels: A file of judgements in the place of the folder's.

    Raises:
        LoadError: If a file is missing or not well formed.
        ConfigError: If the folder does not tell which file to take.
    """
    if not folder.is_dir():
        raise LoadError("There is no such folder.", file=str(folder))
    beir = (folder / "queries.jsonl").exists()
    found = {} if beir else _trec_files(folder)
    queries = queries or (folder / "queries.jsonl" if beir else _only(folder, "queries", found))
    qrels = qrels or (_split(folder, split) if beir else _only(folder, "judgements", found))
    corpus = [folder / "corpus.jsonl"] if beir else found["documents"]
    asked, judgements = read_queries(queries), read_qrels(qrels)
    notes: list[str] = []
    if not set(judgements) <= set(asked):
        numbers = [str(i) for i in range(1, len(asked) + 1)]
        if beir or not set(judgements) <= set(numbers):
            missing = sorted(set(judgements) - set(asked))
            raise ConfigError(
                f"{len(missing)} judged queries are not in {queries.name}, such as {missing[0]}.",
                file=str(qrels),
            )
        # Cranfield's judgements count the topics in order, and its topics have other numbers.
        asked = dict(zip(numbers, asked.values(), strict=True))
        notes.append(
            "The judgements number the topics in their order; the topics' own numbers are passed over."
        )
    documents = {doc: text for path in corpus if path.exists() for doc, text in read_documents(path)}
    unjudged = len(set(asked) - set(judgements))
    if unjudged:
        notes.append(f"{unjudged} of {len(asked)} queries have no judgements and are left out.")
    return Collection(folder.resolve().name, asked, judgements, documents, tuple(notes))


def read_queries(path: Path) -> dict[str, str]:
    """Read queries: JSON lines with `_id` and `text`, TREC topics, or lines of ID, tab and words.

    Raises:
        LoadError: If the file is missing or not well formed, or a query has no words or comes twice.
    """
    text = _text(path)
    if path.suffix == ".jsonl":
        pairs = [(number, str(record["_id"]), str(record["text"])) for number, record in _records(path, text)]
    elif "<top>" in text.lower():
        pairs = [(0, *topic) for topic in _topics(path, text)]
    else:
        pairs = []
        for number, line in enumerate(text.splitlines(), 1):
            query, tab, words = line.partition("\t")
            if line.strip() and not tab:
                raise LoadError("A line of queries is an ID, a tab and words.", file=str(path), line=number)
            if line.strip():
                pairs.append((number, query.strip(), words))
    found: dict[str, str] = {}
    for number, query, words in pairs:
        if not words.strip() or query in found:
            what = "comes twice" if query in found else "has no words"
            raise LoadError(f"Query {query} {what}.", file=str(path), line=number or None)
        found[query] = " ".join(words.split())
    return found


def read_documents(path: Path) -> Iterator[tuple[str, str]]:
    """Read documents: JSON lines with `_id`, `title` and `text`, or TREC's `<doc>` elements.

    Of a `<doc>` the elements `title` and `text` count, or all of its words where it has neither.

    Raises:
        LoadError: If the file is missing or not well formed.
    """
    text = _text(path)
    if path.suffix == ".jsonl":
        for _, record in _records(path, text):
            parts = (str(record.get("title") or ""), str(record["text"]))
            yield str(record["_id"]), " ".join(" ".join(parts).split())
        return
    for match in _DOC.finditer(text):
        number = _element(match[1], "docno")
        if number is None or not number.split():
            raise LoadError("A document has no <docno>.", file=str(path), line=_line(text, match.start()))
        elements = [_element(match[1], name) for name in ("title", "text")]
        said = [element for element in elements if element is not None]
        rest = _DOCNO.sub(" ", match[1])
        words = html.unescape(_TAG.sub(" ", " ".join(said or [rest])))
        yield number.strip(), " ".join(words.split())


def _topics(path: Path, text: str) -> Iterator[tuple[str, str]]:
    for match in _TOP.finditer(text):
        number = _NUMBER.search(match[1])
        title = _element(match[1], "title")
        if title is None and "<title>" in match[1].lower():
            title = re.split(r"<title>", match[1], flags=re.I)[1].partition("<")[0]
        if number is None or title is None:
            line = _line(text, match.start())
            raise LoadError("A topic needs <num> and <title>.", file=str(path), line=line)
        yield number[1], html.unescape(_TAG.sub(" ", title)).strip().removeprefix("Topic:")


def _trec_files(folder: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {"queries": [], "judgements": [], "documents": []}
    plain = (p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    # A README shows examples of the very forms that are looked for.
    for path in sorted(p for p in plain if p.suffix != ".md" and not p.name.lower().startswith("readme")):
        with path.open("rb") as file:
            head = file.read(_HEAD).decode("utf-8", "replace").lower()
        first = next((line.split() for line in head.splitlines() if line.strip()), [])
        if "<doc>" in head:
            found["documents"].append(path)
        elif "<top>" in head or (path.suffix == ".tsv" and "\t" in head and "quer" in path.name.lower()):
            found["queries"].append(path)
        elif len(first) in (3, 4) and (first[-1].lstrip("-").isdigit() or first[-1] == "score"):
            found["judgements"].append(path)
    return found


def _only(folder: Path, what: str, found: Mapping[str, list[Path]]) -> Path:
    if len(found[what]) != 1:
        names = ", ".join(p.name for p in found[what]) or "none"
        option = "--queries" if what == "queries" else "--qrels"
        raise ConfigError(
            f"One file of {what} is needed; there are: {names}.",
            file=str(folder),
            hint=f"Name it with {option}.",
        )
    return found[what][0]


def _split(folder: Path, split: str | None) -> Path:
    names = sorted(p.stem for p in (folder / "qrels").glob("*.tsv"))
    chosen = split or ("test" if "test" in names or len(names) != 1 else names[0])
    if chosen not in names:
        raise ConfigError(
            f"There are no judgements {chosen!r}; there are: {', '.join(names) or 'none'}.",
            file=str(folder / "qrels"),
            hint="Choose with --split.",
        )
    return folder / "qrels" / f"{chosen}.tsv"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(f"The file cannot be read: {error}.", file=str(path)) from error


def _records(path: Path, text: str) -> Iterable[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            record["_id"], record["text"]
        except (ValueError, KeyError, TypeError) as error:
            message = "A line is a JSON object with _id and text."
            raise LoadError(message, file=str(path), line=number) from error
        yield number, record


def _element(text: str, name: str) -> str | None:
    found = _between(name).search(text)
    return found[1] if found else None


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
