"""Rankers run over queries, and benchmarks made of a graph: entities, questions by a model, and judgements.

Every answer of a ranker or model is in a journal before the next step, so that an interruption loses at
most what was on its way, and nothing is asked twice. The file is in the order in which answers came; what
is made of it is in order of IRI, and depends on the answers and the seed alone.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from mrag import untrusted
from mrag._tables import tables
from mrag.errors import ConfigError, ModelError, check_choice
from mrag.evaluation.metrics import Qrels, Run, Scored, by_rank, digest, order, write_qrels
from mrag.evaluation.questions import (
    BenchmarkQuestion,
    EntityShape,
    by_graph,
    demand_of,
    facts,
    instances,
    question_id,
    similar_questions,
    single_questions,
    template_questions,
)
from mrag.generation.models import model_errors, model_name, resolve
from mrag.graph.kg import KnowledgeGraph
from mrag.index.backends.base import documents_of
from mrag.index.bm25 import THESIS, Bm25Index
from mrag.index.document_index import Mode, StoredIndex
from mrag.index.documents import Definition, documents
from mrag.index.embedding import embedder
from mrag.index.similarity import SimilarityIndexes
from mrag.jobs.runners import InlineRunner, Runner, ThreadRunner, carry
from mrag.retrieval.rankers import Question, Ranker
from mrag.storage.files import RunJournal, save_text
from mrag.terminal import inline

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


Progress = Callable[[int, int], None]
KINDS: Final = ("bm25", "dense", "hybrid", "bm25-thesis")
"""The rankers that `index_system` makes; `bm25-thesis` has the idf, parameters and words of the thesis."""


@dataclass(frozen=True)
class System:
    """Something that ranks documents for a text, best first, at most as many as asked for."""

    name: str
    search: Callable[[str, int], Sequence[Scored]]
    # What its results depend on, such as the state of an index. A run that was begun with another value is
    # begun anew
    about: str = ""


def ranker_system(
    name: str, ranker: Ranker, about: str = "", allowed: Collection[str] | None = None
) -> System:
    """Make a system of a ranker, of only the `allowed` entities where some are given.

    The order of the ranker counts, and its scores where they agree with it.
    """
    only = None if allowed is None else frozenset(allowed)

    def search(text: str, k: int) -> Sequence[Scored]:
        depth = k if only is None else 2 * k
        hits = ranker.rank(Question(text), depth)
        while only is not None and len(hits) == depth and sum(hit.iri in only for hit in hits) < k:
            depth *= 2
            hits = ranker.rank(Question(text), depth)
        hits = [hit for hit in hits if only is None or hit.iri in only][:k]
        scored = tuple(Scored(hit.iri, hit.score) for hit in hits)
        return scored if scored == order(scored) else by_rank(hit.iri for hit in hits)

    return System(name, search, about)


def index_system(index: StoredIndex, kind: str, allowed: Collection[str] | None = None) -> System:
    """Make a system of an index, of only the `allowed` documents where some are given.

    Raises:
        ConfigError: If there is no such kind, or the index has no vectors for it.

    Example:
        >>> from mrag.index import DocumentIndex
        >>> index = DocumentIndex.create(None, embedder=None)
        >>> _ = index.sync([("ex:1", "red leather shoes"), ("ex:2", "a blue coat")], extra={})
        >>> [hit.doc for hit in index_system(index, "bm25").search("a shoe", 10)]
        ['ex:1']
    """
    check_choice("ranker", kind, KINDS)
    if kind in ("dense", "hybrid") and index.embedder_name is None:
        hint = "Build it with a model, such as minilm, or evaluate bm25 alone."
        raise ConfigError(f"The index has no vectors, so there is no {kind} ranker.", hint=hint)
    only = None if allowed is None else sorted(allowed)
    documents = digest(json.dumps(list(documents_of(index))))
    state = json.dumps([kind, index.embedder_name, str(index.bm25_params), documents, only])
    if kind != "bm25-thesis":
        mode = cast(Mode, kind)

        def search(text: str, k: int) -> Sequence[Scored]:
            return [Scored(m.doc_id, m.score) for m in index.search(text, k, mode=mode, allowed=only)]

        return System(kind, search, state)
    words = Bm25Index.of(documents_of(index), THESIS)
    mask = None if only is None else words.rows.mask(only)

    def search_words(text: str, k: int) -> Sequence[Scored]:
        rows, scores = words.search(text, k, mask)
        ranking = zip(rows.tolist(), scores.tolist(), strict=True)
        return [Scored(words.rows.id_of(row), score) for row, score in ranking]

    return System(kind, search_words, state)


def run_system(
    system: System,
    queries: Mapping[str, str],
    k: int = 1000,
    *,
    journal: Path | None = None,
    on_progress: Progress | None = None,
    runner: Runner | None = None,
) -> Run:
    """Rank documents for every query.

    Each query's documents are kept in the journal, where an interrupted run goes on. A runner searches
    elsewhere; for other processes the search must pickle.

    Raises:
        StoreError: If a query has lost its worker too often.
        ConfigError: If k is below 1 or the journal cannot be written.

    Example:
        >>> system = System("last", lambda text, k: [Scored("ex:" + text.split()[-1], 1.0)])
        >>> run_system(system, {"1": "a shoe"}).hits["1"]
        (Scored(doc='ex:shoe', score=1.0),)
    """
    if k < 1:
        raise ConfigError(f"Cannot rank {k} documents.", hint="k is 1 or more.")
    hits: dict[str, tuple[Scored, ...]] = {}
    # Most documents come for many queries: one string each is enough.
    names: dict[str, str] = {}
    about = {"system": system.name, "k": k, "state": digest(system.about)}
    about["queries"] = digest(json.dumps(sorted(queries.items())))
    with nullcontext() if journal is None else RunJournal(journal, about) as kept:
        for record in kept.records if kept is not None else ():
            hits[record["query"]] = tuple(Scored(names.setdefault(d, d), s) for d, s in record["hits"])
        asked = sorted(queries.keys() - hits.keys())
        texts = (queries[query] for query in asked)
        for number, ranking in carry(runner or InlineRunner(), partial(_search, system.search, k), texts):
            query = asked[number]
            hits[query] = tuple(Scored(names.setdefault(doc, doc), score) for doc, score in ranking)
            if kept is not None:
                kept.add({"query": query, "hits": hits[query]})
            if on_progress is not None:
                on_progress(len(hits), len(queries))
    return Run(system.name, dict(sorted(hits.items())))


def _search(search: Callable[[str, int], Sequence[Scored]], k: int, text: str) -> Sequence[Scored]:
    return search(text, k)[:k]


_PROMPTS: Final[Mapping[str, str]] = tables("evaluation/prompts.toml")
_ATTEMPTS = 2  # how often an entity is tried in one run
_LONGEST = 4000  # characters of a document after which it is cut


def generate_questions(
    documents: Mapping[str, str],
    model: BaseChatModel,
    path: Path,
    *,
    name: str,
    concurrency: int = 4,
    on_progress: Progress | None = None,
) -> tuple[dict[str, Sequence[str]], dict[str, str]]:
    """Have a model write questions for entities, continuing where an earlier run stopped.

    Documents are by entity; `concurrency` of them are asked about at once. The file keeps what was done;
    answers of a model of another name or prompt are not mixed with these.

    Returns:
        By entity, its single questions, at least one each; and what went wrong, to be tried again next time.

    Raises:
        ConfigError: If the file cannot be written.
    """
    about = {"model": name, "prompts": digest("".join(_PROMPTS.values()))}
    questions: dict[str, Sequence[str]] = {}
    failures: dict[str, str] = {}
    with RunJournal(path, about) as journal:
        for record in journal.records:
            entity = record["entity"]
            if record.get("document") == digest(documents.get(entity, "")) and record.get("questions"):
                questions[entity] = tuple(record["questions"])
        missing = [entity for entity in sorted(documents) if entity not in questions]
        texts = (documents[entity] for entity in missing)
        for number, said in carry(ThreadRunner(concurrency), lambda text: _ask(text, model), texts):
            entity = missing[number]
            record = {"entity": entity, "document": digest(documents[entity]), **said}
            journal.add(record)
            if said.get("questions"):
                questions[entity] = tuple(said["questions"])
            else:
                failures[entity] = said["error"]
            if on_progress is not None:
                on_progress(len(questions) + len(failures), len(documents))
    kept = {entity: questions[entity] for entity in sorted(questions) if entity in documents}
    return kept, dict(sorted(failures.items()))


def sample_questions(questions: Mapping[str, Sequence[str]], seed: int = 0) -> list[BenchmarkQuestion]:
    """Return one of the single questions of each entity, chosen by the seed and the IRI."""
    chosen = {e: random.Random(f"{seed} {e}").choice(list(asked)) for e, asked in questions.items() if asked}
    return [BenchmarkQuestion(question_id(e), e, text) for e, text in sorted(chosen.items())]


def _ask(document: str, model: BaseChatModel) -> dict[str, Any]:
    """Return a question about a document and its single questions, or what went wrong."""
    error = ""
    for _ in range(_ATTEMPTS):
        try:
            question = _reply(model, _PROMPTS["ask"], document[:_LONGEST])
            if questions := single_questions(question):
                questions = (
                    single_questions(_reply(model, _PROMPTS["split"], "\n".join(questions))) or questions
                )
                return {"said": question, "questions": questions}
            error = f"The model gave no question but {question.strip()[:200]!r}."
        except ModelError as failure:
            error = failure.message
    return {"error": error}


def _reply(model: BaseChatModel, task: str, text: str) -> str:
    with model_errors(model):
        return str(model.invoke([("system", task), ("human", untrusted.lines(text))]).text)


@dataclass(frozen=True)
class BenchmarkSettings:
    """The settings of a benchmark."""

    # The chat model or its name; `none`, or None where no Ollama runs, for questions by template
    model: str | BaseChatModel | None = "none"
    shape: EntityShape = field(default_factory=EntityShape)
    limit: int | None = None  # Most entities, chosen by the seed; all if left out
    conditions: int = 2  # Most values in a question by template
    concurrency: int = 4  # Requests to the model on their way at once
    # Embedding model that says which questions are similar; `none` leaves that scheme out
    embedder: str = "minilm"
    seed: int = 0
    index: str = "main"  # Name of the index whose definition gives the documents that the model reads


@dataclass(frozen=True)
class Benchmark:
    """What was made."""

    folder: Path
    made_by: str  # Name of the model that wrote the questions, or `template`
    questions: tuple[BenchmarkQuestion, ...]
    entities: int
    qrels: Mapping[str, Qrels]  # Scheme of relevance to judgements
    failures: Mapping[str, str]  # Entity to what went wrong
    unjudged: tuple[str, ...]  # Questions that the graph scheme has no judgements for

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, without the judgements, which are in the folder."""
        return {
            "folder": str(self.folder),
            "made_by": self.made_by,
            "entities": self.entities,
            "questions": len(self.questions),
            "judged": {name: len(judgements) for name, judgements in self.qrels.items()},
            "relevant": {name: sum(map(len, judgements.values())) for name, judgements in self.qrels.items()},
            "failures": dict(self.failures),
            "unjudged": list(self.unjudged),
        }

    def __str__(self) -> str:
        lines = [
            f"{len(self.questions)} questions for {self.entities} entities by {self.made_by} in {self.folder}"
        ]
        for name, qrels in self.qrels.items():
            each = sum(map(len, qrels.values())) / len(qrels) if qrels else 0.0
            lines.append(f"  qrels/{name}.tsv: {len(qrels)} questions, {each:.1f} relevant entities each")
        if self.failures:
            lines.append(f"{len(self.failures)} entities failed; run the command again to try them again.")
        return "\n".join(map(inline, lines))


