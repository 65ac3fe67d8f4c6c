"""A runner on the machines of a Ray cluster (extra `ray`)."""

from __future__ import annotations

import pickle
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mrag.errors import ConfigError
from mrag.jobs.base import TaskOutcome, Work
from mrag.redaction import brief

_WORKS: dict[str, Work] = {}
"""The latest work that a process of the cluster has been given, with the models that it has opened."""


class RayRunner:
    """Runs tasks on a Ray cluster; what a lost machine was doing is done again elsewhere.

    `mrag` is to be installed on its machines. Work and tasks are sent pickled: models are best named, or
    given as a function that makes one, since connections do not travel.

    Args:
        workers: How many tasks at once; as many as the cluster has processors by default.
        address: Address of the cluster; None starts one on this machine, unless one is running.
        cores: Processors that a task is counted as; 0 for work that waits.

    Raises:
        ConfigError: If Ray is not installed.
    """

    shares_files = False

    def __init__(self, workers: int | None = None, address: str | None = None, *, cores: int = 1) -> None:
        if find_spec("ray") is None:
            raise ConfigError("Ray is not installed.", hint="Install it with: pip install 'mrag[ray]'")
        if workers is not None and workers < 1:
            raise ConfigError("There must be one worker or more.")
        self.capacity = workers or 1
        self.address = address
        self.cores = max(1, cores)
        self._wanted, self._counted = workers, cores
        self._ray: Any = import_module("ray")
        self._busy: dict[Any, Any] = {}
        self._ours = False

    def start(self, work: Work) -> None:
        """Send the work to the cluster once."""
        ray = self._ray
        if not ray.is_initialized():
            options: dict[str, Any] = {"include_dashboard": False} if self.address is None else {}
            try:
                ray.init(address=self.address, log_to_driver=False, logging_level="error", **options)
            except ConnectionError as error:
                raise ConfigError(f"The Ray cluster {self.address} cannot be reached.") from error
            self._ours = True
        self.capacity = self._wanted or max(1, int(ray.cluster_resources().get("CPU", 1)))
        try:
            self._work = ray.put(pickle.dumps(work))
        except Exception as error:  # pickling raises whatever an object's own methods do
            raise ConfigError(f"The work cannot be sent to other machines: {error}.") from error
        # Lost tasks are submitted again by who counts their attempts.
        self._remote = ray.remote(num_cpus=self._counted, max_retries=0, scheduling_strategy="SPREAD")(_done)

    def submit(self, task: Any) -> None:
        """Send a task to the cluster."""
        self._busy[self._remote.remote(self._work.hex(), self._work, task)] = task

    def next(self, timeout: float) -> TaskOutcome | None:
        """Return an outcome; a worker that is lost gives one without value."""
        if not self._busy:
            time.sleep(timeout)
            return None
        done, _ = self._ray.wait(list(self._busy), num_returns=1, timeout=timeout)
        if not done:
            return None
        task = self._busy.pop(done[0])
        try:
            return TaskOutcome(task, self._ray.get(done[0]))
        except self._ray.exceptions.RayTaskError as error:
            raise error.as_instanceof_cause() from error
        except self._ray.exceptions.RayError as error:
            return TaskOutcome(task, lost=brief(f"A worker was lost: {error}", 300))

    def close(self) -> None:
        """Give up the tasks, and end the cluster if it was started here."""
        for reference in self._busy:
            self._ray.cancel(reference, force=True)
        self._busy = {}
        self._work = None
        if self._ours:
            self._ray.shutdown()
            self._ours = False


def _done(name: str, work: bytes, task: Any) -> Any:
    """Do a task in a process of the cluster."""
    if name not in _WORKS:
        _WORKS.clear()
        _WORKS[name] = pickle.loads(work)  # noqa: S301 # who started the job wrote it
    return _WORKS[name](task)
