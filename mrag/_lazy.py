"""Names of a package that are imported when they are first used, so that importing the package is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def lazy(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package: it has the names it imports under `if TYPE_CHECKING`.

    The source of the package is read when such a name is first used. Modules of its own that it imports there
    are had as `package.module`, and are not listed.

    Args:
        package: Its name.

    Example:
        >>> import mrag
        >>> mrag.__getattr__("MragError").__module__, "KnowledgeGraph" in dir(mrag)
        ('mrag.errors', True)
    """

    @cache
    def modules() -> dict[str, str]:
        import ast
        import linecache

        # Read as tracebacks read it: also from an archive.
        module = sys.modules[package]
        source = "".join(linecache.getlines(str(module.__file__), vars(module)))
        return {
            alias.name: str(node.module)
            for block in ast.parse(source).body
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for node in block.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def get(name: str) -> Any:
        if name not in modules():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        place = modules()[name]
        return import_module(f"{package}.{name}") if place == package else getattr(import_module(place), name)

    return get, lambda: sorted(name for name, place in modules().items() if place != package)
