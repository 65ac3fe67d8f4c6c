"""The front door: knowledge graphs opened with all that mrag does with them, and the demo graph.

Importing this module gives `KnowledgeGraph` the methods of `Shortcuts`. Each of them imports what it needs
when it is called, for a program that only loads needs neither rankers nor models.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rdflib import Literal

from mrag import cel, reasoning, retrieval
from mrag import graph as graphs
from mrag import index as indexes
from mrag.errors import ConfigError, DamagedIndex, IndexMismatch, StoreLocked
from mrag.graph.connection import is_store, open_store, place_of
from mrag.graph.kg import KnowledgeGraph as KnowledgeGraph
from mrag.graph.record import SYSTEM, GraphChange, Record, named_graph, read_record
from mrag.rdf import queries
from mrag.rdf.guard import ReadQuery
from mrag.rdf.terms import iri
from mrag.stores.base import Dataset

if TYPE_CHECKING:
    from mrag.generation.result import Answer
    from mrag.retrieval.rankers import Hit, Hits, Question
    from mrag.stores.http import Access
    from mrag.widgets import AnswerView, EntityView, MarksView

logger = logging.getLogger(__name__)

_SIMILARITY = "http://www.ontotext.com/graphdb/similarity/"


def connect(
    url: str = "oxigraph:",
    name: str = "main",
    *,
    prefixes: Mapping[str, str] | None = None,
    languages: Sequence[str] = ("en", "mul", ""),
    graphs: Sequence[str] = (),
    access: Access | None = None,
    create: bool = True,
) -> KnowledgeGraph:
    """Open a knowledge graph.

    Args:
        url: `oxigraph:` for a store in memory, `oxigraph:PATH` or a path for one in a folder; for servers
            `graphdb:http://host:7200/repositories/NAME`, `fuseki:http://host:3030/DATASET`,
            `virtuoso:http://host:8890`, `qlever:`, `stardog:`, `allegrograph:`, `neptune:` and `rdf4j:` with
            an address, or `sparql:http://host/query?update=…&graphs=…` for any endpoint of the SPARQL 1.1
            Protocol. `graph=IRI` in a server's URL says the same as `graphs`.
        name: The knowledge graph's name in the store.
        prefixes: Prefixes for display and queries, beside the well-known ones.
        languages: Preferred languages of labels and texts, best first; "" is no language.
        graphs: IRIs of the graphs that hold the data, where mrag did not load it.
        access: How a server is reached; from the environment by default (`MRAG_STORE_USER`,
            `MRAG_STORE_PASSWORD`, `MRAG_STORE_TOKEN`, `MRAG_STORE_CA`, `MRAG_STORE_CERT`, …).
        create: Whether a folder without a store becomes one, and a name without triples a new knowledge
            graph. Where it is only read, a wrong path or name is better an error.

    Raises:
        ConfigError: If the URL is of no known kind, or there is nothing and `create` is not set.
        StoreLocked: If another process has the folder open.
        EndpointError: If the server cannot be reached or refuses.

    Example:
        >>> kg = connect("oxigraph:")
        >>> kg.query("ASK { ?s ?p ?o }")
        False
        >>> kg.close()
    """
    if not create:
        _require_store(url)
    store, named = open_store(url, access)
    try:
        kg = KnowledgeGraph(
            store, name, prefixes=prefixes, languages=languages, graphs=tuple(graphs) or named
        )
        if not create and kg.is_new and store.url != "oxigraph:":
            raise _no_graph(kg)
    except BaseException:
        store.close()
        raise
    if not store.capabilities.similarity:
        kg.searcher = _LazySearcher(kg)
    return kg


def _require_store(url: str) -> None:
    """Refuse the path of an embedded store that is not there."""
    kind, path = place_of(url)
    if kind != "oxigraph" or not path or is_store(path):
        return
    folder = Path(path).expanduser()
    near = {place for place in (folder.parent, Path()) if place.is_dir()}
    stores = sorted({str(p) for place in near for p in place.iterdir() if is_store(p)})
    there = f"There are: {', '.join(stores[:5])}." if stores else "There is none beside it either."
    raise ConfigError(
        "There is no store in this folder." if folder.is_dir() else "There is no such store.",
        file=path,
        hint=f"{there} `mrag load --store {path} FILE` makes one.",
    )


def _no_graph(kg: KnowledgeGraph) -> ConfigError:
    rows = kg.store.select(queries.get("kg/names").text, Dataset((SYSTEM,), (SYSTEM,)))
    names = [str(iri).removeprefix("urn:mrag:kg:") for (iri,) in rows]
    sizes = [(name, read_record(kg.store, f"urn:mrag:kg:{name}")) for name in names]
    full = [f"{name} ({record.triples:,} triples)" for name, record in sizes if not record.is_new]
    if not full:
        return ConfigError(
            "This store holds no knowledge graph.", endpoint=kg.store.url, hint="Load one: `mrag load FILE`."
        )
    return ConfigError(
        f"There is no knowledge graph {kg.name!r} in this store.",
        endpoint=kg.store.url,
        hint=f"There are: {', '.join(full)}. Choose one with --kg or name=.",
    )


def demo(
    *, model: str | Any | None = "minilm", folder: Path | None = None, later: bool = False
) -> KnowledgeGraph:
    """Open the demo graph of products and vendors, reasoned over and indexed.

    Args:
        model: Embedding model of its index; `none` for BM25 alone.
        folder: Where to keep it between runs; in memory when None or in use by another process.
        later: Whether an index of words is enough for now; a call without this adds the meaning of its texts.

    Example:
        >>> kg = demo(model="none")
        >>> kg.query("ASK { ex:GraphDB a ex:SemanticProduct }")
        True
        >>> kg.close()
    """
    source = files("mrag") / "ontology" / "products.ttl"
    # Versions of the package that read other files must not take each other's index from under them.
    digest = hashlib.blake2b(
        source.read_bytes() + bytes([indexes.segments.KIND.format]), digest_size=6
    ).hexdigest()
    kg: KnowledgeGraph | None = None
    if folder is not None:
        try:
            kg = connect(f"oxigraph:{folder / f'demo-{digest}'}")
        except StoreLocked:
            logger.info("the demo store is in use; a copy in memory takes its place")
    kg = kg or connect()
    try:
        if not kg.record.triples:
            with as_file(source) as path:
                kg.load([path])
        if not kg.reasoned:
            reasoning.reason(kg)
        known = indexes.SimilarityIndexes.of(kg)
        with suppress(DamagedIndex, IndexMismatch):
            if "main" in known.names() and not (info := known.info()).stale and (later or not info.later):
                return kg
        known.build("main", model=model, backend="local:", later=later and "main" not in known.names())
    except BaseException:
        kg.close()
        raise
    return kg


class _LazySearcher:
    """Loads the similarity index only for a query that searches."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self._kg = kg

    def scratch(self, query: ReadQuery) -> bytes:
        if not any(str(p).startswith(_SIMILARITY) for _, p, _ in query.patterns):
            return b""
        return indexes.SimilarityIndexes.of(self._kg).scratch(query)