def build_benchmark(
    kg: KnowledgeGraph,
    folder: Path,
    settings: BenchmarkSettings,
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> Benchmark:
    """Build a benchmark of a knowledge graph in a folder; resume an interrupted run.

    Raises:
        ConfigError: If there are no entities to ask for.
        ModelError: If a model that was named cannot be had.
        LoadError: If an IRI cannot stand in a file of judgements.

    Example:
        >>> import tempfile
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> shape = EntityShape(cls="https://w3id.org/mrag/demo/products#Product")
        >>> with tempfile.TemporaryDirectory() as place:
        ...     settings = BenchmarkSettings(shape=shape, embedder="none", limit=10)
        ...     built = build_benchmark(kg, Path(place), settings)
        >>> len(built.questions), sorted(built.qrels), built.unjudged
        (10, ['graph', 'target'], ())
        >>> kg.close()
    """
    texts = _documents(kg, settings)
    if not texts:
        hint = "Check the IRI of the class, and that its entities have texts."
        raise ConfigError("There are no entities to ask for.", term=settings.shape.cls, hint=hint)
    entities = sorted(texts)
    if settings.limit is not None and settings.limit < len(entities):
        entities = sorted(random.Random(settings.seed).sample(entities, settings.limit))
    model, failures, name = resolve(settings.model), dict[str, str](), "template"
    if model is None:
        asked = template_questions(
            kg, entities, settings.shape, conditions=settings.conditions, seed=settings.seed
        )
    else:
        name = settings.model if isinstance(settings.model, str) else model_name(model)
        made, failures = generate_questions(
            {entity: texts[entity] for entity in entities}, model, folder / "answers.jsonl", name=name,
            concurrency=settings.concurrency, on_progress=on_progress,
        )  # fmt: skip
        known = facts(kg, entities, settings.shape)
        labels = kg.labels(sorted({c.value for conditions in known.values() for c in conditions}))
        sample = sample_questions(made, settings.seed)
        asked = [replace(one, demand=demand_of(one.text, known[one.entity], labels)) for one in sample]
    if on_progress is not None:
        on_progress(len(entities), len(entities))
    targets = {a.question: a.entity for a in asked}
    qrels: dict[str, Qrels] = {"target": {question: {entity: 1} for question, entity in targets.items()}}
    chosen = embedder(settings.embedder)
    if chosen is not None and asked:
        vectors = chosen.embed_documents([a.text for a in asked])
        by_question = {a.question: vector for a, vector in zip(asked, vectors, strict=True)}
        qrels["similar"] = similar_questions(targets, by_question)
    qrels["graph"], unjudged = by_graph(kg, {a.question: a.demand for a in asked}, settings.shape)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in asked]
    save_text(folder / "queries.jsonl", "".join(lines))
    for scheme, judgements in qrels.items():
        write_qrels(judgements, folder / "qrels" / f"{scheme}.tsv")
    return Benchmark(folder, name, tuple(asked), len(entities), qrels, failures, tuple(unjudged))


def _documents(kg: KnowledgeGraph, settings: BenchmarkSettings) -> dict[str, str]:
    indexes = SimilarityIndexes.of(kg)
    kept = indexes.info(settings.index).definition if settings.index in indexes.names() else None
    texts = dict(documents(kg, kept or Definition(languages=kg.languages)))
    if settings.shape.cls is None:
        return texts
    members = instances(kg, settings.shape.cls)
    return {entity: texts[entity] for entity in members if entity in texts}
