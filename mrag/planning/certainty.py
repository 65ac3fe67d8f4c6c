"""Readings with the certainty of their answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

from rdflib import RDF, Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.language.names import iri_words
from mrag.language.tokens import tokens
from mrag.planning.lexicon import lexicon_of
from mrag.planning.loosening import Nothing
from mrag.planning.plan import Aggregate, Block, Comparison, Plan, Unknown
from mrag.planning.profiling import schema_of
from mrag.planning.reader.reader import LONGEST
from mrag.planning.readings import FoundReading, Reading, alike_named
from mrag.planning.schema import PropertyInfo
from mrag.rdf import queries
from mrag.rdf.namespaces import SKOLEM


def excludes_by_reading(plan: Plan, nothing: Nothing) -> bool:
    """Return whether nothing keeps a bound because of how it was read, and not of what there is.

    No price is above ten and below five: two prices were meant. And if what comes nearest to a bound keeps
    it, what was bounded is not what was asked for.

    Args:
        plan: A plan that finds nothing.
        nothing: Why it does.
    """
    bounds = [c for c in (*plan.where.conditions, *plan.having) if isinstance(c, Comparison)]
    for one in bounds:
        least = number_in(one.right) if one.relation in (">", ">=") else None
        mosts = [number_in(c.right) for c in bounds if c.left == one.left and c.relation in ("<", "<=")]
        if least is not None and any(most is not None and most <= least for most in mosts):
            return True
    bound, nearest = nothing.part, nothing.nearest
    if nearest is None or not isinstance(bound, Comparison) or (limit := number_in(bound.right)) is None:
        return False
    at = next(n for n, column in enumerate(nearest.plan.columns) if column.value == nearest.value)
    values = [number_in(row[at]) for row in nearest.result.rows]
    return any(
        value is not None and (value > limit if nearest.greatest else value < limit) for value in values
    )


def number_in(value: object) -> float | None:
    """Return the number that a term writes; None for other terms."""
    if not isinstance(value, Literal) or value.datatype is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


Features: TypeAlias = Mapping[str, float]

FEATURES: Final[Mapping[str, int]] = {
    "share": 1, "first": 1, "score": 1, "best": 1, "left": -1, "guesses": -1, "matches": 1, "rivals": -1,
    "nothing": -1, "no": 0, "yes": 0, "single": 1, "ones": -1, "unnamed": -1, "empty": -1, "skipped": -1,
    "turned": -1,
}  # fmt: skip
"""What is measured, and whether more of it may make an answer only more certain, only less, or either:

- share: how likely the reader holds readings with this answer among all, as a logarithm of odds
- first: whether its answer is the one that the reader holds the likeliest
- score, best: what the reader scored it, and the best reading of the question
- left: words that were left unread
- guesses: what was joined or chosen without a word for it
- matches: how unlike their words all names together are, as a number below zero
- rivals: how likely readings with other answers are, beside this one
- nothing: whether the answer is a zero, or that nothing is of several names
- no, yes: whether it is a no or a yes
- single: whether the answer is one row
- ones: whether all of several counts are 1, as where a wrong thing is counted for each
- unnamed: whether a thing is shown that has no name, in the graph or in its IRI, though more is told of it
- empty: how likely the readings are that find nothing
- skipped: names and values of the question that were passed over
- turned: how far from the likeliest ways are by which things are tied
"""

_LEAST: Final = 1e-4
_LOOKED_AT: Final = 20  # Rows in which things without a name are looked for
_TRIPLES: Final = 400  # Triples of these at most that are looked at


def _measure(
    kg: KnowledgeGraph, at: int, readings: Sequence[FoundReading], answers: Sequence[object]
) -> Features | None:
    """Return the features of a reading beside the others that found something; None if not the reader's."""
    reading, result = one = readings[at]
    own = reading.features
    if "score" not in own:
        return None
    answer = answers[at]
    # What is of any of several names is offered beside what is of all, whatever is meant.
    either = bool(alike_named(reading.plan)) and len(reading.plan.where.either)
    beside = list(zip((other for other, _ in readings), answers, strict=True))
    same = sum(other.probability for other, its in beside if its == answer)
    others = [o for o in beside if either is False or len(o[0].plan.where.either) == either]
    rivals = sum(other.probability for other, its in others if its != answer)
    holds = reading.plan.yes_or_no and result.holds
    return {
        "share": _logit(same),
        "first": float(answers[0] == answer),
        "score": max(own["score"], -10.0) / 5,
        "best": max(own["best"], -10.0) / 5,
        "left": min(own["left"], 3.0),
        "guesses": sum(own.get(name, 0.0) for name in _GUESSES),
        "matches": sum(value for name, value in own.items() if name.startswith("match:")),
        "rivals": min(rivals / max(same, _LEAST), 3.0),
        "nothing": float(result.is_zero or bool(not result.rows and alike_named(reading.plan))),
        "no": float(reading.plan.yes_or_no and not holds),
        "yes": float(holds),
        "single": float(len(result.rows) == 1),
        "ones": float(_counts_ones(one)),
        "unnamed": float(_shows_unnamed(kg, one)),
        "empty": min(own.get("empty", 0.0), 1.0),
        "skipped": min(own.get("skip", 0.0), 2.0),
        "turned": min(own.get("turned", 0.0), 2.0),
    }


