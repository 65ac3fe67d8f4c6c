"""Passages and images as evidence: kept in the store as nodes of their own, found by the words of a triple.

The images of a folder become a small knowledge graph of their own in the same store, named after the one that
is completed, so that descriptions are made once, survive an interruption, and carry their provenance
(`mrag.images.enrichment`). What was said of an image, or of a part of it, is read like a passage.
"""

from __future__ import annotations

import hashlib
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from rdflib import RDF, Literal, URIRef

from mrag._tables import tables
from mrag.completion.names import mentioned
from mrag.completion.review import DCTERMS
from mrag.errors import IndexError_, LoadError
from mrag.graph.books import books
from mrag.graph.kg import KnowledgeGraph, home
from mrag.images.enrichment import EnrichProgress, EnrichReport, EnrichSettings, describe
from mrag.images.files import part_of
from mrag.images.graph import EX, file_names, image_texts
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import Embedder
from mrag.loaders.rdf import leads_out
from mrag.loaders.snippets import (
    Cutting,
    Document,
    Snippets,
    cut,
    document_lines,
    passage_lines,
    title_of,
)
from mrag.rdf import queries
from mrag.rdf.terms import RDFS, Triple
from mrag.stores.base import Dataset, TripleStore

if TYPE_CHECKING:
    from langchain_core.documents import Document as LangChainDocument
    from langchain_core.retrievers import BaseRetriever

    from mrag.images.enrichment import ModelSpec

_BATCH: Final = 4 << 20
"""Bytes of N-Triples after which they are written."""

_WIDE: Final = 20
"""How many times as many passages are looked at as are wanted, for those that name what is sought."""


@dataclass(frozen=True)
class Passage:
    """A text to read: a piece of a document, or what was said of an image or a part of one.

    It has an evidence node, belongs to a document or file, which is its source, and has the title of that.
    """

    iri: str
    text: str
    source: str
    title: str = ""
    kind: typing.Literal["passage", "region", "image"] = "passage"


class PassageSource(Protocol):
    """Finds passages for a triple."""

    def search(self, query: str, names: Sequence[Sequence[str]], k: int) -> list[Passage]:
        """Return at most `k` passages for a triple in words that name each known entity, best first."""


@dataclass(frozen=True)
class CollectionReport:
    """What keeping texts did: numbers of documents."""

    added: int
    gone: int
    total: int
    passages: int


def evidence_graph(kg: KnowledgeGraph) -> str:
    """Return the IRI of the graph of passages; no question is answered from it."""
    return f"urn:mrag:evidence:{kg.name}"


