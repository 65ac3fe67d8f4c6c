"""From graph codes to an answer: the prompt, and a chain of LangChain.

As in the paper, the context is what the codes of the best documents say in words. It goes into the same
prompt as every other context, so that answers are bound to it in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mrag import untrusted
from mrag.errors import ConfigError
from mrag.generation.prompts import messages, prompt
from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.explanation.verbalise import CodeVerbaliser
from mrag.retrieval.rankers import Question

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable

    from mrag.graphcodes.ranker import GraphCodeRanker


def context_of(codes: Iterable[tuple[str, GraphCode]], verbaliser: CodeVerbaliser | None = None) -> str:
    """Return documents in words, a line each, with ids by which an answer can point to them.

    Args:
        codes: The name and the code of each document, best first.
        verbaliser: How codes are put in words.

    Example:
        >>> code = GraphCode.of([], [("woman", "holds", "umbrella")])
        >>> context_of([("picture 7", code)])
        '[g1] picture 7: woman holds umbrella.'
    """
    verbaliser = verbaliser or CodeVerbaliser()
    return "\n".join(
        untrusted.line(f"g{at}", f"{name}: {verbaliser.verbalise(code)}")
        for at, (name, code) in enumerate(codes, start=1)
    )


def assemble(
    question: str,
    q: GraphCode,
    codes: Iterable[tuple[str, GraphCode]],
    verbaliser: CodeVerbaliser | None = None,
) -> list[BaseMessage]:
    """Fill in the prompt: what the documents say, what the question was understood as, the question.

    Args:
        question: What is asked.
        q: Its code.
        codes: The name and the code of each document, best first.
        verbaliser: How codes are put in words.
    """
    verbaliser = verbaliser or CodeVerbaliser()
    return messages(_asked(question, q, verbaliser), context_of(codes, verbaliser))


def _asked(question: str, q: GraphCode, verbaliser: CodeVerbaliser) -> str:
    return f"{question}\n(Understood as: {verbaliser.verbalise(q)})" if q else question


def chain(
    ranker: GraphCodeRanker, model: BaseChatModel, *, k: int = 5, verbaliser: CodeVerbaliser | None = None
) -> Runnable[str, str]:
    """Build a chain from a question to an answer.

    Args:
        ranker: Finds the documents.
        model: Answers.
        k: How many documents the context has.
        verbaliser: How codes are put in words; the ranker's by default.

    Returns:
        A runnable: the question in, the text of the answer out.

    Raises:
        ConfigError: If k is below 1.
    """
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.runnables import RunnableLambda

    if k < 1:
        raise ConfigError(f"A context has at least one document, not {k}.")

    def gather(question: str) -> dict[str, Any]:
        q = ranker.code(Question(question))
        found = ranker.index.search(q, k, ranker.comparison)
        codes = [ranker.index.code(match.id) for match in found]
        words = verbaliser or ranker.verbaliser
        if ranker.kg is not None:
            words = words.with_names(ranker.kg, [q, *codes, GraphCode.of([match.id for match in found])])
        named = [(words.name(match.id), code) for match, code in zip(found, codes, strict=True)]
        return {"context": context_of(named, words), "question": _asked(question, q, words)}

    return RunnableLambda(gather) | prompt() | model | StrOutputParser()
