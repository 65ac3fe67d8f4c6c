"""Data that other libraries have written: for its owner alone, whatever the umask says.

What lies in a graph, an index or a cache is often not for everyone on the machine. Folders that are
there already keep their rights, because somebody may have widened them on purpose; `mrag doctor` names
them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_FILE = 0o600
_OTHERS = 0o077


def narrow(folder: Path, left: Iterable[str] = ()) -> None:
    """Take the rights of others from the files of a folder that another library has made.

    Args:
        folder: The folder; what lies deeper is left.
        left: Names of files that are left as they are.
    """
    kept = frozenset(left)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in kept or not entry.is_file(follow_symlinks=False):
                continue
            # A file may go while one looks, or belong to somebody else.
            with suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mode & _OTHERS:
                    Path(entry).chmod(_FILE)


def is_private(path: Path) -> bool:
    """Return whether only its owner can use a file or folder; True where the system has no such rights."""
    return os.name == "nt" or not stat.S_IMODE(path.stat().st_mode) & _OTHERS
