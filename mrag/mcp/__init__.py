"""A knowledge graph as tools of the Model Context Protocol: read only, over standard input and output.

A client (an assistant, an editor) starts `mrag mcp` and gets tools that search, show, ask, explain and
query one knowledge graph. Needs the extra `mcp`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mrag.errors import ConfigError

if TYPE_CHECKING:
    from mcp.server import Server

    from mrag.graph.kg import KnowledgeGraph

__all__ = ["McpSettings", "create_server", "serve"]


@dataclass(frozen=True)
class McpSettings:
    """How much a call may use, and what it uses."""

    index: str = "main"  # name of the similarity index
    ranker: str = "hybrid"  # what ranks entities, by a name of `mrag.known_rankers()`
    seconds: float = 30.0  # deadline of a call
    model: str | None = None  # language model of `ask`, as `mrag.generation.models` names them
    calls: int = 4  # calls that run at once; further ones wait, and their waiting counts
    rows: int = 10_000  # maximum number of rows that a query may have; most are counted, not shown
    characters: int = 20_000  # maximum number of characters of a result; ten times as many of its JSON

    def __post_init__(self) -> None:
        for name in ("seconds", "calls", "rows", "characters"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} is more than 0, not {getattr(self, name)}.")


def create_server(kg: KnowledgeGraph, settings: McpSettings | None = None) -> Server[Any]:
    """Return a server of the SDK, to run on a transport of your own; the caller closes the graph.

    Raises:
        ConfigError: If the SDK is not installed.
    """
    _need_sdk()
    from mrag.mcp.server import build
    from mrag.mcp.tools import ToolContext

    return build(ToolContext(kg, settings or McpSettings()))


def serve(kg: KnowledgeGraph, settings: McpSettings | None = None) -> None:
    """Serve a knowledge graph on standard input and output until the client closes them.

    The graph is closed on SIGTERM and SIGINT, else by the caller.

    Raises:
        ConfigError: If the SDK is not installed.
    """
    _need_sdk()
    from mrag.mcp.server import run

    run(kg, settings or McpSettings())


def _need_sdk() -> None:
    if find_spec("mcp") is None:
        raise ConfigError("The MCP server needs the package mcp.", hint="pip install 'mrag[mcp]'")
