"""A knowledge graph: a store, the names of its graphs, and how its entities are labelled.

Each knowledge graph has one asserted graph and, after reasoning, graphs of inferred triples. A record
in the system graph names them and carries a revision; a graph that the record does not name is out of
sight. Long work fills new graphs and ends by replacing the record in one transaction, so that a crash
leaves the state before it or after it, and opening says which.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Literal, Protocol, TypeVar, cast

from mrag.errors import ConfigError, QueryTimeout, StoreError
from mrag.graph.labels import fetch_labels, language_rank
from mrag.graph.record import (
    Profile,
    Record,
    profile_of,
    read_record,
    stored_profile,
    with_profile,
    write_record,
)
from mrag.loaders.rdf import LoadNotes, Progress, Source, sources
from mrag.rdf import queries
from mrag.rdf.guard import EXPLICIT, IMPLICIT, ReadQuery, read_gate
from mrag.rdf.terms import DEFAULT_PREFIXES, Triple
from mrag.stores.base import Dataset, Layers, Limits, LoadReport, SelectResult, TripleStore
from mrag.stores.process.parsing import prefixes as declared

logger = logging.getLogger(__name__)

T = TypeVar("T")
Layer = Literal["all", "asserted", "inferred"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]{0,63}\Z")
_DELTA_BYTES = 64 << 20
"""Additions up to this size are kept apart, so that reasoning can start from them alone."""

_MOST_LABELS = 100_000
"""Labels that are kept, so that memory does not grow with what a server has been asked for."""


class Searcher(Protocol):
    """Answers the similarity patterns of a query, as N-Triples to be put in its sight."""

    def scratch(self, query: ReadQuery) -> bytes:
        """Return the hits of every search in the query, as N-Triples."""


class KnowledgeGraph:
    """A named knowledge graph in a store.

    Args:
        store: Where the triples are.
        name: Its name in the store; letters, digits, `_` and `-`.
        prefixes: Prefixes for display and for queries, beside the well-known ones.
        languages: Preferred languages of labels and texts, best first; "" is no language.
        graphs: IRIs of graphs of the store that make up the asserted triples, where mrag did not load
            them. By default a store that mrag has no record in is taken as it is.

    Attributes:
        cache: What others derived from the present triples; another one is begun when they change.
        keeps_counts: Whether what reading has counted is kept in the store. A server turns it off: its
            readers must not write, least of all a record that a writer has replaced meanwhile.
        recovered: What an unfinished operation of an earlier process left, in words; else None.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> kg.insert([Triple(URIRef("urn:a"), URIRef("urn:b"), URIRef("urn:c"))])
        1
        >>> kg.query("ASK { <urn:a> <urn:b> <urn:c> }")
        True
        >>> kg.close()
    """

    def __init__(
        self,
        store: TripleStore,
        name: str = "main",
        *,
        prefixes: Mapping[str, str] | None = None,
        languages: Sequence[str] = ("en", "mul", ""),
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
        self._languages = tuple(languages)
        self.searcher: Searcher | None = None
        self.recovered: str | None = None
        self.keeps_counts = True
        self._profile: tuple[int, Profile] | None = None
        self._labels: dict[str, str | None] = {}
        self.cache: dict[str, object] = {}
        self.record = self._opened(graphs)
        self._learn_prefixes()
        if self.record.pending:
            self._recover()

    # -- graphs ------------------------------------------------------------------------------------

    def dataset(self, layer: Layer = "all") -> Dataset:
        """Return the graphs of a layer as the dataset of a query."""
        record = self.record
        graphs = {
            "all": (*record.asserted, *record.inferred),
            "asserted": record.asserted,
            "inferred": record.inferred,
        }[layer]
        named = () if self.as_found else (*record.asserted, *record.inferred, *record.contexts)
        return Dataset(graphs, named)

    @property
    def as_found(self) -> bool:
        """Tell whether the graphs are the store's own layers, which have no names of their own."""
        return self.record.asserted == self._found

    @property
    def revision(self) -> int:
        """Return a number that grows with every change of the triples."""
        return self.record.revision

    @property
    def reasoned(self) -> bool:
        """Tell whether the inferred triples belong to the present asserted ones."""
        return self.record.reasoned == self.record.revision

    def is_inferred(self, graph: str) -> bool:
        """Tell whether a graph of this knowledge graph holds inferred triples."""
        return graph in self.record.inferred

    # -- writing -----------------------------------------------------------------------------------

    def load(
        self,
        paths: Iterable[str | Path],
        *,
        format: str | None = None,
        on_progress: Progress | None = None,
        skip_bad_lines: bool = False,
        replacing: bool = False,
    ) -> LoadReport:
        """Load RDF files, and folders of them, into the asserted graph, whole or not at all.

        Args:
            paths: Turtle, N-Triples, N-Quads, TriG, RDF/XML or JSON-LD, plain or gzipped.
            format: A file ending that overrides those of the paths.
            on_progress: Called with the bytes read and the bytes in all.
            skip_bad_lines: Leave out the bad lines of N-Triples and N-Quads instead of refusing.
            replacing: Forget what the graph held before, as `clear` does, at the moment when the new
                triples come in sight; on a server that reasons itself, before they are sent.

        Raises:
            LoadError: If a file is missing or not well formed; nothing has been stored then.
        """
        found = sources(paths, format=format)
        if replacing and self.store.capabilities.reasoning:
            self.clear()
        started = time.perf_counter()
        self.collect()
        notes = LoadNotes()

        def put(graph: str) -> None:
            nonlocal notes
            notes = self.store.bulk_load(found, graph, on_progress=on_progress, skip_bad_lines=skip_bad_lines)

        names = [str(s.path) for s in found]
        small = sum(s.size() for s in found) <= _DELTA_BYTES
        prefixes = self._prefixes_of(found, "" if replacing else self.record.prefixes)
        new = self._assert(names, put, apart=small, prefixes=prefixes, replacing=replacing)
        return LoadReport(
            self.record.asserted[-1],
            new,
            time.perf_counter() - started,
            tuple(names),
            tuple(notes.rejected),
            tuple(sorted(notes.tags)),
        )

    def insert(self, triples: Iterable[Triple]) -> int:
        """Assert triples, whole or not at all, and return how many were new.

        Raises:
            TermError: If a term is not well formed, or is a blank node.
        """
        text = queries.ntriples(triples)
        if not text:
            return 0

        def put(graph: str) -> None:
            self.store.insert(text, graph)

        return self._assert(["triples"], put, apart=True)

    def set_inferred(self, graphs: Sequence[str]) -> None:
        """Make these graphs the inferred layer of the present triples, in one transaction."""
        revision = self.record.revision + 1
        after = replace(
            self.record, inferred=tuple(graphs), added=(), revision=revision, reasoned=revision, pending=""
        )
        self._write(after)

    def begin(self, work: str) -> None:
        """Note that long work has begun, so that a crash during it can be told at the next opening.

        Raises:
            ConfigError: If the triples are in graphs without names, which rules cannot read beside others.
        """
        if self.as_found:
            raise ConfigError(
                "The triples are in the store's default graph, which is read only here.",
                endpoint=self.store.url,
                hint="Name the graphs to work on with graphs=[…], or ?graph=IRI in the URL.",
            )
        self._write(replace(self.record, pending=json.dumps({work: True})))

    def end(self) -> None:
        """Note that the work noted by `begin` has been given up."""
        self._write(replace(self.record, pending=""))

    def collect(self) -> int:
        """Remove graphs that earlier work left behind, and return how many there were."""
        if self.as_found:
            return 0
        keep = {*self.record.asserted, *self.record.inferred}
        stale = [g for g in self.store.graphs() if g.startswith(self.iri + ":") and g not in keep]
        for graph in stale:
            self.store.clear(graph)
        return len(stale)

    def clear(self) -> None:
        """Forget all triples of this knowledge graph; of data that was there before, only what was added."""
        if self.as_found:
            self.store.clear(self._own_graph)
            self._write(self._counted(self.record))
            return
        revision = self.record.revision + 1
        self._begin_anew(Record((f"{self.iri}:asserted:{revision}",), revision=revision))

    def dump(self, output: IO[bytes], *, layer: Layer = "asserted", format: str = "nt") -> None:
        """Write a layer to a stream as N-Triples (`nt`) or Turtle (`ttl`)."""
        for graph in self.dataset(layer).default:
            self.store.dump(graph, output, format)

    # -- reading -----------------------------------------------------------------------------------

    def count(self, layer: Layer = "asserted") -> int:
        """Count the triples of a layer, by a scan."""
        return sum(self.store.count(graph) for graph in self.dataset(layer).default)

    def cached(self, key: str, make: Callable[[], T]) -> T:
        """Return what is derived from the present triples, made when it is first asked for."""
        cache = self.cache
        if key not in cache:
            cache[key] = make()
        return cast(T, cache[key])

    def select(self, query: str, layer: Layer = "all") -> SelectResult:
        """Answer a SELECT query of the catalogue or of typed patterns, unbounded."""
        return self.store.select(query, self.dataset(layer))

    def ask(self, query: str, layer: Layer = "all") -> bool:
        """Answer an ASK query of the catalogue or of typed patterns."""
        return self.store.ask(query, self.dataset(layer))

    def query(
        self, text: str, *, limits: Limits | None = None, layer: Layer = "all"
    ) -> SelectResult | bool | list[Triple]:
        """Answer a query that a person or a model wrote, guarded and bounded.

        GraphDB's similarity vocabulary works in it, and so do its pseudo-graphs
        `FROM onto:explicit` and `FROM onto:implicit`.

        Args:
            text: A SPARQL 1.1 SELECT, ASK, CONSTRUCT or DESCRIBE query.
            limits: Caps; 30 s, 100,000 rows and 64 MiB by default.
            layer: The triples it sees.

        Returns:
            Rows for SELECT, a bool for ASK, triples for CONSTRUCT and DESCRIBE.

        Raises:
            QueryRefused: If the read gate or a cap refuses it.
            QueryTimeout: At its deadline; it has been ended.
        """
        dataset, limits, began = self.dataset(layer), limits or Limits(), time.monotonic()
        read = read_gate(text, dataset.named, self.query_prefixes, limits.seconds)
        if read.graphs or read.named:
            dataset = self.named(read.graphs, read.named)
        extra = self.extra(read)  # nosec B610 # not Django
        left = replace(limits, seconds=max(0.001, limits.seconds - (time.monotonic() - began)))
        return self.store.bounded(read.text, dataset, left, extra)  # nosec B610 # not Django

    @property
    def query_prefixes(self) -> dict[str, str]:
        """Return the prefixes that a query need not declare."""
        return {"onto": "http://www.ontotext.com/", **self.prefixes}

    def extra(self, read: ReadQuery) -> bytes:
        """Return the hits of the similarity searches in a query, to be put in its sight as N-Triples."""
        return self.searcher.scratch(read) if self.searcher is not None else b""

    def named(self, graphs: Sequence[str], named: Sequence[str] = ()) -> Dataset:
        """Return the dataset that `FROM` and `FROM NAMED` name, GraphDB's pseudo-graphs resolved."""
        found: list[str] = []
        for name in graphs:
            layer: Layer | None = {EXPLICIT: "asserted", IMPLICIT: "inferred"}.get(name)  # type: ignore[assignment]
            found.extend(self.dataset(layer).default if layer else (name,))
        return Dataset(tuple(dict.fromkeys(found)), tuple(named))

    def profile(self) -> Profile:
        """Return the counts by predicate, from the record or by one scan."""
        found, record = self._profile, self.record
        if found is None or found[0] != record.revision:
            # With the revision, because another thread may change the triples while they are counted.
            found = self._profile = (record.revision, stored_profile(record) or self._count_profile())
        return found[1]

    def labels(self, entities: Iterable[str]) -> dict[str, str | None]:
        """Return the best label of each entity, None where it has none.

        The first property of `LABELS` that gives one in the best language wins; ties break by the
        text. Answers are kept until the triples change.
        """
        wanted = dict.fromkeys(map(str, entities))
        # Another thread may change the triples meanwhile: what was read before stays out of the new answers.
        kept = self._labels
        found = {e: kept[e] for e in wanted if e in kept}
        missing = [e for e in wanted if e not in found]
        if missing:
            properties = self.profile().labels
            found.update(fetch_labels(self.store, self.dataset(), missing, properties, self._languages))
            if len(kept) < _MOST_LABELS:
                kept.update(found)
            elif kept is self._labels:
                self._labels = {}
        return {e: found[e] for e in wanted}

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the preferred languages, best first; "" is no language."""
        return self._languages

    @languages.setter
    def languages(self, tags: Sequence[str]) -> None:
        self._languages = tuple(tags)
        self._labels = {}

    def language_rank(self, language: str) -> int:
        """Return how far down the preferred languages a language tag stands; 0 is best.

        Example:
            >>> from mrag.stores.oxigraph import OxigraphStore
            >>> kg = KnowledgeGraph(OxigraphStore(), languages=("de", "en"))
            >>> [kg.language_rank(tag) for tag in ("de", "de-AT", "en", "fr")]
            [0, 1, 2, 4]
        """
        return language_rank(language, self._languages)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> KnowledgeGraph:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- inside ------------------------------------------------------------------------------------

    def _opened(self, graphs: Sequence[str]) -> Record:
        """Read the record, or make one for the graphs named or found."""
        self._found: tuple[str, ...] = ()
        self._chosen = bool(graphs)
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
        layers = Layers(tuple(graphs)) if graphs else layers or Layers(())
        if not graphs and not set(layers.asserted) <= set(self.store.graphs()):
            self._found = layers.asserted
        return self._counted(Record(layers.asserted, layers.inferred, kept=False))

    def _counted(self, record: Record) -> Record:
        """Number the state of triples that others may change by how many there are."""
        try:
            count = sum(self.store.count(g) for g in record.asserted)
        except QueryTimeout:
            count = 0  # too large to count, so that changes by others go unnoticed
        reasoned = count if self.store.capabilities.reasoning else -1
        return replace(record, triples=count, revision=count, reasoned=reasoned)

    def _count_profile(self) -> Profile:
        counts: dict[str, int] = {}
        for p, n in self.select(queries.get("explore/predicates").text):
            counts[str(p)] = counts.get(str(p), 0) + int(str(n))
        if not self.record.kept or not self.keeps_counts:
            return profile_of(counts)
        # It is kept for the next time only: a question can be answered where nothing can be written.
        with suppress(StoreError):
            self._write(replace(self.record, profile=with_profile(counts, self.revision)), changed=False)
        return profile_of(counts)

    def _assert(
        self,
        names: Sequence[str],
        put: Callable[[str], None],
        *,
        apart: bool,
        prefixes: str | None = None,
        replacing: bool = False,
    ) -> int:
        """Put triples into an asserted graph, and return how many are new.

        After reasoning they go to a graph of their own, where `apart` allows it, so that the next
        reasoning can start from them alone. Those that replace all others fill a new graph in any case.
        """
        if self.store.capabilities.reasoning:
            return self._assert_as_found(put, prefixes)
        if not self.record.kept and not self._chosen:
            logger.warning(
                "what the store held before is not part of what is loaded; name its graphs to have both"
            )
            self._found, self.record = (), Record((f"{self.iri}:asserted:0",))
        before = self.record
        apart = apart and bool(before.inferred) and (self.reasoned or bool(before.added))
        # Where a load cannot land in one step it fills a graph that no one reads yet.
        apart = apart or replacing or not self.store.capabilities.atomic
        graph = f"{self.iri}:asserted:{before.revision + 1}" if apart else before.asserted[0]
        prefixes = before.prefixes if prefixes is None else prefixes
        pending = {
            "load": list(names),
            "graph": graph,
            "triples": self.store.count(graph)
            if len(before.asserted) > 1
            else 0
            if apart
            else before.triples,
            "prefixes": prefixes,
            "replacing": replacing,
        }
        self._write(replace(before, pending=json.dumps(pending)))
        try:
            put(graph)
        except BaseException:
            # Ctrl-C is heard after a step of the engine, so all may have been put by then. What cannot be
            # settled now, for the disk may be full, is settled by the next opening.
            with suppress(StoreError):
                self._settle()
            raise
        after = self._asserted(before, graph, prefixes, replacing=replacing)
        return after.triples - (0 if replacing else before.triples)

    @property
    def _own_graph(self) -> str:
        """Return where loads go on a server that keeps layers itself and no record."""
        return f"urn:graph:{self.name}"

    def _assert_as_found(self, put: Callable[[str], None], prefixes: str | None) -> int:
        before = self.record.triples
        put(self._own_graph)
        self.store.remember(json.loads(prefixes or "{}"))
        self._write(self._counted(self.record))
        self._learn_prefixes()
        return self.record.triples - before

    def _asserted(self, before: Record, graph: str, prefixes: str, *, replacing: bool = False) -> Record:
        """Finish what `_assert` began; recovery runs it again, so it may come twice."""
        if replacing:
            count = self.store.count(graph)
            anew = Record((graph,), revision=before.revision + 1, triples=count, prefixes=prefixes)
            self._begin_anew(anew)
            self._learn_prefixes()
            return self.record
        inferred, added, asserted = before.inferred, before.added, before.asserted
        others = [g for g in asserted if g != graph]
        if graph not in asserted and not before.triples:
            asserted = (graph,)
        elif graph not in asserted:
            self._remove_doubles(graph, others)
            self._remove_doubles(graph, inferred, from_others=True)
            asserted, added = (*asserted, graph), (*added, graph)
            if not inferred:
                added = ()
        else:
            # Too much to tell apart: what was inferred goes out of sight until the next reasoning.
            for other in others:
                self._remove_doubles(other, [graph])
            inferred, added = (), ()
        after = replace(
            before,
            asserted=asserted,
            inferred=inferred,
            added=added,
            revision=before.revision + 1,
            triples=sum(self.store.count(g) for g in asserted),
            pending="",
            prefixes=prefixes,
        )
        self._write(after)
        self._learn_prefixes()
        return after

    def _remove_doubles(self, graph: str, others: Sequence[str], *, from_others: bool = False) -> None:
        """Take out of a small graph what others hold too, or out of them what it holds."""
        rows = [(graph, other, other if from_others else graph) for other in others]
        if rows:
            self.store.update(queries.get("update/remove-doubles").bind(scanned_probed_graph=rows))

    def _begin_anew(self, after: Record) -> None:
        """Write a record that names none of the graphs of before, then remove those."""
        contexts = self.record.contexts
        self._write(replace(after, pending=json.dumps({"clear": list(contexts)}) if contexts else ""))
        self._forget(contexts)

    def _forget(self, contexts: Sequence[str]) -> None:
        """Remove graphs that the record no longer names; recovery runs it again, so it may come twice."""
        self.collect()
        for graph in contexts:
            self.store.clear(graph)
        if self.record.pending:
            self._write(replace(self.record, pending=""))

    def _prefixes_of(self, found: Sequence[Source], before: str) -> str:
        known = json.loads(before) if before else {}
        known.update(declared(found))
        return json.dumps(known, sort_keys=True)

    def _learn_prefixes(self) -> None:
        kept = json.loads(self.record.prefixes) if self.record.prefixes else {}
        kept.update(self.store.prefixes())
        self.prefixes.update({p: n for p, n in kept.items() if p not in self.prefixes})

    def _recover(self) -> None:
        self.recovered = self._settle()
        logger.warning("%s", self.recovered)

    def _settle(self) -> str:
        """Finish or discard what was begun and not ended, and return what that was, in words."""
        pending = json.loads(self.record.pending)
        before = replace(self.record, pending="")
        if "clear" in pending:
            self._forget(pending["clear"])
            return "What the graph held before it was replaced has now been removed for good."
        if "load" not in pending:
            self._write(before)
            work = next(iter(pending), "operation")
            return f"An unfinished {work} was discarded; the graph is as it was before."
        # Where a load cannot land in one step, a graph that holds something may hold a part.
        atomic = self.store.capabilities.atomic
        if not atomic or self.store.count(pending["graph"]) == pending["triples"]:
            self._write(before)
            return f"An unfinished load of {_few(pending['load'])} was discarded."
        replacing = bool(pending.get("replacing"))
        self._asserted(before, pending["graph"], pending["prefixes"], replacing=replacing)
        return f"The load of {_few(pending['load'])} had been completed before the interruption."

    def _write(self, record: Record, *, changed: bool = True) -> None:
        if not self.as_found:
            record = replace(record, kept=True)
            write_record(self.store, self.iri, record)
        self.written(record, changed=changed)

    def written(self, record: Record, *, changed: bool = True) -> None:
        """Go on with a record that has been written to the store."""
        self.record = record
        if changed:
            self._profile, self._labels, self.cache = None, {}, {}


def _few(paths: Sequence[str]) -> str:
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
