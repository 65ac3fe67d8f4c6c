"""The words of a question that name numbers which two properties tell together."""

from __future__ import annotations

from collections.abc import Sequence

from mrag.planning.derived.rates import said_per
from mrag.planning.derived.spans import said_between, said_to_last
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.reading.question import QuestionText
from mrag.planning.schema import PropertyInfo, Schema


def derived_mentions(
    question: QuestionText, mentions: Sequence[NameMention], schema: Schema
) -> tuple[list[NameMention], dict[str, PropertyInfo]]:
    """Return the words of a question that name derived numbers, and these as properties.

    Args:
        question: The question.
        mentions: What its words name in the graph.
        schema: The schema, with the spans of its classes.

    Returns:
        Mentions beside the given ones, and the properties that the schema does not have.
    """
    found = [*said_between(question, mentions, schema), *said_per(question, mentions, schema)]
    if not found:
        found = [*said_to_last(question, mentions, schema)]
    infos: dict[str, PropertyInfo] = {i.iri: i for _, _, some in found for i in some}
    return [
        NameMention(start, end, tuple(Candidate("property", i.iri, 1.0, i.names[0], "exact") for i in some))
        for start, end, some in found
    ], infos