def _logit(p: float) -> float:
    p = min(max(p, _LEAST), 1 - _LEAST)
    return math.log(p / (1 - p))


_GUESSES: Final = ("implied node", "implied focus", "silent hops", "guessed property")
"""What the reader counts as guesses."""


def is_nothing(one: FoundReading) -> bool:
    """Return whether an answer is a zero, an empty list or a no."""
    reading, result = one
    if reading.plan.yes_or_no:
        # Of two numbers that are compared a no tells as much as a yes.
        return not result.holds and not _compares_numbers(reading.plan)
    return result.is_zero or not any(cell is not None for row in result.rows for cell in row)


_ORDERS: Final = ("<", "<=", ">", ">=")


def _compares_numbers(plan: Plan) -> bool:
    only = Block(conditions=plan.where.conditions, plans=plan.where.plans)
    folded = all(isinstance(c.value, Aggregate) for inner in only.plans for c in inner.columns)
    if plan.where == only:
        return folded and all(isinstance(c, Comparison) for c in only.conditions)
    # Values of things that are named are numbers as well.
    only = Block(plan.where.patterns, plan.where.conditions)
    named = all(isinstance(p.subject, URIRef) for p in only.patterns)
    ordered = all(isinstance(c, Comparison) and c.relation in _ORDERS for c in only.conditions)
    return plan.where == only and bool(only.conditions) and named and ordered


def _counts_ones(one: FoundReading) -> bool:
    reading, result = one
    columns = reading.plan.columns
    at = [n for n, c in enumerate(columns) if isinstance(c.value, Aggregate) and c.value.function == "count"]
    return bool(at) and len(result.rows) > 1 and all(str(row[n]) == "1" for row in result.rows for n in at)


def _shows_unnamed(kg: KnowledgeGraph, one: FoundReading) -> bool:
    reading, result = one
    at = [n for n, name in enumerate(result.columns) if name in reading.shown]
    shown = {str(row[n]) for row in result.rows[:_LOOKED_AT] for n in at if isinstance(row[n], URIRef)}
    bare = sorted(iri for iri in shown if iri_words(iri) is None)
    if not bare or all(kg.labels(bare).values()):
        return False
    # What is only pointed at, such as a page or a licence, is told by its IRI where somebody asks for it.
    asked = {use.iri for use in reading.words if use.words}
    values = {c.value for c in reading.plan.columns if c.name in reading.shown}
    kinds = {
        str(p.object) for p in reading.plan.where.patterns if p.subject in values and p.predicate == RDF.type
    }
    if not kinds.isdisjoint(asked):  # Which vases there are is told by their numbers, if they have no names
        return any(iri.startswith(SKOLEM) for iri in bare)
    told = {str(p.predicate) for p in reading.plan.where.patterns if isinstance(p.object, Unknown)}
    if told.isdisjoint(asked):
        return True
    own = kg.select(queries.get("context/out").bind(entity=bare, limit=_TRIPLES))
    return any(iri.startswith(SKOLEM) for iri in bare) or any(URIRef(str(p)) != RDF.type for _, p, _ in own)


