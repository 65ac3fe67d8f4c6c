"""What `mrag import` reads, and what it says of what it left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag import loaders
from mrag.cli.shared.output import progress, say, show_data, status
from mrag.errors import LoadError
from mrag.text.grammar import counted

if TYPE_CHECKING:
    from mrag.loaders.importing import ImportSettings
    from mrag.loaders.rdf import Progress
    from mrag.loaders.tables import TableDialect

_EXAMPLES = 5


def name_of(file: str) -> str:
    """Return the name of a source without its folder; of a database, without its login and its parameters.

    Example:
        >>> name_of("data/shops.csv"), name_of("postgresql://ann:secret@host/shop?sslmode=require")
        ('shops.csv', 'shop')
    """
    return Path(file.partition("?")[0]).name if "://" in file else Path(file).name


@contextmanager
def reading(file: str) -> Iterator[Any]:
    """Show a bar while a source is read: bytes of a file, or rows of a database."""
    with progress(f"Reading {name_of(file)}", unit="rows" if "://" in file else "bytes") as note:
        yield note


def read_records(file: str, how: ImportSettings, out: Path, note: Progress) -> loaders.RecordReport:
    """Write the records of a source as N-Triples, those of files in a process with limits.

    Raises:
        LoadError: If there is no such file, or it cannot be read.
    """
    from mrag.stores.process.parsing import imported

    if "://" not in file and not Path(file).is_file():
        raise LoadError("There is no such file.", file=file, hint="Check the path.")
    return imported(file, out, how, note)


def skipped(reports: Sequence[loaders.RecordReport]) -> dict[str, int]:
    """Return how much was left out of all sources, by reason, the commonest first."""
    total: Counter[str] = Counter()
    for report in reports:
        total.update(report.problems)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def show_problems(files: Sequence[str], reports: Sequence[loaders.RecordReport]) -> None:
    """Say what was left out of each source and why, with examples."""
    for file, report in zip(files, reports, strict=True):
        for kind, count in sorted(report.problems.items(), key=lambda item: (-item[1], item[0])):
            say(f"{name_of(file)}: {kind}, skipped {counted(count, 'time')}.", style="yellow")
            for problem in [each for each in report.examples if each.kind == kind][:_EXAMPLES]:
                say(f"  {problem.where}: {problem.what}", style="dim")


def show_sketch(files: Sequence[str], dialect: TableDialect) -> None:
    """Print a mapping to begin with.

    Raises:
        LoadError: If a file cannot be read as a table.
    """
    from mrag.stores.process.parsing import sketch

    with status("Reading"):
        text = sketch(files, dialect)
    show_data(text.rstrip())
