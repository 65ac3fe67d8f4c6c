"""How commands run: their parameters are read when one is run, signals end them, and what is kept is said.

Python handles a signal between two steps of its own, so a long step of the engine would delay the end. A
thread ends the command in any case: whatever was written is safe, since every job may be killed at any
moment.
"""

from __future__ import annotations

import atexit
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Final, TypeVar, cast, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command
from typer.models import ArgumentInfo

from mrag.terminal import unguard

Function = TypeVar("Function", bound=Callable[..., Any])


class Commands(typer.Typer):
    """An app as typer's; the parameters of a command are read from its function when they are needed."""

    def __init__(self, **options: Any) -> None:
        super().__init__(no_args_is_help=True, rich_markup_mode=None, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        """Register the function that follows as a command."""

        def register(function: Function) -> Function:
            def named() -> None:
                """Stand for the function, whose parameters typer would read at once."""

            named.__name__, named.__doc__ = function.__name__, function.__doc__
            made = cast(type[TyperCommand], partial(_Command, function))
            super(Commands, self).command(name, cls=made, **options)(named)
            return function

        return register


class _Command(TyperCommand):
    """A command that becomes whole when it is parsed, run or described."""

    def __init__(self, function: Callable[..., Any], **fields: Any) -> None:
        self._function = function
        self._whole: Any = None
        super().__init__(**fields)

    def _read(self) -> Any:
        if self._whole is None:
            alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
            alone.command()(_flat(self._function))
            self._whole = get_command(alone)
        return self._whole

    @property
    def params(self) -> Any:
        """The parameters of the function."""
        return self._read().params

    @params.setter
    def params(self, value: object) -> None:
        """Ignore those of what stands for the function: it has none."""

    @property
    def callback(self) -> Any:
        """What runs the function."""
        return self._read().callback

    @callback.setter
    def callback(self, value: object) -> None:
        """Ignore that of what stands for the function."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples of the command."""
        names: list[str] = []
        while ctx.parent is not None:
            names, ctx = [ctx.info_name, *names], ctx.parent
        if lines := examples().get(" ".join(names)):
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in lines))


@cache
def examples() -> Mapping[str, Sequence[str]]:
    """Return the examples of each command, by its name."""
    blocks = Path(__file__).with_name("examples.txt").read_text(encoding="utf-8").strip().split("\n\n")
    return {block.splitlines()[0].removeprefix("# "): block.splitlines()[1:] for block in blocks}


