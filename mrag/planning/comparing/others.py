"""Questions that set things beside others of their kind, their group, or what is theirs."""

from __future__ import annotations

from mrag.planning.comparing.averages import above_level, level_of
from mrag.planning.comparing.beyond import beyond_of, compared_with_all
from mrag.planning.comparing.owned import owned_of, with_their_own
from mrag.planning.comparing.relatives import compared_with, relative_of
from mrag.planning.comparing.sames import after_event, compared_with_event, shared_value, sharing
from mrag.planning.composing.drafts import Draft, Named, Read, ReadWith
from mrag.planning.schema import Schema


def beside_others(
    text: str, read: Read, read_with: ReadWith, named: Named, schema: Schema
) -> list[Draft] | None:
    """Return drafts of a question that sets things beside others; None for one that is read otherwise.

    Args:
        text: The question.
        read: Reads a question; best drafts first.
        read_with: Reads one with what a word in it stands for.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    if (level := level_of(text)) is not None:
        return list(above_level(level, read, named, schema))  # the average of all will not do
    if (beyond := beyond_of(text)) is not None and (more := list(compared_with_all(beyond, read, schema))):
        return more
    if (relative := relative_of(text)) is not None:
        return list(compared_with(relative, read, named, schema)) or None
    if (owned := owned_of(text)) is not None:
        return list(with_their_own(owned, read_with, named, schema))
    event = after_event(text)
    if event is not None and (later := list(compared_with_event(event, read))):
        return later
    if (shared := shared_value(text)) is not None:
        alike = list(sharing(shared, read, named, schema))
        return alike if alike or shared.shares else None
    return None
