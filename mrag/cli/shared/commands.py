"""Commands whose parameters are read when one is run: to read those of all takes longer than imports do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

import typer
from typer.core import TyperCommand
from typer.main import get_command

Function = TypeVar("Function", bound=Callable[..., Any])


class Commands(typer.Typer):
    """An app as typer's; the parameters of a command are read from its function when they are needed.

    Without arguments it shows its help, in which nothing is taken for markup.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(no_args_is_help=True, rich_markup_mode=None, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Function], Function]:
        """Register the function that follows as a command.

        Args:
            name: Its name. Default: that of the function.
            **options: What `typer.Typer.command` takes, `cls` apart.
        """

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
            alone.command()(self._function)
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
