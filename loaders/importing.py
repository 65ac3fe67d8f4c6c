"""Files of records of every kind that `mrag import` takes, told apart and written as N-Triples."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from mrag.errors import ConfigError, LoadError
from mrag.loaders._records import OnBad, RecordReport, Records
from mrag.loaders.rdf import Progress
from mrag.loaders.scenes import Fashionpedia, SceneGraphs, shape_of
from mrag.loaders.tables import Table, TableDialect, is_database
from mrag.loaders.web import WebTables, is_metadata, metadata_of
from mrag.redaction import redact_url

KINDS = ("fashionpedia", "scenes", "table")
_BATCH = 10_000
_TABLES = (".csv", ".tsv", ".tab", ".parquet", ".pq")


@dataclass(frozen=True)
class ImportSettings:
    """How a file of records is read."""

    kind: str | None = None
    mapping: Path | None = None
    boxes: bool = False
    dialect: TableDialect | None = None
    on_bad: OnBad = "stop"
    standard: bool = False
    masks: bool = False


def records(file: str | Path, how: ImportSettings, on_progress: Progress | None = None) -> Records:
    """Return the records of a file."""
    found = how.kind or kind_of(file, how.mapping)
    common: Any = {"on_bad": how.on_bad, "on_progress": on_progress}
    if found == "table":
        return _table(file, how, common)
    if found == "scenes":
        return SceneGraphs(file, **common)
    if found == "fashionpedia":
        return Fashionpedia(file, **common, boxes=how.boxes, masks=how.masks)
    raise ConfigError(f"Nothing is imported as {found!r}.", hint=f"There are: {', '.join(KINDS)}.")


def _table(file: str | Path, how: ImportSettings, common: Any) -> Records:
    """Return a table with its mapping."""
    mapping = how.mapping
    if mapping is None and not is_database(file):
        mapping = metadata_of(file)
    if is_metadata(mapping or file):
        return WebTables(file, mapping, standard=how.standard, dialect=how.dialect, **common)
    if mapping is not None:
        return Table(file, mapping, dialect=how.dialect, **common)
    if not is_database(file) and not Path(file).is_file():
        raise LoadError("There is no such file.", file=str(file), hint="Check the path.")
    shown = redact_url(str(file)) if is_database(file) else str(file)
    raise ConfigError(
        "A table needs a mapping.",
        file=shown,
        hint="Name it with --mapping. `mrag import --sketch TABLE > mapping.ttl` writes one to begin with.",
    )


def kind_of(file: str | Path, mapping: Path | None = None) -> str:
    """Return what a file holds: an object with categories is annotations, captions and records are scenes."""
    table = mapping is not None or is_database(file)
    if table or str(file).removesuffix(".gz").lower().endswith(_TABLES) or is_metadata(file):
        return "table"
    return "fashionpedia" if shape_of(file) == "annotations" else "scenes"


def write(file: str | Path, how: ImportSettings, out: Path) -> Generator[int, None, RecordReport]:
    """Write the records of a file as N-Triples, yield the bytes read so far, and return the report."""
    told = [0]

    def note(done: int, total: int | None) -> None:
        told[0] = done

    found = records(file, how, note)
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
