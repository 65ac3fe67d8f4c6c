"""Answers with pictures: the images that were found, why, and what the facts or a model say of them.

That a prompt has three parts, the task, the images that were found and the question, is from the source of
the published graphs; its words are ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mrag import html, untrusted
from mrag._tables import tables
from mrag.context import Context, ContextSettings, expand
from mrag.context.render import Line, render
from mrag.errors import LoadError, ModelError
from mrag.generation.answering import answer, cite
from mrag.generation.models import invoke, model_name, resolve
from mrag.generation.prompts import NO_MODEL_NOTICE
from mrag.generation.result import Answer, Sentence, ShownImage, recorded
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import status_of
from mrag.images.enrichment import default_model
from mrag.images.files import Picture, PictureLimits, open_picture
from mrag.images.graph import EX, FILE, file_names, files_of, names_of, regions_of
from mrag.language.possessive import compile_pattern
from mrag.rdf.terms import RDF
from mrag.retrieval.rankers import Hit, Question, Ranker

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

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
        >>> from mrag.images.rankers import ImageTextRanker
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


_IMAGE: Final = r"(?:picture|image|photo|photograph)s?"
_SOME: Final = (
    r"(?:(?:a|an|the|some|all|any|more|few|several|every|other|of|\d+|one|two|three|four|five|ten)\s+)*+"
)
_SHOWING: Final = (
    r"(?:of|with|where|in\s+which|showing|depicting|containing|featuring|including|displaying|having|"
    r"(?:(?:that|which)\s+)?(?:shows?|depicts?|contains?|displays?|features?|includes?|has|have|is|are|looks?)"
    r"(?:\s+(?:of|with|like))?)"
)
_ASKED: Final = compile_pattern(
    r"(?:please\s+)?(?:(?:can|could|would)\s+(?:you|i|we)\s+)?(?:please\s+)?(?:i\s+(?:want|would\s+like)\s+)?"
    r"(?:to\s+)?(?:show|find|give|get|see|display|list|search|look)\s+(?:(?:me|us|for|at)\s+)*"
    rf"{_SOME}{_IMAGE}\b(?:\s+{_SHOWING}\b)?"
    rf"|(?:which|what|{_SOME})\s*{_SOME}{_IMAGE}\s+{_SHOWING}\b",
    re.IGNORECASE,
)


def wish_of(question: str) -> str | None:
    """Return what the images that a question asks for are to show, None if it does not ask for images."""
    match = _ASKED.match(question.strip())
    return None if match is None else question.strip()[match.end() :].strip(" ?.!")
