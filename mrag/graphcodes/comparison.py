"""How codes are compared: which metric, and how its three values become one order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from mrag.errors import ConfigError
from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.metrics import (
    EXCESS,
    CodeScores,
    Lexicographic,
    Weighted,
    paper,
    query_relative,
    structural,
)
from mrag.graphcodes.ontology import Ontology
from mrag.graphcodes.registry import RelationRegistry

Metric: TypeAlias = Literal["structural", "paper", "paper-numbers", "query-relative"]


@dataclass(frozen=True)
class CodeComparison:
    """Settings of a comparison.

    Attributes:
        metric: `structural` (ours), `paper`, `paper-numbers` (the paper's with the printed difference of
            relation numbers) or `query-relative`, see `mrag.graphcodes.metrics`.
        aggregate: How the three values become one order.
        ontology: Subclasses and subproperties, for `structural` alone.
        excess: What only the document has, for `structural` alone.

    Raises:
        ConfigError: If a setting cannot be used.

    Example:
        >>> q = GraphCode.of([], [("dog", "bites", "man")])
        >>> CodeComparison("query-relative").scores(q, GraphCode.of(["dog"]))
        CodeScores(features=0.5, relations=0.0, types=0.0)
    """

    metric: Metric = "structural"
    aggregate: Weighted | Lexicographic = field(default_factory=Weighted)
    ontology: Ontology | None = None
    excess: float = EXCESS

    def __post_init__(self) -> None:
        if self.metric not in get_args(Metric):
            raise ConfigError(f"There is no metric {self.metric!r}.", hint=f"One of {get_args(Metric)}.")
        if self.metric != "structural" and self.ontology is not None:
            raise ConfigError(f"The metric {self.metric!r} takes no ontology.", hint="Use 'structural'.")
        if not 0 <= self.excess < float("inf"):
            raise ConfigError(f"The excess is a number of at least 0, not {self.excess!r}.")

    def scores(self, q: GraphCode, d: GraphCode, registry: RelationRegistry | None = None) -> CodeScores:
        """Compare two codes by the plain formulas.

        Args:
            q: The question's code.
            d: The document's code.
            registry: Numbers of relations, for `paper-numbers`; a new registry by default.
        """
        if self.metric == "paper":
            return paper(q, d)
        if self.metric == "paper-numbers":
            return paper(q, d, RelationRegistry() if registry is None else registry)
        if self.metric == "query-relative":
            return query_relative(q, d)
        return structural(q, d, self.ontology, excess=self.excess)
