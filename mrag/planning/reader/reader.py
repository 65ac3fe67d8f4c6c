"""Readings of a question: cut into units, given roles, put together as plans, and ranked by a model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Final
from typing import Literal as OneOf

from rdflib import RDF

from mrag.language.tokens import tokens
from mrag.planning.accounting import is_of_people
from mrag.planning.lexical import Candidate
from mrag.planning.lexical.names import lacks_names
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Aggregate, Relation, parts
from mrag.planning.reader.chains import chains, has_no_classes, walkable
from mrag.planning.reader.computed import computed_units
from mrag.planning.reader.contrasts import draft_of
from mrag.planning.reader.frames import QuestionCues, RoleItem, Unreadable
from mrag.planning.reader.glosses import Gloss, Glosses
from mrag.planning.reader.implied import ImpliedNames
from mrag.planning.reader.measures import of_items, of_plan, opening
from mrag.planning.reader.outcome import PlanDraft, QuestionDerivation, called
from mrag.planning.reader.roles import Labelled, labelled, paths
from mrag.planning.reader.terms import depths
from mrag.planning.reader.units import Unit, units_of
from mrag.planning.reader.uses import word_uses
from mrag.planning.reader.world import SchemaWays
from mrag.planning.readings import Reading
from mrag.planning.schema import Schema
from mrag.planning.scopes import with_subclasses

LONGEST: Final = 200  # Words of the longest question that is read
_DRAFTS: Final = 40  # Ways of giving roles that are put together at most
_TURNS: Final = 3  # Ways of tying nodes that are tried for each
MOST_READ: Final = 12  # Readings of a question that are looked at
_AUXILIARIES: Final = frozenset("is are was were does do did has have can could".split())
_JOINS: Final = frozenset("to and than versus vs against".split())
"""Words that may stand between two sides of a comparison."""


@dataclass(frozen=True)
class QuestionUnits:
    """What the words of a question may be."""

    gloss: Gloss  # The question in English
    low: Sequence[str]  # The words of that in lower case
    units: Sequence[Unit]  # The units that it may have, but for what is computed of others


@cache
def priors() -> Mapping[str, float]:
    """Return the weights before anything is learnt."""
    found: dict[str, float] = json.loads(Path(__file__).with_name("priors.json").read_text(encoding="utf-8"))
    return found


@cache
def shipped() -> Mapping[str, float]:
    """Return the weights that ship, and those of `priors` for what is not among them.

    They are learnt by `benchmarks/reader.py` from graphs of this repository and questions of the training
    part of Spider (Yu et al., 2018; CC BY-SA 4.0).
    """
    text = Path(__file__).with_name("weights.json").read_text(encoding="utf-8")
    found: dict[str, float] = json.loads(text)["weights"]
    return {**priors(), **found}


class RoleReader:
    """Reads questions over one graph.

    Args:
        lexicon: The names of the graph.
        weights: What counts how much; by default those that ship.

    Example:
        >>> import mrag
        >>> from mrag.planning.lexicon import lexicon_of
        >>> kg = mrag.demo(model="none")
        >>> best = RoleReader(lexicon_of(kg, None)).derivations("How many triple stores are there?")[0]
        >>> [(item.role, item.cand.name) for item in best.items]
        [('count', 'triple store')]
        >>> kg.close()
    """

    def __init__(self, lexicon: Lexicon, weights: Mapping[str, float] | None = None) -> None:
        self.lexicon = lexicon
        unnamed = partial(lacks_names, lexicon.kg, lexicon.schema)
        self.world = SchemaWays(lexicon.schema, unnamed, lexicon.is_linked)
        self.glosses = Glosses(lexicon)
        self.implied = ImpliedNames(lexicon)
        self.weights = shipped() if weights is None else weights

    @property
    def schema(self) -> Schema:
        """Return the schema of the graph."""
        return self.lexicon.schema

    def readings(
        self, question: str, most: int = MOST_READ, meant: Mapping[str, Candidate] | None = None
    ) -> list[Reading]:
        """Return the likeliest readings of a question, likeliest first, as they are run.

        Args:
            question: The question.
            most: How many are returned at most.
            meant: What some words stand for, in lower case: those that point to what was asked before.
        """
        derivations = [
            replace(one, draft=replace(one.draft, plan=with_subclasses(one.draft.plan, self.schema)))
            for one in self.derivations(question, meant=meant or {})
        ]
        total = sum(math.exp(d.score - derivations[0].score) for d in derivations)
        words = tokens(question)
        return [
            Reading(
                one.draft.plan,
                one.draft.shown,
                math.exp(one.score - derivations[0].score) / total,
                (),
                {
                    **one.features,
                    "score": one.score,
                    "best": derivations[0].score,
                    "rank": float(rank),
                    "left": float(len(one.left)),
                },
                words=word_uses(self.world, question, words, one),
            )
            for rank, one in enumerate(derivations[:most])
        ]

    def derivations(
        self,
        question: str,
        most: int = 30,
        failed: list[Labelled] | None = None,
        meant: Mapping[str, Candidate] | None = None,
    ) -> list[QuestionDerivation]:
        """Return the likeliest derivations of a question, likeliest first.

        Args:
            question: The question.
            most: How many are returned at most.
            failed: What roles could not be put together is added to it, from which training learns.
            meant: What some words stand for, in lower case.
        """
        if len(tokens(question)) > LONGEST:
            return []
        asked = self.units(question, meant)
        low, gloss = asked.low, asked.gloss
        ranked: list[Labelled] = []
        classless = has_no_classes(self.schema)
        walks = classless and low[:1] and (low[0] not in _AUXILIARIES or low[1:2] == ["you"])
        walked = chains(self.lexicon, gloss.words, asked.units, self.weights) if walks else []
        if walked and not walked[0].left:
            return [_placed(one, low, gloss.origins) for one in walked[:most]]
        units = [*asked.units, *computed_units(self.world, asked.units, low)]
        for slots, left in paths(units, low):
            ranked += labelled(self.world, slots, left, low, self.weights, gloss.language)
        ranked.sort(key=lambda r: -r.score)
        found = {one.draft.plan: one for one in walked}
        asks, whole = opening(low), dict[str, float]()
        words = enumerate(gloss.words)
        listed = {at for at, t in words if t.after.strip() == "," or low[at + 1 : at + 2] == ["and"]}
        for label in ranked[:_DRAFTS]:
            for turn in range(_TURNS):
                try:
                    draft = called(draft_of(self.world, label.items, _asked(label, low, turn, listed)))
                except Unreadable:
                    if failed is not None and not turn:
                        failed.append(label)
                    break
                if turn and not draft.features.get("turned"):
                    break
                whole = dict(of_items(label.items, asks)) if not turn else whole
                for one in depths(self.world.schema, draft, [c.cue for c in label.cues]):
                    derived = self._derivation(label, one, low, whole, asks)
                    if one.plan not in found or found[one.plan].score < derived.score:
                        found[one.plan] = derived
        kept = walkable(self.lexicon.kg, found) if classless else found
        best = sorted((found[plan] for plan in found if plan in kept), key=lambda d: -d.score)[:most]
        return [_placed(one, low, gloss.origins) for one in best]

    def units(self, question: str, meant: Mapping[str, Candidate] | None = None) -> QuestionUnits:
        """Return the units that a question may have.

        Args:
            question: The question.
            meant: What some words stand for, in lower case.
        """
        gloss = self.glosses.of(question)
        low = [t.raw.lower().replace("\u2019", "'") for t in gloss.words]
        units = units_of(self.lexicon, gloss.text, gloss.words, gloss.names)
        for at in (at for at, word in enumerate(low) if meant and word in meant):
            # What points to what was asked before means that alone.
            one = (meant or {})[low[at]]
            units = [*(u for u in units if u.start != at), Unit(one.kind, at, at + 1, (one,), score=1.0)]
        units += self.implied.units(gloss.words, low, units)
        return QuestionUnits(gloss, low, units)

    @cached_property
    def _people(self) -> frozenset[str]:
        return frozenset(cls for cls in self.schema.classes if is_of_people(self.lexicon, cls))

    def _derivation(
        self, label: Labelled, draft: PlanDraft, low: Sequence[str], whole: Mapping[str, float], asks: str
    ) -> QuestionDerivation:
        told = of_plan(draft.plan, draft.shown, self.schema, self._people, asks)
        more = {**draft.features, **_shape(draft, low), **whole, **dict(told)}
        score = label.score + sum(self.weights.get(name, 0.0) * value for name, value in more.items())
        measured = {**label.features, **more}
        return QuestionDerivation(draft, label.items, label.left, measured, score, label.cues, label.passed)


def _placed(
    one: QuestionDerivation, low: Sequence[str], origins: Sequence[tuple[int, int]]
) -> QuestionDerivation:
    """Return a derivation with the places of the words that its gloss stands for, if there is one."""
    if not origins:
        return one

    def placed(unit: Unit) -> Unit:
        start, end = origins[unit.start][0], origins[unit.end - 1][1]
        return replace(unit, start=start, end=end, gloss=" ".join(low[unit.start : unit.end]))

    def moved(items: Sequence[RoleItem]) -> tuple[RoleItem, ...]:
        return tuple(
            replace(i, unit=placed(i.unit), cue=i.cue and placed(i.cue), cues=tuple(map(placed, i.cues)))
            for i in items
        )

    left = tuple(sorted({at for n in one.left for at in range(*origins[n])}))
    cues = tuple(map(placed, one.cues))
    return replace(one, items=moved(one.items), left=left, cues=cues, passed=moved(one.passed))


def _asked(label: Labelled, low: Sequence[str], turn: int, listed: Set[int]) -> QuestionCues:
    """Return what the words that are left over say of the question as a whole.

    Args:
        label: Units with roles.
        low: The words.
        turn: How many times another way than the shortest is taken.
        listed: Places of the words that another one of a list comes behind.
    """
    cues = {c.cue for c in label.cues}
    ends = next((i.unit for i in label.items if i.role == "limit"), None)
    limit, offset = 0, 0
    if ends is not None:
        limit = int(float(ends.values[-1]))
        offset = int(float(ends.values[0])) - 1 if ends.part == "rank" else 0
    asks = bool(low) and low[0] in _AUXILIARIES and "which" not in low[:3] and "what" not in low[:6]
    sides = bool(cues & {"cmp+", "cmp-", "same"}) and any(i.role == "than" for i in label.items)
    truth = asks and (sides or not any(i.role in ("count", "col") for i in label.items))
    said = {at for i in label.items for at in range(i.unit.start, i.unit.end)}
    asking = {c.end for c in label.said if c.cue in ("count", "sum", "difference")}
    compared = [c for c in label.said if c.cue in ("cmp+", "cmp-")]
    order = next((c for c in ("desc", "alpha", "asc", "sort") if c in cues), "")
    compares: Relation | OneOf[""] = (
        ">" if "cmp+" in cues else "<" if "cmp-" in cues else "=" if "same" in cues else ""
    )
    return QuestionCues(
        truth=truth, limit=limit - offset, offset=offset, turn=turn, order=order,
        counted=bool(cues & {"count", "reveal"}), zero="zero" in cues, difference="difference" in cues,
        ratio="percent" if "share" in cues else "fraction" if cues & {"ratio", "part"} else "",
        compares=compares, unit=next((unit for unit in ("year", "day") if unit in cues), ""),
        amount="difference" in cues or any({c.start, c.start - 1} & asking for c in compared),
        fold="average" if any(c.cue == "avg" for c in label.said) else "sum",
        named=any(c.cue == "name" and c.start in listed - said for c in label.cues if c.end == c.start + 1),
        joins=tuple(at for at, word in enumerate(low) if word in _JOINS),
    )  # fmt: skip


def _shape(draft: PlanDraft, low: Sequence[str]) -> dict[str, float]:
    """Return what is measured of a plan and of how the question begins."""
    plan = draft.plan
    folds = {
        e.function
        for c in plan.columns
        if c.name in draft.shown
        for e in parts(c.value)
        if isinstance(e, Aggregate)
    }
    shape = "truth" if not plan.columns else "+".join(sorted(folds)) or "list"
    shape += " top" if plan.limit else " order" if plan.order else ""
    shape += " having" * bool(plan.having) + " without" * bool(plan.where.without)
    typed = any(p.predicate == RDF.type for p in plan.where.patterns)
    return {
        f"shape:{shape}": 1.0,
        f"shape:{shape}|{low[0] if low else ''}": 1.0,
        f"shape:{shape}|{' '.join(low[:2])}": 1.0,
        "columns": float(len(draft.shown)),
        "patterns": float(len(plan.where.patterns)),
        "typeless": float(not typed),
    }
