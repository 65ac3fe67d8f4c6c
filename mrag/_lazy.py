"""Names of a package that are imported when they are first used, so that importing the package is quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package.

    Args:
        package: Its name.
        homes: The public names of each module, separated by spaces; modules are relative to the package.

    Example:
        >>> get, names = lazy("mrag", {"errors": "MragError StoreError"})
        >>> get("MragError").__module__, names()
        ('mrag.errors', ['MragError', 'StoreError'])
    """
    modules = {name: f"{package}.{home}" for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    return get, lambda: sorted(modules)
