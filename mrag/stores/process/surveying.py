"""What files hold, found by reading them through in a child process before anything of them is loaded.

The functions whose names begin with `read` run in the child.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import pyoxigraph as ox

from mrag.errors import LoadError
from mrag.loaders.checks import LeftOutFile, LoadNotes
from mrag.loaders.rdf import Source
from mrag.stores.process.limited import perform
from mrag.stores.process.parsing import bounds_of, is_named, naming, statements

MOST_GRAPHS: Final = 10_000
"""Most named graphs of a knowledge graph; every query is given their names."""


def flawless(
    sources: Sequence[Source], left_out: list[LeftOutFile], *, skip_bad_lines: bool = False
) -> list[Source]:
    """Return the files that can be read to their ends.

    Args:
        sources: The files.
        left_out: Receives the others.
        skip_bad_lines: Whether bad lines of N-Triples and N-Quads are no flaw.
    """
    found: list[Source] = []
    for source in sources:
        past = skip_bad_lines and source.line_based
        try:
            with naming(source.path):
                perform(f"{__name__}:read_through", source, past, bounds=bounds_of([source]))
        except LoadError as error:
            line = f"line {error.line}: " if error.line else ""
            left_out.append(LeftOutFile(str(source.path), line + error.message))
        else:
            found.append(source)
    return found


def graph_names(sources: Sequence[Source], *, skip_bad_lines: bool = False) -> list[str]:
    """Return the IRIs of the graphs that files name, in order; they are read to their ends for it.

    Raises:
        LoadError: If a file is not well formed, takes more than it may, or names too many graphs.
    """
    those = tuple(source for source in sources if source.names_graphs)
    if not those:
        return []
    with naming(*(source.path for source in those)):
        work = f"{__name__}:read_graph_names"
        return cast(list[str], perform(work, those, skip_bad_lines, bounds=bounds_of(those)))


def read_graph_names(sources: Sequence[Source], skip_bad_lines: bool) -> list[str]:
    """Return the graphs that files name, in order."""
    names: set[str] = set()
    for source in sources:
        for quad in statements(source, LoadNotes(), lambda _: None, skip_bad_lines=skip_bad_lines):
            if is_named(quad):
                names.add(cast(ox.NamedNode, quad.graph_name).value)
                if len(names) > MOST_GRAPHS:
                    raise LoadError(
                        f"More than {MOST_GRAPHS:,} named graphs cannot be kept.",
                        file=str(source.path),
                        hint="Nothing of it was stored. Merge graphs, or write the triples as N-Triples.",
                    )
    return sorted(names)


def read_through(source: Source, skip_bad_lines: bool) -> None:
    """Read a file to its end, to see whether it is well formed."""
    notes = LoadNotes()
    for _ in statements(source, notes, lambda _: None, skip_bad_lines=skip_bad_lines):
        pass
