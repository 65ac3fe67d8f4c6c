"""Views: knowledge graphs made from another one by query, and made anew when that one has changed.

A view is a knowledge graph of its own in the same store, with its own name, graphs and record, so that
it never meets its source, or another view, in one graph or in one reasoning run. Its triples fill a new
graph, and one transaction then puts that graph in sight. What others add to a view stays in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from shutil import rmtree

from rdflib import Literal

from mrag.errors import ConfigError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import SYSTEM, read_record
from mrag.graph.views.filling import PartsJob, fill
from mrag.graph.views.parts import Progress
from mrag.jobs.runners import Runner
from mrag.loaders._records import schema_lines
from mrag.rdf import queries
from mrag.stores.base import Dataset


@dataclass(frozen=True)
class View:
    """How a knowledge graph is made from another.

    Attributes:
        name: What to call it, such as `fashion/images`.
        query: A CONSTRUCT query of the catalogue, over the asserted triples of the source.
        ontology: File of `ontology/` that belongs to the view.
        summary: What it holds, in words.
    """

    name: str
    query: str
    ontology: str
    summary: str

    @property
    def short(self) -> str:
        """Return the last part of the name, by which knowledge graphs made from it are called."""
        return self.name.rpartition("/")[2]

    def digest(self) -> str:
        """Return a fingerprint of query and ontology."""
        schema = (files("mrag") / "ontology" / self.ontology).read_bytes() if self.ontology else b""
        parts = queries.get(self.query).text.encode() + b"\0" + schema
        return hashlib.blake2b(parts, digest_size=8).hexdigest()


VIEWS: Mapping[str, View] = {
    view.name: view
    for view in (
        View(
            "fashion/garments",
            "kg/fashion/garments",
            "fashionpedia-garments.ttl",
            "images with garments, each with its own attributes",
        ),
        View(
            "fashion/images",
            "kg/fashion/images",
            "fashionpedia-images.ttl",
            "images with a sentence for each annotation",
        ),
        View(
            "fashion/cel",
            "kg/fashion/cel",
            "fashionpedia-cel.ttl",
            "images linked to the categories and attributes that they show",
        ),
    )
}
"""The views that come with the package, by name; the largest first."""


def make_view(
    kg: KnowledgeGraph,
    view: View | str,
    into: str,
    *,
    runner: Runner | None = None,
    journal: Path | None = None,
    on_progress: Progress | None = None,
) -> KnowledgeGraph:
    """Make a view of a knowledge graph, or make it anew, in one step.

    Until the last transaction, and after a crash, a view made before is as it was. Nothing is inferred in
    the new one; `mrag.reasoning.run.reason` does that. The query runs in the embedded engine; of a server
    the source is fetched first.

    Args:
        kg: The source; its asserted triples are read.
        view: A view, or the name of one of `VIEWS`.
        into: Name of the knowledge graph to make, in the same store.
        runner: What answers the query in parts; in one go if left out. The triples are the same.
        journal: A folder for the parts that are done, from which a job that was broken off goes on; it is
            removed at the end.
        on_progress: Called with the parts done, and the parts in all.

    Returns:
        The view. It shares the store of `kg`, so closing one closes both.

    Raises:
        ConfigError: If there is no such view, if `into` is the source or holds triples that no view
            made, or if the server reasons over all of its graphs at once.
        EndpointError: If a server does not give its triples whole.
        BlockingIOError: If another process works with that journal.
        StoreError: If a part has lost its worker too often.

    Example:
        >>> import mrag
        >>> from rdflib import RDF, URIRef
        >>> from mrag.rdf.terms import Triple
        >>> kg = mrag.connect()
        >>> image, fashion = URIRef("http://example.org/image_1"), "http://example.org/"
        >>> _ = kg.insert([Triple(image, RDF.type, URIRef(fashion + "Image")),
        ...                Triple(image, URIRef(fashion + "hasFileName"), Literal("1.jpg"))])
        >>> images = make_view(kg, "fashion/images", "images")
        >>> images.query("ASK { <http://example.org/image_1> <http://example.org/hasFileName> '1.jpg' }")
        True
        >>> kg.close()
    """
    view = find(view)
    target = _opened(kg, into)
    before = target.record
    old = _generations(target)
    if not old and before.triples:
        raise ConfigError(
            f"The knowledge graph {into!r} holds triples that no view made.",
            endpoint=kg.store.url,
            hint="Give the view another name, or forget those triples with `KnowledgeGraph.clear`.",
        )
    target.collect()
    target.begin("view")
    try:
        revision, source = before.revision + 1, _state(view, kg)
        graph = target.new_graph()
        parts = None if runner is None else PartsJob(runner, source, journal, on_progress)
        if schema := "".join(schema_lines(view.ontology)):
            kg.store.insert(schema.encode(), graph)
        fill(kg, queries.get(view.query).text, graph, parts)
        # What others added comes first, for that is where additions go; it stays where it is.
        added = tuple(g for g in before.asserted if g not in old) or (f"{target.iri}:asserted:0",)
        target.remove_doubles([(other, graph, graph) for other in added if kg.store.count(other)])
        asserted = (*added, graph)
        after = replace(
            before,
            asserted=asserted,
            inferred=(),
            added=(),
            revision=revision,
            reasoned=-1,
            triples=target.counted(asserted),
            pending="",
            profile="",
        )
        note = queries.get("update/view-made").bind(
            kg=[target.iri], g_state_part=[(graph, Literal(source), target.iri)]
        )
        target.commit(after, note)
    except BaseException:
        target.end()
        raise
    if journal is not None:
        rmtree(journal, ignore_errors=True)
    return target


def make_views(
    kg: KnowledgeGraph,
    names: Mapping[str, str],
    after: Callable[[View, KnowledgeGraph], object] | None = None,
    *,
    also: Sequence[Callable[[], object]] = (),
    threads: int = 3,
    runner: Runner | None = None,
    journals: Path | None = None,
    on_progress: Progress | None = None,
) -> dict[str, KnowledgeGraph]:
    """Make several views at a time, those that are up to date left as they are.

    Args:
        kg: The source.
        names: Name of the knowledge graph of each view, by the name of the view; the longest work first.
        after: Called with each view that was made anew and its knowledge graph, in the thread that made it.
        also: Other work for the same threads, such as to reason over the source.
        threads: How many at a time; of a large graph the queries run in processes of their own.
        runner: What answers their queries in parts, one view after the other; see `make_view`.
        journals: Folder of their journals.
        on_progress: Called with the parts of a view that are done, and its parts in all.

    Returns:
        The views by the names of their knowledge graphs.

    Raises:
        ConfigError: As `make_view` does.
    """

    def one(name: str, into: str) -> KnowledgeGraph:
        if not stale(kg, name, into):
            return _opened(kg, into)
        journal = None if journals is None else journals / find(name).short
        made = make_view(kg, name, into, runner=runner, journal=journal, on_progress=on_progress)
        if after is not None:
            after(find(name), made)
        return made

    with ThreadPoolExecutor(threads if runner is None else 1) as pool:
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
    """Make a view anew if its source or its definition has changed since, else leave it as it is.

    Args:
        kg: The source.
        view: A view, or the name of one of `VIEWS`.
        into: Name of the knowledge graph of the view.

    Returns:
        The view, as `make_view` does.

    Raises:
        ConfigError: As `make_view` does.
    """
    return make_view(kg, view, into) if stale(kg, view, into) else _opened(kg, into)


def stale(kg: KnowledgeGraph, view: View | str, into: str) -> bool:
    """Return whether a view is missing, or older than its source or its definition.

    Args:
        kg: The source.
        view: A view, or the name of one of `VIEWS`.
        into: Name of the knowledge graph of the view.
    """
    target = _opened(kg, into)
    return _state(find(view), kg) not in _generations(target).values()


def find(view: View | str) -> View:
    """Return the view of a name.

    Raises:
        ConfigError: If there is none.
    """
    if isinstance(view, View):
        return view
    if view not in VIEWS:
        raise ConfigError(f"There is no view {view!r}.", hint=f"There are: {', '.join(VIEWS)}.")
    return VIEWS[view]


# -- inside --------------------------------------------------------------------------------------------


def _opened(kg: KnowledgeGraph, into: str) -> KnowledgeGraph:
    """Open the knowledge graph of a view; a new one does not take what the store held before for its own."""
    if into == kg.name:
        raise ConfigError(f"A view of {into!r} needs another name.", hint="Such as main-images.")
    if kg.store.capabilities.reasoning:
        raise ConfigError(
            "This server reasons over all of its graphs at once, so views would mix with their source.",
            endpoint=kg.store.url,
            hint="Use the embedded store, or a server that mrag reasons for.",
        )
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
