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
from dataclasses import replace
from pathlib import Path
from typing import IO, Literal, Protocol

from mrag import queries
from mrag.errors import ConfigError, QueryTimeout
from mrag.guard import EXPLICIT, IMPLICIT, ReadQuery, read_gate
from mrag.labels import fetch_labels, language_rank
from mrag.loaders.rdf import LoadNotes, Progress, Source, sources
from mrag.record import Profile, Record, profile_of, read_record, stored_profile, with_profile, write_record
from mrag.stores.base import Dataset, Layers, Limits, LoadReport, SelectResult, TripleStore
from mrag.terms import DEFAULT_PREFIXES, Triple

logger = logging.getLogger(__name__)

Layer = Literal["all", "asserted", "inferred"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]{0,63}\Z")
_DELTA_BYTES = 64 << 20
"""Additions up to this size are kept apart, so that reasoning can start from them alone."""


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
        cache: What others derived from the present triples; emptied when they change.
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
        self._profile: Profile | None = None
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
    ) -> LoadReport:
        """Load RDF files, and folders of them, into the asserted graph, whole or not at all.

        Args:
            paths: Turtle, N-Triples, N-Quads, TriG, RDF/XML or JSON-LD, plain or gzipped.
            format: A file ending that overrides those of the paths.
            on_progress: Called with the bytes read and the bytes in all.
            skip_bad_lines: Leave out the bad lines of N-Triples and N-Quads instead of refusing.

        Raises:
            LoadError: If a file is missing or not well formed; nothing has been stored then.
        """
        found = sources(paths, format=format)
        started = time.perf_counter()
        self.collect()
        notes = LoadNotes()

        def put(graph: str) -> None:
            nonlocal notes
            notes = self.store.bulk_load(found, graph, on_progress=on_progress, skip_bad_lines=skip_bad_lines)

        names = [str(s.path) for s in found]
        small = sum(s.size() for s in found) <= _DELTA_BYTES
        new = self._assert(names, put, apart=small, prefixes=self._prefixes_of(found))
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
        text = "".join(f"{queries.term(t.s)} {queries.term(t.p)} {queries.term(t.o)} .\n" for t in triples)
        if not text:
            return 0

        def put(graph: str) -> None:
            self.store.insert(text.encode(), graph)

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
        revision, contexts = self.record.revision + 1, self.record.contexts
        self._write(Record((f"{self.iri}:asserted:{revision}",), revision=revision))
        self.collect()
        for graph in contexts:
            self.store.clear(graph)

    def dump(self, output: IO[bytes], *, layer: Layer = "asserted", format: str = "nt") -> None:
        """Write a layer to a stream as N-Triples (`nt`) or Turtle (`ttl`)."""
        for graph in self.dataset(layer).default:
            self.store.dump(graph, output, format)

    # -- reading -----------------------------------------------------------------------------------

    def count(self, layer: Layer = "asserted") -> int:
        """Count the triples of a layer, by a scan."""
        return sum(self.store.count(graph) for graph in self.dataset(layer).default)

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
        dataset = self.dataset(layer)
        read = read_gate(text, dataset.named, self.query_prefixes)
        if read.graphs or read.named:
            dataset = self.named(read.graphs, read.named)
        return self.store.bounded(read.text, dataset, limits or Limits(), self.extra(read))

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
        if self._profile is None:
            self._profile = stored_profile(self.record) or self._count_profile()
        return self._profile

    def labels(self, entities: Iterable[str]) -> dict[str, str | None]:
        """Return the best label of each entity, None where it has none.

        The first property of `LABELS` that gives one in the best language wins; ties break by the
        text. Answers are kept until the triples change.
        """
        wanted = dict.fromkeys(map(str, entities))
        missing = [e for e in wanted if e not in self._labels]
        if missing:
            properties = self.profile().labels
            self._labels.update(
                fetch_labels(self.store, self.dataset(), missing, properties, self._languages)
            )
        return {e: self._labels[e] for e in wanted}

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the preferred languages, best first; "" is no language."""
        return self._languages

    @languages.setter
    def languages(self, tags: Sequence[str]) -> None:
        self._languages = tuple(tags)
        self._labels.clear()

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
        if not self.record.kept:
            return profile_of(counts)
        self._write(replace(self.record, profile=with_profile(counts, self.revision)), changed=False)
        return profile_of(counts)

    def _assert(
        self,
        names: Sequence[str],
        put: Callable[[str], None],
        *,
        apart: bool,
        prefixes: str | None = None,
    ) -> int:
        """Put triples into an asserted graph, and return how many are new.

        After reasoning they go to a graph of their own, where `apart` allows it, so that the next
        reasoning can start from them alone.
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
        apart = apart or not self.store.capabilities.atomic
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
        }
        self._write(replace(before, pending=json.dumps(pending)))
        try:
            put(graph)
        except BaseException:
            self._write(before)
            raise
        return self._asserted(before, graph, prefixes).triples - before.triples

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

    def _asserted(self, before: Record, graph: str, prefixes: str) -> Record:
        """Finish what `_assert` began; recovery runs it again, so it may come twice."""
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

    def _prefixes_of(self, found: Sequence[Source]) -> str:
        known = json.loads(self.record.prefixes) if self.record.prefixes else {}
        for source in found:
            known.update(source.prefixes())
        return json.dumps(known, sort_keys=True)

    def _learn_prefixes(self) -> None:
        kept = json.loads(self.record.prefixes) if self.record.prefixes else {}
        kept.update(self.store.prefixes())
        self.prefixes.update({p: n for p, n in kept.items() if p not in self.prefixes})

    def _recover(self) -> None:
        pending = json.loads(self.record.pending)
        before = replace(self.record, pending="")
        if "load" not in pending:
            work = next(iter(pending), "operation")
            self.recovered = f"An unfinished {work} was discarded; the graph is as it was before."
            self._write(before)
        elif self.store.count(pending["graph"]) == pending["triples"]:
            self.recovered = f"An unfinished load of {_few(pending['load'])} was discarded."
            self._write(before)
        else:
            self._asserted(before, pending["graph"], pending["prefixes"])
            self.recovered = (
                f"The load of {_few(pending['load'])} had been completed before the interruption."
            )
        logger.warning("%s", self.recovered)

    def _write(self, record: Record, *, changed: bool = True) -> None:
        if not self.as_found:
            record = replace(record, kept=True)
            write_record(self.store, self.iri, record)
        self.written(record, changed=changed)

    def written(self, record: Record, *, changed: bool = True) -> None:
        """Go on with a record that has been written to the store."""
        self.record = record
        if changed:
            self._profile = None
            self._labels.clear()
            self.cache.clear()


def _few(paths: Sequence[str]) -> str:
    return ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
