"""Facts that were chosen for a question."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.context.render import Line
from mrag.rdf.terms import Term


@dataclass(frozen=True, slots=True)
class FactGroup:
    """What the context says of one subject in answer to the question.

    Attributes:
        subject: What it is about.
        lines: The lines that cover most, in the order found.
        covered: Positions of the wanted words that they cover.
        score: Weight of what they cover.
        kind: Part of the score that is for being of the class asked for.
        joint: Wanted words that single lines cover by predicate and object together.
    """

    subject: Term
    lines: tuple[Line, ...]
    covered: frozenset[int]
    score: float
    joint: frozenset[frozenset[int]] = frozenset()
    kind: float = 0.0


@dataclass(frozen=True, slots=True)
class Selection:
    """The facts chosen for a question.

    Attributes:
        groups: Subjects with their lines, the best first; empty when nothing matches.
        many: Whether the question asks for a list.
        missing: Words of the question that no line has.
        more: Further groups, for which there is no room.
        partial: Whether the groups tell of what was named, but not what was asked of it.
        unlinked: Names of the question that the context has, but that no chosen line has.
    """

    groups: tuple[FactGroup, ...] = ()
    many: bool = False
    missing: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    more: tuple[FactGroup, ...] = ()
    partial: bool = False
