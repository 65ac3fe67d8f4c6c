"""Answers with computed citations: by a language model, or by the facts alone.

Whatever writes the text, its sentences are held against the context afterwards. A model may write ids
of lines; they are taken out, and only those stay that hold. What no line supports is marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final

from mrag import untrusted
from mrag._tables import patterns
from mrag.context.render import Context, Line
from mrag.errors import ModelError
from mrag.generation.models import check_read, invoke, model_errors, model_name
from mrag.generation.plain_answer import plain_sentences, verbalise_all
from mrag.generation.prompts import NO_MODEL_NOTICE, ONLY_IDS_NOTICE, messages, without_fences
from mrag.generation.result import Answer, Citation, Sentence, recorded
from mrag.generation.support.citations import Citer, FactSource, PictureCiter, judge, supports
from mrag.generation.support.sentences import ThoughtFilter, split, take_ids, without_thoughts
from mrag.generation.verbalise import VerbalisedSentence
from mrag.language.tokens import tokens

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_PREAMBLE: Final = patterns("generation/patterns.toml")["preamble"]


def answer(
    question: str,
    context: Context,
    model: BaseChatModel | None = None,
    *,
    notice: str | None = None,
    computing: Sequence[str] = (),
    graph: FactSource | None = None,
) -> Answer:
    """Answer a question from a context, and cite what each sentence rests on.

    Args:
        question: What is asked.
        context: The only facts that may be used.
        model: A chat model; without one the best facts are verbalised.
        notice: What to tell the reader; without a model, by default, that there was none.
        computing: Words of the question that ask to compute, where nothing was computed: without a model,
            facts that have none of them are said not to answer directly.
        graph: What asks the graph about what a model wrote and the context does not support.

    Returns:
        The answer. With an empty context no model is asked, and the answer says that nothing was found.

    Raises:
        ModelError: If the model cannot be reached or gives no text.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.context.render import Line
        >>> from mrag.rdf.terms import Triple
        >>> e = "http://example.org/"
        >>> triple = Triple(URIRef(e + "GraphDB"), URIRef(e + "by"), URIRef(e + "Ontotext"))
        >>> labels = ("GraphDB", "developed by", "Ontotext")
        >>> line = Line("t1", "(GraphDB, developed by, Ontotext)", triple, e, False, labels)
        >>> print(answer("Who develops GraphDB?", Context((line,), ())).text)
        GraphDB is developed by Ontotext [t1].
    """
    kept = recorded(context)
    if model is None or not kept.lines:
        return _plain(question, kept, model, notice, computing)
    text = invoke(model, messages(question, kept.text()))
    return cite(question, text, kept, model=model_name(model), notice=notice, graph=graph)


def stream_answer(
    question: str,
    context: Context,
    model: BaseChatModel | None = None,
    *,
    notice: str | None = None,
    computing: Sequence[str] = (),
    graph: FactSource | None = None,
) -> Iterator[str | Answer]:
    """Answer as `answer` does, giving the text as it is written and the whole answer at the end.

    Yields:
        Pieces of text, as the model writes them; last, the `Answer`, whose text has the citations.

    Raises:
        ModelError: If the model cannot be reached, breaks off or gives no text.
    """
    kept = recorded(context)
    if model is None or not kept.lines:
        whole = _plain(question, kept, model, notice, computing)
        yield from (sentence.before + str(sentence) for sentence in whole.sentences)
        yield whole
        return
    said, thoughts, counted = "", ThoughtFilter(), None
    with model_errors(model) as heard:
        for chunk in model.stream(messages(question, kept.text())):
            piece = str(chunk.text)
            heard.set()
            said += piece
            counted = chunk if chunk.usage_metadata else counted
            if shown := thoughts.feed(piece):
                yield shown
    check_read(model, counted)
    yield cite(question, said, kept, model=model_name(model), notice=notice, graph=graph)


def cite(
    question: str,
    text: str,
    context: Context,
    *,
    model: str | None = None,
    notice: str | None = None,
    pictures: Sequence[str] = (),
    graph: FactSource | None = None,
) -> Answer:
    """Compute the citations of a text that answers a question from a context.

    The text is what a model wrote, with or without ids of lines in square brackets; `pictures` names the
    images that the context is of, if it is of images. The rest is as for `answer`.

    Raises:
        ModelError: If the text has neither a word nor the id of a line in it.
    """
    kept = recorded(context)
    citer = PictureCiter(question, kept, pictures) if pictures else Citer(question, kept)
    pieces: list[tuple[str, str, tuple[str, ...]]] = []
    written = split(without_fences(without_thoughts(text)), names_of(kept))
    while len(written) > 1 and _PREAMBLE.fullmatch(written[0][1]):
        written = written[1:]
    for before, sentence in written:
        bare, ids = take_ids(sentence)
        if tokens(bare):
            bare = untrusted.without_ids(bare, marks=False)
            before = untrusted.layout(before)
            pieces.append((before if pieces else before.lstrip("\n"), bare, ids))
        elif pieces and ids:
            pieces[-1] = (*pieces[-1][:2], (*pieces[-1][2], *ids))
    if not pieces:
        pointed = _point_to(question, text, kept)
        if pointed:
            only = " ".join(part for part in (notice, ONLY_IDS_NOTICE) if part)
            return Answer.of(question, pointed, kept, model, only)
        raise ModelError(
            "The language model gave no text.",
            hint="Try again, or another model; one that thinks first may have ended before it answered.",
            term=text[:80] or None,
        )
    sentences = []
    further: dict[str, Line] = {}
    for (before, bare, _), (support, subjects, under) in zip(pieces, supports(citer, pieces), strict=True):
        one = judge(citer, bare, support, subjects, graph, under)
        own = [_number(line, kept, further) for line in one.support.lines]
        if not any(line.inferred for line in own):
            bare = untrusted.without_ids(bare)
        against = tuple(_number(line, kept, further).id for line in one.against)
        citations = tuple(map(Citation.of, own))
        holds = one.verdict in ("read", "graph", "nothing")
        sentences.append(
            Sentence(
                bare, citations, holds, before, one.support.rejected, one.verdict, one.support.left, against
            )
        )
    kept = replace(kept, lines=(*kept.lines, *further.values()))
    return Answer.of(question, sentences, kept, model, notice)


def _number(line: Line, context: Context, further: dict[str, Line]) -> Line:
    """Return a line with an id of its own, where it is none of those that were read."""
    if any(line is one for one in context.lines):
        return line
    if line.id not in further:
        taken = {one.id for one in (*context.lines, *further.values())}
        number = next(n for n in count(1) if f"g{n}" not in taken)
        further[line.id] = replace(line, id=f"g{number}")
    return further[line.id]


def _point_to(question: str, text: str, context: Context) -> list[Sentence]:
    """Return sentences for the lines whose ids are all that a model wrote, as very small models do."""
    _, written = take_ids(text)
    ids = {line.id.casefold(): line for line in context.lines}
    lines = [ids[one] for one in written if one in ids]
    return _sentences(verbalise_all(question, lines, context))


def _sentences(parts: Sequence[tuple[str, VerbalisedSentence]]) -> list[Sentence]:
    return [Sentence(told.text, tuple(map(Citation.of, told.lines)), True, before) for before, told in parts]


def names_of(context: Context) -> list[str]:
    """Return the labels of a context that may hold a full stop."""
    return [label for line in context.lines for label in (line.labels[0], line.labels[2]) if "." in label]


def _plain(
    question: str, context: Context, model: BaseChatModel | None, notice: str | None, computing: Sequence[str]
) -> Answer:
    sentences = _sentences(plain_sentences(question, context, computing=computing))
    if model is not None:
        return Answer.of(question, sentences, context, model_name(model), notice)
    return Answer.of(question, sentences, context, None, notice or NO_MODEL_NOTICE)
