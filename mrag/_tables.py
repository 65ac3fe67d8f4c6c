"""Word lists, tables and templates that are kept as files in this package."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from mrag._patterns import compile_late


def tables(path: str) -> dict[str, Any]:
    """Return what a TOML file of this package holds, by its path in it.

    Example:
        >>> tables("generation/phrases.toml")["fr"]["conjunction"]
        'et'
    """
    return tomllib.loads(files("mrag").joinpath(path).read_text(encoding="utf-8"))


def rows(path: str) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a file of values with tabs between them, without its comments.

    Example:
        >>> next(rows("language/places.tsv"))
        ('Afghanistan', 'AF', 'AFG', 'Afghan,Afghani')
    """
    for line in files("mrag").joinpath(path).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield tuple(line.split("\t"))


def patterns(path: str) -> dict[str, re.Pattern[str]]:
    """Return the regular expressions of a TOML file, by their names.

    A list is of alternatives, `{{name}}` stands for another one, and a new line for nothing.

    Example:
        >>> patterns("generation/patterns.toml")["inferred"].search("a (all inferred)")[0]
        ' (all inferred)'
    """
    every = {
        name: re.sub(r"\n\s*", "", given if isinstance(given, str) else "|".join(given))
        for name, given in tables(path).items()
    }

    def whole(text: str) -> str:
        return re.sub(r"\{\{([a-z_]+)\}\}", lambda place: whole(every[place[1]]), text)

    return {name: compile_late(whole(text)) for name, text in every.items()}
