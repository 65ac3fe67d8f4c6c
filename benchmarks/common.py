"""What the benchmarks share: percentiles, memory, and where the data is."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

# What is measured, and the tests that lend a hand, are those that lie beside this folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def percentile(values: list[float], p: float) -> float:
    """Return a percentile by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * p / 100))]


def timed(work: Callable[[], object]) -> float:
    """Return the wall-clock milliseconds of a call."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def row(name: str, values: list[float], unit: str = "ms") -> str:
    """Return a line with median, tail and number of a list of measurements."""
    return (
        f"{name:<44} p50 {percentile(values, 50):9.2f}  p95 {percentile(values, 95):9.2f}"
        f"  p99 {percentile(values, 99):9.2f} {unit}  n={len(values)}"
    )


def peak_memory() -> float:
    """Return the largest resident memory so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def processor() -> float:
    """Return the seconds of processor that this process and its children that have ended have taken."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in found)


def processor_time() -> float:
    """Return the same with children that have not ended, on Linux."""
    ticks = 0.0
    for children in Path("/proc/self/task").glob("*/children"):
        try:
            found = children.read_text().split()
        except OSError:
            continue  # a thread that has just ended
        for child in found:
            try:
                fields = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue  # it has just ended
            ticks += int(fields[11]) + int(fields[12])
    return processor() + ticks / os.sysconf("SC_CLK_TCK")


def shared_data(part: str) -> Path:
    """Return a part of the shared data, or end the program saying where it should be."""
    root = Path(os.environ.get("MRAG_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not (root / part).exists():
        sys.exit(f"needs {part}: set MRAG_SHARED_DATA to the folder of the shared data")
    return root / part
