"""The whole way: a question is planned, completed from the graph and from evidence, answered, written back.

`Completer` is the one object that commands, notebooks and chains use. Nothing it reads enters the graph by
itself: what it found is proposed as a run, to be accepted (`mrag.completion.review`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag.completion.answering import CompletedAnswer, answer
from mrag.completion.collect import Evidence
from mrag.completion.graph import complete
from mrag.completion.grounding import Grounder, GroundingSettings
from mrag.completion.patterns import CompletedTriple, Planner
from mrag.completion.plan.calibration import Weights
from mrag.completion.plan.choices import FEATURES
from mrag.completion.plan.path_planner import PathPlanner
from mrag.completion.review import accept, propose, resume
from mrag.completion.writeback.kept_checks import CheckSettings
from mrag.completion.writeback.runs import CompletionRun
from mrag.generation.found import Completed
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable


@dataclass(frozen=True)
class CompleterSettings:
    """The settings of answering with completion.

    Attributes:
        k: Most passages and regions to read for each triple.
        always: Whether evidence is read also where the graph has matches, which may not be all.
        write: `propose` keeps what was read for review, `accept` also puts it into the graph, `none` neither.
        update: Whether reasoning and indexes catch up after acceptance.
    """

    k: int = 8
    always: bool = False
    write: str = "propose"
    update: bool = True


@dataclass(frozen=True)
class CompletedQuestion:
    """An answer, and what became of what was read for it.

    Attributes:
        answer: The answer with its citations.
        run: What was read, as it was proposed or accepted; None where nothing new was read.
        entered: Triples that came into the graph.
    """

    answer: CompletedAnswer
    run: CompletionRun | None = None
    entered: int = 0

    @property
    def text(self) -> str:
        """Return the answer in words."""
        return self.answer.text

    @property
    def read(self) -> list[CompletedTriple]:
        """Return the triples that were read in evidence."""
        return self.answer.completion.read

    @property
    def given(self) -> Answer:
        """Return it as the answer that `mrag.ask` gives."""
        run = None if self.run is None else self.run.to_json()
        completed = replace(self.answer.answer.completed or Completed(), run=run, entered=self.entered)
        return replace(self.answer.answer, completed=completed)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return self.given.to_json()


@dataclass
class Completer:
    """Answers questions over a knowledge graph, completed from evidence.

    Args:
        kg: The knowledge graph.
        evidence: Texts and images; the graph alone when None.
        planner: Makes plans; the planner without a language model by default.
        model: A chat model that words the answers; the values as they are when None.
        settings: The settings.
        checks: The settings of the checks of what is written.
        grounding: The settings of grounding.

    Example:
        >>> import mrag
        >>> from mrag.completion.evidence.passages import Passage, Passages
        >>> kg = mrag.demo(model="none")
        >>> text = "Stardog was developed by Rainer Weiss."
        >>> evidence = Evidence(Passages([Passage("urn:x:p", text, "news.txt")]))
        >>> completer = Completer(kg, evidence, settings=CompleterSettings(always=True))
        >>> found = completer.ask("Who is Stardog developed by?")
        >>> found.run.state, [s.verdict for s in found.run.statements]
        ('proposed', ['fits', 'fits'])
        >>> kg.close()
    """

    kg: KnowledgeGraph
    evidence: Evidence | None = None
    planner: Planner | None = None
    model: BaseChatModel | None = None
    settings: CompleterSettings = field(default_factory=CompleterSettings)
    checks: CheckSettings = field(default_factory=CheckSettings)
    grounding: GroundingSettings | None = None

    def ask(self, question: str) -> CompletedQuestion:
        """Answer a question, and propose or write what was read for it.

        Raises:
            ModelError: If a model that was asked for cannot be had or gives nothing that can be used.
            ConfigError: If the graph cannot be written, where that was asked for.
        """
        if self.planner is None:
            self.planner = PathPlanner(self.kg) if self.evidence is None else open_planner(self.kg)
        plan = self.planner.plan(question)
        grounded = Grounder(self.kg, self.grounding).ground(plan)
        s = self.settings
        completion = complete(self.kg, grounded, self.evidence, k=s.k, always=s.always)
        said = answer(
            self.kg, completion, self.model, names=self.evidence.names if self.evidence is not None else None
        )
        read = completion.read
        unsound = bool(said.completion.plan.unread or said.completion.plan.unasked)
        if self.evidence is None or s.write == "none" or not read or unsound:
            self._resumed()
            return CompletedQuestion(said)
        run = propose(
            self.kg,
            question,
            read,
            model=self.evidence.reader.name,
            names=self.evidence.names,
            settings=self.checks,
        )
        if run is None or s.write != "accept" or run.state in ("rejected", "rolled back"):
            # What a person decided against is not brought in again without being asked for.
            self._resumed()
            return CompletedQuestion(said, run)
        report = accept(self.kg, run, settings=self.checks, update=s.update)
        return CompletedQuestion(said, report.run, len(report.entered))

    def _resumed(self) -> None:
        # What an interrupted run accepted is known by now, so that it is not accepted once more.
        if self.settings.write == "accept" and self.settings.update:
            resume(self.kg)


def open_planner(kg: KnowledgeGraph) -> PathPlanner:
    """Return the planner without a language model, for a graph that may lack what a question asks for.

    By itself it prefers relations that the graph has of an entity; with evidence at hand the words decide.

    Args:
        kg: The knowledge graph.
    """
    weights = Weights()
    base = weights.base.copy()
    base[FEATURES.index("no such step")] = 0.0
    return PathPlanner(kg, replace(weights, base=base), slack=0.0)


def reading_completer(
    kg: KnowledgeGraph,
    texts: str | Path | Iterable[str | Path] = (),
    model: str | BaseChatModel | None = None,
    k: int = 8,
) -> Completer:
    """Return what answers from the graph and from texts that are only read: nothing of it enters the store.

    Args:
        kg: The knowledge graph.
        texts: Files and folders of texts; without any, the graph alone is completed from.
        model: A language model that plans, reads and answers; rules by default.
        k: Most passages to read for each triple.

    Raises:
        LoadError: If there is no such file.
        ModelError: If the model is not available.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     print(reading_completer(kg).ask("Who is GraphDB developed by?").text)
        Ontotext [t1].
    """
    from mrag.completion.evidence.passages import Passage, Passages
    from mrag.generation.models.resolve import resolve
    from mrag.loaders.snippets import Snippets

    paths = [texts] if isinstance(texts, str | Path) else list(texts)
    passages = [
        Passage(s.iri, s.text, s.document.source, s.document.title)
        for path in paths
        for s in Snippets(Path(path)).snippets()
    ]
    chat = resolve(model) if model is not None else None
    settings = CompleterSettings(k=k, write="none")
    if chat is None:
        # Where the graph lacks what is asked for, the nearest thing that it has is no answer.
        evidence = Evidence(Passages(passages)) if paths else None
        return Completer(kg, evidence, open_planner(kg), settings=settings)
    from mrag.completion.patterns import ModelPlanner
    from mrag.completion.reading import ModelReader

    read = Evidence(Passages(passages), ModelReader(chat)) if paths else None
    return Completer(kg, read, ModelPlanner(chat), chat, settings)


def completion_chain(completer: Completer) -> Runnable[Any, dict[str, Any]]:
    """Return a chain of LangChain: a question, or a mapping with `question`, to the answer and its evidence.

    Args:
        completer: What answers.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> chain = completion_chain(Completer(kg, grounding=GroundingSettings(model=None)))
        >>> chain.invoke({"question": "Who is GraphDB developed by?"})["answers"]
        ['Ontotext']
        >>> kg.close()
    """
    from langchain_core.runnables import RunnableLambda

    def run(asked: Any) -> dict[str, Any]:
        question = asked["question"] if isinstance(asked, dict) else asked
        return completer.ask(str(question)).to_json()

    return RunnableLambda(run).with_config(run_name="complete")
