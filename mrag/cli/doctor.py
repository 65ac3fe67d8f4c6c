"""`mrag doctor`: what works on this system, and what to do about what does not."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mrag.cli.shared.options import JsonOption, KgOption, StoreOption, opened, warn_of_login
from mrag.cli.shared.output import progress, say, show, show_json

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
    from mrag.stores.sparql import SparqlStore

_CAP = 1 << 30
_OTHER = (
    "queries still pass the read gate, but on this system the process that runs them could reach the network"
)
_NAMESPACE = "Let processes have user namespaces (in Docker: --security-opt seccomp=unconfined)"
_SECCOMP = "Run on a kernel with seccomp filters (CONFIG_SECCOMP_FILTER), on x86-64 or ARM64"


@dataclass(frozen=True)
class CheckResult:
    """The result of one check.

    Attributes:
        what: What was checked.
        ok: Whether it works; None if it is optional.
        found: What was found.
        hint: What to do.
    """

    what: str
    ok: bool | None
    found: str
    hint: str = ""


def doctor(
    url: Annotated[
        str | None, typer.Argument(metavar="URL", help="Triple store, instead of --store.")
    ] = None,
    store: StoreOption = None,
    kg: KgOption = None,
    write: Annotated[
        bool, typer.Option("--write", help="Test writing on a server: a graph is written and removed again.")
    ] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Read and check every index and journal completely.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check the store, the index and the models.

    \b
    Examples:
      mrag doctor
      mrag doctor --deep
      mrag doctor graphdb:http://localhost:7200/repositories/products
    """
    from mrag.config import Settings
    from mrag.graph.connection import SERVERS

    named = url or store
    warn_of_login(named)
    findings = [*_packages()]
    remote = Settings.from_env(named).store or ""
    if remote.partition(":")[0] in SERVERS:
        findings += _checked("server", lambda: _server(remote, write))
    if all(f.ok is not False for f in findings):
        findings += _checked("store", lambda: _store(named, kg, deep))
    findings += _checked("query process", _defences)
    findings += _checked("model", _model)
    if as_json:
        show_json([asdict(f) for f in findings])
    else:
        for finding in findings:
            mark = {True: "ok", False: "no", None: "--"}[finding.ok]
            show(f"{mark}  {finding.what}: {finding.found}")
            if finding.hint and not finding.ok:
                show(f"    {finding.hint}")
    if any(f.ok is False for f in findings):
        say("Some checks failed; see the lines that begin with `no`.", style="yellow")
        raise typer.Exit(1)


def _checked(what: str, look: Callable[[], Iterator[CheckResult]]) -> list[CheckResult]:
    from mrag.errors import MragError

    try:
        return list(look())
    except MragError as error:
        return [CheckResult(what, False, error.message, error.hint or "")]


def _defences() -> Iterator[CheckResult]:
    """Start a query process over an empty store, and check its defences."""
    import time
    from contextlib import suppress

    from mrag.errors import QueryTimeout
    from mrag.rdf import queries
    from mrag.stores.base import Dataset, Limits
    from mrag.stores.oxigraph import OxigraphStore
    from mrag.stores.process.replies import request

    with OxigraphStore() as store:
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
            asked = request("rows", queries.get("explore/any").text, Dataset(), Limits(1.0, 1, 1 << 20))
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
    import sys

    what = f"query network, {name}"
    if held:
        return CheckResult(what, True, "active: a query's process has no access to the network")
    if sys.platform != "linux":
        found = "only on Linux"
        hint = f"Serve others from a Linux system or container; {_OTHER}."
    else:
        found = "not allowed on this system"
        hint += "; the other defence is active." if offline else f"; {_OTHER}."
    # One of the two is enough, and a system that supports neither is not broken.
    return CheckResult(what, None if offline or sys.platform != "linux" else False, found, hint)


def _packages() -> Iterator[CheckResult]:
    import sys
    from importlib.metadata import PackageNotFoundError, version

    yield CheckResult(
        "python", sys.version_info >= (3, 11), sys.version.split()[0], "Use Python 3.11 or newer."
    )
    for package, extra, what in (
        ("pyoxigraph", None, "embedded store"),
        ("onnxruntime", None, "embedding model"),
        ("langchain-ollama", None, "Ollama client"),
        ("sparq-rdf", "accelerate", "reasoning accelerator"),
        ("wordllama", "static", "small embedding model"),
        ("xllamacpp", "local", "local language models"),
    ):
        try:
            yield CheckResult(what, True, f"{package} {version(package)}")
        except PackageNotFoundError:
            hint = f"pip install 'mrag[{extra}]'" if extra else "Install mrag again."
            yield CheckResult(what, None if extra else False, f"{package} is not installed", hint)


def _server(url: str, write: bool) -> Iterator[CheckResult]:
    from mrag.graph.connection import open_store
    from mrag.stores.sparql import SparqlStore

    store, named = open_store(url)
    if not isinstance(store, SparqlStore):
        return
    try:
        yield CheckResult("server", True, store.server())
        graphs = store.graphs()
        missing = sorted(set(named) - set(graphs))
        if missing:
            yield CheckResult(
                "graphs", False, f"the store has no graph {missing[0]}", f"It has: {_few(graphs)}."
            )
        else:
            yield CheckResult(
                "graphs", True, f"{len(graphs)} named graphs" + (f": {_few(graphs)}" if graphs else "")
            )
        if write:
            yield _writing(store)
        own = [
            name
            for name, has in (
                ("reasoning", store.capabilities.reasoning),
                ("similarity indexes", store.capabilities.similarity),
            )
            if has
        ]
        yield CheckResult(
            "server features", None, " and ".join(own) or "none; mrag reasons and indexes itself"
        )
    finally:
        store.close()


