"""Forgeries of answers and receipts: every leaf changed, every part taken away, doubled, added or moved."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

Forgery = tuple[str, Any]


def forgeries(value: Any) -> Iterator[Forgery]:
    """Yield the name of each change of a JSON value, and the value with that change alone."""
    for name, make in changes(value):
        yield name, make()


def changes(value: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name of each change of a JSON value, and what makes the value with that change alone."""
    for path, found in list(_walk(value, ())):
        where = ".".join(map(str, path))
        for name, new in _others(found):
            yield f"{where}: {name}", partial(_with, value, path, new)
        if path:
            yield f"{where}: taken away", partial(_without, value, path)


def _walk(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield from _walk(part, (*path, name))


def _others(found: Any) -> Iterator[Forgery]:
    if isinstance(found, dict):
        yield "a field added", {**found, "approved": "by the ministry"}
    elif isinstance(found, list):
        yield "an item added", [*found, copy.deepcopy(found[-1]) if found else "Evil"]
        if len(found) > 1 and found[0] != found[1]:
            yield "moved", [found[1], found[0], *found[2:]]
    elif isinstance(found, bool):
        yield "turned", not found
        yield "a number", int(found)
    elif isinstance(found, int | float):
        yield "another", found + 1
        yield "a string", str(found)
    elif isinstance(found, str):
        yield "another", f"{found} Evil"
        yield "other", "Evil" if found != "Evil" else "Good"
        yield "none", None
    else:
        yield "a string", "Evil"


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    whole = copy.deepcopy(value)
    place = whole
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = new
    return whole


def _without(value: Any, path: tuple[Any, ...]) -> Any:
    whole = copy.deepcopy(value)
    place = whole
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return whole
