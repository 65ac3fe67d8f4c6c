"""Relation paths: which steps a graph allows one after another, as a table that can be scored at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rdflib import URIRef

from mrag.completion.plan.names import ALTERNATIVE
from mrag.completion.plan.relations import NamedRelation, Relations
from mrag.errors import ConfigError
from mrag.generation.verbalise import DESCRIBING
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import LABELS
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDF, RDFS
from mrag.text.tokens import content

NO_STEPS = frozenset([*LABELS, *ALTERNATIVE, *DESCRIBING])
"""Predicates that name or describe, and lead nowhere."""


class Step(NamedTuple):
    """One relation followed: forward from subject to object, else from object to subject."""

    predicate: URIRef
    forward: bool

    def __str__(self) -> str:
        return f"{'' if self.forward else '^'}{self.predicate}"


_TO_CLASS = Step(URIRef(RDF + "type"), True)
_FROM_CLASS = Step(URIRef(RDF + "type"), False)
"""Nothing is said of a thing by what others of its class are or do: such steps end and begin paths only."""

RelationPath = tuple[Step, ...]
Part = tuple[str, ...]
"""A feature of a path, such as its last step; the names that weights are learnt for."""


@dataclass(frozen=True)
class PathSettings:
    """Which paths a table has.

    Attributes:
        hops: Most steps of a path.
        sample: Entities at each end of a relation that are looked at to see which steps may follow.
        min_share: Least share of these that a step must follow from; below it is taken for noise.
        max_paths: Most paths of one length; those over rare relations give way.

    Raises:
        ConfigError: If one of the numbers is below 1, or `min_share` not from 0 to 1.
    """

    hops: int = 3
    sample: int = 50
    min_share: float = 0.02
    max_paths: int = 4096

    def __post_init__(self) -> None:
        for name in ("hops", "sample", "max_paths"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is at least 1, not {getattr(self, name)}.")
        if not 0 <= self.min_share <= 1:
            raise ConfigError(f"min_share is from 0 to 1, not {self.min_share}.")


class PathTable:
    """The paths of a graph's relations.

    Args:
        steps: Every step, in order.
        following: The steps that may follow each step.
        relations: Relation of each step, for its words.
        settings: Bounds.
        counts: Triples of each step's relation.

    Attributes:
        paths: The paths, shorter first, as numbers of steps; shape (paths, hops), -1 beyond the end.
        lengths: Steps of each path.
        numbers: Number of each path.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        following: Mapping[int, Sequence[int]],
        relations: Sequence[NamedRelation],
        settings: PathSettings,
        counts: Sequence[int],
    ) -> None:
        self.steps = tuple(steps)
        self.relations = tuple(relations)
        self.number = {step: at for at, step in enumerate(self.steps)}
        self.stems = [frozenset(s for name in r.names for s in content(name)) for r in self.relations]
        level: list[tuple[int, ...]] = [(at,) for at in range(len(self.steps))]
        rows = list(level)
        for _ in range(1, settings.hops):
            level = [(*path, after) for path in level for after in following.get(path[-1], ())]
            if len(level) > settings.max_paths:
                level.sort(key=lambda path: (-min(counts[at] for at in path), path))
                level = sorted(level[: settings.max_paths])
            rows += level
        self.lengths = np.array([len(row) for row in rows], np.int64)
        self.paths = np.full((len(rows), settings.hops), -1, np.int64)
        for at, row in enumerate(rows):
            self.paths[at, : len(row)] = row
        self.numbers = {self.path(at): at for at in range(len(self.paths))}
        self._parts: list[tuple[Part, ...]] | None = None

    @classmethod
    def of(cls, kg: KnowledgeGraph, settings: PathSettings | None = None) -> PathTable:
        """Return the table of a knowledge graph, made once for each state of it and settings."""
        chosen = settings or PathSettings()
        return kg.cached(f"completion paths {chosen}", lambda: _build(kg, chosen))

    def path(self, at: int) -> RelationPath:
        """Return a path."""
        return tuple(self.steps[step] for step in self.paths[at, : self.lengths[at]])

    def parts(self) -> list[tuple[Part, ...]]:
        """Return the features of every path that weights are learnt for."""
        if self._parts is None:
            self._parts = [parts_of(self.path(at)) for at in range(len(self.paths))]
        return self._parts

    def covering(self, stems: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return for each step which of a question's words it has, as bits.

        Args:
            stems: The words of the question that carry meaning; those after the 63rd are left out.
        """
        bits = np.zeros(len(self.steps), np.int64)
        for at, own in enumerate(self.stems):
            for bit, word in enumerate(stems[:63]):
                if word in own:
                    bits[at] |= 1 << bit
        return bits


def parts_of(path: RelationPath) -> tuple[Part, ...]:
    """Return the features of a path: its length, its steps by place, and its steps two by two.

    Example:
        >>> [" ".join(part) for part in parts_of((Step(URIRef("urn:p"), True), Step(URIRef("urn:q"), False)))]
        ['length 2', 'first urn:p', 'last ^urn:q', 'any urn:p', 'any ^urn:q', 'pair urn:p ^urn:q']
    """
    names = [str(step) for step in path]
    parts: dict[Part, None] = {
        ("length", str(len(path))): None,
        ("first", names[0]): None,
        ("last", names[-1]): None,
    }
    parts.update({("any", name): None for name in names})
    parts.update({("pair", a, b): None for a, b in pairwise(names)})
    return tuple(parts)


def steps_from(kg: KnowledgeGraph, entities: Iterable[str], steps: Mapping[Step, int]) -> dict[str, set[int]]:
    """Return the steps that lead away from each entity, by number.

    Args:
        kg: The knowledge graph.
        entities: IRIs.
        steps: Number of each step.
    """
    wanted = list(dict.fromkeys(map(str, entities)))
    found: dict[str, set[int]] = {entity: set() for entity in wanted}
    for name, forward in (("completion/leaving", True), ("completion/arriving", False)):
        for text in queries.get(name).batches("entity", wanted):
            for entity, p in kg.select(text):
                at = steps.get(Step(URIRef(str(p)), forward))
                if at is not None:
                    found[str(entity)].add(at)
    return found


def _build(kg: KnowledgeGraph, settings: PathSettings) -> PathTable:
    counts = kg.profile().predicates
    relations = [r for r in Relations.of(kg).all if _is_step(str(r.iri))]
    steps = [Step(r.iri, forward) for r in relations for forward in (True, False)]
    number = {step: at for at, step in enumerate(steps)}
    following: dict[int, list[int]] = {}
    for at, step in enumerate(steps if settings.hops > 1 else ()):
        query = queries.get("completion/ends" if step.forward else "completion/starts")
        ends = kg.select(query.bind(p=[step.predicate], limit=settings.sample)).column("end")
        seen = steps_from(kg, (str(end) for end in ends), number)
        followed = np.bincount([n for after in seen.values() for n in after], minlength=len(steps))
        may = np.flatnonzero(followed >= max(1, settings.min_share * len(seen))).tolist()
        following[at] = [] if step == _TO_CLASS else [n for n in may if steps[n] != _FROM_CLASS]
    owners = [relation for relation in relations for _ in (True, False)]
    return PathTable(steps, following, owners, settings, [counts[str(s.predicate)] for s in steps])


def _is_step(iri: str) -> bool:
    schema = iri.startswith((OWL, RDFS)) or (iri.startswith(RDF) and iri != RDF + "type")
    return iri not in NO_STEPS and not schema
