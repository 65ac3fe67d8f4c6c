"""What indexes in segments share: files of segments and of deleted rows, and when segments are joined.

| file | content |
|---|---|
| `NAME-N.seg` | a segment: a run of documents, never changed once written |
| `deleted-N.bits` | which documents of all segments are deleted, one bit each |
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from mrag.storage.arrays import Arrays
from mrag.storage.files import FileEntry
from mrag.storage.folder import Committed, Folder, Kind

Live: TypeAlias = npt.NDArray[np.bool_] | None
"""True for every row that is not deleted; None if none is."""


class _Segment(Protocol):
    def arrays(self) -> Arrays: ...

    def __len__(self) -> int: ...


S = TypeVar("S", bound=_Segment)
Opened = TypeVar("Opened")


class SegmentFolder(Folder, Generic[S, Opened]):
    """Reads and writes the files of an index in segments.

    Args:
        path: The folder. It need not exist.
        kind: What index it holds.
        prefix: What the names of its segments' files begin with.
        segment: Builds a segment of what its `arrays` returned.
    """

    def __init__(self, path: Path, kind: Kind, prefix: str, segment: Callable[[Arrays], S]) -> None:
        super().__init__(path, kind)
        self._prefix = prefix
        self._segment = segment

    def read(self) -> Opened:
        """Read the manifest and open the files that it names.

        Returns:
            The manifest and its segments; where documents are deleted one by one, also True for every row
            that is not (None if none is).

        Raises:
            MissingIndex: If there is no index.
            IndexMismatch: If another version of the package wrote it.
            DamagedIndex: If a file is missing or damaged.
        """
        return self.load(self._read)

    @abstractmethod
    def _read(self, committed: Committed) -> Opened: ...

    def segment(self, name: str, committed: Committed) -> S:
        """Open a segment.

        Raises:
            OSError, KeyError, DamagedIndex: If its file is missing or damaged.
        """
        return self._segment(self.opened(name, committed))

    def live(self, name: str, committed: Committed, rows: int) -> npt.NDArray[np.bool_]:
        """Read which rows are not deleted.

        Raises:
            OSError, KeyError, DamagedIndex: If the file is missing or damaged.
        """
        live: npt.NDArray[np.bool_] = np.unpackbits(self.opened(name, committed)["bits"], count=rows) == 0
        return live

    def write_segment(self, segment: S, generation: int) -> tuple[str, FileEntry]:
        """Write a segment, sync it to disk, and return the name of its file and what is known of it.

        Raises:
            OSError: If the system refuses.
        """
        name = f"{self._prefix}-{generation:08d}.seg"
        return name, self.write(name, segment.arrays())

    def write_deleted(self, live: npt.NDArray[np.bool_], generation: int) -> tuple[str, FileEntry]:
        """Write which rows are deleted, as `write_segment` does.

        Raises:
            OSError: If the system refuses.
        """
        name = f"deleted-{generation:08d}.bits"
        return name, self.write(name, {"bits": np.packbits(~live)})


def first_to_merge(sizes: Sequence[tuple[int, int]], new: int) -> int:
    """Return from which segment on a commit joins everything into one.

    Segments at least double from the last to the first, so a document is rewritten about log2(n)
    times in all and there are about as many segments; one that is half deleted is rewritten too.

    Args:
        sizes: Live rows and all rows of each segment, oldest first.
        new: Number of documents that the commit brings.

    Returns:
        Index of the first segment to join; len(sizes) for none.

    Example:
        >>> first_to_merge([(1000, 1000), (10, 10), (4, 4)], 3), first_to_merge([(40, 100)], 0)
        (1, 0)
    """
    first, total = len(sizes), new
    while first and sizes[first - 1][0] <= 2 * total:
        first -= 1
        total += sizes[first][0]
    thin = (i for i, (live, rows) in enumerate(sizes) if 2 * live < rows)
    return min(first, next(thin, first))
