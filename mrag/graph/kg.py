"""A knowledge graph: a store, the names of its graphs, and how its entities are labelled.

A record in the system graph names the graphs and carries a revision; a graph that the record does not name is
ignored. So whatever changes the triples takes the same way:

1. `KnowledgeGraph.new_graph` names a graph that no one reads yet, and long work announces itself by `begin`.
2. The graph is filled.
3. `KnowledgeGraph.commit` replaces the record in one transaction. After a crash the state is that of before
   it or of after it, and never a part.
4. What the record no longer names is removed, now or by `collect` at the next occasion.

A server that reasons by itself keeps no record: all its graphs are in sight, and the number of its triples
stands for the revision.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast
from typing import Literal as OneOf
from uuid import uuid4

import pyoxigraph as ox
from platformdirs import user_data_path

from mrag.errors import ConfigError, QueryTimeout, StoreError
from mrag.graph import loading
from mrag.graph.naming import fetch_labels, language_rank, names_over, naming_properties
from mrag.graph.record import (
    UNNAMED,
    GraphChange,
    Profile,
    Record,
    Status,
    TouchedEntities,
    entry,
    joined,
    profile_of,
    read_record,
    record_update,
    remove_triples,
    status_of,
    stored_profile,
    with_profile,
)
from mrag.loaders.rdf import Progress, sources, with_imports
from mrag.rdf import queries
from mrag.rdf.guard import EXPLICIT, IMPLICIT, PROVENANCE, ReadQuery, read_gate
from mrag.rdf.namespaces import WIKIBASE
from mrag.rdf.patterns import to_data
from mrag.rdf.terms import DEFAULT_PREFIXES, Quad, Term, Triple, iri, to_ox
from mrag.storage.files import make_folder
from mrag.storage.files import replace as replace_file
from mrag.stores.base import Dataset, Limits, LoadReport, SelectResult, StoreLayers, TripleStore

if TYPE_CHECKING:
    from mrag.front import Shortcuts
else:
    # `mrag.front`, which is above all that a knowledge graph is used by, gives it these methods.
    Shortcuts = object

logger = logging.getLogger(__name__)

Layer: TypeAlias = OneOf["all", "asserted", "inferred"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]{0,63}\Z")

T = TypeVar("T")

_MAX_LABELS = 100_000
"""Labels that are held, so that memory does not grow with what a server has been asked for."""

_MARKED = 2_000_000
"""Triples whose state is marked at most, which takes some seconds for each hundred thousand."""


class Searcher(Protocol):
    """Answers the similarity patterns of a query, as N-Triples to be put in its sight."""

    def scratch(self, query: ReadQuery) -> bytes:
        """Return the hits of every search in the query, as N-Triples."""


class KnowledgeGraph(Shortcuts):
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
        chosen: Whether the graphs were named when it was opened.
        within: The named graph that alone is in sight; empty for all of it.
        landing: Held while the store and the record are not of the same state.
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

    within = ""

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
        self.cache: dict[str, object] = {}
        self.chosen = bool(graphs)
        self.landing: AbstractContextManager[object] = nullcontext()
        self._found: tuple[str, ...] = ()
        self.record = self._opened(graphs)
        self._languages = tuple(languages)
        self.searcher: Searcher | None = None
        self.recovered: str | None = None
        self.keeps_counts = True
        self._profile: tuple[int, Profile] | None = None
        self._labels: dict[str, str | None] = {}
        self._mark = ""
        loading.learn_prefixes(self)
        if self.record.pending:
            self.recovered = loading.recover(self)
            logger.warning("%s", self.recovered)

    def load(
        self,
        paths: Iterable[str | Path],
        *,
        format: str | None = None,
        on_progress: Progress | None = None,
        skip_bad_lines: bool = False,
        replacing: bool = False,
        imports: bool = False,
    ) -> LoadReport:
        """Load RDF files, and folders of them, into the asserted graph, whole or not at all.

        Args:
            paths: RDF, or notations of OWL and OBO (extra `owl`), plain or gzipped.
            format: A file ending that overrides those of the paths.
            on_progress: Called with the bytes read and the bytes in all.
            skip_bad_lines: Leave out the bad lines of N-Triples and N-Quads instead of refusing.
            replacing: Forget what the graph held before, as `clear` does, at the moment when the new
                triples come in sight; on a server that reasons itself, before they are sent.
            imports: Load what the files import, too, from local files, see `mrag.loaders.rdf`.

        Raises:
            LoadError: If a file is missing or not well formed; nothing has been stored then.
        """
        files = sources(paths, format=format)
        if imports:
            files = with_imports(files)
        return loading.load(self, files, on_progress, skip_bad_lines=skip_bad_lines, replacing=replacing)

    def insert(self, triples: Iterable[Triple]) -> int:
        """Assert triples, whole or not at all, and return how many were new.

        Raises:
            TermError: If a term is not well formed, or is a blank node.
        """
        return loading.insert(self, triples)

    def dump(self, output: IO[bytes], *, layer: Layer = "asserted", format: str = "nt") -> None:
        """Write a layer to a stream.

        Args:
            output: The stream.
            layer: The layer.
            format: `nt` or `ttl` for all of it in one graph, `nq` or `trig` for its named graphs as they are.
        """
        graphs = self.dataset(layer).default
        if format in ("nq", "trig"):
            write_quads(self, graphs, output, format)
            return
        for graph in graphs:
            self.store.dump(graph, output, format)

    def count(self, layer: Layer = "asserted") -> int:
        """Count the triples of a layer, by a scan."""
        return self.counted(self.dataset(layer).default)

    def cached(self, key: str, make: Callable[[], T]) -> T:
        """Return what is derived from the present triples, made when it is first asked for."""
        cache = self.cache
        if key not in cache:
            cache[key] = make()
        return cast(T, cache[key])

    def select(self, query: str, layer: Layer = "all") -> SelectResult:
        """Answer a SELECT query of the catalogue or of typed patterns, unbounded."""
        return self.store.select(query, self.dataset(layer))

    def holds(self, query: str, layer: Layer = "all") -> bool:
        """Answer an ASK query of the catalogue or of typed patterns."""
        return self.store.ask(query, self.dataset(layer))

    def query(
        self, text: str, *, limits: Limits | None = None, layer: Layer = "all"
    ) -> SelectResult | bool | list[Triple]:
        """Answer a query that a person or a model wrote, guarded and bounded.

        GraphDB's similarity vocabulary works in it, and so do its pseudo-graphs
        `FROM onto:explicit` and `FROM onto:implicit`. `FROM mrag:provenance` also shows where completed
        triples come from.

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
        extra = self.extra(read)  # noqa: S610 # not Django
        left = replace(limits, seconds=max(0.001, limits.seconds - (time.monotonic() - began)))
        return self.store.bounded(read.text, dataset, left, extra)

    @property
    def beside(self) -> tuple[str, ...]:
        """Return the graphs that say where completed triples come from; no question is answered from them.

        A server that reasons itself has all its graphs in sight.
        """
        if self.store.capabilities.reasoning:
            return ()
        return (f"urn:mrag:completion:{self.name}", f"urn:mrag:evidence:{self.name}")

    @property
    def query_prefixes(self) -> dict[str, str]:
        """Return the prefixes that a query need not declare."""
        return {"onto": "http://www.ontotext.com/", **self.prefixes}

    def extra(self, read: ReadQuery) -> bytes:
        """Return the hits of the similarity searches in a query, to be put in its sight as N-Triples."""
        return self.searcher.scratch(read) if self.searcher is not None else b""

    def named(self, graphs: Sequence[str], named: Sequence[str] = ()) -> Dataset:
        """Return the dataset that `FROM` and `FROM NAMED` name, pseudo-graphs resolved."""
        names: list[str] = []
        for name in graphs:
            if name == PROVENANCE:
                names.extend((*self.dataset().default, *self.beside))
                continue
            layer: Layer | None = {EXPLICIT: "asserted", IMPLICIT: "inferred"}.get(name)  # type: ignore[assignment]
            names.extend(self.dataset(layer).default if layer else (name,))
        return Dataset(tuple(dict.fromkeys(names)), tuple(named))

    def profile(self) -> Profile:
        """Return the counts by predicate, from the record or by one scan."""
        profile, record = self._profile, self.record
        if profile is None or profile[0] != record.revision:
            # With the revision, because another thread may change the triples while they are counted.
            profile = self._profile = (record.revision, stored_profile(record) or self._count_profile())
        return profile[1]

    def labels(self, entities: Iterable[str]) -> dict[str, str | None]:
        """Return the best label of each entity, None where it has none.

        The first property of `LABELS` that gives one in the best language wins; ties break by the
        text. Properties chosen by `label_properties` come before these, and those that were found to name
        things without a label behind them. Answers are kept until the triples change.
        """
        requested = dict.fromkeys(map(str, entities))
        # Another thread may change the triples meanwhile: what was read before stays out of the new answers.
        kept = self.known_labels
        labels = {e: kept[e] for e in requested if e in kept}
        missing = [e for e in requested if e not in labels]
        if missing:
            naming, claims = self.profile().naming, self.claims()
            bearers = {e: claims.get(e, e) for e in missing}
            read = fetch_labels(self.store, self.dataset(), [*bearers.values()], naming, self._languages)
            labels.update({e: read[by] for e, by in bearers.items()})
            if nameless := [e for e in missing if labels[e] is None]:
                for e, names in names_over(self, nameless).items():
                    best = min(names, key=lambda name: language_rank(name[0], self._languages))
                    labels[e] = " ".join(best[1].split())
            kept.update(labels)
        return {e: labels[e] for e in requested}

    def claims(self) -> Mapping[str, str]:
        """Return the entities that tell what properties are called, as those of Wikidata do."""

        def find() -> dict[str, str]:
            if WIKIBASE + "directClaim" not in self.profile().predicates:
                return {}
            return {str(p): str(e) for p, e in self.select(queries.get("label/claims").text)}

        return self.cached("claims", find)

    @property
    def known_labels(self) -> dict[str, str | None]:
        """Return the labels that have been read of the present triples, to which others may be added."""
        if len(self._labels) >= _MAX_LABELS:
            self._labels = {}
        return self._labels

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the preferred languages, best first; "" is no language."""
        return self._languages

    @languages.setter
    def languages(self, tags: Sequence[str]) -> None:
        self._languages = tuple(tags)
        self._labels = {}

    @property
    def label_properties(self) -> tuple[str, ...]:
        """Return the properties that name things, best first: IRIs of those that occur.

        Setting it chooses properties, by IRI or CURIE, that come before all others; the choice is kept with
        the graph, and an index is then older than the graph.

        Raises:
            ConfigError: If no triple has one of the properties that are chosen.

        Example:
            >>> from rdflib import Literal, URIRef
            >>> from mrag.stores.oxigraph import OxigraphStore
            >>> kg = KnowledgeGraph(OxigraphStore())
            >>> _ = kg.insert([Triple(URIRef("urn:a"), URIRef("urn:p:callsign"), Literal("Kilo 7"))])
            >>> kg.label_properties = ["urn:p:callsign"]
            >>> kg.labels(["urn:a"])
            {'urn:a': 'Kilo 7'}
        """
        return self.profile().labels

    @label_properties.setter
    def label_properties(self, names: Iterable[str]) -> None:
        chosen = tuple(dict.fromkeys(str(iri(name, self.prefixes)) for name in names))
        for name in chosen:
            if name not in self.profile().predicates:
                raise ConfigError("No triple has this property, so it names nothing.", term=name)
        record = self.record
        revision = record.revision + 1
        reasoned = revision if self.reasoned else record.reasoned
        labels = json.dumps(chosen) if chosen else ""
        self.commit(replace(record, labels=labels, revision=revision, reasoned=reasoned))

    def language_rank(self, language: str) -> int:
        """Return how far down the preferred languages a language tag stands; 0 is best."""
        return language_rank(language, self._languages)

    def dataset(self, layer: Layer = "all") -> Dataset:
        """Return the graphs of a layer as the dataset of a query."""
        record = self.record
        graphs = () if layer == "inferred" else record.asserted
        graphs = graphs if layer == "asserted" else (*graphs, *record.inferred)
        # What named graphs assert is in one graph more, so that the default graph has it.
        own = tuple(g for g in (*record.asserted, *record.inferred) if g != record.merged)
        if self.as_found:
            own = (self.server_graph(),) if record.contexts else ()
        named = (*own, *record.contexts)
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
        if part:
            return f"urn:graph:{self.name}:{part}"
        return self.record.asserted[0] if self.chosen else f"urn:graph:{self.name}"

    def require_writable(self) -> None:
        """Refuse to write where triples are in graphs without names, which rules cannot read apart."""
        if self.as_found and not self.store.capabilities.reasoning:
            what = "The triples are in the store's default graph, which is read only here."
            hint = "Name the graphs to work on with graphs=[…], or ?graph=IRI in the URL."
            raise ConfigError(what, endpoint=self.store.url, hint=hint)

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
            if not (self.as_found or self.store.capabilities.reasoning):
                born = after.born or self.record.born or self._birth()
                after, before = replace(after, kept=True, born=born), self.revision
                later = before < after.revision
                kept = entry(self.iri, before, after.revision, change) if change and later else ""
                self.store.update(";\n".join(p for p in (record_update(self.iri, after), also, kept) if p))
            self.written(after, changed=changed)

    def _birth(self) -> str:
        # An embedded store has a mark of its own.
        return "" if self.store.url.startswith("oxigraph:") else uuid4().hex

    def written(self, record: Record, *, changed: bool = True) -> None:
        """Go on with a record that is in the store already."""
        self.record = record
        if changed:
            self.cache, self._profile, self._labels = {}, None, {}

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
            after = remove_triples(after, {out}, self.store.count(out), gone=True)
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
        in_sight = {*self.record.asserted, *self.record.inferred, *self.record.hidden}
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
        for graph in contexts:
            self.store.clear(graph)
        if self.record.pending:
            self.end()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> KnowledgeGraph:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    @property
    def state(self) -> str:
        """Return a mark of the triples of a store that keeps no record of them; "" where there is none."""
        if self.record.kept:
            return ""
        self.profile()
        return self._mark

    def _count_profile(self) -> Profile:
        counts: dict[str, int] = {}
        for p, n in self._predicates():
            counts[str(p)] = counts.get(str(p), 0) + int(str(n))
        chosen = self.record.chosen_labels
        profile = profile_of(counts, chosen, self._naming(counts))
        if self.record.kept and self.keeps_counts:
            # It is kept for the next time only: a question can be answered where nothing can be written.
            with suppress(StoreError):
                self.commit(replace(self.record, profile=with_profile(profile, self.revision)), changed=False)
        return profile

    def _predicates(self) -> list[Sequence[Term | None]]:
        """Count the predicates, and mark the state of triples that others may change."""
        self._mark = ""
        if not self.record.kept and 0 < self.record.triples <= _MARKED:
            # A store that cannot do so, or not in time, is asked anew by each process.
            with suppress(StoreError):
                rows = list(self.select(queries.get("kg/state").text))
                state = repr((self.record.labels, sorted(tuple(map(str, row)) for row in rows)))
                self._mark = hashlib.blake2b(state.encode(), digest_size=16).hexdigest()
                return [row[:2] for row in rows]
        return list(self.select(queries.get("explore/predicates").text))

    def _naming(self, counts: Mapping[str, int]) -> Sequence[str]:
        """Return the properties that were found to name things, kept beside the indexes with the state."""
        known = profile_of(counts, self.record.chosen_labels).labels
        return [str(p) for p in self.kept("naming", lambda: naming_properties(self, counts, known))]

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """Return values of JSON that are derived from a server's triples, kept with a mark of their state."""
        place = home(self) if self._mark else None
        file = place.parent / f"{name}.json" if place is not None else None
        if file is not None:
            with suppress(OSError, ValueError, KeyError):
                kept = json.loads(file.read_bytes())
                if kept["state"] == self._mark:
                    return kept[name]
        value = make()
        if file is not None and self.keeps_counts:
            with suppress(OSError):
                make_folder(file.parent)
                replace_file(file, json.dumps({"state": self._mark, name: value}).encode())
        return value

    def _opened(self, graphs: Sequence[str]) -> Record:
        """Read the record, or make one for the graphs named or found."""
        layers = self.store.layers() if self.store.capabilities.reasoning else None
        record = read_record(self.store, self.iri) if layers is None else None
        if record is not None and record.kept and not set(graphs) <= {*record.asserted}:
            what = f"The knowledge graph {self.name!r} of this store is made of other graphs."
            hint = "Leave the graphs out, or give this selection another name with --kg or name=."
            raise ConfigError(what, endpoint=self.store.url, hint=hint)
        if record is not None and (record.kept or not (graphs or (layers := self.store.layers()))):
            return replace(record, kept=True)
        layers = StoreLayers(tuple(graphs)) if graphs else layers or StoreLayers(())
        # What a server tells from what it infers is no graph of its own.
        if not graphs and (layers.inferred or not set(layers.asserted) <= set(self.store.graphs())):
            self._found = layers.asserted
        return self._counted(Record(layers.asserted, layers.inferred, kept=False))

    def _counted(self, record: Record) -> Record:
        """Number the state of triples that others may change by how many there are."""
        names = self.store.graphs() if self.store.capabilities.reasoning else ()
        try:
            count = self.counted(record.asserted)
        except QueryTimeout:
            count = 0  # too large to count, so that changes by others go unnoticed
        if not self.store.capabilities.reasoning:
            return replace(record, triples=count, revision=count, reasoned=-1)
        contexts = () if self.chosen else tuple(g for g in names if g != self.server_graph())
        return replace(record, triples=count, revision=count, reasoned=count, contexts=contexts)


