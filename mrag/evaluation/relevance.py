"""Three ways to say which entities are relevant to a question.

1. The entity that the question was made from, and no other.
2. Those whose questions are similar: the floor(sqrt(N)) nearest questions by their vectors, as in the thesis.
   This favours rankers that use the same vectors: it is circular for them.
3. Those whose triples meet what the question states, found by SPARQL. No ranker takes part in it.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.evaluation.conditions import Condition, Demand, EntityFacts, EntityShape, facts, satisfying
from mrag.graph.kg import KnowledgeGraph
from mrag.text.analysis import Analyser

_CHUNK = 256
_ANALYSER = Analyser(name="plural")


def target_only(targets: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Return judgements by which the entity that a question was made from is its only answer.

    Args:
        targets: Question ID to entity.

    Example:
        >>> target_only({"q1": "ex:a"})
        {'q1': {'ex:a': 1}}
    """
    return {question: {entity: 1} for question, entity in sorted(targets.items())}


def similar_questions(
    targets: Mapping[str, str], vectors: Mapping[str, npt.NDArray[np.float32]], k: int | None = None
) -> dict[str, dict[str, int]]:
    """Return judgements by which the entities of the most similar questions are answers.

    Args:
        targets: Question ID to entity.
        vectors: Question ID to vector of length 1; nearness is the cosine, which orders such vectors as
            their distance does. A question is its own nearest.
        k: How many questions; floor(sqrt(N)) of N questions if left out, as in the thesis.

    Raises:
        ConfigError: If a question has no vector or k is below 1.

    Example:
        >>> vectors = {"1": np.array([1, 0]), "2": np.array([0.8, 0.6]), "3": np.array([0, 1]),
        ...     "4": np.array([-1, 0])}
        >>> similar_questions({"1": "a", "2": "b", "3": "c", "4": "d"}, vectors)["1"]
        {'a': 1, 'b': 1}
    """
    names = sorted(targets)
    missing = [name for name in names if name not in vectors]
    if missing:
        raise ConfigError(f"{len(missing)} questions have no vector, such as {missing[0]}.")
    if not names:
        return {}
    near = math.isqrt(len(names)) if k is None else k
    if near < 1:
        raise ConfigError(f"Cannot take {near} similar questions.", hint="k is 1 or more.")
    near = min(near, len(names))
    matrix = np.stack([np.asarray(vectors[name], np.float32) for name in names])
    qrels: dict[str, dict[str, int]] = {}
    for start in range(0, len(names), _CHUNK):
        cosines = matrix[start : start + _CHUNK] @ matrix.T
        for row, scores in enumerate(cosines):
            scores[start + row] = np.inf
            # All ties at the border are looked at, and the ID decides.
            least = np.partition(scores, len(names) - near)[len(names) - near]
            around = np.flatnonzero(scores >= least)
            best = around[np.argsort(-scores[around], kind="stable")][:near]
            qrels[names[start + row]] = {targets[names[i]]: 1 for i in best.tolist()}
    return qrels


def by_graph(
    kg: KnowledgeGraph, wanted: Mapping[str, Demand], shape: EntityShape
) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Return judgements by which the entities that meet what a question states are its answers.

    Args:
        kg: The knowledge graph.
        wanted: Question ID to what it demands.
        shape: How entities and parts hang together.

    Returns:
        The judgements, and the questions that demand nothing or that nothing meets, which have none.
    """
    qrels: dict[str, dict[str, int]] = {}
    known: dict[Demand, list[str]] = {}
    without: list[str] = []
    for question, demand in sorted(wanted.items()):
        if demand and demand not in known:
            known[demand] = satisfying(kg, demand, shape)
        if found := known.get(demand, []):
            qrels[question] = dict.fromkeys(found, 1)
        else:
            without.append(question)
    return qrels, without


class ConditionVocabulary:
    """The words under which a graph knows the values of its entities, to read them in questions.

    A value is known by its label, by the label without what is in brackets, and by each of the parts
    between commas. Of several values with the same words the one that most entities have is meant.

    Args:
        known: What is said of each entity.
        labels: The labels of all values.
        shape: How entities and parts hang together.
    """

    def __init__(
        self,
        known: Mapping[str, EntityFacts],
        labels: Mapping[str, str | None],
        shape: EntityShape | None = None,
    ) -> None:
        self._kind = (shape or EntityShape()).kind
        own: Counter[Condition] = Counter()
        part: Counter[Condition] = Counter()
        for found in known.values():
            own.update(set(found.own))
            part.update({condition for conditions in found.parts.values() for condition in conditions})
        options: defaultdict[tuple[str, ...], list[tuple[int, bool, Condition]]] = defaultdict(list)
        for counted, of_part in ((own, False), (part, True)):
            for condition, times in counted.items():
                for name in _names(labels.get(condition.value) or ""):
                    options[name].append((-times, of_part, condition))
        self._phrases = {name: min(found)[1:] for name, found in options.items()}
        self._longest = max(map(len, self._phrases), default=0)

    @classmethod
    def of(cls, kg: KnowledgeGraph, entities: Sequence[str], shape: EntityShape) -> ConditionVocabulary:
        """Read the vocabulary of some entities of a graph."""
        known = facts(kg, entities, shape)
        values = {
            c.value for f in known.values() for c in (*f.own, *(c for p in f.parts.values() for c in p))
        }
        return cls(known, kg.labels(sorted(values)), shape)

    def stated(self, question: str) -> Demand:
        """Read what a question demands.

        The longest names are read first, from left to right. Where the question names one part, what it
        says of parts is about that one; where it names several, it must hold of some part, whichever.

        Args:
            question: Its words.

        Example:
            >>> red, coat = Condition("urn:colour", "urn:red"), Condition("urn:kind", "urn:coat")
            >>> words = ConditionVocabulary({"urn:a": EntityFacts(parts={"urn:p": [red, coat]})},
            ...     {"urn:red": "red (colour)", "urn:coat": "coat"}, EntityShape("urn:has", "urn:kind"))
            >>> words.stated("Which images show red coats?").parts == ((red, coat),)
            True
        """
        terms = _terms(question)
        own: dict[Condition, None] = {}
        of_parts: dict[Condition, None] = {}
        at = 0
        while at < len(terms):
            for length in range(min(self._longest, len(terms) - at), 0, -1):
                if meant := self._phrases.get(terms[at : at + length]):
                    of_part, condition = meant
                    (of_parts if of_part else own)[condition] = None
                    at += length
                    break
            else:
                at += 1
        kinds = [c for c in of_parts if c.predicate == self._kind]
        parts = [tuple(sorted(of_parts))] if len(kinds) <= 1 else [(c,) for c in sorted(of_parts)]
        return Demand(tuple(sorted(own)), tuple(part for part in parts if part))


def _names(label: str) -> set[tuple[str, ...]]:
    plain = re.sub(r"\([^)]{0,200}\)", " ", label)
    return {terms for name in (label, plain, *plain.split(",")) if (terms := _terms(name))}


def _terms(text: str) -> tuple[str, ...]:
    return tuple(term for token in _ANALYSER.tokens(text) for term in _ANALYSER.terms(token))
