"""Files of records of every kind that `mrag import` takes, told apart and written as N-Triples."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from mrag.errors import ConfigError, LoadError, check_choice
from mrag.loaders._records import OnBad, RecordReport, Records
from mrag.loaders.rdf import Progress
from mrag.loaders.scenes import Fashionpedia, SceneGraphs, shape_of
from mrag.loaders.tables import Table, TableDialect

KINDS = ("fashionpedia", "scenes", "table")
_BATCH = 10_000
_TABLES = (".csv", ".tsv", ".tab")


@dataclass(frozen=True)
class ImportSettings:
    """How a file of records is read."""

    kind: str | None = None
    mapping: Path | None = None
    boxes: bool = False
    dialect: TableDialect | None = None
    on_bad: OnBad = "stop"
    masks: bool = False


def records(file: str | Path, how: ImportSettings, on_progress: Progress | None = None) -> Records:
    """Return the records of a file."""
    kind = how.kind or kind_of(file, how.mapping)
    common: Any = {"on_bad": how.on_bad, "on_progress": on_progress}
    if kind == "table":
        if how.mapping is not None:
            return Table(file, how.mapping, dialect=how.dialect, **common)
        if not Path(file).is_file():
            raise LoadError("There is no such file.", file=str(file), hint="Check the path.")
        hint = "Name it with --mapping. `mrag import --sketch TABLE` writes one to begin with."
        raise ConfigError("A table needs a mapping.", file=str(file), hint=hint)
    if kind == "scenes":
        return SceneGraphs(file, **common)
    check_choice("loader", kind, KINDS)
    return Fashionpedia(file, **common, boxes=how.boxes, masks=how.masks)


def kind_of(file: str | Path, mapping: Path | None = None) -> str:
    """Return what a file holds: an object with categories is annotations, captions and records are scenes."""
    if mapping is not None or str(file).removesuffix(".gz").lower().endswith(_TABLES):
        return "table"
    return "fashionpedia" if shape_of(file) == "annotations" else "scenes"


def write(file: str | Path, how: ImportSettings, out: Path) -> Generator[int, None, RecordReport]:
    """Write the records of a file as N-Triples, yield the bytes read so far, and return the report."""
    count = [0]

    def note(done: int, total: int | None) -> None:
        count[0] = done

    reader = records(file, how, note)
    lines = reader.lines()
    try:
        with out.open("w", encoding="utf-8", newline="\n", buffering=1 << 20) as stream:
            while batch := list(islice(lines, _BATCH)):
                stream.writelines(batch)
                yield count[0]
    except OSError as error:
        raise LoadError(f"The triples could not be written: {error}.", file=str(out)) from error
    yield count[0]
    return reader.report
