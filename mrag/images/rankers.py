"""Rankers of images: by the sentences about them, by their looks, and by both.

All give one hit for each image, ties in order of IRI. A question may have words, a picture, or both.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from mrag.errors import ConfigError, DamagedIndex, IndexMismatch, LoadError, MissingIndex
from mrag.graph.kg import KnowledgeGraph, home
from mrag.images.embedding import ImageEmbedder, image_embedder
from mrag.images.files import open_picture
from mrag.images.graph import Allowed, files_of, image_texts
from mrag.index.bm25 import Bm25Params
from mrag.index.document_index import DocumentIndex, Mode
from mrag.index.embedding import Embedder, Vectors, embedder
from mrag.index.segments import Progress, SyncReport
from mrag.index.similarity import SimilarityIndex
from mrag.retrieval.rankers import FusedRanker, Hit, Question, Ranker

logger = logging.getLogger(__name__)


def image_mode(name: str) -> Mode:
    """Return the name of a ranker as one that ranks images by the sentences about them."""
    if name not in get_args(Mode):
        raise ConfigError(
            f"Images are not ranked by {name!r}.", hint=f"There are: {', '.join(get_args(Mode))}."
        )
    return cast(Mode, name)


class ImageTextRanker:
    """Ranks images by the sentences about them, those of the graph and those of models.

    The index holds one document for each image and is brought up to date whenever the graph has changed.

    Args:
        kg: The knowledge graph.
        mode: `bm25` by words, `dense` by meaning, `hybrid` by both.
        text: The text model, as for `mrag.index.embedding.embedder`; not used for `bm25`.
        bm25: The knobs of BM25; `mrag.index.bm25.THESIS` has those of the thesis.
        allowed: Gives the only images that may be found.
        keep: Whether the index is written beside the store; else one that is there is read if it is
            current, and another one is made in memory if not.

    Example:
        >>> from rdflib import Literal, URIRef
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> from mrag.rdf.terms import Triple
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> says = URIRef("http://example.org/hasDescription")
        >>> _ = kg.insert([Triple(URIRef("urn:i1"), says, Literal("Contains coat")),
        ...                Triple(URIRef("urn:i2"), says, Literal("Contains hat"))])
        >>> [hit.iri for hit in ImageTextRanker(kg, "bm25").rank(Question("a warm coat"), 5)]
        ['urn:i1']
        >>> kg.close()
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        mode: Mode = "hybrid",
        *,
        text: str | Embedder | Any | None = "minilm",
        bm25: Bm25Params | None = None,
        allowed: Allowed | None = None,
        keep: bool = True,
    ) -> None:
        self.kg = kg
        self.keep = keep
        self.allowed = allowed
        self._embedder = embedder(text) if mode != "bm25" else None
        self.mode: Mode = mode if self._embedder is not None else "bm25"
        self._bm25 = bm25 or Bm25Params()
        self._index: DocumentIndex | None = None

    def update(self, on_progress: Progress | None = None) -> SyncReport | None:
        """Bring the index up to date; None if it was."""
        index = self._index = self._index or self._open()
        state = {"kg": self.kg.iri, "revision": self.kg.revision}
        if index.extra == state:
            return None
        if not self.keep:
            index = self._index = DocumentIndex.create(None, embedder=self._embedder, bm25=self._bm25)
        documents = [(one.image, one.document()) for one in image_texts(self.kg)]
        return index.sync(documents, extra=state, on_progress=on_progress)

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` images, best first; none for a question without words."""
        self.update()
        if not question.text.strip() or self._index is None:
            return []
        only = None if self.allowed is None else self.allowed()
        matches = self._index.search(question.text, k, mode=self.mode, allowed=only)
        reason = SimilarityIndex.reason
        return [Hit(m.doc_id, m.score, rank, (reason(m),)) for rank, m in enumerate(matches, start=1)]

    def _open(self) -> DocumentIndex:
        name = "words" if self._embedder is None else "texts"
        folder = _beside(self.kg, name)
        return _open(folder, self._embedder, self._bm25, keep=self.keep)


class ImageLooksRanker:
    """Ranks images by the nearness of their pictures to a picture, to words, or to both.

    Args:
        kg: The knowledge graph.
        folder: The only folder, with those below, that pictures are taken from.
        model: A model of pictures and words, as for `mrag.images.embedding.image_embedder`.
        allowed: Gives the only images that may be found.
        keep: Whether the index is kept beside the store; else it is made in memory, unless one that is
            there is current.

    Attributes:
        bad: Of the images that have no usable picture why, after `update`.

    Raises:
        ConfigError: If the model is none.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        folder: Path | str,
        model: str | ImageEmbedder | Any = "conse",
        *,
        allowed: Allowed | None = None,
        keep: bool = True,
    ) -> None:
        looks = image_embedder(model)
        if looks is None:
            raise ConfigError("Pictures cannot be compared without a model.", hint="Use conse or clip:…")
        self.kg = kg
        self.folder = Path(folder)
        self.allowed = allowed
        self.bad: dict[str, str] = {}
        self._model = looks
        self._pictures = _Pictures(self._model)
        self._index: DocumentIndex | None = None
        self._seen: int | None = None
        self._keep = keep

    def lacking(self) -> int:
        """Return how many pictures an update would have to embed, at most."""
        files, _ = files_of(self.kg, self.folder)
        index = self._index = self._index or self._open()
        return 0 if index.extra.get("stamp") == _stamp(files) else len(files)

    def update(self, on_progress: Progress | None = None) -> SyncReport:
        """Bring the index up to date with graph and files; only new and changed files are embedded."""
        files, missing = files_of(self.kg, self.folder)
        index = self._index = self._index or self._open()
        # Reading all files takes minutes where there are many; their sizes and times take a moment.
        stamp = _stamp(files)
        if index.extra.get("stamp") == stamp:
            report, bad = SyncReport(0, 0, 0, len(index), 0.0), dict(index.extra["bad"])
        else:
            if not self._keep:
                # What lies beside the store is left as it is.
                index = self._index = DocumentIndex.create(None, embedder=self._pictures)
            documents, bad = self._documents(index, files)
            extra = {"stamp": stamp, "bad": bad}
            report = index.sync(documents, extra=extra, on_progress=on_progress, batch=16)
            self._pictures.files.clear()
        self.bad = {**missing, **bad}
        self._seen = self.kg.revision
        return report

    def _documents(
        self, index: DocumentIndex, files: Mapping[str, Path]
    ) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """Return the images that can be used, with the digests of their files, and why others cannot."""
        documents: list[tuple[str, str]] = []
        bad: dict[str, str] = {}
        for iri, path in sorted(files.items()):
            try:
                with path.open("rb") as stream:
                    digest = hashlib.file_digest(stream, "sha256").hexdigest()
                if iri not in index or index.text_of(iri) != digest:
                    open_picture(path)
            except LoadError as error:
                bad[iri] = str(error)
            except OSError as error:
                bad[iri] = f"The file cannot be read: {error.strerror or error}. [{path}]"
            else:
                documents.append((iri, digest))
                self._pictures.files[digest] = path
        return documents, bad

    def _open(self) -> DocumentIndex:
        return _open(_beside(self.kg, "looks"), self._pictures, Bm25Params(), keep=self._keep)

    def rank(self, question: Question, k: int) -> list[Hit]:
        """Return at most `k` images, best first."""
        if self._seen != self.kg.revision:
            self.update()
        index = self._index
        if index is None or not len(index):
            return []
        parts: list[Vectors] = []
        if question.image is not None:
            parts.append(self._pictures.embed_file(question.image))
        if question.text.strip():
            parts.append(self._model.embed_query(question.text))
        vector = np.sum(parts, axis=0)
        length = float(np.linalg.norm(vector))
        self._pictures.here.vector = np.asarray(vector / length if length else vector, np.float32)
        only = None if self.allowed is None else self.allowed()
        what = " and ".join(
            name for name, has in (("picture", question.image), ("words", question.text)) if has
        )
        return [
            Hit(m.doc_id, m.score, rank, (f"looks {m.score:.2f} like the {what} (rank {rank})",))
            for rank, m in enumerate(index.search("", k, mode="dense", allowed=only), start=1)
        ]


def image_ranker(
    kg: KnowledgeGraph,
    folder: Path | str | None = None,
    *,
    mode: Mode = "hybrid",
    text: str | Embedder | Any | None = "minilm",
    looks: str | ImageEmbedder | Any | None = "none",
    allowed: Allowed | None = None,
) -> Ranker:
    """Return a ranker of images by their sentences and, with a model for pictures, by their looks.

    Args:
        kg: The knowledge graph.
        folder: Where the pictures are; needed with a model for pictures.
        mode: How sentences are ranked: `bm25`, `dense` or `hybrid`.
        text: The text model.
        looks: The model for pictures: `none`, `conse`, `clip:MODEL/WEIGHTS`, or an object.
        allowed: Gives the only images that may be found.

    Raises:
        ConfigError: If there is a model for pictures and no folder.
    """
    by_text = ImageTextRanker(kg, mode, text=text, allowed=allowed)
    model = image_embedder(looks)
    if model is None:
        return by_text
    if folder is None:
        raise ConfigError("Where the pictures are is not known.", hint="Give the folder.")
    return FusedRanker((by_text, ImageLooksRanker(kg, folder, model, allowed=allowed)))


class _Pictures:
    """Embeds the file that has a digest; as the vector of a query it gives what the thread has put there."""

    def __init__(self, model: ImageEmbedder) -> None:
        self.name = model.name
        self.files: dict[str, Path] = {}
        self.here = threading.local()
        self._model = model

    @property
    def dim(self) -> int:
        return self._model.dim

    def embed_file(self, path: Path) -> Vectors:
        vector: Vectors = self._model.embed_images([open_picture(path)])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.embed_file(self.files[digest]) for digest in texts])

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.here.vector
        return vector


def _stamp(files: Mapping[str, Path]) -> str:
    seen = hashlib.blake2b(digest_size=16)
    for iri, path in sorted(files.items()):
        try:
            state = path.stat()
            seen.update(f"{iri}\0{path}\0{state.st_size}\0{state.st_mtime_ns}\n".encode())
        except OSError:
            seen.update(f"{iri}\0{path}\0\n".encode())
    return seen.hexdigest()


def _open(folder: Path | None, model: Embedder | None, bm25: Bm25Params, *, keep: bool) -> DocumentIndex:
    """Open an index, or begin one in place of one that is damaged or was made in another way."""
    if folder is not None:
        try:
            kept = DocumentIndex.open(folder, embedder=model, thorough=True)
            if (kept.embedder_name is None, kept.bm25_params) == (model is None, bm25):
                return kept
        except MissingIndex:
            pass
        except (DamagedIndex, IndexMismatch) as error:
            logger.warning("%s It is built anew.", error.message)
    return DocumentIndex.create(folder if keep else None, embedder=model, bm25=bm25, replace=True)


def _beside(kg: KnowledgeGraph, name: str) -> Path | None:
    folder = home(kg)
    return None if folder is None else folder.parent / "images" / name
