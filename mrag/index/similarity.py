"""Similarity indexes of a knowledge graph, and GraphDB's similarity vocabulary on any store.

On a store without an index of its own, the hits of a query's searches are computed first and put, as
ordinary triples, in the sight of that query alone. The query itself is not rewritten, so the same file
runs on GraphDB and here, also when the search is one pattern of a larger query.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from mrag import errors
from mrag.config import Settings
from mrag.graph.kg import KnowledgeGraph
from mrag.index.backends.base import IndexBackend, StoredIndex
from mrag.index.backends.engines.rows import space_of
from mrag.index.backends.places import IndexPlaces
from mrag.index.backends.places import home as home
from mrag.index.bm25 import Bm25Params
from mrag.index.documents import Definition, IndexInfo, documents, why_empty
from mrag.index.embedding.embedders import Embedder, embedder
from mrag.index.embedding.prepared import VectorSource, prepared
from mrag.index.following import followed, state_of
from mrag.index.known_items import FusionWeight
from mrag.index.opened import SimilarityIndex
from mrag.index.searches import INSTANCE, as_triples, results_wanted, searches
from mrag.index.segments.changes import SyncReport
from mrag.index.server_similarity import SERVER, ServerIndex, server_of
from mrag.index.server_similarity import build as build_on_server
from mrag.jobs.runners import Runner
from mrag.rdf.guard import ReadQuery

logger = logging.getLogger(__name__)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]{0,63}\Z")
NO_DOCUMENTS = "Load texts or labels, or name the property of names: `mrag index --label-property IRI`."
"""What to do about an index without documents."""


class SimilarityIndexes:
    """The similarity indexes of a knowledge graph: build, open, list, delete, search by SPARQL.

    Args:
        kg: The knowledge graph.
        folder: Where they are kept; in memory when None.
        backend: URL or object of what keeps those of which nothing is written down; local by default.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> from rdflib import RDFS, Literal, URIRef
        >>> from mrag.rdf.terms import Triple
        >>> _ = kg.insert([Triple(URIRef("urn:a"), RDFS.label, Literal("A red dress", lang="en"))])
        >>> indexes = SimilarityIndexes.of(kg)
        >>> _ = indexes.build("main", model="none")
        >>> [m.doc_id for m in indexes.get("main").search("dress", 5)]
        ['urn:a']
        >>> kg.close()
    """

    def __init__(
        self, kg: KnowledgeGraph, folder: Path | None, backend: str | IndexBackend | None = None
    ) -> None:
        self.kg = kg
        self.places = IndexPlaces(folder, space_of(kg.store.identity, kg.name), backend)
        self._open: dict[str, SimilarityIndex] = {}
        self.server = server_of(kg)
        self._warned: set[tuple[str, int]] = set()

    @classmethod
    def of(cls, kg: KnowledgeGraph, backend: str | IndexBackend | None = None) -> SimilarityIndexes:
        """Return the indexes of a knowledge graph, which are then in the sight of its queries."""
        if not isinstance(kg.searcher, cls) or backend is not None:
            place = home(kg)
            kg.searcher = cls(kg, place, backend or (Settings.from_env().index if place else None))
        return kg.searcher

    def names(self) -> list[str]:
        """List the indexes in order of name."""
        on_server = [info.name for info in self.server.indexes()] if self.server is not None else []
        return sorted({*self.places.names(), *on_server})

    def build(
        self,
        name: str = "main",
        *,
        definition: Definition | None = None,
        model: str | Embedder | Any | None = "minilm",
        backend: str | IndexBackend | None = None,
        runner: Runner | None = None,
        on_progress: Callable[[int, int | None], None] | None = None,
    ) -> SyncReport:
        """Build an index, or bring it up to date; only texts that no index of the graph knows are embedded.

        Args:
            name: Letters, digits, `_` and `-`.
            definition: Queries and languages; those of the graph by default.
            model: A name as for `mrag.index.embedder`, `none` for BM25 alone, any LangChain `Embeddings`, or
                `server` for an index of the server's own, on GraphDB.
            backend: Where to keep it, by URL or as an object; where it is by default.
            runner: What embeds texts, see `mrag.jobs`; this process by default.
            on_progress: Called with documents done and documents in all.

        Raises:
            ConfigError: If the name, the model or the analyser cannot be used.
            IndexError_: If there is nothing to index.
        """
        if not _NAME.match(name):
            raise errors.ConfigError(f"{name!r} cannot name an index.", hint="Use letters, digits, _ and -.")
        definition = definition or Definition(languages=self.kg.languages)
        if model == SERVER:
            if self.server is None:
                hint = "Use minilm or another model."
                raise errors.ConfigError("This store keeps no similarity indexes.", hint=hint)
            return build_on_server(self.kg, self.server, name, definition, on_progress)
        started, knobs = time.perf_counter(), definition.bm25
        with prepared(embedder(model), model, runner, partial(self._donors, name)) as chosen:
            report = self._built(name, definition, chosen, knobs, model, backend, on_progress)
        return replace(report, seconds=time.perf_counter() - started)

    def _built(
        self,
        name: str,
        definition: Definition,
        chosen: Embedder | None,
        knobs: Bm25Params,
        model: str | Embedder | Any | None,
        backend: str | IndexBackend | None,
        on_progress: Callable[[int, int | None], None] | None,
    ) -> SyncReport:
        extra = {**state_of(self.kg, definition), "model": model if isinstance(model, str) else ""}
        kept_by = self.places.of(name) if backend is None else self.places.resolved(backend)
        known, files = self._open.get(name), self._files(kept_by, name, chosen, knobs)
        kept = {"fusion": found} if (found := files.extra.get("fusion")) else {}
        before = FusionWeight.from_json(kept.get("fusion"))
        report = followed(self.kg, definition, files, {**extra, **kept}, on_progress)
        if report is None:
            texts = documents(self.kg, definition)
            if (first := next(texts, None)) is None:
                self._open.update({name: known} if known is not None else {})
                raise errors.IndexError_(why_empty(self.kg, definition), hint=NO_DOCUMENTS)
            report = files.sync(chain([first], texts), extra={**extra, **kept}, on_progress=on_progress)
        if chosen is not None:
            changed = before.changed + report.added + report.changed + report.deleted
            weight = replace(before, changed=changed)
            weight = files.learnt_weight() if weight.due else weight
            files.delete((), extra={**extra, "fusion": weight.to_json()})
        self.placed(name, kept_by)
        self._open[name] = SimilarityIndex(name, files)
        return report

    def get(
        self,
        name: str = "main",
        *,
        model: str | Embedder | Any | None = None,
        strict: bool = False,
        quiet: bool = False,
    ) -> SimilarityIndex | ServerIndex:
        """Open an index.

        Args:
            name: Its name.
            model: The embedding model when it was built with an object instead of a name.
            strict: Whether an index older than the graph is an error instead of a warning.
            quiet: Whether nothing is said of that.

        Raises:
            MissingIndex: If there is none of that name.
            IndexMismatch: If it was built with another model.
            StaleIndex: If the graph has changed since and `strict` is set.
        """
        if self._on_server(name):
            return ServerIndex(name, self.server)  # type: ignore[arg-type]  # there is a server then
        index = self._present(name)
        if index is None:
            index = self._open[name] = SimilarityIndex(name, self._opened(name, model))
        if not quiet and self._stale(index.files):
            message = f"The index {name!r} is older than the graph."
            hint = "Bring it up to date with `mrag index`; only what changed is embedded anew."
            if strict:
                raise errors.StaleIndex(message, hint=hint)
            if (name, self.kg.revision) not in self._warned:
                self._warned.add((name, self.kg.revision))
                logger.warning("%s %s", message, hint)
        return index

    def stored(self, name: str = "main") -> StoredIndex:
        """Open an index with all that is kept of it; a server's own is refused."""
        index = self.get(name, quiet=True)
        if isinstance(index, ServerIndex):
            raise errors.ConfigError(
                "A server keeps the documents of its indexes to itself.", hint="Use --backend."
            )
        return index.files

    def placed(self, name: str, backend: IndexBackend) -> None:
        """Write down that an index is kept by a backend from now on."""
        self._open.pop(name, None)
        self.places.record(name, backend)

    def info(self, name: str = "main") -> IndexInfo:
        """Describe an index; also one that is stale."""
        if self._on_server(name) and self.server is not None:
            stale = self.server.get(name).status != "BUILT"
            return IndexInfo(name, None, SERVER, None, stale, None)
        index = self._present(name)
        files = index.files if index is not None else self._backend(name).open(name, embedder=None)
        extra: dict[str, Any] = files.extra
        if "definition" not in extra:
            raise errors.IndexError_(
                f"The index {name!r} does not say what of the graph it was built from.",
                hint="Build it anew with `mrag index`.",
            )
        definition = Definition.from_json(extra["definition"])
        told = (len(files), files.embedder_name, int(extra["revision"]), self._stale(files), definition)
        fusion = None if files.embedder_name is None else FusionWeight.from_json(extra.get("fusion"))
        return IndexInfo(name, *told, files.bm25_params.analyser, fusion)

    def delete(self, name: str) -> None:
        """Remove an index.

        Raises:
            MissingIndex: If there is none of that name.
        """
        if name not in self.names():
            raise errors.MissingIndex(f"There is no similarity index {name!r}.")
        if self._on_server(name) and self.server is not None:
            self.server.delete(name)
            return
        self._open.pop(name, None)
        self.places.delete(name)

    def scratch(self, query: ReadQuery) -> bytes:
        """Return the hits of every search in a query, as N-Triples.

        Raises:
            QueryRefused: If a search cannot be answered: its text is not a constant, or it uses a part
                of the vocabulary that only GraphDB has.
            MissingIndex: If it names an index that is not there.
        """
        lines: list[str] = []
        for number, search in enumerate(searches(query)):
            index_iri, by, sought, parameters = search
            name = index_iri.removeprefix(INSTANCE)
            if self._on_server(name):
                continue  # the server answers that itself
            index = self.get(name)
            k = results_wanted(parameters)
            found = (
                index.search(" ".join(str(sought).split()), k)
                if by == "searchTerm"
                else index.search_document(str(sought), k)
            )
            results = [(m.doc_id, float(m.score)) for m in found]
            lines += as_triples(number, search, results)
        return "".join(line + "\n" for line in lines).encode()

    def _donors(self, name: str, embedder: str) -> Iterator[VectorSource]:
        """Yield the indexes that may have vectors of a model: the one that is replaced, and local ones."""
        places = [(name, self.places.of(name))] if name in self.places.names() else []
        places += [(other, self.places.local) for other in self.places.local.names() if other != name]
        for other, backend in places:
            try:
                index = backend.open(other, embedder=None)
            except errors.IndexError_:
                continue
            if index.embedder_name == embedder:
                yield index

    def _on_server(self, name: str) -> bool:
        """Return whether an index is the server's; one beside the store comes before it."""
        if self.server is None or name in self._open or name in self.places.names():
            return False
        return name in {info.name for info in self.server.indexes()}

    def _present(self, name: str) -> SimilarityIndex | None:
        """Return an index that is open, as it is now; None if it has to be opened."""
        index = self._open.get(name)
        if index is not None and self.places.of(name) is not self.places.local:
            try:
                index.files.refresh()  # others write there too
            except errors.IndexMismatch:
                return None
        return index

    def _stale(self, files: StoredIndex) -> bool:
        extra: dict[str, Any] = files.extra
        built = extra.get("revision"), extra.get("kg")
        if built != (self.kg.revision, self.kg.iri) or "definition" not in extra:
            return True
        return bool(Definition.from_json(extra["definition"]).digest() != extra["digest"])

    def _backend(self, name: str) -> IndexBackend:
        if name not in (there := self.places.names()):
            raise errors.MissingIndex(
                f"There is no similarity index {name!r}; there are: {', '.join(there) or 'none'}.",
                hint="Build it with `mrag index` or SimilarityIndexes.build.",
            )
        return self.places.of(name)

    def _opened(self, name: str, model: str | Embedder | Any | None) -> StoredIndex:
        backend, spec = self._backend(name), model
        if spec is None:
            kept = backend.open(name, embedder=None)
            spec = kept.extra.get("model") or "none"
            if spec == "none" and kept.embedder_name is not None:
                raise errors.IndexMismatch(
                    f"The index {name!r} was built with the model {kept.embedder_name}.",
                    hint="Open it with that model: SimilarityIndexes.of(kg).get(name, model=…).",
                )
        return backend.open(name, embedder=embedder(spec))

    def _files(
        self, backend: IndexBackend, name: str, chosen: Embedder | None, knobs: Bm25Params
    ) -> StoredIndex:
        """Open an index to bring it up to date, or begin it, in place of one made in another way."""
        wanted = (None if chosen is None else chosen.name, knobs)
        self._open.pop(name, None)
        if name not in backend.names():
            return backend.create(name, embedder=chosen, bm25=knobs)
        try:
            # What is damaged would stay so in all that does not change.
            index = backend.open(name, embedder=None, thorough=True)
            if (index.embedder_name, index.bm25_params) == wanted:
                return backend.open(name, embedder=chosen)
            logger.info("index %s was built with %s and is built anew", name, index.embedder_name)
        except (errors.DamagedIndex, errors.IndexMismatch) as error:
            logger.warning("%s It is built anew.", error.message)
        return backend.create(name, embedder=chosen, bm25=knobs, replace=True)