def home(kg: KnowledgeGraph) -> Path | None:
    """Return where indexes of a knowledge graph lie: beside an embedded store, else with the user's data."""
    kind, _, rest = kg.store.url.partition(":")
    if kind == "oxigraph":
        return Path(rest + ".mrag") / kg.name / "index" if rest else None
    digest = hashlib.blake2b(kg.store.identity.encode(), digest_size=8).hexdigest()
    return user_data_path("mrag") / digest / kg.name / "index"


def _quad(quad: Quad) -> ox.Quad:
    graph, s, p, o = map(to_ox, quad)
    return ox.Quad(s, p, o, graph)  # type: ignore[arg-type]  # they come from triples


def write_quads(kg: KnowledgeGraph, graphs: Sequence[str], output: IO[bytes], format: str) -> None:
    """Write graphs of a knowledge graph as one default graph, and behind it the named graphs."""
    record = kg.record
    named = record.contexts if {*graphs} & {*record.asserted} else ()

    def quads() -> Iterator[ox.Quad]:
        for graph in graphs:
            # What only named graphs assert is written with them.
            parts: tuple[str, ...] = (graph,) if graph != record.merged else ()
            if graph == EXPLICIT and named:
                parts = (UNNAMED, kg.server_graph())
            for part in parts:
                yield from _quads_of(kg, part, ox.DefaultGraph())
        for graph in named:
            yield from _quads_of(kg, graph, ox.NamedNode(graph))

    if format == "nq":
        ox.serialize(quads(), output, ox.RdfFormat.N_QUADS)
    else:
        usable = {prefix: name for prefix, name in kg.prefixes.items() if name and "://" in name}
        ox.serialize(quads(), output, ox.RdfFormat.TRIG, prefixes=usable)


def _quads_of(kg: KnowledgeGraph, graph: str, name: ox.NamedNode | ox.DefaultGraph) -> Iterator[ox.Quad]:
    with tempfile.TemporaryFile() as kept:
        kg.store.dump(graph, kept)
        kept.seek(0)
        for quad in ox.parse(kept, ox.RdfFormat.N_TRIPLES, lenient=True):
            yield ox.Quad(quad.subject, quad.predicate, quad.object, name)
