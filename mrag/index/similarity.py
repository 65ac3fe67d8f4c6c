"""Similarity indexes of a knowledge graph, and GraphDB's similarity vocabulary on any store.

On a store without an index of its own, the hits of a query's searches are computed first and put, as
ordinary triples, in the sight of that query alone. The query itself is not rewritten, so the same file
runs on GraphDB and here, also when the search is one pattern of a larger query.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rdflib import Literal, URIRef
from rdflib.term import Node, Variable

from mrag.config import Settings
from mrag.errors import (
    ConfigError,
    DamagedIndex,
    IndexError_,
    IndexMismatch,
    MissingIndex,
    MragError,
    QueryRefused,
    StaleIndex,
)
from mrag.graph.kg import KnowledgeGraph, home
from mrag.index.backends.base import IndexBackend, IndexPlaces
from mrag.index.backends.engine import space_of
from mrag.index.bm25 import Bm25Params
from mrag.index.document_index import Match, Mode, StoredIndex
from mrag.index.documents import (
    Definition,
    IndexInfo,
    changed_documents,
    documents,
    follow_changes,
    query_values,
    state_of,
    why_empty,
)
from mrag.index.embedding import Embedder, EmbeddingHelp, VectorSource, embedder
from mrag.index.fusion import FusionWeight
from mrag.index.segments import Progress, SyncReport
from mrag.jobs.runners import Runner
from mrag.rdf import queries
from mrag.rdf.guard import Pattern, ReadQuery
from mrag.rdf.queries import term
from mrag.rdf.terms import RDF, XSD
from mrag.stores.oxigraph import OxigraphStore

if TYPE_CHECKING:
    from mrag.stores.graphdb import GraphDBSimilarity


logger = logging.getLogger(__name__)


class SimilarityIndex:
    """One similarity index, open for searching."""

    def __init__(self, name: str, files: StoredIndex) -> None:
        self.name = name
        self.files = files
        self._learnt: FusionWeight | None = None

    @property
    def weight(self) -> FusionWeight:
        """How words and vectors are fused."""
        kept = self.files.extra.get("fusion")
        if kept is None and self.files.embedder_name is not None:
            # The build was broken off after its last document.
            self._learnt = self._learnt or self.files.learnt_weight()
            return self._learnt
        return FusionWeight.from_json(kept)

    def search(
        self, text: str, k: int, *, mode: Mode = "hybrid", allowed: Sequence[str] | None = None
    ) -> list[Match]:
        """Find documents as `StoredIndex.search` does, by the learnt weight; without vectors by words."""
        if mode != "bm25" and self.files.embedder_name is None:
            mode = "bm25"
        return self.files.search(text, k, mode=mode, allowed=allowed, weight=self.weight.of(text))

    def search_document(self, iri: str, k: int) -> list[Match]:
        """Return the documents most similar to the document of an entity, itself left out."""
        return [m for m in self.search(self.files.text_of(iri), k + 1) if m.doc_id != iri][:k]

    @staticmethod
    def reason(match: Match) -> str:
        """Return in words why a document was found."""
        rank = "" if match.bm25_rank is None else f" (BM25 rank {match.bm25_rank})"
        by_words = f"words {', '.join(match.terms)}{rank}"
        parts = [by_words] if match.terms else []
        if match.dense_rank is not None and match.dense_score is not None:
            parts.append(f"meaning {match.dense_score:.2f} (dense rank {match.dense_rank})")
        return "; ".join(parts) or "similar text"


SIM: Final = "http://www.ontotext.com/graphdb/similarity/"
INSTANCE: Final = SIM + "instance/"
PSI: Final = SIM + "psi/"
_MOST_SEARCHES: Final = 64
_DEFAULT_RESULTS: Final = 20
_MOST_RESULTS: Final = 10_000
_RESULTS: Final = re.compile(r"-numsearchresults\s+(\d+)")

Search = tuple[str, str, URIRef | Literal, Literal | None]


def searches(query: ReadQuery) -> Iterator[Search]:
    """Yield index, kind, what is sought and parameters of every search in a query."""
    by_node: dict[Node, list[Pattern]] = {}
    for pattern in query.patterns:
        predicate = str(pattern[1])
        if predicate.startswith(PSI):
            raise _unsupported("The psi: vocabulary of predication indexes", query)
        if predicate == SIM + "termResult":
            raise _unsupported(":termResult", query)
        if predicate in (SIM + "searchTerm", SIM + "searchDocumentID"):
            by_node.setdefault(pattern[0], [])
    for pattern in query.patterns:
        if pattern[0] in by_node:
            by_node[pattern[0]].append(pattern)
    seen: dict[Search, None] = {}
    for patterns in by_node.values():
        parts = {str(p): o for _, p, o in patterns}
        by = "searchTerm" if SIM + "searchTerm" in parts else "searchDocumentID"
        indexes = _constants(parts.get(RDF + "type"), query, "the index")
        sought = _constants(parts[SIM + by], query, "what is searched for")
        given = parts.get(SIM + "searchParameters")
        parameters: Sequence[Any] = [None] if given is None else _constants(given, query, "the parameters")
        for index, what, parameter in product(indexes, sought, parameters):
            if str(index).startswith(INSTANCE):
                seen[str(index), by, what, parameter] = None
    if len(seen) > _MOST_SEARCHES:
        raise QueryRefused(f"A query may hold {_MOST_SEARCHES} searches, not {len(seen)}.", query=query.text)
    bare = {search[:3] for search in seen if search[3] is None}
    if any(search[:3] in bare for search in seen if search[3] is not None):
        raise QueryRefused(
            "The same search stands in the query with :searchParameters and without.",
            query=query.text,
            hint="Give both the parameters.",
        )
    yield from seen


def as_triples(number: int, search: Search, results: Sequence[tuple[str, float]]) -> list[str]:
    """Return a search and its results as N-Triples, a line each."""
    index, by, sought, parameters = search
    node = f"_:s{number}"
    lines = [f"{node} <{RDF}type> {term(URIRef(index))} .", f"{node} <{SIM}{by}> {term(sought)} ."]
    if parameters is not None:
        lines.append(f"{node} <{SIM}searchParameters> {term(parameters)} .")
    for rank, (doc_id, score) in enumerate(results):
        result = f"{node}r{rank}"
        value = Literal(repr(score), datatype=URIRef(XSD + "double"))
        lines.append(f"{node} <{SIM}documentResult> {result} .")
        lines.append(f"{result} <{SIM}value> {term(URIRef(doc_id))} .")
        lines.append(f"{result} <{SIM}score> {term(value)} .")
    return lines


def _constants(given: Node | None, query: ReadQuery, what: str) -> list[Any]:
    if given is None:
        raise QueryRefused(
            f"A similarity search does not name {what}.", query=query.text, hint="Say `?search a inst:NAME`."
        )
    if not isinstance(given, Variable):
        return [given]
    values = list(query.values.get(str(given), ()))
    if not values:
        raise QueryRefused(
            f"In a similarity search {what} must be a constant.",
            query=query.text,
            term=f"?{given}",
            hint="Write it into the pattern, or give it by VALUES or BIND.",
        )
    return values


def _unsupported(what: str, query: ReadQuery) -> QueryRefused:
    return QueryRefused(
        f"{what} works on GraphDB only.", query=query.text, hint="Use :searchTerm and :documentResult."
    )


SERVER = "server"  # Stands for a model where the server is to make the index


class ServerIndex:
    """A similarity index of the server."""

    def __init__(self, name: str, server: GraphDBSimilarity) -> None:
        self.name = name
        self._server = server

    def search(
        self, text: str, k: int, *, mode: Mode = "hybrid", allowed: Sequence[str] | None = None
    ) -> list[Match]:
        """Return the documents most similar to a text, best first, ties in order of IRI."""
        hits = self._server.search(self.name, text, k if allowed is None else max(10 * k, 1000))
        wanted = None if allowed is None else frozenset(map(str, allowed))
        return [_match(hit) for hit in hits if wanted is None or hit[0] in wanted][:k]

    def search_document(self, iri: str, k: int) -> list[Match]:
        """Return the documents most similar to the document of an entity, itself left out."""
        return [_match(hit) for hit in self._server.search_document(self.name, iri, k)]

    @staticmethod
    def reason(match: Match) -> str:
        """Return in words why a document was found."""
        return f"similar text, {match.score:.2f} by the server's index"


def server_of(kg: KnowledgeGraph) -> GraphDBSimilarity | None:
    """Return the similarity indexes of a knowledge graph's server, None where it keeps none."""
    if isinstance(kg.store, OxigraphStore):
        return None  # without importing what speaks HTTP, which takes a while
    from mrag.stores.graphdb import GraphDBSimilarity, GraphDBStore

    return GraphDBSimilarity(kg.store) if isinstance(kg.store, GraphDBStore) else None


