"""Settings from the environment, read when they are needed and never at import."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from mrag.errors import ModelError

_OLLAMA = "http://127.0.0.1:11434"
# Nothing listens on these here.
_LOOPBACK = frozenset(["localhost", "127.0.0.1", "::1", "0.0.0.0", "::"])  # noqa: S104

DEFAULT_STORE = "mrag.db"
"""Folder, in the working directory, of the store that commands use when none is named."""


@dataclass(frozen=True)
class Settings:
    """What the environment says.

    Attributes:
        store: URL of the triple store (`MRAG_STORE`), None for the demo graph.
        kg: Name of the knowledge graph in it (`MRAG_KG`).
        model: Name of the language model (`MRAG_MODEL`), None to look for one.
        embedder: Name of the embedding model (`MRAG_EMBEDDER`).
        analyser: How the words of a similarity index are stemmed (`MRAG_ANALYSER`), see
            `mrag.language.analysis`.
        index: URL of an engine that keeps the similarity indexes (`MRAG_INDEX`) of which nothing else is
            written down; those of a graph are beside it by default.
        planner: How a language model helps to compute answers (`MRAG_PLANNER`), as for `mrag.ask`.
    """

    store: str | None = field(repr=False)  # it may hold a login
    kg: str
    model: str | None
    embedder: str
    planner: str = "parser"
    analyser: str = "auto"
    index: str | None = None

    @classmethod
    def from_env(cls, store: str | None = None, kg: str | None = None, model: str | None = None) -> Settings:
        """Read the environment; arguments that are given win over it.

        Without `MRAG_STORE` the folder `mrag.db` of the working directory is the store, if it is there.

        Example:
            >>> Settings.from_env(store="oxigraph:", kg="main").store
            'oxigraph:'
        """
        default = f"oxigraph:{DEFAULT_STORE}" if Path(DEFAULT_STORE).is_dir() else None
        return cls(
            store or os.environ.get("MRAG_STORE") or default,
            kg or os.environ.get("MRAG_KG") or "main",
            model or os.environ.get("MRAG_MODEL"),
            os.environ.get("MRAG_EMBEDDER") or "minilm",
            os.environ.get("MRAG_PLANNER") or "parser",
            os.environ.get("MRAG_ANALYSER") or "auto",
            os.environ.get("MRAG_INDEX"),
        )


def ollama_host() -> str:
    """Return the address of the Ollama server, from OLLAMA_HOST or by default on this machine.

    Example:
        >>> from unittest.mock import patch
        >>> with patch.dict(os.environ, OLLAMA_HOST="0.0.0.0:9999"):
        ...     ollama_host()
        'http://127.0.0.1:9999'
    """
    text = os.environ.get("OLLAMA_HOST", "").strip(" \t\r\n\"'").rstrip("/")
    if not text:
        return _OLLAMA
    scheme, divider, rest = text.rpartition("://")
    scheme = scheme.lower() or "http"
    if rest.count(":") > 1 and not rest.startswith("["):
        rest = f"[{rest}]"  # a bare address of IPv6, as the server takes it, too
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        port = parts.port or ({"http": 80, "https": 443}[scheme] if divider else 11434)
    except (KeyError, ValueError) as error:
        raise ModelError(f"OLLAMA_HOST is no address: {text!r}.", hint="Write HOST:PORT.") from error
    host = parts.hostname or "127.0.0.1"
    # An address to listen on, which people set for the server, is none to call.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{parts.path}"


def is_loopback(url: str) -> bool:
    """Return whether a URL stays on this machine.

    Example:
        >>> is_loopback("http://127.0.0.1:11434"), is_loopback("https://ollama.com")
        (True, False)
    """
    host = urlsplit(url).hostname or ""
    return host in _LOOPBACK or host.startswith("127.")
