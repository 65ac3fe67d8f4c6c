"""The named graphs of a knowledge graph: how they come into sight, go out of it, and are removed.

A record in the system graph names the graphs and carries a revision; a graph that the record does not name
is ignored. So whatever changes the triples takes the same way:

1. `GraphLayers.new_graph` names a graph that no one reads yet, and long work announces itself by `begin`.
2. The graph is filled.
3. `GraphLayers.commit` replaces the record in one transaction. After a crash the state is that of before it
   or of after it, and never a part.
4. What the record no longer names is removed, now or by `collect` at the next occasion.

A server that reasons by itself keeps no record: all its graphs are in sight, and the number of its triples
stands for the revision.
"""

from __future__ import annotations

import json
import logging
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import IO, TypeAlias
from typing import Literal as OneOf

import pyoxigraph as ox

from mrag.errors import ConfigError, QueryTimeout
from mrag.graph.record import (
    GraphChange,
    Record,
    Status,
    TouchedEntities,
    entry,
    joined,
    parted,
    read_record,
    record_update,
    status_of,
)
from mrag.rdf import queries
from mrag.rdf.patterns import to_data
from mrag.rdf.terms import DEFAULT_PREFIXES, Quad, to_ox
from mrag.stores.base import Dataset, StoreLayers, TripleStore

logger = logging.getLogger(__name__)

Layer: TypeAlias = OneOf["all", "asserted", "inferred"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]{0,63}\Z")


