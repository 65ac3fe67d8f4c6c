"""A knowledge graph: a store, the names of its graphs, and how its entities are labelled.

Each knowledge graph has one asserted graph and, after reasoning, graphs of inferred triples. How they come
into sight and go out of it is in `mrag.graph.layers`, how files are loaded in `mrag.graph.loading`.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, TypeVar, cast

from mrag.errors import ConfigError, StoreError
from mrag.graph import loading
from mrag.graph.layers import GraphLayers, Layer, write_quads
from mrag.graph.naming import fetch_labels, language_rank, naming_properties
from mrag.graph.record import Profile, Record, profile_of, stored_profile, with_profile
from mrag.loaders.checks import LeftOutFile
from mrag.loaders.rdf import Progress
from mrag.rdf import queries
from mrag.rdf.guard import EXPLICIT, IMPLICIT, PROVENANCE, ReadQuery, read_gate
from mrag.rdf.terms import Triple, iri
from mrag.stores.base import Dataset, Limits, LoadReport, SelectResult, TripleStore

if TYPE_CHECKING:
    from mrag.front import Shortcuts
else:
    # `mrag.front`, which is above all that a knowledge graph is used by, gives it these methods.
    Shortcuts = object

logger = logging.getLogger(__name__)

T = TypeVar("T")

_MAX_LABELS = 100_000
"""Labels that are held, so that memory does not grow with what a server has been asked for."""


class Searcher(Protocol):
    """Answers the similarity patterns of a query, as N-Triples to be put in its sight."""

    def scratch(self, query: ReadQuery) -> bytes:
        """Return the hits of every search in the query, as N-Triples."""


class KnowledgeGraph(GraphLayers, Shortcuts):
    """A named knowledge graph in a store.

    Args:
        store: Where the triples are.
        name: Its name in the store; letters, digits, `_` and `-`.
        prefixes: Prefixes for display and for queries, beside the well-known ones.
        languages: Preferred languages of labels and texts, best first; "" is no language.
        graphs: IRIs of graphs of the store that make up the asserted triples, where mrag did not load
            them. By default a store that mrag has no record in is taken as it is.

    Attributes:
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
        super().__init__(store, name, prefixes=prefixes, graphs=graphs)
        self._languages = tuple(languages)
        self.searcher: Searcher | None = None
        self.recovered: str | None = None
        self.keeps_counts = True
        self._profile: tuple[int, Profile] | None = None
        self._labels: dict[str, str | None] = {}
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
        keep_going: bool = False,
        imports: bool = False,
    ) -> LoadReport:
        """Load RDF files, and folders of them, into the asserted graph, whole or not at all.

        Args:
            paths: RDF, notations of OWL and OBO (extra `owl`), or DL-Learner's `.kb`, plain or gzipped.
            format: A file ending that overrides those of the paths.
            on_progress: Called with the bytes read and the bytes in all.
            skip_bad_lines: Leave out the bad lines of N-Triples and N-Quads instead of refusing.
            replacing: Forget what the graph held before, as `clear` does, at the moment when the new
                triples come in sight; on a server that reasons itself, before they are sent.
            keep_going: Leave out files that cannot be read, and name them in the report; each is read twice.
            imports: Load what the files import, too, from local files, see `mrag.loaders.rdf`.

        Raises:
            LoadError: If a file is missing or not well formed; nothing has been stored then.
        """
        left_out: list[LeftOutFile] | None = [] if keep_going else None
        found = loading.described(paths, format, left_out, imports=imports)
        return loading.load(
            self, found, on_progress, skip_bad_lines=skip_bad_lines, replacing=replacing, left_out=left_out
        )

    def insert(self, triples: Iterable[Triple]) -> int:
        """Assert triples, whole or not at all, and return how many were new.

        Raises:
            TermError: If a term is not well formed, or is a blank node.
        """
        return loading.insert(self, triples)

    def written(self, record: Record, *, changed: bool = True) -> None:
        """Go on with a record that is in the store already."""
        super().written(record, changed=changed)
        if changed:
            self._profile, self._labels = None, {}

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
        found: list[str] = []
        for name in graphs:
            if name == PROVENANCE:
                found.extend((*self.dataset().default, *self.beside))
                continue
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
        text. Properties chosen by `label_properties` come before these, and those that were found to name
        things without a label behind them. Answers are kept until the triples change.
        """
        requested = dict.fromkeys(map(str, entities))
        # Another thread may change the triples meanwhile: what was read before stays out of the new answers.
        kept = self.known_labels
        found = {e: kept[e] for e in requested if e in kept}
        missing = [e for e in requested if e not in found]
        if missing:
            naming = self.profile().naming
            found.update(fetch_labels(self.store, self.dataset(), missing, naming, self._languages))
            kept.update(found)
        return {e: found[e] for e in requested}

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

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> KnowledgeGraph:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _count_profile(self) -> Profile:
        counts: dict[str, int] = {}
        for p, n in self.select(queries.get("explore/predicates").text):
            counts[str(p)] = counts.get(str(p), 0) + int(str(n))
        chosen = self.record.chosen_labels
        found = naming_properties(self, counts, profile_of(counts, chosen).labels)
        profile = profile_of(counts, chosen, found)
        if self.record.kept and self.keeps_counts:
            # It is kept for the next time only: a question can be answered where nothing can be written.
            with suppress(StoreError):
                self.commit(replace(self.record, profile=with_profile(profile, self.revision)), changed=False)
        return profile
