"""Checks of this system and of a graph."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import mrag
from mrag import generation, index, rdf, reasoning, stores
from mrag import graph as graphs
from mrag.config import Settings
from mrag.errors import MragError, QueryTimeout
from mrag.language.grammar import join

if TYPE_CHECKING:
    from rdflib.term import Node

    from mrag.reasoning.rounds import ClashGroup

_CAP = 1 << 30
_OTHER = (
    "queries still pass the read gate, but on this system the process that runs them could reach the network"
)
_NAMESPACE = "Let processes have user namespaces (in Docker: --security-opt seccomp=unconfined)"
_SECCOMP = "Run on a kernel with seccomp filters (CONFIG_SECCOMP_FILTER), on x86-64 or ARM64"
_LONGEST = 120  # Characters of a term in an example; descriptions are texts of pages


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    what: str
    ok: bool | None
    found: str
    hint: str = ""


def run_checks(what: str, look: Callable[[], Iterator[CheckResult]]) -> list[CheckResult]:
    """Return the results of some checks; an error is the result of the one that it ended."""
    try:
        return list(look())
    except MragError as error:
        return [CheckResult(what, False, error.message, error.hint or "")]


def packages() -> Iterator[CheckResult]:
    """Check Python and the packages that are optional."""
    yield CheckResult(
        "python", sys.version_info >= (3, 11), sys.version.split()[0], "Use Python 3.11 or newer."
    )
    for package, extra, what in (
        ("pyoxigraph", None, "embedded store"),
        ("onnxruntime", None, "embedding model"),
        ("langchain-ollama", None, "Ollama client"),
        ("wordllama", "static", "small embedding model"),
        ("xllamacpp", "local", "local language models"),
    ):
        try:
            yield CheckResult(what, True, f"{package} {version(package)}")
        except PackageNotFoundError:
            hint = f"pip install 'mrag[{extra}]'" if extra else "Install mrag again."
            yield CheckResult(what, None if extra else False, f"{package} is not installed", hint)


def query_process() -> Iterator[CheckResult]:
    """Start a query process over an empty store, and check its defences."""
    from mrag.stores.process.workers import request

    with stores.OxigraphStore() as store:
        store.workers.memory = _CAP
        worker = store.workers.take()
        try:
            held = worker.defences
            yield _network_defence("namespace", held.namespace, held.offline, _NAMESPACE)
            yield _network_defence("seccomp filter", held.seccomp, held.offline, _SECCOMP)
            yield CheckResult(
                "query memory limit",
                True if held.memory else None,
                f"{held.memory >> 20} MB were set and hold" if held.memory else "this system has none",
                "Watch the memory of queries by other means: processes cannot limit theirs here.",
            )
            asked = request(
                "rows", rdf.queries.get("explore/any").text, stores.Dataset(), mrag.Limits(1.0, 1, 1 << 20)
            )
            with suppress(QueryTimeout):
                worker.ask(asked, time.monotonic())
            killed = worker.ended
        finally:
            store.workers.discard(worker)
    yield CheckResult(
        "query deadline",
        killed,
        "a query's process is killed at its deadline"
        if killed
        else "a query's process outlived its deadline",
        "Do not let others query this system: their queries cannot be stopped.",
    )


def _network_defence(name: str, held: bool, offline: bool, hint: str) -> CheckResult:
    what = f"query network, {name}"
    if held:
        return CheckResult(what, True, "active: a query's process has no access to the network")
    if sys.platform != "linux":
        finding = "only on Linux"
        hint = f"Serve others from a Linux system or container; {_OTHER}."
    else:
        finding = "not allowed on this system"
        hint += "; the other defence is active." if offline else f"; {_OTHER}."
    # One of the two is enough, and a system that supports neither is not broken.
    return CheckResult(what, None if offline or sys.platform != "linux" else False, finding, hint)


def contents(graph: mrag.KnowledgeGraph) -> Iterator[CheckResult]:
    """Check a graph: its triples, what was inferred of them, what contradicts the ontology, its indexes."""
    record = graph.record
    if record.triples == 0:
        yield CheckResult("triples", False, "none are loaded", "Load some with `mrag load FILE`.")
    if record.premises:
        named = premises_in_words(graph, record.premises)
        yield CheckResult("reasoning", True, f"reads {named}, as chosen with `mrag reason --graph`")
    if not graph.reasoned:
        yield CheckResult("reasoning", None, "not up to date", "Run `mrag reason`.")
    if graph.store.capabilities.reasoning:
        yield from _rules(graph)
    yield from _contradictions(graph)
    yield from _indexes(graph)


def _rules(graph: mrag.KnowledgeGraph) -> Iterator[CheckResult]:
    """Tell by which rules a server reasons, and what they leave out of what the ontology says."""
    settings = (graph.store.settings() if isinstance(graph.store, stores.GraphDBStore) else None) or {}
    merged = settings.get("disable-sameAs") == "false"
    ruleset, same = settings.get("ruleset", "not told"), "is" if merged else "is not"
    yield CheckResult(
        "rules",
        None if merged else True,
        f"{ruleset}; what is owl:sameAs {same} shown as one",
        "A functional property with two values merges them, in every answer: set disable-sameAs to true.",
    )
    if missing := list(dict.fromkeys(text for text, _ in reasoning.run.list_left_out(graph))):
        finding = f"of {len(missing)} axioms not all is inferred: {'; '.join(missing[:3])}"
        hint = "Make the repository with a larger ruleset, or load what `mrag reason` infers elsewhere."
        yield CheckResult("rules", None, finding + ("; …" if len(missing) > 3 else ""), hint)


def _contradictions(graph: mrag.KnowledgeGraph) -> Iterator[CheckResult]:
    groups = reasoning.run.contradictions_of(graph)
    if not groups:
        yield CheckResult("consistency", True, "no triples contradict the ontology")
    for group in groups[:10]:
        yield CheckResult("contradictions", None, group.text(), f"Such as {example(group)}")
    if len(groups) > 10:
        hint = "`mrag reason --report FILE` lists all."
        yield CheckResult("contradictions", None, f"of {len(groups) - 10} more axioms", hint)


def _indexes(graph: mrag.KnowledgeGraph) -> Iterator[CheckResult]:
    known = mrag.SimilarityIndexes.of(graph)
    for name in known.names():
        try:
            info: Any = known.info(name)
        except MragError as error:
            yield CheckResult(f"index {name}", False, error.message, error.hint or "")
            continue
        size = "" if info.documents is None else f"{info.documents:,} documents, "
        finding = size + (info.embedder or "BM25 alone")
        if info.documents == 0:
            why = (
                ""
                if info.definition is None
                else f"; {index.documents.why_empty(graph, info.definition)}".rstrip(".")
            )
            yield CheckResult(f"index {name}", False, f"no documents{why}", index.similarity.NO_DOCUMENTS)
            continue
        yield CheckResult(
            f"index {name}",
            not info.stale,
            finding + (", older than the graph" if info.stale else ""),
            "Run `mrag index`.",
        )
    if not known.names():
        yield CheckResult("index", False, "there is none", "Build one with `mrag index`.")


def example(group: ClashGroup) -> str:
    """Return the triples of the first contradiction of a group, in one line."""
    return "; ".join(" ".join(map(_short, triple)) for triple in group.clashes[0].triples)


def _short(term: Node) -> str:
    text = term.n3()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def premises_in_words(graph: mrag.KnowledgeGraph, names: Sequence[str]) -> str:
    """Return the named graphs that reasoning reads, in words."""
    nil = graphs.record.UNNAMED
    said = ["what is in no named graph" if n == nil else rdf.curie(n, graph.prefixes) for n in names]
    return join(said)


def language_model(name: str | None = None) -> Iterator[CheckResult]:
    """Check the language model; the one of the settings by default."""
    state = generation.status(name or Settings.from_env().model)
    yield CheckResult(
        "language model", True if state.available else None, state.name or state.reason, state.hint
    )
