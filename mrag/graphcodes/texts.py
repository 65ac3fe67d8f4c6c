"""Graph codes of many texts, extracted by a runner."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.extract.text import TextExtractor
from mrag.graphcodes.interchange import from_json, to_json
from mrag.graphcodes.registry import RelationRegistry
from mrag.jobs.runners import InlineRunner, Runner, resumed

_BATCH = 128
"""Texts of one task: few are parsed slowly, and of many much is lost with a worker."""

_extractor = lru_cache(maxsize=1)(TextExtractor)


@dataclass(frozen=True)
class ExtractionWork:
    """Extracts the codes of a batch of texts, as JSON.

    Args:
        pipeline: Name of an installed spaCy pipeline.
    """

    pipeline: str

    def __call__(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Return the codes of texts, in their order."""
        return [to_json(code, RelationRegistry()) for code in _extractor(self.pipeline).extract_many(texts)]


def extract_codes(
    texts: Mapping[str, str],
    *,
    runner: Runner | None = None,
    journal: Path | None = None,
    pipeline: str | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
    stop: threading.Event | None = None,
) -> dict[str, GraphCode]:
    """Extract the graph codes of texts, the same with every runner.

    Args:
        texts: By the identifier of their document.
        runner: What extracts them; this process if left out.
        journal: File of what is done. A job that was broken off goes on there, if the texts that it had done
            come in the same order again.
        pipeline: As for `TextExtractor`.
        on_progress: Called with how many batches are done, and how many there are.
        stop: When set, the run ends early; what was done is kept.

    Returns:
        The codes by identifier, in the order of the texts; fewer if it was stopped.

    Raises:
        ConfigError: If spaCy or the pipeline is not installed.
        BlockingIOError: If another process works on that journal.
        StoreError: If a task has lost its worker too often.

    Example:
        >>> codes = extract_codes({"a": "Two men are sitting on a red bench."})
        >>> [edge.key for edge in codes["a"].edges]
        [('bench', 'is', 'red'), ('men', 'is', '2'), ('men', 'v:sit on', 'bench')]
    """
    name = TextExtractor(pipeline).pipeline
    distinct = list(dict.fromkeys(texts.values()))
    batches = [distinct[at : at + _BATCH] for at in range(0, len(distinct), _BATCH)]
    tasks = {hashlib.sha256(json.dumps(batch).encode()).hexdigest(): batch for batch in batches}
    versions = [metadata.version(part) for part in ("spacy", name, "mrag")]
    done = resumed(
        runner or InlineRunner(),
        ExtractionWork(name),
        tasks,
        journal,
        job={"pipeline": name, "versions": versions},
        on_progress=on_progress,
        stop=stop,
    )
    codes = {
        text: from_json(json.dumps(code))
        for digest, found in done.items()
        for text, code in zip(tasks[digest], found, strict=True)
    }
    return {one: codes[text] for one, text in texts.items() if text in codes}
