"""A benchmark of a knowledge graph, whole: entities, questions, and three kinds of judgements."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag.errors import ConfigError
from mrag.evaluation.benchmark import QuestionSettings, generate_questions, sample_questions, write_benchmark
from mrag.evaluation.conditions import EntityShape, instances
from mrag.evaluation.questions import BenchmarkQuestion, template_questions
from mrag.evaluation.relevance import ConditionVocabulary, by_graph, similar_questions, target_only
from mrag.evaluation.runs import Qrels
from mrag.generation.models import resolve
from mrag.graph.kg import KnowledgeGraph
from mrag.index.documents import Definition, documents
from mrag.index.embedding.embedders import embedder
from mrag.index.similarity import SimilarityIndexes
from mrag.terminal import inline

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True)
class BenchmarkSettings:
    """The settings of a benchmark.

    Args:
        model: The chat model or its name; `none`, or None where no Ollama runs, for questions by template.
        shape: Which entities, and how they hang together with their parts.
        limit: Most entities, chosen by the seed; all if left out.
        conditions: Most values in a question by template.
        concurrency: Requests to the model on their way at once.
        embedder: Name of the embedding model that says which questions are similar; `none` leaves that
            scheme out.
        seed: Of every choice.
        index: Name of the index whose definition gives the documents that the model reads.
    """

    model: str | BaseChatModel | None = "none"
    shape: EntityShape = field(default_factory=EntityShape)
    limit: int | None = None
    conditions: int = 2
    concurrency: int = 4
    embedder: str = "minilm"
    seed: int = 0
    index: str = "main"


@dataclass(frozen=True)
class Benchmark:
    """What was made.

    Attributes:
        folder: Where it is.
        made_by: Name of the model that wrote the questions, or `template`.
        questions: The questions, in order of the entities' IRIs.
        entities: How many entities there were.
        qrels: Scheme of relevance to judgements.
        failures: Entity to what went wrong.
        unjudged: Questions that the graph scheme has no judgements for.
    """

    folder: Path
    made_by: str
    questions: tuple[BenchmarkQuestion, ...]
    entities: int
    qrels: Mapping[str, Qrels]
    failures: Mapping[str, str]
    unjudged: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, without the judgements, which are in the folder."""
        return {
            "folder": str(self.folder),
            "made_by": self.made_by,
            "entities": self.entities,
            "questions": len(self.questions),
            "judged": {name: len(found) for name, found in self.qrels.items()},
            "relevant": {name: sum(map(len, found.values())) for name, found in self.qrels.items()},
            "failures": dict(self.failures),
            "unjudged": list(self.unjudged),
        }

    def __str__(self) -> str:
        lines = [
            f"{len(self.questions)} questions for {self.entities} entities by {self.made_by} in {self.folder}"
        ]
        for name, found in self.qrels.items():
            each = sum(map(len, found.values())) / len(found) if found else 0.0
            lines.append(f"  qrels/{name}.tsv: {len(found)} questions, {each:.1f} relevant entities each")
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

    Args:
        kg: The knowledge graph.
        folder: Where questions, judgements and the model's answers are kept.
        settings: The settings.
        on_progress: Called with the entities done and all of them.

    Returns:
        What was made.

    Raises:
        ConfigError: If there are no entities to ask for.
        ModelError: If a model that was named cannot be had.

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
    model = resolve(settings.model)
    failures: Mapping[str, str] = {}
    name = (
        "template" if model is None else settings.model if isinstance(settings.model, str) else _name(model)
    )
    if model is None:
        asked = template_questions(
            kg, entities, settings.shape, conditions=settings.conditions, seed=settings.seed
        )
    else:
        made = generate_questions(
            {entity: texts[entity] for entity in entities},
            model,
            folder / "answers.jsonl",
            name=name,
            settings=QuestionSettings(concurrency=settings.concurrency),
            on_progress=on_progress,
        )
        failures = made.failures
        words = ConditionVocabulary.of(kg, sorted(texts), settings.shape)
        asked = [
            replace(a, demand=words.stated(a.text)) for a in sample_questions(made.questions, settings.seed)
        ]
    if on_progress is not None:
        on_progress(len(entities), len(entities))
    targets = {a.question: a.entity for a in asked}
    qrels: dict[str, Qrels] = {"target": target_only(targets)}
    chosen = embedder(settings.embedder)
    if chosen is not None and asked:
        vectors = chosen.embed_documents([a.text for a in asked])
        by_question = {a.question: vector for a, vector in zip(asked, vectors, strict=True)}
        qrels["similar"] = similar_questions(targets, by_question)
    qrels["graph"], unjudged = by_graph(kg, {a.question: a.demand for a in asked}, settings.shape)
    write_benchmark(folder, asked, qrels)
    return Benchmark(folder, name, tuple(asked), len(entities), qrels, failures, tuple(unjudged))


def _name(model: BaseChatModel) -> str:
    named = (getattr(model, attribute, None) for attribute in ("model", "model_name", "model_id"))
    return " ".join([type(model).__name__, *(str(n) for n in named if isinstance(n, str) and n)][:2])


def _documents(kg: KnowledgeGraph, settings: BenchmarkSettings) -> dict[str, str]:
    indexes = SimilarityIndexes.of(kg)
    kept = indexes.info(settings.index).definition if settings.index in indexes.names() else None
    texts = dict(documents(kg, kept or Definition(languages=kg.languages)))
    if settings.shape.cls is None:
        return texts
    members = instances(kg, settings.shape.cls)
    return {entity: texts[entity] for entity in members if entity in texts}
