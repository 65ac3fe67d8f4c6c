"""Prompts that a person picks in a client: how to use the tools for a common task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mrag import untrusted
from mrag.errors import ConfigError

_MOST = 2_000


@dataclass(frozen=True)
class McpPrompt:
    """A prompt.

    Attributes:
        name: Its name.
        title: A short title.
        description: What a person reads of it.
        steps: What the assistant is asked to do.
        arguments: Its arguments, all required, with what they are.
    """

    name: str
    title: str
    description: str
    steps: str
    arguments: Mapping[str, str]

    def text(self, given: Mapping[str, str]) -> str:
        """Return the text for some arguments.

        Raises:
            ConfigError: If one is missing, unknown or too long.

        Example:
            >>> print(prompts()["about"].text({"thing": "GraphDB"}).splitlines()[-1])
            thing: GraphDB
        """
        wrong = set(given) ^ set(self.arguments)
        if wrong:
            raise ConfigError(
                f"The prompt {self.name} takes {', '.join(self.arguments) or 'no arguments'}.",
                hint="Give each of them, and no others.",
            )
        if any(not value.strip() or len(value) > _MOST for value in given.values()):
            raise ConfigError(
                f"An argument of a prompt has 1 to {_MOST} characters.", hint="Write it shorter, or say more."
            )
        said = [f"{name}: {untrusted.one_line(given[name])}" for name in self.arguments]
        return "\n".join([self.steps, *said])


def prompts() -> dict[str, McpPrompt]:
    """Return the prompts by name, in the order in which a client shows them."""
    found = (
        McpPrompt(
            "overview",
            "What is in this graph?",
            "Describe the graph to somebody who has not seen it.",
            "Describe this knowledge graph. Read `schema` first. Say in a paragraph what it is about, "
            "then list the main classes with their numbers, how they are linked, and three questions that "
            "it can answer. Use `run_query` with evaluation/instances for examples. Say which triples are "
            "inferred.",
            {},
        ),
        McpPrompt(
            "answer",
            "Answer a question with its sources",
            "Answer from the graph alone, citing the triples.",
            "Answer the question below from this knowledge graph alone. Call `ask` first. If its answer "
            "is read and not computed, or leaves words of the question out, check it with `search` and "
            "`context`, or with `schema` and `query`. Cite the line of a triple behind each statement, "
            "mark what is inferred, and say so where the graph does not tell.",
            {"question": "The question."},
        ),
        McpPrompt(
            "about",
            "What is known of a thing?",
            "Summarise what the graph states and what it infers of one thing.",
            "Tell what this knowledge graph knows of the thing below. Find it by `search`, and ask which "
            "one is meant where several fit. Show `context`, group what is said by topic, and prove the "
            "two most interesting inferred triples by `explain`.",
            {"thing": "A name, a description or an IRI."},
        ),
        McpPrompt(
            "sparql",
            "Write a query",
            "Write, run and explain a SPARQL query.",
            "Write a SPARQL query for the request below. Read `schema` for classes, predicates and "
            "prefixes, and look at a few triples by `run_query` with context/out. Run it by `query` with "
            "a LIMIT, mend it until its rows fit the request, then show the query, its first rows, and "
            "what each line of it does.",
            {"request": "What the query is to give."},
        ),
    )
    return {prompt.name: prompt for prompt in found}