def collection_of(folder: Path | str) -> str:
    """Return the IRI of the collection of a folder's texts, which does not tell where the folder is."""
    where = str(Path(folder).resolve())
    return "urn:mrag:collection:" + hashlib.sha256(where.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def store_folder(kg: KnowledgeGraph, snippets: Snippets) -> tuple[str, CollectionReport]:
    """Bring the passages of a folder into the store, and take out of its collection what is gone.

    Cut off in between, the next call does the rest. Returned are the IRI of the collection and what was done.
    """
    collection = collection_of(snippets.folder)
    return collection, store_documents(kg, collection, snippets.documents(), snippets.cutting)


def store_documents(
    kg: KnowledgeGraph,
    collection: str,
    documents: Iterable[Document],
    cutting: Cutting | None = None,
    *,
    whole: bool = True,
) -> CollectionReport:
    """Bring texts into the store as a collection, of which others go out where these are the whole of it."""
    with books(kg, writing=True) as store:
        return _store_documents(store, evidence_graph(kg), collection, documents, cutting, whole=whole)


def _store_documents(
    store: TripleStore,
    graph: str,
    collection: str,
    documents: Iterable[Document],
    cutting: Cutting | None,
    *,
    whole: bool,
) -> CollectionReport:
    seen = Dataset((graph,))
    text = queries.get("completion/evidence-documents").bind(collection=[collection])
    there = {str(document) for _, document in store.select(text, seen)}
    now: set[str] = set()
    lines: list[str] = []
    added = passages = size = 0
    for document in documents:
        if document.iri in now:
            continue
        now.add(document.iri)
        if document.iri in there:
            continue
        added += 1
        fresh = [*document_lines(document)]
        for snippet in cut(document, cutting):
            passages += 1
            fresh += passage_lines(snippet)
        fresh.append(f"<{document.iri}> <{DCTERMS}isPartOf> <{collection}> .\n")
        lines += fresh
        size += sum(map(len, fresh))
        if size > _BATCH:
            store.insert("".join(lines).encode(), graph)
            lines, size = [], 0
    if lines:
        store.insert("".join(lines).encode(), graph)
    gone = sorted(there - now) if whole else []
    part = URIRef(DCTERMS + "isPartOf")
    for start in range(0, len(gone), 200):
        rows = [(URIRef(graph), URIRef(d), part, URIRef(collection)) for d in gone[start : start + 200]]
        update = queries.get("update/change").bind(graph_subject_predicate_object=rows, g_s_p_o=[])
        store.update(update)
    return CollectionReport(added, len(gone), len(now | (there if not whole else set())), passages)


def from_langchain(documents: Iterable[LangChainDocument]) -> list[Document]:
    """Turn documents of a LangChain loader into texts; their `source` and `title` are kept.

    Example:
        >>> from langchain_core.documents import Document as D
        >>> found = from_langchain([D(page_content="A film.", metadata={"source": "films.html"})])
        >>> found[0].source, found[0].title
        ('films.html', 'films')
    """
    passages = []
    for document in documents:
        said = document.page_content
        if said.strip():
            source = str(document.metadata.get("source") or document.id or "document")
            title = str(document.metadata.get("title") or title_of(said, Path(source).stem))
            passages.append(Document(source, title, said))
    return passages


def passages_of(kg: KnowledgeGraph, collections: Sequence[str]) -> list[Passage]:
    """Return the passages of some collections, in order of source and place."""
    if not collections:
        return []
    text = queries.get("completion/evidence-passages").bind(collection=list(collections))
    with books(kg) as store:
        rows = store.select(text, Dataset((evidence_graph(kg),))).rows
    passages = [Passage(str(p), str(said), str(source), str(title)) for source, _, _, p, title, said in rows]
    return list(dict.fromkeys(passages))


class Passages:
    """Passages that can be searched: by words, and by meaning where there is an embedding model.

    Args:
        embedder: The embedding model; None for words alone.
        path: Folder to keep the index in, so that only new passages are embedded; in memory when None.
        on_progress: Called with passages embedded and passages in all.

    Example:
        >>> found = Passages([Passage("urn:a", "Moss is a novel by Ada Hill.", "a.txt"),
        ...                   Passage("urn:b", "Ada Hill lives in Visby.", "b.txt")])
        >>> [p.iri for p in found.search("Moss wrote", [("Moss",)], 5)]
        ['urn:a']
    """

    def __init__(
        self,
        passages: Iterable[Passage],
        embedder: Embedder | None = None,
        *,
        path: Path | None = None,
        on_progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self._by_iri = {passage.iri: passage for passage in passages}
        if path is not None and (path / "manifest.json").exists():
            try:
                self._index = DocumentIndex.open(path, embedder=embedder, thorough=True)
            except IndexError_:  # of another model, or damaged: it can be made anew at any time
                self._index = DocumentIndex.create(path, embedder=embedder, replace=True)
        else:
            self._index = DocumentIndex.create(path, embedder=embedder)
        texts = [(p.iri, f"{p.title}\n{p.text}") for p in self._by_iri.values()]
        self._index.sync(texts, extra={}, on_progress=on_progress)
        self._mode: Any = "bm25" if embedder is None else "hybrid"

    @classmethod
    def of(
        cls,
        kg: KnowledgeGraph,
        collections: Sequence[str],
        embedder: Embedder | None = None,
        *,
        more: Iterable[Passage] = (),
        on_progress: Callable[[int, int | None], None] | None = None,
    ) -> Passages:
        """Return the passages of some collections and some more; vectors are kept beside the store."""
        folder = home(kg) if embedder is not None else None
        named = hashlib.sha256("\n".join(sorted(collections)).encode()).hexdigest()[:16]
        path = None if folder is None else folder.parent / "passages" / named
        return cls([*passages_of(kg, collections), *more], embedder, path=path, on_progress=on_progress)

    def __len__(self) -> int:
        return len(self._by_iri)

    @property
    def all(self) -> list[Passage]:
        """Return all passages, in their order."""
        return list(self._by_iri.values())

    def search(self, query: str, names: Sequence[Sequence[str]], k: int) -> list[Passage]:
        """Return the passages most similar to a text that name each known entity, best first."""
        matches = self._index.search(query, max(k * _WIDE, 100), mode=self._mode) if self._by_iri else ()
        passages = (self._by_iri[match.doc_id] for match in matches)
        return list(islice((p for p in passages if mentioned(f"{p.title}\n{p.text}", names)), k))


class RetrievedPassages:
    """Passages from a retriever of LangChain, such as that of a vector store; what it gives is kept."""

    def __init__(self, kg: KnowledgeGraph, retriever: BaseRetriever) -> None:
        self.kg = kg
        self.retriever = retriever
        self.collection = "urn:mrag:collection:" + hashlib.sha256(b"retriever").hexdigest()[:32]

    def search(self, query: str, names: Sequence[Sequence[str]], k: int) -> list[Passage]:
        """Return what the retriever gives for a text, where it names each known entity."""
        given = from_langchain(self.retriever.invoke(query))
        wanted = [d for d in given if mentioned(f"{d.title}\n{d.text}", names)][:k]
        store_documents(self.kg, self.collection, wanted, Cutting(1 << 20), whole=False)
        snippets = (snippet for document in wanted for snippet in cut(document, Cutting(1 << 20)))
        return [Passage(s.iri, s.text, s.document.source, s.document.title) for s in islice(snippets, k)]


ENDINGS: Final = (".jpg", ".jpeg", ".png", ".webp", ".gif")
"""Endings of the files that are described."""


def describe_folder(
    kg: KnowledgeGraph,
    folder: Path | str,
    model: ModelSpec | None = None,
    *,
    settings: EnrichSettings | None = None,
    on_progress: Callable[[EnrichProgress], None] | None = None,
    **options: Any,
) -> EnrichReport:
    """Describe the images of a folder that have no description yet, and parts of each.

    Args:
        kg: The knowledge graph that is completed; it is not changed.
        folder: The folder; those below are looked through too.
        model: A model that sees, as for `mrag.images.enrichment.describe`.
        settings: The settings; by default a whole image and a grid of two by two parts.
        on_progress: Called when something is done.
        options: Passed to `describe`.

    Raises:
        LoadError: If there is no such folder.
        ModelError: If the model cannot be had, or fails again and again.
    """
    root = Path(folder)
    if not root.is_dir():
        raise LoadError("There is no such folder.", file=str(root), hint="Check the path.")
    settings = settings or EnrichSettings(
        prompt=tables("completion/prompts.toml")["picture"], regions="quarters"
    )
    side = _side(kg)
    known = set(file_names(side))
    rows: list[Triple] = []
    for path in sorted(p for p in root.rglob("*") if p.suffix.lower() in ENDINGS and p.is_file()):
        if leads_out(path, root):
            continue
        name = path.relative_to(root).as_posix()
        # The IRI follows from name and content: another picture under the same name is another image.
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        image = "urn:mrag:picture:" + hashlib.sha256(f"{name}\n{content}".encode()).hexdigest()[:32]
        if image not in known:
            kind, title = URIRef(EX + "Image"), Literal(_title(path))
            facts = ((RDF.type, kind), (EX + "hasFileName", Literal(name)), (RDFS + "label", title))
            rows += [Triple(URIRef(image), URIRef(p), value) for p, value in facts]
    side.insert(rows)
    return describe(side, model, folder=root, settings=settings, on_progress=on_progress, **options)


def image_passages(kg: KnowledgeGraph) -> list[Passage]:
    """Return what was said of images and of parts of them, as passages; its own beside those of folders."""
    passages: list[Passage] = []
    for graph in (_side(kg), kg):
        files = file_names(graph)
        labels = graph.labels(files)
        for texts in image_texts(graph):
            name = files.get(texts.image, texts.image)
            title = labels.get(texts.image) or _title(Path(name))
            for text in (*texts.sentences, *texts.generated):
                passages.append(Passage(texts.image, text, name, title, "image"))
            for fragment, text in texts.regions:
                passages.append(Passage(part_of(texts.image, fragment), text, name, title, "region"))
    return joined_by_node(list(dict.fromkeys(passages)))


def joined_by_node(passages: Sequence[Passage]) -> list[Passage]:
    """Return passages with those of one node joined, since a search finds each node once."""
    groups: dict[str, list[Passage]] = {}
    for passage in passages:
        groups.setdefault(passage.iri, []).append(passage)
    return [
        Passage(iri, " ".join(p.text for p in several), several[0].source, several[0].title, several[0].kind)
        for iri, several in groups.items()
    ]


def _side(kg: KnowledgeGraph) -> KnowledgeGraph:
    """Open the knowledge graph of images beside another, in the same store."""
    return KnowledgeGraph(kg.store, f"{kg.name[:55]}-pictures")


def _title(path: Path) -> str:
    return title_of("-", path.stem)
