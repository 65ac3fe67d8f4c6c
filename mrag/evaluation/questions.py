"""Questions with known answers: made of a graph's triples or by a model, or read from test collections.

What a question demands of an entity are conditions, a predicate with a value each; some are about its
parts, such as the garments of an image. Three ways say which entities are relevant: the one that the
question was made from; those whose questions are similar, floor(sqrt(N)) of them, which favours rankers
that use the same vectors; and those whose triples meet what the question states, found by SPARQL.
Collections are folders of BEIR (`corpus.jsonl`, `queries.jsonl`, `qrels/NAME.tsv`) or of TREC (topics,
judgements, `<doc>` elements).
"""

from __future__ import annotations

import hashlib
import html
import math
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyoxigraph as ox
from rdflib.term import Node

from mrag.context.display import Display
from mrag.errors import ConfigError, LoadError
from mrag.evaluation.metrics import Qrels, read_objects, read_qrels, read_text
from mrag.generation.support.sentences import without_thoughts
from mrag.graph.kg import KnowledgeGraph
from mrag.language.analysis import Analyser
from mrag.language.grammar import article, join, relation
from mrag.rdf import patterns as sparql
from mrag.rdf import queries
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM

TYPE = RDF + "type"
_DULL = (OWL, RDF, RDFS)


@dataclass(frozen=True, order=True, slots=True)
class Condition:
    """A predicate and a value that something must have; both IRIs."""

    predicate: str
    value: str


@dataclass(frozen=True)
class EntityShape:
    """How the entities of a graph hang together with what is said of them."""

    # The predicate between an entity and its parts, either way; None where there are no parts
    link: str | None = None
    kind: str = TYPE  # The predicate that says what a part is
    cls: str | None = None  # The class of the entities; None for all


