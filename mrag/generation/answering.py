"""Answers with computed citations: by a language model, or by the facts alone.

Whatever writes the text, its sentences are held against the context afterwards. A model may write ids
of lines; they are taken out, and only those stay that hold. What no line supports is marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Final

from mrag import untrusted
from mrag._tables import patterns
from mrag.context.render import Context, Line, by_subject, cost
from mrag.errors import ModelError
from mrag.generation.facts import FactGroup, FactSelector, Selection
from mrag.generation.models import check_read, invoke, model_errors, model_name, room
from mrag.generation.prompts import NO_MODEL_NOTICE, ONLY_IDS_NOTICE, SLOW_NOTICE, messages, without_fences
from mrag.generation.result import Answer, Citation, Sentence, recorded
from mrag.generation.support.citations import Citer, FactSource, PictureCiter, judge, supports
from mrag.generation.support.mentions import is_person
from mrag.generation.support.sentences import ThoughtFilter, split, take_ids, without_thoughts
from mrag.generation.verbalise import PHRASES, TYPE, Phrases, VerbalisedSentence, fill, value, verbalise
from mrag.language.names import split_identifier
from mrag.language.tokens import language_of, stem, tokens
from mrag.rdf.terms import Term

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

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
    asked, notice = _ask(question, kept, model, notice)
    text = invoke(model, asked)
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
    asked, notice = _ask(question, kept, model, notice)
    with model_errors(model) as heard:
        for chunk in model.stream(asked):
            piece = str(chunk.text)
            heard.set()
            said += piece
            counted = chunk if chunk.usage_metadata else counted
            if shown := thoughts.feed(piece):
                yield shown
    check_read(model, counted)
    yield cite(question, said, kept, model=model_name(model), notice=notice, graph=graph)


def _ask(
    question: str, context: Context, model: BaseChatModel, notice: str | None
) -> tuple[list[BaseMessage], str | None]:
    """Return what a model is asked, with the best facts alone where it reads slowly, and a notice of that."""
    most, speed = room(model, wanted := sum(cost(line.text) for line in context.lines))
    if most == wanted:
        return messages(question, context.text()), notice
    read = context.within(most)
    n, m = len(read.lines), len(context.lines)
    told = fill(SLOW_NOTICE, name=model_name(model), speed=f"{speed:.0f}", n=n, m=m)
    return messages(question, read.text()), " ".join(part for part in (notice, told) if part)


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
        hint = "Try again, or another model; one that thinks first may have ended before it answered."
        raise ModelError("The language model gave no text.", hint=hint, term=text[:80] or None)
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
    return [
        Sentence(sentence.text, tuple(map(Citation.of, sentence.lines)), True, before)
        for before, sentence in parts
    ]


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


_MAX_NAMES = 20
_LIST = 5  # Values of one property that are told at least, where all were asked for


def plain_sentences(
    question: str, context: Context, *, computing: Sequence[str] = ()
) -> list[tuple[str, VerbalisedSentence]]:
    """Answer a question by the facts of a context, each sentence behind what stands before it in the text.

    Facts that have none of the words that ask to compute do not answer it.
    """
    language = language_of(question)
    phrases = PHRASES.get(language, PHRASES["en"])
    if not context.lines:
        return [("", VerbalisedSentence(phrases.nothing_found, ()))]
    given, context, question = context, _quiet(context), untrusted.without_ids(question)
    selector = FactSelector(question, context)
    chosen = selector.select()
    if computing and chosen.groups and not _have_one_of(computing, chosen):
        left = tuple(word for word in chosen.missing if word.lower() not in computing)
        chosen = replace(chosen, partial=True, missing=left)
    wanted = frozenset(w.stem for w in selector.asked.needs if not w.terms)
    parts: list[tuple[str, VerbalisedSentence]] = [
        ("" if i == 0 else " ", VerbalisedSentence(text, ()))
        for i, text in enumerate(_caveats(chosen, language))
    ]
    if chosen.partial and chosen.groups:
        return _check(question, given, [*parts, *_nearest(chosen, selector, context, language)])
    many = len(chosen.groups) > 1
    every = by_subject(context.lines)
    for group in chosen.groups:
        bullet = ("\n- " if parts else "- ") if many else (" " if parts else "")
        for sentence in _of_group(group, every, selector.classes, language, wanted):
            parts.append((bullet, sentence))
            bullet = " "
    if chosen.more:
        parts.append(("\n- ", _also(chosen.more, phrases)))
    parts.extend((" ", VerbalisedSentence(said, ())) for said in _cut_lists(chosen, context, phrases))
    return _check(question, given, parts)


def _have_one_of(words: Sequence[str], chosen: Selection) -> bool:
    """Return whether a chosen fact has one of some words, in its relation or in a name."""
    stems = {stem(word) for word in words}
    lines = (line for group in chosen.groups for line in group.lines)
    return any(not stems.isdisjoint(map(stem, split_identifier(" ".join(x.labels)).split())) for x in lines)


def _cut_lists(chosen: Selection, context: Context, phrases: Phrases) -> list[str]:
    """Say of which lists that an answer tells there is more than it tells."""
    every = [line for group in (*chosen.groups, *chosen.more) for line in group.lines]
    notes: dict[str, None] = {}
    for direction, end in (("out", 0), ("in", 2)):
        cut = {(x.entity, x.predicate): x for x in context.cut if x.direction == direction}
        have: Counter[tuple[str, str]] = Counter((str(x.triple[end]), str(x.triple.p)) for x in context.lines)
        lists: dict[tuple[str, str], list[Line]] = {}
        for line in dict.fromkeys(every):
            lists.setdefault((str(line.triple[end]), str(line.triple.p)), []).append(line)
        for key, lines in lists.items():
            limit = cut.get(key)
            # One value, or a few of many, may have been chosen; what fills a limit was meant to be all.
            whole = len(lines) == have[key] and limit is not None
            few = direction == "out" and len(lines) >= _LIST and len(lines) < have[key]
            total = max(have[key], limit.total if limit else 0)
            if len(lines) > 1 and len(lines) < total and (whole or few):
                label = phrases.quote(" ".join(split_identifier(lines[0].labels[1]).split()))
                count = fill(phrases.least, m=total) if limit and limit.more else total
                notes[fill(phrases.shown, p=label, n=len(lines), m=count)] = None
    return list(notes)


def verbalise_all(
    question: str, lines: Sequence[Line], context: Context
) -> list[tuple[str, VerbalisedSentence]]:
    """Return sentences for lines, as they come, each subject's together."""
    sentences = [
        x
        for about in by_subject(map(_quiet_line, lines)).values()
        for x in verbalise(about, person=is_person(about))
    ]
    return _check(question, context, [("" if i == 0 else " ", x) for i, x in enumerate(sentences)])


