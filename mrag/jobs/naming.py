"""Runners by name."""

from __future__ import annotations

from mrag.errors import ConfigError
from mrag.jobs.base import Runner
from mrag.jobs.threads import InlineRunner, ThreadRunner


def runner(name: str, workers: int | None = None, *, waits: bool = False) -> Runner:
    """Return the runner of a name.

    Args:
        name: `inline`, `threads`, `processes`, `ray:ADDRESS`, or `ray` for a cluster on this machine.
        workers: How many tasks at once; by default 2 threads, or a process for each processor.
        waits: Whether the work waits for others rather than computes, and takes no processor of a cluster.

    Raises:
        ConfigError: If there is no such runner, or Ray is not installed.

    Example:
        >>> runner("threads", 4).capacity
        4
        >>> runner("thread")
        Traceback (most recent call last):
        mrag.errors.ConfigError: There is no runner 'thread'. Use inline, threads, ...
    """
    kind, _, address = name.partition(":")
    if kind == "ray":
        from mrag.jobs.cluster import RayRunner

        return RayRunner(workers, address or None, cores=0 if waits else 1)
    if name == "inline":
        return InlineRunner()
    if name == "threads":
        return ThreadRunner(2 if workers is None else workers)
    if name == "processes":
        from mrag.jobs.processes import ProcessRunner

        return ProcessRunner(workers)
    raise ConfigError(
        f"There is no runner {name!r}.", hint="Use inline, threads, processes, ray or ray:ADDRESS."
    )
