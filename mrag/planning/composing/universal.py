"""Questions for whether something holds of all things, of most, or of none: "do all bands have a website".

The things and those of which it holds are read as questions of their own, and their numbers are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rdflib import Literal

from mrag.language.tokens import PREPOSITIONS, VERBS, stem
from mrag.planning import plan as pl
from mrag.planning.composing.drafts import Draft, Read, whole
from mrag.planning.lexical.english import AUXILIARIES, BEING, is_past
from mrag.planning.scopes import all_patterns, folded_aside, mentioned, substituted

_ALL: Final = (
    r"(?P<all>(?:really |actually )?(?:all|every(?: single| one)?|each(?: one)?|most|at least half"
    r"|more than half|none|no)"
    r"(?: of)?(?: the| these| those)?)"
)
_INVERTED: Final = re.compile(
    rf"(?i)^\W*(?P<verb>do|does|did|is|are|was|were|has|have|had|can) {_ALL} (?P<rest>\w.+?)\W*$"
)
_STATED: Final = re.compile(rf"(?i)^\W*is it so that {_ALL} (?P<rest>\w.+?)\W*$")
_LOOSE: Final = PREPOSITIONS | frozenset(
    "a an the and or not no that which who whose than more less very also been ever their its".split()
)
"""Words that no description of things ends with."""
_VERBS: Final = VERBS | frozenset("have own come get use cost exist drive wear teach win lose eat".split())
_MOST_SPLITS: Final = 6


@dataclass(frozen=True)
class UniversalClaim:
    """What a question asks whether it holds of all of some things.

    Attributes:
        quantifier: `all`, `most` or `none`.
        splits: The words for the things and those for what is claimed of them, the likeliest first.
    """

    quantifier: str
    splits: tuple[tuple[str, str], ...]


def claim_of(text: str) -> UniversalClaim | None:
    """Return what a question claims of all things, of most or of none; None for other questions.

    Example:
        >>> claim_of("Do all bands from Germany have a website?").splits[0]
        ('bands from Germany', 'have a website')
        >>> claim_of("Are all halls in Bonn heated?").splits[0]
        ('halls in Bonn', 'heated')
        >>> claim_of("Is it so that no hall in Bonn is heated?")
        UniversalClaim(quantifier='none', splits=(('hall in Bonn', 'is heated'),))
        >>> claim_of("Do any bands have a website?")
    """
    match, stated = _INVERTED.match(text), _STATED.match(text)
    if stated is not None:
        match = stated
    if match is None:
        return None
    words = match["rest"].split()
    said = match["all"].lower().split()
    quantifier = "most" if {"most", "half"} & {*said} else "none" if said[0] in ("no", "none") else "all"
    if stated is not None:
        at = [i for i, w in enumerate(words) if i and w.lower() in AUXILIARIES | {"can"}]
        at = at[:1] or _verbs(words)
    elif match["verb"].lower() in BEING:
        at = [i for i in range(len(words) - 1, 0, -1) if words[i - 1].lower() not in _LOOSE]
    else:
        at = _verbs(words)
    splits = [
        (" ".join(words[:i]), " ".join(words[i:]))
        for i in at
        if words[i - 1].lower() not in _LOOSE and not (words[i - 1][0].isupper() and words[i][0].isupper())
    ]
    return UniversalClaim(quantifier, tuple(splits[:_MOST_SPLITS]))


def _verbs(words: Sequence[str]) -> list[int]:
    """Return where the verb of a claim may stand, the likeliest first."""
    low = [w.lower() for w in words]
    verbs = [
        i for i, w in enumerate(low)
        if i and (stem(w) in {stem(v) for v in _VERBS} or w in _VERBS or is_past(w))
        and low[i - 1] not in ("that", "which", "who", "whose", "to", "of", "the")
    ]  # fmt: skip
    return verbs or list(range(len(words) - 1, 0, -1))


def universal(claim: UniversalClaim, best: Read) -> Iterator[Draft]:
    """Yield the plans of whether a claim holds.

    Args:
        claim: What is claimed of which things.
        best: Reads a question; best drafts first.
    """
    for things, said in claim.splits:
        base = next((d for d in best(f"Which {things} are there?")[:2] if _lists(d)), None)
        if base is None:
            continue
        # "Have all orders been shipped" asks for those that are shipped.
        held = re.sub(r"(?i)^(?:been|ever been|already been)\b", "are", said)
        for those in best(f"Which {things} {held}?")[:3]:
            if _lists(those) and (found := _compared(claim.quantifier, base, those)) is not None:
                yield found
                return


def _lists(draft: Draft) -> bool:
    """Return whether a draft lists things of some kind, all of its words read."""
    return _things(draft) is not None and not draft.ignored


def _things(draft: Draft) -> pl.Unknown | None:
    plan = draft.plan
    if plan.limit is not None or plan.where.plans or plan.group_by or len(plan.columns) != 1:
        return None
    return draft.lone_value if isinstance(draft.lone_value, pl.Unknown) else None


def _compared(quantifier: str, base: Draft, claimed: Draft) -> Draft | None:
    """Return the plan that compares how many things there are with of how many a claim holds."""
    every, those = _number(base, "one_"), _number(claimed, "other_")
    if every is None or those is None or every.where == _same(those):
        return None
    if len(list(all_patterns(claimed.plan.where))) < len(list(all_patterns(base.plan.where))):
        return None
    some = pl.Comparison(every, ">", Literal(0))
    if quantifier == "none":
        held = pl.Comparison(those, "=", Literal(0))
    elif quantifier == "most":
        held = pl.Comparison(pl.Arithmetic(those, "*", Literal(2)), ">", every)
    else:
        held = pl.Comparison(every, "=", those)
    found = pl.Plan(pl.Block(), having=(held, some))
    return whole(found, base, claimed, shown=(), joins=max)


def _number(draft: Draft, prefix: str) -> pl.Aggregate | None:
    """Return the number of the things that a draft lists, its unknowns apart from those of others."""
    thing, plan = _things(draft), draft.plan
    if thing is None or plan.having:
        return None
    return folded_aside(pl.Aggregate("count", None, (thing,)), plan.where, prefix)


def _same(one: pl.Aggregate) -> pl.Block:
    """Return the block of a number with the unknowns of the other where these are called alike."""
    by: dict[pl.Place, pl.Place] = {
        u: pl.Unknown("one_" + u.name.removeprefix("other_")) for u in mentioned(one.where)
    }
    return substituted(one.where, by)
