"""Passages and images as evidence, and what they say of an incomplete triple.

Passages are kept in the store as nodes of their own, and found by the words of a triple. The images of a
folder become a small knowledge graph in the same store, named after the one that is completed, so that
descriptions are made once, survive an interruption, and carry their provenance (`mrag.images.enrichment`).
What was said of an image, or of a part of it, is read like a passage.

A model sees passages as data and can only fill the unknown place of a triple that was planned before; what
it quotes is looked up in the passage by code, and its answer in the quote, so that a passage which gives
orders can at most make it quote itself.
"""

from __future__ import annotations

import hashlib
import logging
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from rdflib import RDF, Literal, URIRef

from mrag import untrusted
from mrag._tables import tables
from mrag.completion.checks import SCHEMA
from mrag.completion.names import NamedRelation, Relations, mentioned, places, term_names
from mrag.completion.patterns import ROLES, IncompleteTriple
from mrag.completion.review import DCTERMS
from mrag.errors import IndexError_, LoadError
from mrag.generation.models import invoke_repaired, json_values, model_name
from mrag.graph.books import books
from mrag.graph.kg import KnowledgeGraph, home
from mrag.images.enrichment import EnrichProgress, EnrichReport, EnrichSettings, describe
from mrag.images.files import part_of
from mrag.images.graph import EX, file_names, image_texts
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import Embedder
from mrag.language.names import split_identifier
from mrag.language.tokens import normalise, words_of
from mrag.loaders.rdf import leads_out
from mrag.loaders.snippets import Cutting, Document, Snippets, cut, document_lines, passage_lines, title_of
from mrag.planning.plan import Unknown
from mrag.rdf import queries
from mrag.rdf.terms import RDFS, Term, Triple
from mrag.stores.base import Dataset, TripleStore

if TYPE_CHECKING:
    from langchain_core.documents import Document as LangChainDocument
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.retrievers import BaseRetriever

    from mrag.images.enrichment import ModelSpec

_BATCH: Final = 4 << 20  # Bytes of N-Triples after which they are written

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


ENDINGS: Final = (".jpg", ".jpeg", ".png", ".webp", ".gif")  # Endings of the files that are described


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


Place = typing.Literal["subject", "predicate", "object"]
PLACES: tuple[Place, Place, Place] = ("subject", "predicate", "object")


@dataclass(frozen=True)
class Extraction:
    """What a reader found in a passage."""

    place: Place  # The place that it fills
    text: str  # The words that fill it, as the passage has them; of a predicate its IRI
    passage: Passage
    quote: str  # The words relied on, as they stand there
    confidence: float  # From 0 to 1
    # What the words mean, where the reader knows; else they are linked to the graph afterwards
    term: Term | None = None


@dataclass(frozen=True)
class SoughtTriple:
    """An incomplete triple as a reader gets it."""

    triple: IncompleteTriple  # The triple, one of its places unknown
    place: Place  # The unknown place
    names: dict[Place, tuple[str, ...]]  # Names of what is known, by place; of a predicate the ways to say it
    words: str  # The triple in words

    @property
    def entities(self) -> list[tuple[str, ...]]:
        """Return the names of each known entity or value."""
        return [names for place, names in self.names.items() if place != "predicate"]


class Reader(Protocol):
    """Completes a triple from passages."""

    @property
    def name(self) -> str:
        """Return what it is called in provenance."""

    def read(self, kg: KnowledgeGraph, sought: SoughtTriple, passages: Sequence[Passage]) -> list[Extraction]:
        """Return what the passages say; an empty list means that there is no evidence.

        Raises:
            ModelError: If a model cannot be reached.
        """


def sought(kg: KnowledgeGraph, triple: IncompleteTriple) -> SoughtTriple | None:
    """Return a triple in words; None where not exactly one place is unknown."""
    unknown = [place for place, slot in zip(PLACES, triple.slots, strict=True) if isinstance(slot, Unknown)]
    if len(unknown) != 1:
        return None
    names: dict[Place, tuple[str, ...]] = {}
    for place, slot, role in zip(PLACES, triple.slots, ROLES, strict=True):
        if isinstance(slot, Unknown):
            continue
        if role == "relation":
            known = Relations.of(kg).by_iri.get(URIRef(str(slot)))
            names[place] = known.names if known else (split_identifier(str(slot)),)
        else:
            names[place] = tuple(term_names(kg, slot))
    if any(not several for several in names.values()):
        return None
    words = " ".join(names[place][0] if place in names else "?" for place in PLACES)
    return SoughtTriple(triple, unknown[0], names, words)


def checked(extraction: Extraction, sought: SoughtTriple, states: Callable[[str], bool]) -> Extraction | None:
    """Return a finding whose quote stands in its passage and holds what was found; else None.

    White space and typographic quotes may differ; the quote becomes what the passage has.
    """
    passage = extraction.passage
    quote = extraction.quote.strip()
    if quote not in passage.text:
        span = locate(passage.text, quote)
        quote = passage.text[span[0] : span[1]] if span else ""
    if not quote or not 0 < extraction.confidence <= 1:
        return None
    if not states(quote) or not mentioned(f"{passage.title}\n{passage.text}", sought.entities):
        return None
    if extraction.place != "predicate" and not mentioned(quote, [[extraction.text]]):
        return None
    return replace(extraction, quote=quote)


def locate(text: str, quote: str) -> tuple[int, int] | None:
    """Return where a quote stands in a text, word for word; None if it does not.

    Case, punctuation, white space and accents may differ, words may not.
    """
    words = words_of(text)
    span = next(iter(places(words, quote)), None)
    return None if span is None else (words[span.first].start, words[span.last - 1].end)


