"""Styled text on standard error: the styles are ours, the text of all segments is made visible."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.segment import Segment
from rich.text import Text

from mrag.terminal import Encoded, guard, inline, unguard, visible

_AT_ONCE = 0.2  # seconds


class SafeConsole(Console):
    """A console on standard error that prints no control but its own.

    It writes past the guard of the stream, which would show the styles as signs too.
    """

    def __init__(self) -> None:
        file = getattr(unguard(sys.stderr), "rich_proxied_file", sys.stderr)
        out = cast(TextIO, Encoded(unguard(file)))
        super().__init__(file=out, highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render with all text made visible."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(visible(text), style)


class _Rate(ProgressColumn):
    """How many are done in a second."""

    def render(self, task: Task) -> Text:
        """Render it, as soon as it is known."""
        return Text(
            "" if not task.speed else f"{task.speed:,.0f}/s" if task.speed >= 10 else f"{task.speed:.1f}/s"
        )


_bars: list[SafeConsole] = []


def console() -> SafeConsole:
    """Return the console of the bar that runs, so that lines are printed above it, or a new one."""
    return _bars[-1] if _bars else SafeConsole()


def plain(text: str, style: str | None = None) -> Text:
    """Return text in which neither markup nor names of emoji mean anything."""
    return Text(visible(text), style=style or "")


@contextmanager
def spinning(text: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner and the time, on one line however long the text is, and yield what changes the text."""
    own = SafeConsole()

    def cut(text: str) -> str:
        words = plain(inline(text))
        words.truncate(max(own.width - 11, 1), overflow="ellipsis")
        return words.plain

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    shown = Progress(*columns, console=own, transient=True, redirect_stdout=sys.stdout.isatty())
    with shown, _running(own):
        task = shown.add_task(cut(text), total=None)
        yield lambda text: shown.update(task, description=cut(text))


@contextmanager
def writing() -> Iterator[Callable[[str], None]]:
    """Show the end of a text while it is written, then take it away; what is there at once is not shown."""
    own, words, first = SafeConsole(), plain("", "dim"), 0.0
    live = Live(console=own, transient=True, redirect_stdout=sys.stdout.isatty())
    with ExitStack() as seen:

        def note(piece: str) -> None:
            nonlocal first
            first = first or time.monotonic()
            words.append(visible(piece))
            if time.monotonic() - first < _AT_ONCE:
                return
            if not live.is_started:
                seen.enter_context(live)
                seen.enter_context(_running(own))
            live.update(words[-own.width * own.height // 2 :])

        yield note


@contextmanager
def bar(unit: str) -> Iterator[Progress]:
    """Show a bar for bytes or anything else that is counted; tasks are added to it."""
    own = SafeConsole()
    size = unit == "bytes"
    amount: ProgressColumn = DownloadColumn() if size else MofNCompleteColumn()
    rate: ProgressColumn = TransferSpeedColumn() if size else _Rate()
    # The text is no format string: a name of a file may hold braces.
    words = TextColumn("{task.description}", markup=False)
    shown = Progress(
        words, BarColumn(), amount, rate, TimeRemainingColumn(), console=own,
        redirect_stdout=sys.stdout.isatty(),
    )  # fmt: skip
    with shown, _running(own):
        yield shown


@contextmanager
def _running(own: SafeConsole) -> Iterator[None]:
    # What rich has put in place of the streams reads escape sequences as styles; it must get none.
    _bars.append(own)
    try:
        with guard():
            yield
    finally:
        _bars.remove(own)