class GraphLayers:
    """The graphs of a knowledge graph in a store; its arguments are those of `KnowledgeGraph`.

    Attributes:
        cache: What others derived from the present triples; another one is begun when they change.
        chosen: Whether the graphs were named when it was opened.
        within: The named graph that alone is in sight; empty for all of it.
        landing: Held while the store and the record are not of the same state.
    """

    within = ""

    def __init__(
        self,
        store: TripleStore,
        name: str = "main",
        *,
        prefixes: Mapping[str, str] | None = None,
        graphs: Sequence[str] = (),
    ) -> None:
        if not _NAME.match(name):
            raise ConfigError(
                f"{name!r} cannot name a knowledge graph.", hint="Use letters, digits, _ and -."
            )
        self.store = store
        self.name = name
        self.iri = f"urn:mrag:kg:{name}"
        self.prefixes = {**DEFAULT_PREFIXES, **(prefixes or {})}
        self.cache: dict[str, object] = {}
        self.chosen = bool(graphs)
        self.landing: AbstractContextManager[object] = nullcontext()
        self._found: tuple[str, ...] = ()
        self.record = self._opened(graphs)

    def dataset(self, layer: Layer = "all") -> Dataset:
        """Return the graphs of a layer as the dataset of a query."""
        record = self.record
        graphs = () if layer == "inferred" else record.asserted
        graphs = graphs if layer == "asserted" else (*graphs, *record.inferred)
        # What named graphs assert is in one graph more, so that the default graph has it.
        own = (g for g in (*record.asserted, *record.inferred) if g != record.merged)
        named = () if self.as_found else (*own, *record.contexts)
        return Dataset(graphs, named)

    @property
    def as_found(self) -> bool:
        """Return whether the graphs are the store's own layers, which have no names of their own."""
        return self.record.asserted == self._found

    @property
    def is_new(self) -> bool:
        """Return whether nothing has ever been loaded; a server that reasons has a graph in any case."""
        return self.record.is_new and not self.store.capabilities.reasoning

    @property
    def originals(self) -> str:
        """Return the IRI of the graph of triples as they were before their datatypes were repaired."""
        return f"{self.iri}:original:0"

    @property
    def revision(self) -> int:
        """Return a number that grows with every change of the triples."""
        return self.record.revision

    @property
    def reasoned(self) -> bool:
        """Return whether the inferred triples belong to the present asserted ones."""
        return self.record.reasoned == self.record.revision

    @property
    def pending(self) -> bool:
        """Return whether the triples have changed since they were last reasoned over.

        What was inferred may not hold any more then, and more may follow.
        """
        return self.record.outdated

    def is_inferred(self, graph: str) -> bool:
        """Return whether a graph of this knowledge graph holds inferred triples."""
        return graph in self.record.inferred

    def graphs_of(self, status: Status) -> tuple[str, ...]:
        """Return the IRIs of the graphs that were written for one purpose, oldest first."""
        if self.store.capabilities.reasoning:
            return (self.server_graph(status),)
        return tuple(g for g in self.record.asserted if status_of(g) == status)

    def server_graph(self, part: str = "") -> str:
        """Return the IRI of a graph on a server that reasons by itself, and so keeps no record."""
        return f"urn:graph:{self.name}:{part}" if part else f"urn:graph:{self.name}"

    def require_writable(self) -> None:
        """Refuse to write where triples are in graphs without names, which rules cannot read apart."""
        if self.as_found and not self.store.capabilities.reasoning:
            raise ConfigError(
                "The triples are in the store's default graph, which is read only here.",
                endpoint=self.store.url,
                hint="Name the graphs to work on with graphs=[…], or ?graph=IRI in the URL.",
            )

    def new_graph(self, status: Status = "asserted") -> str:
        """Return the IRI of a graph that no one reads yet, which sorts behind all others."""
        record = self.record
        numbers = (int(n) for graph in record.asserted for n in re.findall(r"\d+", graph))
        return f"{self.iri}:{status}:{max(record.revision, *numbers, 0) + 1}"

    def begin(self, work: str) -> None:
        """Note that long work has begun, so that a crash during it is known at the next opening."""
        self.require_writable()
        self.commit(replace(self.record, pending=json.dumps({work: True})))

    def end(self) -> None:
        """Note that the work noted by `begin` has been given up."""
        self.commit(replace(self.record, pending=""))

    def commit(
        self, after: Record, also: str = "", *, changed: bool = True, change: GraphChange | None = None
    ) -> None:
        """Replace the record, and so what is in sight, in one transaction."""
        with self.landing:
            if not self.as_found:
                after, before = replace(after, kept=True), self.revision
                later = before < after.revision
                kept = entry(self.iri, before, after.revision, change) if change and later else ""
                self.store.update(";\n".join(p for p in (record_update(self.iri, after), also, kept) if p))
            self.written(after, changed=changed)

    def written(self, record: Record, *, changed: bool = True) -> None:
        """Go on with a record that is in the store already."""
        self.record = record
        if changed:
            self.cache = {}

    def set_inferred(
        self,
        graphs: Sequence[str],
        count: int = -1,
        apart: Sequence[str] = (),
        premises: Sequence[str] | None = None,
        touched: TouchedEntities | None = None,
    ) -> None:
        """Make these graphs, of so many triples, the inferred layer of the present ones, in one transaction.

        The graphs `apart` hold what contradicts the ontology, `premises` are the named graphs that were read.
        """
        if not (self.record.inferred or self.record.apart or graphs or apart):
            touched = TouchedEntities()
        record, revision = self.record.without_inferences(), self.record.revision + 1
        after = replace(record, inferred=tuple(graphs), inferences=count, apart=tuple(apart))
        after = after if premises is None else replace(after, premises=tuple(premises))
        after = replace(after, revision=revision, reasoned=revision, pending="")
        self.commit(after, change=GraphChange("reasoning", touched=touched))

    def exchange(self, change: GraphChange, *, into: str = "", out: str = "") -> None:
        """Put a graph that was filled in sight, take another out, or both, in one transaction."""
        after = self.record
        if out:
            after = parted(after, {out}, self.store.count(out), gone=True)
        if into:
            after = joined(after, into, self.store.count(into))
        kept = after.inferred == self.record.inferred
        self.commit(after, change=change if kept else replace(change, touched=None))
        if out:
            self.store.clear(out)

    def changes(self, out: Sequence[Quad], into: Sequence[Quad]) -> str:
        """Return the update that takes triples out of graphs and puts others in."""
        if self.store.capabilities.edges:
            # As data, not by a WHERE, which takes the embedded engine three times as long.
            return to_data(map(_quad, out), map(_quad, into))
        return queries.get("update/change").bind(graph_subject_predicate_object=out, g_s_p_o=into)

    def remove_doubles(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Take triples out of a graph that stand in two: the smaller, the larger, the one to take from."""
        if rows:
            self.store.update(queries.get("update/remove-doubles").bind(scanned_probed_graph=rows))

    def recount(self, count: int | None = None) -> None:
        """Number the state of a server that keeps no record by its triples, counted unless given."""
        if count is None:
            self.commit(self._counted(self.record))
        else:
            self.commit(replace(self.record, triples=count, revision=count, reasoned=count))

    def counted(self, graphs: Sequence[str] | None = None) -> int:
        """Count the triples of graphs, by a scan; by default of the asserted ones."""
        return sum(self.store.count(g) for g in (self.record.asserted if graphs is None else graphs))

    def collect(self, prefix: str = "") -> int:
        """Remove graphs that earlier work left behind, all or those of a prefix, and return how many."""
        if self.as_found:
            return 0
        in_sight = {*self.record.asserted, *self.record.inferred, *self.record.hidden, self.originals}
        named = prefix or f"{self.iri}:"
        stale = [g for g in self.store.graphs() if g.startswith(named) and g not in in_sight]
        for graph in stale:
            self.store.clear(graph)
        return len(stale)

    def clear(self) -> None:
        """Forget all triples of this knowledge graph; of data that was there before, only what was added."""
        if self.as_found:
            self.store.clear(self.server_graph())
            self.recount()
            return
        self.begin_anew(Record((self.new_graph(),), revision=self.record.revision + 1), GraphChange("clear"))

    def begin_own(self) -> None:
        """Begin a knowledge graph beside data that the store held before and nobody has named."""
        if not self.record.kept and not self.chosen:
            logger.warning(
                "what the store held before is not part of what is loaded; name its graphs to have both"
            )
            self._found, self.record = (), Record((f"{self.iri}:asserted:0",))

    def begin_anew(self, after: Record, change: GraphChange) -> None:
        """Commit a record that names none of the graphs of before but `contexts`, then remove the others."""
        contexts = [g for g in self.record.contexts if g not in after.contexts]
        pending = json.dumps({"clear": contexts}) if contexts else ""
        self.commit(replace(after, pending=pending), change=change)
        self.forget(contexts)

    def forget(self, contexts: Sequence[str]) -> None:
        """Remove graphs that the record no longer names; recovery runs it again, so it may come twice."""
        self.collect()
        for graph in (*contexts, *({self.originals} & {*self.store.graphs()})):
            self.store.clear(graph)
        if self.record.pending:
            self.end()

    def _opened(self, graphs: Sequence[str]) -> Record:
        """Read the record, or make one for the graphs named or found."""
        layers = self.store.layers() if self.store.capabilities.reasoning else None
        record = read_record(self.store, self.iri) if layers is None else None
        if record is not None and record.kept and not set(graphs) <= {*record.asserted}:
            raise ConfigError(
                f"The knowledge graph {self.name!r} of this store is made of other graphs.",
                endpoint=self.store.url,
                hint="Leave the graphs out, or give this selection another name with --kg or name=.",
            )
        if record is not None and (record.kept or not (graphs or (layers := self.store.layers()))):
            return replace(record, kept=True)
        layers = StoreLayers(tuple(graphs)) if graphs else layers or StoreLayers(())
        if not graphs and not set(layers.asserted) <= set(self.store.graphs()):
            self._found = layers.asserted
        return self._counted(Record(layers.asserted, layers.inferred, kept=False))

    def _counted(self, record: Record) -> Record:
        """Number the state of triples that others may change by how many there are."""
        try:
            count = self.counted(record.asserted)
        except QueryTimeout:
            count = 0  # too large to count, so that changes by others go unnoticed
        reasoned = count if self.store.capabilities.reasoning else -1
        return replace(record, triples=count, revision=count, reasoned=reasoned)


def _quad(quad: Quad) -> ox.Quad:
    graph, s, p, o = map(to_ox, quad)
    return ox.Quad(s, p, o, graph)  # type: ignore[arg-type]  # they come from triples


def write_quads(kg: GraphLayers, graphs: Sequence[str], output: IO[bytes], format: str) -> None:
    """Write graphs of a knowledge graph as one default graph, and behind it the named graphs."""
    record = kg.record
    named = record.contexts if {*graphs} & {*record.asserted} else ()

    def quads() -> Iterator[ox.Quad]:
        for graph in graphs:
            # What only named graphs assert is written with them.
            if graph != record.merged:
                yield from _quads_of(kg, graph, ox.DefaultGraph())
        for graph in named:
            yield from _quads_of(kg, graph, ox.NamedNode(graph))

    if format == "nq":
        ox.serialize(quads(), output, ox.RdfFormat.N_QUADS)
    else:
        usable = {prefix: name for prefix, name in kg.prefixes.items() if name and "://" in name}
        ox.serialize(quads(), output, ox.RdfFormat.TRIG, prefixes=usable)


def _quads_of(kg: GraphLayers, graph: str, name: ox.NamedNode | ox.DefaultGraph) -> Iterator[ox.Quad]:
    with tempfile.TemporaryFile() as kept:
        kg.store.dump(graph, kept)
        kept.seek(0)
        for quad in ox.parse(kept, ox.RdfFormat.N_TRIPLES, lenient=True):
            yield ox.Quad(quad.subject, quad.predicate, quad.object, name)
