"""Published knowledge bases and their learning problems, found in folders and opened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mrag.cel.configurations import read_configuration
from mrag.cel.problem import LearningProblem
from mrag.cel.problem_files import read_problems
from mrag.errors import LoadError, MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.reasoning.run import reason
from mrag.storage.files import Scratch
from mrag.stores.oxigraph import OxigraphStore

_ONTOLOGIES = (".owl", ".rdf", ".ttl", ".nt", ".kb", ".ofn", ".fss", ".owx")
_ROOT = re.compile(
    rb"\A\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>|\s+)*<([\w:]+)", re.DOTALL
)


@dataclass(frozen=True)
class ProblemSet:
    """Learning problems over one knowledge base.

    Attributes:
        name: Folder and file of the problems.
        ontologies: The knowledge base's files.
        problems: The problems by name.
        ignored: Settings of a configuration that say nothing here, by component or name.
    """

    name: str
    ontologies: tuple[Path, ...]
    problems: Mapping[str, LearningProblem]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnreadFile:
    """A file of a benchmark that cannot be used, and why."""

    path: Path
    reason: str


def find_problems(path: str | Path, folder: str | Path = ".") -> tuple[list[ProblemSet], list[UnreadFile]]:
    """Find the learning problems of a benchmark.

    Args:
        path: A folder, a `.json` or `.conf` file, or the name of a folder somewhere below `folder`, in any
            case, such as `family`.
        folder: Where names are looked up.

    Returns:
        The problem sets in order of path, and the files that cannot be used.

    Raises:
        LoadError: If there is nothing of that name.
    """
    given = Path(path)
    if given.is_file():
        files = [given]
    else:
        roots = [given] if given.is_dir() else _named(str(path), Path(folder))
        if not roots:
            raise LoadError(
                "There is no such folder, nor one of that name below.",
                file=str(path),
                hint="Say with --data where the benchmarks are.",
            )
        files = [f for root in roots for f in _sources(root)]
    sets: list[ProblemSet] = []
    unread: list[UnreadFile] = []
    for file in files:
        try:
            sets.append(_configured(file) if file.suffix == ".conf" else _listed(file))
        except MragError as error:
            unread.append(UnreadFile(file, error.message))
    return sets, unread


def open_knowledge_base(*paths: Path) -> KnowledgeGraph:
    """Load the files of a knowledge base into memory and reason over it; contradictions in it are let be.

    Args:
        *paths: RDF/XML, Turtle or N-Triples, other notations of OWL, knowledge bases of DL-Learner, and
            configurations of it that have statements of their own. RDF/XML that only a full XML parser
            understands (other encodings than UTF-8, entities in single quotes) is read by rdflib's.

    Raises:
        LoadError: If one cannot be read, such as OWL/XML where the extra `owl` is not installed.
    """
    kg = KnowledgeGraph(OxigraphStore())
    try:
        for path in paths:
            _load(kg, path)
        reason(kg, on_inconsistency="report")
    except BaseException:
        kg.close()
        raise
    return kg


def _load(kg: KnowledgeGraph, path: Path) -> None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LoadError("This file cannot be read.", file=str(path)) from error
    if path.suffix == ".conf":
        _load_statements(kg, read_configuration(path).statements)
        return
    root = _ROOT.match(content)
    try:
        kg.load([path])
    except LoadError:
        if not root or root[1].rpartition(b":")[2] != b"RDF":
            raise
        _load_by_rdflib(kg, path)


def _load_statements(kg: KnowledgeGraph, ntriples: bytes) -> None:
    with Scratch("ontology") as made:
        file = made / "statements.nt"
        file.write_bytes(ntriples)
        kg.load([file])


def _load_by_rdflib(kg: KnowledgeGraph, path: Path) -> None:
    from xml.sax import SAXException

    from rdflib import Graph

    try:
        graph = Graph().parse(path, format="xml")
    except (SAXException, ValueError, LookupError) as error:
        raise LoadError(f"Not valid RDF/XML: {error}.", file=str(path)) from error
    _load_statements(kg, graph.serialize(format="nt", encoding="utf-8"))


def _named(name: str, folder: Path) -> list[Path]:
    found = [p for p in sorted(folder.rglob("*")) if p.is_dir() and p.name.casefold() == name.casefold()]
    return [p for p in found if not any(q in p.parents for q in found)]


def _sources(root: Path) -> list[Path]:
    files = [p for p in root.rglob("*") if p.suffix in (".json", ".conf") and p.is_file()]
    folders = {p.parent.parent for p in root.rglob("pos.txt")}
    return sorted({*files, *folders})


def _title(file: Path) -> str:
    if file.is_dir():
        # SML-Bench: base/lp/problem/pos.txt beside base/data.
        return file.resolve().parent.name
    return f"{file.resolve().parent.name}/{file.stem}"


def _listed(file: Path) -> ProblemSet:
    folder = file.parent / "data" if file.is_dir() else file.parent
    ontology = _only([p for p in folder.glob("*") if p.suffix in _ONTOLOGIES])
    problems = read_problems(file)
    if not problems:
        raise LoadError("No problem has both positive and negative examples.")
    return ProblemSet(_title(file), (ontology,), problems)


def _configured(file: Path) -> ProblemSet:
    found = read_configuration(file)
    if not found.sources:
        raise LoadError("It names no knowledge base.")
    for source in found.sources:
        if source.suffix not in (*_ONTOLOGIES, ".conf"):
            kind = source.suffix or "this"
            raise LoadError(f"Knowledge bases in {kind} format are not read ({source.name}).")
        if not source.is_file():
            raise LoadError(f"Its knowledge base {source.name} is not there.")
    if any(p.only or p.defined for p in found.problems.values()):
        with open_knowledge_base(*found.sources) as kg:
            return ProblemSet(_title(file), found.sources, read_problems(file, kg), found.ignored)
    return ProblemSet(_title(file), found.sources, read_problems(file), found.ignored)


def _only(found: list[Path]) -> Path:
    if len(found) != 1:
        raise LoadError(f"There are {len(found)} knowledge bases beside it, not one.")
    return found[0]