class NarrowedGraph(KnowledgeGraph):
    """A knowledge graph of which only one named graph is in sight; it cannot be changed.

    Args:
        whole: The knowledge graph. It is opened and closed by whoever did so before.
        graph: The named graph, by IRI or CURIE.

    Raises:
        ConfigError: If there is no such named graph.
    """

    def __init__(self, whole: KnowledgeGraph, graph: str) -> None:
        self.__dict__.update(vars(whole))
        record = whole.record
        name = named_graph(record, graph, whole.name, whole.prefixes)
        self.within = name
        self.cache = {}
        self._labels, self._profile = {}, None
        # The index is of the whole; a ranker takes what is in sight.
        self.searcher = indexes.SimilarityIndexes.of(whole)
        # Nothing that is counted here may be kept for the whole.
        own = replace(record, asserted=(name,), inferred=(), added=(), contexts=(name,), merged="")
        self.record = replace(own, profile="", premises=(), kept=False, triples=whole.store.count(name))

    def commit(
        self, after: Record, also: str = "", *, changed: bool = True, change: GraphChange | None = None
    ) -> None:
        """Refuse: a part cannot be written for the whole.

        Raises:
            ConfigError: In any case.
        """
        raise ConfigError(
            "What is narrowed to one named graph is read only.", hint="Use the whole knowledge graph."
        )

    def close(self) -> None:
        """Close nothing; the whole is still open."""


