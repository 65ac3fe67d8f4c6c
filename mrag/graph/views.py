"""Views: knowledge graphs made from another one by query, and made anew when that one has changed.

A view is a knowledge graph of its own in the same store, with its own name, graphs and record, so that
it never meets its source, or another view, in one graph or in one reasoning run. Its triples fill a new
graph, and one transaction then puts that graph in sight. What others add to a view stays in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from io import BytesIO
from itertools import islice

from rdflib import Literal

from mrag._tables import tables
from mrag.errors import ConfigError, EndpointError, TermError, check_choice
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import SYSTEM, read_record
from mrag.loaders._records import schema_lines
from mrag.loaders.rdf import Source
from mrag.rdf import queries
from mrag.storage.files import Scratch
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore

_BATCH = 20_000  # Triples sent to a server at a time
_LARGE = 100_000  # Triples of a source from which on views are worked out in a process of their own


def fill(kg: KnowledgeGraph, text: str, graph: str) -> None:
    """Put what a CONSTRUCT query gives over the asserted triples into a graph that is not in sight yet."""
    if not isinstance(kg.store, OxigraphStore):
        with _copy(kg) as (local, copy):
            lines = BytesIO(local.serialise(text, copy))
            while batch := b"".join(islice(lines, _BATCH)):
                kg.store.insert(batch, graph)
        return
    # The engine lets one thread of a process work at a time, so a long query goes to another process.
    apart = kg.store.path is not None and kg.record.triples > _LARGE
    answer = kg.store.workers.serialise if apart else kg.store.serialise
    kg.store.insert(answer(text, kg.dataset("asserted")), graph)


@contextmanager
def _copy(kg: KnowledgeGraph) -> Iterator[tuple[OxigraphStore, Dataset]]:
    """Give a copy of a server's triples in a store of this process.

    Servers cut long answers without saying so, end long queries, and may group rows in another order.
    """
    copy = Dataset(("urn:mrag:copy",))
    with Scratch("view") as folder, OxigraphStore(folder / "store") as local:
        for number, graph in enumerate(kg.dataset("asserted").default):
            path = folder / f"{number}.nt"
            with path.open("wb") as out:
                kg.store.dump(graph, out)
            local.bulk_load([Source.of(path)], copy.default[0])
            path.unlink()
        expected = kg.count()
        if (had := local.count(copy.default[0])) != expected:
            what = f"The server gave {had:,} of {expected:,} triples, so the view would lack some."
            hint = "Let it answer at greater length; for Virtuoso raise ResultSetMaxRows in virtuoso.ini."
            raise EndpointError(what, endpoint=kg.store.url, hint=hint)
        yield local, copy


@dataclass(frozen=True)
class View:
    """How a knowledge graph is made from another."""

    name: str  # What to call it, such as `fashion/images`
    query: str  # A CONSTRUCT query of the catalogue, over the asserted triples of the source
    ontology: str  # File of `ontology/` that belongs to the view
    summary: str  # What it holds, in words

    @property
    def short(self) -> str:
        """Return the last part of the name, by which knowledge graphs made from it are called."""
        return self.name.rpartition("/")[2]

    def digest(self) -> str:
        """Return a fingerprint of query and ontology."""
        schema = (files("mrag") / "ontology" / self.ontology).read_bytes() if self.ontology else b""
        parts = queries.get(self.query).text.encode() + b"\0" + schema
        return hashlib.blake2b(parts, digest_size=8).hexdigest()


VIEWS: Mapping[str, View] = {one["name"]: View(**one) for one in tables("graph/views.toml")["view"]}
"""The views that come with the package, by name; the largest first."""


def make_view(kg: KnowledgeGraph, view: View | str, into: str) -> KnowledgeGraph:
    """Make a view of a knowledge graph, or make it anew, in one step.

    Until the last transaction, and after a crash, a view made before is as it was. Nothing is inferred in
    the new one; `mrag.reasoning.run.reason` does that. The query runs in the embedded engine; of a server
    the source is fetched first.

    Args:
        kg: The source; its asserted triples are read.
        view: A view, or the name of one of `VIEWS`.
        into: Name of the knowledge graph to make, in the same store.

    Returns:
        The view. It shares the store of `kg`, so closing one closes both.

    Raises:
        ConfigError: If there is no such view, if `into` is the source or holds triples that no view
            made, or if the server reasons over all of its graphs at once.
        EndpointError: If a server does not give its triples whole.

    Example:
        >>> import mrag
        >>> kg = mrag.connect()
        >>> image = "<urn:1> a <http://example.org/Image> ; <http://example.org/hasFileName> '1.jpg'"
        >>> _ = kg.update(f"INSERT DATA {{ {image} }}")
        >>> make_view(kg, "fashion/images", "images").query("ASK { <urn:1> ?p '1.jpg' }")
        True
        >>> kg.close()
    """
    view = find(view)
    target = _open(kg, into)
    before = target.record
    old = _generations(target)
    if not old and before.triples:
        what = f"The knowledge graph {into!r} holds triples that no view made."
        hint = "Give the view another name, or forget those triples with `KnowledgeGraph.clear`."
        raise ConfigError(what, endpoint=kg.store.url, hint=hint)
    target.collect()
    target.begin("view")
    try:
        revision, source = before.revision + 1, _state(view, kg)
        graph = target.new_graph()
        if schema := "".join(schema_lines(view.ontology)):
            kg.store.insert(schema.encode(), graph)
        fill(kg, queries.get(view.query).text, graph)
        # What others added comes first, for that is where additions go; it stays where it is.
        added = tuple(g for g in before.asserted if g not in old) or (f"{target.iri}:asserted:0",)
        target.remove_doubles([(other, graph, graph) for other in added if kg.store.count(other)])
        asserted = (*added, graph)
        after = replace(before, asserted=asserted, inferred=(), added=(), revision=revision, reasoned=-1)
        after = replace(after, triples=target.counted(asserted), pending="", profile="")
        note = queries.get("update/view-made").bind(
            kg=[target.iri], g_state_part=[(graph, Literal(source), target.iri)]
        )
        target.commit(after, note)
    except BaseException:
        target.end()
        raise
    return target


def make_views(
    kg: KnowledgeGraph,
    names: Mapping[str, str],
    after: Callable[[View, KnowledgeGraph], object] | None = None,
    *,
    also: Sequence[Callable[[], object]] = (),
    threads: int = 3,
) -> dict[str, KnowledgeGraph]:
    """Make several views at a time, those that are up to date left as they are.

    Args:
        kg: The source.
        names: Name of the knowledge graph of each view, by the name of the view; the longest work first.
        after: Called with each view that was made anew and its knowledge graph, in the thread that made it.
        also: Other work for the same threads, such as to reason over the source.
        threads: How many at a time; of a large graph the queries run in processes of their own.

    Raises:
        ConfigError: As `make_view` does.
    """

    def one(name: str, into: str) -> KnowledgeGraph:
        if not stale(kg, name, into):
            return _open(kg, into)
        made = make_view(kg, name, into)
        if after is not None:
            after(find(name), made)
        return made

    with ThreadPoolExecutor(threads) as pool:
        running = {into: pool.submit(one, name, into) for name, into in names.items()}
        others = [pool.submit(work) for work in also]
        try:
            made = {into: done.result() for into, done in running.items()}
            for other in others:
                other.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return made


def refresh(kg: KnowledgeGraph, view: View | str, into: str) -> KnowledgeGraph:
    """Make a view anew if its source or its definition has changed since; arguments as for `make_view`."""
    return make_view(kg, view, into) if stale(kg, view, into) else _open(kg, into)


def stale(kg: KnowledgeGraph, view: View | str, into: str) -> bool:
    """Return whether a view is missing, or older than its source or its definition."""
    target = _open(kg, into)
    return _state(find(view), kg) not in _generations(target).values()


def find(view: View | str) -> View:
    """Return the view of a name."""
    if isinstance(view, View):
        return view
    check_choice("view", view, VIEWS)
    return VIEWS[view]


def _open(kg: KnowledgeGraph, into: str) -> KnowledgeGraph:
    """Open the knowledge graph of a view; a new one does not take what the store held before for its own."""
    if into == kg.name:
        raise ConfigError(f"A view of {into!r} needs another name.", hint="Such as main-images.")
    if kg.store.capabilities.reasoning:
        what = "This server reasons over all of its graphs at once, so views would mix with their source."
        hint = "Use the embedded store, or a server that mrag reasons for."
        raise ConfigError(what, endpoint=kg.store.url, hint=hint)
    iri = f"urn:mrag:kg:{into}"
    try:
        graphs = () if read_record(kg.store, iri).kept else (f"{iri}:asserted:0",)
    except TermError:
        graphs = ()  # no name, as opening says
    return KnowledgeGraph(kg.store, into, prefixes=kg.prefixes, languages=kg.languages, graphs=graphs)


def _state(view: View, kg: KnowledgeGraph) -> str:
    """Return what a view was made from, as one text."""
    # Reasoning counts as a change, too, but not of the asserted triples.
    record = kg.record
    by_reasoning = record.reasoned == record.revision and not kg.as_found
    return f"{kg.iri} {record.revision - by_reasoning} {view.name} {view.digest()}"


def _generations(target: KnowledgeGraph) -> dict[str, str]:
    """Return those asserted graphs of a view that its query made, with what they were made from."""
    rows = target.store.select(
        queries.get("kg/view").bind(graph=list(target.record.asserted)), Dataset((SYSTEM,), (SYSTEM,))
    )
    return {str(graph): str(state) for graph, state in rows}