logger = logging.getLogger(__name__)

_PROMPT: Final[Mapping[str, Any]] = tables("completion/prompts.toml")["read"]
CONFIDENCE: Final = 0.8  # How sure what a model found is, once its quote has been found
_MAX_CHARACTERS: Final = 6000
_HOLE: Final = re.compile(r"\{(passages|subject|predicate|object)\}")
_NOTHING: Final = re.compile(
    r"\b(?:no evidence|none of the passages|not (?:stated|mentioned))\b", re.IGNORECASE
)


@dataclass
class ModelReader:
    """Reads with a chat model.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> ModelReader(FakeListChatModel(responses=['{"answers": []}'])).name
        'FakeListChatModel'
    """

    model: BaseChatModel

    @property
    def name(self) -> str:
        """Return the name of the model, for provenance."""
        return model_name(self.model) or "model"

    def read(self, kg: KnowledgeGraph, sought: SoughtTriple, passages: Sequence[Passage]) -> list[Extraction]:
        """Return what the model finds in the passages, each with its quote.

        An answer that cannot be used is asked for once more, with what was wrong; what is wrong then is left
        out, and an answer without any form counts as no evidence.

        Raises:
            ModelError: If the model cannot be reached.
        """
        # As many as a prompt holds, at least one.
        sizes = zip(passages, accumulate(len(p.text) for p in passages), strict=True)
        some = [p for at, (p, size) in enumerate(sizes) if not at or size <= _MAX_CHARACTERS]
        if not some:
            return []
        relations = {normalise(n): r.iri for r in Relations.of(kg).all for n in r.names}
        messages = self._messages(kg, sought, some)
        extractions, problem = invoke_repaired(
            self.model,
            messages,
            _PROMPT["schema"],
            lambda text, value: _read(sought, some, relations, text, value),
        )
        if problem:
            logger.info("after one repair the model's answer is still wrong: %s", problem)
        return extractions or []

    def _messages(
        self, kg: KnowledgeGraph, sought: SoughtTriple, passages: Sequence[Passage]
    ) -> list[BaseMessage]:
        from langchain_core.messages import HumanMessage, SystemMessage

        shown = "\n".join(
            untrusted.line(str(number), f"{f'{p.title}: ' if p.title else ''}{p.text}")
            for number, p in enumerate(passages, start=1)
        )
        parts = {"passages": shown}
        for place in PLACES:
            parts[place] = untrusted.one_line(sought.names[place][0]) if place in sought.names else "?"
        text = _HOLE.sub(lambda hole: parts[hole[1]], _PROMPT["human"])
        if sought.place == "predicate":
            labels = dict.fromkeys(untrusted.one_line(r.label) for r in _frequent(kg))
            text += _PROMPT["relations"].replace("{names}", ", ".join(labels))
        return [SystemMessage(_PROMPT["system"]), HumanMessage(text)]


def _frequent(kg: KnowledgeGraph) -> list[NamedRelation]:
    """Return the relations that a model may choose from, the most frequent ones first."""
    counts = kg.profile().predicates
    every = [r for r in Relations.of(kg).all if not str(r.iri).startswith(SCHEMA)]
    return sorted(every, key=lambda r: (-counts.get(str(r.iri), 0), str(r.iri)))[:60]


def _read(
    sought: SoughtTriple, passages: Sequence[Passage], relations: Mapping[str, URIRef], text: str, value: Any
) -> tuple[list[Extraction], str]:
    """Return what of an answer can be used, and what is wrong with the rest."""
    given = [value] if value is not None and _rows(value) is not None else json_values(text, quotes=True)
    rows = next((listing for one in given if (listing := _rows(one)) is not None), None)
    if rows is None:
        return [], "" if _NOTHING.search(text) else "it is not JSON of the form asked for."
    findings: list[Extraction] = []
    predicate = sought.place == "predicate"
    problems: list[str] = []
    for row in rows:
        said, quote = str(row.get("value") or "").strip(" \"'“”[]()"), str(row.get("quote") or "").strip()
        if not said or normalise(said) in ("unknown", "none", "n a"):
            continue
        digits = re.findall(r"\d+", str(row.get("passage")))
        number = int(digits[0]) if digits and len(digits[0]) < 6 else 0
        named = [passages[number - 1]] if 1 <= number <= len(passages) else []
        # A wrong number is forgiven where the quote tells which passage is meant.
        passage = next((p for p in [*named, *passages] if quote and locate(p.text, quote)), None)
        relation = relations.get(normalise(said)) if predicate else None
        if passage is None:
            problems.append(f"the quote {quote[:80]!r} does not stand in passage {number or '?'}.")
        elif predicate and relation is None:
            problems.append(f"{said!r} is none of the relations.")
        elif not predicate and not mentioned(quote, [[said]]):
            problems.append(f"the value {said!r} does not stand in its quote.")
        else:
            meant = str(relation or said)
            findings.append(Extraction(sought.place, meant, passage, quote, CONFIDENCE, relation))
    return findings, next(iter(problems), "")


def _rows(value: Any) -> list[dict[str, Any]] | None:
    """Return the answers in a value, None if it is of another form."""
    if isinstance(value, dict):
        inner = next((value[k] for k in ("answers", "answer", "results", "values") if k in value), None)
        if inner is None:
            return [value] if "value" in value else None
        value = inner
        if isinstance(value, dict):
            value = [value]
        if value is None:
            return []
    if not isinstance(value, list):
        return None
    rows = [cast(dict[str, Any], row) for row in value if isinstance(row, dict) and "value" in row]
    return rows if rows or not value else None
