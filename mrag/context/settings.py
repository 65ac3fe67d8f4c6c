"""The knobs of an expansion."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.context.neighbourhood import Direction
from mrag.errors import ConfigError


@dataclass(frozen=True)
class ContextSettings:
    """Every knob of an expansion.

    Attributes:
        hops: How far from a hit, 1 or 2.
        asked_hop: Whether a context of one hop takes a second one by the properties that the question names.
        asked_fanout: Most neighbours of each hit that such a hop starts from.
        directions: `out` for triples with the entity as subject, `in` as object.
        allowed: IRIs of the only predicates to follow; all when empty.
        denied: IRIs of predicates never to follow.
        schema: Whether axioms about the classes and predicates in reach are added.
        per_predicate: Most triples of one predicate and direction for each entity.
        scan: Edges of an entity up to which it is read whole; a hub above it is read by predicate.
        fanout: Most neighbours of each hit that a second hop starts from.
        hub_damping: Whether frequent predicates and implied triples weigh less.
        max_triples: Most lines.
        token_budget: Most estimated tokens.
        text_length: Characters of a literal after which it is cut.
    """

    hops: int = 1
    asked_hop: bool = True
    asked_fanout: int = 16
    directions: tuple[Direction, ...] = ("out", "in")
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    schema: bool = True
    per_predicate: int = 8
    scan: int = 48
    fanout: int = 5
    hub_damping: bool = True
    max_triples: int = 160
    token_budget: int = 4000
    text_length: int = 400

    def __post_init__(self) -> None:
        if self.hops not in (1, 2):
            raise ConfigError(f"hops is 1 or 2, not {self.hops}.")
        for name in ("per_predicate", "scan", "max_triples", "token_budget", "text_length"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is at least 1, not {getattr(self, name)}.")
