"""Questions with known answers: what a model wrote, cut into single questions, and questions by template."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mrag.context.display import Display
from mrag.errors import ConfigError
from mrag.evaluation.conditions import Condition, Demand, EntityFacts, EntityShape, facts
from mrag.graph.kg import KnowledgeGraph
from mrag.text.grammar import article, join, relation

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.S)
_NUMBERING = re.compile(
    r"^(?:[\s>*_#•·\-–—]|\(?\d{1,3}[.):](?!\d)|\(?[a-zA-Z][.)]\s|(?:sub-?)?q(?:uestion)?\s*+(?:\d++\s*+)?[.:)])+",
    re.I,
)
_ASKED = re.compile(r"(?<![^?？])[^?？]*[?？]+")
_LETTERS = 3


@dataclass(frozen=True)
class BenchmarkQuestion:
    """A question that was made from an entity.

    Attributes:
        question: Its ID, made of the entity's.
        entity: IRI of the entity.
        text: The question.
        demand: What it demands, where that is known.
    """

    question: str
    entity: str
    text: str
    demand: Demand = field(default_factory=Demand)

    def to_json(self) -> dict[str, Any]:
        """Return it as a line of a BEIR file of queries."""
        about = {"entity": self.entity, "wanted": self.demand.to_json()}
        return {"_id": self.question, "text": self.text, "metadata": about}


def question_id(entity: str) -> str:
    """Make the ID of the question of an entity, the same for the same IRI."""
    return "q" + hashlib.blake2b(entity.encode(), digest_size=6).hexdigest()


def single_questions(text: str) -> list[str]:
    r"""Cut what a model wrote into single questions.

    Numbers, bullets, quotes, emphasis, fences, headings and blank lines are left out, and so is what a
    model says around the questions where any line ends in a question mark. Never gives an empty question.

    Args:
        text: What the model wrote.

    Returns:
        The questions in order, each once.

    Example:
        >>> single_questions("Here you are:\n```\n1. What is red?\n\n2) **Which coat?** Which hat?\n```")
        ['What is red?', 'Which coat?', 'Which hat?']
        >>> single_questions("?"), single_questions("- Show me red dresses")
        ([], ['Show me red dresses'])
    """
    lines = [
        _bare(line) for line in _THOUGHT.sub("", text).splitlines() if not line.strip().startswith("```")
    ]
    asked = [_bare(part) for line in lines for part in _ASKED.findall(line)]
    found = [part for part in asked if _wordy(part)]
    if not found:
        found = [line for line in lines if _wordy(line) and not line.endswith(":")]
    return list(dict.fromkeys(found))


def template_questions(
    kg: KnowledgeGraph, entities: Sequence[str], shape: EntityShape, *, conditions: int = 2, seed: int = 0
) -> list[BenchmarkQuestion]:
    """Make a question for each entity from its triples, without a model.

    The same graph, seed and settings give the same questions. Entities that have nothing to ask for, a
    value with a label, are left out.

    Args:
        kg: The knowledge graph.
        entities: IRIs of the entities.
        shape: How entities and parts hang together.
        conditions: Most values, or parts, that a question asks for, 1 or more.
        seed: For what is chosen.

    Raises:
        ConfigError: If `conditions` is below 1.

    Example:
        >>> import mrag
        >>> kg = mrag.demo(model="none")
        >>> products = "https://w3id.org/mrag/demo/products#"
        >>> [asked] = template_questions(kg, [products + "GraphDB"], EntityShape(cls=products + "Product"))
        >>> asked.text.startswith("Which product "), len(asked.demand.own)
        (True, 2)
        >>> kg.close()
    """
    if conditions < 1:
        raise ConfigError(f"A question cannot ask for {conditions} values.", hint="Use 1 or more.")
    known = facts(kg, sorted(entities), shape)
    display = Display(kg)
    values = {c.value for found in known.values() for c in _all(found)}
    labels = kg.labels(sorted(values))
    kind = _kind(kg, shape)
    made = []
    for entity in sorted(known):
        choice = random.Random(f"{seed} {entity}")
        found = _labelled(known[entity], labels, shape)
        wanted = _chosen(found, shape, conditions, choice)
        if wanted:
            text = f"Which {kind} {join(list(_demands(wanted, labels, display, shape)))}?"
            made.append(BenchmarkQuestion(question_id(entity), entity, text, wanted))
    return made


def _chosen(found: EntityFacts, shape: EntityShape, max_conditions: int, choice: random.Random) -> Demand:
    if found.parts:
        named = sorted(
            {tuple(has) for has in found.parts.values() if any(c.predicate == shape.kind for c in has)}
        )
        parts = sorted(choice.sample(named, min(max_conditions, len(named))))
        return Demand(parts=tuple(_cut(part, shape, max_conditions, choice) for part in parts))
    by_predicate: dict[str, list[Condition]] = {}
    for condition in found.own:
        by_predicate.setdefault(condition.predicate, []).append(condition)
    chosen = choice.sample(sorted(by_predicate), min(max_conditions, len(by_predicate)))
    return Demand(own=tuple(sorted(choice.choice(by_predicate[p]) for p in chosen)))


def _cut(
    part: Sequence[Condition], shape: EntityShape, max_conditions: int, choice: random.Random
) -> tuple[Condition, ...]:
    kinds = [c for c in part if c.predicate == shape.kind]
    others = [c for c in part if c.predicate != shape.kind]
    return tuple(sorted([choice.choice(kinds), *choice.sample(others, min(max_conditions, len(others)))]))


def _demands(
    wanted: Demand, labels: Mapping[str, str | None], display: Display, shape: EntityShape
) -> Iterator[str]:
    for condition in wanted.own:
        yield _clause(condition, labels, display)
    if wanted.parts:
        shown = []
        for part in wanted.parts:
            kind = next(c for c in part if c.predicate == shape.kind)
            others = [labels[c.value] or "" for c in part if c != kind]
            thing = article(labels[kind.value] or "")
            shown.append(f"{thing} that is {join(others)}" if others else thing)
        yield f"shows {join(shown)}"


def _clause(condition: Condition, labels: Mapping[str, str | None], display: Display) -> str:
    value = labels[condition.value] or ""
    said = display.predicate(condition.predicate)
    if said == "is a":
        return f"is {article(value)}"
    kind, phrase = relation(said, False)
    return f"{phrase} {value}" if kind == "phrase" else f"has the {said} {value}"


def _kind(kg: KnowledgeGraph, shape: EntityShape) -> str:
    return "thing" if shape.cls is None else kg.labels([shape.cls])[shape.cls] or "thing"


def _labelled(found: EntityFacts, labels: Mapping[str, str | None], shape: EntityShape) -> EntityFacts:
    kept = EntityFacts([c for c in found.own if labels[c.value]])
    for part, has in found.parts.items():
        if named := [c for c in has if labels[c.value]]:
            kept.parts[part] = named
    return kept


def _all(found: EntityFacts) -> Iterator[Condition]:
    yield from found.own
    for has in found.parts.values():
        yield from has


def _bare(line: str) -> str:
    return _NUMBERING.sub("", line).strip().strip("\"'`*_“”‘’«» ").strip()


def _wordy(text: str) -> bool:
    return sum(c.isalpha() for c in text) >= _LETTERS
