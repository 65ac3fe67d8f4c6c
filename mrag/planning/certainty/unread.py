"""Why a question has no reading at all."""

from __future__ import annotations

from collections.abc import Sequence

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.building.parser import LONGEST
from mrag.planning.lexicon import lexicon_of
from mrag.planning.profiling import schema_of
from mrag.planning.schema import PropertyInfo
from mrag.text.tokens import tokens

_NAMED = 0.9
"""How near words must be to a name to name it."""


def why_unread(kg: KnowledgeGraph, question: str, mixed: Sequence[PropertyInfo | None]) -> str:
    """Return why no reading of a question is taken.

    Args:
        kg: The graph.
        question: The question.
        mixed: Properties for which readings were left out, since their numbers are told in several units.
    """
    if len(question.split()) > LONGEST:
        return f"a question of more than {LONGEST} words is not computed"
    best = (mention.candidates[0] for mention in lexicon_of(kg).match(tokens(question)))
    named = [candidate for candidate in best if candidate.score > _NAMED]
    known = schema_of(kg).properties
    for info in (*mixed, *(known.get(one.term) for one in named)):
        if info is not None and len(info.units) > 1:
            units = ", ".join(info.units)
            return f"“{info.names[0]}” is told in several units, which are not converted: {units}"
    if named:
        return "what the question names could not be put together to what it asks"
    return "no part of the question names anything in this graph"