def build_on_server(
    kg: KnowledgeGraph,
    server: GraphDBSimilarity,
    name: str,
    definition: Definition,
    on_progress: Progress | None,
) -> SyncReport:
    """Have the server make an index, in place of one of that name."""
    usual = definition.queries == Definition().queries
    names = ("index/texts-and-links",) if usual else definition.queries
    if len(names) != 1:
        hint = "Put them together with UNION, or use --embedder."
        raise ConfigError("The server takes one query for an index.", hint=hint)
    started = time.perf_counter()
    query = queries.get(names[0])
    with suppress(MissingIndex):
        server.delete(name)
    server.create(name, query.bind(**query_values(kg, definition, query)))
    if on_progress is not None:
        on_progress(1, 1)
    # The server does not tell how many documents it read.
    return SyncReport(0, 0, 0, 0, time.perf_counter() - started)


def _match(hit: tuple[str, float]) -> Match:
    iri, score = hit
    return Match(iri, score, None, None, None, None, ())


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
        on_progress: Progress | None = None,
        later: bool = False,
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
            later: Whether to index words alone for now; a build without this adds the meaning by the model.

        Raises:
            ConfigError: If the name, the model or the analyser cannot be used, or what is there has meaning.
            IndexError_: If there is nothing to index.
        """
        if not _NAME.match(name):
            raise ConfigError(f"{name!r} cannot name an index.", hint="Use letters, digits, _ and -.")
        definition = definition or Definition(languages=self.kg.languages)
        if model == SERVER:
            if self.server is None:
                hint = "Use minilm or another model."
                raise ConfigError("This store keeps no similarity indexes.", hint=hint)
            return build_on_server(self.kg, self.server, name, definition, on_progress)
        started = time.perf_counter()
        definition.bm25  # noqa: B018 - is refused before a model is loaded
        if later and self._fusion(name) is not None:
            hint = "Build it without `later`, or `--meaning later`: only texts that changed are embedded."
            raise ConfigError(f"The index {name!r} has the meaning of its texts already.", hint=hint)
        chosen = embedder(None if later else model)
        named = model if isinstance(model, str) else ""
        kept_by = self.places.of(name) if backend is None else self.places.resolve(backend)
        about = {"model": "none", "later": named} if later and named != "none" else {"model": named}
        helped = EmbeddingHelp(model, runner, partial(self._donors, name))
        report = self._build(name, definition, chosen, about, kept_by, on_progress=on_progress, helped=helped)
        return replace(report, seconds=time.perf_counter() - started)

    def _build(
        self,
        name: str,
        definition: Definition,
        chosen: Embedder | None,
        about: dict[str, str],
        kept_by: IndexBackend,
        **how: Any,
    ) -> SyncReport:
        extra = {**state_of(self.kg, definition), **about}
        known, earlier = self._open.get(name), self._fusion(name)
        files = self._files(kept_by, name, chosen, definition.bm25)
        kept = {"fusion": fusion} if (fusion := files.extra.get("fusion") or earlier) else {}
        before = FusionWeight.from_json(kept.get("fusion"))
        report = follow_changes(self.kg, definition, files, {**extra, **kept}, **how)
        if report is None:
            texts = documents(self.kg, definition)
            if (first := next(texts, None)) is None:
                self._open.update({name: known} if known is not None else {})
                raise IndexError_(why_empty(self.kg, definition), hint=NO_DOCUMENTS)
            report = files.sync(chain([first], texts), extra={**extra, **kept}, **how)
        if chosen is not None:
            changed = before.changed + report.added + report.changed + report.deleted
            weight = replace(before, changed=changed)
            weight = files.learnt_weight() if weight.due else weight
            files.delete((), extra={**extra, "fusion": weight.to_json()})
        self.record_place(name, kept_by)
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

        Raises:
            MissingIndex: If there is none of that name.
            IndexMismatch: If it was built with another model.
            StaleIndex: If the graph has changed since and `strict` is set.
        """
        if self._on_server(name):
            return ServerIndex(name, self.server)  # type: ignore[arg-type]  # there is a server then
        index = self._present(name)
        if index is None:
            index = self._open[name] = SimilarityIndex(name, self._open_files(name, model))
        if not quiet and self._stale(index.files):
            message = f"The index {name!r} is older than the graph."
            hint = "Bring it up to date with `mrag index`; only what changed is embedded anew."
            if strict:
                raise StaleIndex(message, hint=hint)
            if (name, self.kg.revision) not in self._warned:
                self._warned.add((name, self.kg.revision))
                logger.warning("%s %s", message, hint)
        return index

    def record_place(self, name: str, backend: IndexBackend) -> None:
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
            raise IndexError_(
                f"The index {name!r} does not say what of the graph it was built from.",
                hint="Build it anew with `mrag index`.",
            )
        definition = Definition.from_json(extra["definition"])
        facts = (len(files), files.embedder_name, int(extra["revision"]), self._stale(files), definition)
        fusion = None if files.embedder_name is None else FusionWeight.from_json(extra.get("fusion"))
        return IndexInfo(name, *facts, files.bm25_params.analyser, fusion, extra.get("later", ""))

    def delete(self, name: str) -> None:
        """Remove an index."""
        if name not in self.names():
            raise MissingIndex(f"There is no similarity index {name!r}.")
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
            wanted = None if parameters is None else _RESULTS.search(str(parameters))
            k = min(int(wanted[1]), _MOST_RESULTS) if wanted else _DEFAULT_RESULTS
            words = " ".join(str(sought).split())
            by_text = by == "searchTerm"
            matches = index.search(words, k) if by_text else index.search_document(str(sought), k)
            results = [(m.doc_id, float(m.score)) for m in matches]
            lines += as_triples(number, search, results)
        return "".join(line + "\n" for line in lines).encode()

    def _donors(self, name: str, embedder: str) -> Iterator[VectorSource]:
        """Yield the indexes that may have vectors of a model: the one that is replaced, and local ones."""
        places = [(name, self.places.of(name))] if name in self.places.names() else []
        places += [(other, self.places.local) for other in self.places.local.names() if other != name]
        for other, backend in places:
            try:
                index = backend.open(other, embedder=None)
            except IndexError_:
                continue
            if index.embedder_name == embedder:
                yield index

    def _fusion(self, name: str) -> dict[str, Any] | None:
        """Return what an index has learnt where it is now."""
        with suppress(IndexError_):
            return self.places.of(name).open(name, embedder=None).extra.get("fusion")
        return None

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
            except IndexMismatch:
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
            raise MissingIndex(
                f"There is no similarity index {name!r}; there are: {', '.join(there) or 'none'}.",
                hint="Build it with `mrag index` or SimilarityIndexes.build.",
            )
        return self.places.of(name)

    def _open_files(self, name: str, model: str | Embedder | Any | None) -> StoredIndex:
        backend, spec = self._backend(name), model
        if spec is None:
            kept = backend.open(name, embedder=None)
            spec = kept.extra.get("model") or "none"
            if spec == "none" and kept.embedder_name is not None:
                raise IndexMismatch(
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
        except (DamagedIndex, IndexMismatch) as error:
            logger.warning("%s It is built anew.", error.message)
        return backend.create(name, embedder=chosen, bm25=knobs, replace=True)


def words_first(model: object) -> bool:
    """Return whether a model takes so long that words are indexed before it begins."""
    return isinstance(model, str) and model not in ("none", "wordllama", SERVER)


BY_WORDS = "Texts are found by their words alone so far."
MEANING_LATER = "`mrag index` adds their meaning."
_TRIPLES = 300_000
"""Triples of a graph up to which all of its texts are read on the spot, which takes some seconds."""
_EMBEDDED = 500  # Documents up to which they are embedded on the spot
_WORDS = 5_000  # Documents up to which they are indexed on the spot by their words alone


def freshen(kg: KnowledgeGraph, name: str = "main", *, write: bool = True) -> str | None:
    """Bring an index up to date if only a little has changed; return what is to be said of it."""
    indexes = SimilarityIndexes.of(kg)
    old = f"The index {name!r} is older than the graph, so hits may be missing or outdated; run `mrag index`."
    try:
        info = indexes.info(name)
        words = f"{BY_WORDS} {MEANING_LATER}" if info.later else None
        if not info.stale:
            return words
        if not write or info.definition is None:
            return old
        index = indexes.get(name, quiet=True)
        if not isinstance(index, SimilarityIndex):
            return old
        model: Any = index.files.extra.get("model") or ("none" if info.embedder is None else None)
        differing = None if model is None else _differing(kg, index, info.definition)
        if differing is None or differing > (_WORDS if model == "none" else _EMBEDDED):
            return old
        later = bool(info.later)
        indexes.build(name, definition=info.definition, model=info.later or model, later=later)
    except IndexError_:
        return None  # whoever uses the index says what is wrong with it
    except MragError as error:
        logger.warning("The index could not be brought up to date: %s", error)
        return old
    return words


def _differing(kg: KnowledgeGraph, index: SimilarityIndex, definition: Definition) -> int | None:
    """Return how many documents came, went or have another text now; None if that takes too long to say."""
    files = index.files
    changes = changed_documents(kg, definition, files.extra, {*files.doc_ids})
    if changes is not None:
        return len(changes.texts) + len(changes.gone)
    if kg.record.triples + kg.record.inferences > _TRIPLES:
        return None
    return files.differing(documents(kg, definition))
