"""Questions one after the other, each of which may go on from the last answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mrag.errors import ConfigError
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.retrieval.answering import ask

if TYPE_CHECKING:
    from mrag.retrieval.rankers import Question


class Conversation:
    """A conversation about a knowledge graph.

    Args:
        kg: The knowledge graph.
        **options: Options of `mrag.ask` for all its questions.

    Attributes:
        last: The computed answer that the next question may go on from; None before there is one, and behind
            an answer that was read.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     talk = Conversation(kg, model="none")
        ...     first = talk.ask("How many triple stores are there?")
        ...     second = talk.ask("And vector databases?")
        >>> first.computed.rows[0][0].label, second.computed.rows[0][0].label, second.why
        ('11', '5', 'read as a follow-up, with “vector database” in place of “triple store”')
    """

    def __init__(self, kg: KnowledgeGraph, **options: Any) -> None:
        self.kg = kg
        self.last: Answer | None = None
        self._before: Answer | None = None
        self._options = options

    def ask(self, question: str | Question, **options: Any) -> Answer:
        """Answer a question; one that goes on from the last answer, as "only the cheap ones", edits its plan.

        Args:
            question: The question.
            **options: Options of `mrag.ask` for this question.
        """
        self._before = self.last
        return self._asked(question, options)

    def again(self, reading: int) -> Answer:
        """Answer the last question in another of the readings that its answer offered.

        Raises:
            ConfigError: If there is no such reading, or nothing has been computed yet.
        """
        if self.last is None:
            raise ConfigError("There is no answer that has other readings.", hint="Ask a question first.")
        return self._asked(self.last.question, {"reading": reading})

    def _asked(self, question: str | Question, options: Mapping[str, Any]) -> Answer:
        given = ask(self.kg, question, **{**self._options, "follows": self._before, **options})
        # What could not be computed can be asked again in other words.
        if given.computed is not None or given.way != "plan":
            self.last = given if given.computed is not None else None
        return given
