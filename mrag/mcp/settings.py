"""The knobs of the MCP server."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.errors import ConfigError


@dataclass(frozen=True)
class McpSettings:
    """How much a call may use, and what it uses.

    Attributes:
        index: Name of the similarity index.
        ranker: What ranks entities, by a name of `mrag.known_rankers()`.
        seconds: Deadline of a call.
        model: Language model of `ask`, as `mrag.generation.models.resolve` names them.
        calls: Calls that run at once; further ones wait, and their waiting counts.
        rows: Maximum number of rows that a query may have; most of them are counted, not shown.
        characters: Maximum number of characters of a result's text, and ten times as many of its JSON.

    Raises:
        ConfigError: If a number is not positive.
    """

    index: str = "main"
    ranker: str = "hybrid"
    seconds: float = 30.0
    model: str | None = None
    calls: int = 4
    rows: int = 10_000
    characters: int = 20_000

    def __post_init__(self) -> None:
        for name in ("seconds", "calls", "rows", "characters"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} is more than 0, not {getattr(self, name)}.")
