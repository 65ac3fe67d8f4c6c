"""A knowledge graph as tools of the Model Context Protocol: read only, over standard input and output.

A client (an assistant, an editor) starts `mrag mcp` and gets tools that search, show, ask, explain and
query one knowledge graph. Needs the extra `mcp`.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mrag.errors import ConfigError
from mrag.mcp.settings import McpSettings

if TYPE_CHECKING:
    from mcp.server import Server

    from mrag.graph.kg import KnowledgeGraph

__all__ = ["McpSettings", "create_server", "serve"]


def create_server(kg: KnowledgeGraph, settings: McpSettings | None = None) -> Server[Any]:
    """Return a server of the SDK, to run on a transport of your own.

    Args:
        kg: The knowledge graph; the caller closes it.
        settings: Index, deadline, model and bounds.

    Raises:
        ConfigError: If the SDK is not installed.
    """
    _need_sdk()
    from mrag.mcp.context import ToolContext
    from mrag.mcp.server import build

    return build(ToolContext(kg, settings or McpSettings()))


def serve(kg: KnowledgeGraph, settings: McpSettings | None = None) -> None:
    """Serve a knowledge graph on standard input and output until the client closes them.

    Args:
        kg: The knowledge graph; it is closed on SIGTERM and SIGINT, else the caller closes it.
        settings: Index, deadline, model and bounds.

    Raises:
        ConfigError: If the SDK is not installed.
    """
    _need_sdk()
    from mrag.mcp.server import run

    run(kg, settings or McpSettings())


def _need_sdk() -> None:
    if find_spec("mcp") is None:
        raise ConfigError("The MCP server needs the package mcp.", hint="pip install 'mrag[mcp]'")
