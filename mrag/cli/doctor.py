"""`mrag doctor`: what works on this system, and what to do about what does not."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer
from typer import Argument

import mrag
from mrag import graph as graphs
from mrag import stores
from mrag.cli import options
from mrag.cli.options import JsonOption
from mrag.cli.output import progress, say, show, show_json
from mrag.config import Settings
from mrag.diagnosis import CheckResult, contents, language_model, packages, query_process, run_checks
from mrag.errors import MragError
from mrag.storage.files import is_private


def doctor(
    place: options.Place,
    url: Annotated[str | None, Argument(metavar="URL")] = None,
    write: bool = False,
    deep: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Check the store, the index and the models."""
    place = options.Place(url or place.store, place.kg)
    options.warn_of_login(place.store)
    findings = [*packages()]
    remote = Settings.from_env(place.store).store or ""
    if remote.partition(":")[0] in stores.engines.SERVERS:
        findings += run_checks("server", lambda: _server(remote, write))
    if all(f.ok is not False for f in findings):
        findings += run_checks("store", lambda: _store(place, deep))
    findings += run_checks("query process", query_process)
    findings += run_checks("model", language_model)
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


def _server(url: str, write: bool) -> Iterator[CheckResult]:
    store, named = graphs.open_store(url)
    if not isinstance(store, stores.SparqlStore):
        return
    try:
        yield CheckResult("server", True, store.server())
        there = store.graphs()
        missing = sorted(set(named) - set(there))
        if missing:
            what = f"the store has no graph {missing[0]}"
            yield CheckResult("graphs", False, what, f"It has: {_few(there)}.")
        else:
            few = f": {_few(there)}" if there else ""
            yield CheckResult("graphs", True, f"{len(there)} named graphs{few}")
        yield from _caps(store)
        if write:
            yield _writing(store)
        searched = isinstance(store, stores.GraphDBStore) and store.has_workbench()
        own = ["reasoning"] * store.capabilities.reasoning + ["similarity indexes"] * searched
        features = " and ".join(own) or "none; mrag reasons and indexes itself"
        closed = "; its Workbench (/rest) cannot be reached, so indexes stand beside the store"
        features += closed if store.capabilities.similarity and not searched else ""
        yield CheckResult("server features", None, features)
    finally:
        store.close()


def _caps(store: stores.SparqlStore) -> Iterator[CheckResult]:
    """Yield where the server ends its answers."""
    caps = store.caps()
    if store.note:
        yield CheckResult("results", None, store.note)
    if caps.rows is None:
        yield CheckResult("answers", True, f"no limit of rows is known: {caps.told}")
    else:
        finding = (
            f"the server cuts them at {caps.rows:,} rows ({caps.told}); longer tables come in pages, triples "
        )
        yield CheckResult("answers", None, f"{finding}are refused", store.dialect.raise_rows)
    if caps.seconds is not None:
        finding = f"what takes {caps.seconds:.0f} s or more may be part of the answer, and is refused"
        hint = "Have the server raise an error at its time limit, or raise the limit."
        yield CheckResult("time limit", None, finding, hint)


def _writing(store: stores.SparqlStore) -> CheckResult:
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


def _store(place: options.Place, deep: bool) -> Iterator[CheckResult]:
    with place.open() as graph:
        record = graph.record
        inferred = sum(graph.store.count(g) for g in record.inferred)
        yield CheckResult(
            "store",
            True,
            f"{graph.store.url or 'oxigraph:'}, graph {graph.name!r}: {record.triples:,} triples asserted, "
            f"{inferred:,} inferred",
        )
        yield from _rights(graph)
        yield from contents(graph)
        if deep:
            yield from _through(graph)


def _through(graph: mrag.KnowledgeGraph) -> Iterator[CheckResult]:
    """Read and check all indexes and journals beside a store."""
    from mrag.storage.folder import check

    beside = graphs.kg.home(graph)
    if beside is None:
        yield CheckResult("files", None, "a store in memory has none")
        return
    with progress("Checking") as note:
        files = list(check(beside.parent, note))
    for one in files:
        what = f"{one.kind} {one.path.relative_to(beside.parent)}"
        if one.error is None:
            yield CheckResult(what, True, f"{one.size:,} bytes, intact")
        else:
            yield CheckResult(what, False, one.error.message, one.error.hint or "Rebuild it.")
    if not files:
        yield CheckResult("files", None, "there are no indexes and no journals to check")


def _rights(graph: mrag.KnowledgeGraph) -> Iterator[CheckResult]:
    """Yield the data folders that other users of this machine can read."""
    from platformdirs import user_cache_path

    store, beside = graph.store, graphs.kg.home(graph)
    places = [store.path] if isinstance(store, stores.OxigraphStore) else []
    places += [beside.parents[1] if beside is not None else None, user_cache_path("mrag")]
    for place in places:
        if place is not None and place.is_dir() and not is_private(place):
            finding = f"other users of this machine can read {place}"
            yield CheckResult(
                "rights", None, finding, f"If they should not: chmod -R go= {shlex.quote(str(place))}"
            )
