"""The LangChain retriever: similarity hits, their bounded neighbourhood, one document for each hit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from pydantic import ConfigDict, Field

from mrag import untrusted
from mrag.context import ContextSettings, expand
from mrag.context.render import Context, Line, render, triple_json
from mrag.errors import ConfigError, require_known
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import RDF
from mrag.retrieval.rankers import Hit, Question, Ranker, SimilarityRanker
from mrag.tracing import span

_IMAGES = (
    "http://xmlns.com/foaf/0.1/depiction",
    "http://xmlns.com/foaf/0.1/img",
    "http://schema.org/image",
    "https://schema.org/image",
)
_IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg")


@dataclass(frozen=True)
class Retrieval:
    """What was found for a question: the entities, best first, and their neighbourhood."""

    question: Question
    hits: tuple[Hit, ...]
    context: Context

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """One LangChain document for each hit, built when first asked for."""
        return tuple(
            _document(hit, name, self.context, first=at == 0)
            for at, (hit, name) in enumerate(zip(self.hits, self.context.names, strict=True))
        )


class TripleStoreRetriever(BaseRetriever):
    """Retrieves entities of a knowledge graph with the triples around them.

    Raises:
        ConfigError: If an argument is unknown or of the wrong type.

    Each document has the entity's IRI as `id`, its lines of context as text, and JSON metadata:
    `source`, `score`, `rank`, `label`, `types`, `triples` as `[s, p, o, graph, status]`, `lines` (their
    ids), `image` and `explanation`. The axioms about what was found stand in the first document.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> retriever = TripleStoreRetriever(kg=kg, k=3)
        >>> docs = retriever.invoke("Which triple store interoperates with Ontop?")
        >>> docs[0].id == docs[0].metadata["source"], docs[0].metadata["rank"]
        (True, 1)
        >>> kg.close()
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    kg: KnowledgeGraph = Field(exclude=True, repr=False)
    index: str = "main"
    k: int = Field(default=10, ge=1)  # Maximum number of documents
    # What ranks, a ranker or a name of `mrag.known_rankers()`; the similarity index by default
    ranker: str | Ranker | None = Field(default=None, exclude=True, repr=False)
    settings: ContextSettings = ContextSettings()  # The knobs of the context; a dictionary of them does, too

    def __init__(self, **values: Any) -> None:
        require_known(values, type(self).model_fields, "TripleStoreRetriever")
        if not isinstance(values.get("kg"), KnowledgeGraph):
            raise ConfigError(
                f"kg is a knowledge graph, not {type(values.get('kg')).__name__}.",
                hint="Open one by mrag.connect(URL).",
            )
        ranker = values.get("ranker")
        if ranker is not None and not isinstance(ranker, str | Ranker):
            raise ConfigError(f"ranker is a Ranker, not {type(ranker).__name__}: it has no method rank.")
        settings = values.get("settings")
        if isinstance(settings, Mapping):
            require_known(settings, [f.name for f in fields(ContextSettings)], "ContextSettings")
        super().__init__(**values)

    def retrieve(self, question: str | Question, k: int | None = None) -> Retrieval:
        """Find at most `k` hits, by default the retriever's own number, and their context.

        Raises:
            MissingIndex: If the knowledge graph has no such index.
        """
        asked = question if isinstance(question, Question) else Question(question)
        ranker, k = self._ranker(), self.k if k is None else k
        with span("mrag.rank", {"mrag.ranker": type(ranker).__name__, "mrag.k": k}) as note:
            hits = ranker.rank(asked, k)
            note({"mrag.hits": len(hits)})
        context = expand(self.kg, [(h.iri, h.score) for h in hits], self.settings, question=asked.text)
        return Retrieval(asked, tuple(hits), context)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **kwargs: Any
    ) -> list[Document]:
        require_known(kwargs, ("k",), "TripleStoreRetriever.invoke")
        return list(self.retrieve(query, k).documents)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        require_known(kwargs, ("k",), "TripleStoreRetriever.ainvoke")
        # The store and the embedder release the GIL, so a thread is honest asynchrony here.
        return list((await asyncio.to_thread(self.retrieve, query, k)).documents)

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        return LangSmithRetrieverParams(
            ls_retriever_name="triplestore", ls_vector_store_provider=type(self.kg.store).__name__
        )

    def _ranker(self) -> Ranker:
        if isinstance(self.ranker, str):
            # The names are those of rooms above this one.
            made = import_module("mrag.retrieval.registry").ranker(self.ranker, self.kg, index=self.index)
            return cast(Ranker, made)
        return self.ranker or SimilarityRanker(self.kg, self.index)


def format_docs(documents: list[Document]) -> str:
    """Join documents to the context of a prompt, for an LCEL chain.

    Example:
        >>> format_docs([Document(page_content="one"), Document(page_content="two")])
        'one\\n\\ntwo'
    """
    return "\n\n".join(document.page_content for document in documents)


def _document(hit: Hit, name: str, context: Context, *, first: bool) -> Document:
    lines = list(context.of(hit.iri))
    schema = [line for line in context.lines if line.hop == 0] if first else []
    lines = [line for line in lines if line.hop > 0]
    content = "\n".join([untrusted.one_line(name), *(render(line) for line in lines)])
    if schema:
        content += "\nSchema\n" + "\n".join(render(line) for line in schema)
    metadata: dict[str, Any] = {
        "source": hit.iri,
        "score": float(hit.score),
        "rank": hit.rank,
        "label": name,
        "types": [
            str(line.triple.o)
            for line in lines
            if str(line.triple.p) == RDF + "type" and str(line.triple.s) == hit.iri
        ],
        "triples": [triple_json(line) for line in (*lines, *schema)],
        "lines": [line.id for line in (*lines, *schema)],
        "explanation": "; ".join(hit.reasons),
    }
    if image := _image(lines, hit.iri):
        metadata["image"] = image
    return Document(id=hit.iri, page_content=content, metadata=metadata)


def _image(lines: list[Line], entity: str) -> dict[str, str] | None:
    images = sorted(
        str(line.triple.o)
        for line in lines
        if str(line.triple.s) == entity
        and (str(line.triple.p) in _IMAGES or str(line.triple.o).lower().endswith(_IMAGE_ENDINGS))
        and str(line.triple.o).startswith(("http", "file:"))
    )
    if not images:
        return None
    ending = images[0].rsplit(".", 1)[-1].lower()
    kinds = {"jpg": "jpeg", "svg": "svg+xml"}
    return {"url": images[0], "mime_type": f"image/{kinds.get(ending, ending)}"}
