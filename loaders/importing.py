"""Files of records of every kind that `mrag import` takes, told apart and written as N-Triples."""

from __future__ import annotations

from collections.abc import Generator
from itertools import islice
from pathlib import Path

from mrag.errors import ConfigError, LoadError
from mrag.loaders._json import JsonText
from mrag.loaders._records import OnBad, RecordReport, Records
from mrag.loaders.fashionpedia import Fashionpedia
from mrag.loaders.rdf import Progress
from mrag.loaders.scene_graph import SceneGraphs
from mrag.loaders.tabular import Table

KINDS = ("fashionpedia", "scenes", "table")
_BATCH = 10_000


def records(
    file: Path,
    kind: str | None = None,
    mapping: Path | None = None,
    *,
    boxes: bool = False,
    on_bad: OnBad = "stop",
    on_progress: Progress | None = None,
) -> Records:
    """Return the records of a file.

    Args:
        file: Annotations (JSON), scene graphs (JSON, JSONL) or a table (CSV, TSV, JSON), gzipped or not.
        kind: One of `KINDS`; told from the file by default.
        mapping: How a table becomes RDF.
        boxes: Whether Fashionpedia's bounding boxes are kept.
        on_bad: `stop` at the first bad record, or `skip` it and count it.
        on_progress: Called with the bytes read and the bytes in all.

    Raises:
        ConfigError: If the kind is not known, or a table has no mapping.
        LoadError: If a file is missing or cannot be read.
    """
    found = kind or kind_of(file, mapping)
    if found == "table":
        if mapping is None:
            raise ConfigError("A table needs a mapping.", file=str(file), hint="Name it with --mapping.")
        return Table(file, mapping, on_bad=on_bad, on_progress=on_progress)
    if found == "scenes":
        return SceneGraphs(file, on_bad=on_bad, on_progress=on_progress)
    if found == "fashionpedia":
        return Fashionpedia(file, on_bad=on_bad, on_progress=on_progress, boxes=boxes)
    raise ConfigError(f"Nothing is imported as {found!r}.", hint=f"There are: {', '.join(KINDS)}.")


def kind_of(file: Path, mapping: Path | None = None) -> str:
    """Return what a file holds: one object with sections is annotations, several records are scene graphs."""
    if mapping is not None or file.name.removesuffix(".gz").lower().endswith((".csv", ".tsv", ".tab")):
        return "table"
    with JsonText(file) as text:
        if text.blank() or text.peek() != "{":
            return "scenes"
        for name in text.fields():
            return "scenes" if name in ("image_id", "doc_id", "region_id", "id") else "fashionpedia"
    return "fashionpedia"


def write(
    file: Path, kind: str | None, mapping: Path | None, boxes: bool, on_bad: OnBad, out: Path
) -> Generator[int, None, RecordReport]:
    """Write the records of a file as N-Triples, yield the bytes read so far, and return the report.

    Raises:
        ConfigError: If the kind is not known, or a table has no mapping.
        LoadError: If the file is not well formed, or the disk is full.
    """
    told = [0]

    def note(done: int, total: int | None) -> None:
        told[0] = done

    found = records(file, kind, mapping, boxes=boxes, on_bad=on_bad, on_progress=note)
    lines = found.lines()
    try:
        with out.open("w", encoding="utf-8", newline="\n", buffering=1 << 20) as stream:
            while batch := list(islice(lines, _BATCH)):
                stream.writelines(batch)
                yield told[0]
    except OSError as error:
        raise LoadError(f"The triples could not be written: {error}.", file=str(out)) from error
    yield told[0]
    return found.report