def _answer(one: FoundReading) -> object:
    """Return what a reading answers, in whichever order its columns are."""
    reading, result = one
    if reading.plan.yes_or_no:
        return result.holds
    at = [result.columns.index(name) for name in reading.shown]
    return frozenset(tuple(sorted(str(row[i]) for i in at)) for row in result.rows)


@dataclass(frozen=True)
class Certainty:
    """How the features of a reading make its answer certain.

    Example:
        >>> few = dict.fromkeys(FEATURES, 0.0)
        >>> model = shipped_certainty()
        >>> model.of(few) > model.of({**few, "rivals": 2.0})
        True
    """

    bias: float  # What is added to the weighted features, as a logarithm of odds
    weights: Mapping[str, float]  # The weight of each feature
    readings: int = 0  # How many solved readings it was fitted to
    groups: int = 0  # How many groups they come from

    def of(self, features: Features) -> float:
        """Return the probability that an answer is right."""
        odds = self.bias + sum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-odds))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "bias": round(self.bias, 4),
            "weights": {name: round(weight, 4) for name, weight in self.weights.items()},
            "readings": self.readings,
            "groups": self.groups,
        }


@cache
def shipped_certainty() -> Certainty:
    """Return the weights that ship with the package, fitted to questions over several public graphs."""
    text = (files("mrag") / "planning" / "certainty.json").read_text(encoding="utf-8")
    value = json.loads(text)
    return Certainty(value["bias"], value["weights"], value["readings"], value["groups"])


_NAMED = 0.9  # How near words must be to a name to name it


def why_unread(kg: KnowledgeGraph, question: str, mixed: Sequence[PropertyInfo | None]) -> str:
    """Return why no reading of a question is taken.

    Args:
        kg: The graph.
        question: The question.
        mixed: Properties for which readings were left out, since their numbers are told in several units.
    """
    if len(question.split()) > LONGEST:
        return f"a question of more than {LONGEST} words is not computed"
    if units := unconverted(kg, question, mixed):
        return units
    if _named(kg, question):
        return "what the question names could not be put together to what it asks"
    return "no part of the question names anything in this graph"


def _named(kg: KnowledgeGraph, question: str) -> list[str]:
    best = (mention.candidates[0] for mention in lexicon_of(kg).match(tokens(question)))
    return [candidate.term for candidate in best if candidate.score > _NAMED]


def in_units(name: str, units: Sequence[str]) -> str:
    """Return that what is called so is told in several units."""
    return f"“{name}” is told in several units, which are not converted: {', '.join(units)}"


def unconverted(kg: KnowledgeGraph, question: str, mixed: Sequence[PropertyInfo | None] = ()) -> str:
    """Return that a property which a question names is told in several units; "" if none is."""
    known = schema_of(kg).properties
    for info in (*mixed, *map(known.get, _named(kg, question))):
        if info is not None and len(info.units) > 1:
            return in_units(info.names[0], info.units)
    return ""


_UNREAD: Final = 0.85  # Certainty at most of what leaves words unread


def _bounded(model: Certainty, reading: Reading, features: Features) -> float:
    return min(model.of(features), _UNREAD if reading.unread else 1.0)


def weighed(kg: KnowledgeGraph, readings: Sequence[FoundReading]) -> list[FoundReading]:
    """Return readings that found something, with the certainty of their answers; their order stays.

    Args:
        kg: The graph.
        readings: The readings that were run, with what they found.
    """
    model, answers = shipped_certainty(), [_answer(one) for one in readings]
    every = [_measure(kg, at, readings, answers) for at in range(len(readings))]
    return [
        (replace(reading, certainty=_bounded(model, reading, features), measured=features), result)
        if features
        else (reading, result)
        for (reading, result), features in zip(readings, every, strict=True)
    ]