class Shortcuts:
    """Methods of a knowledge graph; each names the function that it calls.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     hits = kg.search("graph database with RDF reasoning", 3)
        ...     answer = kg.ask("How many triple stores are there?", how="plan")
        ...     proofs = kg.explain("ex:GraphDB", "rdf:type", "ex:SemanticProduct")
        >>> hits.names[0], answer.computed.rows[0][0].label, proofs.proofs[0].asserted
        ('Stardog', '11', False)
    """

    def index(self: Any, name: str = "main", **options: Any) -> indexes.SyncReport:
        """Build a similarity index, or bring it up to date; see `SimilarityIndexes.build`."""
        return indexes.SimilarityIndexes.of(self).build(name, **options)

    def update(self: Any, text: str, *, follow: bool = True, **options: Any) -> graphs.UpdateReport:
        """Carry out a SPARQL update, and bring what was inferred up to date; see `mrag.graph.update`.

        Without `follow` inferences stay as they were, which `pending` tells.
        """
        report = graphs.update(self, text, **options)
        if follow and self.pending:
            self.reason()
            report = replace(report, inferred="kept")
        return report

    def reason(self: Any, **options: Any) -> reasoning.Closure:
        """Bring the inferred triples up to date; see `mrag.reason`."""
        return reasoning.reason(self, **options)

    def search(self: Any, question: str | Question, k: int = 10, **options: Any) -> Hits:
        """Find entities by a ranker; see `mrag.search`."""
        return retrieval.search(self, question, k, **options)

    def ask(self: Any, question: str | Question, **options: Any) -> Answer:
        """Compute or read the answer to a question; see `mrag.ask`. Whether a triple holds, `holds` says."""
        return retrieval.ask(self, question, **options)

    def conversation(self: Any, **options: Any) -> retrieval.Conversation:
        """Begin a conversation, in which a question may go on from the last answer; see `mrag.ask`."""
        return retrieval.Conversation(self, **options)

    def explain(
        self: Any, subject: str, predicate: str | None = None, object: str | None = None
    ) -> retrieval.TripleProofs:
        """Prove a triple, or the inferred triples of an entity; IRIs, CURIEs, or a literal in quotes.

        See `mrag.explain`.
        """
        prefixes = self.prefixes
        term: Any = object
        if object is not None:
            quoted = len(object) > 1 and object[0] == object[-1] and object[0] in "\"'"
            term = Literal(object[1:-1]) if quoted else iri(object, prefixes)
        named = None if predicate is None else iri(predicate, prefixes)
        return retrieval.explain(self, iri(subject, prefixes), named, term)

    def learn(
        self: Any,
        positives: Iterable[str],
        negatives: Iterable[str],
        *,
        learner: str = "search",
        **given: Any,
    ) -> list[cel.Hypothesis]:
        """Learn the class expression that tells examples apart, best hypothesis first.

        Examples are IRIs or CURIEs; `learner` is a name of `mrag.cel.learner`, whose settings are `given`.
        """
        both = ([iri(x, self.prefixes) for x in examples] for examples in (positives, negatives))
        problem = cel.LearningProblem(*both)
        problem.check(self)
        return cel.learner(learner, self, **given).fit(problem)

    def show(self: Any, answer: Answer) -> AnswerView:
        """Show an answer in a notebook, with a proof for each cited triple by a click; see `mrag.widgets`."""
        from mrag.widgets import AnswerView

        return AnswerView(self, answer)

    def learn_widget(self: Any, hits: Iterable[Hit | str]) -> MarksView:
        """Show hits in a notebook, to be marked: what the marked ones share is learnt; see `mrag.widgets`."""
        from mrag.widgets import MarksView

        return MarksView(self, hits)

    def explore(self: Any, iri: str) -> EntityView:
        """Show an entity in a notebook, from which one can walk on; see `mrag.widgets`."""
        from mrag.widgets import EntityView

        return EntityView(self, iri)


for _name, _method in vars(Shortcuts).items():
    if not _name.startswith("_"):
        setattr(KnowledgeGraph, _name, _method)