@dataclass(frozen=True)
class Demand:
    """What a question demands of the entity itself, and of each part; one part may meet several demands."""

    own: tuple[Condition, ...] = ()
    parts: tuple[tuple[Condition, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.own or any(self.parts))


@dataclass
class EntityFacts:
    """What a graph says of one entity: its own conditions, and those of each of its parts."""

    own: list[Condition] = field(default_factory=list)
    parts: dict[str, list[Condition]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Condition]:
        return chain(self.own, *self.parts.values())


def instances(kg: KnowledgeGraph, cls: str) -> list[str]:
    """List the entities of a class, in order of IRI."""
    return _name(kg, queries.get("evaluation/instances").bind(**{"class": [cls]}))


def _name(kg: KnowledgeGraph, query: str) -> list[str]:
    """List what a query selects and is no blank node, in order of IRI."""
    return sorted(str(row[0]) for row in kg.select(query) if not str(row[0]).startswith(SKOLEM))


def facts(kg: KnowledgeGraph, entities: Sequence[str], shape: EntityShape) -> dict[str, EntityFacts]:
    """Read what a graph says of entities.

    That they belong to the class of the shape is no news and is left out, and so are terms of OWL and the
    like.
    """
    entries = {entity: EntityFacts() for entity in entities}
    # A graph says the same of many things.
    condition = cache(Condition)
    for text in queries.get("evaluation/facts").batches("entity", entities):
        for entity, p, value in kg.select(text):
            if str(p) != shape.link and str(value) != shape.cls and not _dull(p, value):
                entries[str(entity)].own.append(condition(str(p), str(value)))
    pairs = [] if shape.link is None else [(entity, shape.link) for entity in entities]
    for text in queries.get("evaluation/part-facts").batches("entity_link", pairs):
        for entity, part, p, value in kg.select(text):
            if str(p) != shape.link and not _dull(p, value):
                of_part = entries[str(entity)].parts.setdefault(str(part), [])
                of_part.append(condition(str(p), str(value)))
    for known in entries.values():
        known.own.sort()
        known.parts = {part: sorted(has) for part, has in sorted(known.parts.items())}
    return entries


def satisfying(kg: KnowledgeGraph, wanted: Demand, shape: EntityShape) -> list[str]:
    """List the entities that meet all conditions, by one SPARQL query, in order of IRI.

    Raises:
        ConfigError: If there is no condition, or there are parts without a link.
    """
    if not wanted:
        raise ConfigError("A question without conditions fits everything.", hint="Give at least one.")
    if any(wanted.parts) and shape.link is None:
        raise ConfigError("There are conditions on parts, but no link to parts.", hint="Name the predicate.")
    x = sparql.var("x")

    def meets(thing: ox.Variable, conditions: Iterable[Condition]) -> list[sparql.Pattern]:
        return [sparql.TriplePattern(thing, sparql.iri(c.predicate), sparql.iri(c.value)) for c in conditions]

    body = meets(x, sorted(wanted.own)) + meets(x, [Condition(TYPE, shape.cls)] if shape.cls else [])
    for number, part in enumerate(wanted.parts):
        if part and shape.link is not None:
            y, link = sparql.var(f"part{number}"), sparql.iri(shape.link)
            either_way = sparql.Alternative((link, sparql.Inverse(link)))
            body += [*meets(y, sorted(part)), sparql.TriplePattern(x, either_way, y)]
    query = sparql.Select((x,), sparql.Group(tuple(body)), distinct=True, order_by=(x,))
    return _name(kg, to_sparql(query))


def _dull(predicate: Node | None, value: Node | None) -> bool:
    # The type of a thing is news, that it is a thing is not; what OWL says of classes is not about it.
    described = str(predicate) != TYPE and str(predicate).startswith(_DULL)
    return described or str(value).startswith(_DULL)


_NUMBERING = re.compile(
    r"^(?:[\s>*_#•·\-–—]|\(?\d{1,3}[.):](?!\d)|\(?[a-zA-Z][.)]\s|(?:sub-?)?q(?:uestion)?\s*+(?:\d++\s*+)?[.:)])+",
    re.I,
)
_ASKED = re.compile(r"(?<![^?？])[^?？]*[?？]+")
_LETTERS = 3


@dataclass(frozen=True)
class BenchmarkQuestion:
    """A question that was made from an entity."""

    question: str
    entity: str
    text: str
    demand: Demand = field(default_factory=Demand)

    def to_json(self) -> dict[str, Any]:
        """Return it as a line of a BEIR file of queries."""
        return {"_id": self.question, "text": self.text, "metadata": {"entity": self.entity}}


def question_id(entity: str) -> str:
    """Make the ID of the question of an entity, the same for the same IRI."""
    return "q" + hashlib.blake2b(entity.encode(), digest_size=6).hexdigest()


def single_questions(text: str) -> list[str]:
    r"""Cut what a model wrote into single questions.

    Numbers, bullets, quotes, emphasis, fences, headings and blank lines are left out, and so is what a
    model says around the questions where any line ends in a question mark. Never gives an empty question.

    Example:
        >>> single_questions("Here you are:\n```\n1. What is red?\n\n2) **Which coat?** Which hat?\n```")
        ['What is red?', 'Which coat?', 'Which hat?']
    """
    lines = [
        _bare(line.replace("```", " "))
        for line in without_thoughts(text).splitlines()
        if not line.strip().startswith("```")
    ]
    asked = [_bare(part) for line in lines for part in _ASKED.findall(line)]
    questions = [part for part in asked if _wordy(part)]
    if not questions:
        questions = [line for line in lines if _wordy(line) and not line.endswith(":")]
    return list(dict.fromkeys(questions))


def template_questions(
    kg: KnowledgeGraph, entities: Sequence[str], shape: EntityShape, *, conditions: int = 2, seed: int = 0
) -> list[BenchmarkQuestion]:
    """Make a question for each entity from its triples, without a model.

    A question asks for `conditions` values, or parts, at most. Entities without a value that has a label are
    left out.

    Raises:
        ConfigError: If `conditions` is below 1.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> products = "https://w3id.org/mrag/demo/products#"
        >>> [asked] = template_questions(kg, [products + "GraphDB"], EntityShape(cls=products + "Product"))
        >>> asked.text.startswith("Which product "), len(asked.demand.own)
        (True, 2)
        >>> kg.close()
    """
    if conditions < 1:
        raise ConfigError(f"A question cannot ask for {conditions} values.", hint="Use 1 or more.")
    known = facts(kg, sorted(entities), shape)
    display = Display(kg)
    labels = kg.labels(sorted({c.value for group in known.values() for c in group}))
    kind = "thing" if shape.cls is None else kg.labels([shape.cls])[shape.cls] or "thing"
    made = []
    for entity in sorted(known):
        choice = random.Random(f"{seed} {entity}")
        wanted = _choose(_label(known[entity], labels), shape, conditions, choice)
        if wanted:
            text = f"Which {kind} {join(list(_demands(wanted, labels, display, shape)))}?"
            made.append(BenchmarkQuestion(question_id(entity), entity, text, wanted))
    return made


def _choose(known: EntityFacts, shape: EntityShape, max_conditions: int, choice: random.Random) -> Demand:
    if known.parts:
        named = sorted(
            {tuple(has) for has in known.parts.values() if any(c.predicate == shape.kind for c in has)}
        )
        parts = sorted(choice.sample(named, min(max_conditions, len(named))))
        demanded = []
        for part in parts:
            kinds = [c for c in part if c.predicate == shape.kind]
            others = [c for c in part if c.predicate != shape.kind]
            few = [choice.choice(kinds), *choice.sample(others, min(max_conditions, len(others)))]
            demanded.append(tuple(sorted(few)))
        return Demand(parts=tuple(demanded))
    by_predicate: dict[str, list[Condition]] = {}
    for condition in known.own:
        by_predicate.setdefault(condition.predicate, []).append(condition)
    chosen = choice.sample(sorted(by_predicate), min(max_conditions, len(by_predicate)))
    return Demand(own=tuple(sorted(choice.choice(by_predicate[p]) for p in chosen)))


def _demands(
    wanted: Demand, labels: Mapping[str, str | None], display: Display, shape: EntityShape
) -> Iterator[str]:
    for condition in wanted.own:
        value, said = labels[condition.value] or "", display.predicate(condition.predicate)
        form, phrase = relation(said, False)
        own = f"{phrase} {value}" if form == "phrase" else f"has the {said} {value}"
        yield f"is {article(value)}" if said == "is a" else own
    if wanted.parts:
        shown = []
        for part in wanted.parts:
            kind = next(c for c in part if c.predicate == shape.kind)
            others = [labels[c.value] or "" for c in part if c != kind]
            thing = article(labels[kind.value] or "")
            shown.append(f"{thing} that is {join(others)}" if others else thing)
        yield f"shows {join(shown)}"


def _label(entity: EntityFacts, labels: Mapping[str, str | None]) -> EntityFacts:
    parts = {part: [c for c in has if labels[c.value]] for part, has in entity.parts.items()}
    named = {part: has for part, has in parts.items() if has}
    return EntityFacts([c for c in entity.own if labels[c.value]], named)


def _bare(line: str) -> str:
    return _NUMBERING.sub("", line).strip().strip("\"'`*_“”‘’«» ").strip()


def _wordy(text: str) -> bool:
    return sum(map(str.isalpha, text)) >= _LETTERS


_CHUNK = 256
_ANALYSER = Analyser(name="plural")


def similar_questions(
    targets: Mapping[str, str], vectors: Mapping[str, npt.NDArray[np.float32]], k: int | None = None
) -> dict[str, dict[str, int]]:
    """Return judgements by which the entities of the `k` most similar questions are answers.

    Targets and vectors of length 1 are by question ID; nearness is the cosine, a question is its own nearest,
    and the ID decides between ties. k is floor(sqrt(N)) of N questions if left out, as in the thesis.

    Raises:
        ConfigError: If a question has no vector or k is below 1.

    Example:
        >>> vectors = {"1": np.array([1, 0]), "2": np.array([0.8, 0.6]), "3": np.array([0, 1]),
        ...     "4": np.array([-1, 0])}
        >>> similar_questions({"1": "a", "2": "b", "3": "c", "4": "d"}, vectors)["1"]
        {'a': 1, 'b': 1}
    """
    names = sorted(targets)
    if missing := [name for name in names if name not in vectors]:
        raise ConfigError(f"{len(missing)} questions have no vector, such as {missing[0]}.")
    near = math.isqrt(len(names)) if k is None else k
    if names and near < 1:
        raise ConfigError(f"Cannot take {near} similar questions.", hint="k is 1 or more.")
    near = min(near, len(names))
    matrix = np.array([vectors[name] for name in names], np.float32)
    qrels: dict[str, dict[str, int]] = {}
    for start in range(0, len(names), _CHUNK):
        cosines = matrix[start : start + _CHUNK] @ matrix.T
        for row, scores in enumerate(cosines):
            scores[start + row] = np.inf
            # All ties at the border are looked at, and the ID decides.
            around = np.flatnonzero(scores >= np.partition(scores, -near)[-near])
            best = around[np.argsort(-scores[around], kind="stable")][:near]
            qrels[names[start + row]] = {targets[names[i]]: 1 for i in best.tolist()}
    return qrels


def by_graph(
    kg: KnowledgeGraph, wanted: Mapping[str, Demand], shape: EntityShape
) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Return judgements by which the entities that meet what a question states are its answers.

    Also return the questions that demand nothing or that nothing meets, which have none.
    """
    qrels: dict[str, dict[str, int]] = {}
    known: dict[Demand, list[str]] = {}
    without: list[str] = []
    for question, demand in sorted(wanted.items()):
        if demand and demand not in known:
            known[demand] = satisfying(kg, demand, shape)
        if matches := known.get(demand, []):
            qrels[question] = dict.fromkeys(matches, 1)
        else:
            without.append(question)
    return qrels, without


def demand_of(question: str, known: EntityFacts, labels: Mapping[str, str | None]) -> Demand:
    """Return which of the conditions that an entity meets a question names.

    A value is known by its label, by the label without what is in brackets, and by each of the parts between
    commas. A part of which only something is named that another part has as well says nothing more.
    """
    said = _terms(question)
    runs = {said[at:end] for at in range(len(said)) for end in range(at + 1, len(said) + 1)}

    def name_conditions(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
        return tuple(sorted(c for c in conditions if not runs.isdisjoint(_names(labels.get(c.value) or ""))))

    parts = {name_conditions(has) for has in known.parts.values()} - {()}
    whole = [part for part in parts if not any({*part} < {*other} for other in parts)]
    return Demand(name_conditions(known.own), tuple(sorted(whole)))


def _names(label: str) -> set[tuple[str, ...]]:
    plain = re.sub(r"\([^)]{0,200}\)", " ", label)
    return {terms for name in (label, plain, *plain.split(",")) if (terms := _terms(name))}


def _terms(text: str) -> tuple[str, ...]:
    return tuple(term for token in _ANALYSER.tokens(text) for term in _ANALYSER.terms(token))


_NUMBER = re.compile(r"<num>\s*(?:Number:\s*)?([^\s<]+)", re.I)
_TITLE = re.compile(r"<title>([^<]*)", re.I)  # TREC does not close it
_TAG = re.compile(r"<[^<>]*>")
_HEAD = 4096


def _between(name: str) -> re.Pattern[str]:
    """Return what matches an element of this name; one that is not closed goes on to the end."""
    return re.compile(rf"<{name}>(.*?)(?:</{name}>|\Z)", re.I | re.S)


_DOC, _DOCNO, _TOP = _between("doc"), _between("docno"), _between("top")


@dataclass(frozen=True)
class Collection:
    """Queries with judgements, and the documents to be found, all by ID."""

    name: str
    queries: Mapping[str, str]
    qrels: Qrels
    # Document ID to its text; empty where the documents are those of a knowledge graph
    documents: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # What was assumed while reading


def read_collection(
    folder: Path, *, split: str | None = None, queries: Path | None = None, qrels: Path | None = None
) -> Collection:
    """Read a folder in BEIR's or TREC's form.

    `split` says which `qrels/NAME.tsv` to take: `test`, or the only one there is, if left out. `queries` and
    `qrels` are files in the place of the folder's.

    Raises:
        LoadError: If a file is missing or not well formed.
        ConfigError: If the folder does not tell which file to take.
    """
    if not folder.is_dir():
        raise LoadError("There is no such folder.", file=str(folder))
    beir = (folder / "queries.jsonl").exists()
    files = {} if beir else _trec_files(folder)
    queries = queries or (folder / "queries.jsonl" if beir else _only(folder, "queries", files))
    qrels = qrels or (_split(folder, split) if beir else _only(folder, "judgements", files))
    corpus = [folder / "corpus.jsonl"] if beir else files["documents"]
    asked, judgements = read_queries(queries), read_qrels(qrels)
    notes: list[str] = []
    if not set(judgements) <= set(asked):
        numbers = [str(i) for i in range(1, len(asked) + 1)]
        if beir or not set(judgements) <= set(numbers):
            missing = sorted(set(judgements) - set(asked))
            what = f"{len(missing)} judged queries are not in {queries.name}, such as {missing[0]}."
            raise ConfigError(what, file=str(qrels))
        # Cranfield's judgements count the topics in order, and its topics have other numbers.
        asked = dict(zip(numbers, asked.values(), strict=True))
        notes.append(
            "The judgements number the topics in their order; the topics' own numbers are passed over."
        )
    documents = {doc: text for path in corpus if path.exists() for doc, text in read_documents(path)}
    if unjudged := len(set(asked) - set(judgements)):
        notes.append(f"{unjudged} of {len(asked)} queries have no judgements and are left out.")
    return Collection(folder.resolve().name, asked, judgements, documents, tuple(notes))


def read_queries(path: Path) -> dict[str, str]:
    """Read queries: JSON lines with `_id` and `text`, or TREC topics."""
    texts: dict[str, str] = {}
    for number, query, words in (_lines if path.suffix == ".jsonl" else _topics)(path):
        if not words.strip() or query in texts:
            what = "comes twice" if query in texts else "has no words"
            raise LoadError(f"Query {query} {what}.", file=str(path), line=number or None)
        texts[query] = " ".join(words.split())
    return texts


def read_documents(path: Path) -> Iterator[tuple[str, str]]:
    """Read documents: JSON lines with `_id`, `title` and `text`, or TREC's `<doc>` elements."""
    if path.suffix == ".jsonl":
        yield from ((doc, " ".join(words.split())) for _, doc, words in _lines(path))
        return
    text = read_text(path)
    for match in _DOC.finditer(text):
        number = _element(match[1], "docno")
        if number is None or not number.split():
            raise LoadError("A document has no <docno>.", file=str(path), line=_line(text, match.start()))
        elements = [_element(match[1], name) for name in ("title", "text")]
        said = [element for element in elements if element is not None] or [_DOCNO.sub(" ", match[1])]
        words = html.unescape(_TAG.sub(" ", " ".join(said)))
        yield number.strip(), " ".join(words.split())


def _lines(path: Path) -> Iterator[tuple[int, str, str]]:
    for number, record in read_objects(path, "_id", "text"):
        yield number, str(record["_id"]), f"{record.get('title') or ''} {record['text']}"


def _topics(path: Path) -> Iterator[tuple[int, str, str]]:
    text = read_text(path)
    for match in _TOP.finditer(text):
        number, title = _NUMBER.search(match[1]), _TITLE.search(match[1])
        if number is None or title is None:
            line = _line(text, match.start())
            raise LoadError("A topic needs <num> and <title>.", file=str(path), line=line)
        yield 0, number[1], html.unescape(title[1]).strip().removeprefix("Topic:")


def _trec_files(folder: Path) -> dict[str, list[Path]]:
    files: dict[str, list[Path]] = {"queries": [], "judgements": [], "documents": []}
    plain = (p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    # A README shows examples of the very forms that are looked for.
    for path in sorted(p for p in plain if p.suffix != ".md" and not p.name.lower().startswith("readme")):
        with path.open("rb") as file:
            head = file.read(_HEAD).decode("utf-8", "replace").lower()
        first = next((line.split() for line in head.splitlines() if line.strip()), [])
        if "<doc>" in head:
            files["documents"].append(path)
        elif "<top>" in head:
            files["queries"].append(path)
        elif len(first) in (3, 4) and (first[-1].lstrip("-").isdigit() or first[-1] == "score"):
            files["judgements"].append(path)
    return files


def _only(folder: Path, what: str, files: Mapping[str, list[Path]]) -> Path:
    if len(files[what]) != 1:
        names = ", ".join(p.name for p in files[what]) or "none"
        hint = f"Name it with {'--queries' if what == 'queries' else '--qrels'}."
        raise ConfigError(f"One file of {what} is needed; there are: {names}.", file=str(folder), hint=hint)
    return files[what][0]


def _split(folder: Path, split: str | None) -> Path:
    names = sorted(p.stem for p in (folder / "qrels").glob("*.tsv"))
    chosen = split or ("test" if "test" in names or len(names) != 1 else names[0])
    if chosen not in names:
        raise ConfigError(
            f"There are no judgements {chosen!r}; there are: {', '.join(names) or 'none'}.",
            file=str(folder / "qrels"),
            hint="Choose with --split.",
        )
    return folder / "qrels" / f"{chosen}.tsv"


def _element(text: str, name: str) -> str | None:
    match = _between(name).search(text)
    return match[1] if match else None


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
