"""Files that other files name: they lie in the folder of these, unless a load is told otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from mrag.errors import LoadError

OUTSIDE: Final = "MRAG_LOAD_OUTSIDE"
"""The variable of the environment that lets a load read what lies elsewhere, if it is `1`."""


def leads_out(path: Path, folder: Path) -> bool:
    """Return whether a path leads out of a folder, by its parts or by a link, and may not.

    Example:
        >>> leads_out(Path("shop/tables/a.csv"), Path("shop")), leads_out(Path("shop/../a.csv"), Path("shop"))
        (False, True)
    """
    if os.environ.get(OUTSIDE) == "1":
        return False
    try:
        return not path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        return True


def inside(path: Path, folder: Path, named_by: Path) -> Path:
    """Return a path that a file names, which must not lead out of a folder.

    Args:
        path: The path.
        folder: The folder of the load.
        named_by: The file that names it, for the error.

    Raises:
        LoadError: If it leads out.
    """
    if leads_out(path, folder):
        raise LoadError(
            f"It names a file outside of its folder: {str(path)[:200]!r}.",
            file=str(named_by),
            hint=f"Put the file into that folder, or set {OUTSIDE}=1 to read it where it is.",
        )
    return path
