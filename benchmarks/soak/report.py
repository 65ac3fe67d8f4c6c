"""What a run showed, and which promises it broke."""

from __future__ import annotations

import os
from collections import Counter

from benchmarks.common import percentile
from benchmarks.soak.run import Outcome, Plan

_SHARE = 0.05
_HELD = 75.0
_NAMES = ("server", "children", "descriptors", "processes", "files", "threads")


def show(outcome: Outcome) -> None:
    """Print a run."""
    soak, watch = outcome.soak, outcome.watch
    kinds = sorted({kind for kind, _ in soak.counts})
    print(f"{'requests':<24} {'p50 ms':>9} {'p99 ms':>9} {'longest':>9}  by outcome")
    for kind in kinds:
        found = {status: n for (one, status), n in sorted(soak.counts.items()) if one == kind}
        times = [1000 * took for took in soak.times[kind]] or [0.0]
        said = ", ".join(f"{status}: {n}" for status, n in found.items())
        print(
            f"{kind:<24} {percentile(times, 50):9.0f} {percentile(times, 99):9.0f} {max(times):9.0f}  {said}"
        )
    print("misbehaved:", ", ".join(f"{name} {n}" for name, n in sorted(soak.rounds.items())))
    print("held at most, s:", ", ".join(f"{name} {s:.0f}" for name, s in sorted(soak.held.items())))
    sent, done = sum(t.sent for t in soak.tallies), sum(t.done for t in soak.tallies)
    entries = Counter(inside for t in soak.tallies for inside in t.entries.values())
    print(f"tallies: {sent} updates sent, {done} answered; entries: {dict(entries)}")
    print(f"{'minute':>6} " + " ".join(f"{name:>12}" for name in _NAMES))
    for sample in watch.minutes():
        print(f"{sample.at / 60:6.1f} " + " ".join(f"{getattr(sample, name):12.0f}" for name in _NAMES))
    for name in _NAMES:
        trend = watch.trend(name)
        print(f"{name:<12} grew by {trend.growth:.1f}, {trend.slope:+.2f} a minute, at most {trend.most:.0f}")
    print("load of the machine:", ", ".join(f"{n:.1f}" for n in os.getloadavg()))
    print("left:", outcome.left, f"stopped in {outcome.stopped[0]:.1f} s, exit code {outcome.stopped[1]}")
    for title, found in (("wrong", soak.wrong), ("fault", soak.faults)):
        for what, n in Counter(line[:300] for line in found).most_common(12):
            print(f"{title} ×{n}: {what}")
    if outcome.log.strip():
        print("log:", outcome.log[-2000:])


def broken(outcome: Outcome, plan: Plan) -> list[str]:
    """Return the promises that a run broke."""
    soak, watch = outcome.soak, outcome.watch
    total = sum(soak.counts.values())
    answered = sum(n for (_, status), n in soak.counts.items() if status.startswith("2"))
    share = len(soak.refused) / max(1, total)
    longest = max(soak.refused, default=0.0)
    memory, descriptors = watch.trend("server"), watch.trend("descriptors")
    children, processes = watch.trend("children"), watch.trend("processes")
    held = {name: s for name, s in soak.held.items() if s > _HELD}
    checks = {
        f"{len(soak.wrong)} wrong answers": bool(soak.wrong),
        f"{len(soak.faults)} errors that are no 503 with Retry-After": bool(soak.faults),
        "nothing was answered": answered == 0,
        f"{share:.1%} of the requests were answered 503": share > _SHARE,
        f"a request waited {longest:.1f} s for its 503": longest > plan.timeout + 5,
        f"memory of the server grew by {memory.growth:.0f} MB": memory.growth
        > max(20.0, 0.15 * memory.first),
        f"memory of its processes grew by {children.growth:.0f} MB": children.growth
        > max(40.0, 0.3 * children.first),
        f"its descriptors grew by {descriptors.growth:.0f}": descriptors.growth > 16,
        f"its processes grew by {processes.growth:.0f}": processes.growth > 2,
        f"connections were held too long: {held}": bool(held),
        f"{outcome.left['connections']} connections were left": outcome.left["connections"] > 0,
        f"{outcome.left['files']} temporary files were left": outcome.left["files"] > 2,
        "files were left after the stop": outcome.left["files after the stop"] > 0,
        f"it stopped in {outcome.stopped[0]:.1f} s with {outcome.stopped[1]}": outcome.stopped[0] > 10
        or outcome.stopped[1] != 0,
    }
    return [said for said, wrong in checks.items() if wrong]
