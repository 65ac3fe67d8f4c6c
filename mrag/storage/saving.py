"""Files that are there whole or not at all, whenever a process ends and whatever the disk does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mrag.errors import ConfigError


@contextmanager
def saved(path: str | Path) -> Iterator[BinaryIO]:
    """Write a file, in place of one of that name only once it is whole and on the disk.

    Args:
        path: The file, in a folder that is there.

    Raises:
        ConfigError: If it cannot be written; what was there before is as it was.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with saved(Path(folder) / "a") as stream:
        ...         _ = stream.write(b"whole")
        ...     [(file.name, file.read_bytes()) for file in Path(folder).iterdir()]
        [('a', b'whole')]
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ConfigError(
                f"The file cannot be written: {error.strerror or error}.",
                file=str(path),
                hint="What was there before is as it was. Check the disk and the rights, and run it again.",
            ) from error
        raise


def saved_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, as `saved` does."""
    with saved(path) as stream:
        stream.write(text.encode())
