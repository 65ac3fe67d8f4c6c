"""Work that children can import."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from mrag.errors import ModelError
from mrag.evaluation.benchmark import index_system
from mrag.evaluation.metrics import Scored
from mrag.index.document_index import DocumentIndex


def square(number: int) -> int:
    if number < 0:
        raise ModelError(f"{number} is negative.", hint="Give another.")
    return number * number


@dataclass(frozen=True)
class Slowly:
    """Squares, and leaves a file for each time that it begins."""

    folder: str
    seconds: float = 0.0

    def __call__(self, number: int) -> int:
        (Path(self.folder) / f"{number}.{os.getpid()}.{time.monotonic_ns()}").touch()
        time.sleep(self.seconds)
        return square(number)


@dataclass(frozen=True)
class Deadly:
    """Ends its process for one number: the first time only, if a file tells of it."""

    number: int
    told: str = ""

    def __call__(self, number: int) -> int:
        if number == self.number and not (self.told and Path(self.told).exists()):
            if self.told:
                Path(self.told).touch()
            os._exit(1)
        return square(number)


@dataclass(frozen=True)
class Searches:
    """Searches an index in a folder, and writes down what for."""

    folder: str

    def __call__(self, text: str, k: int) -> list[Scored]:
        with Path(self.folder).with_suffix(".log").open("a") as log:
            log.write(f"{text}\n")
        index = DocumentIndex.open(Path(self.folder), embedder=None)
        return [Scored(hit.doc, hit.score) for hit in index_system(index, "bm25").search(text, k)]
