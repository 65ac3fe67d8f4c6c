"""What a server takes of the machine while it works: memory, descriptors, processes and files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import linear_regression, median

import psutil


@dataclass(frozen=True)
class Sample:
    """What a server takes at one moment.

    Attributes:
        at: Seconds since the beginning.
        server: Megabytes of the server itself.
        children: Megabytes of its processes, shared pages counted once to each.
        descriptors: Open descriptors of the server.
        processes: Its child processes.
        files: Files in the temporary folder, and snapshots beside the store.
        threads: Its threads.
    """

    at: float
    server: float
    children: float
    descriptors: int
    processes: int
    files: int
    threads: int


@dataclass
class Watch:
    """Takes a sample every second.

    Attributes:
        process: The server.
        folder: Where the store lies and temporary files are made.
        samples: The samples.
    """

    process: psutil.Process
    folder: Path
    samples: list[Sample] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def sample(self) -> Sample:
        """Take one sample."""
        children, held = 0.0, 0
        for child in self.process.children(recursive=True):
            try:
                children += child.memory_info().rss / 1e6
                held += 1
            except psutil.NoSuchProcess:
                continue
        files = [*self.folder.glob(".*snapshot-*"), *(self.folder / "tmp").iterdir()]
        return Sample(
            time.monotonic() - self.began,
            self.process.memory_info().rss / 1e6,
            children,
            self.process.num_fds(),
            held,
            len(files),
            self.process.num_threads(),
        )

    async def run(self) -> None:
        """Take samples until cancelled."""
        while True:
            self.samples.append(await asyncio.to_thread(self.sample))
            await asyncio.sleep(1.0)

    def trend(self, name: str) -> Trend:
        """Return how one of the numbers went, the first quarter of the time left out."""
        span = self.samples[-1].at
        late = [s for s in self.samples if s.at >= span / 4] or self.samples
        times, values = [s.at / 60 for s in late], [float(getattr(s, name)) for s in late]
        slope = linear_regression(times, values).slope if len({*times}) > 1 else 0.0
        third = max(1, len(values) // 3)
        return Trend(
            values[0], values[-1], max(values), slope, median(values[-third:]) - median(values[:third])
        )

    def minutes(self) -> Sequence[Sample]:
        """Return a sample of each minute, the first and the last one too."""
        found, last = self.samples[:1], 0
        for sample in self.samples:
            if int(sample.at // 60) > last:
                last = int(sample.at // 60)
                found.append(sample)
        return [*found, self.samples[-1]]


@dataclass(frozen=True)
class Trend:
    """How a number went.

    Attributes:
        first: Its first value.
        last: Its last value.
        most: Its largest.
        slope: By how much it grew in a minute, by least squares.
        growth: By how much the median of the last third is above that of the first one.
    """

    first: float
    last: float
    most: float
    slope: float
    growth: float