def _writing(store: SparqlStore) -> CheckResult:
    from mrag.errors import MragError

    scratch = "urn:graph:mrag-doctor"
    try:
        store.insert(b"<urn:mrag:doctor> <urn:mrag:doctor> <urn:mrag:doctor> .\n", scratch)
        store.clear(scratch)
        old = store.sweep()
    except MragError as error:
        return CheckResult("writing", False, error.message, error.hint or "")
    swept = f"; {old} graphs of processes that were killed were removed" if old else ""
    return CheckResult("writing", True, f"a graph was written and removed again{swept}")


def _few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _store(store: str | None, kg: str | None, deep: bool) -> Iterator[CheckResult]:
    from mrag.cli.shared.contradictions import premises_in_words

    with opened(store, kg) as graph:
        record = graph.record
        inferred = sum(graph.store.count(g) for g in record.inferred)
        yield CheckResult(
            "store",
            True,
            f"{graph.store.url or 'oxigraph:'}, graph {graph.name!r}: {record.triples:,} triples asserted, "
            f"{inferred:,} inferred",
        )
        yield from _rights(graph)
        if record.triples == 0:
            yield CheckResult("triples", False, "none are loaded", "Load some with `mrag load FILE`.")
        if record.premises:
            named = premises_in_words(graph, record.premises)
            yield CheckResult("reasoning", True, f"reads {named}, as chosen with `mrag reason --graph`")
        if not graph.reasoned:
            yield CheckResult("reasoning", None, "not up to date", "Run `mrag reason`.")
        yield from _contradictions(graph)
        yield from _indexes(graph)
        if deep:
            yield from _through(graph)


def _contradictions(graph: KnowledgeGraph) -> Iterator[CheckResult]:
    from mrag.cli.shared.contradictions import example
    from mrag.reasoning.run import contradictions_of

    if graph.store.capabilities.reasoning:
        return
    groups = contradictions_of(graph)
    if not groups:
        yield CheckResult("consistency", True, "no triples contradict the ontology")
    for group in groups[:10]:
        yield CheckResult("contradictions", None, group.text(), f"Such as {example(group)}")
    if len(groups) > 10:
        hint = "`mrag reason --report FILE` lists all."
        yield CheckResult("contradictions", None, f"of {len(groups) - 10} more axioms", hint)


def _indexes(graph: KnowledgeGraph) -> Iterator[CheckResult]:
    from mrag.errors import MragError
    from mrag.index.documents import why_empty
    from mrag.index.similarity import NO_DOCUMENTS, SimilarityIndexes

    indexes = SimilarityIndexes.of(graph)
    for name in indexes.names():
        try:
            info: Any = indexes.info(name)
        except MragError as error:
            yield CheckResult(f"index {name}", False, error.message, error.hint or "")
            continue
        size = "" if info.documents is None else f"{info.documents:,} documents, "
        found = size + (info.embedder or "BM25 alone")
        if info.documents == 0:
            why = "" if info.definition is None else f"; {why_empty(graph, info.definition)}".rstrip(".")
            yield CheckResult(f"index {name}", False, f"no documents{why}", NO_DOCUMENTS)
            continue
        yield CheckResult(
            f"index {name}",
            not info.stale,
            found + (", older than the graph" if info.stale else ""),
            "Run `mrag index`.",
        )
    if not indexes.names():
        yield CheckResult("index", False, "there is none", "Build one with `mrag index`.")


def _through(graph: KnowledgeGraph) -> Iterator[CheckResult]:
    """Read and check all indexes and journals beside a store."""
    from mrag.index.similarity import home
    from mrag.storage.check import check

    beside = home(graph)
    if beside is None:
        yield CheckResult("files", None, "a store in memory has none")
        return
    with progress("Checking") as note:
        found = list(check(beside.parent, note))
    for one in found:
        what = f"{one.kind} {one.path.relative_to(beside.parent)}"
        if one.error is None:
            yield CheckResult(what, True, f"{one.size:,} bytes, intact")
        else:
            yield CheckResult(what, False, one.error.message, one.error.hint or "Rebuild it.")
    if not found:
        yield CheckResult("files", None, "there are no indexes and no journals to check")


def _rights(graph: KnowledgeGraph) -> Iterator[CheckResult]:
    """Yield the data folders that other users of this machine can read."""
    from platformdirs import user_cache_path

    from mrag.index.similarity import home
    from mrag.storage.private import is_private
    from mrag.stores.oxigraph import OxigraphStore

    store, beside = graph.store, home(graph)
    places = [store.path] if isinstance(store, OxigraphStore) else []
    places += [beside.parents[1] if beside is not None else None, user_cache_path("mrag")]
    for place in places:
        if place is not None and place.is_dir() and not is_private(place):
            found = f"other users of this machine can read {place}"
            yield CheckResult(
                "rights", None, found, f"If they should not: chmod -R go= {shlex.quote(str(place))}"
            )


def _model() -> Iterator[CheckResult]:
    from mrag.config import Settings
    from mrag.generation.models.resolve import status

    found = status(Settings.from_env().model)
    yield CheckResult(
        "language model", True if found.available else None, found.name or found.reason, found.hint
    )
