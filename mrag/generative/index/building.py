"""Segments of a clue index, built by a runner; the index is the same with each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from mrag.generative.index.intake import Batches, Intake
from mrag.generative.index.segments import ClueSegment, sorted_texts
from mrag.jobs.runners import Runner, carried
from mrag.storage.arrays import Arrays

__all__ = ["built"]


def built(
    stream: Intake, earlier: Sequence[ClueSegment], max_tokens: int, runner: Runner
) -> Iterator[ClueSegment]:
    """Yield the segments of new documents, in order.

    The runner sorts suffixes, which takes nearly all the time; which documents are equal is told here.

    Args:
        stream: The documents.
        earlier: Segments of the index as it is.
        max_tokens: Most tokens of a segment.
        runner: What builds them.
    """
    batches = Batches(stream, earlier, max_tokens)
    waiting: dict[int, Arrays] = {}
    places: dict[int, npt.NDArray[np.int64]] = {}
    for number, (arrays, moved) in carried(runner, sorted_texts, batches):
        waiting[number], places[number] = arrays, moved
        while (following := len(places) - len(waiting)) in waiting:
            names = batches.names[following]
            own = (
                (batches.names[batch].base + int(places[batch][at]), doc_id)
                for batch, at, doc_id in names.own
            )
            yield ClueSegment.named(waiting.pop(following), [*own, *names.earlier])
