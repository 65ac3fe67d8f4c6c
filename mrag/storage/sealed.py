"""One file that is there whole or not at all, and that tells when it is not as it was written."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mrag.storage.saving import saved


def save_arrays(path: Path, what: str, arrays: Mapping[str, npt.ArrayLike]) -> None:
    """Write arrays to a file: a line that says what it is, with a checksum, then an archive of numpy.

    Args:
        path: The file; one that is there is replaced in one step.
        what: What the file is, such as `policy 1`.
        arrays: Arrays by name.

    Raises:
        ConfigError: If it cannot be written; what was there before is as it was.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_arrays(Path(folder) / "a", "numbers 1", {"a": np.arange(3)})
        ...     load_arrays(Path(folder) / "a", "numbers 1")["a"].tolist()
        [0, 1, 2]
    """
    archive = io.BytesIO()
    named: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    np.savez_compressed(archive, **named)
    data = archive.getvalue()
    with saved(path) as stream:
        stream.write(_head(what, data) + data)


def load_arrays(path: Path, what: str) -> dict[str, npt.NDArray[Any]]:
    """Read what `save_arrays` wrote; nothing in the file is run.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is something else, or not as it was written.
    """
    whole = path.read_bytes()
    data = whole[whole.find(b"\n") + 1 :]
    if not whole.startswith(f"mrag {what} ".encode()):
        raise ValueError(f"it does not begin with `mrag {what}`")
    if not whole.startswith(_head(what, data)):
        raise ValueError("its checksum is another: it is damaged")
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _head(what: str, data: bytes) -> bytes:
    return f"mrag {what} {zlib.crc32(data):08x}\n".encode()