def _quiet(context: Context) -> Context:
    """Return a context whose labels write no ids and no marks, since sentences are made of them."""
    return replace(context, lines=tuple(map(_quiet_line, context.lines)))


def _quiet_line(line: Line) -> Line:
    s, p, o = map(untrusted.without_ids, line.labels)
    return line if (s, p, o) == line.labels else replace(line, labels=(s, p, o))


def _caveats(chosen: Selection, language: str) -> list[str]:
    phrases = PHRASES.get(language, PHRASES["en"])
    notes = []
    if not chosen.groups or chosen.partial:
        notes.append(phrases.no_match)
        if chosen.sought and language in PHRASES:
            notes.append(fill(phrases.sought, names=phrases.join([*map(phrases.quote, chosen.sought)])))
    # A common noun that the graph has no word for, such as "film", is worth a remark only where the
    # facts told do not answer anyway. Of a question in another language the graph may have no word at all.
    always = chosen.partial or not chosen.groups if language == "en" else not chosen.groups
    silent = [w for w in chosen.missing if always or (language == "en" and w[:1].isupper())]
    if silent and language in PHRASES and len(silent) < 5:
        names = phrases.join([phrases.quote(word) for word in silent])
        notes.append(fill(phrases.mentions, names=names))
    if chosen.groups and chosen.unlinked and language in PHRASES:
        subject = chosen.groups[0].lines[0].labels[0] if not chosen.many else "this"
        if language == "en" or not chosen.many:
            notes.append(fill(phrases.links, s=subject, names=phrases.join(chosen.unlinked)))
    return notes


def _nearest(
    chosen: Selection, selector: FactSelector, context: Context, language: str
) -> list[tuple[str, VerbalisedSentence]]:
    """Return the facts nearest to a question that none answers, under a heading of their own."""
    phrases = PHRASES.get(language, PHRASES["en"])
    parts = [("\n\n", VerbalisedSentence(phrases.nearest, ()))]
    for line in chosen.nearest:
        person = is_person([x for x in context.lines if x.triple.s == line.triple.s])
        kind = line.triple.s in selector.classes
        sentences = verbalise([line], language=language, person=person, kind=kind)
        parts.extend(("\n- " if i == 0 else " ", one) for i, one in enumerate(sentences))
    return parts


def _of_group(
    group: FactGroup,
    every: dict[Term, list[Line]],
    classes: Collection[Term],
    language: str,
    wanted: frozenset[str],
) -> list[VerbalisedSentence]:
    """Return sentences for the lines of a group, those of its own subject first."""
    own = {group.subject: list[Line]()} | by_subject(
        sorted(group.lines, key=lambda x: str(x.triple.p) != TYPE)
    )
    sentences: list[VerbalisedSentence] = []
    for subject, lines in own.items():
        person, kind = is_person(every.get(subject, lines)), subject in classes
        sentences += verbalise(lines, language=language, person=person, kind=kind, wanted=wanted)
    return sentences


def _also(groups: Sequence[FactGroup], phrases: Phrases) -> VerbalisedSentence:
    names = []
    for group in groups[:_MAX_NAMES]:
        own = [line for line in group.lines if line.triple.s == group.subject] or list(group.lines)
        values = list(dict.fromkeys(value(line) for line in own))
        names.append(f"{own[0].labels[0]} ({', '.join(values)})")
    every = [(x, g.subject) for g in groups[:_MAX_NAMES] for x in g.lines]
    used = [x for x, subject in every if x.triple.s == subject] or [x for x, _ in every]
    return VerbalisedSentence(fill(phrases.also, names=phrases.join(names)), tuple(used))


def _check(
    question: str, context: Context, parts: list[tuple[str, VerbalisedSentence]]
) -> list[tuple[str, VerbalisedSentence]]:
    """Return sentences, with a fact as the context has it wherever its sentence does not prove itself.

    Labels can be anything, even words of the sentence around them; what `verify` could not find again
    is better shown as it stands.
    """
    citer = Citer(question, context)
    checked = []
    subjects: frozenset[Term] = frozenset()
    for before, sentence in parts:
        if sentence.lines:
            ids = [line.id for line in sentence.lines]
            own = citer.limit(ids)
            support = own.support(sentence.text, ids, subjects)
            if not support.supported or {x.id for x in support.lines} != set(ids):
                sentence = VerbalisedSentence(
                    f"{'; '.join(line.text for line in sentence.lines)}.", sentence.lines
                )
                support = own.support(sentence.text, ids, subjects)
            subjects = support.subjects
        checked.append((before, sentence))
    return checked