def _flat(function: Callable[..., Any]) -> Callable[..., None]:
    """Return a function as typer reads it: fields of groups are options, and all have their help texts."""
    groups: dict[str, Any] = {name: k for name, k in get_type_hints(function).items() if is_dataclass(k)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            parameters += _parameters(groups[name], inspect.signature(groups[name]).parameters.values())
        else:
            parameters += _parameters(function, [parameter])

    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        function(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _parameters(owner: Any, given: Iterable[inspect.Parameter]) -> Iterator[inspect.Parameter]:
    """Yield parameters of a function or a group with what typer should know of them."""
    hints = get_type_hints(owner, include_extras=True)
    # A group has the help texts of those that it extends, too.
    owners = reversed(owner.__mro__) if isinstance(owner, type) else [owner]
    named = ("*", *map(_name, owners))
    helps = {name: text for each in named for name, text in _table().get(each, {}).items()}
    for each in given:
        kind: Any = hints[each.name]
        if kind is not typer.Context:
            plain, info = get_args(kind) if get_origin(kind) is Annotated else (kind, None)
            required = each.default is each.empty
            info = copy(info or (typer.Argument() if required else typer.Option()))
            if each.default is False and info.default is ...:
                info.default = f"--{each.name.replace('_', '-')}"  # without a --no- beside it
            info.help = info.help or helps.get(each.name)
            if required and isinstance(info, ArgumentInfo):
                info.metavar = info.metavar or each.name.upper()
            kind = Annotated[plain, info]
        yield each.replace(annotation=kind, kind=each.KEYWORD_ONLY)


def _name(owner: Any) -> str:
    return f"{owner.__module__.rpartition('.')[2]}.{owner.__name__}"


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    """Return what each option does, by its function or group; behind `*` where none says otherwise."""
    texts: dict[str, dict[str, str]] = {}
    for line in Path(__file__).with_name("options.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        owner, option, text = line.split("\t")
        texts.setdefault(owner, {})[option] = text
    return texts


GRACE: Final = 3.0  # Seconds after which a process is ended that is still in one step of the engine

_GENERAL: Final = (
    "Finished steps are kept, and no step is left half done. Run the same command again to resume."
)
_heard: list[int] = []  # The signals that ended a command, or that it handled
_seen: list[int] = []  # All signals to stop, including those that a command handles itself
_said: list[str] = []


class Stopped(KeyboardInterrupt):
    """A signal came; after a plain `KeyboardInterrupt` Python may end by SIGINT, whatever the code."""


def stop_signal() -> int | None:
    """Return the signal that this command was told to stop by; None if it was not."""
    return _heard[0] if _heard else None


def silent() -> bool:
    """Return whether a signal ended the command without a message."""
    return bool(_heard) and not _said


@contextmanager
def on_stop(words: str | Callable[[], str]) -> Iterator[None]:
    """State what is kept, and how to resume, if a command is stopped inside; the innermost text is used."""
    try:
        yield
    except KeyboardInterrupt as told_to:
        told_to.add_note(words if isinstance(words, str) else words())
        raise


def report_stop(words: str = "") -> int:
    """Print on standard error that the command was stopped, and return its exit code."""
    number = next(iter((*_heard, *_seen)), signal.SIGINT)
    if sys.stderr.isatty():
        unguard(sys.stderr).write("\x1b[?25h")  # a bar that was broken off has hidden the cursor
    how = "interrupted" if number == signal.SIGINT else "stopped"
    _said.append(f"mrag: {how}. {words or _GENERAL}\n")
    sys.stderr.write(_said[-1])
    sys.stderr.flush()
    return 128 + number


def _of(told_to: BaseException) -> str:
    """Return what the innermost `on_stop` noted."""
    return next(iter(getattr(told_to, "__notes__", ())), "")


class Stoppable(TyperGroup):
    """The commands; typer itself ends in silence on Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; end it with the code of the signal, even if it handled one."""
        try:
            result = super().invoke(ctx)
        except KeyboardInterrupt as told_to:
            raise typer.Exit(report_stop(_of(told_to))) from told_to
        if stop_signal():
            raise typer.Exit(report_stop("The output above is what there was until then."))
        return result


@contextmanager
def stoppable() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end what runs inside, by `KeyboardInterrupt` or else within `GRACE` seconds."""
    _heard.clear()
    _seen.clear()
    _said.clear()
    numbers = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, stop) for number in numbers}
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    wakened = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    done = threading.Event()
    threading.Thread(target=_watch, args=(reading, done), name="stopping", daemon=True).start()
    atexit.register(_quietly)
    try:
        yield
    finally:
        done.set()
        signal.set_wakeup_fd(wakened)
        os.close(writing)
        for number, handler in before.items():
            signal.signal(number, handler)


def stop(number: int, frame: FrameType | None) -> None:
    """Handle a signal: end what runs, by `KeyboardInterrupt`."""
    _heard.append(number)
    raise Stopped


def _watch(reading: int, done: threading.Event) -> None:
    """End the process if its main thread does not handle a signal, or there is a second one."""
    told_before = 0
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while data := pipe.read(1):
            if data[0] in (signal.SIGINT, signal.SIGTERM):
                _seen.append(data[0])
            # A command with a handler of its own, such as a server, ends by itself.
            if signal.getsignal(data[0]) is not stop:
                continue
            told_before += 1
            if done.wait(GRACE if told_before == 1 else 1.0) or (told_before == 1 and _heard):
                continue
            if not _heard:
                _heard.append(data[0])
            os._exit(report_stop())


def _quietly() -> None:
    """Let signals that come while Python shuts down end it without a traceback."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
