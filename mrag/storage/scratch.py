"""Temporary folders that do not outlive their process, however it ends.

Each holds a file that its process keeps locked. The system frees the lock when the process ends, also
when it is killed, so whoever starts next can tell what was left behind from what is in use: process
numbers come again, and mean nothing between containers that share a folder.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from mrag.storage.files import lock as take_lock

_LOCK = "in-use"
_OURS = re.compile(r"\.mrag\.[a-z]+-[a-z0-9_]{8}")
_MAKING = 60.0
"""Seconds after which a folder without a lock is no longer one that is being made."""


class Scratch:
    """A temporary folder for this process alone.

    Args:
        purpose: A word in lower case, which its name tells.
        parent: Folder to make it in; the system's own for temporary files by default.
        prefix: How its name begins, in place of that.

    Example:
        >>> with Scratch("example") as folder:
        ...     folder.is_dir()
        True
        >>> folder.exists()
        False
    """

    def __init__(self, purpose: str, parent: Path | None = None, *, prefix: str | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix or f".mrag.{purpose}-", dir=parent))
        self._held = _hold(self.path / _LOCK, os.O_CREAT)

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *exc: object) -> None:
        self.close()


def collect(parent: Path | None = None, *, prefix: str | None = None) -> int:
    """Remove the temporary folders of processes that have ended.

    Args:
        parent: Where they lie; the system's folder for temporary files by default.
        prefix: How their names begin. Give it only where nobody else makes folders of such names: those
            without a lock, which earlier versions left, go too.

    Returns:
        How many were removed.
    """
    count = 0
    with suppress(OSError), os.scandir(parent or tempfile.gettempdir()) as entries:
        for entry in entries:
            ours = entry.name.startswith(prefix) if prefix else _OURS.fullmatch(entry.name)
            if ours and _is_left(entry, bool(prefix)):
                shutil.rmtree(entry.path, ignore_errors=True)
                count += 1
    return count


def _is_left(entry: os.DirEntry[str], without_lock: bool) -> bool:
    """Return whether a folder belongs to nobody any more."""
    try:
        about = entry.stat(follow_symlinks=False)
        # In a folder for all, names of this form may be anyone's.
        if not entry.is_dir(follow_symlinks=False) or about.st_uid != os.geteuid():
            return False
        lock = Path(entry.path) / _LOCK
        if not lock.exists():
            empty = not any(Path(entry.path).iterdir())
            return without_lock or (empty and time.time() - about.st_mtime > _MAKING)
        held = _hold(lock)
    except (OSError, AttributeError):
        return False
    if held is None:
        return False
    os.close(held)
    return True


def _hold(lock: Path, create: int = 0) -> int | None:
    """Lock a file, and return its descriptor; None where another process has it, or files have no locks."""
    if sys.platform == "win32":
        return None
    held = os.open(lock, os.O_RDWR | create, 0o600)
    try:
        take_lock(held)
    except OSError:
        os.close(held)
        return None
    return held
