"""Answers with pictures: the images that were found, why, and what the facts or a model say of them.

That a prompt has three parts, the task, the images that were found and the question, is from the source of
the published graphs; its words are ours.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np

from mrag import html, untrusted
from mrag._tables import tables
from mrag.context import Context, ContextSettings, expand
from mrag.context.render import Line, render
from mrag.errors import (
    ConfigError,
    DamagedIndex,
    IndexMismatch,
    LoadError,
    MissingIndex,
    ModelError,
    check_choice,
)
from mrag.generation.answering import answer, cite
from mrag.generation.models import invoke, model_name, resolve
from mrag.generation.prompts import NO_MODEL_NOTICE
from mrag.generation.result import Answer, Sentence, ShownImage, recorded
from mrag.graph.kg import KnowledgeGraph, home
from mrag.graph.record import status_of
from mrag.images.embedding import ImageEmbedder, image_embedder
from mrag.images.enrichment import default_model
from mrag.images.files import Picture, PictureLimits, open_picture
from mrag.images.graph import EX, FILE, Allowed, file_names, files_of, image_texts, names_of, regions_of
from mrag.index.bm25 import Bm25Params
from mrag.index.document_index import DocumentIndex, Mode
from mrag.index.embedding import Embedder, Vectors, embedder
from mrag.index.segments import Progress, SyncReport
from mrag.index.similarity import SimilarityIndex
from mrag.language.grammar import wish_of
from mrag.rdf.terms import RDF
from mrag.retrieval.rankers import FusedRanker, Hit, Question, Ranker

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

logger = logging.getLogger(__name__)


def image_mode(name: str) -> Mode:
    """Return the name of a ranker as one that ranks images by the sentences about them."""
    check_choice("ranker of images", name, get_args(Mode))
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


_SHOWN = PictureLimits(max_side=320)


def figures(images: Iterable[ShownImage], cited: Collection[str]) -> html.Html:
    """Return images with what is said of them; all that comes from the graph or a model is escaped."""
    return html.Html("".join(_figure(image, cited) for image in images))


def picture_of(path: Path | None, limits: PictureLimits) -> Picture | None:
    """Return the picture in a file, None where there is none that can be shown."""
    if path is None:
        return None
    try:
        return open_picture(path, limits)
    except LoadError:
        return None  # the facts stand without it


def _figure(image: ShownImage, cited: Collection[str]) -> str:
    picture = picture_of(image.path, _SHOWN)
    shown = ""
    if picture is not None:
        shown = (
            f'<img src="{picture.data_uri()}" alt="{html.text(image.name)}" '
            'style="max-width:320px;max-height:320px">'
        )
    facts = "".join(
        f"<li>{'<b>' if line.id in cited else ''}[{html.text(line.id)}] {html.text(line.text)}"
        f"{_origin(line)}{'</b>' if line.id in cited else ''}</li>"
        for line in image.lines
    )
    why = html.text("; ".join(image.reasons))
    return (
        f'<figure style="margin:1em 0">{shown}<figcaption><b>{image.rank}. {html.text(image.name)}</b> '
        f"<code>{html.text(image.iri)}</code><br><small>{why}</small><ul>{facts}</ul></figcaption></figure>"
    )


def _origin(line: Line) -> str:
    if line.inferred:
        return " (inferred)"
    return " (said by a model)" if status_of(line.graph) == "enriched" else ""


_PARTS = 6
FOUND_ONLY = "These images were found; the graph has no facts about them."
_NUMBER = re.compile(
    r"\bimages? #?(\d{1,3}(?:(?:, and |, | and | & | or )(?:image )?#?\d{1,3})*)\b(?!\.\d)", re.IGNORECASE
)


_SENT = PictureLimits(max_side=768)
_CONTEXT = ContextSettings(
    directions=("out",),
    denied=(EX + "hasFileName", EX + "hasWidth", EX + "hasHeight", RDF + "type"),
    schema=False,
    per_predicate=20,
    text_length=800,
)
"""What an image is the subject of, but for its file, size and classes."""


def ask_pictures(
    kg: KnowledgeGraph,
    question: str | Question,
    ranker: Ranker,
    *,
    folder: Path | str | None = None,
    model: str | BaseChatModel | None = None,
    k: int = 5,
    send: int = 4,
) -> Answer:
    """Find images for a question and answer with them.

    Args:
        kg: The knowledge graph.
        question: Words, or a question with a picture.
        ranker: What ranks images.
        folder: The only folder, with those below, that pictures are taken from; without one none is shown.
        model: As for `mrag.ask`. A model that is named is taken to see, and gets the first pictures too; by
            default one of Ollama's that sees, else what `mrag.ask` takes, which gets the facts alone.
        k: Most images.
        send: Most pictures that a model gets to see; 0 sends it the facts alone.

    Returns:
        The answer, with its images; a notebook shows them.

    Raises:
        ModelError: If a model that was named cannot be had, or gives no text.
        LoadError: If the picture of the question cannot be used.

    Example:
        >>> from rdflib import Literal, URIRef
        >>> from mrag.images.answer import ImageTextRanker
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> from mrag.rdf.terms import Triple
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> says = URIRef("http://example.org/hasDescription")
        >>> _ = kg.insert([Triple(URIRef("http://example.org/image_1"), says, Literal("Contains coat"))])
        >>> found = ask_pictures(kg, "a coat", ImageTextRanker(kg, "bm25"), model="none")
        >>> [(image.rank, str(image.lines[0].triple.o)) for image in found.images]
        [(1, 'Contains coat')]
        >>> kg.close()
    """
    asked = question if isinstance(question, Question) else Question(question)
    chat, send = _chat(model, send)
    # What is asked for is described after the words that ask.
    sought = wish_of(asked.text) or asked.text
    hits = ranker.rank(replace(asked, text=sought), k)
    iris = [hit.iri for hit in hits]
    files: Mapping[str, Path] = {}
    if folder is not None:
        files, _ = files_of(kg, Path(folder), iris)
    shown = _show(kg, hits, files, asked)
    lines = [line for image in shown for line in image.lines]
    context = Context(tuple(lines), tuple(iris))
    words = asked.text.strip() or "Which images are like the picture?"
    if shown and not lines and (chat is None or not send):
        notice = None if chat is not None else NO_MODEL_NOTICE
        found_only = Answer.of(words, [Sentence(FOUND_ONLY, (), True)], context, notice=notice)
        return replace(found_only, way="images", images=shown)
    if chat is None or not shown:
        said = answer(sought.strip() or words, context, chat)
        return replace(said, question=words, way="images", images=shown)
    pictures = [picture_of(image.path, _SENT) for image in shown[:send]]
    blocks = [None if picture is None else picture.block() for picture in pictures]
    views = [
        (image.name, "\n".join(map(render, image.lines)), block)
        for image, block in zip(shown, [*blocks, *[None] * len(shown)], strict=False)
    ]
    own = open_picture(asked.image, _SENT).block() if asked.image and send else None
    text = _say(chat, asked.text.strip(), views, own)
    names = [image.name for image in shown]
    said = cite(words, text, context, model=model_name(chat), pictures=names)
    return replace(said, way="images", images=shown)


def _chat(model: str | BaseChatModel | None, send: int) -> tuple[BaseChatModel | None, int]:
    """Return the model, and how many pictures it gets to see."""
    if model is not None or os.environ.get("MRAG_MODEL", "auto").strip() not in ("", "auto"):
        return resolve(model), send
    try:
        return resolve(default_model()), send
    except ModelError:
        return resolve(None), 0


def _show(
    kg: KnowledgeGraph, hits: Sequence[Hit], files: Mapping[str, Path], asked: Question
) -> tuple[ShownImage, ...]:
    """Gather the lines of each image, those about parts of it among them."""
    if not hits:
        return ()
    iris = [hit.iri for hit in hits]
    names = names_of(kg, iris, file_names(kg, iris))
    parts = regions_of(kg, iris)
    of = {region: image for image, regions in parts.items() for region in regions[:_PARTS]}
    seeds = [(hit.iri, hit.score) for hit in hits]
    seeds += [(region, hit.score) for hit in hits for region in parts.get(hit.iri, ())[:_PARTS]]
    denied = (*_CONTEXT.denied, FILE, "http://purl.org/dc/terms/isPartOf")
    context = recorded(expand(kg, seeds, replace(_CONTEXT, denied=denied), question=asked.text))
    by_image: dict[str, list[Line]] = {}
    for line in context.lines:
        image = of.get(line.entity, line.entity)
        by_image.setdefault(image, []).append(_name(line, image, names[image]) if image in names else line)
    return tuple(
        ShownImage(
            h.iri, names[h.iri], files.get(h.iri), h.score, h.rank, h.reasons, tuple(by_image.get(h.iri, ()))
        )
        for h in hits
    )


def _name(line: Line, image: str, name: str) -> Line:
    """Call an image in a line what people call it, so that sentences about it can be held against it."""
    subject = str(line.triple.s)
    rest = subject.removeprefix(image)
    if not subject.startswith(image) or (rest and not rest[1:].startswith("xywh=")):
        return line
    called = f"{name} ({rest[1:]})" if rest else name
    labels = (called, *line.labels[1:])
    return replace(line, labels=labels, text=untrusted.fact(labels))


def _say(
    model: BaseChatModel,
    question: str,
    pictures: Sequence[tuple[str, str, Mapping[str, str] | None]],
    asked: Mapping[str, str] | None,
) -> str:
    hint = "A model that does not see can be asked with send=0, or use --model none."
    text = invoke(model, answer_messages(question, pictures, asked), hint)
    # Models speak of images by their number in the prompt, which says nothing to a reader.
    names = {str(number): untrusted.one_line(name) for number, (name, _, _) in enumerate(pictures, start=1)}
    return _NUMBER.sub(lambda m: _call(m, names), text)


def _call(match: re.Match[str], names: Mapping[str, str]) -> str:
    """Return the names of images that are spoken of by number; the words as they are where one is unknown."""
    if any(number not in names for number in re.findall(r"\d+", match[1])):
        return match[0]
    return re.sub(r"(?:image )?#?(\d+)", lambda m: names[m[1]], match[1], flags=re.IGNORECASE)


def answer_messages(
    question: str,
    pictures: Sequence[tuple[str, str, Mapping[str, str] | None]],
    asked: Mapping[str, str] | None = None,
) -> list[BaseMessage]:
    """Build the messages for an answer with pictures."""
    from langchain_core.messages import HumanMessage, SystemMessage

    content: list[str | dict[Any, Any]] = []
    for number, (name, lines, block) in enumerate(pictures, start=1):
        head, facts = f"Image {number}: {untrusted.one_line(name)}", untrusted.block(lines)
        content.append({"type": "text", "text": f"{head}\n<facts>\n{facts}\n</facts>"})
        if block is not None:
            content.append(dict(block))
    if asked is not None:
        content.append({"type": "text", "text": "The request comes with this picture:"})
        content.append(dict(asked))
    request = untrusted.one_line(question) or "images like the picture"
    content.append({"type": "text", "text": f"Request: {request}"})
    return [SystemMessage(tables("images/prompts.toml")["task"]), HumanMessage(content)]
