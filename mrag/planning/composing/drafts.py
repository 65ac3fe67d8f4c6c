"""Drafts: plans with what it cost to make them of a question's words, and drafts that are made of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from mrag.errors import ConfigError
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.plan import Aggregate, Block, Expression, Plan, Unknown
from mrag.planning.scopes import check, merged


class Unbuildable(Exception):
    """A frame has no plan over this schema."""


@dataclass(frozen=True)
class Draft:
    """A plan with what it cost to make it of the question's words.

    Attributes:
        plan: The plan.
        shown: Names of the columns that were asked for.
        matches: The scores of the names that were used.
        joins: The cost of joins that the question does not name.
        guesses: How many choices were made without a word for them.
        ignored: Words that carry meaning and were not read.
        choices: What was chosen for each place of the question, with what else might have been.
        ties: Properties of joins that could as well go another way.
    """

    plan: Plan
    shown: tuple[str, ...]
    matches: tuple[float, ...]
    joins: float
    guesses: float
    ignored: tuple[str, ...]
    choices: Mapping[int, tuple[Candidate, ...]] = field(default_factory=dict)
    ties: tuple[str, ...] = ()

    @property
    def values(self) -> list[Expression]:
        """Return what was asked for, in the order of the columns."""
        return [c.value for c in self.plan.columns if c.name in self.shown]

    @property
    def lone_value(self) -> Expression | None:
        """Return the one thing that was asked for; None if there are several."""
        return self.values[0] if len(self.shown) == 1 else None


Read: TypeAlias = Callable[[str], Sequence[Draft]]
"""Reads a question that holds no other; best drafts first."""
ReadWith: TypeAlias = Callable[[str, Candidate], Sequence[Draft]]
"""Reads a question with what a word in it stands for; best drafts first."""
Named: TypeAlias = Callable[[str], Sequence[Candidate]]
"""Returns what words may name as a whole, best first."""
Total: TypeAlias = Callable[[Iterable[float]], float]
"""What costs make together."""


def fully_read(drafts: Sequence[Draft], most: int) -> list[Draft]:
    """Return those of the first drafts that leave no word unread.

    Args:
        drafts: Drafts of a question, best first.
        most: How many of them are looked at.
    """
    return [draft for draft in drafts[:most] if not draft.ignored]


def whole(
    plan: Plan,
    first: Draft,
    *others: Draft,
    shown: Sequence[str] | None = None,
    matches: Sequence[float] = (),
    joins: Total = sum,
    guesses: Total = sum,
) -> Draft | None:
    """Return the draft of a plan that is made of those of drafts; None if it says nothing sensible.

    Args:
        plan: The plan.
        first: The draft that it shows the columns of.
        others: The other drafts.
        shown: Names of the columns that are asked for, if other than in the first.
        matches: The scores of further names.
        joins: What the joins of all of them cost together: their sum, or `max` where each is an answer.
        guesses: The same for what was guessed.
    """
    try:
        check(plan)
    except ConfigError:
        return None
    drafts = (first, *others)
    return Draft(
        plan,
        first.shown if shown is None else tuple(shown),
        (*(m for d in drafts for m in d.matches), *matches),
        joins(d.joins for d in drafts),
        guesses(d.guesses for d in drafts),
        tuple(word for d in drafts for word in d.ignored),
    )


def also_holding(
    draft: Draft, block: Block, *others: Draft, matches: Sequence[float] = (), joins: Total = sum
) -> Draft | None:
    """Return a draft of which a block holds as well, as other drafts say; None if that is no plan.

    The other arguments are those of `whole`.
    """
    found = replace(draft.plan, where=merged(draft.plan.where, block))
    return whole(found, draft, *others, matches=matches, joins=joins)


def folded_by(draft: Draft) -> tuple[Unknown, Aggregate] | None:
    """Return by what a draft folds something of one kind of things, and the fold; None if it does not.

    In "number of rivers per state" these are the state and the count of rivers.
    """
    plan, values = draft.plan, draft.values
    keys = [v for v in values if not isinstance(v, Aggregate)]
    folds = [v for v in values if isinstance(v, Aggregate)]
    if len(keys) != 1 or len(folds) != 1 or plan.having or plan.limit is not None:
        return None
    key, fold = keys[0], folds[0]
    return (key, fold) if isinstance(key, Unknown) and len(fold.of) == 1 else None


def guessed(draft: Draft, more: float) -> Draft:
    """Return a draft that is less likely by some guesses."""
    return replace(draft, guesses=draft.guesses + more)
