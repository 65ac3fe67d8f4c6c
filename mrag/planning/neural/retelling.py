"""Which words of a question a model expects that is told a statement of it.

What a statement says in other words than its question cannot be told by names: *planes* are flights, what
was *shut down for good* has a date of decommissioning. So a model is asked the other way round, for the
question that a statement answers. A mask makes it write the very question, and what it would have written
without the mask tells which words come as a surprise: *courier* does where the statement selects a date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from mrag import untrusted
from mrag.generation.models.calls import Told, bounded, told
from mrag.generation.models.llama_cpp import takes_grammar
from mrag.planning.neural.writer import SYSTEM as WRITER
from mrag.text.tokens import tokens

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

EXPECTED: Final = -8.0
"""The logarithm of a word's probability from which on it is no surprise. On graphs that this was made with,
nouns that their graph does not have were at -10 to -29, and those that it has by another name at -1 to -8."""

_TABLES, _ASKED = WRITER[WRITER.index("Tables:") :].split("\n\n", 1)
SYSTEM: Final = "\n".join(
    [
        "Write the question that the SQL query answers, as a person asks it.",
        f"\n{_TABLES}\n",
        *(f"SQL: {sql}\nQuestion: {text}" for text, sql in re.findall("Question: (.*)\nSQL: (.*)", _ASKED)),
    ]
)
"""The system message: the examples of the writer, turned round."""

_LONGEST: Final = 400
"""Letters of a question that is asked for; a longer one is read by its names alone."""
_TOKENS: Final = 200


def expected(model: BaseChatModel, question: str, statement: str) -> frozenset[str]:
    """Return the words of a question, in small letters, that are no surprise to a model told a statement.

    Args:
        model: A chat model. Only those of `local:` are held to the question; of others no words are known.
        question: The question.
        statement: A statement that a model has written for it.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    from langchain_core.messages import HumanMessage, SystemMessage

    asked = untrusted.one_line(question)
    if not takes_grammar(model) or len(asked) > _LONGEST or not asked:
        return frozenset()
    human = HumanMessage(f"SQL: {untrusted.one_line(statement)}\nQuestion:")
    grammar = f"root ::= {json.dumps(asked, ensure_ascii=False)}\n"
    said = told(bounded(model, _TOKENS), [SystemMessage(SYSTEM), human], grammar)
    return frozenset(word for word, at in surprises(said).items() if at >= EXPECTED)


def surprises(said: Told) -> Mapping[str, float]:
    """Return the logarithm of the probability of each word that a model has written, of its rarest place.

    Example:
        >>> parts = ("Which", " cour", "ier", "?")
        >>> surprises(Told("".join(parts), tuple({"token": t, "logprob": -2.0} for t in parts)))
        {'which': -2.0, 'courier': -4.0}
    """
    ends: list[tuple[int, float]] = []
    length = 0
    for token in said.tokens:
        length += len(token["token"])
        ends.append((length, token["logprob"]))
    if length != len(said.text):
        return {}
    found: dict[str, float] = {}
    for word in tokens(said.text):
        begins = [0, *(end for end, _ in ends)]
        whole = sum(
            logprob
            for begin, (end, logprob) in zip(begins, ends, strict=False)
            if begin < word.end and end > word.start
        )
        low = word.raw.lower()
        found[low] = min(whole, found.get(low, 0.0))
    return found
