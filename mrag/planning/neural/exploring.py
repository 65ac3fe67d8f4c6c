"""Queries that a language model finds by tools: it looks names and entities up, and tries queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from mrag import untrusted
from mrag.context import ContextSettings, expand
from mrag.errors import ConfigError, MragError
from mrag.generation.models import bounded, model_errors
from mrag.language.tokens import tokens
from mrag.planning.lexicon import Lexicon
from mrag.planning.neural.card import SchemaCard, card_of
from mrag.planning.neural.prompts import PROMPTS
from mrag.planning.neural.statement import read_statement
from mrag.planning.readings import Reading
from mrag.planning.run import PlanResult
from mrag.planning.scopes import with_subclasses

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

STEPS: Final = 8
"""Times that the model is asked."""
TOKENS: Final = 16_000
"""About how many tokens it may read and write in all, and in one step."""
_STEP: Final = 1_024
_CARD: Final = 1_500
_SHOWN: Final = 1_500
"""Letters of what a tool returns."""
_LIKELY: Final = 0.89
"""How likely a query is that the model has looked at and kept."""


def explore(
    model: BaseChatModel,
    lexicon: Lexicon,
    question: str,
    run: Callable[[Reading], PlanResult | None],
) -> Reading | None:
    """Return the query that a model has settled on, as a reading; None where it found none.

    Args:
        model: A chat model that calls tools.
        lexicon: The names of the graph.
        question: The question.
        run: Runs a reading; None where it fails or finds nothing.

    Raises:
        ModelError: If the model cannot be reached, fails, or calls no tools.
    """
    from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage

    tools = _Tools(lexicon, question, run)
    with model_errors(model, hint="Use a model that calls tools, or another planner."):
        held = bounded(model, _STEP).bind_tools([_schema(name, *about) for name, about in _TOOLS.items()])
        asked = f"Tables:\n{untrusted.lines(tools.card.text())}\n\nQuestion: {untrusted.one_line(question)}"
        messages: list[BaseMessage] = [SystemMessage(PROMPTS["explorer"]), HumanMessage(asked)]
        left = TOKENS
        for _ in range(STEPS):
            left -= sum(len(str(message.content)) for message in messages) // 4
            if left < 0:
                break
            said = held.invoke(messages)
            messages.append(said)
            if not said.tool_calls:
                return None if "NONE" in str(said.text) else tools.last
            for call in said.tool_calls:
                told = tools.call(call["name"], call["args"])
                messages.append(ToolMessage(told, tool_call_id=call["id"]))
    return None


_TOOLS: Final = {
    "names": ("text", "Find what words name in the graph: entities, values, columns."),
    "entity": ("name", "Show what the graph says of an entity, by its name."),
    "schema": ("words", "Show the tables and columns that have to do with some words."),
    "query": ("statement", "Run a query and show its first rows."),
}


def _schema(name: str, argument: str, about: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


@dataclass
class _Tools:
    """The tools of one question; `last` is the last query that found something."""

    lexicon: Lexicon
    question: str
    run: Callable[[Reading], PlanResult | None]
    last: Reading | None = None
    card: SchemaCard = field(init=False)

    def __post_init__(self) -> None:
        self.schema("")

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return what a tool says, or why it failed."""
        if name not in _TOOLS:
            return f"There is no tool of this name: {', '.join(_TOOLS)}."
        text = str(arguments.get(_TOOLS[name][0], ""))[:_SHOWN]
        try:
            return untrusted.lines(getattr(self, name)(text)[:_SHOWN])
        except MragError as error:
            return f"Failed: {untrusted.one_line(str(error))}"

    def names(self, text: str) -> str:
        """Show what words may name."""
        found = [c for mention in self.lexicon.match(tokens(text), text) for c in mention.candidates[:3]]
        self.schema(text)
        rows = [f"{c.kind} {c.name}" for c in sorted(found, key=lambda c: (-c.score, c.name))]
        return "\n".join([*dict.fromkeys(rows[:12]), self.card.named()])

    def entity(self, name: str) -> str:
        """Show the triples around an entity."""
        found = [
            c for m in self.lexicon.match(tokens(name), name) for c in m.candidates if c.kind == "entity"
        ]
        if not found:
            raise ConfigError(f"Nothing is called {name!r}.")
        best = max(found, key=lambda c: (c.score, len(c.name)))
        settings = ContextSettings(max_triples=20, token_budget=400)
        return expand(self.lexicon.kg, [(best.term, 1.0)], settings, question=self.question).text()

    def schema(self, words: str) -> str:
        """Show tables, and let queries use them from now on."""
        text = f"{self.question} {words}"
        self.card = card_of(self.lexicon.schema, text, self.lexicon.match(tokens(text), text), tokens=_CARD)
        return self.card.text()

    def query(self, statement: str) -> str:
        """Run a statement and keep it where it finds something."""
        plan, shown = read_statement(self.card, statement)
        reading = Reading(with_subclasses(plan, self.lexicon.schema), shown, _LIKELY, (), {"joins": 0.0})
        result = self.run(reading)
        if result is None:
            return "The query returns nothing."
        self.last = reading
        rows = [", ".join("" if cell is None else str(cell) for cell in row) for row in result.rows[:10]]
        return "\n".join([f"{len(result.rows)} rows.", *rows])
