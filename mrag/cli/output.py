"""Output of the commands: results on standard output, notes and progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import mrag
from mrag.terminal import escape, inline, write_data


def say(text: str = "", *, style: str | None = None) -> None:
    """Print one line to standard error, where progress and notes go; a newline in it is made visible."""
    from mrag.cli.console import console, plain

    console().print(plain(inline(text), style), soft_wrap=True)


def show(text: str = "") -> None:
    """Print one line of a result to standard output; a newline in it is made visible."""
    sys.stdout.write(inline(text) + "\n")


def flush() -> None:
    """Pass on at once what was shown, for whoever reads it from a pipe while the command goes on."""
    sys.stdout.flush()


def show_lines(text: str) -> None:
    """Print a text of several lines, such as an answer; whatever it quotes was put on one line before."""
    sys.stdout.write(text + "\n")


def show_data(text: str) -> None:
    """Print Turtle, N-Triples or SPARQL, control characters escaped as these formats do."""
    write_data(escape(text) + "\n")


def show_json(value: Any, *, indent: int | None = 2) -> None:
    """Print JSON to standard output, control characters escaped as JSON does; on one line without indent."""
    write_data(escape(json.dumps(value, ensure_ascii=False, indent=indent), json=True) + "\n")


@contextmanager
def status(text: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner on standard error while something runs, and yield a function that changes its text."""
    from mrag.cli.console import spinning

    with spinning(text) as note:
        yield note


@contextmanager
def progress(text: str, *, unit: str = "bytes") -> Iterator[Any]:
    """Show a bar on standard error, and yield a function that takes what is done and the total."""
    from mrag.cli.console import bar

    with bar(unit) as shown:
        task = shown.add_task(inline(text), total=None)

        def note(done: int, total: int | None) -> None:
            shown.update(task, completed=done, total=total)

        yield note


def print_stream(parts: Iterable[str | mrag.Answer]) -> mrag.Answer:
    """Return the answer that a stream ends in; on a terminal its text is seen while it is written."""
    *_, given = _watch(parts) if sys.stderr.isatty() else parts
    return cast("mrag.Answer", given)


def _watch(parts: Iterable[str | mrag.Answer]) -> Iterator[str | mrag.Answer]:
    from mrag.cli.console import writing

    with writing() as note:
        for part in parts:
            if isinstance(part, str):
                note(part)
            yield part


def hit_json(hit: mrag.Hit, label: str | None) -> dict[str, Any]:
    """Return a hit with its label as values of JSON."""
    row = {"iri": hit.iri, "label": label, "score": hit.score, "rank": hit.rank}
    return {**row, "reasons": list(hit.reasons)}


def show_hit(hit: mrag.Hit, name: str) -> None:
    """Print a hit: rank, score, name and IRI, and below them why it was found."""
    show(f"{hit.rank:>3}  {hit.score:.3f}  {name}  <{hit.iri}>")
    show(f"     {'; '.join(hit.reasons)}")
