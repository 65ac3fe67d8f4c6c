"""Work that children can import."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from mrag.errors import ModelError


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
