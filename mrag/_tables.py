"""Word lists, tables and templates that are kept as TOML files in this package."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any


def tables(path: str) -> dict[str, Any]:
    """Return what a TOML file of this package holds, by its path in it.

    Example:
        >>> tables("generation/phrases.toml")["fr"]["conjunction"]
        'et'
    """
    return tomllib.loads(files("mrag").joinpath(path).read_text(encoding="utf-8"))
